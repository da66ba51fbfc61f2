"""Virtual power summed over the links by their Jacobians (Briot & Khalil 2014 as printed, section 3 and 4).

    M_tot = sum_j J_j^T M_j J_j,    M = E J^T M_tot J E^T,    c = E J^T (M_tot b + c_tot)

Independent are all coordinates but the last of each leg, taken as active, passive, elastic. Every matrix of the paper (J_t,
J_p, J_d, b, E) is an output of the model `recursion`; see docs/virtual_power.md.
"""

from __future__ import annotations

from supple.expr.elimination import factored
from supple.expr.function import Array, Function, function, symbols
from supple.expr.vector import matvec, plus, scale, zeros
from supple.formulations.record import DENSE, Equations, Formulation, Unsupported
from supple.formulations.tree.equations import tree_equations
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.undriven import undriven
from supple.formulations.tree.virtual_power import (
    Closed,
    check_size,
    closed,
    recursion_model,
    recursion_names,
    summed_forces,
)
from supple.robot.mechanism import Mechanism


def virtual_power(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by Jacobians of its links, loops in independent coordinates."""
    check_size(mechanism)
    kin = Kinematics(mechanism, state(mechanism))
    return tree_equations(kin, summed_forces(kin), FORMULATION)


def mass_model(mechanism: Mechanism) -> Function:
    """M and c of the closed robot in its independent coordinates, actuators first (eq. 44)."""
    m = closed(mechanism)
    return function("mass", _inputs(m), {"M": m.M, "c": m.c})


def forward_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """Accelerations from the state and tau."""
    m = closed(mechanism, loads)
    active = _driven(mechanism, m)
    tau = symbols("tau", active)
    force = scale(-1, m.c)
    force[:active] = plus(force[:active], tau)
    return function("forward", _inputs(m, tau=tau), _named(mechanism, m, _solved(m.M, force)))


def inverse_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """tau and the other accelerations from the state and the accelerations of the actuators."""
    m = closed(mechanism, loads)
    active = _driven(mechanism, m)
    given = symbols("a_active", active)
    a = zeros(len(m.order))
    a[:active] = given
    if len(m.order) > active:
        a[active:] = _solved(m.M[active:, active:], scale(-1, plus(matvec(m.M[active:, :active], given), m.c[active:])))
    outputs = _named(mechanism, m, a)
    outputs.pop("a_active", None)
    return function("inverse", _inputs(m, a_active=given), {"tau": plus(matvec(m.M[:active], a), m.c[:active]), **outputs})


def _driven(mechanism: Mechanism, m: Closed) -> int:
    """How many actuators there are, which come first."""
    active = mechanism.indices("active")
    if not set(active) <= set(m.order):
        raise Unsupported("actuators among the last coordinates of a leg, which depend on the others")
    return len(active)


def _solved(M: Array, right: Array) -> Array:
    try:
        return factored(M).solve(right)
    except ZeroDivisionError as reason:
        raise Unsupported("a motion that no mass resists") from reason


def _inputs(m: Closed, **drive: Array) -> dict[str, Array]:
    loads = {} if m.w is None else {"w": m.w}
    return {"q": m.state.q, "v": m.state.v, **drive, "g": m.state.g, **loads}


def _named(mechanism: Mechanism, m: Closed, a: Array) -> dict[str, Array]:
    """Accelerations by the names that generated models give them."""
    every = plus(matvec(m.J, a), m.b)
    places = {c.name: k for k, c in enumerate(mechanism.coordinates)}
    found = {kind: mechanism.indices(kind) for kind in ("active", "elastic") if kind == "elastic" or mechanism.indices(kind)}
    loose = [places[n] for n in undriven(mechanism)]
    return {f"a_{kind}": every[own] for kind, own in {**found, **({"passive": loose} if loose else {})}.items()}


FORMULATION = Formulation(
    name="virtual_power",
    about="virtual power by the Jacobians of all links, as printed by Briot & Khalil",
    derive=virtual_power,
    couple="independent",
    expected="rounding",
    models={"mass": mass_model, "inverse": inverse_model, "forward": forward_model, "recursion": recursion_model},
    independent=recursion_names,
    largest=DENSE,
)
