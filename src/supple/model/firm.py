"""`firm`: postures that resist every motion; Newton's step to equilibrium without the modes of their motions.

Modes take many times as long as a solution. They tell motions that nothing or only weight resists from others; where forces
as large as those that act move nothing farther than a step goes, there are none of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.model.algebra import Array, least_squares, row_scaled, symmetric

_SURE = 1e3  # times rounding: less is no stiffness


@dataclass(frozen=True)
class Firm:
    """Closed loops and held coordinates by rows; what forces move where these give way as springs do."""

    rows: Array
    compliance: Array

    def without_idle(self, f: Array) -> Array:
        return f

    def loaded(self, f: Array) -> Array:
        return np.zeros(0, dtype=bool)

    def downhill(self, f: Array, near: float, reach: float) -> Array:
        """Newton's step to equilibrium."""
        free, across = self.compliance @ f, self.compliance @ self.rows.T
        made: Array = across @ least_squares(self.rows @ across, self.rows @ free) - free
        return made

    def falls(self, f: Array) -> bool:
        return False


def firm(A: Array, K: Array, M: Array, size: float, reach: float) -> Firm | None:
    """Motions in the null space of A, if K and M are positive definite there and forces of a size move no coordinate by
    `reach`; else None.

    With G = K + r A^T A, positive definite for some r only where K is on the null space, inv(G) is at least as compliant."""
    rows = row_scaled(A)
    held = rows.T @ rows
    compliance = _inverse(symmetric(K) + np.abs(np.diagonal(K)).max(initial=0.0) * held)
    if compliance is None or not size * np.diagonal(compliance).max(initial=0.0) < reach:
        return None
    has_mass = _is_definite(symmetric(M) + np.diagonal(M).max(initial=0.0) * held)
    return Firm(rows, compliance) if has_mass else None


def _scaled(A: Array) -> tuple[Array, Array] | None:
    """A with a diagonal of ones, and what it was multiplied with, row and column."""
    size = np.diagonal(A)
    if not (size > 0).all():
        return None
    by = 1.0 / np.sqrt(size)
    return A * np.outer(by, by), by


def _is_definite(A: Array) -> bool:
    """Whether A is positive definite beyond rounding."""
    scaled = _scaled(A)
    if scaled is None:
        return False
    try:
        L = np.linalg.cholesky(scaled[0])
    except np.linalg.LinAlgError:
        return False
    return bool((np.diagonal(L) ** 2).min(initial=1.0) > _SURE * np.finfo(float).eps)


def _inverse(A: Array) -> Array | None:
    scaled = _scaled(A)
    if scaled is None or not _is_definite(A):
        return None
    made: Array = np.linalg.inv(scaled[0]) * np.outer(scaled[1], scaled[1])
    return made
