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
One thread, times of the processor, the contestants taking turns. Exits with 1 if supple is not as many times as fast as BARS
say as the fastest run of Exudyn's with a whole error of EQUAL, or if the second run of the command takes longer than WARM.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from typing import Any

import numpy as np
from contest import Attempt, Tip, at_times, compare, relative, table
from scipy.signal import butter, filtfilt
from threadpoolctl import threadpool_limits
from timing import show

from supple.analyses.modes import modes
from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

BARS = {"integration": 50.0, "simulate": 20.0}  # times as fast
COMMAND, WARM = ("simulate", "dualemps", "--motion", "square"), 1.0  # s of the processor that its second run may take
EQUAL, ROUNDS, IN_A_ROW = 0.01, 3, 3
EVERY, FINEST = 2e-3, 1e-3  # s between samples of the sweeps, and of the reference and the trapezoidal motion
MESHES, CONVERGED = (1, 2), 4  # elements per blade
TOLERANCES = (1e-3, 1e-2, 2e-2, 2.5e-2, 2.9e-2, 1e-1)
BEAMS, FINEST_BEAMS = (0, 2), 8  # per long blade; 0: one cable
STEPS = (1e-3, 2e-3, 2.5e-3, 25 / 9500, 25 / 9000, 3.125e-3, 4e-3)  # s; 25 s are whole numbers of them
NEWTON = ((1e-4, 1e-5), (1e-3, 1e-4))  # tolerances of Exudyn's, relative and absolute
FINE = Settings(method="gauss", tolerance=1e-9)
FINE_STEP = 2.5e-4  # s, which divides EVERY; errors are those of times that both have
LOW_PASS = 100.0  # Hz


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
        self.tip, self.fine = Tip(self.robot, slice(None, None, 2)), fine_run(self.robot)
        self.attempts = {t: Attempt(f"supple, {elements} elements, tolerance {t:g}") for t in TOLERANCES}

    def turn(self, reference: np.ndarray) -> None:
        for tolerance, attempt in self.attempts.items():
            settings = Settings(tolerance=tolerance, every=EVERY)
            for _ in range(IN_A_ROW):
                integrated, with_tip, found = self.tip(settings)
                attempt.took("integration", integrated)
                attempt.took("with the tip", with_tip)
            for _ in range(IN_A_ROW):
                begun = time.process_time()
                summary = integrate(self.robot, settings, threads=1).summary
                attempt.took("simulate", time.process_time() - begun)
            attempt.stepping, attempt.error = relative(found - self.fine, self.fine), relative(found - reference, reference)
            attempt.notes = f"{summary['steps']} steps, {summary['newton_iterations']} iterations"


class Theirs:
    """Exudyn with some beams per long blade."""

    def __init__(self, peer: Any, path: Any, end: float, beams: int) -> None:
        self.rival, self.end = peer.Robot(path, beams), end
        self.fine = self.rival.run(FINE_STEP, end, EVERY, peer.REFERENCE_TOLERANCE, rho=0.9)[2][1:]
        self.name = f"{beams} beams" if beams else "cables"
        self.attempts = {
            (h, newton): Attempt(f"Exudyn, {self.name}, step {h * 1e3:.4g} ms, Newton {newton[0]:g}")
            for h in STEPS
            for newton in NEWTON
        }

    def turn(self, reference: np.ndarray) -> None:
        for (step, newton), attempt in self.attempts.items():
            try:
                taken, at, found = self.rival.run(step, self.end, max(step, EVERY), newton)
            except RuntimeError:
                attempt.notes = "it stops early"
                continue
            attempt.took("with the tip", taken)
            shared, there = at_times(reference, EVERY, at)
            own = at_times(self.fine, EVERY, at)[1]
            attempt.stepping = relative(found[shared] - own, self.fine)
            attempt.error = relative(found[shared] - there, reference)
            attempt.notes = f"{round(self.end / step)} steps, {self.rival.counts['iterations']} iterations"


def contest(peer: Any) -> tuple[list[Attempt], list[Attempt]]:
    """All runs along the square, the contestants taking turns."""
    reference = converged()
    ours = [Ours(elements) for elements in MESHES]
    others = [Theirs(peer, ours[0].robot.path, ours[0].robot.duration, beams) for beams in BEAMS]
    for x in others:
        print(f"Exudyn, {x.name}: fine run from the converged one {relative(x.fine - reference, reference):.2%}")
    for _ in range(ROUNDS):
        for contestant in (*ours, *others):
            contestant.turn(reference)
    return [a for x in ours for a in x.attempts.values()], [a for x in others for a in x.attempts.values()]


def command() -> float:
    """Seconds of the processor that the command takes the second time, its start and writing of tables included; modules are
    compiled, as they are where supple is installed, wherever this interpreter is told to leave that."""
    best = np.inf
    with tempfile.TemporaryDirectory() as compiled:
        own = {k: x for k, x in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPYCACHEPREFIX": compiled}
        for _ in range(4):
            before = os.times()
            subprocess.run([sys.executable, "-m", "supple", *COMMAND], check=True, stdout=subprocess.DEVNULL, env=own)
            after = os.times()
            best = min(best, sum(after[2:4]) - sum(before[2:4]))
    return best


def filtered(x: np.ndarray) -> np.ndarray:
    """Without what is above LOW_PASS, samples FINEST apart."""
    return np.asarray(filtfilt(*butter(4, LOW_PASS, fs=1 / FINEST), x, axis=0))


def hard(peer: Any) -> float:
    """supple's error at default settings along the square with jumps of acceleration, after the low-pass."""
    robot = simulator(Machine.read("dualemps"), "square_trapezoidal")
    integrated, _, found = Tip(robot, slice(None, None, 2))(Settings(every=FINEST))
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
        table("square, 25 s", (*ours, *others))
        ratios = compare(ours, others, (EQUAL,))
        error = hard(peer)
    taken = command()
    print(f"supple {' '.join(COMMAND)}: {taken:.2f} s of the processor")
    found = {k: (ratios["error", k, EQUAL], bar) for k, bar in BARS.items()}
    missed = [f"{k} {ratio:.1f} times as fast, not {bar:g}" for k, (ratio, bar) in found.items() if ratio < bar]
    if not error < EQUAL:
        missed.append(f"an error of {error:.2%} along the trapezoidal square, not {EQUAL:.0%}")
    if not taken < WARM:
        missed.append(f"the command takes {taken:.2f} s, not {WARM:g}")
    print("\n" + ("missed: " + "; ".join(missed) if missed else "all bars are met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
