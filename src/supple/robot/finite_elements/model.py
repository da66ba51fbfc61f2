"""`FeModel`: a free finite-element body, and the `Body` record of a few of its shapes.

Motions u of the full model are u = T z; z are the coordinates in which the matrices M and K, the rigid motions and the
attachments are written. spin[c] u is the field e_c x u, so that with the consistent mass matrix (Phi = T V)

    lam[i, k]_c = (spin_c phi_i)^T M phi_k,  I_re[k]_cd = r_c^T M spin_d phi_k,
    I_ee[i, k]_cd = (spin_c phi_i)^T M spin_d phi_k

where r_c is the rigid rotation about axis c. Rotational coordinates of nodes turn along; no mass is lumped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array, Body, Marker, Outline, eye, zeros
from supple.robot.finite_elements.modes import elastic_modes
from supple.robot.physical import matter_fault
from supple.robot.sparse import Matrix

_SHAPE_DIGITS = 9  # of shapes at attachments: equal by symmetry, whatever the mesh
_DUST = 1e-9  # entries below this part of what they could be are rounding
_PAIRS = 1e-7  # the same for products of two shapes, each with an eigensolver's rounding
_ISOTROPIC = 0.01  # of the mass: so far apart may be those of three directions, of modes of few digits
_ALIKE = 2e-6  # so far apart may be squares of frequencies that are equal but for the mesh


# displacements z under loads (m x L), forces on u (n x L), shapes V (m x N) -> stress stiffness per load, L x N x N
StressStiffness = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class Site:
    """An attachment: its reference point, and displacement and rotation there as rows over z (6 x m)."""

    name: str
    position: Array
    rows: Array
    arm: Array | None = None  # to its position, from the part of the body that it turns with


@dataclass(frozen=True)
class Skin:
    """The surface of a solid: some of its nodes (P x 3), their displacements as rows over z (3P x m), triangles of them."""

    points: Array
    rows: Matrix
    triangles: Array


@dataclass(frozen=True)
class FeModel:
    """A body before it is reduced; everything in the body's frame and SI units."""

    mass: Matrix  # of u, n x n
    stiffness: Matrix  # of z, m x m
    T: Matrix  # n x m
    rigid: Array  # m x 6: translations along and rotations about the frame's axes
    spin: tuple[Matrix, Matrix, Matrix]  # n x n
    sites: tuple[Site, ...]
    outline: Array  # P x 3
    outline_rows: Matrix  # 3P x m
    locate: Callable[[Array], Site | None] | None = None  # a site anywhere on the body, if it has surface everywhere
    breaks: tuple[int, ...] = ()  # points of the outline at which a new line begins
    known_mass: Matrix | None = None  # of z, where it is known better than by the mass of u
    stress: StressStiffness | None = None
    skin: Skin | None = None  # where the mesh is known
    stretching: Callable[[], FeModel] | None = None  # the same body able to stretch, if this one is not; its stress is ours

    @cached_property
    def M(self) -> Matrix:  # noqa: N802 as in the literature
        return sparse.csr_matrix(self.T.T @ self.mass @ self.T) if self.known_mass is None else self.known_mass

    @cached_property
    def _free(self) -> list[tuple[Array, Array]]:
        return []

    def free_modes(self, count: int) -> tuple[Array, Array]:
        """Squares of the first elastic frequencies and shapes of the free body, kept for the next who asks."""
        count = min(count, self.stiffness.shape[0] - 6)
        if not self._free or len(self._free[-1][0]) < count:
            self._free.append(elastic_modes(self.stiffness, self.M, self.rigid, count))
        values, shapes = self._free[-1]
        return values[:count], shapes[:, :count]

    def site(self, name: str) -> Site:
        return next(s for s in self.sites if s.name == name)


def rigid_inertia(model: FeModel) -> dict[str, Any]:
    """mass, MS_r and I_rr of the undeformed model."""
    R = model.rigid
    M6 = R.T @ (model.M @ R)
    MS = np.array([-M6[4, 2], -M6[5, 0], -M6[3, 1]])
    mass = float(np.trace(M6[:3, :3]) / 3)
    size = float(np.sqrt(np.abs(np.diag(M6)[3:]).max() / mass))
    return {
        "mass": mass,
        "MS_r": cleaned(MS, mass * size),
        "I_rr": cleaned((M6[3:, 3:] + M6[3:, 3:].T) / 2, mass * size**2),
    }


def weighed(model: FeModel) -> FeModel:
    """The model, if its mass matrix gives rigid motions the inertia of a body."""
    M6 = model.rigid.T @ (model.M @ model.rigid)
    masses = np.diag(M6)[:3]
    if not (np.isfinite(M6).all() and masses.min() > 0):
        raise SuppleError("the mass matrix gives the body no mass; check its sign, order and units")
    if np.ptp(masses) > _ISOTROPIC * masses.max():
        text = ", ".join(f"{m:.4g}" for m in masses)
        raise SuppleError(f"the mass matrix weighs {text} kg along x, y, z, which must agree; it is broken or out of order")
    made = rigid_inertia(model)
    fault = matter_fault(made["mass"], made["MS_r"].astype(float), made["I_rr"].astype(float))
    if fault is not None:
        raise SuppleError(f"{fault}; the mass matrix is broken, or in another order or unit than the nodes")
    return model


def shape_integrals(model: FeModel, V: Array) -> dict[str, Any]:
    """The inertial fields of the Body record for the shapes z = V q."""
    U, R = np.asarray(model.T @ V), np.asarray(model.T @ model.rigid)
    n = U.shape[1]
    MU, MR = model.mass @ U, model.mass @ R
    made = rigid_inertia(model)
    MV = model.M @ V
    mass, size2 = made["mass"], float(np.abs(np.diag(R.T @ MR))[3:].max()) / made["mass"]
    M_ee = V.T @ MV
    unit = np.sqrt(np.diag(M_ee))  # bounds of all integrals, by Cauchy and Schwarz
    SU = [s @ U for s in model.spin]
    MSU = [model.mass @ x for x in SU]
    lam, I_re, I_ee = np.zeros((n, n, 3)), np.zeros((n, 3, 3)), np.zeros((n, n, 3, 3))
    for c in range(3):
        lam[:, :, c] = SU[c].T @ MU
        for d in range(3):
            I_re[:, c, d] = MSU[d].T @ R[:, 3 + c]
            I_ee[:, :, c, d] = SU[c].T @ MSU[d]
    pairs = np.outer(unit, unit)
    lam = (lam - lam.transpose(1, 0, 2)) / 2
    I_ee = (I_ee + I_ee.transpose(1, 0, 3, 2)) / 2
    return made | {
        "MS_de": cleaned(model.rigid[:, :3].T @ MV, np.sqrt(mass) * unit),
        "beta": cleaned(model.rigid[:, 3:].T @ MV, np.sqrt(mass * size2) * unit),
        "lam": cleaned(lam, pairs[:, :, None], _PAIRS),
        "I_re": cleaned(I_re, np.sqrt(mass * size2) * unit[:, None, None]),
        "I_ee": cleaned(I_ee, pairs[:, :, None, None], _PAIRS),
        "M_ee": cleaned((M_ee + M_ee.T) / 2, pairs),
    }


def fe_body(model: FeModel, V: Array, names: Sequence[str], units: Sequence[str]) -> Body:
    """The Body of the shapes z = V q."""
    n = V.shape[1]
    K = V.T @ (model.stiffness @ V)
    stiff = np.sqrt(np.abs(np.diag(K)))
    drawn = np.asarray(model.outline_rows @ V).reshape(len(model.outline), 3, n)
    outline = Outline(exact(model.outline), cleaned(drawn, np.abs(drawn).max(initial=0.0)), model.breaks)
    stiffness = cleaned((K + K.T) / 2, np.outer(stiff, stiff), _ALIKE)
    return Body(
        **shape_integrals(model, V), K_ee=stiffness, D_ee=zeros(n, n), H_ee=zeros(n, n), coordinates=tuple(names),
        units=tuple(units), outline=outline,
    )  # fmt: skip


def rigid_body_of(model: FeModel) -> Body:
    """The Body of a model that does not bend."""
    return Body(**rigid_inertia(model), outline=Outline(exact(model.outline), zeros(len(model.outline), 3, 0), model.breaks))


def site_marker(site: Site, V: Array) -> Marker:
    """The frame at a site, moved by the shapes z = V q."""
    rows = site.rows @ V
    scale = np.abs(rows).max(axis=1, initial=0.0)
    size = np.concatenate([np.full(3, scale[:3].max(initial=0.0)), np.full(3, scale[3:].max(initial=0.0))])
    Phi = cleaned(rows, size[:, None], digits=_SHAPE_DIGITS)
    return Marker(exact(site.position), eye(), Phi[:3], Phi[3:])


def cleaned(A: Array, bound: Any, dust: float = _DUST, digits: int = 13) -> Array:
    """A as plain numbers, entries that are rounding against their bound made exactly zero.

    Numbers keep so many digits, so that equal integrals computed in two ways are one constant in generated code."""
    made = zeros(*A.shape)
    made[...] = np.where(np.abs(A) <= dust * np.broadcast_to(bound, A.shape), 0.0, A)
    for where, x in np.ndenumerate(made):
        made[where] = float(f"{x:.{digits - 1}e}") if x else 0
    return made


def exact(A: Array) -> Array:
    """A as an array of plain numbers."""
    return cleaned(np.asarray(A, dtype=float), 1e-3 * np.abs(np.asarray(A, dtype=float)).max(initial=0.0))


def seen_from(model: FeModel, origin: Array) -> FeModel:
    """The model seen from a frame at `origin`."""
    if not np.any(origin):
        return model
    # turning about the new origin is turning about the old one and moving it back
    rigid = model.rigid @ hat_rows(-origin)
    sites = tuple(replace(s, position=s.position - origin) for s in model.sites)
    skin = None if model.skin is None else replace(model.skin, points=model.skin.points - origin)
    return replace(model, rigid=rigid, sites=sites, outline=model.outline - origin, skin=skin)


def with_masses(model: FeModel, masses: Sequence[tuple[Site, float, Array]]) -> FeModel:
    """The model with rigid masses (site, mass, inertia about its centre) tied to it."""
    if not masses:
        return model
    n = model.mass.shape[0]
    blocks, spins, T = [model.mass], [[s] for s in model.spin], [model.T]
    for site, mass, inertia in masses:
        blocks.append(sparse.block_diag([mass * sparse.eye(3), inertia]))
        T.append(sparse.csr_matrix(site.rows))
        for c in range(3):
            axis = np.zeros((6, 6))
            axis[:3, :3] = _hat(np.eye(3)[c])  # inertias add constants only, as those of beam sections do
            spins[c].append(sparse.csr_matrix(axis))
    assert n == model.T.shape[0]
    return replace(
        model, mass=sparse.block_diag(blocks, format="csr"), T=sparse.vstack(T, format="csr"),
        spin=tuple(sparse.block_diag(s, format="csr") for s in spins), stress=_stress_with(model, [m[0] for m in masses]),
    )  # fmt: skip


def _stress_with(model: FeModel, sites: Sequence[Site]) -> StressStiffness | None:
    """The stress stiffness of a body with masses at the end of arms: they turn with it, and forces on them do work."""
    own, n = model.stress, model.mass.shape[0]
    if own is None:
        return None

    def stiffness(z: Array, force: Array, V: Array) -> Array:
        made = own(z, force[:n], V)
        for k, site in enumerate(sites):
            if site.arm is not None:
                there = force[n + 6 * k : n + 6 * k + 3]
                made = made - turning_forces(there[None], site.arm[None], site.rows[3:] @ V)
        return made

    return stiffness


def turning_forces(forces: Array, arms: Array, turns: Array) -> Array:
    """2 sum f.r2 of forces f (P x 3 x L) at the ends of arms r (P x 3) that turn by t = turns q: r2 = t x (t x r) / 2."""
    S = np.einsum("pil,pj->lij", forces, arms)
    S = (S + S.transpose(0, 2, 1)) / 2 - np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    return np.asarray(turns.T @ S @ turns)


def _hat(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def hat_rows(offset: Array) -> Array:
    """6 x 6: motion of a point at `offset` from the motion of the point it is tied to."""
    made = np.eye(6)
    made[:3, 3:] = -_hat(np.asarray(offset, dtype=float))
    return made
