"""How bending shortens a beam: the second order of its displacements, which axial loads do work on.

A section at x is drawn towards the root by the slope of the deflection before it,

    u_x = stretch - 1/2 q.G(x) q,    G(x) = int_0^x (v'^T v' + w'^T w') ds

From it follow softening under compression, stiffening in tension, and the centrifugal stiffening of a turning beam. A beam
described by its nodes has their true axial displacements u_x as coordinates: the stretch is quadratic, and only the elastic
energy changes (between nodes u_x is linear). A reduced beam has the stretch as coordinate: its displacements are quadratic,
at every section by G, over the mass by integrals of rho A G.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from supple.robot.bodies.beam_element import BeamSpec, Coefficients, Element, integrated_product, zero
from supple.robot.bodies.record import Array, Shortened, Shortening, Stretch, eye, zeros

PLANAR = (0, 1, 5)
SPATIAL = (0, 1, 2, 3, 4, 5)


def coordinates_of(index: int, dofs: tuple[int, ...]) -> dict[int, int]:
    """Element coordinate -> body coordinate, for element number `index`; the clamped node has none."""
    where = {}
    for end in range(2):
        node = index + end
        if node > 0:
            for j, d in enumerate(dofs):
                where[6 * end + d] = len(dofs) * (node - 1) + j
    return where


def stretches(spec: BeamSpec) -> tuple[Stretch, ...]:
    """What bending takes off every element of a beam described by its nodes."""
    if not _shortens(spec):
        return ()
    e, size = spec.element, len(PLANAR if spec.planar else SPATIAL)
    slopes, made = _slopes(e, 0, 1), []
    for index in range(spec.elements):
        G = _empty(spec)
        _add(G, spec, index, slopes)
        made.append(Stretch(tuple(size * node for node in range(index, spec.elements)), G))
    return tuple(made)


def section_shortening(spec: BeamSpec, fraction: Any) -> tuple[Shortening, ...]:
    """How far bending draws the section at `fraction` of the length towards the root; nothing at the root itself."""
    if not _shortens(spec) or zero(fraction):
        return ()
    e, G = spec.element, _empty(spec)
    index = min(int(fraction * spec.elements), spec.elements - 1)
    for k in range(index):
        _add(G, spec, k, _slopes(e, 0, 1))
    _add(G, spec, index, _slopes(e, 0, fraction * spec.elements - index))
    return (Shortening(eye()[:, 0], G),)


def drawn_shortening(spec: BeamSpec, per_element: int) -> tuple[Array, Array] | None:
    """The beam's axis, and G of every stretch between the points of its drawing (P x N x N, nothing before the first)."""
    if not _shortens(spec):
        return None
    e = spec.element
    steps = np.full((per_element * spec.elements + 1, *_empty(spec).shape), 0, dtype=object)
    stretches = [_slopes(e, Fraction(k, per_element), Fraction(k + 1, per_element)) for k in range(per_element)]
    for index in range(spec.elements):
        for k, slopes in enumerate(stretches):
            _add(steps[1 + index * per_element + k], spec, index, slopes)
    return eye()[:, 0], steps


def shortened_masses(spec: BeamSpec) -> tuple[Shortened, ...]:
    """The second-order displacements integrated over the beam's mass, along x, and with every axial shape function."""
    if not _shortens(spec):
        return ()
    e, G_m, G_mx = spec.element, _empty(spec), _empty(spec)
    line, L = spec.rho * spec.section.area, spec.length
    S0, S1, S2 = (_slopes(e, 0, 1, power) for power in range(3))
    for index in range(spec.elements):
        x0 = index * e.h
        _add(G_m, spec, index, line * ((L - x0) * S0 - e.h * S1))  # mass behind a section: rho A (L - s)
        behind = (L * L - x0 * x0) * S0 - 2 * x0 * e.h * S1 - e.h * e.h * S2
        _add(G_mx, spec, index, line * Fraction(1, 2) * behind)
    x, none, nothing = eye()[:, 0], zeros(3), zeros(len(G_m))
    whole = (Shortened(x, zeros(3, 3), nothing, G_m), Shortened(none, np.outer(x, x), nothing, G_mx))
    return whole + tuple(_with_stretch(spec, node) for node in range(1, spec.elements + 1))


def _with_stretch(spec: BeamSpec, node: int) -> Shortened:
    """int phi.u dm of the axial shape function phi of a node: a hat over the elements beside it.

    The mass phi dm behind s is that of a whole hat before it, of a part of it within."""
    e, G = spec.element, _empty(spec)
    mass = spec.rho * spec.section.area * e.h
    S0, S1, S2 = (_slopes(e, 0, 1, power) for power in range(3))
    half, last = Fraction(1, 2), node == spec.elements
    for index in range(node - 1):
        _add(G, spec, index, mass * (half if last else 1) * S0)
    _add(G, spec, node - 1, mass * ((half if last else 1) * S0 - half * S2))  # phi = xi
    if not last:
        _add(G, spec, node, mass * half * (S0 - 2 * S1 + S2))  # phi = 1 - xi
    shape, size = zeros(len(G)), len(PLANAR if spec.planar else SPATIAL)
    shape[size * (node - 1)] = 1
    return Shortened(zeros(3), zeros(3, 3), shape, G)


def _shortens(spec: BeamSpec) -> bool:
    return spec.shortens and spec.elements > 0


def _empty(spec: BeamSpec) -> Array:
    n = (len(PLANAR) if spec.planar else len(SPATIAL)) * spec.elements
    return zeros(n, n)


def _add(G: Array, spec: BeamSpec, index: int, slopes: Array) -> None:
    where = coordinates_of(index, PLANAR if spec.planar else SPATIAL)
    for i, a in where.items():
        for k, b in where.items():
            if not zero(slopes[i, k]):
                G[a, b] = G[a, b] + slopes[i, k]


def _slopes(e: Element, start: Any, end: Any, power: int = 0) -> Array:
    """int v_i' v_k' xi^power ds over xi from start to end of an element, both planes of bending."""
    made = zeros(12, 12)
    for axis in (1, 2):
        slopes = [[n * c for n, c in enumerate(p)][1:] for p in e.displacement[axis]]
        for i, a in enumerate(slopes):
            for k in range(i, 12):
                if a and slopes[k]:
                    made[i, k] = made[k, i] = _between(a, slopes[k], start, end, power) / e.h
    return made


def _between(p: Coefficients, q: Coefficients, start: Any, end: Any, power: int) -> Any:
    if zero(start) and zero(end - 1):
        return integrated_product(p, q, power)
    total: Any = 0
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            n = i + j + power + 1
            total = total + a * b * (end**n - start**n) * Fraction(1, n)
    return total
