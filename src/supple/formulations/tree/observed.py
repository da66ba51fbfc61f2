"""What every formulation lets one observe, from kinematics and energies alone: loops, points, energies, drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from supple.expr.derivative import directional
from supple.expr.function import Array, Function, function
from supple.expr.node import Scalar, add, mul, sub
from supple.expr.vector import cross, dot, identity, is_zero, matvec, minus, plus, quaternion_rate, scale, zeros
from supple.formulations.tree.friction import coulomb_friction
from supple.formulations.tree.kinematics import FrameMotion, Kinematics, inputs
from supple.formulations.tree.loops import closure_function, closure_motion
from supple.formulations.tree.strain import elastic_energy, lost_power
from supple.robot.bodies.record import Body, Outline, axial
from supple.robot.mechanism import Anchor, Mechanism


def observed(kin: Kinematics, direction: Array) -> dict[str, Callable[[], Function]]:
    """What derives the Functions of Equations that no formulation derives in its own way."""
    return {
        **along(kin.mechanism, kin.state.q, direction, lambda: closure_function(kin), lambda: _outline(kin)),
        "closure_motion": lambda: closure_motion(kin),
        "points": lambda: _points(kin),
        "energy": lambda: _energy(kin),
    }


def along(
    mechanism: Mechanism, q: Array, direction: Array, closure: Callable[[], Function], outline: Callable[[], Function]
) -> dict[str, Callable[[], Function]]:
    """What derives loops and drawing, and how they change along a direction."""
    moved = {"q": displacement(mechanism, q, direction)}
    closure, outline = cache(closure), cache(outline)
    return {
        "closure": closure,
        "closure_gradient": lambda: directional(only(closure(), "residual"), moved, direction, "closure_gradient"),
        "outline": outline,
        "outline_gradient": lambda: directional(outline(), moved, direction, "outline_gradient"),
    }


def only(f: Function, *outputs: str) -> Function:
    """f with some of its outputs."""
    return Function(f.name, f.inputs, {k: f.outputs[k] for k in outputs})


def displacement(mechanism: Mechanism, q: Array, direction: Array) -> Array:
    """How q changes along a generalised velocity: itself, but for the quaternions of spherical joints."""
    made = zeros(mechanism.nq)
    for frame in mechanism.frames:
        v = direction[frame.v]
        made[frame.q] = quaternion_rate(q[frame.q], v) if frame.motion == "spherical" else v
        made[frame.e] = direction[frame.ev]
    return made


# Energies ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deformed:
    """Inertial quantities of a body in its present shape."""

    MS: Array
    MS_de: Array  # d MS / dq_k
    inertia: Array
    MS_re: Array
    M_ee: Array
    G: list[Array]  # (1/2) dI/dq_k
    momentum: Array  # I w + MS_re qd
    inward: Array  # second derivative of MS while the coordinates keep their rates
    inward_moment: Array  # the same of MS_re qd
    inward_elastic: Array  # and of M_ee qd


def deformed(body: Body, motion: FrameMotion) -> Deformed:
    """Inertial quantities of a body bent by its present elastic coordinates."""
    q, n = motion.qe, len(body.coordinates)
    (MS, MS_de), M_ee = first_moments(body, q), body.M_ee
    inward, inward_moment, inward_elastic = zeros(3), zeros(3), zeros(n)
    inertia, MS_re, G = body.I_rr, body.beta.copy(), []
    for k in range(n):
        own = symmetric(body.I_re[k])
        G_k = own
        for i in np.flatnonzero(body.turning[:, k]).tolist():
            G_k = _matrix_plus(G_k, symmetric(body.I_ee[i, k]), q[i])
        for i in np.flatnonzero(body.drifting[:, k]).tolist():
            MS_re[:, k] = plus(MS_re[:, k], scale(q[i], body.lam[i, k]))
        inertia = _matrix_plus(inertia, _matrix_plus(G_k, own, 1), q[k])
        G.append(G_k)
    for t in body.shortened:
        g, arm, squared = matvec(t.G, q), axial(t.dyad), dot(motion.qde, matvec(t.G, motion.qde))
        S = symmetric(np.trace(t.dyad) * identity() - t.dyad)
        inertia = _matrix_plus(inertia, S, mul(-1, dot(q, g)))
        G = [_matrix_plus(G_k, S, mul(-1, x)) for G_k, x in zip(G, g, strict=True)]
        MS_re = np.stack([minus(row, scale(x, g)) for row, x in zip(MS_re, arm, strict=True)])
        inward = minus(inward, scale(squared, t.first))
        inward_moment = minus(inward_moment, scale(squared, arm))
        inward_elastic = minus(inward_elastic, scale(squared, t.shape))
        M_ee = _less_products(M_ee, t.shape, g)
    momentum = plus(matvec(inertia, motion.omega), matvec(MS_re, motion.qde))
    return Deformed(MS, MS_de, inertia, MS_re, M_ee, G, momentum, inward, inward_moment, inward_elastic)


def _less_products(M: Array, a: Array, b: Array) -> Array:
    """M - a b^T - b a^T."""
    if is_zero(a):
        return M
    made = M.copy()
    for i in range(len(a)):
        for k in range(len(a)):
            made[i, k] = sub(M[i, k], add(mul(a[i], b[k]), mul(b[i], a[k])))
    return made


def first_moments(body: Body, q: Array) -> tuple[Array, Array]:
    """MS of a bent body, and its derivative with respect to every elastic coordinate."""
    MS, MS_de = plus(body.MS_r, matvec(body.MS_de, q)), body.MS_de
    for t in body.shortened:
        if not is_zero(t.first):
            g = matvec(t.G, q)
            MS = minus(MS, scale(mul(Fraction(1, 2), dot(q, g)), t.first))
            MS_de = np.stack([minus(row, scale(x, g)) for row, x in zip(MS_de, t.first, strict=True)])
    return MS, MS_de


def symmetric(A: Array) -> Array:
    made = zeros(3, 3)
    for i in range(3):
        made[i, i] = A[i, i]
        for j in range(i):
            made[i, j] = made[j, i] = mul(Fraction(1, 2), add(A[i, j], A[j, i]))
    return made


def _matrix_plus(A: Array, B: Array, k: Scalar) -> Array:
    """A + k B of symmetric matrices, each off-diagonal entry computed once."""
    made = zeros(3, 3)
    for i in range(3):
        for j in range(i, 3):
            made[i, j] = made[j, i] = add(A[i, j], mul(k, B[i, j]))
    return made


# What is observed ----------------------------------------------------------------------------------------------------


def _points(kin: Kinematics) -> Function:
    out: dict[str, list[Array]] = {"position": [], "rotation": [], "velocity": [], "acceleration": [], "spin": []}
    for anchor in kin.mechanism.points.values():
        R, p = kin.pose(anchor)
        base = kin.world[anchor.frame][0] if anchor.frame >= 0 else np.array(np.eye(3, dtype=int), dtype=object)
        w, _, a, v = kin.twist(anchor)
        out["position"].append(p)
        out["rotation"].append(R)
        out["velocity"].append(matvec(base, v))
        out["acceleration"].append(plus(matvec(base, a), kin.state.g))
        out["spin"].append(matvec(base, w))
    shapes = {"rotation": (3, 3)}
    n = len(kin.mechanism.points)
    arrays = {k: np.array(v, dtype=object).reshape(n, *shapes.get(k, (3,))) for k, v in out.items()}
    return function("points", inputs(kin.state), arrays)


def _energy(kin: Kinematics) -> Function:
    mechanism, s = kin.mechanism, kin.state
    kinetic: list[Scalar] = []
    elastic: list[Scalar] = []
    gravity: list[Scalar] = []
    lost: Scalar = 0
    for motion, (R, p) in zip(kin.motions, kin.world, strict=True):
        body = motion.frame.body
        if is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr):
            kinetic.append(0)
            gravity.append(0)
        else:
            kinetic.append(kinetic_energy(body, motion))
            MS, _ = first_moments(body, motion.qe)
            gravity.append(mul(-1, dot(s.g, plus(scale(body.mass, p), matvec(R, MS)))))
        elastic.append(elastic_energy(body, motion.qe) if body.flexible else 0)
        if body.flexible:
            lost = add(lost, lost_power(body, motion.qe, motion.qde))
    motors: Scalar = 0
    coulomb = coulomb_friction(mechanism, s.v)
    for k, c in enumerate(mechanism.coordinates):
        motors = add(motors, mul(Fraction(1, 2), mul(c.inertia, mul(s.v[k], s.v[k]))))
        lost = add(lost, mul(s.v[k], add(mul(c.viscous, s.v[k]), coulomb[k])))
    outputs = {"kinetic": kinetic, "elastic": elastic, "gravity": gravity, "motors": motors, "dissipation": lost}
    return function("energy", inputs(s), outputs)


def kinetic_energy(body: Body, motion: FrameMotion) -> Scalar:
    """Kinetic energy of a moving, deforming body: v.(m v/2 + w x MS + MS_de qd) + w.(I w/2 + MS_re qd) + qd.M_ee qd/2."""
    d = deformed(body, motion)
    w, v, qd = motion.omega, motion.v, motion.qde
    linear = plus(scale(body.mass, scale(Fraction(1, 2), v)), cross(w, d.MS), matvec(d.MS_de, qd))
    angular = plus(scale(Fraction(1, 2), matvec(d.inertia, w)), matvec(d.MS_re, qd))
    elastic = mul(Fraction(1, 2), dot(qd, matvec(d.M_ee, qd))) if body.flexible else 0
    return add(add(dot(v, linear), dot(w, angular)), elastic)


def _outline(kin: Kinematics) -> Function:
    def drawn(index: int, outline: Outline) -> list[Array]:
        R, p = kin.world[index]
        return [plus(p, matvec(R, x)) for x in bent_outline(outline, kin.motions[index].qe)]

    def foot(index: int) -> Array:
        R, p = kin.world[index]
        return plus(p, matvec(R, scale(-1, kin.motions[index].slide)))

    return outline_function(kin.mechanism, kin.state.q, drawn, foot, lambda anchor: kin.pose(anchor)[1])


def bent_outline(outline: Outline, q: Array) -> list[Array]:
    """Points of a bent body's drawing, in its own axes."""
    made, back = [], zeros(1)[0]
    for k, (position, Phi_d) in enumerate(zip(outline.position, outline.Phi_d, strict=True)):
        x = plus(position, matvec(Phi_d, q))
        if outline.axis is not None and outline.steps is not None:
            back = add(back, mul(Fraction(1, 2), dot(q, matvec(outline.steps[k], q))))
            x = minus(x, scale(back, outline.axis))
        made.append(x)
    return made


def outline_function(
    mechanism: Mechanism, q: Array, drawn: Callable[[int, Outline], list[Array]], foot: Callable[[int], Array],
    place: Callable[[Anchor], Array],
) -> Function:  # fmt: skip
    """The robot's line drawing: per frame its bent body, or spokes to what hangs on it; joined at the frame's name.

    drawn(frame, outline) and place(anchor) say where these are; foot(frame) is where a slider's rail begins."""
    spokes: list[list[Anchor]] = [[] for _ in mechanism.frames]
    hanging = [Anchor(f.parent, f.marker) for f in mechanism.frames]
    closing = [a for c in mechanism.closures for a in (c.first, c.second)]
    for anchor in [*hanging, *closing]:
        if anchor.frame >= 0:
            spokes[anchor.frame].append(anchor)
    for anchor in mechanism.points.values():
        if anchor.frame >= 0 and len(spokes[anchor.frame]) < 3:
            spokes[anchor.frame].append(anchor)
    outputs: dict[str, Array] = {}
    for index, frame in enumerate(mechanism.frames):
        outline, rows = frame.body.outline, []
        n = len(frame.body.coordinates)
        (origin,) = drawn(index, Outline(zeros(1, 3), zeros(1, 3, n)))
        if frame.motion == "prismatic" and frame.role != "slide":
            rows.append(foot(index))
        if outline is not None:
            rows += drawn(index, outline)
        elif frame.motion == "fixed" and frame.parent < 0:
            rows.append(origin)  # part of the ground
        else:
            ends = [place(anchor) for anchor in spokes[index]]
            if len(ends) > 2:
                rows += [*ends, ends[0]]  # a plate: its edge
            else:
                rows += [origin, *(x for end in ends for x in (end, origin))]
        outputs[f"frame{index}"] = np.array(rows, dtype=object)
    return function("outline", {"q": q}, outputs)
