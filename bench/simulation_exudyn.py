"""Twenty-five seconds of DualEMPS along its square: supple against Exudyn, the time that an equal error takes.

Both have the same bodies, frequencies and friction, and sliders along the same path; blades are finite elements in
supple, and ANCF cables or geometrically exact beams that share nodes (the better model) in Exudyn. Two errors of
every run, RMS over the motion of the difference of the tip's acceleration vector, relative to the RMS of that
acceleration: that of time-stepping, against a fine run of the same model, and the whole one, against a converged mesh
stepped finely, which is supple's with CONVERGED elements per blade; Exudyn's fine runs are compared with it, too.
Exudyn has no error control for constrained systems: its step is swept, supple's tolerance. supple's samples are EVERY
apart, between its steps; Exudyn's are not closer than its steps, where nothing is interpolated. "Integration" is the
stepping alone, "with the tip" also computes the accelerations of all samples and those of the tip, as Exudyn's sensor
does while it integrates; "simulate" has all signals of `simulate()`.
One thread, times of the processor, the contestants taking turns. Exits with 1 if supple's integration is not BAR times as
fast as the fastest run of Exudyn's with a whole error of EQUAL.
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

BAR, EQUAL, ROUNDS = 50.0, 0.01, 2
EVERY, FINEST = 2e-3, 1e-3  # s between samples of the sweeps, and of the reference and the trapezoidal motion
MESHES, CONVERGED = (1, 2), 4  # elements per blade
TOLERANCES = (1e-3, 1e-2, 3e-2, 1e-1)
BEAMS, FINEST_BEAMS = (0, 2), 8  # per long blade; 0: one cable
STEPS = (1e-3, 2e-3, 2.5e-3, 4e-3, 5e-3)
FINE = Settings(method="gauss", tolerance=1e-9)
FINE_STEP = 2.5e-4  # s, which divides all STEPS
LOW_PASS = 100.0  # Hz


@dataclass
class Attempt:
    """One setting of one program: its errors, and the best times so far."""

    name: str
    stepping: float = np.inf
    error: float = np.inf  # the whole one
    times: dict[str, float] = field(default_factory=dict)
    notes: str = ""

    def took(self, what: str, seconds: float) -> None:
        self.times[what] = min(seconds, self.times.get(what, np.inf))


class Tip:
    """The tip's acceleration alone from supple's integrators, without all else that `simulate` reports."""

    def __init__(self, robot: Simulator) -> None:
        self.robot, self.stepper = robot, robot.stepper()
        self.points = native(optimise(robot.model.equations.points).function, lanes=8)

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


def frequencies(peer: Any) -> None:
    ours = modes(Machine.read("dualemps").model(), count=5).frequencies_hz
    theirs = peer.Robot().frequencies()[:5]
    print("converged: Exudyn with beams            ", np.round(peer.Robot(beams=FINEST_BEAMS).frequencies()[:5], 3))
    print("frequencies in Hz, sliders held: supple", np.round(ours, 3))
    print("                                 Exudyn", np.round(theirs, 3))
    if np.abs(theirs / ours - 1).max() > 1e-3:
        raise RuntimeError("the two models are not the same robot")


def fine_run(robot: Simulator, tolerance: float = FINE.tolerance) -> np.ndarray:
    """The tip's acceleration, EVERY apart after the start."""
    return np.asarray(integrate(robot, replace(FINE, every=EVERY, tolerance=tolerance))["point_acceleration"][1:, 0, ::2])


def converged() -> np.ndarray:
    """The tip's acceleration on a fine mesh; how far it is from a looser tolerance and a coarser mesh."""
    robot = simulator(Machine.read("dualemps", {"elements": str(CONVERGED)}), "square")
    reference = fine_run(robot)
    coarser = fine_run(simulator(Machine.read("dualemps", {"elements": str(CONVERGED - 1)}), "square"))
    print(f"converged: from ten times the tolerance {relative(fine_run(robot, 1e-8) - reference, reference):.3%},", end=" ")
    print(f"from {CONVERGED - 1} elements {relative(coarser - reference, reference):.2%}")
    return reference


class Ours:
    """supple with some elements per blade."""

    def __init__(self, elements: int) -> None:
        self.robot = simulator(Machine.read("dualemps", {"elements": str(elements)}), "square")
        self.tip, self.fine = Tip(self.robot), fine_run(self.robot)
        self.attempts = {t: Attempt(f"supple, {elements} elements, tolerance {t:g}") for t in TOLERANCES}

    def turn(self, reference: np.ndarray) -> None:
        for tolerance, attempt in self.attempts.items():
            settings = Settings(tolerance=tolerance, every=EVERY)
            integrated, with_tip, found = self.tip(settings)
            attempt.took("integration", integrated)
            attempt.took("with the tip", with_tip)
            begun = time.process_time()
            summary = integrate(self.robot, settings).summary
            attempt.took("simulate", time.process_time() - begun)
            attempt.stepping, attempt.error = relative(found - self.fine, self.fine), relative(found - reference, reference)
            attempt.notes = f"{summary['steps']} steps, {summary['newton_iterations']} iterations"


class Theirs:
    """Exudyn with some beams per long blade."""

    def __init__(self, peer: Any, path: Any, end: float, beams: int) -> None:
        self.rival, self.end = peer.Robot(path, beams), end
        self.fine = self.rival.run(FINE_STEP, end, FINE_STEP, peer.REFERENCE_TOLERANCE, rho=0.9)[2]
        name = f"{beams} beams" if beams else "cables"
        self.attempts = {h: Attempt(f"Exudyn, {name}, step {h * 1e3:g} ms") for h in STEPS}

    def turn(self, reference: np.ndarray) -> None:
        for step, attempt in self.attempts.items():
            try:
                taken, at, found = self.rival.run(step, self.end, max(step, EVERY))
            except RuntimeError:
                attempt.notes = "it stops early"
                continue
            attempt.took("with the tip", taken)
            attempt.stepping = relative(found - same_times(self.fine, FINE_STEP, at), self.fine)
            shared = (at > 0.5 * EVERY) & (np.abs(np.rint(at / EVERY) * EVERY - at) < 1e-9)
            there = reference[np.rint(at[shared] / EVERY).astype(int) - 1]
            attempt.error = relative(found[shared] - there, reference)
            attempt.notes = f"{round(self.end / step)} steps, {self.rival.counts['iterations']} iterations"


def contest(peer: Any) -> tuple[list[Attempt], list[Attempt]]:
    """All runs along the square, the contestants taking turns."""
    reference = converged()
    ours = [Ours(elements) for elements in MESHES]
    others = [Theirs(peer, ours[0].robot.path, ours[0].robot.duration, beams) for beams in BEAMS]
    for x in others:
        there = x.fine[round(EVERY / FINE_STEP) :: round(EVERY / FINE_STEP)]
        name = next(iter(x.attempts.values())).name.rsplit(",", 1)[0]
        print(f"{name}: fine run from the converged one {relative(there - reference, reference):.2%}")
    for _ in range(ROUNDS):
        for contestant in (*ours, *others):
            contestant.turn(reference)
    return [a for x in ours for a in x.attempts.values()], [a for x in others for a in x.attempts.values()]


def report(ours: list[Attempt], others: list[Attempt]) -> dict[str, float]:
    """How many times as fast supple is at an equal whole error; both tables are printed."""
    kinds = ("integration", "with the tip", "simulate")
    rows = []
    for a in (*ours, *others):
        times = (f"{a.times[k] * 1e3:.1f}" if k in a.times else "" for k in kinds)
        rows.append([a.name, f"{a.stepping:.2%}", f"{a.error:.2%}", *times, a.notes])
    show("square, 25 s: errors and best times in ms", ["", "stepping", "whole", *kinds, ""], rows)
    found: dict[str, float] = {}
    for what in ("error", "stepping"):
        peer = min((a for a in others if getattr(a, what) <= EQUAL), key=lambda a: a.times["with the tip"])
        best = {k: min((a for a in ours if getattr(a, what) <= EQUAL), key=lambda a, k=k: a.times[k]) for k in kinds}
        rows = [[peer.name, f"{peer.times['with the tip'] * 1e3:.1f}", "1"]]
        for k, a in best.items():
            ratio = peer.times["with the tip"] / a.times[k]
            rows.append([f"{a.name}: {k}", f"{a.times[k] * 1e3:.1f}", f"{ratio:.1f}"])
            found.setdefault(k, ratio)
        title = {"error": "whole error", "stepping": "error of time-stepping"}[what]
        show(f"fastest with a {title} of {EQUAL:.0%} at most", ["", "ms", "times as fast"], rows)
    return found


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
        ratios = report(ours, others)
        error = hard(peer)
    missed = []
    if ratios["integration"] < BAR:
        missed.append(f"integration {ratios['integration']:.1f} times as fast, not {BAR:g}")
    if not error < EQUAL:
        missed.append(f"an error of {error:.2%} along the trapezoidal square, not {EQUAL:.0%}")
    print("\n" + ("missed: " + "; ".join(missed) if missed else "both bars are met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
