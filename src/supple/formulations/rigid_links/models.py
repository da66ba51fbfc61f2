"""Models to generate from any Equations of a mechanism: matrices, inverse and forward, solved inside the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from supple.expr.derivative import pull_back
from supple.expr.function import Array, Function, function, symbols
from supple.expr.substitution import substituted
from supple.expr.vector import matvec, minus, plus, scale, vector, zeros
from supple.formulations.record import Equations
from supple.formulations.tree.kinematics import state
from supple.formulations.tree.matrices import Matrices, saddle
from supple.robot.mechanism import Mechanism

Derive = Callable[[Mechanism], Equations]


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


def mass_model(mechanism: Mechanism, derive: Derive) -> Function:
    """M, c, J and b of the virtual tree: M a + c = tau + J^T lam, J a + b = 0."""
    m = matrices_of(derive(mechanism))
    outputs = {"M": m.M, "c": m.c, "J": m.J, "b": m.b}
    return function("mass", m.inputs(), {k: x for k, x in outputs.items() if x.size})


def forward_model(mechanism: Mechanism, derive: Derive, *, loads: bool = False) -> Function:
    """Accelerations and reactions from the state and tau."""
    m = matrices_of(derive(mechanism), loads)
    active = mechanism.indices("active")
    tau = symbols("tau", len(active))
    force = scale(-1, m.c)
    force[active] = plus(force[active], tau)
    a, lam = saddle(m, list(range(mechanism.nv)), force, scale(-1, m.b))
    return function("forward", m.inputs(tau=tau), {**m.accelerations(a), "lam": lam})


def inverse_model(mechanism: Mechanism, derive: Derive, *, loads: bool = False) -> Function:
    """tau, the other accelerations and the reactions from the state and the accelerations of the actuators."""
    m = matrices_of(derive(mechanism), loads)
    active = mechanism.indices("active")
    others = [k for k in range(mechanism.nv) if k not in set(active)]
    given = symbols("a_active", len(active))
    a = zeros(mechanism.nv)
    a[active] = given
    force, wanted = scale(-1, plus(m.c, matvec(m.M, a))), scale(-1, plus(m.b, matvec(m.J, a)))
    a[others], lam = saddle(m, others, force, wanted)
    tau: Array = minus(plus(matvec(m.M[active], a), m.c[active]), matvec(m.J[:, active].T, lam))
    shown = m.accelerations(a)
    shown.pop("a_active", None)
    return function("inverse", m.inputs(a_active=given), {"tau": tau, **shown, "lam": lam})
