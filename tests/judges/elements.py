"""Energies of beams, springs and forces, and the constraints of joints, as jets over the increments of two nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from judges.jets import Jet, cross, dot, plus, times, turned, unit, variables
from judges.rotations import skew

Array = np.ndarray


@dataclass(frozen=True)
class Beam:
    """A uniform beam. Shear factors of zero leave shear and the rotary inertia of bending out (Euler-Bernoulli)."""

    E: float
    G: float
    rho: float
    area: float
    Iy: float  # int z^2 dA
    Iz: float  # int y^2 dA
    J: float
    ky: float = 0.0
    kz: float = 0.0


@dataclass(frozen=True)
class Element:
    nodes: tuple[int, int]
    offsets: tuple[Array, Array]  # of its ends, in the nodes' axes
    turns: tuple[Array, Array]  # its triad at rest, in the nodes' axes
    length: float
    beam: Beam

    def shear(self) -> tuple[float, float]:
        """12 EI / (k G A L^2) of bending in x-y and x-z."""
        b = self.beam
        y = 12 * b.E * b.Iz / (b.ky * b.G * b.area * self.length**2) if b.ky else 0.0
        z = 12 * b.E * b.Iy / (b.kz * b.G * b.area * self.length**2) if b.kz else 0.0
        return y, z


@dataclass(frozen=True)
class Energy:
    """A batch of energies over the twelve increments of pairs of nodes."""

    nodes: list[tuple[int, int]]
    jet: Jet


@dataclass(frozen=True)
class _Chord:
    """Elements seen from their chords: stretch, ends, frame and local rotations."""

    stretch: Jet
    ends: list[list[Jet]]
    frame: list[list[Jet]]
    theta: list[list[Jet]]  # [end][axis]


def _increments(batch: int) -> list[Jet]:
    return variables(np.zeros((batch, 12)))


def _points(state: Any, nodes: Array, offsets: Array, u: list[Jet]) -> list[Jet]:
    """Points fixed to nodes, as jets of the nodes' increments u (6)."""
    arms = turned(u[3:], np.einsum("bij,bj->bi", state.R[nodes], offsets))
    return [arms[k] + u[k] + state.x[nodes, k] for k in range(3)]


def _chords(elements: list[Element], state: Any) -> _Chord:
    u = _increments(len(elements))
    ends, triads = [], []
    for end in range(2):
        nodes = np.array([e.nodes[end] for e in elements])
        du = u[6 * end : 6 * end + 6]
        ends.append(_points(state, nodes, np.array([e.offsets[end] for e in elements]), du))
        T = state.R[nodes] @ np.array([e.turns[end] for e in elements])
        triads.append([turned(du[3:], T[:, :, k]) for k in range(3)])
    between = plus(ends[1], times(ends[0], -1.0))
    length = np.array([e.length for e in elements])
    squared = dot(between, between)
    stretch = (squared - length**2) / (squared.sqrt() + length)  # l - L without cancellation
    e1 = unit(between)
    e3 = unit(cross(e1, plus(triads[0][1], triads[1][1])))
    frame = [e1, cross(e3, e1), e3]
    return _Chord(stretch, ends, frame, [_local_rotation(frame, t) for t in triads])


def _local_rotation(frame: list[list[Jet]], triad: list[list[Jet]]) -> list[Jet]:
    """The rotation vector from frame to triad, from its sine; a series good to 1e-9 at 0.15 rad."""
    e, t = frame, triad
    sines = [0.5 * (dot(e[(k + 2) % 3], t[(k + 1) % 3]) - dot(e[(k + 1) % 3], t[(k + 2) % 3])) for k in range(3)]
    s = dot(sines, sines)
    factor = 1.0 + s * (1 / 6 + s * (3 / 40 + s * (15 / 336 + s * (105 / 3456))))
    return times(sines, factor)


def _shapes(phi: float) -> tuple[Array, Array]:
    """Slopes v' and rotations, polynomials of xi (rows), per end rotation of an element whose ends stay on the chord."""
    d = 1 / (1 + phi)
    deflection = d * np.array([[0, 1 + phi / 2, -2 - phi / 2, 1], [0, -phi / 2, -1 + phi / 2, 1]])
    turning = d * np.array([[1 + phi, -4 - phi, 3], [0, -2 + phi, 3]])
    return np.array([polynomial.polyder(p) for p in deflection]), turning


def _slope_forms(phi: float) -> tuple[Array, Array]:
    """int v'v'^T dxi, and int (1/2 - xi) v'v'^T dxi: how the ends' rotations draw the beam's points along its chord."""
    slopes, _ = _shapes(phi)
    forms = np.zeros((2, 2, 2))
    for i in range(2):
        for j in range(2):
            product = polynomial.polymul(slopes[i], slopes[j])
            forms[0, i, j] = _integral(product)
            forms[1, i, j] = _integral(polynomial.polymul(product, [0.5, -1.0]))
    return forms[0], forms[1]


def _integral(p: Array) -> float:
    return float(polynomial.polyval(1.0, polynomial.polyint(p)))


def _form(Q: Array, a: Jet, b: Jet) -> Jet:
    """[a b] Q [a b]^T for a batch of symmetric Q (batch, 2, 2)."""
    return Q[:, 0, 0] * (a * a) + 2 * Q[:, 0, 1] * (a * b) + Q[:, 1, 1] * (b * b)


def _forms(elements: list[Element], which: int) -> tuple[Array, Array]:
    """The slope forms of both planes of bending."""
    return tuple(np.array([_slope_forms(e.shear()[plane])[which] for e in elements]) for plane in range(2))


def _bending(elements: list[Element], plane: int) -> Array:
    """Stiffness of the ends' rotations: EI/L [[4 + phi, 2 - phi], [2 - phi, 4 + phi]] / (1 + phi)."""
    made = []
    for e in elements:
        phi, EI = e.shear()[plane], e.beam.E * (e.beam.Iz, e.beam.Iy)[plane]
        made.append(EI / e.length / (1 + phi) * np.array([[4 + phi, 2 - phi], [2 - phi, 4 + phi]]))
    return np.array(made)


def beam_energy(elements: list[Element], state: Any) -> Energy:
    """Strain energy of elements: mean axial strain with the slopes' share, bending, torsion."""
    c = _chords(elements, state)
    L = np.array([e.length for e in elements])
    EA = np.array([e.beam.E * e.beam.area for e in elements])
    GJ = np.array([e.beam.G * e.beam.J for e in elements])
    (_, y1, z1), (_, y2, z2) = c.theta
    in_y, in_z = _forms(elements, 0)
    strain = c.stretch / L + 0.5 * (_form(in_y, z1, z2) + _form(in_z, y1, y2))
    twist = c.theta[1][0] - c.theta[0][0]
    bending = _form(_bending(elements, 0), z1, z2) + _form(_bending(elements, 1), y1, y2)
    energy = 0.5 * (strain * strain * (EA * L) + bending + twist * twist * (GJ / L))
    return Energy([e.nodes for e in elements], energy)


def gravity_of_beams(elements: list[Element], state: Any, gravity: Array) -> Energy:
    """Potential energy of the elements' weight, with the bow of the beam and what its slopes draw along the chord."""
    c = _chords(elements, state)
    L = np.array([e.length for e in elements])
    mass = np.array([e.beam.rho * e.beam.area for e in elements]) * L
    (_, y1, z1), (_, y2, z2) = c.theta
    in_y, in_z = _forms(elements, 1)
    along = -0.5 * (_form(in_y, z1, z2) + _form(in_z, y1, y2))
    bow = [along, (z1 - z2) * (1 / 12), (y2 - y1) * (1 / 12)]
    mean = times(plus(c.ends[0], c.ends[1]), 0.5)
    for axis, size in zip(c.frame, bow, strict=True):
        mean = plus(mean, times(axis, size * L))
    return Energy([e.nodes for e in elements], sum(mean[k] * (-mass * gravity[k]) for k in range(3)))


def beam_mass(elements: list[Element], state: Any) -> list[Array]:
    """Consistent mass matrices (12 x 12) on the velocities of the elements' nodes, in base axes."""
    c = _chords(elements, state)
    made = []
    for k, e in enumerate(elements):
        frame = np.array([[component.v[k] for component in axis] for axis in c.frame])  # rows: e1, e2, e3
        T = np.zeros((12, 12))
        for end in range(2):
            arm = state.R[e.nodes[end]] @ e.offsets[end]
            T[6 * end : 6 * end + 3, 6 * end : 6 * end + 3] = frame
            T[6 * end : 6 * end + 3, 6 * end + 3 : 6 * end + 6] = -frame @ skew(arm)
            T[6 * end + 3 : 6 * end + 6, 6 * end + 3 : 6 * end + 6] = frame
        made.append(T.T @ _local_mass(e) @ T)
    return made


def _local_mass(e: Element) -> Array:
    """By Gauss' quadrature of the interpolated velocities."""
    b, L = e.beam, e.length
    M = np.zeros((12, 12))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    for xi, weight in zip(0.5 * (nodes + 1), 0.5 * weights, strict=True):
        N = _interpolation(e, xi)
        rotary = np.diag([b.rho * (b.Iy + b.Iz), b.rho * b.Iy if b.kz else 0.0, b.rho * b.Iz if b.ky else 0.0])
        M += weight * L * (b.rho * b.area * N[:3].T @ N[:3] + N[3:].T @ rotary @ N[3:])
    return M


def _interpolation(e: Element, xi: float) -> Array:
    """Velocity and spin (6) of the section at xi from those of the ends (12), in the chord's frame."""
    N, L = np.zeros((6, 12)), e.length
    for end, share in enumerate((1 - xi, xi)):
        N[0, 6 * end] = N[3, 6 * end + 3] = share
    for lateral, turning, phi, sign in ((1, 5, e.shear()[0], 1.0), (2, 4, e.shear()[1], -1.0)):
        d = 1 / (1 + phi)
        step = d * np.array([0, phi, 3, -2])  # lateral shape of the second end's displacement
        bow = d * np.array([[0, 1 + phi / 2, -2 - phi / 2, 1], [0, -phi / 2, -1 + phi / 2, 1]])
        lean = d * np.array([0, 6, -6]) / L
        _, turn = _shapes(phi)
        second = polynomial.polyval(xi, step)
        N[lateral, lateral], N[lateral, 6 + lateral] = 1 - second, second
        spin = sign * polynomial.polyval(xi, lean)
        N[turning, lateral], N[turning, 6 + lateral] = -spin, spin
        for end in range(2):
            N[lateral, 6 * end + turning] = sign * L * polynomial.polyval(xi, bow[end])
            N[turning, 6 * end + turning] = polynomial.polyval(xi, turn[end])
    return N


def point_force(loads: list[Any], state: Any) -> Energy:
    """Potential of constant forces at points of nodes."""
    u = _increments(len(loads))
    nodes = np.array([load.node for load in loads])
    p = _points(state, nodes, np.array([load.offset for load in loads]), u[:6])
    forces = np.array([load.force for load in loads])
    jet = sum(p[k] * (-forces[:, k]) for k in range(3))
    return Energy([(n, n) for n in nodes], jet)


def _pair(joint: Any, state: Any, points: bool) -> tuple[list[Jet], list[Jet]]:
    """Points, or axes, of a joint's two nodes as jets."""
    u, found = _increments(1), []
    for end in range(2):
        node, du = np.array([joint.nodes[end]]), u[6 * end : 6 * end + 6]
        if points:
            found.append(_points(state, node, joint.points[end][None], du))
        else:
            found.append(turned(du[3:], np.einsum("bij,j->bi", state.R[node], joint.axes[end])))
    return found[0], found[1]


def point_gap(joint: Any, state: Any) -> list[Jet]:
    """Pb - Pa."""
    a, b = _pair(joint, state, points=True)
    return plus(b, times(a, -1.0))


def axis_distance(joint: Any, state: Any) -> list[Jet]:
    """a . b of an axis on each node."""
    a, b = _pair(joint, state, points=False)
    return [dot(a, b)]


def axis_slide(joint: Any, state: Any) -> list[Jet]:
    """(Pb - Pa) . a along an axis of node a."""
    a, _ = _pair(joint, state, points=False)
    return [dot(point_gap(joint, state), a)]


def spring_energy(springs: list[Any], state: Any, rest: list[Array]) -> Energy:
    """k/2 (slide - its value at rest)^2."""
    jets = [axis_slide(s, state)[0] - r[0] for s, r in zip(springs, rest, strict=True)]
    energies = [0.5 * s.stiffness * (jet * jet) for s, jet in zip(springs, jets, strict=True)]
    stacked: Callable[[str], Array] = lambda name: np.concatenate([getattr(e, name) for e in energies])  # noqa: E731
    return Energy([s.nodes for s in springs], Jet(stacked("v"), stacked("g"), stacked("h")))
