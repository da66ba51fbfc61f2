"""Rates of rotation vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.model.algebra import Array


def turn_rates(r: Array) -> Array:
    """T of w = T rd: the angular velocity, in body axes, of a rotation vector r with rates rd."""
    c1, c2, _, _ = _turn_factors(float(r @ r))
    R = _cross(r)
    return np.asarray(np.eye(3) - c1 * R + c2 * R @ R)


def body_rates(r: Array, rd: Array, rdd: Array) -> tuple[Array, Array]:
    """Angular velocity and acceleration in body axes of a rotation vector with given rates.

    w = T r', T = 1 - c1 [r] + c2 [r]^2 with c1 = (1 - cos f) / f^2 and c2 = (f - sin f) / f^3 of the angle f = |r|."""
    c1, c2, d1, d2 = _turn_factors(float(r @ r))
    slide = 2 * float(r @ rd)  # (f^2)'
    R, Rd = _cross(r), _cross(rd)
    T = np.eye(3) - c1 * R + c2 * R @ R
    Td = -d1 * slide * R - c1 * Rd + d2 * slide * R @ R + c2 * (Rd @ R + R @ Rd)
    return T @ rd, T @ rdd + Td @ rd


def _turn_factors(f2: float) -> tuple[float, float, float, float]:
    """c1, c2 and their derivatives by f^2; series where the closed forms cancel."""
    if f2 < 0.1:
        c1 = c2 = d1 = d2 = 0.0
        one, two = 0.5, 1 / 6  # coefficients of f2^k in c1 and c2
        for k in range(9):
            c1, c2 = c1 + one * f2**k, c2 + two * f2**k
            one, two = -one / ((2 * k + 3) * (2 * k + 4)), -two / ((2 * k + 4) * (2 * k + 5))
            d1, d2 = d1 + (k + 1) * one * f2**k, d2 + (k + 1) * two * f2**k
        return c1, c2, d1, d2
    f = np.sqrt(f2)
    s, c = np.sin(f), np.cos(f)
    c1, c2 = (1 - c) / f2, (f - s) / (f2 * f)
    return c1, c2, (s / f - 2 * c1) / (2 * f2), ((1 - c) / f2 - 3 * c2) / (2 * f2)


def _cross(r: Array) -> Any:
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
