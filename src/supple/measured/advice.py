"""Where to measure next: the pose that would tell most of the combinations that data do not hold yet."""

from __future__ import annotations

import numpy as np

from supple.errors import PoseError
from supple.machine import Machine
from supple.measured.candidates import candidate_poses
from supple.measured.damped_modes import damped_modes
from supple.measured.free import Free
from supple.measured.identifiability import KNOWN, Identifiability, product
from supple.measured.planning import information
from supple.measured.reduced import PoseModel
from supple.measured.test import Pose, Test
from supple.robot.bodies.record import Array

_TRIED = 4  # poses
_FREQUENCIES = 0.01  # relative deviation of frequencies, where no responses are measured
_NOISE = 0.02


def advice(robot: Machine, test: Test, free: Free, at: PoseModel, p: Array, known: Identifiability, modes: int) -> list[str]:
    """What one more pose would tell, in words. at: a pose that was measured; modes: how many frequencies each pose gives."""
    open_ones = [(s, w) for s, w in known.combinations if s >= KNOWN]
    if not open_ones:
        return []
    found: list[tuple[float, Pose, Array]] = []
    for k, pose in enumerate(candidate_poses(robot, _TRIED, seed=1)):
        chosen = Pose(f"pose {k + 1}", pose, None, False, False, at.pose.written)
        try:
            F = _told(test, free, PoseModel(at.family, chosen, test.outputs, test.inputs, at.last_hz), p, modes)
        except PoseError:
            continue
        gained = sum(np.log1p(min(s, 1e3) ** 2 * (w @ F @ w)) for s, w in open_ones)
        found.append((float(gained), chosen, F))
    if not found:
        return []
    _, best, F = max(found, key=lambda entry: entry[0])
    told = []
    for s, w in open_ones:
        after = 1 / np.sqrt((1 / s**2 if np.isfinite(s) else 0.0) + max(float(w @ F @ w), 1e-300))
        if after < 0.7 * min(s, 1.0):
            told.append(f"{product(free.labels, w)} would be known to {100 * after:.2g} % instead of {_percent(s)}")
    where = ", ".join(f"{n} {x:.4g}" for n, x in best.at.items())
    if not told:
        return [
            "one more pose of the same kind tells none of them apart; other places to strike and to listen may (supple plan)"
        ]
    return [f"measured at {where} as well: {'; '.join(told[:3])}"]


def _told(test: Test, free: Free, at: PoseModel, p: Array, modes: int) -> Array:
    """Information of a pose: of responses if the test has sensors and exciters, else of its lowest frequencies."""
    if test.inputs and test.outputs:
        made: Array = information(test, free, at, test.band, _NOISE, (test.band[1] - test.band[0]) * 2.0, p)[0].sum(0)
        return made
    slopes = damped_modes(at.reduced(p, directions=free.directions(p))).log_frequencies_p[:, :modes] / _FREQUENCIES
    return slopes @ slopes.T


def _percent(spread: float) -> str:
    return f"{100 * spread:.2g} %" if spread < 10 else "not at all"
