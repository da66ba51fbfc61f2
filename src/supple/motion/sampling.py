"""Smooth functions of time as quintic Hermite trajectories, with knots set where the function asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.motion.trajectory import Trajectory
from supple.robot.bodies.record import Array

ACCELERATION = 5e-7  # error of the second derivative, relative to its scale
ROUNDS = 12

Samples = tuple[Array, Array, Array]  # values, rates, second derivatives, each (times, channels)


def sampled(
    names: Sequence[str], exact: Callable[[Array], Samples], times: Array, scale: Callable[[Array], Array]
) -> Trajectory:
    """The function as quintic pieces, halved where the second derivative is off in a piece's middle.

    There the error of a quintic Hermite piece is largest; `scale` says what it is measured by."""
    knots = np.array(times, dtype=float)
    for _ in range(ROUNDS):
        made = Trajectory.hermite(names, knots, *exact(knots))
        middle = (knots[1:] + knots[:-1]) / 2
        off = np.abs(made(middle)[2] - exact(middle)[2]) > ACCELERATION * scale(middle) + 1e-300
        if not off.any():
            break
        knots = np.sort(np.concatenate([knots, middle[off.any(axis=1)]]))
    return Trajectory.hermite(names, knots, *exact(knots))


def distinct(times: ArrayLike) -> Array:
    """Sorted times, those that differ only by rounding taken as one; the last one is kept exactly."""
    t = np.unique(np.asarray(times, dtype=float))
    slack = 1e-12 * (t[-1] - t[0])
    keep = np.concatenate([[True], np.diff(t) > slack])
    if t.size > 1 and not keep[-1]:
        keep[-1], keep[np.flatnonzero(keep)[-1]] = True, False
    made: Array = t[keep]
    return made
