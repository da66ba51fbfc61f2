"""Lagrange's equations of a virtual tree, by exact differentiation of its energies; nothing of a force recursion in it.

    d/dt dL/dv - dL/dq + dQ/dv = dP/dv,    L = T - V

T holds bodies and motors, V gravity and elasticity, Q = 1/2 v.D v the losses, and P the power of loads and of the loops'
reactions, which is linear in v. Where v is an angular velocity in its own axes (spherical joints), d/dq is the derivative
along the turn and Boltzmann-Hamel's term v x dL/dv is added.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from supple.expr.derivative import pull_back, push_forward
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import HALF, Scalar, add, mul, sub
from supple.expr.vector import cross, dot, is_zero, matvec, minus, plus, scale, vector, zeros
from supple.formulations.record import Equations, Formulation
from supple.formulations.tree.equations import tree_equations
from supple.formulations.tree.friction import coulomb_friction
from supple.formulations.tree.kinematics import Kinematics, State, inputs, state
from supple.formulations.tree.loops import closure_motion
from supple.formulations.tree.observed import displacement, first_moments, kinetic_energy
from supple.formulations.tree.strain import elastic_energy, lost_power
from supple.robot.mechanism import Mechanism


class Moving(Protocol):
    """A mechanism in some state, whatever its kinematics."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def state(self) -> State: ...


def energy_equations(mechanism: Mechanism, formulation: Formulation) -> Equations:
    """The Equations of a mechanism from its energies; formulations that start so differ in how they solve the loops."""
    kin = Kinematics(mechanism, state(mechanism))
    return tree_equations(kin, tree_forces(kin), formulation)


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


def lagrange_terms(kin: Moving, L: Scalar) -> Array:
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
