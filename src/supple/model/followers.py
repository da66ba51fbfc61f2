"""Joints that follow the actuators, all postures of a motion side by side: of the robot that does not bend, and of the one
that is bent and bends no further."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.backends.elimination import eliminated
from supple.expr.derivative import pull_back
from supple.expr.function import Function, function
from supple.expr.substitution import substituted
from supple.expr.vector import vector
from supple.model.algebra import Array, one_thread
from supple.model.model import Model
from supple.model.turning import turned

_BLOCK = 4096  # samples at once
_STEEP = 1e6  # of how passive joints follow: beyond it a pose is as good as singular


@one_thread
def moved_by(model: Model, q: Array, given: list[int]) -> Array:
    """Generalised velocities (samples, nv, given) when one actuator of `given` moves by itself: passive joints and platform
    follow, bodies do not bend further; nothing moves in samples that are not numbers."""
    mechanism = model.mechanism
    follow = mechanism.indices("passive", "platform")
    made = np.zeros((len(q), model.nv, len(given)))
    made[:, given, range(len(given))] = 1.0
    if mechanism.closures and follow:
        found = model.own("followers", lambda: _followers(model))(q=q)
        passive, active = found["passive"], found["active"][..., [model.active.tolist().index(i) for i in given]]
        known = _finite(passive, active)
        moved = np.zeros((len(q), len(follow), len(given)))
        moved[known] = -_least(passive[known], active[known])
        made[:, follow] = moved
    return made


def _followers(model: Model) -> Function:
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


@one_thread
def undeformed(model: Model, q: Array) -> Array:
    """Postures of the robot that does not bend, with the actuators where they are in q; not a number if out of reach."""
    mechanism = model.mechanism
    shape = q.shape
    still = np.array(q.reshape(-1, shape[-1]))
    still[:, _elastic(model)] = 0.0
    if mechanism.closures:
        for start in range(0, len(still), _BLOCK):
            still[start : start + _BLOCK] = _closed(model, still[start : start + _BLOCK])
    return still.reshape(shape)


def _elastic(model: Model) -> list[int]:
    return [i for f in model.mechanism.frames for i in range(f.e.start, f.e.stop)]


def _gaps(model: Model) -> Function:
    """Gaps of the loops of the robot that does not bend, and how they change with the joints that follow."""
    equations, follow = model.equations, model.mechanism.indices("passive", "platform")
    closure, along = equations.closure, equations.closure_gradient
    q, direction = along.inputs["q"], along.inputs["direction"]
    held = set(range(direction.size)) - set(follow)
    still = {q[i]: 0 for i in _elastic(model)} | {direction[i]: 0 for i in held}
    rates = substituted(along.outputs["residual"], still)
    gradient = [pull_back(vector(x), vector(1), direction[follow]) for x in rates]
    straight = dict(zip(closure.inputs["q"], q, strict=True)) | {closure.inputs["q"][i]: 0 for i in _elastic(model)}
    outputs = {"residual": substituted(closure.outputs["residual"], straight), "gradient": np.array(gradient, dtype=object)}
    return function("gaps", {"q": q}, outputs)


def _closed(model: Model, q: Array) -> Array:
    """Newton's method on the joints that follow, all postures side by side."""
    gaps = model.own("gaps of the rigid robot", lambda: _gaps(model))
    follow = model.mechanism.indices("passive", "platform")
    for _ in range(12):
        found = gaps(q=q)
        residual, gradient = found["residual"], found["gradient"]
        if np.nanmax(np.abs(residual), initial=0.0) < 1e-11:
            break
        fine = _finite(gradient, residual)
        step = np.zeros((len(q), len(follow)))
        step[fine] = -_least(gradient[fine], residual[fine][..., None])[..., 0]
        whole = np.zeros((len(q), model.nv))
        whole[:, follow] = step
        q = _retracted(model, q, whole)
    bad = np.asarray(~(np.abs(gaps(q=q)["residual"]).max(axis=-1) < 1e-8))
    q = q.copy()
    q[bad] = np.nan
    return q


def _finite(*parts: Array) -> Any:
    """Which samples are numbers, as an index of samples."""
    if all(np.isfinite(x).all() for x in parts):
        return slice(None)
    known: Any = np.ones(len(parts[0]), dtype=bool)
    for x in parts:
        known &= np.isfinite(x.reshape(len(x), -1)).all(axis=1)
    return known


def _least(A: Array, b: Array) -> Array:
    """x (samples, n, k) of least length with A x nearest to b; eliminated where every A is far from singular."""
    if A.shape[1] >= A.shape[2] and len(A):
        Q, R = (None, A) if A.shape[1] == A.shape[2] else np.linalg.qr(A)
        x = eliminated(R, b if Q is None else Q.swapaxes(1, 2) @ b)
        if x is not None and (np.abs(x) < _STEEP).all():
            return x
    y: Array = np.linalg.pinv(A) @ b
    return y


def _retracted(model: Model, q: Array, step: Array) -> Array:
    moved = q.copy()
    for frame in model.mechanism.frames:
        moved[:, frame.e] += step[:, frame.ev]
        if frame.motion == "spherical":
            moved[:, frame.q] = turned(moved[:, frame.q], step[:, frame.v])
        else:
            moved[:, frame.q] += step[:, frame.v]
    return moved
