"""Argyris' quintic triangle in coordinates of its own: exact to rounding on triangles that are small against the plate.

scikit-fem writes the shape functions of every triangle as polynomials about one origin, which costs digits with the fifth
power of size over distance. Here each triangle's polynomials are about its own centre, in units of its own size.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from supple.robot.bodies.record import Array
from supple.robot.plates.mesh import skfem

_POWERS = [(i, j) for i in range(6) for j in range(6) if i + j <= 5]
_DERIVATIVES = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))


def local_argyris() -> Any:
    """An element for scikit-fem with the unknowns of ElementTriArgyris; slopes of sides are along `side_normals`."""
    fem = skfem()
    given: Any = fem.ElementTriArgyris

    class LocalArgyris(given):  # type: ignore[misc]
        coefficients: Array | None = None
        asked: tuple[Any, ...] = ()  # points and cells of the last call, which one function after the other is asked at
        found: tuple[Array, ...] = ()

        def gbasis(self, mapping: Any, X: Array, i: int, tind: Array | None = None) -> Any:
            if not self.asked or self.asked[0] is not X or self.asked[1] is not tind:
                self.asked, self.found = (X, tind), self._everything(mapping, X, tind)
            v, fx, fy, xx, xy, yy = (table[:, i] for table in self.found)
            field = fem.element.DiscreteField
            return (field(value=v, grad=np.array([fx, fy]), hess=np.array([[xx, xy], [xy, yy]])),)

        def _everything(self, mapping: Any, X: Array, tind: Array | None) -> tuple[Array, ...]:
            """Values and derivatives of all shape functions (cells x functions x points)."""
            mesh = mapping.mesh
            cells = np.arange(mesh.t.shape[1]) if tind is None else np.asarray(tind)
            if self.coefficients is None:
                self.coefficients = _coefficients(mesh)
            c = self.coefficients[cells].transpose(0, 2, 1)
            centre, size = _frames(mesh, cells)
            x, y = (mapping.F(X, tind=cells) - centre[:, :, None]) / size[:, None]
            return tuple(c @ _monomials(x, y, d).transpose(1, 0, 2) / size[:, None, None] ** sum(d) for d in _DERIVATIVES)

    return LocalArgyris()


def side_normals(mesh: Any) -> Array:
    """The normal of every facet by which its unknown is a slope (2 x F)."""
    along = mesh.p[:, mesh.facets[1]] - mesh.p[:, mesh.facets[0]]
    return np.asarray(np.array([along[1], -along[0]]) / np.linalg.norm(along, axis=0))


def _frames(mesh: Any, cells: Array) -> tuple[Array, Array]:
    corners = mesh.p[:, mesh.t[:, cells]]  # 2 x 3 x C
    centre = corners.mean(axis=1)
    return centre, np.asarray(np.linalg.norm(corners - centre[:, None], axis=0).max(axis=0))


def _monomials(x: Array, y: Array, derivative: tuple[int, int]) -> Array:
    """Derivatives of x^i y^j, for all 21 of them."""
    along, across = _powers(x, derivative[0]), _powers(y, derivative[1])
    return np.array([along[i] * across[j] for i, j in _POWERS])


def _powers(x: Array, derivative: int) -> list[Array]:
    """The derivatives of 1, x, ..., x^5; by products, which are ten times faster than powers."""
    plain = list(accumulate([np.ones_like(x)] + [x] * 5, np.multiply))
    made = [np.zeros_like(x)] * derivative
    return made + [np.prod(np.arange(i - derivative + 1, i + 1)) * plain[i - derivative] for i in range(derivative, 6)]


def _coefficients(mesh: Any) -> Array:
    """Coefficients of the polynomials of the 21 shape functions of every triangle (C x powers x functions)."""
    cells = np.arange(mesh.t.shape[1])
    centre, size = _frames(mesh, cells)
    normals = side_normals(mesh)
    rows, orders = [], []
    for k in range(3):
        x, y = (mesh.p[:, mesh.t[k]] - centre) / size
        rows += [_monomials(x, y, d) for d in _DERIVATIVES]
        orders += [sum(d) for d in _DERIVATIVES]
    for k in range(3):
        facets = mesh.t2f[k]
        x, y = (mesh.p[:, mesh.facets[:, facets]].mean(axis=1) - centre) / size
        n = normals[:, facets]
        rows.append(n[0] * _monomials(x, y, (1, 0)) + n[1] * _monomials(x, y, (0, 1)))
        orders.append(1)
    values = np.array(rows).transpose(2, 0, 1)  # C x unknowns x powers
    return np.asarray(np.linalg.inv(values) * size[:, None, None] ** np.array(orders))
