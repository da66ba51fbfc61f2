"""Full matrices of damping: `taken_out` of the equations of bodies, and `near_damping`, for Newton's matrices.

Damping of every mode is a full matrix D. Written into equations its products grow with the square of the elements, so it
stands in a table beside them. Newton's method needs it only roughly, and in the places that mass and stiffness have: X there
with the least squares of W^T (D - X) W, where W are the modes divided by the root of their frequencies, so that a share of a
mode's damping counts the same in all modes. With P = W W^T, the entries of P X P are then those of P D P in these places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from supple.backends.stepping.plant import Damped, Stretched
from supple.expr.function import Array
from supple.model.algebra import eigh
from supple.robot.bodies.record import Body
from supple.robot.mechanism import Frame, Mechanism

_ENOUGH = 1e-6  # of what is left, at which it ends
_MOST = 100  # iterations of conjugate gradients


def taken_out(mechanism: Mechanism) -> tuple[Mechanism, tuple[Damped, ...]]:
    """A mechanism without what its bodies have of full damping, and that, by places among its elastic coordinates."""
    frames, found = [], list[Damped]()
    place = {v: i for i, v in enumerate(mechanism.indices("elastic"))}
    for frame in mechanism.frames:
        body = frame.body
        D = body.D_ee.copy()
        for part in _full(body):
            at, stretches = np.ix_(part, part), _stretches(frame, part)
            if stretches is not None:
                places = tuple(place[frame.ev.start + int(k)] for k in part)
                found.append(Damped(places, D[at].astype(float), _stretched(frame, stretches)))
                D[at] = 0
        frames.append(replace(frame, body=replace(body, D_ee=D)))
    return (replace(mechanism, frames=tuple(frames)), tuple(found)) if found else (mechanism, ())


def _full(body: Body) -> list[Array]:
    """Coordinates that damp each other farther than mass and stiffness reach."""
    far = (body.D_ee != 0) & (body.M_ee == 0) & (body.K_ee == 0)
    return [part for part in _parts(body.D_ee != 0) if far[np.ix_(part, part)].any()] if far.any() else []


def _stretches(frame: Frame, part: Array) -> list[tuple[int, Array, Array]] | None:
    """What bending adds to the strains of some coordinates of a frame's body, in their order: the first of them, elastic
    coordinates and their G. None where it is not added to all from that on."""
    found, own = list[tuple[int, Array, Array]](), part.tolist()
    for t in frame.body.stretches:
        met = sorted(set(t.coordinates) & set(own))
        if met and met != own[own.index(met[0]) :]:
            return None
        for plane in _parts(t.numbers != 0) if met else ():
            found.append((own.index(met[0]), t.bending[plane], t.numbers[np.ix_(plane, plane)]))
    return sorted(found, key=lambda x: x[0])


def _stretched(frame: Frame, found: Sequence[tuple[int, Array, Array]]) -> Stretched | None:
    """The same as arrays, rows of few coordinates filled with the first of them."""
    wide = max((len(at) for _, at, _ in found), default=0)
    at = np.array([[*x, *[x[0]] * (wide - len(x))] for _, x, _ in found], dtype=int)
    G = np.array([np.pad(x, (0, wide - len(x))) for _, _, x in found])
    return Stretched(np.array([k for k, _, _ in found]), frame.e.start + at, frame.ev.start + at, G) if found else None


def near_damping(M: Array, K: Array, D: Array) -> Array:
    """X near D, with entries where M or K have some; zeros where that is not nearer than nothing is."""
    places = (M != 0) | (K != 0)
    made = np.zeros(D.shape)
    for part in _parts(places | (D != 0)):
        at = np.ix_(part, part)
        made[at] = _near(M[at], K[at], D[at], places[at])
    return made


def _parts(places: Array) -> list[Array]:
    """Coordinates that go together."""
    left, found = set(range(len(places))), []
    while left:
        part, new = set[int](), {min(left)}
        while new:
            part |= new
            new = {int(k) for i in new for k in np.flatnonzero(places[i])} - part
        left -= part
        found.append(np.array(sorted(part)))
    return found


def _near(M: Array, K: Array, D: Array, places: Array) -> Array:
    try:
        squares, shapes = eigh(K, M)
    except (np.linalg.LinAlgError, ValueError):  # something has no mass
        return np.zeros(D.shape)
    if not D.any() or squares.min() <= 0.0:
        return np.zeros(D.shape)
    W = shapes * squares**-0.25
    size = np.linalg.norm(W, axis=1)
    scale = np.outer(size, size)
    V = W / size[:, None]
    X = _solved(V @ V.T, D * scale, places) / scale
    better = np.linalg.norm(W.T @ (D - X) @ W, 2) < np.linalg.norm(W.T @ D @ W, 2)
    return X if better else np.zeros(D.shape)


def _solved(P: Array, D: Array, places: Array) -> Array:
    """X, zero beside some places, for which P X P is P D P in these: by conjugate gradients."""
    X = np.zeros(D.shape)
    left = np.where(places, P @ D @ P, 0.0)
    way, size = left, float((left * left).sum())
    least = _ENOUGH * size
    for _ in range(_MOST):
        if size <= least:
            break
        taken = np.where(places, P @ way @ P, 0.0)
        far = size / float((way * taken).sum())
        X, left = X + far * way, left - far * taken
        before, size = size, float((left * left).sum())
        way = left + size / before * way
    return 0.5 * (X + X.T)
