"""Jets: numbers that carry their exact gradient and Hessian, in batches.

A Jet over n variables holds v (batch,), g (batch, n) and h (batch, n, n). Sums, products and functions of jets follow the
chain rule to second order, so an energy written once gives forces and a symmetric tangent without differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Jet:
    v: Array
    g: Array
    h: Array
    __array_ufunc__ = None  # so that array * jet is left to the jet

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(self.v + other.v, self.g + other.g, self.h + other.h)
        return Jet(self.v + other, self.g, self.h)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.v, -self.g, -self.h)

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return (-self) + other

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            c = np.broadcast_to(np.asarray(other, dtype=float), self.v.shape)
            return Jet(self.v * c, self.g * c[:, None], self.h * c[:, None, None])
        cross = self.g[:, :, None] * other.g[:, None, :]
        h = self.v[:, None, None] * other.h + other.v[:, None, None] * self.h + cross + cross.transpose(0, 2, 1)
        return Jet(self.v * other.v, self.v[:, None] * other.g + other.v[:, None] * self.g, h)

    __rmul__ = __mul__

    def through(self, f: Array, f1: Array, f2: Array) -> Jet:
        """A function of the jet, given its value and first two derivatives there."""
        square = self.g[:, :, None] * self.g[:, None, :]
        return Jet(f, f1[:, None] * self.g, f1[:, None, None] * self.h + f2[:, None, None] * square)

    def inverse(self) -> Jet:
        return self.through(1 / self.v, -1 / self.v**2, 2 / self.v**3)

    def __truediv__(self, other: Any) -> Jet:
        return self * (other.inverse() if isinstance(other, Jet) else 1 / np.asarray(other, dtype=float))

    def sqrt(self) -> Jet:
        root = np.sqrt(self.v)
        return self.through(root, 0.5 / root, -0.25 / root**3)


Vector = list  # of three jets, or of three arrays (batch,)


def variables(values: Array) -> list[Jet]:
    """The n variables of a batch as jets, from their values (batch, n)."""
    batch, n = values.shape
    zero = np.zeros((batch, n, n))
    made = []
    for k in range(n):
        g = np.zeros((batch, n))
        g[:, k] = 1.0
        made.append(Jet(values[:, k].copy(), g, zero))
    return made


def dot(a: Vector, b: Vector) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def times(a: Vector, c: Any) -> Vector:
    return [x * c for x in a]


def unit(a: Vector) -> Vector:
    return times(a, dot(a, a).sqrt().inverse())


def turned(delta: Vector, s: Array) -> Vector:
    """exp(delta) s for constant vectors s (batch, 3); exact to second order about delta = 0, where it is used."""
    first = cross(delta, [s[:, 0], s[:, 1], s[:, 2]])
    second = cross(delta, first)
    return [first[k] + second[k] * 0.5 + s[:, k] for k in range(3)]
