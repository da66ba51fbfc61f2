"""Generalised Newton-Euler recursion with virtual power (Briot & Khalil 2014; Boyer & Khalil 1998).

Derived anew from the kinetic energy of a deformed body; see docs/newton_euler.md for the misprints of the papers.
For a body with angular momentum H = I w + MS_re qd about its origin and G_k = (1/2) dI/dq_k:

    f = m a + alpha x MS + w x (w x MS + 2 MS_de qd) + MS_de qdd
    n = MS x a + I alpha + MS_re qdd + w x H + 2 sum_k G_k w qd_k
    s_k = MS_de_k . a + MS_re_k . alpha + M_ee qdd + 2 w . sum_i lam_ik qd_i - w . G_k w + K q + D qd

MS_de and MS_re are the derivatives of MS and of int r x dr at the present shape: bending shortens a reduced beam, so they
change with q, and f, n and s get what that leaves while qd is constant (`inward`). K q is T^T K x of `strain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import add, mul, named
from supple.expr.vector import cross, dot, is_zero, matmul, matvec, plus, scale, vector, zeros
from supple.formulations.tree.friction import coulomb_friction
from supple.formulations.tree.kinematics import FrameMotion, Kinematics, MarkerMotion, inputs, relative
from supple.formulations.tree.observed import deformed
from supple.formulations.tree.strain import elastic_forces
from supple.robot.bodies.record import Body
from supple.robot.mechanism import Anchor, Closure

# One body ------------------------------------------------------------------------------------------------------------


def body_wrench(motion: FrameMotion) -> tuple[Array, Array, Array]:
    """Force, moment about the origin and elastic forces a body needs for its motion, in its own axes."""
    body, w, al, a = motion.frame.body, motion.omega, motion.alpha, motion.a
    if is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr):
        return zeros(3), zeros(3), _elastic(body, motion)
    d = deformed(body, motion)
    drift = matvec(d.MS_de, motion.qde)
    f = plus(
        scale(body.mass, a), cross(al, d.MS), cross(w, plus(cross(w, d.MS), scale(2, drift))),
        matvec(d.MS_de, motion.qdde), d.inward,
    )  # fmt: skip
    n = plus(cross(d.MS, a), matvec(d.inertia, al), matvec(d.MS_re, motion.qdde), cross(w, d.momentum), d.inward_moment)
    s = _elastic(body, motion)
    for k in range(len(body.coordinates)):
        Gw = matvec(d.G[k], w)
        n = plus(n, scale(mul(2, motion.qde[k]), Gw))
        coriolis = zeros(3)
        for i in np.flatnonzero(body.drifting[:, k]).tolist():
            coriolis = plus(coriolis, scale(motion.qde[i], body.lam[i, k]))
        terms = (dot(d.MS_de[:, k], a), dot(d.MS_re[:, k], al), mul(2, dot(w, coriolis)), mul(-1, dot(w, Gw)))
        for term in terms:
            s[k] = add(s[k], term)
    return f, n, plus(s, matvec(d.M_ee, motion.qdde), d.inward_elastic)


def _elastic(body: Body, motion: FrameMotion) -> Array:
    """K q + D qd, with the geometric stiffness of beams under axial load."""
    if not body.flexible:
        return zeros(0)
    return elastic_forces(body, motion.qe, motion.qde)


# The tree ------------------------------------------------------------------------------------------------------------


@dataclass
class Balance:
    """Wrenches on every frame, gathered from the tips of the tree to its base."""

    kin: Kinematics

    def __post_init__(self) -> None:
        wrenches = [body_wrench(m) for m in self.kin.motions]
        self.force = [w[0] for w in wrenches]
        self.moment = [w[1] for w in wrenches]
        self.elastic = [w[2] for w in wrenches]

    def pull(self, anchor: Anchor, force: Array, moment: Array) -> None:
        """Takes a wrench at an anchor (in its frame's axes) off the balance of its frame."""
        if anchor.frame >= 0:
            self.carry(anchor.frame, self.kin.marker(anchor), scale(-1, force), scale(-1, moment))

    def carry(self, index: int, m: MarkerMotion, force: Array, moment: Array) -> None:
        self.force[index] = plus(self.force[index], force)
        self.moment[index] = plus(self.moment[index], moment, cross(m.r, force))
        if self.kin.motions[index].frame.body.flexible:
            self.elastic[index] = plus(self.elastic[index], matvec(m.Phi_d.T, force), m.couple(moment))

    def generalised(self) -> Array:
        """Forces on all coordinates; closes the balance from the tips down."""
        mechanism = self.kin.mechanism
        f = zeros(mechanism.nv)
        for index in reversed(range(len(mechanism.frames))):
            motion = self.kin.motions[index]
            frame = motion.frame
            label = frame.name.replace("/", "_")
            force = vector(*(named(x, f"F_{label}_{k}") for x, k in zip(self.force[index], "xyz", strict=True)))
            moment = vector(*(named(x, f"N_{label}_{k}") for x, k in zip(self.moment[index], "xyz", strict=True)))
            match frame.motion:
                case "revolute":
                    f[frame.v] = dot(frame.axis, moment)
                case "prismatic":
                    f[frame.v] = dot(frame.axis, force)
                case "spherical":
                    f[frame.v] = moment
            f[frame.ev] = self.elastic[index]
            if frame.parent >= 0:
                shifted = moment if is_zero(motion.slide) else plus(moment, cross(motion.slide, force))
                self.carry(frame.parent, motion.marker, matvec(motion.R, force), matvec(motion.R, shifted))
        for k, c in enumerate(mechanism.coordinates):
            f[k] = add(f[k], add(mul(c.inertia, self.kin.state.a[k]), mul(c.viscous, self.kin.state.v[k])))
        return f


def loaded(kin: Kinematics) -> tuple[Balance, dict[str, Array]]:
    """The balance of the tree under reactions lam and wrenches w, and its inputs."""
    mechanism = kin.mechanism
    lam, w = symbols("lam", mechanism.equations), symbols("w", (len(mechanism.points), 6))
    balance = Balance(kin)
    for anchor, wrench in zip(mechanism.points.values(), w, strict=True):
        if anchor.frame >= 0:
            to_frame = kin.world[anchor.frame][0].T
            balance.pull(anchor, matvec(to_frame, wrench[:3]), matvec(to_frame, wrench[3:]))
    at = 0
    for closure in mechanism.closures:
        _pull_together(kin, balance, closure, lam[at : at + len(closure.forbidden)])
        at += len(closure.forbidden)
    return balance, {**inputs(kin.state), "lam": lam, "w": w}


def recursive_forces(kin: Kinematics) -> Function:
    """q v a g lam w -> f = M a + c - J^T lam - loads, and Coulomb friction, of every coordinate of the tree."""
    balance, given = loaded(kin)
    outputs = {"f": balance.generalised(), "coulomb": coulomb_friction(kin.mechanism, kin.state.v)}
    return function("forces", given, outputs)


def joint_wrenches(kin: Kinematics, frames: Sequence[int]) -> Function:
    """q v a g lam w -> wrenches (frames, 6) that frames take from their parents, at their origins in their axes."""
    balance, given = loaded(kin)
    balance.generalised()
    made = zeros(len(frames), 6)
    for k, index in enumerate(frames):
        made[k, :3], made[k, 3:] = balance.force[index], balance.moment[index]
    return function("joint_wrenches", given, {"wrench": made})


# Loops ---------------------------------------------------------------------------------------------------------------


def _pull_together(kin: Kinematics, balance: Balance, closure: Closure, lam: Array) -> None:
    """The reaction lam of a closing joint: on the second anchor, and against it on the first."""
    wrench = zeros(6)
    for k, value in zip(closure.forbidden, lam, strict=True):
        wrench[k] = value
    force, moment = wrench[:3], wrench[3:]
    R, d = relative(kin, closure.first, closure.second)
    first, second = kin.marker(closure.first), kin.marker(closure.second)
    to_second = matmul(second.R, R.T)  # first anchor's axes -> second frame's axes
    balance.pull(closure.second, matvec(to_second, force), matvec(to_second, moment))
    back = plus(moment, cross(d, force)) if closure.slides else moment
    balance.pull(closure.first, scale(-1, matvec(first.R, force)), scale(-1, matvec(first.R, back)))
