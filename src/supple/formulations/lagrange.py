"""Lagrange's equations of the first type (Stachera & Schumacher 2008, section 2): energies and multipliers.

    d/dt dL/dv - dL/dq + dQ/dv = tau + J^T lam,    J v = 0

The multipliers are the reactions of the closing joints. Both models solve for accelerations and multipliers at once;
see docs/lagrange.md.
"""

from __future__ import annotations

from supple.expr.function import Function
from supple.formulations.record import DENSE, GAIN, Equations, Formulation, Way
from supple.formulations.tree.lagrangian import energy_equations
from supple.formulations.tree.matrices import matrices
from supple.formulations.tree.saddle import forward_of, inverse_of, mass_of
from supple.robot.mechanism import Mechanism


def lagrange(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism from its kinetic and potential energy, loops by multipliers."""
    return energy_equations(mechanism, FORMULATION)


def mass_model(mechanism: Mechanism) -> Function:
    """M, c, J and b of the virtual tree: M a + c = tau + J^T lam, J a + b = 0."""
    return mass_of(matrices(mechanism))


def forward_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """Accelerations and multipliers from the state and tau (direct dynamics)."""
    return forward_of(matrices(mechanism, loads))


def inverse_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """tau, the other accelerations and the multipliers from the state and the accelerations of the actuators."""
    return inverse_of(matrices(mechanism, loads))


FORMULATION = Formulation(
    name="lagrange",
    about="Lagrange's equations of the first type: energies and multipliers",
    derive=lagrange,
    couple="multipliers",
    expected="rounding",
    models={"mass": mass_model, "inverse": inverse_model, "forward": forward_model},
    largest=DENSE,
    ways={
        "projection": Way("multipliers", "multipliers, joints put back on the loops after every step", projected=True),
        "baumgarte": Way("multipliers", f"multipliers, gaps pulled together ({GAIN:g}/s)", GAIN),
        "exact": Way("multipliers", "multipliers, gaps left as they are"),
    },
)
