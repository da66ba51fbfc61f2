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

import numpy as np
from contest import IN_A_ROW, Ours, Theirs, compare, missed, race, relative, table
from linear_delta import ROBOT, reduced
from threadpoolctl import threadpool_limits

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.motion.trajectory import Trajectory
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


def theirs(path: Trajectory, kind: str, count: int) -> Theirs:
    """Exudyn with one model of the rods."""
    import rods_exudyn as peer

    robot = peer.Robot(path, kind, count)
    settings = {f"step {h * 1e3:g} ms, rho {rho:g}": (h, TOLERANCE[kind], rho) for h, rho in SWEEP}
    fine = (FINE_STEP, FINE_TOLERANCE, 0.9)
    in_a_row = IN_A_ROW if kind == "cables" else 1
    return Theirs(f"Exudyn, {count} {kind}", robot.run, fine, settings, EVERY, in_a_row)


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
        others = [theirs(models["1 element"].path, kind, count) for kind, count in PEERS]
        print(f"the rigid robot from the converged one: {relative(rigid - reference, reference):.2%}")
        race((*ours, *others), reference, ROUNDS)
    mine, peers = ([a for x in side for a in x.attempts.values()] for side in (ours, others))
    table("linear Delta, 0.7 s", (*mine, *peers))
    short = missed(compare(mine, peers, LIMITS), BAR)
    print("\n" + (f"missed: {BAR:g} times as fast in integration: {', '.join(short)}" if short else "the bar is met"))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
