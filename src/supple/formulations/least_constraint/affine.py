"""Accelerations as affine forms of the variables that are solved for, and the small algebra they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, add, div, mul, sub
from supple.expr.substitution import estimates
from supple.expr.vector import cross, dot, is_zero, scale, zeros
from supple.formulations.least_constraint.unknowns import Unknown


class Affine:
    """constant + sum of coefficient * variable."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: Scalar = 0, terms: dict[Unknown, Scalar] | None = None) -> None:
        self.constant, self.terms = constant, terms or {}

    def __add__(self, other: Any) -> Affine:
        if not isinstance(other, Affine):
            return Affine(add(self.constant, other), self.terms)
        made = dict(self.terms)
        for x, c in other.terms.items():
            total = add(made.get(x, 0), c)
            if is_zero(total):
                made.pop(x, None)
            else:
                made[x] = total
        return Affine(add(self.constant, other.constant), made)

    __radd__ = __add__

    def __mul__(self, k: Scalar) -> Affine:
        if is_zero(k):
            return Affine()
        return Affine(mul(k, self.constant), {x: mul(k, c) for x, c in self.terms.items()})

    __rmul__ = __mul__

    def form(self) -> tuple[dict[Unknown, Scalar], Scalar]:
        return self.terms, self.constant


def combined(a: Any, b: Any) -> Affine:
    total = Affine()
    for x, y in zip(a, b, strict=True):
        if not is_zero(x):
            total = total + y * x
    return total


def turned(R: Array, a: list[Affine]) -> list[Affine]:
    """R a."""
    return [combined(row, a) for row in R]


def across(alpha: list[Affine], r: Array) -> list[Affine]:
    """alpha x r."""
    return [
        alpha[1] * r[2] + alpha[2] * mul(-1, r[1]),
        alpha[2] * r[0] + alpha[0] * mul(-1, r[2]),
        alpha[0] * r[1] + alpha[1] * mul(-1, r[0]),
    ]


def along(a: list[Affine], axis: Array, x: Unknown) -> list[Affine]:
    """a + axis x."""
    return [form if is_zero(axis[n]) else form + Affine(0, {x: axis[n]}) for n, form in enumerate(a)]


def shifted(a: list[Affine], b: list[Affine] | Array) -> list[Affine]:
    return [x + y for x, y in zip(a, b, strict=True)]


def cofactor_inverse(J: Array) -> Array:
    """Inverse of a matrix of up to 3 x 3 by cofactors: no pivot that could vanish at some pose."""
    n = len(J)
    made = zeros(n, n)
    if n == 1:
        made[0, 0] = div(1, J[0, 0])
        return made
    if n == 2:
        d = div(1, sub(mul(J[0, 0], J[1, 1]), mul(J[0, 1], J[1, 0])))
        made[0, 0], made[1, 1] = mul(J[1, 1], d), mul(J[0, 0], d)
        made[0, 1], made[1, 0] = mul(-1, mul(J[0, 1], d)), mul(-1, mul(J[1, 0], d))
        return made
    rows = [cross(J[1], J[2]), cross(J[2], J[0]), cross(J[0], J[1])]
    d = div(1, dot(J[0], rows[0]))
    for i in range(3):
        made[:, i] = scale(d, rows[i])
    return made


def solve_rows(
    rows: list[Affine], allowed: Callable[[Unknown], bool], sample: Mapping[Expr, float]
) -> dict[Unknown, Affine]:
    """Forms of as many allowed variables as there are rows, from rows = 0.

    Pivots that are plain numbers come first, then those largest at the sample state; a pivot that vanishes at another
    pose makes the model singular there."""
    left, solved = list(rows), dict[Unknown, Affine]()
    while left:
        best: tuple[float, int, Unknown] | None = None
        for r, row in enumerate(left):
            for x, c in row.terms.items():
                if allowed(x):
                    size = abs(estimate(c, sample)) * (1.0 if isinstance(c, Expr) else 1e3)
                    if best is None or size > best[0]:
                        best = (size, r, x)
        if best is None or best[0] < 1e-9:
            break  # what is left follows from the rest: an overconstrained loop
        _, r, x = best
        row = left.pop(r)
        inverse = div(-1, row.terms[x])
        form = Affine(row.constant, {y: c for y, c in row.terms.items() if y != x}) * inverse
        left = [_inserted(other, x, form) for other in left]
        solved = {y: _inserted(f, x, form) for y, f in solved.items()}
        solved[x] = form
    return solved


def _inserted(row: Affine, x: Unknown, form: Affine) -> Affine:
    """A row with x replaced by its form."""
    if x not in row.terms:
        return row
    rest = Affine(row.constant, {y: c for y, c in row.terms.items() if y != x})
    made: Affine = rest + form * row.terms[x]
    return made


def estimate(x: Scalar, sample: Mapping[Expr, float]) -> float:
    """The number an expression has at a sample state (symbols without a value count as zero)."""
    if not isinstance(x, Expr):
        return float(x)
    return float(estimates(np.array([x], dtype=object), sample, unknown=0.0)[0])
