"""Stiffeners of plates: beams along a line in the middle plane, bending and twisting with the plate."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from supple.robot.bodies.plate_space import PlateSpace
from supple.robot.bodies.record import Array

Matrix = Any
_GAUSS = 6


def stiffener_matrices(space: PlateSpace, rib: Any, origin: Array) -> tuple[Matrix, Matrix]:
    """Stiffness over the bending fields, and mass over (the scalar field, the bending fields).

    With s along and n across the stiffener: E Iy w_ss^2 + G J w_sn^2 (Kirchhoff), or with the normal's slopes in place of
    those of w, and shear k G A (w_s - p_s)^2 (Mindlin)."""
    a, b = np.array(rib.start) - origin, np.array(rib.end) - origin
    points, weights, cells = _quadrature(space, a, b)
    s = (b - a) / np.linalg.norm(b - a)
    n = np.array([-s[1], s[0]])
    v = space.values(points, cells)
    W = sparse.diags(weights)
    own = rib.section
    value, zero = v.value, sparse.csr_matrix(v.value.shape)
    if space.kirchhoff:
        xx, xy, yy = (v.curvature[k] for k in ("xx", "xy", "yy"))
        bend = s[0] ** 2 * xx + 2 * s[0] * s[1] * xy + s[1] ** 2 * yy
        twist = s[0] * n[0] * xx + (s[0] * n[1] + s[1] * n[0]) * xy + s[1] * n[1] * yy
        slope = s[0] * v.slope[0] + s[1] * v.slope[1]
        roll = n[0] * v.slope[0] + n[1] * v.slope[1]
        K = rib.E * own.Iy * bend.T @ W @ bend + rib.G * own.J * twist.T @ W @ twist
        deflection = value
    else:
        run = s[0] * v.slope[0] + s[1] * v.slope[1]
        slope = sparse.hstack([zero, s[0] * value, s[1] * value])
        roll = sparse.hstack([zero, n[0] * value, n[1] * value])
        bend = sparse.hstack([zero, s[0] * run, s[1] * run])
        twist = sparse.hstack([zero, n[0] * run, n[1] * run])
        shear = sparse.hstack([run, -s[0] * value, -s[1] * value])
        K = rib.E * own.Iy * bend.T @ W @ bend + rib.G * own.J * twist.T @ W @ twist
        K = K + own.kz * rib.G * own.area * shear.T @ W @ shear
        deflection = sparse.hstack([value, zero, zero])
    line = rib.rho * own.area * value.T @ W @ value
    M = rib.rho * (own.area * deflection.T @ W @ deflection + own.Iy * slope.T @ W @ slope + own.polar * roll.T @ W @ roll)
    return sparse.csr_matrix(K), sparse.block_diag([line, M], format="csr")


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
