"""Beams: Euler-Bernoulli and Timoshenko elements in 2D and 3D, any number of elements.

Exact polynomial shape functions; a Timoshenko element's depend on its shear number phi = 12 E I / (k G A h^2) and
become Hermite's for phi = 0. Coordinates are the displacements (x, y, z) and rotations (rx, ry, rz) of every node but
the first, which is clamped to the body frame; planar beams keep x, y, rz.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from supple.robot.bodies.record import Array, Body, Marker, Outline, eye, from_moments, zeros
from supple.robot.bodies.section import CrossSection

DOFS = ("x", "y", "z", "rx", "ry", "rz")
PLANAR = (0, 1, 5)
SPATIAL = (0, 1, 2, 3, 4, 5)

Polynomial = list[Any]  # coefficients of 1, xi, xi^2, ...


@dataclass(frozen=True)
class BeamSpec:
    """A uniform beam along x of its own frame."""

    length: Any
    section: CrossSection
    E: Any
    G: Any
    rho: Any
    elements: int
    planar: bool
    shear: bool  # Timoshenko: shear flexibility and rotary inertia


def _bending(phi: Any) -> tuple[list[Polynomial], list[Polynomial]]:
    """Deflection and rotation shape functions of (v1, h theta1, v2, h theta2), v and h theta over xi."""
    f = Fraction(1, 2) * phi
    d = 1 if _zero(phi) else 1 / (1 + phi)
    deflection = [[1 + phi, -phi, -3, 2], [0, 1 + f, -2 - f, 1], [0, phi, 3, -2], [0, -f, -1 + f, 1]]
    slope = [[0, -6, 6], [1 + phi, -4 - phi, 3], [0, 6, -6], [0, -2 + phi, 3]]
    return [[d * c for c in p] for p in deflection], [[d * c for c in p] for p in slope]


def _zero(x: Any) -> bool:
    return isinstance(x, (int, float, Fraction)) and x == 0


def _product(p: Polynomial, q: Polynomial, power: int = 0) -> Any:
    """int_0^1 p q xi^power dxi."""
    total: Any = 0
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            if not _zero(a) and not _zero(b):
                total = total + a * b * Fraction(1, i + j + power + 1)
    return total


def _at(p: Polynomial, xi: Any) -> Any:
    total: Any = 0
    for c in reversed(p):
        total = total * xi + c
    return total


@dataclass(frozen=True)
class Element:
    """One element of length h: polynomials of displacement (3) and rotation (3) for its 12 nodal coordinates."""

    h: Any
    displacement: list[list[Polynomial]]  # [axis][coordinate]
    rotation: list[list[Polynomial]]
    K: Array


def element(spec: BeamSpec) -> Element:
    """The element every part of a uniform beam shares."""
    h = spec.length / spec.elements if isinstance(spec.length, float) else spec.length * Fraction(1, spec.elements)
    s = spec.section
    phi_y = 12 * spec.E * s.Iz / (s.ky * spec.G * s.area * h**2) if spec.shear else 0
    phi_z = 12 * spec.E * s.Iy / (s.kz * spec.G * s.area * h**2) if spec.shear else 0
    linear: list[Polynomial] = [[1, -1], [0, 1]]
    displacement: list[list[Polynomial]] = [[[] for _ in range(12)] for _ in range(3)]
    rotation: list[list[Polynomial]] = [[[] for _ in range(12)] for _ in range(3)]
    for end in range(2):
        displacement[0][6 * end] = linear[end]
        rotation[0][6 * end + 3] = linear[end]
    # x-y plane: (y, rz) with rz = dy/dx; x-z plane: (z, -ry) with ry = -dz/dx
    for lateral, turning, phi, sign in ((1, 5, phi_y, 1), (2, 4, phi_z, -1)):
        v, t = _bending(phi)
        for end in range(2):
            displacement[lateral][6 * end + lateral] = v[2 * end]
            displacement[lateral][6 * end + turning] = [sign * h * c for c in v[2 * end + 1]]
            rotation[turning - 3][6 * end + lateral] = [sign * c / h for c in t[2 * end]]
            rotation[turning - 3][6 * end + turning] = t[2 * end + 1]
    return Element(h, displacement, rotation, _stiffness(spec, h, phi_y, phi_z))


def _stiffness(spec: BeamSpec, h: Any, phi_y: Any, phi_z: Any) -> Array:
    K, s = zeros(12, 12), spec.section
    for a, k in ((0, spec.E * s.area / h), (3, spec.G * s.J / h)):
        K[a, a] = K[a + 6, a + 6] = k
        K[a, a + 6] = K[a + 6, a] = -k
    for lateral, turning, phi, inertia, sign in ((1, 5, phi_y, s.Iz, 1), (2, 4, phi_z, s.Iy, -1)):
        k = spec.E * inertia / (h**3 if _zero(phi) else h**3 * (1 + phi))
        block = [
            [12, 6 * h, -12, 6 * h],
            [6 * h, (4 + phi) * h**2, -6 * h, (2 - phi) * h**2],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, (2 - phi) * h**2, -6 * h, (4 + phi) * h**2],
        ]
        at = (lateral, turning, lateral + 6, turning + 6)
        signs = (1, sign, 1, sign)
        for i in range(4):
            for j in range(4):
                K[at[i], at[j]] = k * (signs[i] * signs[j]) * block[i][j]
    return K


def beam_body(spec: BeamSpec) -> Body:
    """The Body of a beam with its frame at the clamped end, x along the beam."""
    if spec.elements == 0:
        return replace(rigid_beam(spec), outline=_straight(spec))
    dofs = PLANAR if spec.planar else SPATIAL
    e, n = element(spec), len(dofs) * spec.elements
    density = spec.rho * spec.section.area * e.h  # mass of one element
    s, J, E, K = zeros(3, n), zeros(n, 3, 3), zeros(n, n, 3, 3), zeros(n, n)
    rot_beta, rot_M = zeros(3, n), zeros(n, n)
    sums, firsts = _first_integrals(e)
    pairs = _second_integrals(e, spec)
    for index in range(spec.elements):
        where = _coordinates_of(index, dofs)
        x0 = index * e.h
        for k, a in where.items():
            for axis in range(3):
                s[axis, a] += density * sums[axis][k]
                J[a, 0, axis] += density * (x0 * sums[axis][k] + e.h * firsts[axis][k])
            for axis in range(3):
                rot_beta[axis, a] += spec.rho * e.h * _rotary(spec, axis) * _product(e.rotation[axis][k], [1])
            for m, b in where.items():
                E[a, b] = E[a, b] + density * pairs[k][m][0]
                rot_M[a, b] += spec.rho * e.h * pairs[k][m][1]
                K[a, b] += e.K[k, m]
    rigid = rigid_beam(spec)
    fields = from_moments(rigid.mass, rigid.MS_r, zeros(3, 3), s, J, E)
    fields |= {"I_rr": rigid.I_rr, "beta": fields["beta"] + rot_beta, "M_ee": fields["M_ee"] + rot_M}
    names = tuple(f"{DOFS[d]}{node + 1}" for node in range(spec.elements) for d in dofs)
    units = tuple("m" if d < 3 else "rad" for _ in range(spec.elements) for d in dofs)
    return Body(**fields, K_ee=K, D_ee=zeros(n, n), H_ee=zeros(n, n), coordinates=names, units=units, outline=_outline(spec))


def rigid_beam(spec: BeamSpec) -> Body:
    """A beam that does not bend: a line of mass with the rotary inertia its theory gives its sections."""
    mass = spec.rho * spec.section.area * spec.length
    L = spec.length
    MS, I_rr = zeros(3), zeros(3, 3)
    MS[0] = mass * L / 2 if isinstance(mass, float) else mass * L * Fraction(1, 2)
    along = mass * L**2 * Fraction(1, 3)
    I_rr[1, 1] = along + spec.rho * L * _rotary(spec, 1)
    I_rr[2, 2] = along + spec.rho * L * _rotary(spec, 2)
    I_rr[0, 0] = spec.rho * L * _rotary(spec, 0)
    return Body(mass=mass, MS_r=MS, I_rr=I_rr)


def _rotary(spec: BeamSpec, axis: int) -> Any:
    """Second moment of area whose rotation carries inertia: torsion always, bending in Timoshenko's theory only."""
    if axis == 0:
        return 0 if spec.planar else spec.section.polar
    if not spec.shear or (spec.planar and axis == 1):
        return 0
    return spec.section.Iy if axis == 1 else spec.section.Iz


def _coordinates_of(index: int, dofs: tuple[int, ...]) -> dict[int, int]:
    """Element coordinate -> body coordinate, for element number `index`; the clamped node has none."""
    where = {}
    for end in range(2):
        node = index + end
        if node > 0:
            for j, d in enumerate(dofs):
                where[6 * end + d] = len(dofs) * (node - 1) + j
    return where


def _first_integrals(e: Element) -> tuple[list[list[Any]], list[list[Any]]]:
    """int phi_k dxi and int xi phi_k dxi per axis and coordinate."""
    sums = [[_product(p, [1]) for p in axis] for axis in e.displacement]
    firsts = [[_product(p, [1], 1) for p in axis] for axis in e.displacement]
    return sums, firsts


def _second_integrals(e: Element, spec: BeamSpec) -> list[list[tuple[Array, Any]]]:
    """int phi_i phi_k^T dxi, and the rotary inertia per unit density, for every pair of coordinates."""
    pairs: list[list[tuple[Array, Any]]] = []
    for i in range(12):
        row = []
        for k in range(12):
            T = zeros(3, 3)
            rotary: Any = 0
            for a in range(3):
                rotary += _rotary(spec, a) * _product(e.rotation[a][i], e.rotation[a][k])
                for b in range(3):
                    T[a, b] = _product(e.displacement[a][i], e.displacement[b][k])
            row.append((T, rotary))
        pairs.append(row)
    return pairs


def beam_marker(spec: BeamSpec, fraction: Any) -> Marker:
    """The section at `fraction` of the beam's length: its place and how the coordinates move it."""
    dofs = PLANAR if spec.planar else SPATIAL
    n = len(dofs) * spec.elements
    position = zeros(3)
    position[0] = fraction * spec.length
    Phi_d, Phi_r = zeros(3, n), zeros(3, n)
    if spec.elements:
        e = element(spec)
        index = min(int(fraction * spec.elements), spec.elements - 1)
        xi = fraction * spec.elements - index
        for k, a in _coordinates_of(index, dofs).items():
            for axis in range(3):
                Phi_d[axis, a] = _at(e.displacement[axis][k], xi)
                Phi_r[axis, a] = _at(e.rotation[axis][k], xi)
    return Marker(position, eye(), Phi_d, Phi_r)


def _outline(spec: BeamSpec, per_element: int = 8) -> Outline:
    count = per_element * spec.elements
    markers = [beam_marker(spec, Fraction(i, count)) for i in range(count + 1)]
    return Outline(np.array([m.position for m in markers]), np.array([m.Phi_d for m in markers]))


def _straight(spec: BeamSpec) -> Outline:
    position = zeros(2, 3)
    position[1, 0] = spec.length
    return Outline(position, zeros(2, 3, 0))
