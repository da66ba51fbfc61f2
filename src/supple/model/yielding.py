"""How a robot at rest gives way to small forces."""

from __future__ import annotations

import numpy as np

from supple.errors import PoseError
from supple.model.algebra import Array, eigh
from supple.model.equilibrium import Linear
from supple.model.model import Model

_IDLE = 1e-13  # of the largest squared frequency: what resists less resists not at all
_PULLED = 1e-7  # of a force: what pulls less at an idle motion is rounding


def yielding(model: Model, linear: Linear, forces: Array) -> Array:
    """Small displacements (nv, n) under small generalised forces (nv, n).

    Motions that nothing resists and nothing pulls at (a rod that spins between two balls) stay as they are."""
    try:
        squares, shapes = eigh(0.5 * (linear.K + linear.K.T), linear.M)
    except np.linalg.LinAlgError as error:
        raise PoseError(model.massless(linear.M, linear.Z)) from error
    idle = np.abs(squares) < _IDLE * np.abs(squares).max(initial=0.0)
    pull = shapes.T @ (linear.Z.T @ forces)
    reach = np.abs(linear.Z @ shapes).max(axis=0, initial=1e-300)
    worst = np.abs(pull / reach[:, None])
    if (worst[idle] > _PULLED * np.abs(linear.Z.T @ forces).max(initial=1e-300)).any():
        loose = linear.Z @ shapes[:, idle][:, int(worst[idle].max(axis=1).argmax())]
        name = model.names[int(np.abs(loose).argmax())]
        raise PoseError(f"{model.mechanism.name}: nothing holds {name!r}, so a force moves it without end")
    own = shapes[:, ~idle]
    made: Array = linear.Z @ own @ np.linalg.solve(own.T @ linear.K @ own, pull[~idle])
    return made
