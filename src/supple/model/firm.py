"""Postures in which every motion is resisted, of robots with many coordinates: Newton's step to equilibrium without modes.

Modes tell motions that nothing or only weight resists from others, in a time that grows with the cube of the coordinates.
Where K and M are positive definite on the motions that loops leave there are none of these. With rows A of loops and held
coordinates and any r > 0, K is so if K + r A^T A is, which has few entries that are not zero. So time grows with the
coordinates, but for that of the entries of K and M.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.model.algebra import Array, least_squares, row_scaled, symmetric

LARGE = 400  # coordinates from which on this takes less time than modes
_SURE = 1e4  # times rounding of the largest stiffness: less is none
_SMALLEST = 1e-11  # of pivots, beside a diagonal of ones

Solve = Callable[[Array], Array]


@dataclass(frozen=True)
class Firm:
    """Closed loops and held coordinates by rows; what forces move where these give way as springs do."""

    rows: Array
    moved: Solve
    across: Array  # of forces in the rows

    def step(self, f: Array) -> Array:
        """Newton's step under forces f, rows still."""
        made: Array = self.across @ least_squares(self.rows @ self.across, self.rows @ self.moved(f)) - self.moved(f)
        return made


def firm(A: Array, K: Array, M: Array, least: float) -> Firm | None:
    """Motions in the null space of A, if M is positive definite there and K resists each by more than `least` and rounding
    (forces of that size, per largest coordinate); else None."""
    rows = row_scaled(A)
    largest = float(np.abs(np.diagonal(K)).max(initial=0.0))
    sure = least + _SURE * float(np.finfo(float).eps) * largest
    stiff, heavy = (_held(x, rows) for x in (symmetric(K), symmetric(M)))
    if _solver(stiff, sure) is None or _solver(heavy, 0.0) is None:
        return None
    moved = _solver(stiff, 0.0)
    return None if moved is None else Firm(rows, moved, moved(rows.T))


def _held(A: Array, rows: Array) -> Any:
    """A + r rows^T rows, as a sparse matrix."""
    from scipy import sparse

    by = sparse.csc_matrix(rows)
    return sparse.csc_matrix(A) + float(np.abs(np.diagonal(A)).max(initial=0.0)) * (by.T @ by)


def _solver(A: Any, shift: float) -> Solve | None:
    """x of (A - shift) x = b; None if that matrix is not positive definite beyond rounding."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    size = A.diagonal() - shift
    if not (size > 0).all():
        return None
    by = 1.0 / np.sqrt(size)
    scaled = sparse.diags(by) @ (A - shift * sparse.identity(len(by))) @ sparse.diags(by)
    try:
        made = splu(scaled.tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # it is singular
        return None
    if not (made.perm_r == made.perm_c).all() or made.U.diagonal().min() < _SMALLEST:
        return None
    return lambda b: (by * made.solve((by * b.T).T).T).T
