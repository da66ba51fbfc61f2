"""Rotations of space as matrices."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def skew(a: Array) -> Array:
    """The matrix of a x."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(vector: Array) -> Array:
    """The rotation by a vector's length about its direction (Rodrigues)."""
    angle = np.linalg.norm(vector)
    S = skew(vector)
    first, second = np.sinc(angle / np.pi), 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    return np.eye(3) + first * S + second * S @ S


def about(axis: str, angle: float) -> Array:
    """The rotation by an angle about x, y or z."""
    return rotation(angle * np.eye(3)["xyz".index(axis)])
