"""Outlines of cross-sections: closed rows of points with normals, corners twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.results.scene import Array
from supple.robot.bodies.section import CrossSection
from supple.scene.surfaces import ROUND


@dataclass(frozen=True)
class Loop:
    """A closed row of points (y, z) of a section with normals; `corners`: points whose line along the beam is sharp."""

    points: Array  # P x 2
    normals: Array
    corners: tuple[int, ...]


def outlines(section: CrossSection, sides: int = ROUND) -> tuple[Loop, Loop | None]:
    """The outer outline of a section and the inner one of a hollow section, with as many points each; `sides`: of what is
    round."""
    form, sizes = section.form[0], [float(x) for x in section.form[1]]
    if form == "circle":
        return _circle(sizes[0] / 2, 1.0, sides), None
    if form == "tube":
        return _circle(sizes[0] / 2, 1.0, sides), _circle(max(sizes[0] / 2 - sizes[1], 0.0), -1.0, sides)
    if form == "rectangle":
        return _rectangle(sizes[0], sizes[1], 1.0), None
    if form == "box":
        y, z, wall = sizes
        return _rectangle(y, z, 1.0), _rectangle(max(y - 2 * wall, 0.0), max(z - 2 * wall, 0.0), -1.0)
    y, z = (float(np.sqrt(12 * float(x) / float(section.area))) for x in (section.Iz, section.Iy))
    return _rectangle(y, z, 1.0), None  # of numbers only: the rectangle with the same radii of gyration


def reach(section: CrossSection) -> float:
    """How far the section's outline is from its middle, at most."""
    return float(np.linalg.norm(outlines(section)[0].points, axis=1).max())


def _circle(radius: float, outward: float, sides: int) -> Loop:
    angle = 2 * np.pi * np.arange(sides) / sides
    out = np.column_stack([np.cos(angle), np.sin(angle)])
    return Loop(radius * out, outward * out, ())


def _rectangle(y: float, z: float, outward: float) -> Loop:
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array([y, z]) / 2
    sides = np.array([[0, 1], [-1, 0], [0, -1], [1, 0]], dtype=float)
    points = np.vstack([corners[[k, (k + 1) % 4]] for k in range(4)])
    return Loop(points, outward * np.repeat(sides, 2, axis=0), (0, 2, 4, 6))
