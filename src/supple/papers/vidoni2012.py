"""Vidoni, Gasparetto, Boscariol & Giovagnoni (2012): PacDrive let fall, and pick and place, rigid and flexible."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.api import Robot
from supple.formulations.rigid_links.named_matrices import named_matrices
from supple.model.closing import close
from supple.model.model import Model
from supple.model.posture import posture
from supple.papers.drawing import over_time
from supple.results import Simulation
from supple.results.paper import Entry, Section

Printed = dict[str, Any]
Array = np.ndarray[Any, Any]
METHOD = "erls_compatible"
_DRAWN = "only drawn in the paper; depends on the distance of the motors and on damping, which are chosen"


def sections(printed: Printed) -> list[Section]:
    robot = Robot("pacdrive", elements=2)
    stiff = robot.changed({"E": printed["rigid_modulus"]})
    return [_tables(robot, printed), _matrices(robot), _fall(robot, stiff), _pick_and_place(robot)]


def _tables(robot: Robot, printed: Printed) -> Section:
    frames = {f.name: f for f in robot.mechanism().frames}
    made = []
    for link, (length, b, c) in printed["table_1"].items():
        body = frames[link].body
        mass = printed["density"] * length * b * c
        made.append(Entry("table 1", f"mass of link {link}, rho l b c", mass, float(body.mass),
                          "kg"))  # fmt: skip
        made.append(Entry("table 1", f"length of link {link}", length, float(2 * body.MS_r[0] / body.mass), "m"))
    for link, (_, _, beams) in printed["table_2"].items():
        ours = len(frames[link].body.coordinates) // 3
        made.append(
            Entry("table 2", f"beams of link {link}", beams, ours, "", "elements = 2 here; the gallery's file has 4")
        )
    return Section("Tables 1 and 2: links and beams", "", tuple(made))


def _matrices(robot: Robot) -> Section:
    """M, K, M_G1, M_G2, M_C1, M_C2, M_C3 and f_g of eqs. (15)-(22)."""
    f = named_matrices(robot.mechanism())
    made = [Entry("eqs. 15-22", f"{name} of link 3: rows", None, len(f.outputs[f"{name}_3"]), "", "not printed")
            for name in ("M", "K", "MG1", "MG2", "MC1", "MC2", "MC3", "fg")]  # fmt: skip
    words = (
        "`supple generate pacdrive --formulation erls_compatible --model named_matrices --target c -o DIR` writes the "
        "matrices of every link by their names; N^T R^T stands in front of (17) to (21), where the print lost it."
    )
    return Section("The matrices of eqs. (15) to (22)", words, tuple(made))


def _angles(run: Simulation) -> dict[str, Array]:
    return {n: np.degrees(run[f"position:{n}"]) for n in ("q1", "q2")}


def _fall(robot: Robot, stiff: Robot) -> Section:
    flexible = robot.simulate("fall", formulation=METHOD, tol=1e-6)
    hard = robot.simulate("fall", formulation=METHOD, rigid=True, tol=1e-8)
    nearly = stiff.simulate("fall", formulation=METHOD, tol=1e-6)
    u = _displaced(robot, flexible)
    bent, straight, almost = _angles(flexible), _angles(hard), _angles(nearly)
    made = (
        Entry("figure 6", "E = 5e12 Pa from the rigid robot, at most", 0.0, _apart(almost, straight), "deg",
              "printed: in optimal agreement"),
        Entry("figure 7", "flexible from rigid coordinates, at most", None, _apart(bent, straight), "deg", _DRAWN),
        Entry("figure 8", "tip displaced in x, at most", None, float(1e3 * np.abs(u[:, 0]).max()), "mm", _DRAWN),
    )  # fmt: skip
    t = flexible.time
    pictures = (
        over_time("Figure 6", "Free coordinates, E = 5e12 Pa, and of the rigid robot.", t,
                  [("deg", _paired(almost, straight, "E = 5e12 Pa"))]),
        over_time("Figure 7", "Free coordinates, flexible and rigid.", t, [("deg", _paired(bent, straight, "flexible"))]),
        over_time("Figure 8", "Elastic displacement of the tip in x.", t, [("mm", {"x": 1e3 * u[:, 0]})]),
    )  # fmt: skip
    return Section("Let fall, 20 N m from 0.1 to 0.2 s: figures 6 to 8", "", made, pictures)


def _pick_and_place(robot: Robot) -> Section:
    run = robot.simulate("pick_and_place", formulation=METHOD, tol=1e-6)
    hard = robot.simulate("pick_and_place", formulation=METHOD, rigid=True, tol=1e-8)
    u = 1e3 * _displaced(robot, run)
    bent, straight = _angles(run), _angles(hard)
    made = (
        Entry("figure 9", "flexible from rigid coordinates, at most", None, _apart(bent, straight), "deg", _DRAWN),
        Entry("figure 10", "tip displaced in x, at most", None, float(np.abs(u[:, 0]).max()), "mm", _DRAWN),
        Entry("figure 11", "tip displaced in y, at most", None, float(np.abs(u[:, 1]).max()), "mm", _DRAWN),
    )
    pictures = (
        over_time("Figure 9", "Free coordinates.", run.time, [("deg", _paired(bent, straight, "flexible"))]),
        over_time("Figures 10 and 11", "Elastic displacement of the tip.", run.time,
                  [("x (mm)", {"x": u[:, 0]}), ("y (mm)", {"y": u[:, 1]})]),
    )  # fmt: skip
    return Section("Pick and place under a square torque: figures 9 to 11", "", made, pictures)


def _apart(one: dict[str, Array], other: dict[str, Array]) -> float:
    return max(float(np.abs(one[n] - other[n]).max()) for n in one)


def _paired(one: dict[str, Array], rigid: dict[str, Array], name: str) -> dict[str, Array]:
    return {f"{n}, {who}": x[n] for n in one for who, x in ((name, one), ("rigid", rigid))}


def _displaced(robot: Robot, run: Simulation) -> Array:
    """The tip less the tip of the rigid robot with the same q1 and q2: where the equivalent rigid links have it (m)."""
    rigid = robot.model(METHOD, rigid=True)
    given = {n: float(run[f"position:{n}"][0]) for n in ("q1", "q2")}
    at, found = posture(rigid, given), []
    free = [i for i in range(rigid.nv) if i not in set(rigid.active.tolist())]
    for q1, q2 in zip(run["position:q1"], run["position:q2"], strict=True):
        at = at.copy()
        at[[rigid.index("q1"), rigid.index("q2")]] = q1, q2
        shut = close(rigid, at, free)
        assert shut is not None
        at = shut
        found.append(at)
    made: Array = run["point_position:tip"][:, :2] - _tips(rigid, np.array(found))
    return made


def _tips(model: Model, q: Array) -> Array:
    made: Array = model.call("points", q=q)["position"][:, list(model.mechanism.points).index("tip"), :2]
    return made
