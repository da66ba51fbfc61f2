"""Which coordinates of a closed robot are independent, from the numbers of its loop Jacobian at one state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Floats

TOLERANCE = 1e-9


def split(J: Floats, kinds: Sequence[str]) -> tuple[list[int], list[int]]:
    """Independent coordinates, and those that follow from J v = 0.

    Passive and platform coordinates follow first (Stachera & Schumacher 2008: active and elastic ones are independent),
    then elastic ones, actuators last; of a group that the loops do not determine whole, those with the largest pivots."""
    dependent: list[int] = []
    B = _unit_rows(J)
    total = _rank(B)
    Q = np.zeros((len(J), 0))
    for group in (("passive", "platform"), ("elastic",), ("active",)):
        columns = [i for i, kind in enumerate(kinds) if kind in group]
        if len(dependent) == total or not columns:
            continue
        left = B[:, columns] - Q @ (Q.T @ B[:, columns])
        order, sizes = _pivots(left)
        count = min(int(np.sum(sizes > TOLERANCE)), total - len(dependent))
        dependent += [columns[k] for k in order[:count]]
        Q = np.linalg.qr(B[:, dependent])[0]
    chosen = set(dependent)
    return [i for i in range(len(kinds)) if i not in chosen], sorted(chosen)


def independent_rows(J: Floats) -> list[int]:
    """Rows of J that say everything the others say."""
    B = _unit_rows(J)
    rank = _rank(B)
    if rank == len(J):
        return list(range(len(J)))
    return sorted(int(k) for k in _pivots(B.T)[0][:rank])


def _unit_rows(J: Floats) -> Floats:
    length = np.linalg.norm(J, axis=1, keepdims=True)
    kept = length > 1e-12 * length.max(initial=0.0)
    made: Floats = np.where(kept, J, 0.0) / np.where(kept, length, 1.0)
    return made


def _rank(B: Floats) -> int:
    if 0 in B.shape:
        return 0
    sigma = np.linalg.svd(B, compute_uv=False)
    return int(np.sum(sigma > TOLERANCE * max(1.0, float(sigma[0]))))


def _pivots(A: Floats) -> tuple[npt.NDArray[Any], Floats]:
    """Columns of A by the size of what the columns before leave of them, and those sizes."""
    if 0 in A.shape:
        return np.arange(A.shape[1]), np.zeros(A.shape[1])
    from scipy.linalg import qr

    _, R, order = qr(A, mode="economic", pivoting=True)
    sizes = np.zeros(A.shape[1])
    sizes[: min(R.shape)] = np.abs(np.diag(R))
    return order, sizes
