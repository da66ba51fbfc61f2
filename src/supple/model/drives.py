"""How far drives give way to loads.

A servo holds the pose that is asked for under the robot's weight, and gives way to loads put on then. A pose that is solved
with its actuators where they were asked to be lacks that part. To first order in the loads it is the compliance K^-1 of the
robot with its servos less that of the robot with these actuators held:

    V C^-1 V^T f,    V = K^-1 S^T,    C = S K^-1 S^T,

S being the rows of the servos' coordinates, f the loads.
"""

from __future__ import annotations

import numpy as np

from supple.model.algebra import Array
from supple.model.equilibrium import Linear
from supple.model.model import Model
from supple.model.yielding import yielding


def given_way(model: Model, linear: Linear, forces: Array) -> Array:
    """Small displacements (nv,) that drives add under generalised forces (nv,); none of drives that do not give way."""
    servos = list(model.servos)
    if not servos or not forces.any():
        return np.zeros(model.nv)
    units = np.zeros((model.nv, len(servos)))
    units[servos, range(len(servos))] = 1.0
    V = yielding(model, linear, units)
    made: Array = V @ np.linalg.solve(V[servos], V.T @ forces)
    return made
