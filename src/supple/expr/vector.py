"""Three-dimensional vector algebra on object arrays; zeros and ones of constant frames cost nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, add, cos, mul, sin, sub

_LARGE = 100  # numbers of a matrix that is asked for its zeros as a whole


def vector(*components: Scalar) -> Array:
    made = np.empty(len(components), dtype=object)
    made[:] = components
    return made


def zeros(*shape: int) -> Array:
    return np.full(shape, 0, dtype=object)


def identity(n: int = 3) -> Array:
    made = zeros(n, n)
    for i in range(n):
        made[i, i] = 1
    return made


def is_zero(x: Any) -> bool:
    """True where x (a scalar or an array) is nothing but the number zero."""
    if type(x) is Expr:
        return False
    if isinstance(x, np.ndarray):
        return not nonzero(x).any()
    return bool(x == 0)


def nonzero(x: Array) -> Array:
    """Where an array is not the number zero."""
    try:
        return x.astype(bool)  # of numbers, all at once
    except TypeError:  # expressions have no truth value
        return np.array([type(e) is Expr or bool(e != 0) for e in x.ravel()], dtype=bool).reshape(x.shape)


def dot(a: Array, b: Array) -> Scalar:
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        if (type(x) is Expr or x != 0) and (type(y) is Expr or y != 0):
            total = add(total, mul(x, y))
    return total


def matvec(A: Array, x: Array) -> Array:
    if A.size < _LARGE:
        return vector(*(dot(row, x) for row in A))
    both = nonzero(A) & nonzero(x)  # few of a body's
    made = zeros(len(A))
    for i in np.flatnonzero(both.any(axis=1)).tolist():
        at = np.flatnonzero(both[i])
        made[i] = dot(A[i, at], x[at])
    return made


def matmul(A: Array, B: Array) -> Array:
    made = zeros(A.shape[0], B.shape[1])
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            made[i, j] = dot(A[i], B[:, j])
    return made


def plus(*terms: Array) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = vector(*(add(x, y) for x, y in zip(total, term, strict=True)))
    return total


def minus(a: Array, b: Array) -> Array:
    return vector(*(sub(x, y) for x, y in zip(a, b, strict=True)))


def scale(k: Scalar, a: Array) -> Array:
    return vector(*(mul(k, x) for x in a))


def cross(a: Array, b: Array) -> Array:
    return vector(
        sub(mul(a[1], b[2]), mul(a[2], b[1])),
        sub(mul(a[2], b[0]), mul(a[0], b[2])),
        sub(mul(a[0], b[1]), mul(a[1], b[0])),
    )


def axis_rotation(axis: Array, angle: Scalar) -> Array:
    """Rotation by `angle` about the constant unit vector `axis` (Rodrigues)."""
    c, s = cos(angle), sin(angle)
    made = zeros(3, 3)
    k = sub(1, c)
    for i in range(3):
        for j in range(3):
            both = mul(axis[i], axis[j])
            made[i, j] = mul(both, k) if i != j else add(mul(both, 1), mul(sub(1, both), c))
    skew = cross_matrix(axis)
    for i in range(3):
        for j in range(3):
            made[i, j] = add(made[i, j], mul(skew[i, j], s))
    return made


def cross_matrix(a: Array) -> Array:
    made = zeros(3, 3)
    made[0, 1], made[0, 2] = -a[2], a[1]
    made[1, 0], made[1, 2] = a[2], -a[0]
    made[2, 0], made[2, 1] = -a[1], a[0]
    return made


def quaternion_rotation(p: Array) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = p
    made = zeros(3, 3)
    made[0, 0] = 1 - 2 * (y * y + z * z)
    made[1, 1] = 1 - 2 * (x * x + z * z)
    made[2, 2] = 1 - 2 * (x * x + y * y)
    made[0, 1], made[1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    made[0, 2], made[2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    made[1, 2], made[2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    return made


def quaternion_rate(p: Array, omega: Array) -> Array:
    """Time derivative of a unit quaternion turning with the angular velocity `omega` of its own frame."""
    w, x, y, z = p
    a, b, c = omega
    half = [-(x * a + y * b + z * c), w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    return vector(*(mul(h, 0.5) if not isinstance(h, Expr) else h / 2 for h in half))
