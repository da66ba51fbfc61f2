"""A linear model under joint controllers, which may be sampled and late.

Forces are kp e + ki int e - kd q', e being how far joints are from where they should stand, added to those that hold the
robot; gains are matrices. A computed torque moves the rigid robot: with its inertia M and the change G of its holding
forces with the joints, they are M kp - G, M ki and M kd.

A controller that is sampled every T holds its force for T: on average it is late by T / 2, and by its own delay besides.
Being late is approximated as Pade has it, with three states for every actuator: at half a turn its phase is 0.6 % off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
from scipy.linalg import block_diag

from supple.model.algebra import Array
from supple.model.state_space import StateSpace

_ORDER = 3


@dataclass(frozen=True)
class Law:
    """Gains (actuators, actuators) and how late forces are (s)."""

    kp: Array
    kd: Array
    ki: Array
    late: float


def under(plant: StateSpace, law: Law, pushed: int, joints: Sequence[str]) -> StateSpace:
    """The plant, whose last inputs are forces and last outputs positions of the joints, with these two joined by the law;
    the first `pushed` inputs and the outputs before the joints are left. Outputs of the plant must be displacements."""
    n = len(joints)
    A, C = plant.A, plant.C[len(plant.C) - n :]
    B, W = plant.B[:, plant.B.shape[1] - n :], plant.B[:, :pushed]
    watched = plant.C[: len(plant.C) - n]
    integral = [k for k in range(n) if law.ki[:, k].any()]
    forces = np.hstack([-(law.kp @ C + law.kd @ (C @ A)), law.ki[:, integral]])
    # states: the plant's, integrals of e
    A = np.block([[A, np.zeros((len(A), len(integral)))], [-C[integral], np.zeros((len(integral), len(integral)))]])
    B, W = (np.vstack([x, np.zeros((len(integral), x.shape[1]))]) for x in (B, W))
    watched = np.hstack([watched, np.zeros((len(watched), len(integral)))])
    names = [*plant.states, *(f"integral {joints[k]}" for k in integral)]
    if law.late:
        a, b, c, d = pade(law.late)
        a, b, c = (block_diag(*[x] * n) for x in (a, b, c))
        A = np.block([[A + d * B @ forces, B @ c], [b @ forces, a]])
        W = np.vstack([W, np.zeros((len(a), W.shape[1]))])
        watched = np.hstack([watched, np.zeros((len(watched), len(a)))])
        names += [f"late {joint} {k + 1}" for joint in joints for k in range(_ORDER)]
    else:
        A = A + B @ forces
    return StateSpace(A, W, watched, np.zeros((len(watched), pushed)), tuple(names))


def pade(late: float) -> tuple[Array, Array, Array, float]:
    """a, b, c, d of Pade's approximation of exp(-late s), states in units of `late`."""
    m = _ORDER
    weights = [
        factorial(2 * m - k) * factorial(m) / (factorial(2 * m) * factorial(k) * factorial(m - k)) for k in range(m + 1)
    ]
    lowest = np.array(weights) / weights[m]  # of the denominator, made monic
    d = float((-1) ** m)
    above = np.array([(-1) ** k * lowest[k] for k in range(m)]) - d * lowest[:m]
    a = np.vstack([np.hstack([np.zeros((m - 1, 1)), np.eye(m - 1)]), -lowest[None, :m]]) / late
    b = np.zeros((m, 1))
    b[-1] = 1.0 / late
    return a, b, above[None], d


def differentiated(model: StateSpace, order: int) -> StateSpace:
    """The model with derivatives of that order of its outputs."""
    C, D = model.C, model.D
    for _ in range(order):
        C, D = C @ model.A, C @ model.B
    return StateSpace(model.A, model.B, C, D, model.states)
