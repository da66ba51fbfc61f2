"""Beams: Euler-Bernoulli and Timoshenko elements in 2D and 3D, any number of elements.

Coordinates are the displacements (x, y, z) and rotations (rx, ry, rz) of every node but the first, which is clamped to
the body frame; planar beams keep x, y, rz. Bending shortens a beam: see `shortening`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from supple.robot.bodies.beam_element import BeamSpec, Coefficients, Element, at, integrated_product
from supple.robot.bodies.record import Array, Body, Fibres, Marker, Outline, Slender, eye, from_moments, zeros
from supple.robot.bodies.shortening import PLANAR, SPATIAL, coordinates_of, stretches

DOFS = ("x", "y", "z", "rx", "ry", "rz")
_ROUNDING = 1e-13
DRAWN = 8  # points of the drawing per element


def beam_body(spec: BeamSpec) -> Body:
    """The Body of a beam with its frame at the clamped end, x along the beam."""
    if spec.elements == 0:
        return replace(rigid_beam(spec), outline=_straight(spec))
    dofs = PLANAR if spec.planar else SPATIAL
    e, n = spec.element, len(dofs) * spec.elements
    density = spec.rho * spec.section.area * e.h  # mass of one element
    s, J, E, K = zeros(3, n), zeros(n, 3, 3), zeros(n, n, 3, 3), zeros(n, n)
    rot_beta, rot_M = zeros(3, n), zeros(n, n)
    sums, firsts = _first_integrals(e)
    pairs = {pair: (density * T, spec.rho * e.h * rotary) for pair, (T, rotary) in _second_integrals(e, spec).items()}
    for index in range(spec.elements):
        where = coordinates_of(index, dofs)
        x0 = index * e.h
        for k, a in where.items():
            for axis in range(3):
                s[axis, a] = _summed(s[axis, a], density * sums[axis][k])
                J[a, 0, axis] = _summed(J[a, 0, axis], density * (x0 * sums[axis][k] + e.h * firsts[axis][k]))
            for axis in range(3):
                own = spec.rho * e.h * _rotary(spec, axis) * integrated_product(e.rotation[axis][k], [1])
                rot_beta[axis, a] = _summed(rot_beta[axis, a], own)
            for m, b in where.items():
                K[a, b] = _summed(K[a, b], e.K[k, m])
                if (k, m) in pairs:
                    E[a, b] = _sums(E[a, b], pairs[k, m][0])
                    rot_M[a, b] = _summed(rot_M[a, b], pairs[k, m][1])
    rigid = rigid_beam(spec)
    fields = from_moments(rigid.mass, rigid.MS_r, zeros(3, 3), s, J, E)
    fields |= {"I_rr": rigid.I_rr, "beta": fields["beta"] + rot_beta, "M_ee": fields["M_ee"] + rot_M}
    names = tuple(f"{DOFS[d]}{node + 1}" for node in range(spec.elements) for d in dofs)
    units = tuple("m" if d < 3 else "rad" for _ in range(spec.elements) for d in dofs)
    return Body(
        **fields, K_ee=K, D_ee=zeros(n, n), H_ee=zeros(n, n), coordinates=names, units=units,
        stretches=stretches(spec), outline=_outline(spec), slender=_slender(spec, e),
        fibres=_fibres(spec, e),
    )  # fmt: skip


def _summed(a: Any, b: Any) -> Any:
    """a + b; 0 where elements cancel each other but for rounding."""
    total = a + b
    return 0 if isinstance(total, float) and abs(total) < _ROUNDING * max(abs(a), abs(b)) else total


_sums = np.frompyfunc(_summed, 2, 1)


def _slender(spec: BeamSpec, e: Element) -> Slender | None:
    """The Slender of a beam of numbers."""
    s, dofs = spec.section, PLANAR if spec.planar else SPATIAL
    if not all(isinstance(x, (int, float, Fraction)) for x in (spec.length, spec.E, spec.rho, s.area, s.Iy, s.Iz)):
        return None
    n = len(dofs) * spec.elements
    axial = np.zeros((spec.elements, n))
    for index in range(spec.elements):
        for k, a in coordinates_of(index, dofs).items():
            if k in (0, 6):
                axial[index, a] = (1 if k else -1) * spec.E * s.area / e.h
    turning = np.eye(n)[[a for a in range(n) if dofs[a % len(dofs)] in (4, 5)]]
    bending = float(spec.E * (s.Iz if spec.planar else min(s.Iy, s.Iz)))
    clamped = 1.875104**2 * (bending / float(spec.rho * s.area)) ** 0.5 / float(spec.length) ** 2
    return Slender(float(spec.length), float(e.h), bending, clamped, axial, turning, _tipping(spec, e), spec.shortens)


def _tipping(spec: BeamSpec, e: Element) -> Array:
    """Bending moments at the ends of every element relative to pi sqrt(E I G J) / L, with the other plane's E I: there a
    beam of length L, bent evenly between forked ends, tips over. In the plane nothing can."""
    s, n = spec.section, (len(PLANAR) if spec.planar else len(SPATIAL)) * spec.elements
    if spec.planar or not all(isinstance(x, (int, float, Fraction)) for x in (spec.G, s.J)):
        return np.zeros((0, n))
    rows = np.zeros((4 * spec.elements, n))
    for index in range(spec.elements):
        for r, (row, other) in enumerate(((4, s.Iz), (10, s.Iz), (5, s.Iy), (11, s.Iy))):
            most = np.pi * (float(spec.E * other) * float(spec.G * s.J)) ** 0.5 / float(spec.length)
            for k, a in coordinates_of(index, SPATIAL).items():
                rows[4 * index + r, a] = float(e.K[row, k]) / most
    return rows


def _fibres(spec: BeamSpec, e: Element) -> Fibres:
    """The Fibres of a beam: forces at the ends of its elements, K of the element times its coordinates."""
    s, dofs = spec.section, PLANAR if spec.planar else SPATIAL
    forces, places = zeros(2 * spec.elements, 4, len(dofs) * spec.elements), zeros(2 * spec.elements)
    for index in range(spec.elements):
        for end, sign in ((0, -1), (1, 1)):
            places[2 * index + end] = (index + end) * e.h
            for row, own in enumerate((0, 3, 4, 5)):
                for k, a in coordinates_of(index, dofs).items():
                    forces[2 * index + end, row, a] = sign * e.K[6 * end + own, k]
    return Fibres(forces, places, spec.E, s.area, s.Iy, s.Iz, s.J, s.form, spec.limit)


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


def _first_integrals(e: Element) -> tuple[list[list[Any]], list[list[Any]]]:
    """int phi_k dxi and int xi phi_k dxi per axis and coordinate."""
    sums = [[integrated_product(p, [1]) for p in axis] for axis in e.displacement]
    firsts = [[integrated_product(p, [1], 1) for p in axis] for axis in e.displacement]
    return sums, firsts


def _second_integrals(e: Element, spec: BeamSpec) -> dict[tuple[int, int], tuple[Array, Any]]:
    """int phi_i phi_k^T dxi, and the rotary inertia per unit density, for pairs of coordinates that move along an axis or
    turn about one together."""
    moved = [[a for a in range(3) if e.displacement[a][k]] for k in range(12)]
    turned = [{a for a in range(3) if e.rotation[a][k]} for k in range(12)]
    pairs: dict[tuple[int, int], tuple[Array, Any]] = {}
    for i, k in product(range(12), repeat=2):
        both = sorted(turned[i] & turned[k])
        if not (moved[i] and moved[k]) and not both:
            continue
        T = zeros(3, 3)
        for a, b in product(moved[i], moved[k]):
            T[a, b] = integrated_product(e.displacement[a][i], e.displacement[b][k])
        rotary: Any = 0
        for a in both:
            rotary += _rotary(spec, a) * integrated_product(e.rotation[a][i], e.rotation[a][k])
        pairs[i, k] = T, rotary
    return pairs


def beam_marker(spec: BeamSpec, fraction: Any) -> Marker:
    """The section at `fraction` of the beam's length: its place and how the coordinates move it."""
    place = zeros(3)
    place[0] = fraction * spec.length
    e = spec.element if spec.elements else None
    Phi_d, Phi_r = (_shapes(spec, fraction, *f) for f in (((e.displacement, 0), (e.rotation, 3)) if e else (((),), ((),))))
    return Marker(place, eye(), Phi_d, Phi_r)


def _shapes(spec: BeamSpec, fraction: Any, shapes: Sequence[Sequence[Coefficients]], first: int = 0) -> Array:
    """Shape functions of an element (axis, coordinate) at a fraction of the beam, for the coordinates of the beam.

    `first`: the node's coordinate along the first axis, which is all that moves there (and no rounding beside it)."""
    dofs = PLANAR if spec.planar else SPATIAL
    made = zeros(3, len(dofs) * spec.elements)
    index = min(int(fraction * spec.elements), spec.elements - 1)
    xi = fraction * spec.elements - index
    xi = round(xi) if abs(xi - round(xi)) < _ROUNDING else xi
    for axis, own in enumerate(shapes):
        for k, a in coordinates_of(index, dofs).items():
            made[axis, a] = int(k == 6 * xi + first + axis) if xi in (0, 1) else at(own[k], xi)
    return made


def _outline(spec: BeamSpec) -> Outline:
    places = [Fraction(i, DRAWN * spec.elements) for i in range(DRAWN * spec.elements + 1)]
    position = zeros(len(places), 3)
    position[:, 0] = [x * spec.length for x in places]
    return Outline(position, np.array([_shapes(spec, x, spec.element.displacement) for x in places]))


def _straight(spec: BeamSpec) -> Outline:
    position = zeros(2, 3)
    position[1, 0] = spec.length
    return Outline(position, zeros(2, 3, 0))
