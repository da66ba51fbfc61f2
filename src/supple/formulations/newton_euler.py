"""Generalised Newton-Euler recursion with virtual power (Briot & Khalil 2014; Boyer & Khalil 1998).

Derived anew from the kinetic energy of a deformed body; see docs/newton_euler.md for the misprints of the papers.
For a body with angular momentum H = I w + MS_re qd about its origin and G_k = (1/2) dI/dq_k:

    f = m a + alpha x MS + w x (w x MS + 2 MS_de qd) + MS_de qdd
    n = MS x a + I alpha + MS_re qdd + w x H + 2 sum_k G_k w qd_k
    s_k = MS_de_k . a + MS_re_k . alpha + M_ee qdd + 2 w . sum_i lam_ik qd_i - w . G_k w + K q + D qd
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from supple.expr.derivative import directional
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import Scalar, add, div, mul, named, sign, sqrt
from supple.expr.vector import (
    cross,
    dot,
    is_zero,
    matmul,
    matvec,
    minus,
    plus,
    quaternion_rate,
    scale,
    vector,
    zeros,
)  # fmt: skip
from supple.formulations.equations import Equations
from supple.formulations.kinematics import FrameMotion, Kinematics, MarkerMotion, State, relative, state
from supple.robot.bodies.record import Body
from supple.robot.mechanism import Anchor, Closure, Mechanism


def newton_euler(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by the recursive generalised Newton-Euler method."""
    s = state(mechanism)
    kin = Kinematics(mechanism, s)
    forces = _forces(kin)
    direction = symbols("d", mechanism.nv)
    closure, outline = _closure(kin), _outline(kin)
    along = {"q": displacement(mechanism, s.q, direction)}
    return Equations(
        formulation="newton_euler",
        mechanism=mechanism,
        forces=forces,
        inertia=_only(directional(forces, {"a": direction}, direction, "inertia"), "f"),
        stiffness=_only(directional(forces, along, direction, "stiffness"), "f"),
        damping=_only(directional(forces, {"v": direction}, direction, "damping"), "f"),
        closure=closure,
        closure_gradient=_only(directional(closure, along, direction, "closure_gradient"), "residual"),
        closure_motion=_closure_motion(kin),
        points=_points(kin),
        energy=_energy(kin),
        outline=outline,
        outline_gradient=directional(outline, along, direction, "outline_gradient"),
    )


def _only(f: Function, *outputs: str) -> Function:
    return Function(f.name, f.inputs, {k: f.outputs[k] for k in outputs})


def displacement(mechanism: Mechanism, q: Array, direction: Array) -> Array:
    """How q changes along a generalised velocity: itself, but for the quaternions of spherical joints."""
    made = zeros(mechanism.nq)
    for frame in mechanism.frames:
        v = direction[frame.v]
        made[frame.q] = quaternion_rate(q[frame.q], v) if frame.motion == "spherical" else v
        made[frame.e] = direction[frame.ev]
    return made


# One body ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deformed:
    """Inertial quantities of a body in its present shape."""

    MS: Array
    inertia: Array
    MS_re: Array
    G: list[Array]  # (1/2) dI/dq_k
    momentum: Array  # I w + MS_re qd


def deformed(body: Body, motion: FrameMotion) -> Deformed:
    q, n = motion.qe, len(body.coordinates)
    MS = plus(body.MS_r, matvec(body.MS_de, q))
    inertia, MS_re, G = body.I_rr, body.beta.copy(), []
    for k in range(n):
        own = _symmetric(body.I_re[k])
        G_k = own
        for i in range(n):
            if not is_zero(body.I_ee[i, k]):
                G_k = _matrix_plus(G_k, _symmetric(body.I_ee[i, k]), q[i])
            if not is_zero(body.lam[i, k]):
                MS_re[:, k] = plus(MS_re[:, k], scale(q[i], body.lam[i, k]))
        inertia = _matrix_plus(inertia, _matrix_plus(G_k, own, 1), q[k])
        G.append(G_k)
    momentum = plus(matvec(inertia, motion.omega), matvec(MS_re, motion.qde))
    return Deformed(MS, inertia, MS_re, G, momentum)


def _symmetric(A: Array) -> Array:
    made = zeros(3, 3)
    for i in range(3):
        for j in range(3):
            both = add(A[i, j], A[j, i])
            made[i, j] = A[i, j] if i == j else mul(Fraction(1, 2), both)
    return made


def _matrix_plus(A: Array, B: Array, k: Scalar) -> Array:
    """A + k B of symmetric matrices, each off-diagonal entry computed once."""
    made = zeros(3, 3)
    for i in range(3):
        for j in range(i, 3):
            made[i, j] = made[j, i] = add(A[i, j], mul(k, B[i, j]))
    return made


def body_wrench(motion: FrameMotion) -> tuple[Array, Array, Array]:
    """Force, moment about the origin and elastic forces a body needs for its motion, in its own axes."""
    body, w, al, a = motion.frame.body, motion.omega, motion.alpha, motion.a
    if is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr):
        return zeros(3), zeros(3), _elastic(body, motion)
    d = deformed(body, motion)
    drift = matvec(body.MS_de, motion.qde)
    f = plus(
        scale(body.mass, a), cross(al, d.MS), cross(w, plus(cross(w, d.MS), scale(2, drift))),
        matvec(body.MS_de, motion.qdde),
    )  # fmt: skip
    n = plus(cross(d.MS, a), matvec(d.inertia, al), matvec(d.MS_re, motion.qdde), cross(w, d.momentum))
    s = _elastic(body, motion)
    for k in range(len(body.coordinates)):
        Gw = matvec(d.G[k], w)
        n = plus(n, scale(mul(2, motion.qde[k]), Gw))
        coriolis = zeros(3)
        for i in range(len(body.coordinates)):
            if not is_zero(body.lam[i, k]):
                coriolis = plus(coriolis, scale(motion.qde[i], body.lam[i, k]))
        terms = (dot(body.MS_de[:, k], a), dot(d.MS_re[:, k], al), mul(2, dot(w, coriolis)), mul(-1, dot(w, Gw)))
        for term in terms:
            s[k] = add(s[k], term)
    return f, n, plus(s, matvec(body.M_ee, motion.qdde))


def _elastic(body: Body, motion: FrameMotion) -> Array:
    """K q + D qd."""
    if not body.flexible:
        return zeros(0)
    return plus(matvec(body.K_ee, motion.qe), matvec(body.D_ee, motion.qde))


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


def _inputs(s: State) -> dict[str, Array]:
    return {"q": s.q, "v": s.v, "a": s.a, "g": s.g}


def _forces(kin: Kinematics) -> Function:
    mechanism, s = kin.mechanism, kin.state
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
    outputs = {"f": balance.generalised(), "coulomb": _coulomb(mechanism, s.v)}
    return function("forces", {**_inputs(s), "lam": lam, "w": w}, outputs)


def _coulomb(mechanism: Mechanism, v: Array) -> Array:
    made = zeros(mechanism.nv)
    for k, c in enumerate(mechanism.coordinates):
        if is_zero(c.coulomb):
            continue
        smooth = sign(v[k]) if is_zero(c.width) else div(v[k], sqrt(add(mul(v[k], v[k]), c.width * c.width)))
        made[k] = mul(c.coulomb, smooth)
    return made


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


def _closure(kin: Kinematics) -> Function:
    """Residuals of every loop, and for each the cosine that must be positive (the joint is not upside down)."""
    residual, alignment = [], []
    for closure in kin.mechanism.closures:
        R, d = relative(kin, closure.first, closure.second)
        turned = {k for k in closure.forbidden if k >= 3}
        whole = turned == {3, 4, 5}
        for k in closure.forbidden:
            if k < 3:
                residual.append(d[k])
            else:
                i = k - 3
                j, m = (i + 1) % 3, (i + 2) % 3
                if whole or len(turned) == 1:
                    residual.append(mul(Fraction(1, 2), add(R[m, j], mul(-1, R[j, m]))))
                else:
                    residual.append(mul(-1, R[1, 2]) if i == 0 else R[0, 2])
        if whole:
            alignment.append(add(R[0, 0], add(R[1, 1], R[2, 2])))
        elif len(turned) == 1:
            i = next(iter(turned)) - 3
            alignment.append(add(R[(i + 1) % 3, (i + 1) % 3], R[(i + 2) % 3, (i + 2) % 3]))
        else:
            alignment.append(R[2, 2] if turned else 1)
    return function("closure", {"q": kin.state.q}, {"residual": residual, "alignment": alignment})


def _closure_motion(kin: Kinematics) -> Function:
    """J v and J a + b: relative twists of the anchors in the first one's axes (eqs. 30 and 38)."""
    velocity, acceleration = [], []
    for closure in kin.mechanism.closures:
        R, d = relative(kin, closure.first, closure.second)
        first, second = kin.marker(closure.first), kin.marker(closure.second)
        w1, al1, a1, v1 = (matvec(first.R.T, x) for x in kin.twist(closure.first))
        w2, al2, a2, v2 = (matvec(R, matvec(second.R.T, x)) for x in kin.twist(closure.second))
        if not closure.slides:
            d = zeros(3)
        rate = minus(minus(v2, v1), cross(w1, d))
        swing = cross(w1, plus(cross(w1, d), scale(2, rate)))
        rate2 = minus(minus(minus(a2, a1), cross(al1, d)), swing)
        spin = minus(w2, w1)
        spin2 = minus(minus(al2, al1), cross(w1, w2))
        twist, twist2 = np.concatenate([rate, spin]), np.concatenate([rate2, spin2])
        # the derivative above is that of the components in the first anchor's turning axes
        velocity += [twist[k] for k in closure.forbidden]
        acceleration += [twist2[k] for k in closure.forbidden]
    s = kin.state
    return function("closure_motion", _inputs(s), {"velocity": velocity, "acceleration": acceleration})


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
    return function("points", _inputs(kin.state), arrays)


def _energy(kin: Kinematics) -> Function:
    mechanism, s = kin.mechanism, kin.state
    kinetic, elastic, gravity, lost = [], [], [], zeros(1)[0]
    for motion, (R, p) in zip(kin.motions, kin.world, strict=True):
        body = motion.frame.body
        if is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr):
            kinetic.append(0)
            gravity.append(0)
        else:
            kinetic.append(_kinetic(body, motion))
            MS = plus(body.MS_r, matvec(body.MS_de, motion.qe))
            gravity.append(mul(-1, dot(s.g, plus(scale(body.mass, p), matvec(R, MS)))))
        elastic.append(mul(Fraction(1, 2), dot(motion.qe, matvec(body.K_ee, motion.qe))) if body.flexible else 0)
        if body.flexible:
            lost = add(lost, dot(motion.qde, matvec(body.D_ee, motion.qde)))
    motors: Scalar = 0
    coulomb = _coulomb(mechanism, s.v)
    for k, c in enumerate(mechanism.coordinates):
        motors = add(motors, mul(Fraction(1, 2), mul(c.inertia, mul(s.v[k], s.v[k]))))
        lost = add(lost, mul(s.v[k], add(mul(c.viscous, s.v[k]), coulomb[k])))
    outputs = {"kinetic": kinetic, "elastic": elastic, "gravity": gravity, "motors": motors, "dissipation": lost}
    return function("energy", _inputs(s), outputs)


def _kinetic(body: Body, motion: FrameMotion) -> Scalar:
    d = deformed(body, motion)
    w, v, qd = motion.omega, motion.v, motion.qde
    linear = plus(scale(body.mass, scale(Fraction(1, 2), v)), cross(w, d.MS), matvec(body.MS_de, qd))
    angular = plus(scale(Fraction(1, 2), matvec(d.inertia, w)), matvec(d.MS_re, qd))
    elastic = mul(Fraction(1, 2), dot(qd, matvec(body.M_ee, qd))) if body.flexible else 0
    return add(add(dot(v, linear), dot(w, angular)), elastic)


def _outline(kin: Kinematics) -> Function:
    """The robot's line drawing: per frame its bent body, or spokes to what hangs on it; joined at the frame's name."""
    mechanism = kin.mechanism
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
    for index, (motion, (R, p)) in enumerate(zip(kin.motions, kin.world, strict=True)):
        outline, frame = motion.frame.body.outline, motion.frame
        rows = []
        if frame.motion == "prismatic" and not frame.name.startswith("platform~"):
            rows.append(plus(p, matvec(R, scale(-1, motion.slide))))
        if outline is not None:
            for position, Phi in zip(outline.position, outline.Phi_d, strict=True):
                rows.append(plus(p, matvec(R, plus(position, matvec(Phi, motion.qe)))))
        elif frame.motion == "fixed" and frame.parent < 0:
            rows.append(p)  # part of the ground
        else:
            ends = [kin.pose(anchor)[1] for anchor in spokes[index]]
            if len(ends) > 2:
                rows += [*ends, ends[0]]  # a plate: its edge
            else:
                rows += [p, *(x for end in ends for x in (end, p))]
        outputs[f"frame{index}"] = np.array(rows, dtype=object)
    return function("outline", {"q": kin.state.q}, outputs)
