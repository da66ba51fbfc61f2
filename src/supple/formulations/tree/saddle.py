"""Models as a saddle-point system, solved inside the graph: accelerations and loop forces at once.

M a + c = tau + J^T lam,    J a + b = 0
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.expr.derivative import pull_back
from supple.expr.elimination import factored, solved
from supple.expr.function import Array, Function, function, symbols
from supple.expr.substitution import estimates, substituted
from supple.expr.vector import is_zero, matvec, minus, plus, scale, vector, zeros
from supple.formulations.record import Build, Derive, Equations, Unsupported
from supple.formulations.tree.independent import independent_rows
from supple.formulations.tree.kinematics import state
from supple.formulations.tree.matrices import Matrices
from supple.robot.mechanism import Mechanism


def matrices_of(equations: Equations, loads: bool = False) -> Matrices:
    """M, c, J and b of a virtual tree, from the Functions of its Equations."""
    mechanism, f, loops = equations.mechanism, equations.forces, equations.closure_motion
    given = state(mechanism)
    s = replace(given, q=f.inputs["q"], v=f.inputs["v"], g=f.inputs["g"], a=zeros(mechanism.nv))
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | ({} if loads else dict.fromkeys(f.inputs["w"].ravel(), 0))
    unmoved = {**still, **dict.fromkeys(f.inputs["a"], 0)}
    c = plus(substituted(f.outputs["f"], unmoved), f.outputs["coulomb"])
    M = zeros(mechanism.nv, mechanism.nv)
    for k, row in enumerate(f.outputs["f"]):
        M[k, : k + 1] = pull_back(vector(row), vector(1), f.inputs["a"][: k + 1])
        M[: k + 1, k] = M[k, : k + 1]
    J = [pull_back(vector(row), vector(1), loops.inputs["v"]) for row in loops.outputs["velocity"]]
    b = substituted(loops.outputs["acceleration"], dict.fromkeys(loops.inputs["a"], 0))
    stacked = np.stack(J) if J else zeros(0, mechanism.nv)
    return Matrices(mechanism, s, M, c, stacked, b, f.inputs["w"] if loads else None)


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


# Models ----------------------------------------------------------------------------------------------------------------


def mass_of(m: Matrices) -> Function:
    """M, c, J and b of the virtual tree."""
    outputs = {"M": m.M, "c": m.c, "J": m.J, "b": m.b}
    return function("mass", m.inputs(), {k: x for k, x in outputs.items() if x.size})


def forward_of(m: Matrices) -> Function:
    """Accelerations and loop forces from the state and tau."""
    tau = symbols("tau", len(m.mechanism.indices("active")))
    a, lam = saddle(m, list(range(m.mechanism.nv)), m.driven(tau), scale(-1, m.b))
    return function("forward", m.inputs(tau=tau), {**m.accelerations(a), "lam": lam})


def inverse_of(m: Matrices) -> Function:
    """tau, the other accelerations and the loop forces from the state and the accelerations of the actuators."""
    active = m.mechanism.indices("active")
    others = [k for k in range(m.mechanism.nv) if k not in set(active)]
    given = symbols("a_active", len(active))
    a = zeros(m.mechanism.nv)
    a[active] = given
    force, wanted = scale(-1, plus(m.c, matvec(m.M, a))), scale(-1, plus(m.b, matvec(m.J, a)))
    a[others], lam = saddle(m, others, force, wanted)
    tau = minus(plus(matvec(m.M[active], a), m.c[active]), matvec(m.J[:, active].T, lam))
    shown = m.accelerations(a)
    shown.pop("a_active", None)
    return function("inverse", m.inputs(a_active=given), {"tau": tau, **shown, "lam": lam})


def saddle_models(derive: Derive) -> dict[str, Build]:
    """mass, inverse and forward of any Equations."""

    def mass(mechanism: Mechanism) -> Function:
        """M, c, J and b of the virtual tree: M a + c = tau + J^T lam, J a + b = 0."""
        return mass_of(matrices_of(derive(mechanism)))

    def inverse(mechanism: Mechanism, *, loads: bool = False) -> Function:
        """tau, the other accelerations and the reactions from the state and the accelerations of the actuators."""
        return inverse_of(matrices_of(derive(mechanism), loads))

    def forward(mechanism: Mechanism, *, loads: bool = False) -> Function:
        """Accelerations and reactions from the state and tau."""
        return forward_of(matrices_of(derive(mechanism), loads))

    return {"mass": mass, "inverse": inverse, "forward": forward}
