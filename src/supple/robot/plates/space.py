"""Finite elements of a plate on one mesh: scalar shape functions, their matrices, and their values anywhere.

Mindlin: deflection w and slopes (p, s) of the normal, all quartic, which does not lock. Kirchhoff: w alone, by Argyris'
quintic triangle, whose slopes are continuous. Lengths are divided by the plate's size so that both stay well scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.plates.argyris import local_argyris, side_normals
from supple.robot.plates.delaunay import inside
from supple.robot.plates.kinks import kinks
from supple.robot.plates.levels import Level, boundary_loops
from supple.robot.plates.mesh import skfem
from supple.robot.sparse import Matrix

OUTSIDE = 1e-6  # of the plate's size: further out is not on the plate


@dataclass(frozen=True)
class Values:
    """Rows of values, slopes and curvatures of the scalar shape functions at points (each P x ns)."""

    value: Matrix
    slope: tuple[Matrix, Matrix]
    curvature: dict[str, Matrix]  # xx, xy, yy; Kirchhoff only


class PlateSpace:
    """Scalar shape functions over a triangle mesh, in metres."""

    def __init__(self, level: Level, size: float, element: str) -> None:
        fem = skfem()
        self.level = level
        self.mesh = mesh = level.mesh  # in units of size
        self.size = size
        self.outside = max(OUTSIDE, 1.5 * level.slack())
        self.kirchhoff = element == "kirchhoff"
        self.basis = fem.Basis(mesh, local_argyris() if self.kirchhoff else fem.ElementTriP4(), intorder=8)
        self.kinks = kinks(level) if self.kirchhoff and level.graded else None
        self.count = int(self.basis.N) + (0 if self.kinks is None else len(self.kinks.vertices))

    def form(self, integrand: Any) -> Matrix:
        made: Matrix = sparse.csr_matrix(skfem().BilinearForm(integrand).assemble(self.basis))
        return made

    @cached_property
    def products(self) -> Matrix:
        """int u v dA."""
        return self.size**2 * self.form(lambda u, v, w: u * v)

    @cached_property
    def slopes(self) -> dict[str, Matrix]:
        """int u_i v_j dA by their letters: row v, column u."""
        letters = "xy"
        return {
            letters[i] + letters[j]: self.form(lambda u, v, w, i=i, j=j: u.grad[i] * v.grad[j])
            for i in range(2)
            for j in range(2)
        }

    @cached_property
    def mixed(self) -> dict[str, Matrix]:
        """int u_i v dA: row v, column u."""
        return {a: self.size * self.form(lambda u, v, w, i=i: u.grad[i] * v) for i, a in enumerate("xy")}

    def curvatures(self, D: float, nu: float) -> Matrix:
        """Bending energy of a Kirchhoff plate."""

        def integrand(u: Any, v: Any, w: Any) -> Any:
            H, G = u.hess, v.hess
            both = H[0, 0] * G[0, 0] + H[1, 1] * G[1, 1] + 2 * H[0, 1] * G[0, 1]
            return (1 - nu) * both + nu * (H[0, 0] + H[1, 1]) * (G[0, 0] + G[1, 1])

        return D / self.size**2 * self.form(integrand)

    @cached_property
    def linear(self) -> Array:
        """Coefficients of 1, x and y (ns x 3)."""
        if not self.kirchhoff:
            x, y = self.basis.doflocs * self.size
            return np.column_stack([np.ones(self.count), x, y])
        made, h = np.zeros((self.count, 3)), self.size
        nodal, facet = self.basis.nodal_dofs, self.basis.facet_dofs[0]
        made[nodal[0], 0] = 1
        for k in range(2):
            made[nodal[0], 1 + k], made[nodal[1 + k], 1 + k] = h * self.mesh.p[k], h
            made[facet, 1 + k] = h * side_normals(self.mesh)[k]
        return made

    # Values at points -------------------------------------------------------------------------------------------------

    def find(self, points: Array) -> tuple[Array, Array]:
        """The triangle of every point (metres), and the points moved onto the plate by rounding."""
        p, t = self.mesh.p, self.mesh.t
        a, b, c = (p[:, t[k]] for k in range(3))
        det = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        cells, local = [], []
        for x, y in np.asarray(points, dtype=float) / self.size:
            s = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / det
            r = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / det
            inner = np.minimum(np.minimum(s, r), 1 - s - r)
            best = int(np.argmax(inner))
            if inner[best] * np.sqrt(abs(det[best])) < -self.outside:
                raise SuppleError(f"({x * self.size:g}, {y * self.size:g}) is not on the plate")
            cells.append(best)
            local.append((s[best], r[best]))
        return np.array(cells, dtype=int), np.array(local, dtype=float).reshape(-1, 2)

    def values(self, points: Array, cells: Array | None = None) -> Values:
        """Values at points (metres), of given cells where a point lies between two."""
        found, local = self.find(points) if cells is None else (cells, self._local(points, cells))
        X = local.T[:, :, None]
        elem, mapping = self.basis.elem, self.basis.mapping
        return self._rows([elem.gbasis(mapping, X, i, tind=found)[0] for i in range(self.basis.Nbfun)], found)

    @cached_property
    def everywhere(self) -> tuple[Values, Array, Array, Array]:
        """Values at the points of a quadrature over the plate, the points, their weights (areas) and triangles."""
        cells = np.arange(self.mesh.t.shape[1])
        made = self._rows([field[0] for field in self.basis.basis], cells)
        x = np.asarray(self.basis.global_coordinates()) * self.size
        per_cell = self.basis.dx.shape[1]
        points = x.reshape(2, -1).T
        return made, points, self.basis.dx.ravel() * self.size**2, np.repeat(cells, per_cell)

    def _rows(self, fields: list[Any], cells: Array) -> Values:
        """Values of the local shape functions in cells (each C x points per cell) as rows."""
        n, per_cell = len(fields), np.asarray(fields[0]).shape[-1]
        rows = np.tile(np.arange(len(cells) * per_cell), n)
        columns = np.concatenate([np.repeat(self.basis.element_dofs[i, cells], per_cell) for i in range(n)])

        def made(pick: Any, unit: float) -> Matrix:
            data = np.concatenate([np.broadcast_to(pick(f), (len(cells), per_cell)).ravel() for f in fields]) / unit
            where = rows, columns
            if self.kinks is not None:
                more, at, number = self.kinks.columns(pick, fields, cells, per_cell)
                data = np.concatenate([data, more / unit])
                where = np.concatenate([rows, at]), np.concatenate([columns, int(self.basis.N) + number])
            matrix: Matrix = sparse.csr_matrix((data, where), (len(cells) * per_cell, self.count))
            return matrix

        h = self.size
        slope = made(lambda f: f.grad[0], h), made(lambda f: f.grad[1], h)
        curvature = {}
        if self.kirchhoff:
            for key, i, j in (("xx", 0, 0), ("xy", 0, 1), ("yy", 1, 1)):
                curvature[key] = made(lambda f, i=i, j=j: f.hess[i, j], h**2)
        return Values(made(np.asarray, 1.0), slope, curvature)

    def _local(self, points: Array, cells: Array) -> Array:
        x = (np.asarray(points, dtype=float) / self.size).T[:, :, None]
        return np.asarray(self.basis.mapping.invF(x, tind=cells))[:, :, 0].T

    # Edges ------------------------------------------------------------------------------------------------------------

    def edge(self, first: Array, last: Array) -> tuple[Array, Array]:
        """Facets and vertices of the boundary on the line between two points (metres)."""
        a, b = np.asarray(first) / self.size, np.asarray(last) / self.size
        if np.linalg.norm(b - a) < OUTSIDE:
            raise SuppleError("the two points of an edge are the same")
        along = (b - a) / np.linalg.norm(b - a)
        facets = self.mesh.boundary_facets()
        ends = self.mesh.p[:, self.mesh.facets[:, facets]]  # 2 x 2 x F
        off = ends - a[:, None, None]
        across = np.abs(off[0] * along[1] - off[1] * along[0])
        run = off[0] * along[0] + off[1] * along[1]
        on = ((across < OUTSIDE) & (run > -OUTSIDE) & (run < np.linalg.norm(b - a) + OUTSIDE)).all(axis=0)
        chosen = facets[on]
        length = np.linalg.norm(ends[:, 0, on] - ends[:, 1, on], axis=0).sum()
        if not len(chosen) or length < (1 - 1e-3) * np.linalg.norm(b - a):
            raise SuppleError("the two points of an edge must lie on the same straight edge of the plate")
        return chosen, np.unique(self.mesh.facets[:, chosen])

    def rim(self, point: Array) -> tuple[Array, Array]:
        """Facets and vertices of the boundary of the hole around a point (metres), the vertices in order."""
        for loop in boundary_loops(self.mesh)[1:]:
            if inside(np.asarray(point)[None] / self.size, self.mesh.p[:, loop[:-1]].T)[0]:
                ends = np.sort(self.mesh.facets, axis=0)
                n = self.mesh.p.shape[1]
                sides = np.sort([loop[:-1], loop[1:]], axis=0)
                chosen = np.flatnonzero(np.isin(ends[0] * n + ends[1], sides[0] * n + sides[1]))
                return chosen, np.array(loop[:-1])
        raise SuppleError(f"there is no hole around ({point[0]:g}, {point[1]:g})")
