"""Stiffeners of plates: beams along a line, bending and twisting with the plate, at a height over its middle plane."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from supple.robot.bodies.record import Array
from supple.robot.bodies.section import CrossSection
from supple.robot.plates.fields import Fields, Inertial
from supple.robot.plates.space import PlateSpace
from supple.robot.sparse import Matrix

_GAUSS = 6


@dataclass(frozen=True)
class Rib:
    """A stiffener from one point to another; its section's centre runs `offset` above the middle plane."""

    start: tuple[float, float]
    end: tuple[float, float]
    section: CrossSection
    E: float
    G: float
    rho: float
    offset: float = 0.0


def stiffener_matrices(fields: Fields, rib: Rib, origin: Array) -> tuple[Matrix, Inertial]:
    """Stiffness over z and the moving masses.

    With s along and n across the stiffener, and p the slopes of the normal: E Iy (p_s,s)^2 + G J (p_n,s)^2, shear
    k G A (w_s - p_s)^2 (Mindlin), and E A (u_s,s - offset p_s,s)^2 where the plate can stretch. Its bending within the
    plate's plane (Iz) is left to the plate."""
    points, weights, cells, s = rib_line(fields.space, rib, origin)
    n = np.array([-s[1], s[0]])
    at, W, own = fields.at(points, cells), sparse.diags(weights), rib.section
    slope = s[0] * at.p.value + s[1] * at.s.value
    roll = n[0] * at.p.value + n[1] * at.s.value
    along_p, along_s = (s[0] * f.x + s[1] * f.y for f in (at.p, at.s))
    bend, twist = s[0] * along_p + s[1] * along_s, n[0] * along_p + n[1] * along_s
    K = rib.E * own.Iy * bend.T @ W @ bend + rib.G * own.J * twist.T @ W @ twist
    if not fields.space.kirchhoff:
        shear = s[0] * at.w.x + s[1] * at.w.y - slope
        K = K + own.kz * rib.G * own.area * shear.T @ W @ shear
    line = rib.rho * W
    rotary = [(slope, own.Iy * line), (roll, own.polar * line)]
    if fields.in_plane:
        along_u, along_v = (s[0] * f.x + s[1] * f.y for f in (at.u, at.v))
        stretch = s[0] * along_u + s[1] * along_v - rib.offset * bend
        K = K + rib.E * own.area * stretch.T @ W @ stretch
        rotary.append((at.drill, own.Iz * line))
    return sparse.csr_matrix(K), Inertial(at.shifted(rib.offset), own.area * line, tuple(rotary))


def rib_line(space: PlateSpace, rib: Rib, origin: Array) -> tuple[Array, Array, Array, Array]:
    """Gauss points along a stiffener, their weights and triangles, and its direction."""
    a, b = np.array(rib.start) - origin, np.array(rib.end) - origin
    return *_quadrature(space, a, b), (b - a) / np.linalg.norm(b - a)


def _quadrature(space: PlateSpace, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Gauss points on a line, within each triangle it crosses: points, weights (lengths) and triangles."""
    space.find(np.array([a, b]))  # both ends must be on the plate
    p = space.mesh.p * space.size
    f = space.mesh.facets
    c, d = p[:, f[0]], p[:, f[1]]
    run = b - a
    along = d - c
    det = run[0] * along[1] - run[1] * along[0]
    off = c - a[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (off[0] * along[1] - off[1] * along[0]) / det
        u = (off[0] * run[1] - off[1] * run[0]) / det
    crossing = t[np.isfinite(t) & (u > -1e-9) & (u < 1 + 1e-9) & (t > 1e-9) & (t < 1 - 1e-9)]
    # vertices on a line that runs along edges of triangles
    beside = np.abs((p[0] - a[0]) * run[1] - (p[1] - a[1]) * run[0]) < 1e-9 * float(run @ run)
    at = ((p[0] - a[0]) * run[0] + (p[1] - a[1]) * run[1]) / float(run @ run)
    crossing = np.r_[crossing, at[beside & (at > 1e-9) & (at < 1 - 1e-9)]]
    stops = np.unique(np.r_[0.0, crossing, 1.0].round(12))
    x, w = np.polynomial.legendre.leggauss(_GAUSS)
    points, weights, cells = [], [], []
    for first, last in pairwise(stops):
        middle, _ = space.find(np.array([a + run * (first + last) / 2]))
        for xi, wi in zip(x, w, strict=True):
            points.append(a + run * (first + last + xi * (last - first)) / 2)
            weights.append(wi * (last - first) / 2 * float(np.linalg.norm(run)))
            cells.append(int(middle[0]))
    return np.array(points), np.array(weights), np.array(cells)
