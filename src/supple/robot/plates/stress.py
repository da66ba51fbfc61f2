"""The stress stiffness of a plate: what forces in its plane do on the slopes of its deflections (von Karman).

    G[a, b] = int N_ij w_a,i w_b,j dA

N comes from the same plate, able to stretch. In a plate whose shapes stretch too, u and v count as w does; along a
stiffener, its axial force.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.robot.bodies.record import Array
from supple.robot.finite_elements.model import FeModel, turning_forces
from supple.robot.plates.fields import FieldRows, Fields, PlateFields
from supple.robot.plates.matrices import Layers
from supple.robot.plates.sites import Locator, Tie
from supple.robot.plates.stiffener import Rib, rib_line

_SHEETS = 2_000_000  # numbers in an array of products


@dataclass(frozen=True)
class PlateStress:
    """A StressStiffness: loads on a plate that stretches, shapes of the same or of one that is stiff in its plane."""

    layers: Layers
    ribs: tuple[tuple[Rib, Array], ...]  # with the origin of the plate's frame
    loaded: Locator  # the plate that stretches
    untied: FeModel  # the same before parts of its boundary are tied
    shaped: Locator
    turning: tuple[tuple[Tie, Array], ...]  # ties, and rotations of their sites as rows over the shapes' unknowns

    def __call__(self, z: Array, force: Array, V: Array) -> Array:
        w, v = self.loaded.full(z), self.shaped.full(V)
        made = self._sheet(w, v)
        for rib, origin in self.ribs:
            made += self._rib(rib, origin, w, v)
        inner = self.untied.stiffness @ w - self.untied.T.T @ force
        for tie, rows in self.turning:
            made += self._tied(tie, inner, rows @ V)
        return made

    def _sheet(self, w: Array, v: Array) -> Array:
        at, area, cells = self.loaded.fields.everywhere
        t, height = np.array(self.layers.layers)[self.loaded.space.level.patches[cells]].T
        E, nu = self.layers.E, self.layers.nu
        x, y, g = (e @ w - height[:, None] * (k @ w) for e, k in zip(at.strain(), at.curvature(), strict=True))
        unit = (E / (1 - nu**2) * t * area)[:, None]
        N = unit * (x + nu * y), unit * (y + nu * x), unit * (1 - nu) / 2 * g
        moving = _moving(self.shaped.fields.everywhere[0], self.shaped.fields)
        made: Array = np.sum([_products(N, f.x @ v, f.y @ v) for f in moving], axis=0)
        return made

    def _rib(self, rib: Rib, origin: Array, w: Array, v: Array) -> Array:
        points, weights, cells, s = rib_line(self.loaded.space, rib, origin)
        at, moving = self.loaded.fields.at(points, cells), self.shaped.fields.at(points, cells)
        along = [s[0] * f.x + s[1] * f.y for f in (at.u, at.v, at.p, at.s)]
        stretch = s[0] * along[0] + s[1] * along[1] - rib.offset * (s[0] * along[2] + s[1] * along[3])
        N = (rib.E * rib.section.area * weights)[:, None] * (stretch @ w)
        turned = s[0] ** 2 * N, s[1] ** 2 * N, s[0] * s[1] * N
        made: Array = np.sum([_products(turned, f.x @ v, f.y @ v) for f in _moving(moving, self.shaped.fields)], axis=0)
        return made

    def _tied(self, tie: Tie, inner: Array, turns: Array) -> Array:
        """What holds a tied edge, on its turning."""
        flat = self.loaded.fields.membrane
        nodes = np.asarray(flat.basis.get_dofs(tie.facets).all())
        arms = np.zeros((len(nodes), 3))
        arms[:, :2] = flat.basis.doflocs[:, nodes].T * flat.size - tie.middle[:2]
        forces = np.stack([inner[nodes], inner[flat.count + nodes], np.zeros((len(nodes), inner.shape[1]))], axis=1)
        return turning_forces(forces, arms, turns)


def _moving(at: PlateFields, fields: Fields) -> Sequence[FieldRows]:
    """Displacements whose slopes count."""
    return (at.u, at.v, at.w) if fields.in_plane else (at.w,)


def _products(N: tuple[Array, Array, Array], x: Array, y: Array) -> Array:
    """sum N_x x_a x_b + N_y y_a y_b + N_xy (x_a y_b + y_a x_b) over points, per load."""
    first, second = np.triu_indices(x.shape[1])
    total = np.zeros((N[0].shape[1], len(first)))
    step = max(1, _SHEETS // max(1, len(first)))
    for k in range(0, len(x), step):
        a, b = x[k : k + step], y[k : k + step]
        total += N[0][k : k + step].T @ (a[:, first] * a[:, second]) + N[1][k : k + step].T @ (b[:, first] * b[:, second])
        total += N[2][k : k + step].T @ (a[:, first] * b[:, second] + b[:, first] * a[:, second])
    made = np.zeros((len(total), x.shape[1], x.shape[1]))
    made[:, first, second] = made[:, second, first] = total
    return made
