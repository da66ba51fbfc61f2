"""Frames of corotational beams: equilibrium under load at large displacements, and small vibrations about it.

A second derivation for tests: it imports nothing of supple and shares no idea with its floating frames. A node is a place
and a triad; increments are a displacement and a rotation vector, both in base axes. The energy of an element is written
once, with jets, in the frame of its chord:

    V = L/2 [ EA e^2 + bending and torsion of the ends' rotations ],   e = (l - L)/L + 1/(2L) int (v'^2 + w'^2) dx,

so its Hessian holds the consistent geometric stiffness. Joints are constraints with multipliers; the constraints' own
curvature under load is part of the tangent: K = d^2 (V + lambda c).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import eigh, null_space

from judges.elements import (
    Beam,
    Element,
    Energy,
    axis_distance,
    axis_slide,
    beam_energy,
    beam_mass,
    gravity_of_beams,
    point_force,
    point_gap,
    spring_energy,
)
from judges.rotations import rotation, skew

Array = np.ndarray
PLANAR = (2, 3, 4)  # held at every node of a frame in the x-y plane


@dataclass(frozen=True)
class Load:
    node: int
    offset: Array  # in the node's axes
    force: Array  # in base axes


@dataclass(frozen=True)
class Mass:
    node: int
    mass: float
    centre: Array  # in the node's axes
    inertia: Array  # about the centre, in the node's axes


@dataclass(frozen=True)
class Joint:
    """One kind of constraint or spring between points and axes of two nodes, all in the nodes' axes."""

    kind: str  # gap: points coincide; angle: a . b stays; slide: (Pb - Pa) . a stays
    nodes: tuple[int, int]
    points: tuple[Array, Array]
    axes: tuple[Array, Array]
    stiffness: float = 0.0  # of a spring along a


@dataclass(frozen=True)
class State:
    """Places, triads and multipliers."""

    x: Array  # (nodes, 3)
    R: Array  # (nodes, 3, 3)
    multipliers: Array


@dataclass
class Frame:
    planar: bool = False
    gravity: Array = field(default_factory=lambda: np.zeros(3))
    places: list[Array] = field(default_factory=list)
    triads: list[Array] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    elements: list[Element] = field(default_factory=list)
    masses: list[Mass] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    springs: list[Joint] = field(default_factory=list)

    # what the frame is made of

    def node(self, place: Array, triad: Array | None = None, hold: str = "") -> int:
        """The number of a new node; hold names what is fixed of it: any of x y z and u v w (turns), or `all`."""
        self.places.append(np.asarray(place, dtype=float))
        self.triads.append(np.eye(3) if triad is None else np.asarray(triad, dtype=float))
        number = len(self.places) - 1
        letters = "xyzuvw" if hold == "all" else hold
        self.held |= {6 * number + "xyzuvw".index(c) for c in letters}
        self.held |= {6 * number + k for k in PLANAR} if self.planar else set()
        return number

    def point(self, node: int, offset: Array = (0, 0, 0)) -> Array:
        return self.places[node] + self.triads[node] @ np.asarray(offset, dtype=float)

    def beam(self, a: int, b: int, beam: Beam, count: int, up: Array = (0, 0, 1), ra=(0, 0, 0), rb=(0, 0, 0)) -> list[int]:
        """Nodes of a straight beam of `count` elements from a point of node a to a point of node b; up: its z axis."""
        start, end = self.point(a, ra), self.point(b, rb)
        e1 = (end - start) / np.linalg.norm(end - start)
        e2 = np.cross(up, e1)
        e2 = e2 / np.linalg.norm(e2)
        T = np.column_stack([e1, e2, np.cross(e1, e2)])
        inner = [self.node(start + (end - start) * k / count, T) for k in range(1, count)]
        nodes = [a, *inner, b]
        for k in range(count):
            i, j = nodes[k], nodes[k + 1]
            offsets = (
                np.asarray(ra, float) if k == 0 else np.zeros(3),
                np.asarray(rb, float) if k == count - 1 else np.zeros(3),
            )
            turns = (self.triads[i].T @ T, self.triads[j].T @ T)
            self.elements.append(Element((i, j), offsets, turns, float(np.linalg.norm(end - start)) / count, beam))
        return nodes

    def body(self, node: int, mass: float, centre: Array = (0, 0, 0), inertia: Array = (0, 0, 0)) -> None:
        given = np.asarray(inertia, dtype=float)
        self.masses.append(Mass(node, mass, np.asarray(centre, float), np.diag(given) if given.ndim == 1 else given))

    def load(self, node: int, force: Array, offset: Array = (0, 0, 0)) -> None:
        self.loads.append(Load(node, np.asarray(offset, float), np.asarray(force, float)))

    def ball(self, a: int, b: int, ra: Array = (0, 0, 0), rb: Array = (0, 0, 0)) -> None:
        """Points of two nodes stay together."""
        self._joint("gap", a, b, ra, rb)

    def keep_angle(self, a: int, b: int, axis_a: Array, axis_b: Array) -> None:
        """The angle between an axis of node a and one of node b (both in base axes now) stays as it is."""
        self._joint("angle", a, b, axis_a=self.triads[a].T @ axis_a, axis_b=self.triads[b].T @ axis_b)

    def universal(self, a: int, b: int, axis_a: Array, axis_b: Array, ra: Array = (0, 0, 0), rb: Array = (0, 0, 0)) -> None:
        self.ball(a, b, ra, rb)
        self.keep_angle(a, b, np.asarray(axis_a, float), np.asarray(axis_b, float))

    def revolute(self, a: int, b: int, axis: Array, ra: Array = (0, 0, 0), rb: Array = (0, 0, 0)) -> None:
        """Turns about the axis (base axes) only."""
        self.ball(a, b, ra, rb)
        for normal in null_space(np.asarray(axis, float)[None]).T:
            self.keep_angle(a, b, normal, np.asarray(axis, float))

    def prismatic(self, a: int, b: int, axis: Array, ra: Array = (0, 0, 0), rb: Array = (0, 0, 0)) -> None:
        """Slides along the axis (base axes) only."""
        normals = null_space(np.asarray(axis, float)[None]).T
        for normal in normals:
            self._joint("slide", a, b, ra, rb, self.triads[a].T @ normal)
        self.keep_angle(a, b, normals[0], np.asarray(axis, float))
        self.keep_angle(a, b, normals[1], np.asarray(axis, float))
        self.keep_angle(a, b, normals[0], normals[1])

    def spring(self, a: int, b: int, axis: Array, stiffness: float, ra: Array = (0, 0, 0), rb: Array = (0, 0, 0)) -> None:
        """A linear spring, now relaxed, between two points along an axis (base axes) of node a."""
        self._joint("spring", a, b, ra, rb, self.triads[a].T @ np.asarray(axis, float), stiffness=stiffness)

    def _joint(self, kind, a, b, ra=(0, 0, 0), rb=(0, 0, 0), axis_a=(0, 0, 0), axis_b=(0, 0, 0), stiffness=0.0) -> None:
        points = (np.asarray(ra, float), np.asarray(rb, float))
        joint = Joint(kind, (a, b), points, (np.asarray(axis_a, float), np.asarray(axis_b, float)), stiffness)
        (self.springs if kind == "spring" else self.joints).append(joint)

    # what follows

    @property
    def free(self) -> Array:
        return np.array([k for k in range(6 * len(self.places)) if k not in self.held])

    def start(self) -> State:
        return State(np.array(self.places), np.array(self.triads), np.zeros(self._equations()))

    def _equations(self) -> int:
        return sum(len(begin) for begin in self._rest(self.joints))

    def potential(self, state: State, factor: float = 1.0) -> tuple[float, Array, Array]:
        """Energy of strain and loads with its gradient and Hessian; loads and gravity times factor."""
        gravity = factor * self.gravity
        parts: list[Energy] = []
        if self.elements:
            parts += [beam_energy(self.elements, state), gravity_of_beams(self.elements, state, gravity)]
        points = [replace(load, force=factor * load.force) for load in self.loads]
        points += [Load(m.node, m.centre, m.mass * gravity) for m in self.masses]
        if points:
            parts.append(point_force(points, state))
        if self.springs:
            parts.append(spring_energy(self.springs, state, self._rest(self.springs)))
        return self._sum(parts)

    def constraints(self, state: State) -> tuple[Array, Array, Array]:
        """Their values, their rows J, and the Hessian of multipliers times constraints."""
        values, rows, size = [], [], 6 * len(self.places)
        curvature = np.zeros((size, size))
        rest, used = self._rest(self.joints), 0
        for joint, begin in zip(self.joints, rest, strict=True):
            gaps = {"gap": point_gap, "angle": axis_distance, "slide": axis_slide}[joint.kind](joint, state)
            where = _where(joint.nodes)
            for jet, value in zip(gaps[: len(begin)], begin, strict=True):
                row = np.zeros(size)
                np.add.at(row, where, jet.g[0])
                values.append(jet.v[0] - value)
                rows.append(row)
                np.add.at(curvature, np.ix_(where, where), state.multipliers[used] * jet.h[0])
                used += 1
        return np.array(values), np.array(rows).reshape(-1, size), curvature

    def _rest(self, joints: list[Joint]) -> list[Array]:
        """What constraints and springs measured when the frame was built; coincident points measure zero."""
        state, found = State(np.array(self.places), np.array(self.triads), np.zeros(0)), []
        for joint in joints:
            if joint.kind == "gap":
                found.append(np.zeros(2 if self.planar else 3))
            else:
                jets = (axis_distance if joint.kind == "angle" else axis_slide)(joint, state)
                found.append(np.array([jet.v[0] for jet in jets]))
        return found

    def _sum(self, parts: list[Energy]) -> tuple[float, Array, Array]:
        size = 6 * len(self.places)
        value, g, H = 0.0, np.zeros(size), np.zeros((size, size))
        for part in parts:
            for nodes, v, gradient, hessian in zip(part.nodes, part.jet.v, part.jet.g, part.jet.h, strict=True):
                where = _where(nodes)
                value += v
                np.add.at(g, where, gradient)
                np.add.at(H, np.ix_(where, where), hessian)
        return value, g, H

    def equilibrium(self, steps: int = 4, tolerance: float = 1e-11, start: State | None = None) -> State:
        """The state at rest under all loads, reached from the undeformed one in `steps` by Newton's method."""
        state = start or self.start()
        for step in range(1, steps + 1):
            state = self._newton(state, step / steps, tolerance)
        return state

    def _newton(self, state: State, factor: float, tolerance: float) -> State:
        free = self.free
        for _ in range(60):
            _, g, H = self.potential(state, factor)
            c, J, curvature = self.constraints(state)
            residual = (g + J.T @ state.multipliers)[free]
            matrix = np.block(
                [[(H + curvature)[np.ix_(free, free)], J[:, free].T], [J[:, free], np.zeros((len(c), len(c)))]]
            )
            scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1.0))
            move = -scale * np.linalg.solve(scale[:, None] * matrix * scale, scale * np.concatenate([residual, c]))
            longest = np.abs(move[: len(free)]).max()
            move *= 0.3 / max(longest, 0.3)
            state = self.moved(state, move[: len(free)], move[len(free) :])
            if longest < tolerance:
                return state
        raise ArithmeticError(f"no equilibrium at {factor:.3f} of the load; last step {longest:.1e}")

    def moved(self, state: State, step: Array, multipliers: Array | float = 0.0) -> State:
        """The state after a step of its free coordinates."""
        whole = np.zeros(6 * len(self.places))
        whole[self.free] = step
        whole = whole.reshape(-1, 6)
        turns = np.array([rotation(w) for w in whole[:, 3:]])
        return State(state.x + whole[:, :3], turns @ state.R, state.multipliers + multipliers)

    def tangent(self, state: State) -> tuple[Array, Array, Array]:
        """Stiffness and mass on the motions Z that the joints leave, at an equilibrium."""
        free = self.free
        _, _, H = self.potential(state)
        _, J, curvature = self.constraints(state)
        Z = null_space(J[:, free]) if len(J) else np.eye(len(free))
        K, M = (H + curvature)[np.ix_(free, free)], self.mass(state)[np.ix_(free, free)]
        return Z.T @ K @ Z, Z.T @ M @ Z, Z

    def mass(self, state: State) -> Array:
        size = 6 * len(self.places)
        M = np.zeros((size, size))
        if self.elements:
            for element, block in zip(self.elements, beam_mass(self.elements, state), strict=True):
                where = _where(element.nodes)
                np.add.at(M, np.ix_(where, where), block)
        for m in self.masses:
            R = state.R[m.node]
            S = skew(R @ m.centre)
            at = slice(6 * m.node, 6 * m.node + 3)
            turn = slice(6 * m.node + 3, 6 * m.node + 6)
            M[at, at] += m.mass * np.eye(3)
            M[at, turn] -= m.mass * S
            M[turn, at] += m.mass * S
            M[turn, turn] += R @ m.inertia @ R.T - m.mass * S @ S
        return M

    def frequencies(self, state: State, count: int | None = None) -> Array:
        """Natural frequencies in Hz about a state of equilibrium; negative where it is unstable."""
        K, M, _ = self.tangent(state)
        squares = eigh(0.5 * (K + K.T), M, eigvals_only=True)
        return (np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi))[:count]


def _where(nodes: tuple[int, int]) -> Array:
    return np.concatenate([np.arange(6 * n, 6 * n + 6) for n in nodes])
