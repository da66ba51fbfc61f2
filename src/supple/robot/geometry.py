"""Constant frames of a robot file: rotations without rounding dust, axes, Khalil-Kleinfinger transforms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from supple.robot.bodies.record import Array, eye, zeros

_EXACT = (0, 1, -1, Fraction(1, 2), Fraction(-1, 2))
_DUST = 4e-16


def snapped(x: float) -> Any:
    """x, or the exact value a rounded right or 60 degree angle stands for."""
    for exact in _EXACT:
        if abs(x - exact) < _DUST:
            return exact
    return x


def exact_cosine(x: Any) -> Any:
    return snapped(math.cos(x)) if isinstance(x, (int, float, Fraction)) else x.cos()


def exact_sine(x: Any) -> Any:
    return snapped(math.sin(x)) if isinstance(x, (int, float, Fraction)) else x.sin()


def turn(axis: str, angle: Any) -> Array:
    """Rotation about a coordinate axis."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = eye()
    R[j, j] = R[k, k] = exact_cosine(angle)
    R[k, j] = exact_sine(angle)
    R[j, k] = -R[k, j]
    return R


def turns(rotate: Any) -> Array:
    """A chain of rotations about the moving axes: [{z: 30 deg}, {x: 90 deg}]."""
    R = eye()
    for step in [rotate] if isinstance(rotate, dict) else rotate or []:
        for axis, angle in step.items():
            R = R @ turn(axis, angle)
    return R


def point(at: Any) -> Array:
    p = zeros(3)
    if at is not None:
        p[:] = at
    return p


def direction(spec: Any) -> Array:
    """The unit vector of 'x', '-z' or [1, 1, 0]."""
    made = zeros(3)
    if isinstance(spec, str):
        made["xyz".index(spec[-1])] = -1 if spec[0] == "-" else 1
        return made
    numbers = np.array([float(x) for x in spec])
    length = float(np.linalg.norm(numbers))
    if not length > 0:
        raise ValueError("needs a direction, not three zeros")
    made[:] = [snapped(x) for x in numbers / length]
    return made


def cross(a: Array, b: Array) -> Array:
    made = zeros(3)
    made[:] = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return made


def beam_frame(x: Array, up: Array) -> Array:
    """Rotation whose x axis is x and whose z axis is nearest to `up`."""
    across = cross(up, x)
    length = math.sqrt(sum(float(c) ** 2 for c in across))
    if length < 1e-9:
        raise ValueError("'up' must not point along the beam's axis")
    y = zeros(3)
    y[:] = [snapped(float(c) / length) for c in across]
    R = zeros(3, 3)
    R[:, 0], R[:, 1], R[:, 2] = x, y, cross(x, y)
    return R


def khalil_kleinfinger(gamma: Any, b: Any, alpha: Any, d: Any, theta: Any, r: Any) -> tuple[Array, Array]:
    """rot(z, gamma) trans(z, b) rot(x, alpha) trans(x, d) rot(z, theta) trans(z, r) as rotation and position."""
    first = turn("z", gamma)
    tilt = first @ turn("x", alpha)
    p = zeros(3)
    p[2] = b
    p = p + first[:, 0] * d + tilt[:, 2] * r
    return tilt @ turn("z", theta), p


def quaternion_of(R: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation matrix of numbers."""
    m = R.astype(float)
    candidates = np.array(
        [1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
         1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]]
    )  # fmt: skip
    k = int(np.argmax(candidates))
    s = 2 * math.sqrt(candidates[k])
    rows = (
        (s / 4, (m[2, 1] - m[1, 2]) / s, (m[0, 2] - m[2, 0]) / s, (m[1, 0] - m[0, 1]) / s),
        ((m[2, 1] - m[1, 2]) / s, s / 4, (m[0, 1] + m[1, 0]) / s, (m[0, 2] + m[2, 0]) / s),
        ((m[0, 2] - m[2, 0]) / s, (m[0, 1] + m[1, 0]) / s, s / 4, (m[1, 2] + m[2, 1]) / s),
        ((m[1, 0] - m[0, 1]) / s, (m[0, 2] + m[2, 0]) / s, (m[1, 2] + m[2, 1]) / s, s / 4),
    )
    q = np.array(rows[k])
    return q if q[0] >= 0 else -q
