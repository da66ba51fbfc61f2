"""Random closed states of a robot, and exact derivatives along its motions, for the laws every robot must obey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.model.algebra import least_squares
from supple.model.closing import close
from supple.model.model import Model
from supple.model.posture import posture

BENT = {"m": 2e-3, "rad": 2e-2}  # elastic deformations
BENDING = {"m": 5e-2, "rad": 0.5}  # their rates
TURNED = {"m": 0.03, "rad": 0.1}  # joints, away from the home pose


@dataclass(frozen=True)
class State:
    """Positions that close all loops and velocities that keep them closed."""

    q: np.ndarray
    v: np.ndarray


def sizes(model: Model, elastic: dict[str, float], joints: dict[str, float]) -> np.ndarray:
    return np.array([(elastic if c.kind == "elastic" else joints)[c.unit] for c in model.mechanism.coordinates])


def closed_state(model: Model, seed: int) -> State:
    """A state near home: joints moved, bodies bent, loops closed again by whatever is not driven."""
    rng = np.random.default_rng(seed)
    step = sizes(model, BENT, TURNED) * rng.uniform(-1, 1, model.nv)
    free = [i for i in range(model.nv) if i not in set(model.active.tolist())]
    q = close(model, model.retract(posture(model), step), free)
    assert q is not None, f"{model.mechanism.name}: state {seed} does not close"
    v = sizes(model, BENDING, {"m": 0.3, "rad": 1.0}) * rng.uniform(-1, 1, model.nv)
    return State(q, kept_closed(model, q, v))


def kept_closed(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The velocity nearest to v with J v = 0."""
    J = model.jacobian(q)
    return v - least_squares(J, J @ v) if len(J) else v


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def rate(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt: v itself, and p (0, omega)/2 for the quaternion p of a spherical joint."""
    made = np.zeros(model.mechanism.nq, dtype=np.result_type(q, v))
    for frame in model.mechanism.frames:
        own = v[frame.v]
        if frame.motion == "spherical":
            own = quaternion_product(q[frame.q], np.concatenate([[0], own])) / 2
        made[frame.q] = own
        made[frame.e] = v[frame.ev]
    return made


def second_rate(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """d2q/dt2."""
    made = rate(model, q, a)
    again = rate(model, rate(model, q, v), v)
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            made[frame.q] += again[frame.q]
    return made


def along(model: Model, name: str, state: State, a: np.ndarray, **given: Any) -> dict[str, np.ndarray]:
    """Time derivative of a Function's outputs on the motion with accelerations a, by a complex step (exact)."""
    h = 1e-30
    inputs = {"q": state.q + 1j * h * rate(model, state.q, state.v)}
    if "v" in getattr(model.equations, name).inputs:
        inputs["v"] = state.v + 1j * h * a
    return {k: x.imag / h for k, x in model.call(name, **inputs, **given).items()}


def second_along(model: Model, name: str, state: State, a: np.ndarray, output: str, **given: Any) -> np.ndarray:
    """Second time derivative of a Function of q alone, by Cauchy's integral on a circle of complex times (to rounding)."""
    radius, count = 0.01, 16
    t = radius * np.exp(2j * np.pi * np.arange(count) / count)
    q1, q2 = rate(model, state.q, state.v), second_rate(model, state.q, state.v, a)
    q = state.q + np.outer(t, q1) + np.outer(t**2 / 2, q2)
    values = model.call(name, q=q, **given)[output]
    return 2 * np.tensordot(t**-2.0, values, 1).real / count
