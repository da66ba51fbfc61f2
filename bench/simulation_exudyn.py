"""Twenty-five seconds of DualEMPS along its square: supple against Exudyn, the time that an equal error takes.

Both have one cubic element for each blade, the same bodies, frequencies and friction, and sliders along the same path. Each
is compared with its own fine run: error = RMS over the motion of the difference of the tip's acceleration vector, relative
to the RMS of that acceleration. Exudyn has no error control for constrained systems: its step is swept, supple's tolerance.
supple's samples are EVERY apart, between its steps; Exudyn's are not closer than its steps, where nothing is interpolated.
The time of supple "with the tip" is that of its integration, the accelerations of all samples and those of the tip. Exudyn's
sensor records the tip while it integrates. Both use one thread, and the times are those of the processor: on a busy machine
a long run is interrupted more often than a short one. Exits with 1 if supple is not BAR times as fast at an error of 1 %.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.signal import butter, filtfilt
from threadpoolctl import threadpool_limits
from timing import show

from supple.analyses.modes import modes
from supple.backends.native import native
from supple.backends.stepping.settings import Settings
from supple.expr.passes import optimise
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

BAR, EQUAL, ROUNDS = 20.0, 0.005, 5
EVERY, FINEST = 2e-3, 1e-3  # s between samples of the sweeps, and of the reference and the trapezoidal motion
TOLERANCES = (1e-3, 3e-3, 1e-2, 3e-2, 6e-2, 1e-1)
STEPS = (1e-3, 2e-3, 2.5e-3, 3.125e-3, 4e-3, 5e-3)
FINE = Settings(method="gauss", tolerance=1e-9)
FINE_STEP = 1.25e-4  # s, which divides all STEPS
LOW_PASS = 100.0  # Hz


@dataclass
class Attempt:
    """One setting of one program: its error, and the best times so far."""

    name: str
    error: float = np.inf
    times: dict[str, float] = field(default_factory=dict)
    notes: str = ""

    def took(self, what: str, seconds: float) -> None:
        self.times[what] = min(seconds, self.times.get(what, np.inf))


class Tip:
    """The tip's acceleration alone from supple's integrators, without all else that `simulate` reports."""

    def __init__(self, robot: Simulator) -> None:
        self.robot, self.stepper = robot, robot.stepper()
        self.points = native(optimise(robot.model.function("points").function).function, lanes=8)

    def __call__(self, settings: Settings) -> tuple[float, float, np.ndarray]:
        """Seconds of the integration, seconds with the tip, and its acceleration (x0, z0) at the samples after the start."""
        robot, stepper, run = self.robot, self.stepper, self.robot.runs[0]
        chosen, drive = robot.scaled(settings), robot.drive
        begun = time.thread_time()
        state = stepper.start(chosen, drive, 0.0, run.q, run.v)
        outcome = stepper.begin(state, drive)
        if outcome == "fine":
            outcome, rows = stepper.run(state, drive, robot.duration, 10**9, round(robot.duration / chosen.every) + 100)
        integrated = time.thread_time()
        if outcome != "done":
            raise RuntimeError(f"supple stopped early: {outcome}")
        q, v, a = stepper.observe(state, drive, rows, np.full(len(rows), -1.0))[:3]
        found = self.points(q=q[:, 0], v=v[:, 0], a=a[:, 0], g=robot.model.gravity)["acceleration"]
        return integrated - begun, time.thread_time() - begun, found[:, 0, ::2]


def relative(error: np.ndarray, reference: np.ndarray) -> float:
    """RMS of a vector over time, relative to that of another."""
    return float(np.sqrt((error**2).sum(1).mean() / (reference**2).sum(1).mean()))


def same_times(reference: np.ndarray, step: float, times: np.ndarray) -> np.ndarray:
    """Rows of a reference (one every `step`) at the given times."""
    index = np.rint(times / step).astype(int)
    if np.abs(index * step - times).max() > 1e-9:
        raise ValueError("samples are not at times of the reference")
    return reference[index]


def time_at(error: float, attempts: list[Attempt], what: str) -> float:
    """The time that an error takes, between the two attempts around it (logarithms of both interpolated)."""
    ordered = sorted(attempts, key=lambda a: a.error)
    errors, times = np.log([a.error for a in ordered]), np.log([a.times[what] for a in ordered])
    if not errors[0] <= np.log(error) <= errors[-1]:
        raise RuntimeError(f"no attempts on both sides of an error of {error:.1%}")
    return float(np.exp(np.interp(np.log(error), errors, times)))


def frequencies(peer: Any) -> None:
    ours = modes(Machine.read("dualemps").model(), count=5).frequencies_hz
    theirs = peer.Robot().frequencies()[:5]
    print("frequencies in Hz, sliders held: supple", np.round(ours, 3))
    print("                                 Exudyn", np.round(theirs, 3))
    if np.abs(theirs / ours - 1).max() > 1e-3:
        raise RuntimeError("the two models are not the same robot")


def contest(peer: Any) -> tuple[list[Attempt], list[Attempt]]:
    """Both sweeps along the square, the contestants taking turns."""
    robot = simulator(Machine.read("dualemps"), "square")
    rival, tip, end = peer.Robot(robot.path), Tip(robot), robot.duration
    reference, theirs = references(peer, robot, rival)
    ours, others = [Attempt(f"tolerance {t:g}") for t in TOLERANCES], [Attempt(f"step {h * 1e3:g} ms") for h in STEPS]
    for attempt, tolerance in zip(ours, TOLERANCES, strict=True):
        summary = integrate(robot, Settings(tolerance=tolerance, every=EVERY)).summary
        attempt.took("wall_time_s", summary["wall_time_s"])
        attempt.notes = f"{summary['steps']} steps, {summary['newton_iterations']} iterations"
    for _ in range(ROUNDS):
        for attempt, tolerance in zip(ours, TOLERANCES, strict=True):
            integrated, with_tip, found = tip(Settings(tolerance=tolerance, every=EVERY))
            attempt.took("integration", integrated)
            attempt.took("with the tip", with_tip)
            attempt.error = relative(found - reference, reference)
        for attempt, step in zip(others, STEPS, strict=True):
            taken, at, found = rival.run(step, end, max(step, EVERY))
            attempt.took("with the tip", taken)
            attempt.error = relative(found - same_times(theirs, FINE_STEP, at), theirs)
            attempt.notes = f"{round(end / step)} steps, {rival.counts['iterations']} iterations"
    return ours, others


def references(peer: Any, robot: Simulator, rival: Any) -> tuple[np.ndarray, np.ndarray]:
    """Fine runs of supple (EVERY apart) and Exudyn (FINE_STEP apart); how far they are from coarser ones and each other."""
    whole, looser = (integrate(robot, replace(FINE, every=EVERY, tolerance=k * FINE.tolerance)) for k in (1, 10))
    reference, other = (x["point_acceleration"][1:, 0, ::2] for x in (whole, looser))
    print(f"supple's reference, from one with ten times the tolerance: {relative(other - reference, reference):.2%}")
    _, _, theirs = rival.run(FINE_STEP, robot.duration, FINE_STEP, peer.REFERENCE_TOLERANCE, rho=0.9)
    _, at, half = rival.run(2 * FINE_STEP, robot.duration, EVERY, peer.REFERENCE_TOLERANCE, rho=0.9)
    print(
        f"Exudyn's reference, from one with twice the step: {relative(half - same_times(theirs, FINE_STEP, at), theirs):.2%}"
    )
    difference = relative(same_times(theirs, FINE_STEP, whole.time[1:]) - reference, reference)
    print(f"the references of the two programs differ by {difference:.2%}")
    return reference, theirs


def report(ours: list[Attempt], others: list[Attempt]) -> float:
    """How many times as fast supple is with the tip at an equal error; both tables are printed."""
    kinds = ("integration", "with the tip", "wall_time_s")
    rows = []
    for who, attempts in (("supple", ours), ("Exudyn", others)):
        for a in attempts:
            times = (f"{a.times[k] * 1e3:.1f}" if k in a.times else "" for k in kinds)
            rows.append([f"{who}, {a.name}", f"{a.error:.2%}", *times, a.notes])
    show("square, 25 s: error and best times in ms", ["", "error", *kinds, ""], rows)
    peer_time = time_at(EQUAL, others, "with the tip")
    ratios = {k: peer_time / time_at(EQUAL, ours, k) for k in kinds[:2]}
    rows = [["Exudyn, with the tip", f"{peer_time * 1e3:.1f}", "1"]]
    rows += [[f"supple, {k}", f"{peer_time / r * 1e3:.1f}", f"{r:.1f}"] for k, r in ratios.items()]
    show(f"at an error of {EQUAL:.1%}", ["", "ms", "times as fast"], rows)
    return ratios["with the tip"]


def filtered(x: np.ndarray) -> np.ndarray:
    """Without what is above LOW_PASS, samples FINEST apart."""
    return np.asarray(filtfilt(*butter(4, LOW_PASS, fs=1 / FINEST), x, axis=0))


def hard(peer: Any) -> float:
    """supple's error at default settings along the square with jumps of acceleration, after the low-pass."""
    robot = simulator(Machine.read("dualemps"), "square_trapezoidal")
    integrated, _, found = Tip(robot)(Settings(every=FINEST))
    reference = filtered(integrate(robot, replace(FINE, every=FINEST))["point_acceleration"][1:, 0, ::2])
    error = relative(filtered(found) - reference, reference)
    rival = peer.Robot(robot.path)
    fine = filtered(rival.run(FINE_STEP, robot.duration, FINEST, peer.REFERENCE_TOLERANCE)[2][1:])
    rows = [["supple, default settings", f"{integrated * 1e3:.0f}", f"{error:.2%}"]]
    for step in (FINEST, FINEST / 4):
        taken, _, theirs = rival.run(step, robot.duration, FINEST)
        theirs = theirs[1:]
        rows.append(
            [f"Exudyn, step {step * 1e3:g} ms", f"{taken * 1e3:.0f}", f"{relative(filtered(theirs) - fine, fine):.2%}"]
        )
    show(f"trapezoidal square, tip below {LOW_PASS:g} Hz, samples {FINEST * 1e3:g} ms apart", ["", "ms", "error"], rows)
    print(f"the references of the two programs differ by {relative(fine - reference, reference):.2%}")
    return error


def main() -> int:
    if importlib.util.find_spec("exudyn") is None:
        print("skipped: Exudyn is not installed (pip install exudyn)")
        return 0
    os.environ.setdefault("EXUDYN_MODULE", "fast")  # its module without range checks, chosen when it is imported
    import dualemps_exudyn as peer

    frequencies(peer)
    with threadpool_limits(1):
        ours, others = contest(peer)
        ratio = report(ours, others)
        error = hard(peer)
    missed = []
    if ratio < BAR:
        missed.append(f"{ratio:.1f} times as fast with the tip, not {BAR:g}")
    if not error < EQUAL:
        missed.append(f"an error of {error:.2%} along the trapezoidal square, not {EQUAL:.0%}")
    print("\n" + ("missed: " + "; ".join(missed) if missed else "both bars are met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
