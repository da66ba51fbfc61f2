"""Newton's method on the loops, and words for loops that do not close."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from supple.model.algebra import Array, least_squares
from supple.model.model import Model
from supple.model.turning import quaternion, rotation_vector

CLOSED = 1e-12  # m or rad
_OVER = "turn its frame `from` or `to` by 180 deg (rotate), or guess another posture (assembly)"
_ASKEW = "; do the axes of its frames `from` and `to` fit (rotate)?"
Field = Callable[[Array], Array]  # of a posture


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


def newton(
    model: Model, q: Array, free: list[int], off: Field, rows: Field, *, reach: float = 0.6, iterations: int = 60
) -> tuple[Array, Array]:
    """The posture near q at which free coordinates leave nothing of off(q), as far as it can be reached, and what is left.

    rows(q): derivative of off along the free coordinates; reach: of one step (m or rad), halved while it leads away."""
    left = off(q)
    error = float(np.abs(left).max(initial=0.0))
    for _ in range(iterations):
        if error < CLOSED:
            break
        step = np.zeros(model.nv)
        step[free] = least_squares(rows(q), -left)
        step *= min(1.0, reach / max(float(np.abs(step).max()), 1e-30))
        for _ in range(8):
            trial = model.retract(q, step)
            trial_left = off(trial)
            trial_error = float(np.abs(trial_left).max())
            if trial_error < error or trial_error < CLOSED:
                break
            step *= 0.5
        else:
            break
        q, left, error = trial, trial_left, trial_error
    return q, left


def loop_rows(model: Model, free: list[int]) -> Field:
    """The derivative of the loops' residual along the free coordinates, as a function of the posture."""
    directions = np.eye(model.nv)[free]
    return lambda q: np.asarray(model.call("closure_gradient", q=q, direction=directions)["residual"].T)


def upright(model: Model, q: Array) -> bool:
    """Whether no closing joint is upside down."""
    return not model.mechanism.closures or bool(np.all(model.call("closure", q=q)["alignment"] > 0))


def close(model: Model, q: Array, free: list[int], iterations: int = 60) -> Array | None:
    """q with the free coordinates moved so that all loops close, or None if they do not."""
    if not model.mechanism.closures:
        return q
    found, left = newton(model, q, free, model.residual, loop_rows(model, free), iterations=iterations)
    return found if float(np.abs(left).max()) < 100 * CLOSED and upright(model, found) else None


def open_loop(model: Model, q: Array, where: str) -> str:
    """Words for loops that do not close: which one, by how much."""
    joints = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind == "passive"]
    found, residual = newton(model, q, joints, model.residual, loop_rows(model, joints), reach=0.2, iterations=40)
    at, worst = 0, ("", np.zeros(2), False)
    alignment = np.ravel(model.call("closure", q=found)["alignment"])
    for closure, upright_ in zip(model.mechanism.closures, alignment, strict=True):
        own, turns = residual[at : at + len(closure.forbidden)], np.array(closure.forbidden) > 2
        at += len(closure.forbidden)
        left = np.array([np.linalg.norm(own[~turns]), np.linalg.norm(own[turns])])
        if left.sum() > worst[1].sum():
            worst = (closure.name, left, bool(upright_ < 0))
    name, left, over = worst
    if left.sum() < 1e-9:
        return f"{model.mechanism.name}: the loops close only with a joint upside down {where}; {_OVER}"
    return f"{model.mechanism.name}: the loop {name!r} cannot close {where}; {_gap(*left.tolist())}" + (
        f", upside down: {_OVER}" if over else _ASKEW if left[1] > 0.5 else ""
    )


def _gap(apart: float, turned: float) -> str:
    """Words for ends that are apart (m) and turned against each other (sine of the angle)."""
    told = [f"{apart:.2g} m apart"] if apart > 1e-3 * turned else []
    told += [f"turned by {np.degrees(np.arcsin(min(turned, 1.0))):.3g} deg"] if turned > 1e-3 * apart else []
    return f"its ends stay {' and '.join(told)}"
