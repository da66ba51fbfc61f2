"""Stiffness over z and moving masses of a plate: by forms (one thickness, stiff in its plane) or by quadrature (any)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from supple.robot.bodies.record import Array
from supple.robot.plates.fields import Fields, Inertial
from supple.robot.sparse import Matrix

SHEAR = 5 / 6  # shear factor of Mindlin's theory


@dataclass(frozen=True)
class Layers:
    """The plate's material, and thickness and height of the middle plane: of the plate, then of every patch."""

    E: float
    nu: float
    G: float
    rho: float
    layers: tuple[tuple[float, float], ...]


def plate_matrices(fields: Fields, given: Layers) -> tuple[Matrix, Inertial]:
    """Stiffness over z and the moving masses of the plate itself."""
    if len(given.layers) == 1 and not fields.in_plane:
        return by_forms(fields, given)
    return by_quadrature(fields, given)


def by_forms(fields: Fields, given: Layers) -> tuple[Matrix, Inertial]:
    """The matrices of a plate of one thickness that is stiff in its plane, integrated by scikit-fem."""
    assert not fields.in_plane
    space, ns, t = fields.space, fields.space.count, given.layers[0][0]
    D, S = given.E * t**3 / (12 * (1 - given.nu**2)), SHEAR * given.G * t
    if space.kirchhoff:
        K = space.curvatures(D, given.nu)
    else:
        s, g, m = space.slopes, space.mixed, SHEAR * given.G * t * space.products
        half = (1 - given.nu) / 2
        K_pp = D * (s["xx"] + half * s["yy"]) + m
        K_ss = D * (s["yy"] + half * s["xx"]) + m
        K_ps = D * (given.nu * s["yx"] + half * s["xy"])  # row p, column s
        K = sparse.bmat(
            [
                [S * (s["xx"] + s["yy"]), -S * g["x"].T, -S * g["y"].T],
                [-S * g["x"], K_pp, K_ps],
                [-S * g["y"], K_ps.T, K_ss],
            ],
            format="csr",
        )
    one, x, y = space.linear.T
    zero, each, turning = np.zeros(ns), sparse.eye(ns), given.rho * t**3 / 12
    moved = [fields.placed(np.column_stack(c), 0) for c in ((one, zero, -y), (zero, one, x))]
    if space.kirchhoff:
        rotary = [(fields.placed(each, 3), turning * (space.slopes["xx"] + space.slopes["yy"]))]
    else:
        rotary = [(fields.placed(each, 3 + k * ns), turning * space.products) for k in (1, 2)]
    mass = Inertial((moved[0], moved[1], fields.placed(each, 3)), given.rho * t * space.products, tuple(rotary))
    return sparse.block_diag([sparse.csr_matrix((3, 3)), K], format="csr"), mass


def by_quadrature(fields: Fields, given: Layers) -> tuple[Matrix, Inertial]:
    """The matrices of any plate from strains and displacements at points."""
    at, area, cells = fields.everywhere
    t, height = np.array(given.layers)[fields.space.level.patches[cells]].T
    bend = at.curvature()
    K = _plane_stress(bend, t**3 / 12 * area, given)
    if fields.in_plane:
        H = sparse.diags(height)
        flat = [e - H @ k for e, k in zip(at.strain(), bend, strict=True)] if height.any() else at.strain()
        K = K + _plane_stress(flat, t * area, given)
    if not fields.space.kirchhoff:
        W = sparse.diags(SHEAR * given.G * t * area)
        for gap in (at.w.x - at.p.value, at.w.y - at.s.value):
            K = K + gap.T @ W @ gap
    turning = sparse.diags(given.rho * t**3 / 12 * area)
    rotary = ((at.p.value, turning), (at.s.value, turning))
    return sparse.csr_matrix(K), Inertial(at.shifted(height), sparse.diags(given.rho * t * area), rotary)


def _plane_stress(strain: Sequence[Matrix], weight: Array, given: Layers) -> Matrix:
    """The energy of e_x, e_y and g in a state of plane stress."""
    x, y, g = strain
    W = sparse.diags(given.E / (1 - given.nu**2) * weight)
    Wx, Wy = W @ x, W @ y
    made: Matrix = x.T @ (Wx + given.nu * Wy) + y.T @ (Wy + given.nu * Wx) + (1 - given.nu) / 2 * g.T @ W @ g
    return made


def moving(parts: Sequence[Inertial]) -> tuple[Matrix, Matrix, tuple[Matrix, Matrix, Matrix]]:
    """Mass of u, u = T z (all x, all y, all z, then rotations), and the fields e_c x u."""
    rotary = [pair for p in parts for pair in p.rotary]
    T = sparse.vstack([p.displacement[c] for c in range(3) for p in parts] + [rows for rows, _ in rotary], format="csr")
    mass = sparse.block_diag([p.masses for _ in range(3) for p in parts] + [m for _, m in rotary], format="csr")
    points = sum(p.masses.shape[0] for p in parts)
    still = sparse.csr_matrix((T.shape[0] - 3 * points,) * 2)  # inertias add constants only, so slopes do not turn
    made = []
    for a, b in ((1, 2), (2, 0), (0, 1)):  # e_c x: component a gets -b, b gets a
        turn = np.zeros((3, 3))
        turn[a, b], turn[b, a] = -1, 1
        made.append(sparse.block_diag([sparse.kron(turn, sparse.eye(points)), still], format="csr"))
    return mass, T, (made[0], made[1], made[2])
