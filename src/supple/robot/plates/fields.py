"""The motion of a plate at points, as rows over its unknowns z.

z holds the motion in the plane, then w, and Mindlin's slopes. In the plane the plate either moves as a rigid body (three
unknowns) or stretches: u and v are quartic on the same triangles, so that u_s - z w_ss of an eccentric layer can vanish.
A point at height h over the middle plane moves by (u - h p, v - h s, w); Kirchhoff's slopes p, s are those of w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from supple.robot.bodies.record import Array
from supple.robot.plates.space import PlateSpace, Values
from supple.robot.sparse import AnyMatrix, Matrix


@dataclass(frozen=True)
class FieldRows:
    """A field and its derivatives along x and y at points."""

    value: Matrix
    x: Matrix
    y: Matrix


@dataclass(frozen=True)
class PlateFields:
    """The fields of a plate at points, each as rows over z."""

    u: FieldRows
    v: FieldRows
    w: FieldRows
    p: FieldRows  # slope along x of the normal
    s: FieldRows

    @property
    def drill(self) -> Matrix:
        """Rotation about the normal."""
        return (self.v.x - self.u.y) / 2

    def shifted(self, height: Array | float) -> tuple[Matrix, Matrix, Matrix]:
        """Displacement of points at a height over the middle plane."""
        if not np.any(height):
            return self.u.value, self.v.value, self.w.value
        H = sparse.diags(np.broadcast_to(height, self.w.value.shape[:1]))
        return self.u.value - H @ self.p.value, self.v.value - H @ self.s.value, self.w.value

    def strain(self) -> tuple[Matrix, Matrix, Matrix]:
        """e_x, e_y and the shear g of the middle plane."""
        return self.u.x, self.v.y, self.u.y + self.v.x

    def curvature(self) -> tuple[Matrix, Matrix, Matrix]:
        return self.p.x, self.s.y, self.p.y + self.s.x


@dataclass(frozen=True)
class Inertial:
    """What moves: displacements along x, y and z as rows over z, their mass matrix, and rotations with inertias."""

    displacement: tuple[Matrix, Matrix, Matrix]
    masses: Matrix
    rotary: tuple[tuple[Matrix, Matrix], ...]


class Fields:
    """Where the unknowns of every field stand in z."""

    def __init__(self, space: PlateSpace, in_plane: bool) -> None:
        self.space = space
        self.in_plane = in_plane
        self.membrane = PlateSpace(space.level, space.size, "mindlin") if in_plane and space.kirchhoff else space
        self.first = 2 * self.membrane.count if in_plane else 3  # unknown of w
        self.count = self.first + (1 if space.kirchhoff else 3) * space.count

    def placed(self, A: AnyMatrix, first: int) -> Matrix:
        """Rows of a field as rows over z."""
        rows = sparse.csr_matrix(A)
        made: Matrix = sparse.csr_matrix((rows.data, rows.indices + first, rows.indptr), (rows.shape[0], self.count))
        return made

    def at(self, points: Array, cells: Array | None = None) -> PlateFields:
        """The motion of points (metres)."""
        if cells is None:
            cells, _ = self.space.find(points)
        own = self.space.values(points, cells)
        return self._motion(own, own if self.membrane is self.space else self.membrane.values(points, cells), points)

    @cached_property
    def everywhere(self) -> tuple[PlateFields, Array, Array]:
        """The motion at the points of a quadrature, their weights and triangles."""
        own, points, weights, cells = self.space.everywhere
        flat = own if not self.in_plane or self.membrane is self.space else self.membrane.everywhere[0]
        return self._motion(own, flat, points), weights, cells

    def _motion(self, own: Values, flat: Values, points: Array) -> PlateFields:
        ns, first = self.space.count, self.first
        w = self._rows(own, first)
        if self.space.kirchhoff:
            c = {k: self.placed(m, first) for k, m in own.curvature.items()}
            p, s = FieldRows(w.x, c["xx"], c["xy"]), FieldRows(w.y, c["xy"], c["yy"])
        else:
            p, s = self._rows(own, first + ns), self._rows(own, first + 2 * ns)
        if self.in_plane:
            return PlateFields(self._rows(flat, 0), self._rows(flat, self.membrane.count), w, p, s)
        return PlateFields(*_rigid_in_plane(points, self.count), w, p, s)

    def _rows(self, values: Values, first: int) -> FieldRows:
        return FieldRows(self.placed(values.value, first), *(self.placed(m, first) for m in values.slope))

    @cached_property
    def rigid(self) -> Array:
        """Translations along and rotations about the axes (m x 6)."""
        ns, first = self.space.count, self.first
        one, x, y = self.space.linear.T
        made = np.zeros((self.count, 6))
        if self.in_plane:
            nm = self.membrane.count
            flat = self.membrane.linear
            made[:nm, 0] = made[nm : 2 * nm, 1] = flat[:, 0]
            made[:nm, 5], made[nm : 2 * nm, 5] = -flat[:, 2], flat[:, 1]
        else:
            made[0, 0] = made[1, 1] = made[2, 5] = 1
        made[first : first + ns, 2:5] = np.column_stack([one, y, -x])
        if not self.space.kirchhoff:
            made[first + ns : first + 2 * ns, 4], made[first + 2 * ns :, 3] = -one, one
        return made


def _rigid_in_plane(points: Array, count: int) -> tuple[FieldRows, FieldRows]:
    n = len(points)

    def rows(columns: Array) -> Matrix:
        made: Matrix = sparse.hstack([sparse.csr_matrix(columns), sparse.csr_matrix((n, count - 3))], format="csr")
        return made

    zero, one = np.zeros(n), np.ones(n)
    none = sparse.csr_matrix((n, count))
    u = FieldRows(rows(np.column_stack([one, zero, -points[:, 1]])), none, rows(np.column_stack([zero, zero, -one])))
    v = FieldRows(rows(np.column_stack([zero, one, points[:, 0]])), rows(np.column_stack([zero, zero, one])), none)
    return u, v
