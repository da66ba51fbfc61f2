"""Twists and accelerations of every frame, link by link (Briot & Khalil 2014, eqs. 10-22), as expressions.

Vectors of a frame are in its own axes. `a` carries -gravity, so the base accelerates upwards and weight needs no terms of
its own. Elastic rotations of a marker are finite: exact about a single axis, Cayley's map of the small angles otherwise;
with it angular velocities are exact time derivatives, which the linear formulas of the paper are only to first order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.expr.function import Array, symbols
from supple.expr.node import HALF, Expr, Scalar, add, div, mul, named, neg
from supple.expr.vector import (
    axis_rotation,
    cross,
    cross_matrix,
    dot,
    identity,
    is_zero,
    matmul,
    matvec,
    minus,
    plus,
    quaternion_rotation,
    scale,
    vector,
    zeros,
)  # fmt: skip
from supple.robot.bodies.record import Body, Marker
from supple.robot.mechanism import Anchor, Frame, Mechanism


@dataclass(frozen=True)
class State:
    """Symbols of a mechanism's positions, velocities, accelerations and gravity."""

    q: Array
    v: Array
    a: Array
    g: Array


def state(mechanism: Mechanism) -> State:
    return State(symbols("q", mechanism.nq), symbols("v", mechanism.nv), symbols("a", mechanism.nv), symbols("g", 3))


def inputs(s: State) -> dict[str, Array]:
    """The inputs a Function of the state has."""
    return {"q": s.q, "v": s.v, "a": s.a, "g": s.g}


@dataclass(frozen=True)
class MarkerMotion:
    """A marker of a deformed body, in the body's axes: rotation E R0, position, and how its spin follows the coordinates.

    omega_e = B Phi_r qd_e; its own derivative is B Phi_r qdd_e + bias."""

    R: Array
    r: Array
    B: Array | None  # None: identity
    omega_e: Array
    bias: Array
    v_e: Array
    Phi_d: Array  # as bent: what the place moves by, per elastic coordinate
    Phi_r: Array
    inward: Array  # acceleration of the place, in the body, while its coordinates keep their rates

    def spin(self, rate: Array) -> Array:
        """B Phi_r rate."""
        turned = matvec(self.Phi_r, rate)
        return turned if self.B is None else matvec(self.B, turned)

    def couple(self, moment: Array) -> Array:
        """Generalised forces of a moment at the marker: (B Phi_r)^T moment."""
        m = moment if self.B is None else matvec(self.B.T, moment)
        return matvec(self.Phi_r.T, m)


def small_rotation(phi: Array, rate: Array) -> tuple[Array, Array | None, Array, Array]:
    """Rotation E, spin map B, spin B rate, and the part of its derivative without accelerations."""
    turning = [i for i in range(3) if not is_zero(phi[i])]
    if not turning:
        return identity(), None, rate, zeros(3)
    if len(turning) == 1:
        axis = zeros(3)
        axis[turning[0]] = 1
        return axis_rotation(axis, phi[turning[0]]), None, rate, zeros(3)
    half = scale(0.5, phi)
    s = div(1, add(1, dot(half, half)))
    H = cross_matrix(half)
    E = identity() + mul_matrix(mul(2, s), H + matmul(H, H))
    B = mul_matrix(s, identity() + H)
    spin = matvec(B, rate)
    return E, B, spin, scale(neg(mul(s, mul(0.5, dot(phi, rate)))), spin)


def mul_matrix(k: Scalar, A: Array) -> Array:
    made = zeros(*A.shape)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            made[i, j] = mul(k, A[i, j])
    return made


@dataclass(frozen=True)
class FrameMotion:
    """One frame: rotation and position in its parent, and its motion in its own axes."""

    frame: Frame
    marker: MarkerMotion
    R: Array  # parent_R_child
    slide: Array  # prismatic offset from the marker, in child axes
    omega: Array
    alpha: Array
    a: Array  # acceleration of the origin minus gravity
    v: Array  # velocity of the origin
    qe: Array
    qde: Array
    qdde: Array


@dataclass
class Kinematics:
    """The forward recursion over the tree."""

    mechanism: Mechanism
    state: State
    motions: list[FrameMotion] = field(default_factory=list)

    def __post_init__(self) -> None:
        for frame in self.mechanism.frames:
            self.motions.append(self._frame(frame))

    @cached_property
    def _still(self) -> FrameMotion:
        empty = zeros(0)
        none_marker = Marker(zeros(3), identity(), zeros(3, 0), zeros(3, 0))
        none = marker_motion(none_marker, empty, empty)
        base = Frame("base", -1, none_marker, "fixed", zeros(3), Body(), slice(0), slice(0), slice(0), slice(0))
        return FrameMotion(
            base, none, identity(), zeros(3), zeros(3), zeros(3), vector(*(neg(x) for x in self.state.g)), zeros(3),
            empty, empty, empty,
        )  # fmt: skip

    def motion(self, index: int) -> FrameMotion:
        return self._still if index < 0 else self.motions[index]

    def _frame(self, frame: Frame) -> FrameMotion:
        s, parent = self.state, self.motion(frame.parent)
        m = marker_motion(frame.marker, parent.qe, parent.qde)
        p_omega, p_alpha, p_a, p_v = at_marker(parent, m)
        q, v, a = s.q[frame.q], s.v[frame.v], s.a[frame.v]
        axis, slide = frame.axis, zeros(3)
        match frame.motion:
            case "revolute":
                R = matmul(m.R, axis_rotation(axis, q[0]))
            case "spherical":
                R = matmul(m.R, quaternion_rotation(q))
            case _:
                R = m.R
        omega, alpha, acc, vel = (matvec(R.T, x) for x in (p_omega, p_alpha, p_a, p_v))
        if frame.motion in ("revolute", "spherical"):
            rate = scale(v[0], axis) if frame.motion == "revolute" else v
            rate2 = scale(a[0], axis) if frame.motion == "revolute" else a
            omega = plus(omega, rate)
            alpha = plus(alpha, rate2, cross(omega, rate))
        elif frame.motion == "prismatic":
            slide, rate, rate2 = scale(q[0], axis), scale(v[0], axis), scale(a[0], axis)
            across = cross(omega, slide)
            acc = plus(acc, cross(alpha, slide), cross(omega, plus(across, scale(2, rate))), rate2)
            vel = plus(vel, across, rate)
        label = frame.name.replace("/", "_")
        omega = vector(*(named(x, f"w_{label}_{k}") for x, k in zip(omega, "xyz", strict=True)))
        alpha = vector(*(named(x, f"wd_{label}_{k}") for x, k in zip(alpha, "xyz", strict=True)))
        acc = vector(*(named(x, f"vd_{label}_{k}") for x, k in zip(acc, "xyz", strict=True)))
        return FrameMotion(frame, m, R, slide, omega, alpha, acc, vel, s.q[frame.e], s.v[frame.ev], s.a[frame.ev])

    # World frame --------------------------------------------------------------------------------------------------

    @cached_property
    def world(self) -> list[tuple[Array, Array]]:
        """Rotation and origin of every frame in the base."""
        made: list[tuple[Array, Array]] = []
        for motion in self.motions:
            R, p = made[motion.frame.parent] if motion.frame.parent >= 0 else (identity(), zeros(3))
            made.append((matmul(R, motion.R), plus(p, matvec(R, plus(motion.marker.r, matvec(motion.R, motion.slide))))))
        return made

    def pose(self, anchor: Anchor) -> tuple[Array, Array]:
        """Rotation and origin of an anchor in the base."""
        R, p = self.world[anchor.frame] if anchor.frame >= 0 else (identity(), zeros(3))
        m = self.marker(anchor)
        return matmul(R, m.R), plus(p, matvec(R, m.r))

    def marker(self, anchor: Anchor) -> MarkerMotion:
        body = self.motion(anchor.frame)
        return marker_motion(anchor.marker, body.qe, body.qde)

    def twist(self, anchor: Anchor) -> tuple[Array, Array, Array, Array]:
        """Angular velocity, angular acceleration, acceleration and velocity of an anchor, in its frame's axes."""
        return at_marker(self.motion(anchor.frame), self.marker(anchor))


def marker_motion(marker: Marker, qe: Array, qde: Array) -> MarkerMotion:
    """A marker as the elastic coordinates and rates of its body move it."""
    phi, rate, axis = matvec(marker.Phi_r, qe), matvec(marker.Phi_r, qde), only_axis(marker.Phi_r)
    if axis is None:
        E, B, spin, bias = small_rotation(phi, rate)
    else:
        E, B, spin, bias = axis_rotation(axis, dot(axis, phi)), None, rate, zeros(3)
    r, Phi_d = plus(marker.position, matvec(marker.Phi_d, qe)), marker.Phi_d
    v_e, inward = matvec(Phi_d, qde), zeros(3)
    for s in marker.shortening:
        g = matvec(s.G, qe)
        r = minus(r, scale(mul(HALF, dot(qe, g)), s.axis))
        v_e = minus(v_e, scale(dot(g, qde), s.axis))
        inward = minus(inward, scale(dot(qde, matvec(s.G, qde)), s.axis))
        Phi_d = np.stack([minus(row, scale(x, g)) for row, x in zip(Phi_d, s.axis, strict=True)])
    return MarkerMotion(matmul(E, marker.rotation), r, B, spin, bias, v_e, Phi_d, marker.Phi_r, inward)


def only_axis(Phi_r: Array) -> Array | None:
    """The axis, oblique to the body's, that all coordinates turn a marker about: such a turn is exact in any axes."""
    if sum(not is_zero(row) for row in Phi_r) < 2 or any(isinstance(x, Expr) for x in Phi_r.ravel()):
        return None
    columns = [c for c in Phi_r.T if not is_zero(c)]
    if any(np.abs(np.cross(columns[0].astype(float), c.astype(float))).max() > 1e-12 for c in columns[1:]):
        return None
    made: Array = columns[0] / float(np.linalg.norm(columns[0].astype(float)))
    return made


def at_marker(body: FrameMotion, m: MarkerMotion) -> tuple[Array, Array, Array, Array]:
    """omega, alpha, a and v of a marker, in its body's axes (eqs. 10 and 18)."""
    omega = plus(body.omega, m.omega_e)
    alpha = plus(body.alpha, m.spin(body.qdde), m.bias, cross(body.omega, m.omega_e))
    swing = cross(body.omega, m.r)
    turning, bending = cross(body.omega, plus(swing, scale(2, m.v_e))), plus(matvec(m.Phi_d, body.qdde), m.inward)
    a = plus(body.a, cross(body.alpha, m.r), turning, bending)
    return omega, alpha, a, plus(body.v, swing, m.v_e)


def relative(kin: Kinematics, first: Anchor, second: Anchor) -> tuple[Array, Array]:
    """Rotation and position of the second anchor in the first one's axes."""
    R1, p1 = kin.pose(first)
    R2, p2 = kin.pose(second)
    return matmul(R1.T, R2), matvec(R1.T, minus(p2, p1))


def typical(mechanism: Mechanism, s: State) -> dict[Expr, float]:
    """Numbers of the positions at the assembly guess of the robot file."""
    guess = next(iter(mechanism.start.values()))
    made: dict[Expr, float] = {}
    for index, frame in enumerate(mechanism.frames):
        if frame.motion == "spherical":
            own = mechanism.orientation if index == mechanism.platform else None
            made |= dict(zip(s.q[frame.q], map(float, (1, 0, 0, 0) if own is None else own), strict=True))
        else:
            for x, c in zip(s.q[frame.q], mechanism.coordinates[frame.v], strict=True):
                made[x] = float(guess.get(c.name, 0.0))
        made |= dict.fromkeys(s.q[frame.e], 0.0)
    return made
