"""Lagrange-D'Alembert in independent coordinates (Stachera & Schumacher 2008, section 3).

    v = W v_i,    M_c = W^T M W,    c_c = W^T (M b_w + c),    M_c a_i + c_c = W^T tau

Independent are the active and elastic coordinates where the loops allow it. c_c holds what the paper writes as C_c, eta_c,
K_c and D_c, and `reduced_model` gives them one by one; see docs/lagrange_dalembert.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.expr.derivative import directional, pull_back
from supple.expr.elimination import factored, solved
from supple.expr.function import Array, Function, function, symbols
from supple.expr.substitution import estimates, substituted
from supple.expr.vector import matmul, matvec, minus, plus, scale, vector, zeros
from supple.formulations.record import DENSE, Equations, Formulation, Unsupported
from supple.formulations.tree.independent import independent_rows, split
from supple.formulations.tree.kinematics import Kinematics, state, typical
from supple.formulations.tree.lagrangian import (
    along_velocities,
    dissipation,
    energy_equations,
    potential,
    tree_forces,
    weight_energy,
)
from supple.formulations.tree.loops import loop_jacobian
from supple.formulations.tree.matrices import Matrices, matrices
from supple.formulations.tree.strain import elastic_forces
from supple.robot.mechanism import Mechanism


def lagrange_dalembert(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism from its energies, loops by independent coordinates."""
    return energy_equations(mechanism, FORMULATION)


# The reduced system --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reduction:
    """v = W v_i and a = W a_i + bias of the closed robot."""

    independent: list[int]
    dependent: list[int]
    W: Array
    bias: Array


def reduction(m: Matrices) -> Reduction:
    """W (eq. 18) by elimination of the loops in the dependent coordinates."""
    sample = m.sample()
    numbers = estimates(m.J, sample)
    rows = independent_rows(numbers)
    free, dependent = split(numbers[rows], [c.kind for c in m.mechanism.coordinates])
    W, bias = zeros(m.mechanism.nv, len(free)), zeros(m.mechanism.nv)
    for n, k in enumerate(free):
        W[k, n] = 1
    if dependent:
        right = np.concatenate([m.J[np.ix_(rows, free)], m.b[rows][:, None]], axis=1)
        try:
            found = solved(m.J[np.ix_(rows, dependent)], right, sample)
        except ZeroDivisionError as reason:
            raise Unsupported("loops that do not determine the passive joints") from reason
        for n, k in enumerate(dependent):
            W[k], bias[k] = scale(-1, found[n, :-1]), scale(-1, found[n, -1:])[0]
    return Reduction(free, dependent, W, bias)


def reduced_names(mechanism: Mechanism) -> list[str]:
    """Names of the independent coordinates."""
    kin = Kinematics(mechanism, state(mechanism))
    J = loop_jacobian(kin)
    numbers = estimates(J, typical(mechanism, kin.state))
    return [mechanism.coordinates[k].name for k in split(numbers, [c.kind for c in mechanism.coordinates])[0]]


def congruent(M: Array, W: Array) -> Array:
    """W^T M W, each entry below the diagonal computed once."""
    MW = matmul(M, W)
    n = W.shape[1]
    made = zeros(n, n)
    for i in range(n):
        made[i : i + 1, : i + 1] = matmul(W[:, i : i + 1].T, MW[:, : i + 1])
        made[: i + 1, i] = made[i, : i + 1]
    return made


def mass_model(mechanism: Mechanism) -> Function:
    """M_c and c_c of the closed robot in its independent coordinates, and W."""
    m = matrices(mechanism)
    r = reduction(m)
    c = matvec(r.W.T, plus(matvec(m.M, r.bias), m.c))
    return function("mass", m.inputs(), {"M": congruent(m.M, r.W), "c": c, "W": r.W})


def reduced_model(mechanism: Mechanism) -> Function:
    """M_c, C_c v, eta_c, K_c and D_c one by one (eqs. 21-25): M_c a_i + (C_c v) + eta_c + W^T (K q + D v) = W^T tau.

    On the left belongs stretch_c too, what axial loads add to K q + D v; the paper, and stiffening: none, have nothing."""
    m = matrices(mechanism)
    r = reduction(m)
    kin = Kinematics(mechanism, replace(state(mechanism), q=m.s.q, v=m.s.v, g=m.s.g))
    every = range(len(mechanism.frames))
    energies = vector(potential(kin, every)), vector(weight_energy(kin, every))
    stored, weight = (along_velocities(mechanism, m.s.q, pull_back(x, vector(1), m.s.q)) for x in energies)
    losses = pull_back(vector(dissipation(kin, every)), vector(1), m.s.v)
    K, D = zeros(mechanism.nv, mechanism.nv), zeros(mechanism.nv, mechanism.nv)
    for frame in mechanism.frames:
        K[frame.ev, frame.ev], D[frame.ev, frame.ev] = frame.body.K_ee, frame.body.D_ee
    for k, c in enumerate(mechanism.coordinates):
        D[k, k] = D[k, k] + c.viscous
    stretched = zeros(mechanism.nv)
    for frame in mechanism.frames:
        stretched[frame.ev] = elastic_forces(frame.body, m.s.q[frame.e], m.s.v[frame.ev])
        linear = plus(matvec(frame.body.K_ee, m.s.q[frame.e]), matvec(frame.body.D_ee, m.s.v[frame.ev]))
        stretched[frame.ev] = minus(stretched[frame.ev], linear)
    outputs = {
        "M_c": congruent(m.M, r.W),
        "C_c_v": matvec(r.W.T, plus(matvec(m.M, r.bias), minus(minus(m.c, stored), losses))),
        "eta_c": matvec(r.W.T, weight),
        "stretch_c": matvec(r.W.T, stretched),
        "K_c": matmul(r.W.T, matmul(K, r.W)),
        "D_c": matmul(r.W.T, matmul(D, r.W)),
        "W": r.W,
    }
    return function("reduced", m.inputs(), outputs)


def forward_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """Accelerations of the independent coordinates from the state and tau (eq. 26)."""
    m = matrices(mechanism, loads)
    r = reduction(m)
    active = mechanism.indices("active")
    tau = symbols("tau", len(active))
    force = scale(-1, plus(matvec(m.M, r.bias), m.c))
    force[active] = plus(force[active], tau)
    try:
        found = factored(congruent(m.M, r.W)).solve(matvec(r.W.T, force))
    except ZeroDivisionError as reason:
        raise Unsupported("a motion that no mass resists") from reason
    outputs = m.accelerations(plus(matvec(r.W, found), r.bias))
    return function("forward", m.inputs(tau=tau), outputs)


def inverse_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """tau and elastic accelerations from the state and the accelerations of the actuators.

    A rigid robot's torques are those of the tree, W^T tau_t (the paper's first way); otherwise the elastic accelerations
    are solved for in the reduced system first (its second way)."""
    m = matrices(mechanism, loads)
    r = reduction(m)
    active = mechanism.indices("active")
    if not set(active) <= set(r.independent):
        raise Unsupported("more actuators than freedoms, whose forces are not unique")
    given = symbols("a_active", len(active))
    place = [r.independent.index(k) for k in active]
    others = [n for n in range(len(r.independent)) if n not in set(place)]
    a = zeros(len(r.independent))
    a[place] = given
    if not others:
        tree = plus(_tree_inertia(mechanism, m, plus(matvec(r.W, a), r.bias)), m.c)
        return function("inverse", m.inputs(a_active=given), {"tau": matvec(r.W.T, tree)[place], "a_elastic": zeros(0)})
    M = congruent(m.M, r.W)
    c = matvec(r.W.T, plus(matvec(m.M, r.bias), m.c))
    right = scale(-1, plus(matvec(M[np.ix_(others, place)], given), c[others]))
    try:
        a[others] = factored(M[np.ix_(others, others)]).solve(right)
    except ZeroDivisionError as reason:
        raise Unsupported("a motion that no mass resists") from reason
    outputs = m.accelerations(plus(matvec(r.W, a), r.bias))
    outputs.pop("a_active", None)
    return function("inverse", m.inputs(a_active=given), {"tau": plus(matvec(M[place], a), c[place]), **outputs})


def _tree_inertia(mechanism: Mechanism, m: Matrices, a: Array) -> Array:
    """M a, without forming M."""
    kin = Kinematics(mechanism, replace(state(mechanism), q=m.s.q, v=m.s.v, g=m.s.g))
    column = directional(tree_forces(kin), {"a": kin.state.a}, symbols("d", mechanism.nv), "inertia").outputs["f"]
    return substituted(column, dict(zip(kin.state.a, a, strict=True)))


FORMULATION = Formulation(
    name="lagrange_dalembert",
    about="Lagrange-D'Alembert in independent coordinates",
    derive=lagrange_dalembert,
    couple="independent",
    expected="rounding",
    models={"mass": mass_model, "inverse": inverse_model, "forward": forward_model, "reduced": reduced_model},
    independent=reduced_names,
    largest=DENSE,
)
