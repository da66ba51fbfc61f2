"""Stachera & Schumacher (2008): SCDD beside Lagrange-D'Alembert on a five-bar: operations, motion, branch forces, drift."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from supple import models
from supple.api import Robot
from supple.expr.passes import optimise
from supple.machine import Machine
from supple.papers.drawing import across, over_time
from supple.results import Simulation
from supple.results.paper import Entry, Section

Printed = dict[str, Any]
_OURS = {
    "SCDD": (("scdd, as printed", "scdd", "as_printed"), ("scdd, exact", "scdd", "forward")),
    "L-D'A": (("lagrange_dalembert", "lagrange_dalembert", "forward"), ("newton_euler", "newton_euler", "forward")),
}
_STEPS = (1e-5, 5e-6)  # s


def sections(printed: Printed) -> list[Section]:
    return [_inversion(printed), _operations(printed), *_motion(printed)]


def scdd_size(chains: int, passive: int, elastic: int) -> int:
    """n (1 + n_p + n_e)^3."""
    return chains * (1 + passive + elastic) ** 3


def reduced_size(actuators: int, elastic: int) -> int:
    """(n_a + all elastic coordinates)^3."""
    return (actuators + elastic) ** 3


def _inversion(printed: Printed) -> Section:
    made = []
    for name, (actuators, passive, elastic, scdd, reduced) in printed["table_1"].items():
        misprint = ""
        if name == "Triglide":
            six = f"{scdd_size(6, 1, 1)} and {reduced_size(3, 6)}"
            misprint = f"does not follow from the row's own n; with its six rods as chains it is {six}"
        made.append(Entry("table 1", f"{name}, SCDD", scdd, scdd_size(actuators, passive, elastic), "", misprint))
        made.append(Entry("table 1", f"{name}, L-D'A", reduced, reduced_size(actuators, actuators * elastic), "", misprint))
    words = "n_a (1 + n_p + n_e)^3 for SCDD and (n_a + n_a n_e)^3 for Lagrange-D'Alembert, as the text says."
    return Section("Table 1: complexity of the matrix inversion", words, tuple(made))


def _operations(printed: Printed) -> Section:
    mechanism = Machine.read("five_bar_elastic").mechanism(rigid=True)
    made = []
    for method, row in printed["table_2"].items():
        for name, formulation, model in _OURS[method]:
            f = models.builder(model, formulation)(mechanism)
            if model != "as_printed":  # which solves them itself
                f = models.with_rates_solved(f, mechanism)
            c = optimise(f).function.counts
            why = "shared subexpressions; the paper's were simplified by Mathematica; sines not counted"
            for sign, x, y in zip("+-*/", row, (c["add"], c["sub"] + c["neg"], c["mul"], c["div"]), strict=True):
                made.append(Entry("table 2", f"{sign} of {method} ({name})", x, y, "", why))
    words = "Direct dynamics of a rigid five-bar, rates of the passive joints solved inside, numbers for constants."
    return Section("Table 2: arithmetic operations", words, tuple(made))


def _motion(printed: Printed) -> list[Section]:
    """Figures 2 to 4: torques of the rigid robot drive the elastic one, by both methods."""
    robot = Robot("five_bar_elastic")
    rigid = robot.inverse("line", rigid=True)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rigid.yaml"
        table.write_text(_torque_motion(rigid, Path(folder)), encoding="utf-8")
        exact = robot.simulate(table, formulation="lagrange_dalembert", tol=1e-8)
        late = robot.simulate(table, formulation="scdd", loops="as_printed", method="dormand_prince", step=_STEPS[0])
        half = robot.simulate(table, formulation="scdd", loops="as_printed", method="dormand_prince", step=_STEPS[1])
    return [_followed(rigid, exact, late), _forces(exact, late, printed), _drift(exact, late, half, printed)]


def _torque_motion(rigid: Simulation, folder: Path) -> str:
    """A motion file that drives both arms by the rigid robot's torques."""
    names = [c.removeprefix("tau:") for c in ("tau:arm1/q1", "tau:arm2/q1")]
    columns = [rigid.time, *(rigid[f"tau:{n}"] for n in names)]
    header = ",".join(["t", *(f"tau {n}" for n in names)])
    np.savetxt(folder / "rigid.csv", np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.12g")
    start = ", ".join(f"{n}: {float(rigid[f'position:{n}'][0])!r}" for n in names)
    return f"start: {{{start}}}\ncsv: rigid.csv\n"


def _place(run: Simulation) -> np.ndarray[Any, Any]:
    made: np.ndarray[Any, Any] = run["point_position:tool"][:, :2]
    return made


def _followed(rigid: Simulation, exact: Simulation, late: Simulation) -> Section:
    wanted = _place(rigid)
    curves = {"reference": wanted, "L-D'A": _place(exact), "SCDD as printed": _place(late)}
    apart = {n: float(1e6 * np.linalg.norm(x - wanted, axis=1).max()) for n, x in curves.items() if n != "reference"}
    made = [Entry("figure 2", f"{n}: largest distance from the reference", None, x, "um", "only drawn; dimensions chosen")
            for n, x in apart.items()]  # fmt: skip
    words = "The elastic five-bar driven by the torques of the rigid one, without control, along a line and back."
    figure = across("Figure 2", words, {n: (x[:, 0], x[:, 1]) for n, x in curves.items()}, "x (m)", "y (m)", True)
    return Section("Figure 2: the trajectory", words, tuple(made), (figure,))


def _forces(exact: Simulation, late: Simulation, printed: Printed) -> Section:
    F = {n: r["spring_force"] for n, r in (("L-D'A", exact), ("SCDD", late))}
    panels = [(f"F_{side} (N)", {n: x[:, k] for n, x in F.items()}) for k, side in enumerate("LR")]
    panels.append(("SCDD less L-D'A (N)", {f"F_{s}": F["SCDD"][:, k] - F["L-D'A"][:, k] for k, s in enumerate("LR")}))
    largest = float(np.abs(F["L-D'A"]).max())
    worst = float(np.abs(F["SCDD"] - F["L-D'A"]).max())
    k = Robot("five_bar_elastic").parameters["k"]
    made = (
        Entry("section 5.3", "stiffness c of an upper arm", printed["stiffness"], k, "N/m"),
        Entry("figure 3", "largest branch force", None, largest, "N", "only drawn; dimensions chosen"),
        Entry("figure 3", "SCDD less L-D'A, at most", None, worst, "N", "forces of the evaluation before: grows with time"),
    )
    figure = over_time("Figure 3", "Forces in the left and right branch, and their difference.", exact.time, panels)
    return Section("Figure 3: forces in the branches", "Forces of the springs in the upper arms.", made, (figure,))


def _drift(exact: Simulation, late: Simulation, half: Simulation, printed: Printed) -> Section:
    gap = {n: np.abs(r["closure"]) + 1e-18 for n, r in (("L-D'A", exact), ("SCDD, 10 us", late), ("SCDD, 5 us", half))}
    ratio = float(gap["SCDD, 10 us"].max() / gap["SCDD, 5 us"].max())
    made = (
        Entry("figure 4", "gap of L-D'A", printed["gap_ld"], float(gap["L-D'A"].max()), "m", "loops are closed to rounding"),
        Entry("figure 4", "gap of SCDD as printed at the end", None, float(gap["SCDD, 10 us"][-1]), "m",
              "not numerical precision, as the paper has it: its forces are one evaluation old"),
        Entry("figure 4", "gap with twice the interval over the gap", None, ratio, "",
              "the paper says: the smaller the interval, the smaller the error"),
    )  # fmt: skip
    figure = over_time("Figure 4", "Distance of the ends of the two chains.", exact.time, [("m", gap)], log=(0,))
    return Section("Figure 4: the chains drift apart", "", made, (figure,))
