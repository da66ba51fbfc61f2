"""Cross-sections: area, second moments, torsion constant and shear factors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from supple.robot.description import Properties, Section

PI = math.pi
_TERMS = 40  # of the torsion of a rectangle


@dataclass(frozen=True)
class CrossSection:
    """Iz = int y^2 dA bends the beam in its x-y plane, Iy = int z^2 dA in its x-z plane."""

    area: Any
    Iy: Any
    Iz: Any
    J: Any
    ky: Any  # shear factor of the x-y plane
    kz: Any
    form: tuple[str, tuple[Any, ...]] = ("", ())  # rectangle, circle, tube or box with its sizes; nothing: not known

    @property
    def polar(self) -> Any:
        return self.Iy + self.Iz


def cross_section(spec: Section, nu: Any) -> CrossSection:
    """The CrossSection of any kind of section; shear factors after Cowper (1966)."""
    if spec.rectangle is not None:
        y, z = spec.rectangle.y, spec.rectangle.z
        k = 10 * (1 + nu) / (12 + 11 * nu)
        form = ("rectangle", (y, z))
        return CrossSection(y * z, y * z**3 / 12, z * y**3 / 12, rectangle_torsion(y, z), k, k, form)
    if spec.circle is not None:
        d = spec.circle.diameter
        inertia = PI / 64 * d**4
        k = 6 * (1 + nu) / (7 + 6 * nu)
        return CrossSection(PI / 4 * d**2, inertia, inertia, 2 * inertia, k, k, ("circle", (d,)))
    if spec.tube is not None:
        return _tube(spec.tube.diameter, spec.tube.wall, nu)
    if spec.box is not None:
        return _box(spec.box.y, spec.box.z, spec.box.wall)
    assert isinstance(spec.properties, Properties)
    p = spec.properties
    Iy = p.Iz if p.Iy is None else p.Iy
    return CrossSection(p.area, Iy, p.Iz, p.Iz + Iy if p.J is None else p.J, p.ky, p.kz)


def _tube(d: Any, wall: Any, nu: Any) -> CrossSection:
    inner = d - 2 * wall
    inertia = PI / 64 * (d**4 - inner**4)
    m2 = (inner / d) ** 2
    k = 6 * (1 + nu) * (1 + m2) ** 2 / ((7 + 6 * nu) * (1 + m2) ** 2 + (20 + 12 * nu) * m2)
    return CrossSection(PI / 4 * (d**2 - inner**2), inertia, inertia, 2 * inertia, k, k, ("tube", (d, wall)))


def _box(y: Any, z: Any, wall: Any) -> CrossSection:
    """Thin-walled box: Bredt's torsion constant, shear carried by the two webs."""
    inner_y, inner_z = y - 2 * wall, z - 2 * wall
    area = y * z - inner_y * inner_z
    mid_y, mid_z = y - wall, z - wall
    J = 2 * wall * (mid_y * mid_z) ** 2 / (mid_y + mid_z)
    return CrossSection(
        area, (y * z**3 - inner_y * inner_z**3) / 12, (z * y**3 - inner_z * inner_y**3) / 12, J,
        2 * wall * y / area, 2 * wall * z / area, ("box", (y, z, wall)),
    )  # fmt: skip


def rectangle_torsion(y: Any, z: Any) -> Any:
    """Torsion constant of a solid rectangle: Saint-Venant's series, to rounding, of numbers or expressions.

    J / (y z)^2 is a smooth function of s = 2 y z / (y^2 + z^2), which does not ask which side is the longer one; an
    expression has its Chebyshev polynomial in s, which agrees with the series to rounding."""
    if isinstance(y, (int, float, Fraction)) and isinstance(z, (int, float, Fraction)):
        return _torsion(float(max(y, z)), float(min(y, z)))
    s = 2 * y * z / (y**2 + z**2)
    x, after, later = 2 * s - 1, 0.0, 0.0
    coefficients = _torsion_polynomial()
    for c in reversed(coefficients[1:]):  # Clenshaw
        after, later = 2 * x * after - later + c, after
    return y**2 * z**2 * s * (x * after - later + coefficients[0])


def _torsion(long: float, short: float) -> float:
    """Sums of tanh(k pi l / 2 s) / k^5, odd k, by how little they fall short of sums of 1 / k^5 = 31/32 zeta(5)."""
    ratio = PI * long / short
    short_of = sum(2 / (math.exp(k * ratio) + 1) / k**5 for k in range(1, 26, 2) if k * ratio < 700)
    series = 31 / 32 * 1.03692775514336993 - short_of
    return long * short**3 * (1 / 3 - 64 * short / (PI**5 * long) * series)


@cache
def _torsion_polynomial() -> tuple[float, ...]:
    """Chebyshev coefficients of J / ((y z)^2 s) for s from 0 to 1."""
    angles = [PI * (k + 0.5) / _TERMS for k in range(_TERMS)]
    values = []
    for angle in angles:
        s = 0.5 * (math.cos(angle) + 1)
        t = s / (1 + math.sqrt(1 - s**2))  # the shorter side by the longer one
        values.append(_torsion(1.0, t) / (t**2 * s))
    sums = [math.fsum(v * math.cos(j * a) for v, a in zip(values, angles, strict=True)) for j in range(_TERMS)]
    return (sums[0] / _TERMS, *(2 * x / _TERMS for x in sums[1:]))
