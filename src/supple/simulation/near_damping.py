"""`near_damping`: the damping of a body as its neighbouring coordinates feel it, for Newton's matrices.

Damping of every mode is a full matrix D. Newton's method needs it only roughly, and in the places that mass and stiffness have:
there, X with the least squares of W^T (D - X) W, with W the modes divided by the root of their frequencies, so that a share of a
mode's damping counts the same in all modes. With P = W W^T, the entries of P X P are then those of P D P in these places.
"""

from __future__ import annotations

import numpy as np

from supple.expr.function import Array
from supple.model.algebra import eigh

_ENOUGH = 1e-6  # of what is left, at which it ends
_MOST = 100  # iterations of conjugate gradients


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
