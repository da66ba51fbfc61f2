"""Small dense algebra on one BLAS thread (two threads are hundreds of times slower on matrices of this size)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

Array = npt.NDArray[np.float64]
P = ParamSpec("P")
T = TypeVar("T")


@lru_cache(maxsize=1)
def _pools() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  its BLAS must be loaded before the pools are looked up

    return ThreadpoolController()


def one_thread(work: Callable[P, T]) -> Callable[P, T]:
    """`work`, run with BLAS on one thread."""

    @wraps(work)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with _pools().limit(limits=1):
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
