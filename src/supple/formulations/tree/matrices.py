"""M, c, J and b of a virtual tree as expressions: M a + c = tau + J^T lam and J a + b = 0."""

from __future__ import annotations

from dataclasses import dataclass, replace

from supple.expr.derivative import pull_back, push_forward
from supple.expr.function import Array, symbols
from supple.expr.node import Expr, sub
from supple.expr.vector import minus, plus, scale, vector, zeros
from supple.formulations.tree.chains import chains
from supple.formulations.tree.friction import coulomb_friction
from supple.formulations.tree.kinematics import Kinematics, State, state, typical
from supple.formulations.tree.lagrangian import dissipation, kinetic, lagrange_terms, load_power, potential
from supple.formulations.tree.loops import closure_motion, loop_jacobian
from supple.formulations.tree.undriven import undriven
from supple.robot.mechanism import Mechanism


@dataclass(frozen=True)
class Matrices:
    """M a + c = tau + J^T lam and J a + b = 0 of a tree, as expressions of its state."""

    mechanism: Mechanism
    s: State
    M: Array
    c: Array
    J: Array
    b: Array
    w: Array | None  # wrenches at the named points, if asked for

    def sample(self) -> dict[Expr, float]:
        """A typical state, for choosing pivots."""
        return typical(self.mechanism, self.s)

    def inputs(self, **drive: Array) -> dict[str, Array]:
        """The inputs of a model of this state and a drive."""
        loads = {} if self.w is None else {"w": self.w}
        return {"q": self.s.q, "v": self.s.v, **drive, "g": self.s.g, **loads}

    def driven(self, tau: Array) -> Array:
        """tau - c."""
        active = self.mechanism.indices("active")
        force = scale(-1, self.c)
        force[active] = plus(force[active], tau)
        return force

    def accelerations(self, a: Array) -> dict[str, Array]:
        """Accelerations by the names that generated models give them."""
        places = {c.name: k for k, c in enumerate(self.mechanism.coordinates)}
        found = {kind: self.mechanism.indices(kind) for kind in ("active", "elastic")}
        if not found["active"]:
            del found["active"]
        loose = [places[n] for n in undriven(self.mechanism)]
        return {f"a_{kind}": a[own] for kind, own in {**found, **({"passive": loose} if loose else {})}.items()}


def matrices(mechanism: Mechanism, loads: bool = False) -> Matrices:
    """The matrices of Lagrange's equations; M is the Hessian of T, chain by chain."""
    s = state(mechanism)
    s = replace(s, a=zeros(mechanism.nv))
    kin = Kinematics(mechanism, s)
    every = range(len(mechanism.frames))
    L = sub(kinetic(kin, every), potential(kin, every))
    c = plus(lagrange_terms(kin, L), pull_back(vector(dissipation(kin, every)), vector(1), s.v))
    c = plus(c, coulomb_friction(mechanism, s.v))
    w = symbols("w", (len(mechanism.points), 6)) if loads else None
    if w is not None:
        c = minus(c, pull_back(vector(load_power(kin, w)), vector(1), s.v))
    M = zeros(mechanism.nv, mechanism.nv)
    for chain in chains(mechanism):
        own = list(chain.v)
        momentum = pull_back(vector(kinetic(kin, chain.frames)), vector(1), s.v[own])
        for n, k in enumerate(own):
            M[own[n:], k] = M[k, own[n:]] = push_forward(momentum[n:], {s.v[k]: 1})
    return Matrices(mechanism, s, M, c, loop_jacobian(kin), closure_motion(kin).outputs["acceleration"], w)
