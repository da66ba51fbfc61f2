"""Errors in time at default settings: every motion of the gallery, and blows, torque steps, stiff, undamped, near-singular.

Each case is run with the default method and tolerance, and with tolerances over four decades, and compared with another
method at a tight tolerance without cutoff (Gauss', whose own uncertainty is the difference of two tolerances):

- positions: largest error of the named points, relative to the longest way that any of them covers;
- accelerations of the points, forces of prescribed actuators: RMS error below the cutoff, relative to the RMS of the signal.

Accelerations jump where forces do, and from step to step where a vibration is faster than these. Samples at equal times
misplace a jump by up to half of what is between them, which no filter tells from slow motion. So every step is sampled at
places of its own and integrated: what is low-passed at CUTOFF (Butterworth, forwards and backwards) are means, weighted by
cubic B-splines, in which nothing fast shows as slow. `python bench/tolerances.py` prints the table of docs/simulation.md;
words as arguments choose cases by name. Exits with 1 where an error is above its bar or does not fall with the tolerance.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt
from threadpoolctl import threadpool_limits

from supple.backends.stepping.settings import Settings
from supple.machine import GALLERY, Machine
from supple.simulation.elastic_control import foreseen
from supple.simulation.groups import Group, groups_of, switch
from supple.simulation.signals import observed, signals_of
from supple.simulation.simulator import Simulator, simulator

CUTOFF = Settings().cutoff  # Hz
BARS = {"positions": 1e-3, "accelerations": 2e-2, "forces": 2e-2}
DECADES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
FINE = Settings("gauss", tolerance=1e-9, cutoff=0.0)
PLACES = 1e-4  # s between positions that are compared
STRETCH = 1e-4  # s, longest part of a step that is integrated at once
OPEN = np.array([275, 100, 402, 100, 275]) / 1152  # weights of five places in the middles of its fifths: of the sixth order
BLOCK = 50_000  # samples that are looked at together
RATE = 100e3  # Hz, of the means
BEYOND = 1000  # means before and after a motion, where filters ring
NOISE = 3.0  # errors within this many times the reference's own need not fall any more
ROUNDED = 1e-9  # nor those of rounding

ARM = """
name: two_link_arm
space: planar
gravity: [0, -9.81, 0]
materials: {steel: {E: 200 GPa, rho: 7800 kg/m^3, nu: 0.3}}
sections: {bar: {rectangle: {y: 20 mm, z: 10 mm}}}
damping: {modal: 0.005}
bodies:
  arm: {beam: {length: 0.5 m, section: bar, material: steel, elements: 3}}
  tool: {rigid: {mass: 1 kg}}
links:
  upper: {parent: base, joint: revolute, q: q1, body: arm}
  lower: {parent: upper, on: end, joint: revolute, q: q2, body: arm}
  tool: {parent: lower, on: end, body: tool}
actuators: {q1: {inertia: 0.01 kg*m^2}, q2: {inertia: 0.01 kg*m^2}}
points: {tip: {link: tool}}
home: {q1: -60 deg, q2: 40 deg}
"""
ARM_STEP = """
start: {q1: -60 deg, q2: 40 deg}
torques: {q1: {step: {height: 30 N*m, at: 0.1 s}}, q2: {step: {height: -8 N*m, at: 0.4 s}}}
drive: {q1: torque, q2: torque}
duration: 1.2 s
"""
BLOW = """
signals: {arm/q1: {sweep: {amplitude: 0 deg, first: 1 Hz, last: 2 Hz}}}
loads:
  tool:
    fx: {impulse: {area: 0.1 N*s, duration: 2 ms, at: 10 ms}}
    fy: {impulse: {area: 0.05 N*s, duration: 2 ms, at: 10 ms}}
duration: 2 s
"""
PUSH = """
start: {q1: -140 deg, q2: -40 deg}
torques: {q1: {step: {height: -20 N*m, at: 10 ms}}, q2: {step: {height: 20 N*m, at: 10 ms}}}
drive: {q1: torque, q2: torque}
duration: 0.15 s
"""
STIFF_PUSH = """
torques: {arm1/q1: {step: {height: 1 N*m, at: 10 ms}}}
drive: {arm1/q1: torque, arm2/q1: torque}
duration: 0.3 s
"""
CORNER = (
    ("  tool: {link: platform}", "  corner: {link: platform, at: [rp, 0, 0]}"),
)  # the centre stays where it is in a turn
NO_LOSSES = (("damping: {modal: 0.01}\n", ""), (", viscous: 0.05", ""))


@dataclass(frozen=True)
class Case:
    """A motion to judge: `changes` are made in the robot's text, `written` is a motion file instead of one of its own."""

    name: str
    robot: str
    motion: str = ""
    written: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    reference: Settings = FINE


CASES = (
    Case("3prr, to_and_fro", "3prr", "to_and_fro"),
    Case("3rrr, circle", "3rrr", "circle"),
    Case("3rrr, turn", "3rrr", "turn", changes=CORNER),
    Case("bricard, fall", "bricard", "fall", options={"duration": 3.0},
         reference=replace(FINE, tolerance=1e-11)),
    Case("cantilever, hammer", "cantilever", "hammer", options={"duration": 0.5}),
    Case("delta, pick_and_place", "delta", "pick_and_place"),
    Case("delta, carry", "delta", "carry"),
    Case("delta of 4 elements, carry", "delta", "carry", values={"elements": 4}),
    Case("3rrr of 8 elements, circle", "3rrr", "circle", values={"elements": 8}),
    Case("dualemps, square", "dualemps", "square", options={"duration": 6.25}),
    Case("dualemps, square_trapezoidal", "dualemps", "square_trapezoidal", options={"duration": 6.25}),
    Case("dualemps, square_shaped", "dualemps", "square_shaped", options={"duration": 6.25}),
    Case("dualemps, circle", "dualemps", "circle"),
    Case("five_bar, circle", "five_bar", "circle"),
    Case("five_bar, sweep", "five_bar", "sweep", options={"duration": 3.0}),
    Case("five_bar_bob, carry", "five_bar_bob", "carry"),
    Case("five_bar_elastic, line", "five_bar_elastic", "line"),
    Case("gough_stewart, quintic", "gough_stewart", "quintic"),
    Case("gough_stewart, controlled", "gough_stewart", "controlled", options={"duration": 0.2}),
    Case("gough_stewart_flexible, poses", "gough_stewart_flexible", "poses"),
    Case("gough_stewart_plate, poses", "gough_stewart_plate", "poses"),
    Case("gough_stewart_plate, placed", "gough_stewart_plate", "placed"),
    Case("hexa, quintic", "hexa", "quintic"),
    Case("pacdrive, fall", "pacdrive", "fall"),
    Case("pacdrive, pick_and_place", "pacdrive", "pick_and_place"),
    Case("pacdrive, carry", "pacdrive", "carry"),
    Case("serial_arm, reach", "serial_arm", "reach"),
    Case("surgiscope, pick_and_place", "surgiscope", "pick_and_place", options={"duration": 0.5},
         reference=Settings("gauss", tolerance=1e-8)),
    Case("triglide, circle", "triglide", "circle"),
    Case("blow: five_bar", "five_bar", written=BLOW),
    Case("blow, undamped: five_bar", "five_bar", written=BLOW, changes=NO_LOSSES),
    Case("torque step: pacdrive, 20 N m", "pacdrive", written=PUSH),
    Case("torque step: two-link arm", ARM, written=ARM_STEP),
    Case("near-singular: pacdrive, fall to 1 s", "pacdrive", "fall", options={"duration": 1.0},
         reference=replace(FINE, tolerance=1e-11)),
    Case("stiff: pacdrive, fall, E x 1000", "pacdrive", "fall", values={"E": 5e12}),
    Case("stiff: five_bar, torque, E x 1000", "five_bar", written=STIFF_PUSH, values={"E": 70e12}),
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """Positions at equal times and slow signals of one run, and how it went."""

    time: np.ndarray
    positions: np.ndarray
    slow: dict[str, np.ndarray]
    steps: int
    outcome: str


def ready(case: Case, folder: Path) -> Simulator:
    """The Simulator of a case, its files written to a folder."""
    robot: str | Path = case.robot
    if case.changes or "\n" in case.robot:
        text = case.robot if "\n" in case.robot else (GALLERY / f"{case.robot}.yaml").read_text(encoding="utf-8")
        for old, new in case.changes:
            if old not in text:
                raise ValueError(f"{case.robot} has no {old!r}")
            text = text.replace(old, new)
        robot = folder / "robot.yaml"
        robot.write_text(text, encoding="utf-8")
    motion: str | Path = case.motion
    if case.written:
        motion = folder / "motion.yaml"
        motion.write_text(case.written, encoding="utf-8")
    machine = Machine.read(robot, case.values)
    return simulator(machine, foreseen(machine, machine.motion(motion, case.options.get("duration"))), **case.options)


def run(made: Simulator, settings: Settings, most: int = 10**9) -> Found:
    """A case with some settings, in so many steps at most."""
    places, sums = [], {}

    def place(at: np.ndarray, positions: np.ndarray, _: dict[str, np.ndarray]) -> None:
        places.append((at, positions))

    def integrate(at: np.ndarray, _: np.ndarray, fast: dict[str, np.ndarray]) -> None:
        for k, x in fast.items():
            empty = np.zeros((int(made.duration * RATE) + 2 * BEYOND, x.shape[1]))
            add_means(at, x, sums.setdefault(k, empty))

    group = walked(made, replace(settings, every=PLACES), most, place)
    if group.outcome == "done":
        walked(made, replace(settings, every=-STRETCH), most, integrate)
    time, positions = (np.concatenate(x) for x in zip(*places, strict=True))
    slow = {k: low_passed(x) for k, x in sums.items()}
    return Found(time, positions, slow, group.state.counts()["steps"], group.outcome)


def walked(made: Simulator, settings: Settings, most: int, take: Callable[..., None]) -> Group:
    """A run whose samples are handed on in blocks."""
    group = groups_of(made, made.scaled(settings), None)[0]
    while group.outcome in ("yielded", "full") and (left := most - group.state.counts()["steps"]) > 0:
        group.outcome, samples = group.stepper.run(group.state, made.drive, made.duration, left, BLOCK)
        if len(samples):
            take(*signals(made, replace(group, samples=[samples], stretches=[])))
        if group.outcome not in ("yielded", "full", "done") and switch(made, group, made.drive):
            group.outcome = "yielded"
    return group


def signals(made: Simulator, group: Group) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Times, positions of the points, their accelerations and the forces of prescribed actuators, of all samples."""
    at, parts = observed(made, [group])
    found, _ = signals_of(made, at, parts, ("point_position", "point_acceleration"))
    whose = "point_" if made.model.mechanism.points else ""
    position, acceleration = (found[whose + name].values.reshape(len(at), -1) for name in ("position", "acceleration"))
    given = [k for k, i in enumerate(made.model.active) if made.model.names[i] in made.prescribed]
    forces = found["tau"].values[:, given] if given else np.zeros((len(at), 0))
    return at, position, {"accelerations": acceleration, "forces": forces}


def add_means(at: np.ndarray, x: np.ndarray, to: np.ndarray) -> None:
    """Adds what samples within steps make of means around equal times, weighted by cubic B-splines."""
    stretch = (at[4::5] - at[::5]) * 5 / 4
    weights = RATE * (stretch[:, None] * OPEN).ravel()
    cell = np.floor(at * RATE).astype(int)
    u = at * RATE - cell
    shares = (1 - u) ** 3 / 6, 2 / 3 - u**2 + u**3 / 2, 1 / 6 + (u + u**2 - u**3) / 2, u**3 / 6
    for k, share in enumerate(shares):
        for j in range(x.shape[1]):
            to[:, j] += np.bincount(cell + BEYOND + k, weights * share * x[:, j], len(to))


def low_passed(x: np.ndarray) -> np.ndarray:
    return np.asarray(sosfiltfilt(butter(8, CUTOFF, fs=RATE, output="sos"), x, axis=0, padtype=None))


def size(x: np.ndarray) -> float:
    return float(np.sqrt((x**2).sum()))


def errors(found: Found, true: Found) -> dict[str, float]:
    """Errors by kind of signal; infinite where a run ended early."""
    if found.outcome != "done":
        return dict.fromkeys(BARS, np.inf)
    off = np.abs(found.positions - true.positions).max()
    made = {"positions": float(off / np.ptp(true.positions, axis=0).max())}
    return made | {k: size(found.slow[k] - x) / size(x) for k, x in true.slow.items() if x.shape[1]}


def seconds(made: Simulator) -> float:
    """Processor time of a run at default settings."""
    group = groups_of(made, made.scaled(Settings()), None)[0]
    begun = time.thread_time()
    while group.outcome in ("yielded", "full"):
        group.outcome, _ = group.stepper.run(group.state, made.drive, made.duration, 10**9, 100_000)
        if group.outcome not in ("done", "full") and switch(made, group, made.drive):
            group.outcome = "yielded"
    return time.thread_time() - begun


def judge(case: Case) -> tuple[list[str], list[str]]:
    """A row of the table, and which bars were missed."""
    with tempfile.TemporaryDirectory() as folder:
        made = ready(case, Path(folder))
        true = run(made, case.reference)
        if true.outcome != "done":
            return [case.name, "", "", "", "", "", ""], [f"{case.name}: its reference ended {true.outcome}"]
        rough = run(made, replace(case.reference, tolerance=30 * case.reference.tolerance))
        usual = run(made, Settings())
        own, now = errors(rough, true), errors(usual, true)
        others = [errors(run(made, Settings(tolerance=t)), true)["accelerations"] for t in DECADES]
        took = seconds(made)
    missed = [f"{case.name}: {k} {x:.2%}" for k, x in now.items() if not x < BARS[k]]
    least = max(NOISE * own["accelerations"] if rough.outcome == "done" else 0.0, ROUNDED)
    if any(not b < max(a, least) for a, b in pairwise(others)):
        missed.append(f"{case.name}: not monotone")
    cells = [f"{100 * now[k]:.2g} %" if k in now else "" for k in BARS]
    falls = ", ".join(f"{100 * x:.2g}" for x in others)
    told = f"reference {true.outcome}, {true.steps} steps, own {own}"
    print(f"{case.name}: {told}; {missed or 'fine'}", file=sys.stderr, flush=True)
    return [case.name, *cells, falls, f"{usual.steps}", f"{1e3 * took:.0f}"], missed


def main() -> int:
    chosen = [c for c in CASES if not sys.argv[1:] or any(word in c.name for word in sys.argv[1:])]
    head = ["case", "positions", "accelerations", "forces", "accelerations at 1e-3 ... 1e-7, %", "steps", "ms"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    missed: list[str] = []
    with threadpool_limits(1):
        for case in chosen:
            cells, its = judge(case)
            print(f"| {' | '.join(cells)} |", flush=True)
            missed += its
    print("\nmissed: " + "; ".join(missed) if missed else "\nall bars are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
