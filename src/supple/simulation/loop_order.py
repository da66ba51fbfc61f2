"""A fixed order in which the loops' square Jacobian is eliminated, and its factors and solutions written out in that order.

Legs share no equations with each other, so that most of the matrix is empty and stays so: written out, factors are a few
hundred operations without a branch. What is chosen at one posture serves far from it; integrators look at the multipliers
(`loops.h`) and choose pivots anew where they have grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, div, mul, sub

_BALANCED = 0.3  # of the largest in a column: an entry as large as this may be its pivot


class Pivot(NamedTuple):
    """A step of the elimination: row and column of the pivot, rows that it is taken off, and other columns of its row."""

    row: int
    column: int
    below: tuple[int, ...]
    beside: tuple[int, ...]


def loop_order(filled: Array, values: Array) -> tuple[Pivot, ...]:
    """The order of a square matrix that fills it least (Markowitz), given where it is filled and numbers to choose by."""
    filled, left = filled.copy(), np.where(filled, values.astype(float), 0.0)
    rows, columns = list(range(len(filled))), list(range(len(filled)))
    made: list[Pivot] = []
    while rows:
        i, j = _cheapest(filled, left, rows, columns)
        rows.remove(i)
        columns.remove(j)
        below, beside = (tuple(x) for x in ([r for r in rows if filled[r, j]], [c for c in columns if filled[i, c]]))
        made.append(Pivot(i, j, below, beside))
        if below and beside:
            filled[np.ix_(below, beside)] = True
            left[np.ix_(below, beside)] -= np.outer(left[list(below), j], left[i, list(beside)]) / (left[i, j] or 1.0)
    return tuple(made)


def _cheapest(filled: Array, left: Array, rows: Sequence[int], columns: Sequence[int]) -> tuple[int, int]:
    """Row and column of the pivot that fills least, among those that are large in their columns."""
    own, size = filled[np.ix_(rows, columns)], np.abs(left[np.ix_(rows, columns)])
    cost = np.outer(own.sum(axis=1) - 1, own.sum(axis=0) - 1) - size / (1.0 + size.max(initial=0.0))
    cost[~own | (size < _BALANCED * size.max(axis=0))] = np.inf
    at = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return rows[int(at[0])], columns[int(at[1])]


def factors(J: Array, order: Sequence[Pivot]) -> list[Scalar]:
    """Inverse pivots, then multipliers of rows below, then entries beside the pivots: all in the order of elimination."""
    J = J.copy()
    inverse: list[Scalar] = []
    for i, j, below, beside in order:
        inverse.append(div(1, J[i, j]))
        for r in below:
            J[r, j] = mul(J[r, j], inverse[-1])
            for c in beside:
                J[r, c] = sub(J[r, c], mul(J[r, j], J[i, c]))
    lower = [J[r, p.column] for p in order for r in p.below]
    return [*inverse, *lower, *(J[p.row, c] for p in order for c in p.beside)]


def multipliers(order: Sequence[Pivot]) -> int:
    return sum(len(p.below) for p in order)


def odd(order: Sequence[Pivot]) -> bool:
    """Whether an odd number of swaps brings the pivots to the diagonal."""
    column, swaps = {p.row: p.column for p in order}, 0
    for row in range(len(order)):
        while column[row] != row:
            other = column[row]
            column[row], column[other] = column[other], other
            swaps += 1
    return swaps % 2 == 1


def solution(order: Sequence[Pivot], found: Sequence[Expr], right: Sequence[Scalar]) -> list[Scalar]:
    """x of J x = right, by the factors of J."""
    n, below = len(order), iter(found[len(order) :])
    y, x = list(right), list[Scalar](right)
    for p in order:
        for r in p.below:
            y[r] = sub(y[r], mul(next(below), y[p.row]))
    beside = iter(found[: n + multipliers(order) - 1 : -1])
    for p, inverse in zip(order[::-1], found[n - 1 :: -1], strict=True):
        rest = y[p.row]
        for c in p.beside[::-1]:
            rest = sub(rest, mul(next(beside), x[c]))
        x[p.column] = mul(rest, inverse)
    return x
