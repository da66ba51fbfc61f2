"""What a robot shows along a motion: coordinates, points, deformations, energies, closure errors, in whole batches."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from supple.expr.function import Function, function
from supple.formulations import registry
from supple.formulations.tree.kinematics import Kinematics, state
from supple.model.algebra import Array, one_thread
from supple.model.followers import moved_by, undeformed
from supple.model.model import Model
from supple.model.turning import rotation_vector, turned
from supple.robot.mechanism import Anchor

_BLOCK = 4096  # samples at once


def seen(model: Model, q: Array, v: Array, a: Array, wanted: Collection[str] | None = None) -> dict[str, Array]:
    """Signals of a motion that follow from its coordinates, by name: all, or those of coordinates and energies, which judge
    a motion, and what is `wanted` of points and attachments."""

    def asked(begin: str) -> bool:
        return wanted is None or any(name.startswith(begin) for name in wanted)

    found = {"position": coordinate_values(model, q), "velocity": v, "acceleration": a}
    energy = energies(model, q, v)
    found |= {f"energy_{k}": energy[k] for k in ("kinetic", "elastic", "gravity")} | {"power_lost": energy["dissipation"]}
    found["closure"] = closure_error(model, q)
    mechanism = model.mechanism
    elastic = any(c.kind == "elastic" for c in mechanism.coordinates)
    compared = (mechanism.points and asked("point_deformation")) or (mechanism.closures and asked("attachment_deformation"))
    still = undeformed(model, q) if elastic and compared else None
    if mechanism.points and asked("point_"):
        moved = points(model, q, v, a)
        found |= {f"point_{k}": moved[k] for k in ("position", "velocity", "acceleration", "spin")}
        found["point_orientation"] = turning_vectors(moved["rotation"])
        found["point_acceleration_own"] = np.einsum("...ji,...j->...i", moved["rotation"], moved["acceleration"])
        if still is not None and asked("point_deformation"):
            found["point_deformation"] = moved["position"] - points(model, still, 0 * v, 0 * a)["position"]
    finite = not registry.formulation(model.formulation).linear_places
    if elastic and mechanism.closures and finite and asked("attachment_"):
        places = positions_of(model, q)
        found["attachment_position"] = places
        if still is not None:
            found["attachment_deformation"] = places - positions_of(model, still)
    return found


def coordinate_values(model: Model, q: Array) -> Array:
    """One number per velocity coordinate of every posture: q itself, rotation vectors for ball joints."""
    made = np.zeros((*q.shape[:-1], model.nv))
    for frame in model.mechanism.frames:
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


def energies(model: Model, q: Array, v: Array) -> dict[str, Array]:
    """Kinetic (motors included), elastic and gravity energy, and the power lost."""
    found = in_blocks(lambda **x: model.call("energy", **x), q=q, v=v)
    kinetic = found["kinetic"].sum(axis=-1) + found["motors"]
    return {
        "kinetic": kinetic,
        "elastic": found["elastic"].sum(axis=-1),
        "gravity": found["gravity"].sum(axis=-1),
        "dissipation": found["dissipation"],
    }


@one_thread
def actuator_forces(model: Model, q: Array, v: Array, a: Array, w: Array | None, given: list[int]) -> Array:
    """Forces of all actuators (samples, actuators) in which those of `given` make the motion; zero for the others.

    By virtual power: an actuator moves by itself, passive joints and platform follow, bodies do not bend further; so
    forces of deformation, which are stiff, do not enter."""
    made = np.zeros((len(q), len(model.active)))
    if not given:
        return made
    loads = {} if w is None else {"w": w}
    f = in_blocks(lambda **x: _forces(model, **x), q=q, v=v, a=a, **loads)["f"]
    where = [int(np.flatnonzero(model.active == g)[0]) for g in given]
    for start in range(0, len(q), _BLOCK):
        part = slice(start, start + _BLOCK)
        made[part, where] = np.einsum("bik,bi->bk", moved_by(model, q[part], given), f[part])
    return made


def _forces(model: Model, **inputs: Array) -> dict[str, Array]:
    out = model.call("forces", **inputs)
    return {"f": out["f"] + out["coulomb"]}


def closure_error(model: Model, q: Array) -> Array:
    """The largest opening of any loop (m or rad)."""
    if not model.mechanism.closures:
        return np.zeros(q.shape[:-1])
    made: Array = np.abs(in_blocks(lambda **x: model.call("closure", **x), q=q)["residual"]).max(axis=-1)
    return made


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


def attachments(model: Model) -> dict[str, Anchor]:
    """The places at which loops are closed, one for each closure: on its second body."""
    return {c.name: c.second if c.second.frame >= 0 else c.first for c in model.mechanism.closures}


def positions_of(model: Model, q: Array) -> Array:
    """Positions (samples, attachments, 3) of the attachments."""
    return in_blocks(model.own("attachments", lambda: _attachments(model)), q=q)["position"]


def _attachments(model: Model) -> Function:
    kin = Kinematics(model.mechanism, state(model.mechanism))
    made = [kin.pose(anchor)[1] for anchor in attachments(model).values()]
    return function("attachments", {"q": kin.state.q}, {"position": made})


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
