"""The figure of a plate: outline, holes, patches of another thickness, and its triangles.

Circles are polygons of the same area; every refinement puts more corners on them (`levels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from supple.robot.bodies.record import Array
from supple.robot.plates.delaunay import Border, inside, triangulated
from supple.robot.plates.mesh import TOUCH, crossing_edges, distances, polygon_area, polygon_centroid

_SIDES = 8, 24  # of a circle in the first mesh: a small one, and one as large as the plate
_COARSE = 6  # triangles that an area is worth in the first mesh


@dataclass(frozen=True)
class Polygon:
    corners: Array  # P x 2

    @property
    def area(self) -> float:
        return abs(polygon_area(self.corners))

    @property
    def centroid(self) -> Array:
        return polygon_centroid(self.corners)

    def contains(self, points: Array) -> Array:
        return inside(points, self.corners)

    def away(self, points: Array) -> Array:
        """Distances of points from the edge."""
        return distances(points, self.corners)

    def ring(self, size: float, ends: Array) -> Border:
        """The corners, counter-clockwise."""
        return Border(self.corners if polygon_area(self.corners) > 0 else self.corners[::-1])


@dataclass(frozen=True)
class Circle:
    centre: Array
    radius: float

    @property
    def area(self) -> float:
        return float(np.pi * self.radius**2)

    @property
    def centroid(self) -> Array:
        return self.centre

    def contains(self, points: Array) -> Array:
        return np.asarray(np.linalg.norm(points - self.centre, axis=1) < self.radius)

    def away(self, points: Array) -> Array:
        made: Array = np.abs(np.linalg.norm(points - self.centre, axis=1) - self.radius)
        return made

    def ring(self, size: float, ends: Array) -> Border:
        """Points on the circle, more for larger ones of a plate of a size, and those of the ends of lines on it."""
        fewest, most = _SIDES
        sides = 2 * round(np.clip(most * np.sqrt(2 * self.radius / size), fewest, most) / 2)
        out = ends[self.away(ends) < TOUCH * size] - self.centre if len(ends) else np.zeros((0, 2))
        given = np.unique(np.round(np.arctan2(out[:, 1], out[:, 0]), 9)) if len(out) else np.zeros(1)
        turns: list[float] = []
        for first, last in pairwise([*given, given[0] + 2 * np.pi]):
            count = max(1, round(sides * (last - first) / (2 * np.pi)))
            turns += [first + (last - first) * k / count for k in range(count)]
        points = self.centre + self.radius * np.column_stack([np.cos(turns), np.sin(turns)])
        return Border(points, (float(self.centre[0]), float(self.centre[1]), self.radius))


Loop = Polygon | Circle


@dataclass(frozen=True)
class Figure:
    """An outline, holes in it, patches on it, and lines that edges of triangles should follow."""

    outline: Loop
    holes: tuple[Loop, ...] = ()
    patches: tuple[Loop, ...] = ()
    lines: tuple[tuple[Array, Array], ...] = ()

    @property
    def size(self) -> float:
        outline = self.outline
        return 2 * outline.radius if isinstance(outline, Circle) else float(np.ptp(outline.corners, axis=0).max())

    @property
    def area(self) -> float:
        return self.outline.area - sum(h.area for h in self.holes)

    @property
    def centroid(self) -> Array:
        moment = self.outline.area * self.outline.centroid - sum((h.area * h.centroid for h in self.holes), np.zeros(2))
        return np.asarray(moment / self.area)


@dataclass(frozen=True)
class Tracked:
    """A closed line through points of a mesh; a circle's points stay on it (centre, radius) as the mesh gets finer."""

    points: tuple[int, ...]
    circle: tuple[float, float, float] | None


@dataclass(frozen=True)
class FigureMesh:
    """Points, triangles, the number of every triangle's patch (0: none), and the circles through its points."""

    points: Array
    triangles: Array
    patches: Array
    tracked: tuple[Tracked, ...]


def figure_mesh(figure: Figure) -> FigureMesh:
    """Triangles of a figure, as coarse as its holes allow."""
    size = figure.size
    ends: Array = np.array(figure.lines, dtype=float).reshape(-1, 2)
    outline = figure.outline.ring(size, ends)
    holes, patches = [h.ring(size, ends) for h in figure.holes], [p.ring(size, ends) for p in figure.patches]
    lines = [Border(np.array(line), closed=False) for line in figure.lines]
    longest = 2 * np.sqrt(figure.outline.area / _COARSE)
    made = triangulated(outline, holes, [*patches, *lines], longest)
    rings = [outline, *holes, *patches]
    tracked = tuple(Tracked(v, r.circle) for v, r in zip(made.rings, rings, strict=False) if r.circle is not None)
    middles = made.points[made.triangles].mean(axis=1)
    number = np.zeros(len(middles), dtype=int)
    for k, vertices in enumerate(made.rings[1 + len(holes) : 1 + len(holes) + len(patches)]):
        number[inside(middles, made.points[list(vertices)])] = k + 1
    return FigureMesh(made.points, made.triangles, number, tracked)


# What fits together ---------------------------------------------------------------------------------------------------


def faults(figure: Figure) -> list[tuple[str, int, str]]:
    """What does not fit: key, number in its list, and why."""
    near = TOUCH * figure.size
    found: list[tuple[str, int, str]] = []
    for i, hole in enumerate(figure.holes):
        if _relation(hole, figure.outline, near) != "within":
            found.append(("holes", i, "is not within the outline, or touches it; cut the outline itself, or move the hole"))
        for j, other in enumerate(figure.holes[:i]):
            if _relation(hole, other, near) != "apart":
                found.append(("holes", i, f"overlaps or touches hole {j} of the list; make one hole of both"))
    for i, patch in enumerate(figure.patches):
        text = _patch_fault(patch, i, figure, near)
        if text:
            found.append(("patches", i, text))
    return found


def _patch_fault(patch: Loop, number: int, figure: Figure, near: float) -> str | None:
    if not _covered(patch, figure.outline, near):
        return "is not within the outline; it may end at a straight edge, but not beyond"
    for j, hole in enumerate(figure.holes):
        if _relation(hole, patch, near) not in ("apart", "within"):
            return f"crosses or touches the edge of hole {j} of the list; end before it, or enclose it"
    for j, other in enumerate(figure.patches[:number]):
        both = isinstance(patch, Polygon) and isinstance(other, Polygon)
        if _properly_cross(patch, other) if both else _relation(patch, other, near) == "cross":
            return f"crosses patch {j} of the list; give the parts one by one"
    return None


def _relation(a: Loop, b: Loop, near: float) -> str:
    """apart, within (a in b), around (b in a) or cross, which includes touching."""
    if _gap(a, b) <= near:
        return "cross"
    if b.contains(_some(a)).all():
        return "within"
    return "around" if a.contains(_some(b)).all() else "apart"


def _some(a: Loop) -> Array:
    return a.corners[:1] if isinstance(a, Polygon) else a.centre[None] + np.array([[a.radius, 0.0]])


def _gap(a: Loop, b: Loop) -> float:
    """Smallest distance between two edges; 0 if they cross."""
    if isinstance(a, Circle) and isinstance(b, Circle):
        apart = float(np.linalg.norm(a.centre - b.centre))
        return max(apart - a.radius - b.radius, abs(a.radius - b.radius) - apart, 0.0)
    if isinstance(b, Circle):
        a, b = b, a
    if isinstance(a, Circle):
        assert isinstance(b, Polygon)
        nearest = float(b.away(a.centre[None])[0])
        farthest = float(np.linalg.norm(b.corners - a.centre, axis=1).max())
        return max(nearest - a.radius, a.radius - farthest, 0.0)
    assert isinstance(b, Polygon)
    return 0.0 if _properly_cross(a, b) else float(min(a.away(b.corners).min(), b.away(a.corners).min()))


def _properly_cross(a: Loop, b: Loop) -> bool:
    assert isinstance(a, Polygon) and isinstance(b, Polygon)
    return crossing_edges(a.corners, b.corners)


def _covered(a: Loop, b: Loop, near: float) -> bool:
    """Whether a is within b or ends at its straight edges."""
    if isinstance(a, Circle) or isinstance(b, Circle):
        return _relation(a, b, near) == "within"
    points = np.vstack([a.corners, (a.corners + np.roll(a.corners, -1, axis=0)) / 2])
    return bool((b.contains(points) | (b.away(points) <= near)).all()) and not _properly_cross(a, b)


def off(points: Sequence[Sequence[float]], figure: Figure) -> list[str | None]:
    """For every point why it is not on the plate, if it is not."""
    p, near = np.array(points, dtype=float).reshape(-1, 2), TOUCH * figure.size
    found: list[str | None] = []
    out = ~figure.outline.contains(p) & (figure.outline.away(p) > near)
    for k in range(len(p)):
        here = p[[k]]
        own = [j for j, h in enumerate(figure.holes) if h.contains(here)[0] and h.away(here)[0] > near]
        where = f"({p[k, 0]:g}, {p[k, 1]:g})"
        text = f"{where} is not on the plate" if out[k] else None
        found.append(f"{where} lies in hole {own[0]} of the list" if own else text)
    return found


def crossed(a: Array, b: Array, figure: Figure) -> int | None:
    """The number of a hole that a line crosses."""
    for j, hole in enumerate(figure.holes):
        if isinstance(hole, Circle):
            if distances(hole.centre[None], np.array([a, b]))[0] < hole.radius * (1 - TOUCH):
                return j
        elif crossing_edges(np.array([a, b]), hole.corners) or hole.contains((a + b)[None] / 2)[0]:
            return j
    return None


def leaves_plate(a: Array, b: Array, figure: Figure) -> bool:
    """Whether a line between two points of the plate is outside of it for a while."""
    outline = figure.outline
    if isinstance(outline, Circle):
        return False
    middle = (a + b)[None] / 2
    outside = not outline.contains(middle)[0] and outline.away(middle)[0] > TOUCH * figure.size
    short = 2 * TOUCH * figure.size / np.linalg.norm(b - a) * (b - a)  # its ends may lie on the outline
    return bool(outside or crossing_edges(np.array([a + short, b - short]), outline.corners))
