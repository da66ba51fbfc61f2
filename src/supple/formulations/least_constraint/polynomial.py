"""Polynomials with constant coefficients, collected term by term, and printed as expressions in few operations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from supple.expr.node import Expr, Scalar, add, mul
from supple.expr.vector import is_zero

Monomial = tuple[Expr, ...]  # symbols in order of their serial number


class Polynomial:
    """A sum of coefficient * product of symbols; coefficients are numbers or kept parameters."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Monomial, Scalar] | None = None) -> None:
        self.terms = terms or {}

    @staticmethod
    def of(x: Any) -> Polynomial:
        if isinstance(x, Polynomial):
            return x
        return Polynomial({} if is_zero(x) else {(): x})

    @staticmethod
    def symbol(x: Expr) -> Polynomial:
        return Polynomial({(x,): 1})

    def __add__(self, other: Any) -> Polynomial:
        made = dict(self.terms)
        for monomial, c in Polynomial.of(other).terms.items():
            total = add(made.get(monomial, 0), c)
            if is_zero(total):
                made.pop(monomial, None)
            else:
                made[monomial] = total
        return Polynomial(made)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Any) -> Polynomial:
        return self + Polynomial.of(other) * -1

    def __rsub__(self, other: Any) -> Polynomial:
        return Polynomial.of(other) - self

    def __mul__(self, other: Any) -> Polynomial:
        made: dict[Monomial, Scalar] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in Polynomial.of(other).terms.items():
                monomial = tuple(sorted(m1 + m2, key=lambda s: s.serial))
                total = add(made.get(monomial, 0), mul(c1, c2))
                made[monomial] = total
        return Polynomial({m: c for m, c in made.items() if not is_zero(c)})

    __rmul__ = __mul__

    def expression(self, rates: frozenset[Expr] = frozenset()) -> Scalar:
        """As an expression: velocities (`rates`) are factored out first, what is left is at most quadratic."""
        groups: dict[Monomial, dict[Monomial, Scalar]] = {}
        for monomial, c in self.terms.items():
            fast = tuple(s for s in monomial if s in rates)
            slow = tuple(s for s in monomial if s not in rates)
            groups.setdefault(fast, {})[slow] = c
        total: Scalar = 0
        for fast, inner in groups.items():
            if len(fast) == 2 and fast[0] is not fast[1]:  # 2 w qd is a Coriolis rate others share
                inner = {m: mul(Fraction(1, 2), c) for m, c in inner.items()}
                factor: Scalar = mul(mul(2, fast[0]), fast[1])
            else:
                factor = 1
                for s in fast:
                    factor = mul(factor, s)
            total = add(total, mul(factor, _quadratic(inner)))
        return total


def _quadratic(terms: dict[Monomial, Scalar]) -> Scalar:
    """c + sum_k q_k (l_k/2 + g_k), where g_k = l_k/2 + sum_i h_ik q_i is half the gradient (shared with Coriolis terms)."""
    degree = max((len(m) for m in terms), default=0)
    if degree > 2:
        return _horner(terms)
    total: Scalar = terms.get((), 0)
    if degree < 2:
        for monomial, c in terms.items():
            if monomial:
                total = add(total, mul(c, monomial[0]))
        return total
    symbols = list(dict.fromkeys(s for m in terms for s in m))
    for s in symbols:
        half = mul(Fraction(1, 2), terms.get((s,), 0))
        gradient: Scalar = half
        for t in symbols:
            pair = tuple(sorted((s, t), key=lambda x: x.serial))
            h = terms.get(pair, 0)
            gradient = add(gradient, mul(h if s is t else mul(Fraction(1, 2), h), t))
        total = add(total, mul(s, add(half, gradient)))
    return total


def _horner(terms: dict[Monomial, Scalar]) -> Scalar:
    total: Scalar = terms.get((), 0)
    rest = {m: c for m, c in terms.items() if m}
    while rest:
        counts: dict[Expr, int] = {}
        for m in rest:
            for s in set(m):
                counts[s] = counts.get(s, 0) + 1
        best = max(counts, key=lambda s: (counts[s], -s.serial))
        inner = {}
        for m in [m for m in rest if best in m]:
            left = list(m)
            left.remove(best)
            inner[tuple(left)] = rest.pop(m)
        total = add(total, mul(best, _horner(inner)))
    return total
