"""Many small systems of equations at once, in C that is compiled once for all; by numpy where there is no compiler."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np

from supple.backends.compiler import find_compiler, shared_library
from supple.errors import SuppleError
from supple.expr.function import Array

LEFT = 1e-10  # of max |A| max |x| + max |b|: what may be left of an equation


@cache
def _library() -> ctypes.CDLL | None:
    if find_compiler() is None:
        return None
    try:
        made = ctypes.CDLL(str(shared_library((Path(__file__).parent / "eliminate.c").read_text(encoding="ascii"))))
    except (OSError, SuppleError):
        return None
    made.supple_eliminate.restype = ctypes.c_double
    return made


def eliminated(A: Array, b: Array) -> Array | None:
    """x (samples, n, k) of A x = b, A (samples, n, n); None where one A is singular or leaves more than LEFT."""
    A, b = (np.ascontiguousarray(x, dtype=float) for x in (A, b))
    library = _library()
    return _by_numpy(A, b) if library is None else _by_c(library, A, b)


def _by_c(library: ctypes.CDLL, A: Array, b: Array) -> Array | None:
    x, room = np.empty_like(b), np.empty(A.shape[1:])
    left = library.supple_eliminate(
        *(ctypes.c_longlong(n) for n in b.shape), *(ctypes.c_void_p(m.ctypes.data) for m in (A, b, x, room))
    )
    return x if 0.0 <= left <= LEFT else None


def _by_numpy(A: Array, b: Array) -> Array | None:
    try:
        x: Array = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return None
    left = np.abs(A @ x - b).max(axis=(1, 2), initial=0.0)
    size = np.abs(A).max(axis=(1, 2)) * np.abs(x).max(axis=(1, 2), initial=0.0) + np.abs(b).max(axis=(1, 2), initial=0.0)
    return x if (left <= LEFT * size).all() else None
