"""Turns: unit quaternions, rotation vectors and their rates. Leading axes of what is given are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.model.algebra import Array


def turned(p: Array, step: Array) -> Array:
    """Unit quaternions turned by rotation vectors of their own axes."""
    made = product(p, quaternion(step))
    return np.asarray(made / np.linalg.norm(made, axis=-1, keepdims=True))


def quaternion(r: Array) -> Array:
    """Unit quaternions of rotation vectors (rad)."""
    angle = np.linalg.norm(r, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * r], axis=-1)


def rotation_vector(p: Array) -> Array:
    """Rotation vectors (rad) of unit quaternions."""
    p = np.where(p[..., :1] >= 0, p, -p)
    s = np.linalg.norm(p[..., 1:], axis=-1, keepdims=True)
    small = s < 1e-12
    return np.asarray(p[..., 1:] * np.where(small, 2.0, 2.0 * np.arctan2(s, p[..., :1]) / np.where(small, 1.0, s)))


def between(first: Array, second: Array) -> Array:
    """The rotation vectors, in the axes of the first quaternions, that turn them into the second."""
    return rotation_vector(product(first * np.array([1.0, -1.0, -1.0, -1.0]), second))


def product(p: Array, r: Array) -> Array:
    """Quaternions p r."""
    a, b, c, d = np.moveaxis(p, -1, 0)
    w, x, y, z = np.moveaxis(r, -1, 0)
    return np.stack(
        [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
         a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w], axis=-1,
    )  # fmt: skip


def turn_rates(r: Array) -> Array:
    """T of w = T rd: the angular velocity, in body axes, of rotation vectors r with rates rd."""
    c1, c2, _, _ = _turn_factors((r * r).sum(axis=-1))
    R = _cross(r)
    return np.asarray(np.eye(3) - c1[..., None, None] * R + c2[..., None, None] * (R @ R))


def body_rates(r: Array, rd: Array, rdd: Array) -> tuple[Array, Array]:
    """Angular velocity and acceleration in body axes of a rotation vector with given rates.

    w = T r', T = 1 - c1 [r] + c2 [r]^2 with c1 = (1 - cos f) / f^2 and c2 = (f - sin f) / f^3 of the angle f = |r|."""
    c1, c2, d1, d2 = _turn_factors(float(r @ r))
    slide = 2 * float(r @ rd)  # (f^2)'
    R, Rd = _cross(r), _cross(rd)
    T = np.eye(3) - c1 * R + c2 * R @ R
    Td = -d1 * slide * R - c1 * Rd + d2 * slide * R @ R + c2 * (Rd @ R + R @ Rd)
    return T @ rd, T @ rdd + Td @ rd


def _turn_factors(f2: Any) -> tuple[Any, Any, Any, Any]:
    """c1, c2 and their derivatives by f^2; series where the closed forms cancel."""
    f2 = np.asarray(f2, dtype=float)
    near, far = np.minimum(f2, 0.1), np.maximum(f2, 0.1)
    c1, c2, d1, d2 = (np.zeros_like(f2) for _ in range(4))
    one, two, power = 0.5, 1 / 6, np.ones_like(f2)  # coefficients of f2^k in c1 and c2
    for k in range(9):
        c1, c2 = c1 + one * power, c2 + two * power
        one, two = -one / ((2 * k + 3) * (2 * k + 4)), -two / ((2 * k + 4) * (2 * k + 5))
        d1, d2 = d1 + (k + 1) * one * power, d2 + (k + 1) * two * power
        power = power * near
    f = np.sqrt(far)
    s, c = np.sin(f), np.cos(f)
    e1, e2 = (1 - c) / far, (f - s) / (far * f)
    exact = (e1, e2, (s / f - 2 * e1) / (2 * far), ((1 - c) / far - 3 * e2) / (2 * far))
    made = [np.where(f2 < 0.1, x, y) for x, y in zip((c1, c2, d1, d2), exact, strict=True)]
    return made[0], made[1], made[2], made[3]


def _cross(r: Array) -> Any:
    x, y, z = np.moveaxis(r, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*r.shape, 3)
