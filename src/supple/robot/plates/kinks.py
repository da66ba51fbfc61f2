"""Where the curvature of a Kirchhoff plate may jump: across straight or round edges of patches, and across stiffeners.

Argyris' triangle has one curvature per vertex. Moments are continuous, so where the thickness jumps the curvature across the
line jumps too; held together it converges like the triangles' size only. Each vertex on such a line gets one unknown more,
the jump, which bends the triangles on one side of the line. Slopes stay continuous, for it is zero along the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.robot.bodies.record import Array
from supple.robot.plates.levels import Level

_STRAIGHT = 1e-6
_INWARD = 0.2  # rad


@dataclass(frozen=True)
class Kinks:
    """Vertices whose curvature jumps, and per local vertex and triangle the number of the jump it takes part in (or -1)."""

    vertices: Array
    normals: Array  # K x 2
    number: Array  # 3 x T

    def columns(self, made: Any, fields: list[Any], cells: Array, per_cell: int) -> tuple[Array, Array, Array]:
        """Data, rows and numbers of jumps of a quantity `made(field)` of the shape functions in cells."""
        data, rows, columns = [], [], []
        for k in range(3):
            chosen = np.flatnonzero(self.number[k, cells] >= 0)
            own = self.number[k, cells[chosen]]
            x, y = self.normals[own].T[:, :, None]
            parts = (np.broadcast_to(made(fields[6 * k + 3 + i]), (len(cells), per_cell))[chosen] for i in range(3))
            xx, xy, yy = parts
            data.append((x * x * xx + x * y * xy + y * y * yy).ravel())
            rows.append((chosen[:, None] * per_cell + np.arange(per_cell)).ravel())
            columns.append(np.repeat(own, per_cell))
        return np.concatenate(data), np.concatenate(rows), np.concatenate(columns)


def kinks(level: Level) -> Kinks:
    """The kinks of a mesh with patches or stiffeners."""
    mesh = level.mesh
    lines: dict[int, list[Array]] = {}
    for a, b in mesh.facets[:, level.inner_sides()].T:
        along = mesh.p[:, b] - mesh.p[:, a]
        lines.setdefault(int(a), []).append(along)
        lines.setdefault(int(b), []).append(-along)
    centres = {v: np.array(t.circle[:2]) for t in level.tracked if t.circle is not None for v in t.points}
    edge = set(mesh.boundary_nodes().tolist())
    found: dict[int, Array] = {}
    for v, sides in lines.items():
        s = sides[0] / np.linalg.norm(sides[0])
        turn = float(s @ sides[-1]) / float(np.linalg.norm(sides[-1]))
        if len(sides) == 2 and v in centres:
            out = mesh.p[:, v] - centres[v]
            found[v] = out / np.linalg.norm(out)
        elif (len(sides) == 2 and v not in edge and turn < _STRAIGHT - 1) or (len(sides) == 1 and v in edge):
            found[v] = np.array([-s[1], s[0]])
    vertices, normals = np.array(list(found), dtype=int), np.array(list(found.values())).reshape(-1, 2)
    place = np.full(mesh.p.shape[1], -1)
    place[vertices] = np.arange(len(vertices))
    number = place[mesh.t]
    middle = mesh.p[:, mesh.t].mean(axis=1)
    for k in range(3):
        own = number[k]
        off = middle - mesh.p[:, mesh.t[k]]
        beyond = np.einsum("ct,tc->t", off, normals[own]) > 0 if len(vertices) else own > 0
        number[k] = np.where((own >= 0) & beyond, own, -1)
    return Kinks(vertices, normals, number)


def singular(level: Level) -> Array:
    """Vertices near which no polynomial fits: corners that point into the plate, corners of patches, ends of stiffeners."""
    mesh = level.mesh
    angles = np.zeros(mesh.p.shape[1])
    for k in range(3):
        u, v = (mesh.p[:, mesh.t[(k + i) % 3]] - mesh.p[:, mesh.t[k]] for i in (1, 2))
        np.add.at(angles, mesh.t[k], np.abs(np.arctan2(u[0] * v[1] - u[1] * v[0], (u * v).sum(axis=0))))
    round_ones = {v for t in level.tracked for v in t.points}
    inward = {int(v) for v in mesh.boundary_nodes() if angles[v] > np.pi + _INWARD} - round_ones
    smooth = set(kinks(level).vertices.tolist())
    return np.array(sorted(inward | (set(mesh.facets[:, level.inner_sides()].ravel().tolist()) - smooth)), dtype=int)
