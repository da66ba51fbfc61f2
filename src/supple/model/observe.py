"""What a robot shows in postures, in whole batches: coordinates, points, turns, forces of springs."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.model.algebra import Array
from supple.model.attachments import attachment_positions
from supple.model.model import Model
from supple.model.turning import rotation_vector, turned

_BLOCK = 4096  # samples at once


def coordinate_values(model: Model, q: Array) -> Array:
    """One number per velocity coordinate of every posture: q itself, rotation vectors for ball joints."""
    frames = model.mechanism.frames
    if all(f.motion != "spherical" and f.v == f.q and f.ev == f.e for f in frames):
        return q
    made = np.zeros((*q.shape[:-1], model.nv))
    for frame in frames:
        made[..., frame.v] = rotation_vector(q[..., frame.q]) if frame.motion == "spherical" else q[..., frame.q]
        made[..., frame.ev] = q[..., frame.e]
    return made


def postures_of(model: Model, x: Array) -> Array:
    """The postures q (..., nq) with these `coordinate_values` (..., nv)."""
    flat = x.reshape(-1, x.shape[-1])
    q = np.zeros((len(flat), model.mechanism.nq))
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            q[:, frame.q] = turned(np.tile([1.0, 0.0, 0.0, 0.0], (len(flat), 1)), flat[:, frame.v])
        else:
            q[:, frame.q] = flat[:, frame.v]
        q[:, frame.e] = flat[:, frame.ev]
    return q.reshape(*x.shape[:-1], -1)


def points(model: Model, q: Array, v: Array, a: Array) -> dict[str, Array]:
    """Position, velocity, acceleration and angular velocity of the named points, and their axes, in the base."""
    return in_blocks(lambda **x: model.call("points", **x), q=q, v=v, a=a)


def turning_vectors(R: Array) -> Array:
    """Rotation vectors (..., 3) of rotation matrices (..., 3, 3); not a number where these are not."""
    flat = R.reshape(-1, 3, 3)
    made = np.full((len(flat), 3), np.nan)
    known = np.isfinite(flat).all(axis=(1, 2))
    made[known] = rotation_vector(_quaternions(flat[known]))
    return made.reshape(*R.shape[:-2], 3)


def _quaternions(R: Array) -> Array:
    """Unit quaternions (w, x, y, z) of rotation matrices (samples, 3, 3), each by the largest of its parts."""
    trace = np.einsum("nii->n", R)
    which = np.column_stack([np.einsum("nii->ni", R), trace]).argmax(axis=1)
    made = np.empty((len(R), 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        at = which == i
        S = R[at]
        made[at, 1 + i] = 1 + 2 * S[:, i, i] - trace[at]
        made[at, 1 + j], made[at, 1 + k] = S[:, j, i] + S[:, i, j], S[:, k, i] + S[:, i, k]
        made[at, 0] = S[:, k, j] - S[:, j, k]
    at = which == 3
    S = R[at]
    made[at] = np.column_stack([1 + trace[at], S[:, 2, 1] - S[:, 1, 2], S[:, 0, 2] - S[:, 2, 0], S[:, 1, 0] - S[:, 0, 1]])
    unit: Array = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def spring_forces(model: Model, q: Array, v: Array) -> tuple[tuple[int, ...], Array]:
    """Coordinates of the springs in joints and closures, and the forces (samples, coordinates) that load them."""
    springs = [f for f in model.mechanism.frames if f.role == "spring" and f.body.flexible]
    places = tuple(i for f in springs for i in range(f.ev.start, f.ev.stop))
    parts = [q[..., f.e] @ f.body.K_ee.astype(float).T + v[..., f.ev] @ f.body.D_ee.astype(float).T for f in springs]
    return places, np.concatenate(parts, axis=-1) if parts else np.zeros((*q.shape[:-1], 0))


def positions_of(model: Model, q: Array) -> Array:
    """Positions (samples, attachments, 3) of the attachments."""
    return in_blocks(model.own("attachments", lambda: attachment_positions(model)), q=q)["position"]


def in_blocks(evaluate: Any, **inputs: Array) -> dict[str, Array]:
    """A batch evaluated piece by piece, so that memory stays small."""
    first = next(iter(inputs.values()))
    lead = first.shape[:-1]
    flat = {k: x.reshape(-1, *x.shape[len(lead) :]) for k, x in inputs.items()}
    count = int(np.prod(lead)) if lead else 1
    parts = [evaluate(**{k: x[i : i + _BLOCK] for k, x in flat.items()}) for i in range(0, count, _BLOCK)]
    sizes = [min(_BLOCK, count - i) for i in range(0, count, _BLOCK)]
    joined = {}
    for key in parts[0]:
        shape = parts[0][key].shape[1:]
        whole = [np.broadcast_to(p[key], (n, *shape)) for p, n in zip(parts, sizes, strict=True)]
        joined[key] = np.concatenate(whole).reshape(*lead, *shape)
    return joined
