"""Newton's method on the loops, and words for loops that do not close."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.model.algebra import Array, least_squares
from supple.model.model import Model
from supple.model.turning import quaternion, rotation_vector

CLOSED = 1e-12  # m or rad


def values(model: Model, q: Array) -> Array:
    """One number per velocity coordinate: q itself, and rotation vectors for spherical joints."""
    made = np.zeros(model.nv)
    for frame in model.mechanism.frames:
        made[frame.v] = rotation_vector(q[frame.q]) if frame.motion == "spherical" else q[frame.q]
        made[frame.ev] = q[frame.e]
    return made


def placed(model: Model, q: Array, wanted: Mapping[int, float]) -> Array:
    """q with the wanted coordinates at their values."""
    now = values(model, q)
    made = q.copy()
    for frame in model.mechanism.frames:
        own = range(frame.v.start, frame.v.stop)
        if not any(i in wanted for i in own):
            continue
        goal = np.array([wanted.get(i, now[i]) for i in own])
        made[frame.q] = quaternion(goal) if frame.motion == "spherical" else goal
    return made


def close(model: Model, q: Array, free: list[int], iterations: int = 60) -> Array | None:
    """q with the free coordinates moved so that all loops close, or None if they do not."""
    if not model.mechanism.closures:
        return q
    directions = np.eye(model.nv)[free]
    residual = model.residual(q)
    error = float(np.abs(residual).max())
    for _ in range(iterations):
        if error < CLOSED:
            break
        gradient = model.call("closure_gradient", q=q, direction=directions)["residual"].T
        step = np.zeros(model.nv)
        step[free] = least_squares(gradient, -residual)
        step *= min(1.0, 0.6 / max(float(np.abs(step).max()), 1e-30))
        for _ in range(8):
            trial = model.retract(q, step)
            trial_residual = model.residual(trial)
            trial_error = float(np.abs(trial_residual).max())
            if trial_error < error or trial_error < CLOSED:
                break
            step *= 0.5
        else:
            break
        q, residual, error = trial, trial_residual, trial_error
    upright = model.call("closure", q=q)["alignment"]
    return q if error < 100 * CLOSED and bool(np.all(upright > 0)) else None


def open_loop(model: Model, q: Array, where: str) -> str:
    """Words for loops that do not close: which one, by how much."""
    joints = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind in ("passive",)]
    best, residual = q, model.residual(q)
    for _ in range(40):
        gradient = model.call("closure_gradient", q=best, direction=np.eye(model.nv)[joints])["residual"].T
        step = np.zeros(model.nv)
        step[joints] = least_squares(gradient, -residual)
        step *= min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-30))
        trial = model.retract(best, step)
        if np.linalg.norm(model.residual(trial)) > np.linalg.norm(residual) * (1 - 1e-6):
            break
        best, residual = trial, model.residual(trial)
    at, worst = 0, ("", 0.0)
    for closure in model.mechanism.closures:
        size = float(np.linalg.norm(residual[at : at + len(closure.forbidden)]))
        at += len(closure.forbidden)
        if size > worst[1]:
            worst = (closure.name, size)
    if worst[1] < 1e-9:
        return f"{model.mechanism.name}: the loops close only with a joint upside down {where}"
    gap = f"its ends stay {worst[1]:.3g} m (or rad) apart"
    return f"{model.mechanism.name}: the loop {worst[0]!r} cannot close {where}; {gap}"
