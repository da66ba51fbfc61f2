"""Units and dimensions of numbers in a robot file: powers of (metre, kilogram, second, cycle)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

Dimension = tuple[int | Fraction, ...]


def dimension(metre: int = 0, kilogram: int = 0, second: int = 0, cycle: int = 0) -> Dimension:
    return (metre, kilogram, second, cycle)


NONE = dimension()
DIMENSIONS: dict[str, Dimension] = {
    "number": NONE,
    "angle": NONE,
    "length": dimension(1),
    "area": dimension(2),
    "second moment of area": dimension(4),
    "mass": dimension(0, 1),
    "first moment of mass": dimension(1, 1),
    "inertia": dimension(2, 1),
    "density": dimension(-3, 1),
    "pressure": dimension(-1, 1, -2),
    "acceleration": dimension(1, 0, -2),
    "force": dimension(1, 1, -2),
    "torque": dimension(2, 1, -2),
    "time": dimension(0, 0, 1),
    "rate": dimension(0, 0, -1),
    "frequency": dimension(0, 0, -1, 1),
    "velocity": dimension(1, 0, -1),
    "translational stiffness": dimension(0, 1, -2),
    "rotational stiffness": dimension(2, 1, -2),
    "translational damping": dimension(0, 1, -1),
    "rotational damping": dimension(2, 1, -1),
    "angular acceleration": dimension(0, 0, -2),
    "jerk": dimension(1, 0, -3),
    "angular jerk": dimension(0, 0, -3),
    "impulse": dimension(1, 1, -1),
    "angular impulse": dimension(2, 1, -1),
    "translational stiffness per time": dimension(0, 1, -3),
    "power": dimension(2, 1, -3),
}
SYMBOLS = ("m", "kg", "s", "cycle")  # of a Dimension's powers

_DEGREE = math.pi / 180
UNITS: dict[str, tuple[Any, Dimension]] = {
    "m": (1, dimension(1)),
    "km": (1000, dimension(1)),
    "cm": (Fraction(1, 100), dimension(1)),
    "mm": (Fraction(1, 1000), dimension(1)),
    "um": (Fraction(1, 10**6), dimension(1)),
    "in": (Fraction(254, 10000), dimension(1)),
    "kg": (1, dimension(0, 1)),
    "g": (Fraction(1, 1000), dimension(0, 1)),
    "t": (1000, dimension(0, 1)),
    "s": (1, dimension(0, 0, 1)),
    "ms": (Fraction(1, 1000), dimension(0, 0, 1)),
    "Hz": (1, dimension(0, 0, -1, 1)),
    "N": (1, dimension(1, 1, -2)),
    "kN": (1000, dimension(1, 1, -2)),
    "MN": (10**6, dimension(1, 1, -2)),
    "Nm": (1, dimension(2, 1, -2)),
    "kNm": (1000, dimension(2, 1, -2)),
    "Pa": (1, dimension(-1, 1, -2)),
    "kPa": (1000, dimension(-1, 1, -2)),
    "MPa": (10**6, dimension(-1, 1, -2)),
    "GPa": (10**9, dimension(-1, 1, -2)),
    "rad": (1, NONE),
    "mrad": (Fraction(1, 1000), NONE),
    "deg": (_DEGREE, NONE),
    "percent": (Fraction(1, 100), NONE),
}
