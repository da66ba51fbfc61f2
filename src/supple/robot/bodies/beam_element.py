"""The element of a uniform beam: exact polynomial shape functions of displacement and rotation, and its stiffness.

A Timoshenko element's shapes depend on its shear number phi = 12 E I / (k G A h^2) and become Hermite's for phi = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

from supple.robot.bodies.record import Array, zeros
from supple.robot.bodies.section import CrossSection

Coefficients = list[Any]  # coefficients of 1, xi, xi^2, ...


@dataclass(frozen=True)
class BeamSpec:
    """A uniform beam along x of its own frame."""

    length: Any
    section: CrossSection
    E: Any
    G: Any
    rho: Any
    elements: int
    planar: bool
    shear: bool  # Timoshenko: shear flexibility and rotary inertia
    shortens: bool = True  # second order: bending draws its sections towards the root
    limit: Any | None = None  # yield stress of its material

    @cached_property
    def element(self) -> Element:
        """The element that every part of it shares."""
        return _element(self)


def _bending(phi: Any) -> tuple[list[Coefficients], list[Coefficients]]:
    """Deflection and rotation shape functions of (v1, h theta1, v2, h theta2), v and h theta over xi."""
    f = Fraction(1, 2) * phi
    d = 1 if zero(phi) else 1 / (1 + phi)
    deflection = [[1 + phi, -phi, -3, 2], [0, 1 + f, -2 - f, 1], [0, phi, 3, -2], [0, -f, -1 + f, 1]]
    slope = [[0, -6, 6], [1 + phi, -4 - phi, 3], [0, 6, -6], [0, -2 + phi, 3]]
    return [[d * c for c in p] for p in deflection], [[d * c for c in p] for p in slope]


def zero(x: Any) -> bool:
    return isinstance(x, (int, float, Fraction)) and x == 0


def integrated_product(p: Coefficients, q: Coefficients, power: int = 0) -> Any:
    """int_0^1 p q xi^power dxi."""
    if all(isinstance(x, (int, Fraction)) for x in (*p, *q)):
        return _exact_product(p, q, power)
    total: Any = 0
    others = [(j, b) for j, b in enumerate(q) if not zero(b)]
    for i, a in enumerate(p if others else ()):
        if not zero(a):
            for j, b in others:
                total = total + a * b * Fraction(1, i + j + power + 1)
    return total


def _exact_product(p: Coefficients, q: Coefficients, power: int) -> Any:
    """The same of exact numbers, which integers above one denominator add up sooner than fractions."""
    below = lcm(*range(1, len(p) + len(q) + power))
    a, b = (lcm(*(x.denominator for x in r)) for r in (p, q))
    second = [x.numerator * (b // x.denominator) for x in q]
    total = 0
    for i, x in enumerate(p):
        if x:
            first = x.numerator * (a // x.denominator)
            total += first * sum(y * (below // (i + j + power + 1)) for j, y in enumerate(second) if y)
    return Fraction(total, a * b * below) if total else 0


def at(p: Coefficients, xi: Any) -> Any:
    total: Any = p[-1] if p else 0
    for c in p[-2::-1]:
        total = total * xi + c
    return total


@dataclass(frozen=True)
class Element:
    """One element of length h: polynomials of displacement (3) and rotation (3) for its 12 nodal coordinates."""

    h: Any
    displacement: list[list[Coefficients]]  # [axis][coordinate]
    rotation: list[list[Coefficients]]
    K: Array


def _element(spec: BeamSpec) -> Element:
    h = spec.length / spec.elements if isinstance(spec.length, float) else spec.length * Fraction(1, spec.elements)
    s = spec.section
    phi_y = 12 * spec.E * s.Iz / (s.ky * spec.G * s.area * h**2) if spec.shear else 0
    phi_z = 12 * spec.E * s.Iy / (s.kz * spec.G * s.area * h**2) if spec.shear else 0
    linear: list[Coefficients] = [[1, -1], [0, 1]]
    displacement: list[list[Coefficients]] = [[[] for _ in range(12)] for _ in range(3)]
    rotation: list[list[Coefficients]] = [[[] for _ in range(12)] for _ in range(3)]
    for end in range(2):
        displacement[0][6 * end] = linear[end]
        rotation[0][6 * end + 3] = linear[end]
    # x-y plane: (y, rz) with rz = dy/dx; x-z plane: (z, -ry) with ry = -dz/dx
    for lateral, turning, phi, sign in ((1, 5, phi_y, 1), (2, 4, phi_z, -1)):
        v, t = _bending(phi)
        for end in range(2):
            displacement[lateral][6 * end + lateral] = v[2 * end]
            displacement[lateral][6 * end + turning] = [sign * h * c for c in v[2 * end + 1]]
            rotation[turning - 3][6 * end + lateral] = [sign * c / h for c in t[2 * end]]
            rotation[turning - 3][6 * end + turning] = t[2 * end + 1]
    return Element(h, displacement, rotation, _stiffness(spec, h, phi_y, phi_z))


def _stiffness(spec: BeamSpec, h: Any, phi_y: Any, phi_z: Any) -> Array:
    K, s = zeros(12, 12), spec.section
    for a, k in ((0, spec.E * s.area / h), (3, spec.G * s.J / h)):
        K[a, a] = K[a + 6, a + 6] = k
        K[a, a + 6] = K[a + 6, a] = -k
    for lateral, turning, phi, inertia, sign in ((1, 5, phi_y, s.Iz, 1), (2, 4, phi_z, s.Iy, -1)):
        k = spec.E * inertia / (h**3 if zero(phi) else h**3 * (1 + phi))
        block = [
            [12, 6 * h, -12, 6 * h],
            [6 * h, (4 + phi) * h**2, -6 * h, (2 - phi) * h**2],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, (2 - phi) * h**2, -6 * h, (4 + phi) * h**2],
        ]
        at = (lateral, turning, lateral + 6, turning + 6)
        signs = (1, sign, 1, sign)
        for i in range(4):
            for j in range(4):
                K[at[i], at[j]] = k * (signs[i] * signs[j]) * block[i][j]
    return K
