"""Triangles of a plane figure with holes and inner lines, by Delaunay refinement (Ruppert, J. Algorithms 18, 1995).

Points are added until every given side is a union of edges and no angle is small: a side is halved if a point lies within
the circle on it, and a bad triangle gets the centre of its circumcircle. Sides that meet at a sharp angle are halved on
circles around their corner (Ruppert's shells), or they would halve each other without end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array

_MOST = 6000  # points
_SHARPEST = np.deg2rad(24.0)  # smaller angles are bad, but at corners that are as sharp themselves


@dataclass(frozen=True)
class Border:
    """A line, closed or open: its corners, or points on a circle (centre, radius)."""

    points: Array  # P x 2
    circle: tuple[float, float, float] | None = None
    closed: bool = True


@dataclass(frozen=True)
class Triangles:
    """Points, triangles (counter-clockwise), and per ring the numbers of the points on it, in order."""

    points: Array
    triangles: Array
    rings: tuple[tuple[int, ...], ...]


def inside(p: Array, corners: Array) -> Array:
    """Which points (P x 2) lie within a polygon."""
    x, y = p[:, [0]], p[:, [1]]
    a, b = corners, np.roll(corners, -1, axis=0)
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
    return np.asarray((crosses & (x < at)).sum(axis=1) % 2 == 1)


def triangulated(outline: Border, holes: Sequence[Border], lines: Sequence[Border], size: float) -> Triangles:
    """Triangles between the outline and the holes, with edges along all lines, none much longer than `size`."""
    made = _Refinement([outline, *holes, *lines], 1 + len(holes), size)
    while made.step():
        if len(made.points) > _MOST:
            raise SuppleError("its holes and edges are too close to each other to be meshed; leave more between them")
    return made.result()


class _Refinement:
    def __init__(self, rings: Sequence[Border], solid: int, size: float) -> None:
        self.solid = solid  # so many rings bound material: the outline and the holes
        self.size = size
        self.circles = [r.circle for r in rings]
        self.closed = [r.closed for r in rings]
        self.extent = float(np.ptp(rings[0].points, axis=0).max())
        self.points = np.zeros((0, 2))
        self.rings: list[list[int]] = []
        for ring in rings:
            self.rings.append([self.number(p) for p in ring.points])
        self.meet()
        self.rings = [self.cut(k) for k in range(len(self.rings))]
        self.sharp = self.sharp_corners()

    def pairs(self, k: int) -> list[tuple[int, int]]:
        """The sides of a ring, in order."""
        ring = self.rings[k]
        return list(pairwise([*ring, ring[0]] if self.closed[k] else ring))

    def meet(self) -> None:
        """Adds the points where sides cross."""
        sides = self.points[self.sides()[:, :2]]
        for (a, b), (c, d) in combinations(sides, 2):
            t, u = _crossing(a, b, c, d)
            if 0 < t < 1 and 0 < u < 1:
                self.number(a + t * (b - a))

    def number(self, p: Array) -> int:
        """The number of a point; the same for points at the same place."""
        if len(self.points):
            away = np.linalg.norm(self.points - p, axis=1)
            if away.min() < 1e-9 * self.extent:
                return int(np.argmin(away))
        self.points = np.vstack([self.points, p])
        return len(self.points) - 1

    def cut(self, ring: int) -> list[int]:
        """The ring with all points that lie on it."""
        made: list[int] = []
        for i, j in self.pairs(ring):
            a, d = self.points[i], self.points[j] - self.points[i]
            length = float(np.linalg.norm(d))
            off = self.points - a
            across, along = np.abs(off[:, 0] * d[1] - off[:, 1] * d[0]) / length, off @ d / length
            near = 1e-9 * self.extent
            on = np.flatnonzero((across < near) & (along > near) & (along < length - near))
            made += [i, *(int(k) for k in on[np.argsort(along[on])])]
        return made if self.closed[ring] else [*made, self.rings[ring][-1]]

    def sides(self) -> Array:
        """Every side once (the smaller number first), and a ring it belongs to (S x 3)."""
        found: dict[tuple[int, int], int] = {}
        for k in range(len(self.rings)):
            for i, j in self.pairs(k):
                found.setdefault((min(i, j), max(i, j)), k)
        return np.array([[i, j, k] for (i, j), k in found.items()])

    def sharp_corners(self) -> set[int]:
        """Given corners where two sides meet at less than 60 degrees."""
        found, sides = set(), self.sides()
        for v in range(len(self.points)):
            others = [int(j if i == v else i) for i, j, _ in sides if v in (i, j)]
            turns = np.sort([np.arctan2(*(self.points[o] - self.points[v])[::-1]) for o in others])
            if len(turns) > 1 and np.diff(np.append(turns, turns[0] + 2 * np.pi)).min() < np.deg2rad(60) - 1e-9:
                found.add(v)
        return found

    # One round --------------------------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Whether points had to be added."""
        from scipy.spatial import Delaunay

        sides = self.sides()
        cells = Delaunay(self.points).simplices
        crowded = self.encroached(sides, self.points) | self.missing(sides, cells)
        if crowded.any():
            self.halve(sides[crowded])
            return True
        kept = self.kept(cells)
        bad = self.bad(kept, sides)
        if not len(bad):
            self.cells = kept
            return False
        centres, radii = _circumcircles(self.points[bad])
        chosen: list[int] = []
        for k in range(len(bad)):  # circles that do not meet can be treated in one round
            if all(np.linalg.norm(centres[k] - centres[c]) > radii[k] + radii[c] for c in chosen):
                chosen.append(k)
        crowded = self.encroached(sides, centres[chosen])
        if crowded.any():
            self.halve(sides[crowded])
        else:
            self.points = np.vstack([self.points, centres[chosen]])
        return True

    def encroached(self, sides: Array, points: Array) -> Array:
        """Which sides have one of the points within the circle on them."""
        a, b = self.points[sides[:, 0]], self.points[sides[:, 1]]
        middle, radius = (a + b) / 2, np.linalg.norm(b - a, axis=1) / 2
        away = np.linalg.norm(points[None] - middle[:, None], axis=2)
        return np.asarray((away < (1 - 1e-9) * radius[:, None]).any(axis=1))

    def missing(self, sides: Array, cells: Array) -> Array:
        every = np.sort(np.vstack([cells[:, [0, 1]], cells[:, [1, 2]], cells[:, [2, 0]]]), axis=1)
        n = len(self.points)
        return ~np.isin(sides[:, 0] * n + sides[:, 1], every[:, 0] * n + every[:, 1])

    def halve(self, sides: Array) -> None:
        for i, j, k in sides:
            where = len(self.points)
            self.points = np.vstack([self.points, self.middle(int(i), int(j), self.circles[int(k)])])
            for ring, pairs in [(self.rings[r], self.pairs(r)) for r in range(len(self.rings))]:
                for at, pair in enumerate(pairs):
                    if set(pair) == {int(i), int(j)}:
                        ring.insert(at + 1, where)

    def middle(self, i: int, j: int, circle: tuple[float, float, float] | None) -> Array:
        a, b = self.points[i], self.points[j]
        if circle is not None:
            c = np.array(circle[:2])
            out = (a + b) / 2 - c
            return np.asarray(c + out * np.linalg.norm(a - c) / np.linalg.norm(out))
        if (i in self.sharp) == (j in self.sharp):
            return np.asarray((a + b) / 2)
        if j in self.sharp:
            a, b = b, a
        length = float(np.linalg.norm(b - a))
        shell = 2.0 ** round(np.log2(length / 2 / self.extent)) * self.extent
        return np.asarray(a + (b - a) * shell / length)

    def kept(self, cells: Array) -> Array:
        """Triangles of the material, counter-clockwise."""
        corners = self.points[cells]
        areas = _areas(corners)
        cells = np.where((areas < 0)[:, None], cells[:, [0, 2, 1]], cells)
        middles = corners.mean(axis=1)
        good = inside(middles, self.points[self.rings[0]]) & (np.abs(areas) > 1e-12 * self.extent**2)
        for ring in self.rings[1 : self.solid]:
            good &= ~inside(middles, self.points[ring])
        return np.asarray(cells[good])

    def bad(self, cells: Array, sides: Array) -> Array:
        """Triangles with a small angle or a long side, the worst first."""
        corners = self.points[cells]
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)  # k -> k + 1
        shortest, longest = edges.min(axis=1), edges.max(axis=1)
        _, radii = _circumcircles(corners)
        ratio = shortest / (2 * radii)  # sine of the smallest angle
        at = np.take_along_axis(cells, ((edges.argmin(axis=1) + 2) % 3)[:, None], axis=1)[:, 0]
        blunt = ~np.isin(at, sorted(self.sharp))
        wrong = ((ratio < np.sin(_SHARPEST)) & blunt) | (longest > self.size)
        order = np.argsort(np.where(longest > self.size, self.size / longest, 1.0) * ratio, kind="stable")
        return np.asarray(cells[order][wrong[order]])

    def result(self) -> Triangles:
        used, number = np.unique(self.cells, return_inverse=True)
        place = np.full(len(self.points), -1)
        place[used] = np.arange(len(used))
        rings = tuple(tuple(int(place[k]) for k in ring) for ring in self.rings)
        return Triangles(self.points[used], number.reshape(self.cells.shape), rings)


def _crossing(a: Array, b: Array, c: Array, d: Array) -> tuple[float, float]:
    """Where two lines cross, as parts of a to b and of c to d; outside 0 to 1 if they are parallel."""
    u, v, w = b - a, d - c, c - a
    det = float(u[0] * v[1] - u[1] * v[0])
    if abs(det) < 1e-12 * float(np.linalg.norm(u) * np.linalg.norm(v)):
        return -1.0, -1.0
    return float(w[0] * v[1] - w[1] * v[0]) / det, float(w[0] * u[1] - w[1] * u[0]) / det


def _areas(corners: Array) -> Array:
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.asarray((u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2)


def _circumcircles(corners: Array) -> tuple[Array, Array]:
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    d = 2 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    uu, vv = (u * u).sum(axis=1), (v * v).sum(axis=1)
    out = np.column_stack([v[:, 1] * uu - u[:, 1] * vv, u[:, 0] * vv - v[:, 0] * uu]) / d[:, None]
    return a + out, np.linalg.norm(out, axis=1)
