"""Constants of cross-sections against values worked out by hand from the formulas of docs/robot_file.md."""

from __future__ import annotations

import math
from typing import Any

import pytest

from supple.robot.bodies.section import CrossSection, cross_section, rectangle_torsion
from supple.robot.description import Box, Circle, Properties, Rectangle, Section, Tube

MM = 1e-3
KINDS: dict[str, Any] = {"rectangle": Rectangle, "circle": Circle, "tube": Tube, "box": Box, "properties": Properties}


def section(kind: str, nu: float = 0.3, **sizes: Any) -> CrossSection:
    whole = dict.fromkeys(KINDS) | {kind: KINDS[kind].model_construct(**sizes)}
    return cross_section(Section.model_construct(**whole), nu)


def constants(found: CrossSection) -> list[float]:
    """Area in mm^2, Iy, Iz and J in mm^4, ky, kz."""
    return [found.area / MM**2, found.Iy / MM**4, found.Iz / MM**4, found.J / MM**4, found.ky, found.kz]


def test_a_rectangle() -> None:
    """20 mm along y, 30 mm along z: Iz = 30 20^3 / 12, Iy = 20 30^3 / 12; k = 10 1.3 / (12 + 3.3)."""
    found = section("rectangle", y=20 * MM, z=30 * MM)
    assert constants(found) == pytest.approx([600, 45000, 20000, 0.1958 * 30 * 20**3, 13 / 15.3, 13 / 15.3], rel=3e-4)


@pytest.mark.parametrize(
    ("ratio", "factor"), [(1, 0.1406), (1.5, 0.1958), (2, 0.2287), (3, 0.2633), (10, 0.3123), (1e6, 1 / 3)]
)
def test_torsion_of_rectangles(ratio: float, factor: float) -> None:
    """J = factor long short^3 (Timoshenko & Goodier, Theory of Elasticity, table of section 109), whichever side is y."""
    assert rectangle_torsion(ratio * 2.0, 2.0) == pytest.approx(factor * ratio * 2.0 * 2.0**3, rel=5e-4)
    assert rectangle_torsion(2.0, ratio * 2.0) == rectangle_torsion(ratio * 2.0, 2.0)


def test_a_circle() -> None:
    """10 mm: pi 25, pi 10^4 / 64, twice that; k = 6 1.3 / 8.8."""
    found = section("circle", diameter=10 * MM)
    assert constants(found) == pytest.approx([78.5398, 490.874, 490.874, 981.748, 0.886364, 0.886364], rel=1e-5)


def test_a_tube() -> None:
    """20 mm with a wall of 2 mm: pi/4 (400 - 256), pi/64 (160000 - 65536); with m^2 = 0.64, k = 20.97888 / 38.77248."""
    found = section("tube", diameter=20 * MM, wall=2 * MM)
    assert constants(found) == pytest.approx([113.0973, 4636.987, 4636.987, 9273.974, 0.541076, 0.541076], rel=1e-5)


def test_the_limits_of_a_tube() -> None:
    """A thin tube has 2 (1 + nu) / (4 + 3 nu) (Cowper 1966), one without a hole is a circle."""
    assert section("tube", diameter=1.0, wall=1e-7).ky == pytest.approx(2.6 / 4.9, rel=1e-6)
    solid, circle = section("tube", diameter=1.0, wall=0.5), section("circle", diameter=1.0)
    assert [solid.area, solid.J, solid.ky] == pytest.approx([circle.area, circle.J, circle.ky])


def test_a_box() -> None:
    """50 mm by 30 mm, wall 5 mm: 1500 - 800; (30 50^3 - 20 40^3) / 12; 2 5 (45 25)^2 / 70; webs 2 5 50 / 700."""
    found = section("box", y=50 * MM, z=30 * MM, wall=5 * MM)
    assert constants(found) == pytest.approx([700, 85833.33, 205833.33, 180803.57, 5 / 7, 3 / 7], rel=1e-7)


def test_numbers_as_given_and_what_they_leave_out() -> None:
    """Without Iy it is Iz, without J it is Iy + Iz; 5/6 for the shear factors (the file's default)."""
    given = Section.model_validate({"properties": {"area": 2, "Iz": 3}}).properties
    assert given is not None and (given.ky.text, given.kz.text) == ("5/6", "5/6")
    found = section("properties", area=2, Iy=None, Iz=3, J=None, ky=0.5, kz=0.25)
    assert [found.area, found.Iy, found.Iz, found.J, found.ky, found.kz] == [2, 3, 3, 6, 0.5, 0.25]
    found = section("properties", area=2, Iy=5, Iz=3, J=7, ky=0.5, kz=0.25)
    assert [found.Iy, found.J, found.polar] == [5, 7, 8]


def test_shear_factors_follow_poissons_ratio() -> None:
    """nu = 0: 5/6 of a rectangle, 6/7 of a circle."""
    assert section("rectangle", 0.0, y=1.0, z=2.0).ky == pytest.approx(5 / 6)
    assert section("circle", 0.0, diameter=1.0).kz == pytest.approx(6 / 7)
    assert math.isclose(section("rectangle", 0.33, y=1.0, z=2.0).ky, 13.3 / 15.63)
