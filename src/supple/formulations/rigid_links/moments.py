"""Mass moments of a body as dyads, from its shape integrals: what formulations that multiply matrices integrate over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import HALF, Expr, Scalar, add, mul
from supple.expr.vector import dot, is_zero, matvec, zeros
from supple.robot.bodies.record import Body, Shortened, axial, eye

_ROUNDING = 1e-12  # of differences between integrals that are the same


@dataclass(frozen=True)
class Moments:
    """Integrals over the mass of a body whose points are at r0 + sum_k phi_k e_k."""

    mass: Any
    s0: Array  # int r0
    S0: Array  # int r0 r0^T
    s: Array  # int phi_k, columns
    J: Array  # int r0 phi_k^T, one matrix per k
    E: Array  # int phi_i phi_k^T, one matrix per pair
    M: Array  # int phi_i . phi_k, and the rotary inertia of sections
    rotary: Array  # columns: what rotary inertia of sections adds to int r0 x phi_k
    u: tuple[Shortened, ...] = ()  # of the displacements of second order

    def first(self, e: Array) -> Array:
        """int r0 (Phi e)^T."""
        total = zeros(3, 3)
        for x, J in zip(e, self.J, strict=True):
            total = plus_scaled(total, x, J)
        return total

    def second(self, e: Array, other: Array) -> Array:
        """int (Phi e) (Phi other)^T."""
        total = zeros(3, 3)
        for x, row in zip(e, self.E, strict=True):
            with_other = zeros(3, 3)
            for y, E in zip(other, row, strict=True):
                with_other = plus_scaled(with_other, y, E)
            total = plus_scaled(total, x, with_other)
        return total

    def shortened(self, e: Array) -> tuple[Array, Array]:
        """int u and int r0 u^T of a bent body."""
        return self._second([mul(-HALF, dot(e, matvec(t.G, e))) for t in self.u])

    def shortening(self, e: Array, ed: Array) -> tuple[Array, Array]:
        """The rates of `shortened`."""
        return self._second([mul(-1, dot(ed, matvec(t.G, e))) for t in self.u])

    def shortening_with_shapes(self, e: Array, ed: Array) -> Scalar:
        """int (Phi ed).u'."""
        total: Scalar = 0
        for t in self.u:
            total = add(total, mul(-1, mul(dot(t.shape, ed), dot(ed, matvec(t.G, e)))))
        return total

    def _second(self, sizes: list[Scalar]) -> tuple[Array, Array]:
        first, dyad = zeros(3), zeros(3, 3)
        for x, t in zip(sizes, self.u, strict=True):
            first, dyad = plus_scaled(first, x, t.first), plus_scaled(dyad, x, t.dyad)
        return first, dyad


def moments(body: Body) -> Moments | None:
    """The Moments of a body, or None for one without mass."""
    if is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr):
        return None
    n = len(body.coordinates)
    J, E, rotary = zeros(n, 3, 3), zeros(n, n, 3, 3), zeros(3, n)
    for k in range(n):
        J[k] = _dyad(body.I_re[k]).T
        rotary[:, k] = [_difference(x, y) for x, y in zip(body.beta[:, k], axial(J[k]), strict=True)]
        for i in range(n):
            if not is_zero(body.I_ee[i, k]):
                E[i, k] = _dyad(body.I_ee[i, k]).T
    return Moments(body.mass, body.MS_r, _dyad(body.I_rr), body.MS_de, J, E, body.M_ee, rotary, body.shortened)


def _dyad(inertia: Array) -> Array:
    """D of the inertia matrix tr(D) 1 - D."""
    made: Array = np.trace(inertia) * HALF * eye() - inertia
    return made


def _difference(x: Any, y: Any) -> Any:
    """x - y; nothing where two ways to the same number differ by rounding."""
    if isinstance(x, Expr) or isinstance(y, Expr):
        return x - y
    return 0 if abs(x - y) <= _ROUNDING * max(abs(x), abs(y)) else x - y


def plus_scaled(A: Array, k: Scalar, B: Array) -> Array:
    """A + k B."""
    if is_zero(k):
        return A
    made = A.copy()
    for i, (a, b) in enumerate(zip(A.flat, B.flat, strict=True)):
        if not is_zero(b):
            made.flat[i] = add(a, mul(k, b))
    return made


def contract(A: Array, B: Array) -> Scalar:
    """sum of A_ij B_ij, that is tr(A^T B)."""
    total: Scalar = 0
    for x, y in zip(A.ravel(), B.ravel(), strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = add(total, mul(x, y))
    return total
