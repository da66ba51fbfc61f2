"""Friction of joints: viscous, and Coulomb's, smoothed over a width of speed."""

from __future__ import annotations

from supple.expr.function import Array
from supple.expr.node import Scalar, add, div, mul, sign, sqrt
from supple.expr.vector import is_zero, zeros
from supple.robot.mechanism import Coordinate, Mechanism


def coulomb(c: Coordinate, v: Scalar) -> Scalar:
    """Coulomb friction of a coordinate at a speed: coulomb * v / sqrt(v^2 + width^2), or its sign where width is zero."""
    smooth = sign(v) if is_zero(c.width) else div(v, sqrt(add(mul(v, v), mul(c.width, c.width))))
    return mul(c.coulomb, smooth)


def friction(c: Coordinate, v: Scalar) -> Scalar:
    """Viscous and Coulomb friction of a coordinate at a speed."""
    total = mul(c.viscous, v)
    return total if is_zero(c.coulomb) else add(total, coulomb(c, v))


def coulomb_friction(mechanism: Mechanism, v: Array) -> Array:
    """Coulomb friction of every coordinate."""
    made = zeros(mechanism.nv)
    for k, c in enumerate(mechanism.coordinates):
        if not is_zero(c.coulomb):
            made[k] = coulomb(c, v[k])
    return made
