"""The compiled core against the interpreted model, on the whole gallery: branches of postures, matrices, modes, responses.

    python bench/core_agreement.py [--poses 10000] [--models 10] [ROBOT ...]

Branches: random poses about home (as bench/assembly.py draws them), asked of the core and of `postures`, which walks in
Python with bounds of its own making. Models: random poses of random designs (parameters that may stay free, each changed by
up to 3 %); equilibria, M, D, K and H on the same motions, frequencies, a receptance of every point at 3 frequencies, and
compliances, relative to the largest number of each (forces of actuators: to the largest force). Exits with 1 if a posture
is in another branch, a refusal has no words or a number is off by more than 1e-9.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from scipy.linalg import eigh
from walks import Asked, ways_to_ask

from supple.analyses.modes import modes
from supple.core.compiled import POSTURES
from supple.core.core import Core
from supple.core.quantities import compliance
from supple.errors import PoseError, SuppleError
from supple.machine import Machine, gallery
from supple.model.closing import values
from supple.model.equilibrium import Linear, equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import posture, postures

CROWD, MOST = 1000, 1e-9
STRUCTURAL = ("elements", "modes")


def drawn(core: Core, how: Asked, count: int, seed: int) -> Any:
    home = values(core.model, core.home)[how.held]
    return home + np.random.default_rng(seed).uniform(-1.0, 1.0, (count, len(home))) * how.span


def branches(core: Core, how: Asked, count: int) -> tuple[int, str]:
    """How many answers are wrong, and words."""
    same = other = refused = more = fewer = silent = 0
    own = walked = 0.0
    for k in range(0, count, CROWD):
        poses = drawn(core, how, min(CROWD, count - k), k)
        begin = time.process_time()
        found = core.answer(poses, stage=POSTURES)
        own += time.process_time() - begin
        begin = time.process_time()
        wanted = postures(core.model, core.names, poses)
        walked += time.process_time() - begin
        for row, q in enumerate(wanted):
            here = bool(found.answered[row])
            silent += not here and row not in found.problems
            if isinstance(q, PoseError):
                more, refused = more + here, refused + (not here)
            elif not here:
                fewer += 1
            else:
                agrees = apart(core, q, found["posture"][row]) < 1e-8
                same, other = same + agrees, other + (not agrees)
    words = (
        f"{count} asked: {same} the same, {other} in another branch, {refused} refused by both, {more} by `postures` alone, "
        f"{fewer} by the core alone, {silent} without words; {own / count * 1e6:.0f} us a pose, {walked / count * 1e6:.0f}"
    )
    return other + silent, words


def apart(core: Core, first: Any, second: Any) -> float:
    off = np.abs(first - second)
    for q, _ in core.structure.balls:
        off[q : q + 4] = np.minimum(off[q : q + 4], np.abs(first + second)[q : q + 4])
    return float(off.max(initial=0.0))


def models(name: str, how: Asked, count: int) -> tuple[float, str]:
    """The largest difference, and words."""
    plain = Machine.read(name)
    robot = plain.keeping([k for k in plain.description.parameters if k not in STRUCTURAL])
    names = [robot.model().names[i] for i in how.held]
    core = Core(robot, names)
    rng = np.random.default_rng(11)
    poses = drawn(core, Asked(how.what, how.held, 0.2 * how.span), count, 5)
    p = np.array(robot.values) * rng.uniform(0.97, 1.03, (count, len(robot.keep)))
    found = core.answer(poses, p, modes=10, wanted=("M", "K", "D", "H", "T", "points", "tau"))
    worst: dict[str, float] = {}
    asked = 0
    for row in np.flatnonzero(found.answered):
        model = robot.changed(dict(zip(robot.keep, p[row].tolist(), strict=True))).model()
        at = dict(zip(names, poses[row].tolist(), strict=True))
        rest = equilibrium(model, posture(model, at), 1e-12)
        own = compared(core, found, int(row), model, linearise(model, rest), rest)
        hz = modes(model, at, count=10).frequencies_hz
        own["modes"] = off(np.sqrt(np.abs(found["squares"][row])) / (2 * np.pi), np.abs(hz)[: found["squares"].shape[1]])
        worst = {key: max(x, worst.get(key, 0.0)) for key, x in own.items()}
        asked += 1
    words = f"{asked} of {count} designs of {len(robot.keep)} parameters: " + ", ".join(
        f"{k} {x:.0e}" for k, x in worst.items()
    )
    return max(worst.values(), default=0.0), words


def compared(core: Core, found: Any, row: int, model: Model, linear: Linear, rest: Any) -> dict[str, float]:
    T = found["T"][row]
    back = np.linalg.pinv(T) @ linear.Z
    made = {key: off(back.T @ found[key][row] @ back, getattr(linear, key)) for key in ("M", "K", "D", "H")}
    force = max(1e-12, float(np.abs(model.forces(rest.q, friction=False)).max()))
    made |= {"q": apart(core, rest.q, found["q"][row]), "tau": off(found["tau"][row], rest.tau, force)}
    mu = eigh(linear.M, 0.5 * (linear.K + linear.K.T), eigvals_only=True)[::-1]
    made["squares"] = off(found["squares"][row] * mu[: found["squares"].shape[1]], np.ones(found["squares"].shape[1]))
    twist = model.call("points", q=rest.q, v=np.eye(model.nv))
    rows = np.concatenate([twist["velocity"], twist["spin"]], axis=-1).reshape(model.nv, -1).T
    A, B = rows @ linear.Z, found["points"][row] @ T
    for k, w in enumerate(0.9 * np.sqrt(np.abs(1 / mu[:3]))):
        Z = linear.K + 1j * linear.H + 1j * w * linear.D - w**2 * linear.M
        Y = found["K"][row] + 1j * found["H"][row] + 1j * w * found["D"][row] - w**2 * found["M"][row]
        made[f"frf{k + 1}"] = off(B @ np.linalg.solve(Y, B.T.astype(complex)), A @ np.linalg.solve(Z, A.T.astype(complex)))
    if len(model.mechanism.points):
        wanted = A[:6] @ np.linalg.solve(0.5 * (linear.K + linear.K.T), A[:6].T)
        made["compliance"] = off(compliance(found, 0)[row], wanted)
    return made


def off(found: Any, wanted: Any, size: float = 1e-12) -> float:
    """The largest difference, relative to the largest number, or to `size` where that is more."""
    return float(np.abs(found - wanted).max(initial=0.0) / max(np.abs(wanted).max(initial=0.0), size))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=gallery())
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=10)
    asked, wrong = parser.parse_args(), 0
    for name in asked.robots:
        model = Machine.read(name).model()
        for how in ways_to_ask(model) if model.mechanism.closures else [Asked("home", [], np.zeros(0))]:
            if asked.poses and how.held:
                bad, words = branches(Core(Machine.read(name), [model.names[i] for i in how.held]), how, asked.poses)
                wrong += bad
                print(f"{name:24}{how.what:12}{words}", flush=True)
            try:
                most, words = models(name, how, asked.models) if asked.models else (0.0, "")
            except SuppleError as problem:
                most, words = np.inf, str(problem)
            wrong += most > MOST
            print(f"{'':36}{words}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
