"""Inverse and direct models of a (flexible) platform on rigid legs, as one equation of the platform's six accelerations.

After P. Long, W. Khalil, P. Martinet, Dynamic modeling of parallel robots with flexible platforms, Mechanism and Machine
Theory 81 (2014), derived anew (docs/platform_eliminated.md). A leg has as many joints as its closing joint has equations, so
the acceleration y of its attachment gives its joints, qdd = J^-1 (y - b), and the force it has on the platform,

    f = J^-T S tau - A_x y - c_x,   A_x = J^-T A J^-1,   c_x = J^-T c - A_x b

With y = W^T u + h the platform's equation in u = (V, qdd_e) is K u + k = G tau. Its elastic rows give qdd_e, which leaves

    A V + c = J_sys tau,   A = K_pp - K_pe K_ee^-1 K_ep,   J_sys = G_p - K_pe K_ee^-1 G_e,   c = k_p - K_pe K_ee^-1 k_e

(J_sys here is the paper's J_sys^-T). Accelerations carry -g throughout, so weight needs no terms of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.expr.elimination import factored, solved
from supple.expr.function import Array, Function, function
from supple.expr.node import add, mul
from supple.expr.vector import dot, matmul, matvec, minus, plus, scale, vector, zeros
from supple.formulations.least_constraint.affine import Affine, cofactor_inverse, turned
from supple.formulations.least_constraint.closing import at_anchor, closing_friction, far_side, relative, tied
from supple.formulations.least_constraint.folding import chain_forms, fold
from supple.formulations.least_constraint.nodes import body
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.tree import Choices, tree_of
from supple.formulations.least_constraint.unknowns import Elastic, Joint, Slot, Unknown
from supple.formulations.record import DENSE, Equations, Formulation, Unsupported
from supple.formulations.tree.equations import tree_equations
from supple.formulations.tree.kinematics import Kinematics, state, typical
from supple.formulations.tree.recursion import recursive_forces
from supple.robot.mechanism import Closure, Mechanism


@dataclass(frozen=True)
class Leg:
    """One leg as its attachment to the platform sees it, in the axes of its last link."""

    closure: Closure
    drives: list[int]  # of its joints, that have a motor: places in v
    inverse: Array  # J^-1
    motors: list[int]  # rows of J^-1 that belong to drives
    A_x: Array
    c: Array  # J^-T c of the leg alone
    W: Array  # platform variables x attachment
    d: Array  # h - b: acceleration of the attachment less the leg's own, when nothing accelerates
    to_platform: Array  # rotation of its axes into the platform's
    components: list[int]


class PlatformEliminated:
    """The closed form of a robot; raises Unsupported with the reason for one that it does not take."""

    def __init__(self, mechanism: Mechanism, loads: bool = False) -> None:
        if mechanism.platform is None:
            raise Unsupported("the missing platform: legs are eliminated onto a platform of the robot's own")
        self.tree = tree_of(mechanism, Choices(own=None, loads=loads))  # joints by their own accelerations, as in A qdd + c
        assert self.tree.m.platform is not None
        self.p: int = self.tree.m.platform
        own = self.tree.m.frames[self.p].ev
        self.rigid: list[Unknown] = [Slot(self.p, k) for k in self.tree.alive[self.p]]
        self.elastic: list[Unknown] = [Elastic(k) for k in range(own.start, own.stop)]
        self.chains = self._chains()

    # Which robots ------------------------------------------------------------------------------------------------

    def _chains(self) -> list[tuple[Closure, list[int]]]:
        """Frames of every leg, from the base to its closing joint."""
        hanging = sorted(self.tree.side - {self.p})
        if hanging:
            raise Unsupported(f"{self._name(hanging[0])}, a body of its own on the platform")
        found, seen = [], {*self.tree.m.platform_chain()}
        for closure in self.tree.m.closures:
            _, far = far_side(self.tree, closure)
            chain, j = [], far.frame
            while j >= 0:
                chain.append(j)
                j = self.tree.m.frames[j].parent
            if seen & {*chain}:
                raise Unsupported(f"the closure {closure.name!r}, which shares a leg with another")
            seen |= {*chain}
            found.append((closure, chain[::-1]))
            self._check(closure, chain)
        loose = [j for j in range(len(self.tree.m.frames)) if j not in seen]
        if loose:
            raise Unsupported(f"{self._name(loose[0])}, which is no part of a single chain from the base to the platform")
        return found

    def _check(self, closure: Closure, chain: list[int]) -> None:
        joints = 0
        for j in chain:
            frame = self.tree.m.frames[j]
            if frame.body.flexible:
                raise Unsupported(f"{self._name(j)}, which is flexible: the legs must be rigid")
            if frame.motion == "spherical":
                raise Unsupported(f"the spherical joint of {self._name(j)} in a leg; close the leg by it instead")
            joints += frame.v.stop - frame.v.start
        _, far = far_side(self.tree, closure)
        equations = len([k for k in tied(self.tree, closure) if k in self.tree.alive[far.frame]])
        if joints != equations or equations > 3:
            raise Unsupported(
                f"the leg that ends in {closure.name!r}, with {joints} joints for a closing joint of {equations} equations "
                "(it takes as many as equations, three at most)"
            )

    def _name(self, j: int) -> str:
        return repr(self.tree.m.frames[j].link)

    # Legs --------------------------------------------------------------------------------------------------------

    def _leg(self, closure: Closure, chain: list[int]) -> Leg:
        near, far = far_side(self.tree, closure)
        Z = Quadratic()
        for j in chain:
            Z.include(body(self.tree, j))
        closing_friction(self.tree, closure, chain, Z)
        for j in reversed(chain):
            fold(self.tree, Z, j)
        joints = [k for j in chain for k in range(self.tree.m.frames[j].v.start, self.tree.m.frames[j].v.stop)]
        ids: list[Unknown] = [Joint(k) for k in joints]
        A = np.array([[Z.get(i, k) for k in ids] for i in ids], dtype=object)
        c = vector(*(Z.linear.get(i, 0) for i in ids))
        components = [k for k in tied(self.tree, closure) if k in self.tree.alive[far.frame]]
        own = at_anchor(self.tree, far, chain_forms(self.tree, far.frame))
        J = np.array([[own[k].terms.get(i, 0) for i in ids] for k in components], dtype=object)
        inverse = cofactor_inverse(J)
        R = relative(self.tree, far.frame, self.p)
        at = at_anchor(self.tree, near, chain_forms(self.tree, self.p))
        facing = turned(R, at[:3]) + turned(R, at[3:])
        W = self._columns([facing[k] for k in components])
        d = vector(*(add(facing[k].constant, mul(-1, own[k].constant)) for k in components))
        motors = [n for n, k in enumerate(joints) if self.tree.m.coordinates[k].kind == "active"]
        A_x = congruence(inverse, A)
        return Leg(closure, [joints[n] for n in motors], inverse, motors, A_x, matvec(inverse.T, c), W, d, R.T, components)

    def _columns(self, forms: list[Affine]) -> Array:
        ids = self.rigid + self.elastic
        made = zeros(len(ids), len(forms))
        for n, form in enumerate(forms):
            for i, x in enumerate(ids):
                made[i, n] = form.terms.get(x, 0)
        return made

    # The platform --------------------------------------------------------------------------------------------------

    def derive(self) -> PlatformEliminated:
        """Itself, with K, k and G of K u + k = G tau, and the platform's own equation A V + c = J_sys tau."""
        self.legs = [self._leg(closure, chain) for closure, chain in self.chains]
        Z = body(self.tree, self.p)
        for closure in self.tree.m.closures:
            closing_friction(self.tree, closure, [self.p], Z)
        ids = self.rigid + self.elastic
        K = np.array([[Z.get(i, k) for k in ids] for i in ids], dtype=object)
        k = vector(*(Z.linear.get(i, 0) for i in ids))
        columns: list[Array] = []
        for leg in self.legs:
            K = symmetric_sum(K, congruence(leg.W.T, leg.A_x))
            k = plus(k, matvec(leg.W, plus(matvec(leg.A_x, leg.d), leg.c)))
            columns += [matvec(leg.W, leg.inverse[n]) for n in leg.motors]
        self.drives = [x for leg in self.legs for x in leg.drives]
        names = [self.tree.m.coordinates[k].name for k in self.drives]
        active = [c.name for c in self.tree.original.coordinates if c.kind == "active"]
        self.order = [names.index(n) for n in active]
        G = np.array(columns, dtype=object).T if columns else zeros(len(ids), 0)
        r = len(self.rigid)
        self.K_pe, self.k_e, self.G_e = K[:r, r:], k[r:], G[r:]
        self.A, self.k, self.J_sys = K[:r, :r], k[:r], G[:r]
        if self.elastic:
            self.inner = factored(K[r:, r:])
            both = self.inner.congruence(np.concatenate([self.K_pe.T, self.G_e, self.k_e[:, None]], axis=1))
            n = G.shape[1]
            self.A = difference(self.A, both[:r, :r])
            self.J_sys = difference(self.J_sys, both[:r, r : r + n])
            self.k = minus(self.k, both[:r, r + n])
            self.own, self.own_load = both[r : r + n, r : r + n], both[r : r + n, r + n]  # of the actuators, V at rest
        else:
            self.own, self.own_load = zeros(G.shape[1], G.shape[1]), zeros(G.shape[1])
        return self

    def elastic_accelerations(self, V: Array, tau: Array) -> Array:
        """qdd_e = K_ee^-1 (G_e tau - K_ep V - k_e)."""
        if not self.elastic:
            return zeros(0)
        return self.inner.solve(minus(minus(matvec(self.G_e, tau), matvec(self.K_pe.T, V)), self.k_e))

    def direct(self, tau: Array) -> Array:
        """V from the forces of the actuators."""
        return factored(self.A).solve(minus(matvec(self.J_sys, tau), self.k))

    def inverse(self, a: Array) -> tuple[Array, Array]:
        """tau and V from the accelerations of the actuators.

        a = J_sys^T V + own tau + ... , and V follows from tau: one symmetric system for tau."""
        whole = factored(self.A)
        both = whole.congruence(np.concatenate([self.J_sys, self.k[:, None]], axis=1))
        n = len(self.drives)
        bias = self._joint_accelerations(zeros(len(self.rigid) + len(self.elastic)))
        right = plus(minus(a, bias), both[:n, n], self.own_load)
        tau = factored(symmetric_sum(both[:n, :n], self.own)).solve(right)
        return tau, whole.solve(minus(matvec(self.J_sys, tau), self.k))

    def platform_inverse(self, V: Array) -> Array:
        """tau from the platform's accelerations: J_sys tau = A V + c."""
        if self.J_sys.shape[0] != self.J_sys.shape[1]:
            raise Unsupported(f"{self.J_sys.shape[1]} actuators for the {self.J_sys.shape[0]} accelerations of a platform")
        try:
            return solved(self.J_sys, plus(matvec(self.A, V), self.k), typical(self.tree.m, self.tree.s))
        except ZeroDivisionError as error:
            raise Unsupported("forces of actuators that do not determine the platform's accelerations") from error

    def _joint_accelerations(self, u: Array) -> Array:
        """Accelerations of the actuators: rows of J^-1 (W^T u + d)."""
        made = []
        for leg in self.legs:
            apart = plus(matvec(leg.W.T, u), leg.d)
            made += [dot(leg.inverse[n], apart) for n in leg.motors]
        return vector(*made)

    def function(self, name: str, drive: dict[str, Array], V: Array, tau: Array, attachments: bool) -> Function:
        """The model `name` with its outputs in the order of the robot file."""
        qdd = self.elastic_accelerations(V, tau)
        u = np.concatenate([V, qdd])
        names, own = self.tree.m.names(), self.tree.m.frames[self.p].ev
        elastic = dict(zip(names[own], qdd, strict=True))
        outputs: dict[str, Array] = {}
        if name == "forward":
            outputs["a_active"] = self._joint_accelerations(u)[self.order]
        elif name == "platform_forward":
            outputs["a_platform"] = _platform_coordinates(self, V)
        else:
            outputs["tau"] = tau[self.order]
        outputs["a_elastic"] = vector(*(elastic[c.name] for c in self.tree.original.coordinates if c.kind == "elastic"))
        if attachments:
            outputs["force"] = self.forces(u, tau)
        inputs = {"q": self.tree.inputs.q, "v": self.tree.inputs.v, **drive, "g": self.tree.inputs.g}
        if self.tree.w is not None:
            inputs["w"] = self.tree.w
        return function(name, inputs, outputs)

    # What is observed ----------------------------------------------------------------------------------------------

    def forces(self, u: Array, tau: Array) -> Array:
        """Forces of the legs on the platform at its attachments, in the platform's axes; a row for each closure."""
        made = zeros(len(self.legs), 3)
        at = 0
        for row, leg in enumerate(self.legs):
            driven = zeros(len(leg.components))
            for n in leg.motors:
                driven = plus(driven, scale(tau[at], leg.inverse[n]))
                at += 1
            inertia = matvec(leg.A_x, plus(matvec(leg.W.T, u), leg.d))
            force = zeros(3)
            force[[k for k in leg.components if k < 3]] = minus(minus(driven, inertia), leg.c)[:3]
            made[row] = matvec(leg.to_platform, force)
        return made


def congruence(T: Array, A: Array) -> Array:
    """T^T A T of a symmetric A, each entry below the diagonal computed once."""
    AT = matmul(A, T)
    n = T.shape[1]
    made = zeros(n, n)
    for i in range(n):
        for j in range(i, n):
            made[i, j] = made[j, i] = dot(T[:, i], AT[:, j])
    return made


def symmetric_sum(A: Array, B: Array) -> Array:
    made = zeros(*A.shape)
    for i in range(len(A)):
        for j in range(i, len(A)):
            made[i, j] = made[j, i] = add(A[i, j], B[i, j])
    return made


def difference(A: Array, B: Array) -> Array:
    return np.array([minus(a, b) for a, b in zip(A, B, strict=True)], dtype=object).reshape(A.shape)


def platform_eliminated(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by recursion over its tree, loops solved by elimination onto the platform.

    Raises Unsupported for robots that the method does not take."""
    PlatformEliminated(mechanism)
    kin = Kinematics(mechanism, state(mechanism))
    return tree_equations(kin, recursive_forces(kin), FORMULATION)


# Models ----------------------------------------------------------------------------------------------------------------


def inverse_model(mechanism: Mechanism, *, loads: bool = False, attachments: bool = False) -> Function:
    """tau and the elastic accelerations from the state and the accelerations of the actuators.

    `loads` adds an input w, the wrenches at the named points; `attachments` an output force, those of the legs on the
    platform, in its axes."""
    method = PlatformEliminated(mechanism, loads).derive()
    tau, V = method.inverse(method.tree.s.a[method.drives])
    return method.function("inverse", {"a_active": _active(method)}, V, tau, attachments)


def forward_model(mechanism: Mechanism, *, loads: bool = False, attachments: bool = False) -> Function:
    """Accelerations of the actuators and elastic coordinates from the state and tau; options as in inverse_model."""
    method = PlatformEliminated(mechanism, loads).derive()
    tau = method.tree.s.a[method.drives]
    return method.function("forward", {"tau": _active(method)}, method.direct(tau), tau, attachments)


def platform_inverse_model(mechanism: Mechanism, *, loads: bool = False, attachments: bool = False) -> Function:
    """tau and the elastic accelerations from the state and the accelerations of the platform's own coordinates."""
    method = PlatformEliminated(mechanism, loads).derive()
    chain = method.tree.m.platform_chain()
    given = [k for j in chain for k in range(method.tree.m.frames[j].v.start, method.tree.m.frames[j].v.stop)]
    V = _platform_acceleration(method, chain)
    drive = {"a_platform": method.tree.s.a[given]}
    return method.function("platform_inverse", drive, V, method.platform_inverse(V), attachments)


def platform_forward_model(mechanism: Mechanism, *, loads: bool = False, attachments: bool = False) -> Function:
    """Accelerations of the platform's own coordinates and the elastic ones from the state and tau."""
    method = PlatformEliminated(mechanism, loads).derive()
    tau = method.tree.s.a[method.drives]
    return method.function("platform_forward", {"tau": _active(method)}, method.direct(tau), tau, attachments)


def _active(method: PlatformEliminated) -> Array:
    return method.tree.inputs.a[[k for k, c in enumerate(method.tree.original.coordinates) if c.kind == "active"]]


def _platform_acceleration(method: PlatformEliminated, chain: list[int]) -> Array:
    """V, less gravity and in the platform's axes, from the accelerations of its own coordinates."""
    frames, a = method.tree.m.frames, method.tree.s.a
    total = scale(-1, method.tree.s.g)
    for j in chain[:-1]:
        total = plus(total, scale(a[frames[j].v.start], frames[j].axis))
    own = frames[method.p]
    linear = matvec(method.tree.kin.world[method.p][0].T, total)
    turning = a[own.v] if own.motion == "spherical" else scale(a[own.v.start], own.axis)
    both = [*linear, *turning]
    return vector(*(both[k] for k in method.tree.alive[method.p]))


def _platform_coordinates(method: PlatformEliminated, V: Array) -> Array:
    """Accelerations of the platform's own coordinates from V: the inverse of _platform_acceleration."""
    both = zeros(6)
    both[list(method.tree.alive[method.p])] = V
    total = plus(matvec(method.tree.kin.world[method.p][0], both[:3]), method.tree.s.g)
    frames = [method.tree.m.frames[j] for j in method.tree.m.platform_chain()]
    own = frames[-1]
    turning = both[3:] if own.motion == "spherical" else [dot(own.axis, both[3:])]
    return vector(*(dot(f.axis, total) for f in frames[:-1]), *turning)


def deformation_model(mechanism: Mechanism) -> Function:
    """How far the platform's attachments (closures, then named points on it) are from where a rigid platform has them:
    displacement and small rotation, in its axes, from q."""
    if mechanism.platform is None:
        raise Unsupported("the missing platform")
    frame, s = mechanism.frames[mechanism.platform], state(mechanism)
    ends = [a for c in mechanism.closures for a in (c.first, c.second)] + list(mechanism.points.values())
    markers = [a.marker for a in ends if a.frame == mechanism.platform]
    moved = np.array([matvec(m.Phi_d, s.q[frame.e]) for m in markers], dtype=object).reshape(len(markers), 3)
    turned_by = np.array([matvec(m.Phi_r, s.q[frame.e]) for m in markers], dtype=object).reshape(len(markers), 3)
    return function("deformation", {"q": s.q}, {"displacement": moved, "rotation": turned_by})


FORMULATION = Formulation(
    name="platform_eliminated",
    about="Newton-Euler, rigid legs eliminated onto a platform that may bend",
    derive=platform_eliminated,
    couple="platform",
    expected="rounding",
    models={
        "inverse": inverse_model,
        "forward": forward_model,
        "platform_inverse": platform_inverse_model,
        "platform_forward": platform_forward_model,
        "deformation": deformation_model,
    },
    largest=DENSE,
    in_time="closed forms only",
)
