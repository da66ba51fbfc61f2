"""Joints that follow the actuators, all postures of a motion side by side: of the robot that does not bend, and of the one
that is bent and bends no further."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.backends import shelf
from supple.backends.sampled import Followers, close, least
from supple.backends.tape import Tape
from supple.expr.derivative import pull_back
from supple.expr.function import Function, function
from supple.expr.substitution import substituted
from supple.expr.vector import vector
from supple.model.algebra import Array, one_thread
from supple.model.attachments import attachment_positions
from supple.model.model import Model
from supple.model.turning import turned


@one_thread
def moved_by(model: Model, q: Array, given: list[int]) -> Array:
    """Generalised velocities (samples, nv, given) when one actuator of `given` moves by itself: passive joints and platform
    follow, bodies do not bend further; nothing moves in samples that are not numbers."""
    mechanism = model.mechanism
    follow = mechanism.indices("passive", "platform")
    made = np.zeros((len(q), model.nv, len(given)))
    made[:, given, range(len(given))] = 1.0
    if mechanism.closures and follow:
        found = model.own("followers", lambda: followers(model))(q=q)
        passive, active = found["passive"], found["active"][..., [model.active.tolist().index(i) for i in given]]
        known = _finite(passive, active)
        moved = np.zeros((len(q), len(follow), len(given)))
        moved[known] = np.moveaxis(driven(np.moveaxis(passive[known], 0, -1), np.moveaxis(active[known], 0, -1)), -1, 0)
        made[:, follow] = moved
    return made


def driven(passive: Array, active: Array) -> Array:
    """How joints follow (joints, actuators, samples) when an actuator moves by itself, from columns of J of both (equations,
    joints or actuators, samples)."""
    x, poor = least(passive, active)
    if poor.any():
        A, b = (np.moveaxis(y[..., poor], -1, 0) for y in (passive, active))
        x[..., poor] = np.moveaxis(np.linalg.pinv(A) @ b, 0, -1)
    return np.negative(x, out=x)


def followers(model: Model) -> Function:
    """Columns of J of the loops: of the joints that follow, and of the actuators."""
    motion, mechanism = model.equations.closure_motion, model.mechanism
    columns = {"passive": mechanism.indices("passive", "platform"), "active": model.active.tolist()}
    return function("followers", {"q": motion.inputs["q"]}, {k: _columns(motion, x) for k, x in columns.items()})


def _columns(motion: Function, chosen: list[int]) -> Array:
    """J of some coordinates: what the loops do when each of them moves by itself."""
    v, rates = motion.inputs["v"], motion.outputs["velocity"]
    units = np.eye(v.size, dtype=int)[chosen].tolist()
    every = [substituted(rates, dict(zip(v, unit, strict=True))) for unit in units]
    return np.stack(every, axis=-1) if every else np.zeros((rates.size, 0), dtype=object)


def undeformed(model: Model, q: Array) -> Array:
    """Postures of the robot that does not bend, with the actuators where they are in q; not a number if out of reach."""
    still = np.empty((q.size // q.shape[-1], q.shape[-1]))
    undeformed_places(model, q.reshape(still.shape), still)
    return still.reshape(q.shape)


@one_thread
def undeformed_places(model: Model, q: Array, still: Array | None = None) -> tuple[Array, Array]:
    """Places of the points (points, 3, samples) and attachments (closures, 3, samples) of the robot that does not bend, with
    the actuators where they are in q (samples, nq); not numbers where out of reach. Its postures go to `still`."""
    gaps = model.own("gaps and places of the rigid robot", lambda: _gaps(model))
    first = next(part.start for name, _, part in gaps.parts if name == "points")
    places = shelf.array(len(gaps.stored.results) - first, len(q))
    poor = close(gaps, _followers_of(model), q, still, places)
    if poor.any():
        left = np.array(q[poor])
        left[:, _elastic(model)] = 0.0
        left, found = _closed(model, gaps, left)
        if still is not None:
            still[poor] = left
        places[:, poor] = np.concatenate([found[k].reshape(len(left), -1) for k in ("points", "attachments")], axis=1).T
    named = gaps.named(places, first)
    return named["points"], named["attachments"]


def _elastic(model: Model) -> list[int]:
    return [i for f in model.mechanism.frames for i in range(f.e.start, f.e.stop)]


def _following(model: Model) -> list[int]:
    """Coordinates that close loops where bodies do not bend."""
    return model.mechanism.indices("passive", "platform") if model.mechanism.closures else []


def _followers_of(model: Model) -> Followers:
    order = {v: k for k, v in enumerate(_following(model))}
    plain, balls = list[tuple[int, int]](), list[tuple[int, int]]()
    for frame in model.mechanism.frames:
        if frame.v.start in order:
            if frame.motion == "spherical":
                balls.append((frame.q.start, order[frame.v.start]))
            else:
                plain += [(q, order[v]) for q, v in zip(_range(frame.q), _range(frame.v), strict=True)]
    return Followers(plain, balls, _elastic(model))


def _range(part: slice) -> range:
    return range(part.start, part.stop)


def _gaps(model: Model) -> Function:
    """Gaps of the loops of the robot that does not bend, how they change with the joints that follow, and places."""
    equations, follow = model.equations, _following(model)
    closure, along = equations.closure, equations.closure_gradient
    q, direction = along.inputs["q"], along.inputs["direction"]
    held = set(range(direction.size)) - set(follow)
    still = {q[i]: 0 for i in _elastic(model)} | {direction[i]: 0 for i in held}
    rates = substituted(along.outputs["residual"], still)
    gradient = [pull_back(vector(x), vector(1), direction[follow]) for x in rates]

    def straight(f: Function, output: str) -> Array:
        known = {x: 0 for name, array in f.inputs.items() if name != "q" for x in array.ravel()}
        known |= dict(zip(f.inputs["q"], q, strict=True)) | {f.inputs["q"][i]: 0 for i in _elastic(model)}
        return substituted(f.outputs[output], known)

    outputs = {
        "residual": straight(closure, "residual"),
        "gradient": np.array(gradient, dtype=object).reshape(len(rates), len(follow)),
        "points": straight(equations.points, "position"),
        "attachments": straight(attachment_positions(model), "position"),
    }
    return function("gaps", {"q": q}, outputs)


def _closed(model: Model, gaps: Tape, q: Array) -> tuple[Array, dict[str, Array]]:
    """Newton's method on the joints that follow, all postures side by side, and what `gaps` tells in the end."""
    follow = _following(model)
    for _ in range(12):
        found = gaps(q=q)
        residual, gradient = found["residual"], found["gradient"]
        if np.nanmax(np.abs(residual), initial=0.0) < 1e-11:
            break
        fine = _finite(gradient, residual)
        whole = np.zeros((len(q), model.nv))
        step = np.linalg.pinv(gradient[fine]) @ residual[fine][..., None]
        whole[np.ix_(np.arange(len(q))[fine], follow)] = -step[..., 0]
        q = _retracted(model, q, whole)
    q = q.copy()
    q[~(np.abs(gaps(q=q)["residual"]).max(axis=-1, initial=0.0) < 1e-8)] = np.nan
    return q, gaps(q=q)


def _finite(*parts: Array) -> Any:
    """Which samples are numbers, as an index of samples."""
    if all(np.isfinite(x).all() for x in parts):
        return slice(None)
    known: Any = np.ones(len(parts[0]), dtype=bool)
    for x in parts:
        known &= np.isfinite(x.reshape(len(x), -1)).all(axis=1)
    return known


def _retracted(model: Model, q: Array, step: Array) -> Array:
    moved = q.copy()
    for frame in model.mechanism.frames:
        moved[:, frame.e] += step[:, frame.ev]
        if frame.motion == "spherical":
            moved[:, frame.q] = turned(moved[:, frame.q], step[:, frame.v])
        else:
            moved[:, frame.q] += step[:, frame.v]
    return moved
