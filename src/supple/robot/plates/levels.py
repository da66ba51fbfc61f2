"""Meshes of a plate, one finer than the other: points on circles stay on them, triangles keep their patch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.plates.figure import Tracked
from supple.robot.plates.mesh import distances, skfem, triangle_areas


@dataclass(frozen=True)
class Level:
    """A mesh in units of the plate's size, the patch of every triangle, and the circles through its points.

    A graded mesh has triangles of very different sizes."""

    mesh: Any  # skfem.MeshTri
    patches: Array
    tracked: tuple[Tracked, ...] = ()
    graded: bool = False
    lines: tuple[Array, ...] = ()  # 2 x 2: ends of stiffeners

    def refined(self, marked: Array | None = None) -> Level:
        """Every triangle cut into four, or at least the marked ones cut."""
        finer = self.mesh.refined() if marked is None else self.mesh.refined(marked)
        patches = self.patches[_parents(self.mesh, finer)] if self.patches.any() else np.zeros(finer.t.shape[1], dtype=int)
        tracked = tuple(Tracked(_halved(t.points, finer), t.circle) for t in self.tracked)
        return replace(self, mesh=finer, patches=patches, tracked=tracked).round()

    def inner_sides(self) -> Array:
        """Facets between two patches, or on one of the lines."""
        mesh = self.mesh
        first, second = mesh.f2t
        chosen = (second >= 0) & (self.patches[first] != self.patches[second])
        for line in self.lines:
            near = distances(mesh.p.T, line) < 1e-9
            chosen |= (second >= 0) & near[mesh.facets].all(axis=0)
        return np.flatnonzero(chosen)

    def beside(self) -> Array:
        """Triangles with a side on the boundary, between two patches, or on one of the lines."""
        cells = self.mesh.f2t[:, np.union1d(self.mesh.boundary_facets(), self.inner_sides())]
        return np.unique(cells[cells >= 0])

    def slack(self) -> float:
        """How far the sides of circles are from them at most."""
        found = 0.0
        for line in self.tracked:
            assert line.circle is not None
            points = self.mesh.p[:, list(line.points)] - np.array([[line.circle[0]], [line.circle[1]]])
            middles = (points + np.roll(points, -1, axis=1)) / 2
            found = max(found, *(float(np.abs(np.linalg.norm(x, axis=0) - line.circle[2]).max()) for x in (points, middles)))
        return found

    def round(self) -> Level:
        """The same with all points of circles on them, at a radius that gives the polygon the circle's area."""
        if not self.tracked:
            return self
        p = self.mesh.p.copy()
        for line in self.tracked:
            assert line.circle is not None
            x, y, r = line.circle
            out = p[:, list(line.points)] - np.array([[x], [y]])
            turns = np.arctan2(out[1], out[0])
            radius = r * _widened(np.diff(np.append(turns, turns[0])))
            p[:, list(line.points)] = np.array([[x], [y]]) + radius * np.array([np.cos(turns), np.sin(turns)])
        if (triangle_areas(p.T, self.mesh.t.T) * triangle_areas(self.mesh.p.T, self.mesh.t.T) <= 0).any():
            raise SuppleError("a circle is so near to another edge that its polygon would cross it; leave more between them")
        return replace(self, mesh=skfem().MeshTri(p, self.mesh.t))


def _widened(steps: Array) -> Array:
    """Radii of the corners of a polygon of the unit circle's area, wider only where its sides are long.

    Beside a narrow web between a hole and an edge sides are short, and corners must not leave the circle by more than it."""
    steps = np.abs(np.arctan2(np.sin(steps), np.cos(steps)))
    each = steps / np.sin(steps)
    radii = np.sqrt((each + np.roll(each, 1)) / 2)
    area = float(np.sum(radii * np.roll(radii, -1) * np.sin(steps))) / 2
    return np.asarray(radii * np.sqrt(np.pi / area))


def _halved(loop: tuple[int, ...], finer: Any) -> tuple[int, ...]:
    """The loop with the points that a refinement put between its points."""
    n = finer.p.shape[1]
    ends = np.sort(finer.facets, axis=0)
    known = set((ends[0].astype(np.int64) * n + ends[1]).tolist())
    made = []
    for a, b in pairwise([*loop, loop[0]]):
        made.append(a)
        if min(a, b) * n + max(a, b) not in known:
            middle = (finer.p[:, a] + finer.p[:, b]) / 2
            made.append(int(np.argmin(((finer.p - middle[:, None]) ** 2).sum(axis=0))))
    return tuple(made)


def _parents(coarse: Any, finer: Any) -> Array:
    """The coarse triangle that every finer one came from."""
    a, b, c = (coarse.p[:, coarse.t[k]] for k in range(3))
    det = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    found = []
    for x, y in finer.p[:, finer.t].mean(axis=1).T:
        s = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / det
        r = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / det
        found.append(int(np.argmax(np.minimum(np.minimum(s, r), 1 - s - r))))
    return np.array(found)


def boundary_loops(mesh: Any) -> list[list[int]]:
    """Closed lines of boundary points, the outline (the longest way around) first."""
    facets = mesh.facets[:, mesh.boundary_facets()].T
    following: dict[int, list[int]] = {}
    for a, b in facets:
        following.setdefault(int(a), []).append(int(b))
        following.setdefault(int(b), []).append(int(a))
    loops: list[list[int]] = []
    left = dict.fromkeys(int(v) for v in facets.ravel())
    while left:
        start = next(iter(left))
        loop, before = [start], -1
        while True:
            step = [v for v in following[loop[-1]] if v != before]
            before = loop[-1]
            loop.append(step[0])
            if loop[-1] == start or len(loop) > len(facets):
                break
        for v in loop:
            left.pop(v, None)
        loops.append(loop)
    return sorted(loops, key=lambda loop: -float(np.ptp(mesh.p[:, loop], axis=1).max()))
