"""Lagrange's equations of a virtual tree, by exact differentiation of its energies; nothing of a force recursion in it.

    d/dt dL/dv - dL/dq + dQ/dv = dP/dv,    L = T - V

T holds bodies and motors, V gravity and elasticity, Q = 1/2 v.D v the losses, and P the power of loads and of the loops'
reactions, which is linear in v. Where v is an angular velocity in its own axes (spherical joints), d/dq is the derivative
along the turn and Boltzmann-Hamel's term v x dL/dv is added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from supple.expr.derivative import directional, pull_back, push_forward
from supple.expr.elimination import factored, solved
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import Expr, Scalar, add, mul, sub
from supple.expr.substitution import estimates
from supple.expr.vector import cross, dot, is_zero, matvec, minus, plus, scale, vector, zeros
from supple.formulations.affine import Unsupported
from supple.formulations.chains import chains
from supple.formulations.equations import Equations
from supple.formulations.independent import independent_rows
from supple.formulations.kinematics import Kinematics, State, inputs, state
from supple.formulations.link_system import LinkSystem
from supple.formulations.loops import closure_motion
from supple.formulations.observed import (
    coulomb_friction,
    displacement,
    first_moments,
    kinetic_energy,
    observed,
    only,
)
from supple.formulations.strain import elastic_energy, lost_power
from supple.robot.mechanism import Mechanism

HALF = Fraction(1, 2)


def energy_equations(mechanism: Mechanism, formulation: str, coupling: str) -> Equations:
    """The Equations of a mechanism from its energies; formulations that start so differ in how they solve the loops."""
    kin = Kinematics(mechanism, state(mechanism))
    forces = tree_forces(kin)
    direction = symbols("d", mechanism.nv)
    along = {"q": displacement(mechanism, kin.state.q, direction)}
    return Equations(
        formulation=formulation,
        forces=forces,
        inertia=only(directional(forces, {"a": direction}, direction, "inertia"), "f"),
        stiffness=only(directional(forces, along, direction, "stiffness"), "f"),
        damping=only(directional(forces, {"v": direction}, direction, "damping"), "f"),
        **observed(kin, direction),
        coupling=coupling,
    )


def tree_forces(kin: Kinematics) -> Function:
    """q v a g lam w -> f = M a + c - J^T lam - loads, and Coulomb friction, of every coordinate of the tree."""
    mechanism, s = kin.mechanism, kin.state
    lam, w = symbols("lam", mechanism.equations), symbols("w", (len(mechanism.points), 6))
    every = range(len(mechanism.frames))
    L = sub(kinetic(kin, every), potential(kin, every))
    f = minus(lagrange_terms(kin, L), pull_back(vector(reaction_power(kin, lam)), vector(1), s.v))
    f = minus(f, pull_back(vector(load_power(kin, w)), vector(1), s.v))
    f = plus(f, pull_back(vector(dissipation(kin, every)), vector(1), s.v))
    return function("forces", {**inputs(s), "lam": lam, "w": w}, {"f": f, "coulomb": coulomb_friction(mechanism, s.v)})


def lagrange_terms(kin: Kinematics | LinkSystem, L: Scalar) -> Array:
    """d/dt dL/dv - dL/dq, with Boltzmann-Hamel's terms of spherical joints."""
    mechanism, s = kin.mechanism, kin.state
    gradient = pull_back(vector(L), vector(1), np.concatenate([s.v, s.q]))
    momentum, slope = gradient[: mechanism.nv], gradient[mechanism.nv :]
    moves = dict(zip(s.q, displacement(mechanism, s.q, s.v), strict=True)) | dict(zip(s.v, s.a, strict=True))
    moving = {x: dx for x, dx in moves.items() if not is_zero(dx)}
    f = minus(push_forward(momentum, moving), along_velocities(mechanism, s.q, slope))
    for frame in mechanism.frames:
        if frame.motion == "spherical":
            f[frame.v] = plus(f[frame.v], cross(s.v[frame.v], momentum[frame.v]))
    return f


def along_velocities(mechanism: Mechanism, q: Array, slope: Array) -> Array:
    """A gradient with respect to position numbers, turned into one along the generalised velocities."""
    made = zeros(mechanism.nv)
    for frame in mechanism.frames:
        made[frame.ev] = slope[frame.e]
        if frame.motion != "spherical":
            made[frame.v] = slope[frame.q]
        else:
            w, x, y, z = q[frame.q]
            turn = np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]], dtype=object)  # 2 dq/d(turn), transposed
            made[frame.v] = scale(HALF, matvec(turn, slope[frame.q]))
    return made


# Energies ------------------------------------------------------------------------------------------------------------


def kinetic(kin: Kinematics, frames: Iterable[int]) -> Scalar:
    """Kinetic energy of some frames' bodies and motors."""
    total: Scalar = 0
    for index in frames:
        motion = kin.motions[index]
        body, frame = motion.frame.body, motion.frame
        if not (is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr)):
            total = add(total, kinetic_energy(body, motion))
        for part in (frame.v, frame.ev):
            for c, v in zip(kin.mechanism.coordinates[part], kin.state.v[part], strict=True):
                total = add(total, mul(HALF, mul(c.inertia, mul(v, v))))
    return total


def potential(kin: Kinematics, frames: Iterable[int]) -> Scalar:
    """Energy of weight and elasticity of some frames' bodies."""
    frames = list(frames)
    total = weight_energy(kin, frames)
    for index in frames:
        body = kin.motions[index].frame.body
        if body.flexible:
            total = add(total, elastic_energy(body, kin.motions[index].qe))
    return total


def weight_energy(kin: Kinematics, frames: Iterable[int]) -> Scalar:
    """Energy of some frames' bodies in the field of gravity."""
    total: Scalar = 0
    for index in frames:
        motion, (R, p) = kin.motions[index], kin.world[index]
        body = motion.frame.body
        if not (is_zero(body.mass) and is_zero(body.MS_r)):
            MS, _ = first_moments(body, motion.qe)
            total = sub(total, dot(kin.state.g, plus(scale(body.mass, p), matvec(R, MS))))
    return total


def dissipation(kin: Kinematics, frames: Iterable[int]) -> Scalar:
    """Rayleigh's function: half the power lost in material damping and viscous friction."""
    total: Scalar = 0
    for index in frames:
        motion = kin.motions[index]
        if motion.frame.body.flexible:
            total = add(total, mul(HALF, lost_power(motion.frame.body, motion.qe, motion.qde)))
        for part in (motion.frame.v, motion.frame.ev):
            for c, v in zip(kin.mechanism.coordinates[part], kin.state.v[part], strict=True):
                total = add(total, mul(HALF, mul(c.viscous, mul(v, v))))
    return total


def reaction_power(kin: Kinematics, lam: Array) -> Scalar:
    """lam . J v."""
    return dot(lam, closure_motion(kin).outputs["velocity"])


def load_power(kin: Kinematics, w: Array) -> Scalar:
    """Power of wrenches (force, moment in base axes) at the named points."""
    total: Scalar = 0
    for anchor, wrench in zip(kin.mechanism.points.values(), w, strict=True):
        if anchor.frame >= 0:
            R = kin.world[anchor.frame][0]
            spin, _, _, speed = kin.twist(anchor)
            total = add(total, add(dot(wrench[:3], matvec(R, speed)), dot(wrench[3:], matvec(R, spin))))
    return total


# Matrices ------------------------------------------------------------------------------------------------------------


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

    def accelerations(self, a: Array) -> dict[str, Array]:
        """Accelerations by the names that generated models give them."""
        kinds = [c.kind for c in self.mechanism.coordinates]
        shown = ("active", "elastic") if "active" in kinds else ("elastic", "passive")
        return {f"a_{kind}": a[[k for k, x in enumerate(kinds) if x == kind]] for kind in shown}


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


def loop_jacobian(kin: Kinematics) -> Array:
    """J of the loops, row by row."""
    J = zeros(kin.mechanism.equations, kin.mechanism.nv)
    for n, velocity in enumerate(closure_motion(kin).outputs["velocity"]):
        J[n] = pull_back(vector(velocity), vector(1), kin.state.v)
    return J


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


def saddle(m: Matrices, unknown: list[int], force: Array, wanted: Array) -> tuple[Array, Array]:
    """a and lam of M a = force + J^T lam with J a = wanted, over some of the coordinates.

    The matrix [M -J^T; J 0] is eliminated from the tips of the chains to the base, where M has the fewest neighbours, and
    then in the multipliers and in what moves no mass. Redundant rows of J get no multiplier."""
    sample = m.sample()
    rows = independent_rows(estimates(m.J[:, unknown], sample))
    heavy = [k for k in unknown if not is_zero(m.M[k])]
    light = [k for k in unknown if k not in set(heavy)]
    J, A = m.J[np.ix_(rows, heavy)], m.J[np.ix_(rows, light)]
    a, lam = zeros(m.mechanism.nv), zeros(len(m.J))
    try:
        M = factored(m.M[np.ix_(heavy, heavy)])
        if rows:
            S = M.congruence(J.T)
            gap = minus(wanted[rows], matvec(J, M.solve(force[heavy])))
            if light:
                n = len(light)
                whole = zeros(n + len(rows), n + len(rows))
                whole[:n, n:], whole[n:, :n], whole[n:, n:] = A.T, A, S
                x = solved(whole, np.concatenate([scale(-1, force[light]), gap]), sample)
                a[light], lam[rows] = x[:n], x[n:]
            else:
                lam[rows] = factored(S).solve(gap)
        elif light:
            raise ZeroDivisionError
        a[heavy] = M.solve(plus(force[heavy], matvec(J.T, lam[rows])))
    except ZeroDivisionError as reason:
        raise Unsupported("a motion that no mass resists") from reason
    return a[unknown], lam
