"""Small dense algebra on one BLAS thread (two threads are hundreds of times slower on matrices of this size), without
scipy, which takes longer to import than most commands to answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

Array = npt.NDArray[np.float64]
P = ParamSpec("P")
T = TypeVar("T")


@lru_cache(maxsize=2)
def _pools(with_scipy: bool) -> ThreadpoolController:
    """The pools of the libraries that are loaded; scipy brings one of its own."""
    return ThreadpoolController()


def one_thread(work: Callable[P, T]) -> Callable[P, T]:
    """`work`, run with BLAS on one thread."""

    @wraps(work)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with _pools("scipy.linalg" in sys.modules).limit(limits=1):
            return work(*args, **kwargs)

    return limited


def row_scaled(A: Array) -> Array:
    """A with rows of unit length; rows that are only rounding become zero."""
    length = np.linalg.norm(A, axis=1, keepdims=True)
    kept = length > 1e-12 * length.max(initial=0.0)
    return np.where(kept, A, 0.0) / np.where(kept, length, 1.0)


def null_space(A: Array, tolerance: float = 1e-9) -> tuple[Array, int, Array]:
    """Orthonormal basis of the null space of A, its rank, and the singular values of A with rows scaled to one."""
    n = A.shape[1]
    if A.shape[0] == 0:
        return np.eye(n), 0, np.zeros(0)
    _, sigma, Vt = np.linalg.svd(row_scaled(A), full_matrices=True)
    rank = int(np.sum(sigma > tolerance * max(1.0, float(sigma[0]) if sigma.size else 1.0)))
    return Vt[rank:].T, rank, sigma


def least_squares(A: Array, b: Any) -> Array:
    """Minimum-norm x of A x = b, in the least-squares sense."""
    if 0 in A.shape:
        return np.zeros((A.shape[1], *np.shape(b)[1:]))
    made: Array = np.linalg.lstsq(A, b, rcond=1e-11)[0]
    return made


def symmetric(A: Array) -> Array:
    """The symmetric part of square matrices (..., n, n)."""
    made: Array = 0.5 * (A + np.swapaxes(A, -1, -2))
    return made


def eigh(A: Array, B: Array, lowest: int | None = None) -> tuple[Array, Array]:
    """Eigenvalues of A x = B x lambda in rising order, and vectors with x' B x = 1; A symmetric, B positive definite."""
    size = np.diagonal(B)
    if (size <= 0).any():
        raise np.linalg.LinAlgError("the second matrix is not positive definite")
    scale = 1.0 / np.sqrt(size)  # masses and inertias differ by powers of ten
    L = np.linalg.cholesky(B * np.outer(scale, scale))
    half = np.linalg.solve(L, A * np.outer(scale, scale))
    own = np.linalg.solve(L, half.T)
    values, turned = np.linalg.eigh(0.5 * (own + own.T))
    return values[:lowest], scale[:, None] * np.linalg.solve(L.T, turned[:, :lowest])


def pivots(A: Array) -> tuple[list[int], Array]:
    """Columns of A in the order in which each adds most to those before it, and how much (R's diagonal of A P = Q R)."""
    left = np.array(A, dtype=float)
    order, added = list(range(A.shape[1])), []
    for k in range(min(A.shape)):
        size = np.linalg.norm(left[k:, k:], axis=0)
        best = k + int(size.argmax())
        order[k], order[best] = order[best], order[k]
        left[:, [k, best]] = left[:, [best, k]]
        x = left[k:, k].copy()
        added.append(float(np.linalg.norm(x)))
        x[0] += np.copysign(added[-1], x[0])
        square = float(x @ x)
        if square > 0:
            left[k:, k:] -= np.outer(x, (2.0 / square) * (x @ left[k:, k:]))
    return order, np.array(added)


def assigned(cost: Array) -> tuple[Any, Any]:
    """Rows and their columns, each once, that cost least in all, as scipy's `linear_sum_assignment` has them, which takes
    longer to import than most of these to find.

    Shortest augmenting paths (Jonker & Volgenant 1987, Crouse 2016): prices `u` of rows and `v` of columns never exceed a
    cost, and equal it where a row has its column."""
    if cost.shape[0] > cost.shape[1]:
        columns, rows = assigned(cost.T)
        order = np.argsort(rows)
        return rows[order], columns[order]
    u, v = cost.min(axis=1, initial=np.inf), np.zeros(cost.shape[1])
    column, row = np.full(cost.shape[0], -1), np.full(cost.shape[1], -1)
    for k, best in enumerate(cost.argmin(axis=1).tolist() if cost.size else ()):
        if row[best] < 0:
            column[k], row[best] = best, k
    for k in np.flatnonzero(column < 0).tolist() if cost.size else ():
        _augment(cost, u, v, column, row, k)
    return np.arange(len(column)), column


def _augment(cost: Array, u: Array, v: Array, column: Any, row: Any, free: int) -> None:
    """A column for one more row, along the path that adds least; others on it change theirs."""
    length, before = np.full(len(v), np.inf), np.full(len(v), -1)
    reached, here, least = np.zeros(len(v), dtype=bool), free, 0.0
    while True:
        by_here = least + cost[here] - u[here] - v
        shorter = ~reached & (by_here < length)
        length[shorter], before[shorter] = by_here[shorter], here
        end = int(np.where(reached, np.inf, length).argmin())
        least = float(length[end])
        if row[end] < 0:
            break
        reached[end], here = True, int(row[end])
    u[free] += least
    u[row[reached]] += least - length[reached]
    v[reached] -= least - length[reached]
    while end >= 0:
        row[end] = here = int(before[end])
        column[here], end = end, int(column[here]) if here != free else -1
