"""A linear Delta, three sliders and six flexible rods, along 0.7 s of pick and place: supple against Exudyn.

Rods are pinned by balls at both ends. In supple they are finite elements or two modes of the free rod (universal joints at
the sliders, so that rods do not spin); in Exudyn ANCF cables, geometrically exact beams or modes of the free rod (FFRF).
Damping in proportion to stiffness, no gravity; sliders follow the same quintics (`linear_delta.py`). Errors are RMS over the
motion of the difference of the platform's acceleration, relative to its RMS: of time-stepping, against a fine run of the
same model, and the whole one, against supple's with CONVERGED elements per rod, stepped finely. Exudyn's step and numerical
damping are swept, supple's tolerance; one thread, times of the processor, turn by turn. "Integration" is supple's stepping
alone; "with the tip" also computes the platform's acceleration at all samples, which Exudyn's sensor records on its way;
"simulate" has all signals. The rigid robot is the measure of how much of the error is elasticity.
Exits with 1 if supple's integration is not BAR times as fast as Exudyn's fastest run with a whole error of any of LIMITS.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import numpy as np
from contest import IN_A_ROW, Attempt, Ours, at_times, compare, relative, table
from linear_delta import ROBOT, reduced
from threadpoolctl import threadpool_limits

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

BAR, ROUNDS, EVERY, LIMITS = 20.0, 3, 1e-3, (0.01, 0.002, 0.001)
CONVERGED = 3  # elements
TOLERANCES = (1e-3, 1e-2, 3e-2, 1e-1)
PEERS = (("cables", 1), ("cables", 2), ("beams", 2), ("modes", 2))
SWEEP = ((2.5e-3, 0.2), (2e-3, 0.2), (1.75e-3, 0.4), (1e-3, 0.4), (1e-3, 0.8), (5e-4, 0.4), (5e-4, 0.8), (2.5e-4, 0.8))
# of Exudyn's Newton, relative and absolute; looser ones spoil beams and modes
TOLERANCE = {"cables": (1e-3, 1e-3), "beams": (1e-4, 1e-5), "modes": (1e-4, 1e-5)}
FINE_TOLERANCE = (1e-7, 1e-7)
FINE, FINE_STEP = Settings(method="gauss", tolerance=1e-9, every=EVERY), 5e-5


def made(text: str, **elements: str) -> Simulator:
    return simulator(Machine.parse(text, elements), "pick")


class Theirs:
    """Exudyn with one model of the rods."""

    def __init__(self, kind: str, count: int) -> None:
        import rods_exudyn as peer

        self.robot, self.kind, self.name = peer.Robot(kind, count), kind, f"{count} {kind}"
        self.fine = _sampled(*self.robot.run(FINE_STEP, FINE_TOLERANCE, 0.9)[1:])
        self.attempts = {(h, rho): Attempt(f"Exudyn, {self.name}, step {h * 1e3:g} ms, rho {rho:g}") for h, rho in SWEEP}

    def turn(self, reference: np.ndarray) -> None:
        for (step, rho), attempt in self.attempts.items():
            try:
                for _ in range(1 if self.kind != "cables" else IN_A_ROW):
                    taken, at, found = self.robot.run(step, TOLERANCE[self.kind], rho)
                    attempt.took("with the tip", taken)
            except RuntimeError:
                attempt.notes = "it stops early"
                continue
            shared, there = at_times(reference, EVERY, at)
            own = at_times(self.fine, EVERY, at)[1]
            attempt.stepping, attempt.error = relative(found[shared] - own, own), relative(found[shared] - there, there)
            attempt.notes = f"{len(at) - 1} samples"


def _sampled(at: np.ndarray, found: np.ndarray) -> np.ndarray:
    """What was found EVERY apart after the start."""
    on = (np.abs(np.rint(at / EVERY) * EVERY - at) < 1e-9) & (at > 0.5 * EVERY)
    return found[on]


def main() -> int:
    if importlib.util.find_spec("exudyn") is None:
        raise SystemExit("skipped: Exudyn is not installed (pip install exudyn)")
    os.environ.setdefault("EXUDYN_MODULE", "fast")  # its module without range checks, chosen when it is imported
    with threadpool_limits(1):
        reference = np.asarray(integrate(made(ROBOT, elements=str(CONVERGED)), FINE)["point_acceleration"][1:, 0])
        rigid = integrate(made(ROBOT, elements="0"), FINE)["point_acceleration"][1:, 0]
        models = {
            "1 element": made(ROBOT, elements="1"),
            "2 elements": made(ROBOT, elements="2"),
            "2 modes": made(reduced(2)),
        }
        ours = [Ours(name, robot, FINE, TOLERANCES) for name, robot in models.items()]
        others = [Theirs(kind, count) for kind, count in PEERS]
        print(f"the rigid robot from the converged one: {relative(rigid - reference, reference):.2%}")
        contestants: tuple[Any, ...] = (*ours, *others)
        for x in contestants:
            print(f"{x.name}: fine run from the converged one {relative(x.fine - reference, reference):.2%}")
        for _ in range(ROUNDS):
            for x in contestants:
                x.turn(reference)
    mine, peers = ([a for x in side for a in x.attempts.values()] for side in (ours, others))
    table("linear Delta, 0.7 s", (*mine, *peers))
    ratios = compare(mine, peers, LIMITS)
    missed = [f"{ratio:.1f} at {limit:.2%}" for (what, k, limit), ratio in ratios.items()
              if what == "error" and k == "integration" and ratio < BAR]  # fmt: skip
    print("\n" + (f"missed: {BAR:g} times as fast in integration: {', '.join(missed)}" if missed else "the bar is met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
