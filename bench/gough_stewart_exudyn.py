"""`gough_stewart_flexible` of the gallery along `poses`, 2 s: supple against Exudyn, the time that an equal error takes.

Rods, drives and plate give way in both. Rods are finite elements in supple; in Exudyn reduced FFRF bodies, geometrically
exact beams that share nodes, or rigid parts on sprung hinges in minimal coordinates (kinematic trees). The plate has the
same shapes in both (`hexapod_exudyn.py`): with the file's ten modes of the free plate the two programs are compared; the
race is run with shapes under loads at its corners (`static`), which the platform's motion asks for.
Errors are RMS over the motion of the difference of the acceleration of the platform's centre, relative to its RMS: of
time-stepping, against a fine run of the same model, and the whole one, against supple's with CONVERGED modes and elements,
stepped finely. Exudyn's step, numerical damping, tolerance and the contraction at which its modified Newton makes a new
matrix are swept, supple's tolerance; one thread, times of the processor, turn by turn. "Integration" is supple's stepping
alone; "with the tip" also computes the centre's acceleration at all samples, which Exudyn's sensor records on its way.
Exits with 1 if supple's integration is not BAR times as fast as Exudyn's fastest run with a whole error of any of LIMITS.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from importlib.resources import files

import numpy as np
from contest import Ours, Theirs, compare, missed, race, relative, sampled, table
from threadpoolctl import threadpool_limits

from supple.analyses.modes import modes
from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.motion.trajectory import Trajectory
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

BAR, ROUNDS, EVERY, LIMITS = 20.0, 2, 1e-3, (0.01, 0.002, 0.001)
CONVERGED = (12, 2)  # modes of the plate beside those under loads, elements of a rod
MODELS = ((0, 1), (6, 1))
TOLERANCES = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)
FINE = Settings(method="gauss", tolerance=1e-9, every=EVERY)
# Exudyn: step, Newton's tolerances, rho, and how slow Newton's method may become with an old matrix
FINE_RUN = (1e-4, (1e-6, 1e-6), 0.9, 0.5)
NEWTON = ((1e-4, 1e-5), 0.05)
PEERS = {  # kind and number per rod, modes of the plate: steps and rho
    ("hinges", 1, 0): ((6.25e-4, 0.9), (5e-4, 0.9)),
    ("modes", 1, 0): ((8e-4, 0.5), (6.25e-4, 0.5), (5e-4, 0.5), (2.5e-4, 0.5)),
    ("modes", 2, 6): ((2.5e-4, 0.5), (2e-4, 0.5), (1.25e-4, 0.5), (1e-4, 0.9)),
    ("beams", 2, 0): ((8e-4, 0.9), (6.25e-4, 0.9)),
    ("hinges", 2, 6): ((2e-4, 0.9), (1.25e-4, 0.9)),
}
AGREED = 2e-3  # of accelerations, and of frequencies without weight


def robot(modes: int, elements: int, settings: Mapping[str, str] | None = None) -> Machine:
    """The robot with shapes of its plate under loads at the corners, besides some modes, and elements of its rods."""
    text = (files("supple") / "gallery" / "gough_stewart_flexible.yaml").read_text(encoding="utf-8")
    own, loaded = "{static: {modes: modes}}", f"{{static: {{modes: {modes}}}}}"
    rod, finer = "material: steel, axis: z", f"material: steel, axis: z, elements: {elements}"
    assert text.count(own) == text.count(rod) == 1
    return Machine.parse(text.replace(own, loaded).replace(rod, finer), dict(settings or {}))


def made(modes: int, elements: int) -> Simulator:
    return simulator(robot(modes, elements), "poses")


def agreement() -> Trajectory:
    """Checks that both programs have the same robot, that of the file; the way of its drives."""
    import hexapod_exudyn as peer

    machine = Machine.read("gough_stewart_flexible")
    chosen = simulator(machine, "poses")
    reference = np.asarray(integrate(chosen, FINE)["point_acceleration"][1:, 0])
    other = peer.Robot(machine.mechanism(), chosen.path, "hinges", 4)
    error = relative(sampled(EVERY, *other.run(*FINE_RUN)[1:]) - reference, reference)
    held = robot(0, 2, {"gravity": "0"})
    ours = np.array(modes(held.model(), count=12).frequencies_hz)
    theirs = peer.Robot(held.mechanism(), chosen.path, "hinges", 8, weight=False).frequencies()[:12]
    off = float(np.abs(theirs / ours - 1).max())
    print(
        f"the robot of the file: accelerations of fine runs differ by {error:.3%}, frequencies without weight by {off:.3%}"
    )
    if max(error, off) > AGREED:
        raise RuntimeError("the two models are not the same robot")
    return chosen.path


def theirs(path: Trajectory, kind: str, count: int, modes: int) -> Theirs:
    """Exudyn with one model of rods and plate."""
    import hexapod_exudyn as peer

    other = peer.Robot(robot(modes, 1).mechanism(), path, kind, count)
    tolerance, contraction = NEWTON
    sweep = PEERS[kind, count, modes]
    settings = {f"step {h * 1e3:g} ms, rho {rho:g}": (h, tolerance, rho, contraction) for h, rho in sweep}
    return Theirs(f"Exudyn, {count} {kind}, {modes} modes of the plate", other.run, FINE_RUN, settings, EVERY)


def main() -> int:
    if importlib.util.find_spec("exudyn") is None:
        raise SystemExit("skipped: Exudyn is not installed (pip install exudyn)")
    os.environ.setdefault("EXUDYN_MODULE", "fast")  # its module without range checks, chosen when it is imported
    with threadpool_limits(1):
        path = agreement()
        reference = np.asarray(integrate(made(*CONVERGED), FINE)["point_acceleration"][1:, 0])
        ours = [Ours(f"{m} modes of the plate, {n} element", made(m, n), FINE, TOLERANCES) for m, n in MODELS]
        others = [theirs(path, *model) for model in PEERS]
        race((*ours, *others), reference, ROUNDS)
    mine, peers = ([a for x in side for a in x.attempts.values()] for side in (ours, others))
    table("gough_stewart_flexible, 2 s", (*mine, *peers))
    short = missed(compare(mine, peers, LIMITS), BAR)
    print("\n" + (f"missed: {BAR:g} times as fast in integration: {', '.join(short)}" if short else "the bar is met"))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
