"""Lagrange's equations of the first type (Stachera & Schumacher 2008, section 2): energies and multipliers.

    d/dt dL/dv - dL/dq + dQ/dv = tau + J^T lam,    J v = 0

The multipliers are the reactions of the closing joints. Both models solve for accelerations and multipliers at once;
see docs/lagrange.md.
"""

from __future__ import annotations

from supple.expr.function import Function, function, symbols
from supple.expr.vector import matvec, minus, plus, scale, zeros
from supple.formulations.record import Equations
from supple.formulations.tree.lagrangian import energy_equations
from supple.formulations.tree.matrices import matrices, saddle
from supple.robot.mechanism import Mechanism


def lagrange(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism from its kinetic and potential energy, loops by multipliers."""
    return energy_equations(mechanism, "lagrange", "multipliers")


def mass_model(mechanism: Mechanism) -> Function:
    """M, c, J and b of the virtual tree: M a + c = tau + J^T lam, J a + b = 0."""
    m = matrices(mechanism)
    outputs = {"M": m.M, "c": m.c, "J": m.J, "b": m.b}
    return function("mass", m.inputs(), {k: x for k, x in outputs.items() if x.size})


def forward_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """Accelerations and multipliers from the state and tau (direct dynamics)."""
    m = matrices(mechanism, loads)
    active = mechanism.indices("active")
    tau = symbols("tau", len(active))
    force = scale(-1, m.c)
    force[active] = plus(force[active], tau)
    a, lam = saddle(m, list(range(mechanism.nv)), force, scale(-1, m.b))
    return function("forward", m.inputs(tau=tau), {**m.accelerations(a), "lam": lam})


def inverse_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """tau, the other accelerations and the multipliers from the state and the accelerations of the actuators."""
    m = matrices(mechanism, loads)
    active = mechanism.indices("active")
    others = [k for k in range(mechanism.nv) if k not in set(active)]
    given = symbols("a_active", len(active))
    a = zeros(mechanism.nv)
    a[active] = given
    force = scale(-1, plus(m.c, matvec(m.M, a)))
    wanted = scale(-1, plus(m.b, matvec(m.J, a)))
    a[others], lam = saddle(m, others, force, wanted)
    left = minus(plus(matvec(m.M[active], a), m.c[active]), matvec(m.J[:, active].T, lam))
    shown = m.accelerations(a)
    shown.pop("a_active", None)
    return function("inverse", m.inputs(a_active=given), {"tau": left, **shown, "lam": lam})
