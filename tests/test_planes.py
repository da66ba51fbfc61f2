"""Planar robots in the planes xy, xz and yz: the same machine has the same frequencies and forces, its platform included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.api import Robot
from supple.errors import RobotFileError

AXES = {"xy": "xyz", "xz": "xzy", "yz": "yzx"}  # base axes in the place of x, y and the normal


def place(plane: str, x: float, y: float) -> str:
    made = dict.fromkeys("xyz", 0.0) | dict(zip(AXES[plane], (x, y), strict=False))
    return f"[{made['x']}, {made['y']}, {made['z']}]"


def robot(plane: str, joint: str = "revolute", moment: str | None = None) -> str:
    """A platform on three rods of unequal length, the third of two pieces, in some plane."""
    x, y, n = AXES[plane]
    turn = f"-{n}" if plane == "xz" else n
    first = {"xy": "x", "xz": "x", "yz": "y"}[plane]
    at = {
        k: place(plane, *xy)
        for k, xy in {"p": (0, 0.4), "a": (-0.06, 0), "b": (0.06, 0), "c": (0, 0.08), "t": (0.02, 0.05)}.items()
    }
    return f"""
name: prr
space: planar
plane: {plane}
gravity: {place(plane, 1.0, -9.81)}
materials: {{al: {{E: 71 GPa, rho: 2720 kg/m^3, nu: 0.33}}}}
sections:
  flat: {{rectangle: {{y: 9 mm, z: 30 mm}}}}
  thick: {{rectangle: {{y: 14 mm, z: 30 mm}}}}
bodies:
  shoe: {{rigid: {{mass: 0.7 kg}}}}
  rod1: {{beam: {{length: 450 mm, section: flat, material: al, axis: {first}}}}}
  rod2: {{beam: {{length: 520 mm, section: flat, material: al, axis: {first}}}}}
  low: {{beam: {{length: 200 mm, section: thick, material: al, axis: {first}}}}}
  high: {{beam: {{length: 290 mm, section: flat, material: al, axis: {first}}}}}
  plate: {{rigid: {{mass: 2.2 kg, centre: {at["a"]}, inertia: {{{moment or 2 * n}: 0.006}}}}}}
platform: {{body: plate, at: {at["p"]}}}
links:
  c1: {{parent: base, joint: prismatic, axis: {x}, q: s1, body: shoe}}
  c2: {{parent: base, joint: prismatic, axis: {x}, q: s2, body: shoe}}
  c3: {{parent: base, joint: prismatic, axis: {x}, q: s3, body: shoe}}
  r1: {{parent: c1, joint: revolute, axis: "{turn}", q: a1, body: rod1}}
  r2: {{parent: c2, joint: revolute, axis: "{turn}", q: a2, body: rod2}}
  r3: {{parent: c3, joint: revolute, axis: "{turn}", q: a3, body: low}}
  r3b: {{parent: r3, on: end, body: high}}
closures:
  p1: {{joint: {joint}, from: {{link: platform, at: {at["a"]}}}, to: {{link: r1, on: end}}}}
  p2: {{joint: revolute, from: {{link: platform, at: {at["b"]}}}, to: {{link: r2, on: end}}}}
  p3: {{joint: revolute, from: {{link: r3b, on: end}}, to: {{link: platform, at: {at["c"]}}}}}
actuators: {{s1: {{}}, s2: {{}}, s3: {{}}}}
points: {{tool: {{link: platform, at: {at["t"]}}}}}
assembly: {{up: {{a1: 60 deg, a2: 120 deg, a3: 75 deg, s1: -0.26, s2: 0.4, s3: -0.1}}}}
home: {{{x}: 0, {y}: 0.4, r: 0.1}}
"""


def read(folder: Path, text: str) -> Robot:
    file = folder / "prr.yaml"
    file.write_text(text)
    return Robot(file)


@pytest.mark.parametrize("plane", ["xz", "yz"])
def test_planes_differ_by_names_only(plane: str, tmp_path: Path) -> None:
    usual, turned = read(tmp_path, robot("xy")), read(tmp_path, robot(plane))
    f, g = usual.modes(count=8), turned.modes(count=8)
    assert g.frequencies_hz == pytest.approx(f.frequencies_hz, rel=1e-9)
    order = ["xyz".index(letter) for letter in AXES[plane]]
    there = turned.check().points["tool"]
    assert np.array(there)[order] == pytest.approx(usual.check().points["tool"], abs=1e-9)
    assert there["xyz".index(AXES[plane][2])] == 0


@pytest.mark.parametrize("plane", AXES)
def test_points_of_a_platform_are_in_the_axes_of_the_base(plane: str, tmp_path: Path) -> None:
    """Turned by 0.1 rad from the first axis to the second, about (0, 0.4)."""
    found = read(tmp_path, robot(plane)).check().points["tool"]
    c, s = np.cos(0.1), np.sin(0.1)
    x, y = (found["xyz".index(letter)] for letter in AXES[plane][:2])
    assert (x, y) == pytest.approx((0.02 * c - 0.05 * s, 0.4 + 0.02 * s + 0.05 * c), abs=1e-9)


@pytest.mark.parametrize("plane", AXES)
def test_inertia_about_another_axis_is_refused(plane: str, tmp_path: Path) -> None:
    own, other = 2 * AXES[plane][2], 2 * AXES[plane][0]
    with pytest.raises(RobotFileError, match=f"its inertia has no {own}.*in the plane {plane} here; give {own}"):
        read(tmp_path, robot(plane, moment=other)).check()


@pytest.mark.parametrize("joint", ["prismatic", "planar", "point_on_plane"])
def test_joints_that_hold_nothing_in_the_plane_are_refused(joint: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=f"the z axis of this {joint} joint is the normal of the plane xy; turn it"):
        read(tmp_path, robot("xy", joint)).check()
