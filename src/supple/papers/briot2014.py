"""Briot & Khalil (2014): DualEMPS, its frequencies, its two trajectories, its recursion and the count of its operations."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from supple.api import Robot
from supple.expr.function import Function
from supple.expr.passes import optimise
from supple.formulations.tree.virtual_power import last_of_legs, recursion_model, recursion_names
from supple.machine import Machine
from supple.models import builder
from supple.papers.drawing import across, over_time
from supple.results import Simulation
from supple.results.paper import Entry, Section

Printed = dict[str, Any]
MODEL = {"stiffening": "none"}
_ROUNDED = "printed to three decimals"


def sections(printed: Printed) -> list[Section]:
    robot = Robot("dualemps", MODEL)
    return [
        _frequencies(robot, printed), _parameters(robot, printed), _operations(robot, printed), _independent(),
        _square(robot, printed), _circle(robot, printed), _measured(robot),
    ]  # fmt: skip


def _frequencies(robot: Robot, printed: Printed) -> Section:
    table, pose = printed["table_3"], {"q11": 0.0, "q21": 0.0}
    one, eight = (r.modes(pose, count=6).frequencies_hz for r in (robot, robot.changed({"elements": 8})))
    made = []
    for k in range(6):
        late = "one element per blade, as in the paper; see f6 with eight" if k == 5 else "E fitted: 74 GPa is not printed"
        made.append(Entry("table 3, model", f"f{k + 1}", table["model"][k], float(one[k]), "Hz", late))
    for who, why in (("adams", "eight elements per blade on both sides; Adams' links are lumped"),
                     ("measured", "eight elements per blade; measured to 1 Hz")):  # fmt: skip
        for k in range(6):
            sixth = "the measured sixth is not a mode of the plane model" if who == "measured" and k == 5 else why
            made.append(Entry(f"table 3, {who}", f"f{k + 1}", table[who][k], float(eight[k]), "Hz", sixth))
    return Section("Table 3: natural frequencies at q11 = q21 = 0, sliders held", "", tuple(made))


def _parameters(robot: Robot, printed: Printed) -> Section:
    mechanism = robot.mechanism()
    frames = {f.name: f for f in mechanism.frames}
    made = []
    for link, d in printed["table_1"]["lengths"].items():
        why = "" if link not in ("23", "24") else "sigma of this row is misprinted: 0, though the joint is fixed (2)"
        made.append(Entry("table 1", f"d of link {link}", d, float(frames[link].marker.position[0]), "m", why))
    for link, row in printed["table_2"].items():
        body = frames[link].body
        ours = (body.mass, body.MS_r[0], body.I_rr[2, 2])
        blade = link in ("13", "16", "23")
        why = "rho A L, m L/2, m L^2/3 of the blade, rho = 2800 kg/m^3; " + _ROUNDED if blade else _ROUNDED
        for name, unit, x, y in zip(("m", "mx", "zz"), ("kg", "kg m", "kg m^2"), row, ours, strict=False):
            if x or float(y):
                made.append(Entry("table 2", f"{name} of link {link}", x, float(y), unit, why if x != float(y) else ""))
    for c in mechanism.coordinates:
        if c.name.removeprefix("q") in printed["table_2"]:
            row = printed["table_2"][c.name.removeprefix("q")]
            made.append(Entry("table 2", f"Coulomb friction of {c.name}", row[3], float(c.coulomb), "N, N m"))
            made.append(Entry("table 2", f"viscous friction of {c.name}", row[4], float(c.viscous), "SI"))
    return Section("Tables 1 and 2: geometry and rigid parameters", "", tuple(made))


def _operations(robot: Robot, printed: Printed) -> Section:
    asked = printed["operations"]
    mechanism = robot.mechanism()
    derived = recursion_model(mechanism)
    made = []
    models = {
        "the paper's recursion, M and c, as derived": derived,
        "the paper's recursion, M and c, optimised": optimise(derived).function,
        "supple's inverse model": optimise(builder("inverse")(mechanism)).function,
        "supple's forward model": optimise(builder("forward")(mechanism)).function,
    }
    for name, f in models.items():
        plus, times, kept = _counted(f)
        why = "the paper does not say which model it counted, nor what was given; sines and roots are not counted here"
        made += [
            Entry("section 5", f"+ and -, {name}", asked["plus_minus"], plus, "", why),
            Entry("section 5", f"* and /, {name}", asked["times_over"], times, "", "the same"),
            Entry("section 5", f"intermediate variables, {name}", asked["intermediates"], kept, "", "the same"),
        ]
    words = (
        "`supple count dualemps --formulation virtual_power --model recursion --set stiffening=none` counts the paper's "
        "steps 0 to 3 with J_t, J_p, J_d, b, E, M and c as outputs by these names; `supple generate` gives them as code. "
        f"Dependent are the last three coordinates of leg 2; M and c are of {', '.join(recursion_names(mechanism))}."
    )
    return Section("Size of the symbolic model, by the paper's own recursion", words, tuple(made))


def _counted(f: Function) -> tuple[int, int, int]:
    c = f.counts
    kept = sum(1 for n in f.nodes if n.op in ("add", "sub", "neg", "mul", "div", "sin", "cos", "sqrt"))
    return c["add"] + c["sub"] + c["neg"], c["mul"] + c["div"], kept


def _independent() -> Section:
    """Section 4.1 on DualEMPS and on an overconstrained robot of the gallery."""
    made = []
    for name, note in (("dualemps", "planar, r = 3"), ("3prr", "its rods are hinged about parallel axes: overconstrained")):
        mechanism = Machine.read(name).mechanism()
        rows, dependent = mechanism.equations, last_of_legs(mechanism)
        kinds = [mechanism.coordinates[k].kind for k in dependent]
        made += [
            Entry("section 4.1", f"{name}: equations of the loops, r n", None, rows, "", note),
            Entry("section 4.1", f"{name}: dependent coordinates", None, len(dependent), "", "as many as equations"),
            Entry("section 4.1", f"{name}: of these elastic", None, kinds.count("elastic"), "", "the last of each leg"),
            Entry("section 4.1", f"{name}: passive joints and platform coordinates", None,
                  len(mechanism.indices("passive", "platform")), "", "fewer than the equations where overconstrained"),
        ]  # fmt: skip
    words = "Dependent are the last coordinates of each leg, taken as active, passive, elastic; legs stay alike."
    return Section("The rule for independent coordinates", words, tuple(made))


def _square(robot: Robot, printed: Printed) -> Section:
    begun = time.process_time()
    run = robot.simulate("square", every="2 ms")
    taken = time.process_time() - begun
    t, P = run.time, run["point_position:P"]
    entries = (
        Entry("section 5", "time to compute 25 s", printed["simulation_s"], taken, "s",
              "printed: a Pentium 4 in Simulink; ours with deriving and compiling, processor time"),
        Entry("section 5", "stroke of the sliders that is used", printed["stroke"], float(np.ptp(run["position:q11"])), "m",
              "the corners are only drawn; chosen 0.1 m about the middle"),
    )  # fmt: skip
    words = "A square in the joint space; measured curves are only drawn in the paper, so none are laid beside ours."
    pictures = (
        over_time("Figure 7", "The first reference trajectory.", t,
                  [("m", {n: run[f"position:{n}"] for n in ("q11", "q21")}),
                   ("m/s", {n: run[f"velocity:{n}"] for n in ("q11", "q21")})]),
        across("Figure 8", "Path of P in the workspace (square).", {"square": (P[:, 0], P[:, 2])}, "x0 (m)", "z0 (m)", True),
        _acceleration("Figure 9", run),
        over_time("Figures 10 and 11", "Forces of the motors at the prismatic joints.", t,
                  [("N", {f"motor {n}": run[f"tau:q{n}1"] for n in (1, 2)})]),
    )  # fmt: skip
    return Section("First trajectory: figures 7 to 11", words, entries, pictures)


def _acceleration(title: str, run: Simulation) -> Any:
    """y of P's acceleration in link 17's axes, as the paper's accelerometer has it, below 100 Hz."""
    from scipy.signal import butter, sosfiltfilt

    y = run["point_acceleration_own:P"][:, 1]
    step = float(run.time[1] - run.time[0])
    low = sosfiltfilt(butter(4, 100, fs=1 / step, output="sos"), y)
    return over_time(title, "Acceleration of P along y of link 17, below 100 Hz.", run.time, [("m/s²", {"17y": low})])


def _circle(robot: Robot, printed: Printed) -> Section:
    run = robot.simulate("circle", every="2 ms")
    P, V = run["point_position:P"][:, [0, 2]], run["point_velocity:P"]
    asked = printed["circle"]
    middle = (P.max(axis=0) + P.min(axis=0)) / 2
    away, speed = np.linalg.norm(P - middle, axis=1), np.linalg.norm(V, axis=1)
    cruising = (run.time > 1) & (run.time < run.time[-1] - 1)
    why = "P of the elastic robot swings about the wanted circle"
    entries = (
        Entry("section 5", "centre, x0", asked["centre"][0], float(middle[0]), "m", why),
        Entry("section 5", "centre, z0", asked["centre"][1], float(middle[1]), "m", why),
        Entry("section 5", "radius, mean", asked["radius"], float(away[cruising].mean()), "m", why),
        Entry("section 5", "speed, mean", asked["speed"], float(speed[cruising].mean()), "m/s", why),
    )
    pictures = (
        across("Figure 8", "Path of P (circle).", {"circle": (P[:, 0], P[:, 1])}, "x0 (m)", "z0 (m)", True),
        _acceleration("Figure 12", run),
        over_time("Figures 13 and 14", "Forces of the motors.", run.time,
                  [("N", {f"motor {n}": run[f"tau:q{n}1"] for n in (1, 2)})]),
    )  # fmt: skip
    return Section("Second trajectory: figures 8 and 12 to 14", "", entries, pictures)


# Encoders ------------------------------------------------------------------------------------------------------------

REST, RATE, LENGTH, NOISE, CUTOFF = 0.2, 1000.0, 6.25, 1e-6, 20.0  # s, Hz, s (one side of the square), m, Hz


def _measured(robot: Robot) -> Section:
    """Figure 6: the model fed with encoder samples, differentiated and low-pass filtered, beside the clean motion."""
    path = robot.motion("square").path
    assert path is not None
    t = np.arange(0, LENGTH + REST, 1 / RATE)
    clean = path(np.maximum(t - REST, 0.0))[0]
    known = robot.inverse("square", duration=LENGTH)
    noisy = clean + NOISE * np.random.default_rng(0).standard_normal(clean.shape)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "encoders.csv"
        np.savetxt(table, np.column_stack([t, noisy]), delimiter=",", header="t,q11,q21", comments="", fmt="%.12g")
        found = robot.inverse(table, filter=CUTOFF)
    start, made = int(REST * RATE), []
    for name, what in (("tau:q11", "force of motor 1"), ("point_acceleration:P", "acceleration of P, x0")):
        a, b = (x[name] if x[name].ndim == 1 else x[name][:, 0] for x in (found, known))
        error = (a[start : start + len(b)] - b[: len(a) - start]) / np.abs(b).max()
        rms = float(100 * np.sqrt((error**2).mean()))
        made.append(
            Entry("figure 6", f"{what}: error, root mean square", None, rms, "% of peak", "encoders are not printed")
        )
    words = (
        f"The first side of the square from encoder samples with {1e6 * NOISE:g} um of noise at {RATE:g} Hz, filtered at "
        f"{CUTOFF:g} Hz as `supple inverse dualemps --motion encoders.csv --filter {CUTOFF:g}` does, beside the clean one."
    )
    return Section("Figure 6: from measured motions", words, tuple(made))
