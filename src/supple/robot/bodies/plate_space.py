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
from scipy.sparse.linalg import splu

from supple.errors import SuppleError
from supple.robot.bodies.plate_mesh import skfem
from supple.robot.bodies.record import Array

Matrix = Any
OUTSIDE = 1e-6  # of the plate's size: further out is not on the plate


@dataclass(frozen=True)
class Values:
    """Rows of values, slopes and curvatures of the scalar shape functions at points (each P x ns)."""

    value: Matrix
    slope: tuple[Matrix, Matrix]
    curvature: dict[str, Matrix]  # xx, xy, yy; Kirchhoff only


class PlateSpace:
    """Scalar shape functions over a triangle mesh, in metres."""

    def __init__(self, mesh: Any, size: float, element: str) -> None:
        fem = skfem()
        self.mesh = mesh  # in units of size
        self.size = size
        self.kirchhoff = element == "kirchhoff"
        self.basis = fem.Basis(mesh, fem.ElementTriArgyris() if self.kirchhoff else fem.ElementTriP4(), intorder=8)
        self.count = int(self.basis.N)

    def form(self, integrand: Any) -> Matrix:
        return sparse.csr_matrix(skfem().BilinearForm(integrand).assemble(self.basis))

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
        solve = splu(sparse.csc_matrix(self.form(lambda u, v, w: u * v)))
        form = skfem().LinearForm
        made = []
        for f in (lambda w: 1.0 + 0 * w.x[0], lambda w: w.x[0], lambda w: w.x[1]):
            load = form(lambda v, w, f=f: f(w) * v).assemble(self.basis)
            c = solve.solve(load)
            for _ in range(3):
                c = c + solve.solve(load - self.form_of_products @ c)
            made.append(c)
        return np.column_stack([made[0], self.size * made[1], self.size * made[2]])

    @cached_property
    def form_of_products(self) -> Matrix:
        return self.form(lambda u, v, w: u * v)

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
            if inner[best] * np.sqrt(abs(det[best])) < -OUTSIDE:
                raise SuppleError(f"({x * self.size:g}, {y * self.size:g}) is not on the plate")
            cells.append(best)
            local.append((s[best], r[best]))
        return np.array(cells, dtype=int), np.array(local, dtype=float).reshape(-1, 2)

    def values(self, points: Array, cells: Array | None = None) -> Values:
        """Values at points (metres), of given cells where a point lies between two."""
        found, local = self.find(points) if cells is None else (cells, self._local(points, cells))
        X = local.T[:, :, None]
        rows = np.arange(len(found))
        parts: dict[str, list[Any]] = {k: [] for k in ("v", "x", "y", "xx", "xy", "yy")}
        for i in range(self.basis.Nbfun):
            field = self.basis.elem.gbasis(self.basis.mapping, X, i, tind=found)[0]
            columns = self.basis.element_dofs[i, found]
            data = {"v": np.asarray(field), "x": field.grad[0] / self.size, "y": field.grad[1] / self.size}
            if self.kirchhoff:
                H = field.hess / self.size**2
                data |= {"xx": H[0, 0], "xy": H[0, 1], "yy": H[1, 1]}
            for key, value in data.items():
                parts[key].append(sparse.csr_matrix((value[:, 0], (rows, columns)), (len(found), self.count)))
        total = {k: sum(v[1:], v[0]) for k, v in parts.items() if v}
        return Values(total["v"], (total["x"], total["y"]), {k: total[k] for k in ("xx", "xy", "yy") if k in total})

    def _local(self, points: Array, cells: Array) -> Array:
        x = (np.asarray(points, dtype=float) / self.size).T[:, :, None]
        return np.asarray(self.basis.mapping.invF(x, tind=cells))[:, :, 0].T

    # Edges ------------------------------------------------------------------------------------------------------------

    def edge(self, first: Array, last: Array) -> tuple[Array, Array]:
        """Facets and vertices of the boundary on the line between two points (metres)."""
        a, b = np.asarray(first) / self.size, np.asarray(last) / self.size
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
