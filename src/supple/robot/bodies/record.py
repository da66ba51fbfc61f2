"""`Body`: the shape integrals of the generalised Newton-Euler equations (Briot & Khalil 2014, appendix).

A material point is at r = r0 + sum_k phi_k q_k + u in the body frame; u is of second order in q. Arrays hold numbers or
symbols.

    MS_r = int r0 dm                    MS_de[:, k] = int phi_k dm
    I_rr = int r0^T r0 dm  (hat)        beta[:, k]  = int r0 x phi_k dm
    I_re[k] = int r0^T phi_k dm  (hat)  lam[i, k]   = int phi_i x phi_k dm
    I_ee[i, k] = int phi_i^T phi_k dm  (hat)

    int u dm = -1/2 sum_t (q.G_t q) first_t        int r0 u^T dm = -1/2 sum_t (q.G_t q) dyad_t
    int phi_k.u dm = -1/2 sum_t (q.G_t q) shape_t[k]

Rotary inertia of beam sections adds constants to I_rr, beta and M_ee only.

Bending shortens a beam, and axial loads do work on that. There are two ways to say so, and a body uses one of them:
displacements linear in q and strains that are not (`Stretch`: beams whose nodes have their axial displacements as
coordinates), or strains linear in q and displacements that are not (`Shortening` of markers, `Shortened` mass: reduced
beams, whose few shapes have no axial displacement for every bending).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def zeros(*shape: int) -> Array:
    return np.full(shape, 0, dtype=object)


def eye(n: int = 3) -> Array:
    made = zeros(n, n)
    for i in range(n):
        made[i, i] = 1
    return made


def hat(a: Sequence[Any] | Array) -> Array:
    """The cross-product matrix: hat(a) b = a x b."""
    made = zeros(3, 3)
    made[0, 1], made[0, 2] = -a[2], a[1]
    made[1, 0], made[1, 2] = a[2], -a[0]
    made[2, 0], made[2, 1] = -a[1], a[0]
    return made


def axial(T: Array) -> Array:
    """int a x b of T = int a b^T."""
    made = zeros(3)
    made[:] = [T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]]
    return made


def is_zero(x: Any) -> bool:
    """True for the plain number zero, and for arrays of nothing else."""
    if isinstance(x, np.ndarray):
        return all(is_zero(e) for e in x.ravel())
    return isinstance(x, (int, float, Fraction)) and x == 0


@dataclass(frozen=True)
class Stretch:
    """An element of a beam: bending takes 1/2 q.G q off it, so the nodes behind it are stretched by that much more."""

    coordinates: tuple[int, ...]  # axial displacements of the nodes at its end and behind
    G: Array  # N x N

    @cached_property
    def filled(self) -> tuple[tuple[int, Array], ...]:
        """Rows of G that are not zero, each with its columns that are not."""
        places = self.G != 0
        return tuple((int(i), np.flatnonzero(places[i])) for i in np.flatnonzero(places.any(axis=1)))

    @cached_property
    def bending(self) -> Array:
        """Coordinates whose rows of G are not zero."""
        return np.array([i for i, _ in self.filled], dtype=int)

    @cached_property
    def numbers(self) -> Array:
        """G of those, as doubles."""
        made: Array = self.G[np.ix_(self.bending, self.bending)].astype(float)
        return made


@dataclass(frozen=True)
class Shortening:
    """Second order of a place's displacement: it is drawn back along `axis` by 1/2 q.G q when its body bends."""

    axis: Array  # 3
    G: Array  # N x N


@dataclass(frozen=True)
class Shortened:
    """A part of the same integrated over the mass of a body: q.G q times `first`, `dyad` and `shape`."""

    first: Array  # 3
    dyad: Array  # 3 x 3
    shape: Array  # N
    G: Array  # N x N


@dataclass(frozen=True)
class Marker:
    """A frame on a body: where it is undeformed, and how the elastic coordinates move it."""

    position: Array
    rotation: Array  # body_R_marker
    Phi_d: Array  # 3 x N
    Phi_r: Array  # 3 x N
    shortening: tuple[Shortening, ...] = ()


@dataclass(frozen=True)
class Outline:
    """Points of the body's line drawing: positions (P x 3) and their shape functions (P x 3 x N)."""

    position: Array
    Phi_d: Array
    breaks: tuple[int, ...] = ()  # points at which a new line begins
    axis: Array | None = None  # along which bending draws the points back
    steps: Array | None = None  # P x N x N: by 1/2 q.G q of this sum of steps, up to each point


@dataclass(frozen=True)
class Reduced:
    """How a flexible body was reduced, and what was lost."""

    method: str
    frequencies: tuple[float, ...]  # Hz, of the body's own coordinates
    omitted: float | None  # Hz, of the first mode left out
    effective_mass: tuple[float, float, float] | None  # part kept along x, y, z, held at the root
    static_residual: float | None  # largest part of an attachment's compliance that is missing
    coordinates: int = 0  # of the model before
    meshes: tuple[tuple[int, tuple[float, ...]], ...] = ()  # unknowns and free frequencies (Hz) of every mesh
    extrapolated: tuple[float, ...] = ()  # free frequencies by Richardson's extrapolation, Hz; not used


@dataclass(frozen=True)
class Slender:
    """What says how far a beam's theory carries; forces and slopes are linear in its strain coordinates."""

    length: float
    element: float  # length of an element
    bending: float  # the smaller E I
    clamped: float  # rad/s: its first frequency when clamped at one end
    axial: Array  # elements x N: axial force of every element
    turning: Array  # rows x N: rotations of its nodes that bend it
    tipping: Array  # rows x N: bending moments in parts of those at which it tips over sideways
    second_order: bool  # whether the work of axial forces on bending is in its equations


@dataclass(frozen=True)
class Fibres:
    """What is in the sections at both ends of a beam's elements, linear in its strain coordinates, and what it does there.

    forces: (sections, 4, N) axial force, torque about x, moments about y and z of the beam."""

    forces: Array
    places: Array  # distances of the sections from the beam's root
    E: Any
    area: Any
    Iy: Any
    Iz: Any
    J: Any
    form: tuple[str, tuple[Any, ...]]  # of its section, with sizes; nothing: not known
    limit: Any | None = None  # the material's yield stress


@dataclass(frozen=True)
class Body:
    mass: Any = 0
    MS_r: Array = field(default_factory=lambda: zeros(3))
    I_rr: Array = field(default_factory=lambda: zeros(3, 3))
    MS_de: Array = field(default_factory=lambda: zeros(3, 0))
    beta: Array = field(default_factory=lambda: zeros(3, 0))
    lam: Array = field(default_factory=lambda: zeros(0, 0, 3))
    I_re: Array = field(default_factory=lambda: zeros(0, 3, 3))
    I_ee: Array = field(default_factory=lambda: zeros(0, 0, 3, 3))
    M_ee: Array = field(default_factory=lambda: zeros(0, 0))
    K_ee: Array = field(default_factory=lambda: zeros(0, 0))
    D_ee: Array = field(default_factory=lambda: zeros(0, 0))
    H_ee: Array = field(default_factory=lambda: zeros(0, 0))  # loss stiffness of structural damping
    coordinates: tuple[str, ...] = ()  # names of the elastic coordinates
    units: tuple[str, ...] = ()  # m or rad, one per coordinate
    stretches: tuple[Stretch, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    outline: Outline | None = None
    reduced: Reduced | None = None
    slender: Slender | None = None
    fibres: Fibres | None = None
    stiffens: bool = True  # False: loads would change its stiffness, but nothing is known of the stresses in it

    @property
    def flexible(self) -> bool:
        return bool(self.coordinates)

    @cached_property
    def turning(self) -> Array:
        """Pairs of coordinates that I_ee has anything but zeros for (N, N)."""
        return np.asarray((self.I_ee != 0).any(axis=(2, 3)))

    @cached_property
    def drifting(self) -> Array:
        """The same of lam."""
        return np.asarray((self.lam != 0).any(axis=2))


def strains(body: Body, q: Array) -> Array:
    """Strain coordinates of a body at numbers q (..., N)."""
    x = q.copy()
    for t in body.stretches:
        own = q[..., t.bending]
        taken = 0.5 * np.einsum("...i,ij,...j->...", own, t.numbers, own)
        x[..., list(t.coordinates)] += taken[..., None]
    return x


def bent(body: Body, q: Array, step: Array) -> Array:
    """q + step to first order: the strain coordinates change as linearly as those that bend do."""
    moved: Array = q + step
    if body.stretches:
        moved += strains(body, q) + strain_gradient(body, q) @ step - strains(body, moved)
    return moved


def strain_gradient(body: Body, q: Array) -> Array:
    """T of the strain coordinates' change T dq, at numbers q: what the stiffness matrix acts on."""
    T = np.eye(len(q))
    for t in body.stretches:
        T[np.ix_(np.array(t.coordinates), t.bending)] += t.numbers @ q[t.bending]
    return T


def from_moments(mass: Any, s0: Array, S0: Array, s: Array, J: Array, E: Array) -> dict[str, Any]:
    """The record's inertial fields from int dm, r0, r0 r0^T, phi_k, r0 phi_k^T and phi_i phi_k^T."""
    n = s.shape[1]
    one = eye()
    beta, I_re = zeros(3, n), zeros(n, 3, 3)
    lam, I_ee, M_ee = zeros(n, n, 3), zeros(n, n, 3, 3), zeros(n, n)
    for k in range(n):
        beta[:, k] = axial(J[k])
        I_re[k] = np.trace(J[k]) * one - J[k].T
    for i, k in np.argwhere((E != 0).any(axis=(2, 3))).tolist():
        M_ee[i, k] = np.trace(E[i, k])
        lam[i, k] = axial(E[i, k])
        I_ee[i, k] = M_ee[i, k] * one - E[i, k].T
    return {
        "mass": mass, "MS_r": s0, "I_rr": np.trace(S0) * one - S0, "MS_de": s, "beta": beta,
        "lam": lam, "I_re": I_re, "I_ee": I_ee, "M_ee": M_ee,
    }  # fmt: skip


def moved(body: Body, R: Array, p: Array) -> Body:
    """The same body seen from a frame in which it is turned by R and then shifted by p."""
    if is_zero(p) and is_zero(R - eye()):
        return body
    n = len(body.coordinates)
    s = R @ body.MS_de
    P = hat(p)
    S = R @ body.MS_r
    I_rr = R @ body.I_rr @ R.T + body.mass * (P.T @ P) + P.T @ hat(S) + hat(S).T @ P
    beta = R @ body.beta
    I_re = zeros(n, 3, 3)
    for k in range(n):
        beta[:, k] = beta[:, k] + P @ s[:, k]
        I_re[k] = R @ body.I_re[k] @ R.T + P.T @ hat(s[:, k])
    lam, I_ee = zeros(n, n, 3), zeros(n, n, 3, 3)
    for i, k in np.argwhere(body.drifting).tolist():
        lam[i, k] = R @ body.lam[i, k]
    for i, k in np.argwhere(body.turning).tolist():
        I_ee[i, k] = R @ body.I_ee[i, k] @ R.T
    outline = body.outline
    if outline is not None:
        Phi_d = np.einsum("ab,pbn->pan", R, outline.Phi_d)
        axis = None if outline.axis is None else R @ outline.axis
        outline = replace(outline, position=outline.position @ R.T + p, Phi_d=Phi_d, axis=axis)
    shortened = tuple(
        replace(t, first=R @ t.first, dyad=R @ t.dyad @ R.T + np.outer(p, R @ t.first)) for t in body.shortened
    )
    return replace(
        body, MS_r=body.mass * p + S, I_rr=I_rr, MS_de=s, beta=beta, lam=lam, I_re=I_re, I_ee=I_ee,
        shortened=shortened, outline=outline,
    )  # fmt: skip


def moved_marker(marker: Marker, R: Array, p: Array) -> Marker:
    shortening = tuple(replace(s, axis=R @ s.axis) for s in marker.shortening)
    return Marker(p + R @ marker.position, R @ marker.rotation, R @ marker.Phi_d, R @ marker.Phi_r, shortening)


def fixed_marker(position: Array, rotation: Array, n: int = 0) -> Marker:
    """A marker that no elastic coordinate moves."""
    return Marker(position, rotation, zeros(3, n), zeros(3, n))


def offset_marker(marker: Marker, offset: Array, rotation: Array) -> Marker:
    """A frame held by a rigid arm `offset` (body axes) from a marker."""
    Phi_d = marker.Phi_d - hat(offset) @ marker.Phi_r
    return Marker(marker.position + offset, marker.rotation @ rotation, Phi_d, marker.Phi_r, marker.shortening)
