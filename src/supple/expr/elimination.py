"""Linear systems solved inside the expression graph; entries that are plain zeros cost nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, div, mul, sub
from supple.expr.substitution import estimates
from supple.expr.vector import is_zero, zeros


@dataclass(frozen=True)
class Factored:
    """A symmetric matrix as L D L^T, rows and columns taken in `order`."""

    order: tuple[int, ...]
    L: Array  # unit lower triangular, in that order
    inverse: Array  # 1 / D

    def half(self, b: Array) -> Array:
        """L^-1 b, in the order of elimination."""
        y = b[list(self.order)].copy()
        for i in range(len(y)):
            for j in range(i):
                if not is_zero(self.L[i, j]):
                    y[i] = _less(y[i], self.L[i, j], y[j])
        return y

    def solve(self, b: Array) -> Array:
        """x of A x = b, for a vector or for columns."""
        y = self.half(b)
        for i in range(len(y)):
            y[i] = _scaled(self.inverse[i], y[i])
        for i in reversed(range(len(y))):
            for j in range(i + 1, len(y)):
                if not is_zero(self.L[j, i]):
                    y[i] = _less(y[i], self.L[j, i], y[j])
        x = zeros(*y.shape)
        x[list(self.order)] = y
        return x

    def congruence(self, b: Array) -> Array:
        """b^T A^-1 b, each entry below the diagonal computed once."""
        y = self.half(b)
        n = y.shape[1]
        made = zeros(n, n)
        for k in range(len(y)):
            scaled = [mul(self.inverse[k], x) for x in y[k]]
            for i in range(n):
                for j in range(i + 1):
                    if not (is_zero(y[k, i]) or is_zero(y[k, j])):
                        made[i, j] = made[i, j] + scaled[i] * y[k, j]
        for i in range(n):
            for j in range(i):
                made[j, i] = made[i, j]
        return made


def _less(y: Array, k: Scalar, x: Array) -> Array:
    """y - k x, of numbers or of rows."""
    if not isinstance(y, np.ndarray):
        return sub(y, mul(k, x))
    made = y.copy()
    for i in range(len(y)):
        if not is_zero(x[i]):
            made[i] = sub(y[i], mul(k, x[i]))
    return made


def _scaled(k: Scalar, x: Array) -> Array:
    if not isinstance(x, np.ndarray):
        return mul(k, x)
    made = x.copy()
    for i in range(len(x)):
        made[i] = mul(k, x[i])
    return made


def factored(A: Array, order: Sequence[int] | None = None) -> Factored:
    """L D L^T of a symmetric matrix without zero pivots, eliminating in `order` (default: from the last to the first)."""
    n = len(A)
    order = tuple(range(n - 1, -1, -1)) if order is None else tuple(order)
    work = A[np.ix_(order, order)].copy()
    L, inverse = zeros(n, n), zeros(n)
    for k in range(n):
        if is_zero(work[k, k]):
            raise ZeroDivisionError(f"no pivot for unknown {order[k]}")
        inverse[k] = div(1, work[k, k])
        for i in range(k + 1, n):
            if not is_zero(work[i, k]):
                L[i, k] = mul(work[i, k], inverse[k])
        for i in range(k + 1, n):
            if is_zero(L[i, k]):
                continue
            for j in range(k + 1, i + 1):
                if not is_zero(work[j, k]):
                    work[i, j] = sub(work[i, j], mul(L[i, k], work[j, k]))
        L[k, k] = 1
    return Factored(order, L, inverse)


def solved(A: Array, b: Array, sample: Mapping[Expr, float]) -> Array:
    """x of the square system A x = b, by elimination.

    Pivots that are plain numbers come first, then those that are largest at the sample state and fill in least; one that
    vanishes at another pose makes the solution singular there."""
    n = len(A)
    work, right = A.copy(), b.copy() if b.ndim == 2 else b[:, None].copy()
    rows, columns = list(range(n)), list(range(n))
    pivots: list[tuple[int, int]] = []
    size = np.abs(estimates(A, sample))
    live = size.copy()
    numbers = estimates(A, sample)
    for _ in range(n):
        r, c = _pivot(work, live, rows, columns)
        pivots.append((r, c))
        rows.remove(r)
        columns.remove(c)
        inverse = div(1, work[r, c])
        for i in rows:
            if is_zero(work[i, c]):
                continue
            factor = mul(work[i, c], inverse)
            ratio = numbers[i, c] / numbers[r, c]
            for j in columns:
                if not is_zero(work[r, j]):
                    work[i, j] = sub(work[i, j], mul(factor, work[r, j]))
                    numbers[i, j] -= ratio * numbers[r, j]
                    live[i, j] = abs(numbers[i, j])
            right[i] = _less(right[i], factor, right[r])
    x = zeros(n, right.shape[1])
    for k in reversed(range(n)):
        r, c = pivots[k]
        value = right[r]
        for _, other in pivots[k + 1 :]:
            if not is_zero(work[r, other]):
                value = _less(value, work[r, other], x[other])
        x[c] = _scaled(div(1, work[r, c]), value)
    return x if b.ndim == 2 else x[:, 0]


def _pivot(work: Array, size: Array, rows: Sequence[int], columns: Sequence[int]) -> tuple[int, int]:
    """The entry to eliminate by: not small beside its row, and with the fewest others in its row and column."""
    best: tuple[int, float, int, int] | None = None
    taken = [[not is_zero(work[i, j]) for j in columns] for i in rows]
    in_row = [sum(row) for row in taken]
    in_column = [sum(row[k] for row in taken) for k in range(len(columns))]
    for a, i in enumerate(rows):
        largest = max((size[i, j] for j in columns), default=0.0)
        for k, j in enumerate(columns):
            if size[i, j] < max(0.1 * largest, 1e-9):
                continue
            fill = (in_row[a] - 1) * (in_column[k] - 1)
            rank = (fill, -size[i, j] * (1.0 if isinstance(work[i, j], Expr) else 1e3), i, j)
            if best is None or rank < best:
                best = rank
    if best is None:
        raise ZeroDivisionError("no pivot: the system is singular at the sample state")
    return best[2], best[3]
