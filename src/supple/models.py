"""Models that can be generated: each name of a formulation is a Function of a mechanism, ready to be optimised or exported.

State inputs are those of the virtual tree: q, v and (where needed) a hold passive and platform coordinates too and are
expected to close the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

from supple.errors import SuppleError
from supple.expr.derivative import differentiate
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.expr.substitution import substituted
from supple.formulations import registry
from supple.formulations.least_constraint.articulated import hybrid_model
from supple.formulations.least_constraint.rates import rates_model
from supple.formulations.record import Build, Formulation, Unsupported
from supple.formulations.registry import USUAL
from supple.robot.mechanism import Mechanism


def builder(model: str, formulation: str = USUAL) -> Build:
    """The function that makes a model of a mechanism by a formulation; what it does not take is an error in words."""
    method = registry.formulation(formulation)
    if model not in method.models:
        raise SuppleError(f"there is no model {model!r}; choose one of {', '.join(method.models) or 'none'}")
    make = method.models[model]

    @wraps(make)
    def build(mechanism: Mechanism, **options: Any) -> Function:
        _check_size(mechanism, model, method)
        return _closed_form(mechanism, model, lambda: make(mechanism, **options))

    return build


def _check_size(mechanism: Mechanism, model: str, method: Formulation) -> None:
    if method.largest is not None and mechanism.nv > method.largest:
        raise SuppleError(
            f"{mechanism.name}: the {model} model of {method.name} holds dense matrices, and {mechanism.nv} coordinates "
            f"are more than the {method.largest} it takes; use {USUAL}, or the Python Model"
        )


def inverse(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """tau and elastic accelerations from the state and the accelerations of the actuators.

    `loads` adds an input w: force and moment at every named point, in base axes; `damped` an input x: forces of damping on
    the elastic coordinates, beside those of the bodies."""
    return builder("inverse")(mechanism, loads=loads, damped=damped)


def forward(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """Accelerations of actuators and elastic coordinates from the state and tau; `loads` as for the inverse model."""
    return builder("forward")(mechanism, loads=loads, damped=damped)


def hybrid(mechanism: Mechanism, prescribed: Collection[str], *, loads: bool = False, damped: bool = False) -> Function:
    """tau of the prescribed actuators and the accelerations of the others, from accelerations of the former, tau_free of
    the latter; `loads` as for the inverse model."""
    active = [mechanism.coordinates[k].name for k in mechanism.indices("active")]
    for name in prescribed:
        if name not in active:
            raise SuppleError(f"{mechanism.name} has no actuator {name!r}; it has: {', '.join(active) or 'none'}")
    return _closed_form(mechanism, "hybrid", lambda: hybrid_model(mechanism, prescribed, loads=loads, damped=damped))


def _closed_form(mechanism: Mechanism, name: str, make: Callable[[], Function]) -> Function:
    try:
        return make()
    except Unsupported as reason:
        raise SuppleError(
            f"{mechanism.name}: no {name} model in closed form, because of {reason}; "
            "generate 'tree' and 'kinematics' and solve for the loop reactions, or use the Python Model"
        ) from reason


def derivative(f: Function, wrt: str) -> Function:
    """The exact derivative of a model along a direction of one of its inputs."""
    if wrt not in f.inputs:
        raise SuppleError(f"{f.name} has no input {wrt!r}; it has: {', '.join(f.inputs)}")
    return differentiate(f, wrt)


def with_rates_solved(f: Function, mechanism: Mechanism) -> Function:
    """The same model with the rates of passive joints solved inside instead of taken from v."""
    if "v" not in f.inputs:
        raise SuppleError(f"{f.name} has no rates to solve for; its inputs are: {', '.join(f.inputs)}")
    independent = [c.name for c in mechanism.coordinates if c.kind in ("active", "elastic")]
    try:
        rates = rates_model(mechanism, independent)
    except Unsupported as reason:
        raise SuppleError(f"{mechanism.name}: passive rates are not solved in closed form, because of {reason}") from reason
    known: dict[Expr, Any] = dict(zip(rates.inputs["q"], f.inputs["q"], strict=True))
    known |= dict(zip(rates.inputs["v"], f.inputs["v"], strict=True))
    solved = dict(zip(f.inputs["v"], substituted(rates.outputs["v"], known), strict=True))
    return function(f.name, f.inputs, {key: substituted(value, solved) for key, value in f.outputs.items()})
