"""Models that can be generated: each name is a Function of a mechanism, ready to be optimised, compiled or exported.

State inputs are those of the virtual tree: q, v and (where needed) a hold passive and platform coordinates too and are
expected to close the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.expr.derivative import differentiate, pull_back, push_forward
from supple.expr.function import Array, Function, function
from supple.expr.node import Expr, parameter
from supple.expr.substitution import substituted
from supple.formulations import lagrange, lagrange_dalembert, platform_eliminated, scdd
from supple.formulations.erls import erls
from supple.formulations.erls_compatible import erls_compatible
from supple.formulations.least_constraint.articulated import forward_model, hybrid_model, inverse_model
from supple.formulations.least_constraint.composite import independent_names, mass_model, rates_model
from supple.formulations.newton_euler import newton_euler
from supple.formulations.record import Equations, Unsupported
from supple.formulations.rigid_links import models as erls_models
from supple.robot.bodies.record import Body, is_zero
from supple.robot.mechanism import Mechanism

Derive = Callable[[Mechanism], Equations]
_LARGEST_MATRIX = 120  # coordinates; larger mass matrices are given along a direction
_DENSE = 2_000_000  # nodes a dense Jacobian may be made of; larger ones are given along a direction


def mass(mechanism: Mechanism) -> Function:
    """M and c of the closed robot in its independent coordinates; of the virtual tree where loops do not allow it."""
    try:
        if mechanism.nv > _LARGEST_MATRIX:
            raise Unsupported("a matrix of that size")
        return mass_model(mechanism, independent_names(mechanism))
    except Unsupported:
        equations = newton_euler(mechanism)
        f = equations.forces
        still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["w"].ravel(), 0)
        c = substituted(f.outputs["f"], {**still, **dict.fromkeys(f.inputs["a"], 0)})
        inputs = {k: f.inputs[k] for k in ("q", "v", "g")} | {"direction": equations.inertia.inputs["direction"]}
        column = substituted(equations.inertia.outputs["f"], still)
        return function("mass", inputs, {"M_direction": column, "c": c + f.outputs["coulomb"]})


def inverse(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """tau and elastic accelerations from the state and the accelerations of the actuators.

    `loads` adds an input w: force and moment at every named point, in base axes; `damped` an input x: forces of damping on
    the elastic coordinates, beside those of the bodies."""
    return _closed_form(mechanism, "inverse", lambda: inverse_model(mechanism, loads=loads, damped=damped))


def forward(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """Accelerations of actuators and elastic coordinates from the state and tau; `loads` as for the inverse model."""
    return _closed_form(mechanism, "forward", lambda: forward_model(mechanism, loads=loads, damped=damped))


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


def tree(mechanism: Mechanism, *, derive: Derive = newton_euler) -> Function:
    """Generalised forces f = M a + c - J^T lam of the virtual tree, for any mechanism."""
    f = derive(mechanism).forces
    return function("tree", f.inputs, {"f": f.outputs["f"] + f.outputs["coulomb"]})


def kinematics(mechanism: Mechanism, *, derive: Derive = newton_euler) -> Function:
    """Loops (residual, J, J v, J a + b) and named points (position, velocity, acceleration, Jacobian)."""
    equations = derive(mechanism)
    motion, points = equations.closure_motion, equations.points.outputs
    J = _rows(motion.outputs["velocity"], motion.inputs["v"])
    point_J = _rows(points["velocity"].ravel(), motion.inputs["v"])
    outputs = {
        "residual": equations.closure.outputs["residual"],
        "jacobian": J,
        "closure_velocity": motion.outputs["velocity"],
        "closure_acceleration": motion.outputs["acceleration"],
        "point_position": points["position"],
        "point_velocity": points["velocity"],
        "point_acceleration": points["acceleration"],
        "point_jacobian": point_J,
    }
    return function("kinematics", motion.inputs, {k: v for k, v in outputs.items() if v.size})


def linear(mechanism: Mechanism, *, derive: Derive = newton_euler) -> Function:
    """M, D and K about a state at rest (columns along `direction`, one at a time, for large robots)."""
    equations = derive(mechanism)
    f = equations.forces
    rest = dict.fromkeys(f.inputs["v"].ravel(), 0) | dict.fromkeys(f.inputs["a"].ravel(), 0)
    parts = {"M": equations.inertia, "D": equations.damping, "K": equations.stiffness}
    inputs = {k: f.inputs[k] for k in ("q", "g", "lam", "w") if f.inputs[k].size}
    direction = equations.inertia.inputs["direction"]
    columns = {name: substituted(part.outputs["f"], rest) for name, part in parts.items()}
    if len(f.nodes) * mechanism.nv > _DENSE:
        named = {f"{name}_direction": column for name, column in columns.items()}
        return function("linear", {**inputs, "direction": direction}, named)
    matrices = {name: _rows(column, direction) for name, column in columns.items()}
    return function("linear", inputs, matrices)


def regressor(mechanism: Mechanism) -> Function:
    """Y of f = Y theta: forces linear in inertial, stiffness, damping and friction parameters (identification model)."""
    spread, theta, _ = parametrised(mechanism)
    f = newton_euler(spread).forces
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["w"].ravel(), 0)
    total = substituted(f.outputs["f"] + f.outputs["coulomb"], still)
    inputs = {k: f.inputs[k] for k in ("q", "v", "a", "g")}
    if len(f.nodes) * len(theta) > _DENSE:
        return function("regressor", {**inputs, "theta": theta}, {"Y_theta": total})
    zero = dict.fromkeys(theta, 0)
    columns = [substituted(push_forward(total, {x: 1}), zero) for x in theta]
    return function("regressor", inputs, {"Y": np.stack(columns, axis=1)})


def energy(mechanism: Mechanism, *, derive: Derive = newton_euler) -> Function:
    """Kinetic and elastic energy per frame, gravity, motors, and the power lost."""
    f = derive(mechanism).energy
    return function("energy", {k: f.inputs[k] for k in ("q", "v", "g")}, f.outputs)


MODELS: dict[str, Callable[[Mechanism], Function]] = {
    "mass": mass,
    "inverse": inverse,
    "forward": forward,
    "tree": tree,
    "kinematics": kinematics,
    "linear": linear,
    "regressor": regressor,
    "energy": energy,
}


def _in_graph(formulation: str, name: str, make: Callable[..., Function]) -> Callable[..., Function]:
    """A model whose linear systems are solved inside the expression graph, for robots that are small enough."""

    def build(mechanism: Mechanism, **options: Any) -> Function:
        if mechanism.nv > _LARGEST_MATRIX:
            raise SuppleError(
                f"{mechanism.name}: the {name} model of {formulation} holds dense matrices, and {mechanism.nv} coordinates "
                f"are more than the {_LARGEST_MATRIX} it takes; use newton_euler, or the Python Model"
            )
        return _closed_form(mechanism, name, lambda: make(mechanism, **options))

    build.__doc__ = make.__doc__
    return build


_IN_GRAPH: dict[str, dict[str, Callable[..., Function]]] = {
    "lagrange": {
        "mass": lagrange.mass_model, "inverse": lagrange.inverse_model, "forward": lagrange.forward_model,
    },
    "lagrange_dalembert": {
        "mass": lagrange_dalembert.mass_model, "inverse": lagrange_dalembert.inverse_model,
        "forward": lagrange_dalembert.forward_model, "reduced": lagrange_dalembert.reduced_model,
    },
    "scdd": {
        "mass": scdd.mass_model, "inverse": scdd.inverse_model, "forward": scdd.forward_model,
        "as_printed": scdd.printed_model,
    },
    "platform_eliminated": {
        "inverse": platform_eliminated.inverse_model, "forward": platform_eliminated.forward_model,
        "platform_inverse": platform_eliminated.platform_inverse_model,
        "platform_forward": platform_eliminated.platform_forward_model,
        "deformation": platform_eliminated.deformation_model,
    },
}  # fmt: skip


def _derived(make: Callable[..., Function], derive: Derive) -> Callable[..., Function]:
    """A model made from the Equations of another formulation."""

    def build(mechanism: Mechanism, **options: Any) -> Function:
        return make(mechanism, derive=derive, **options)

    build.__doc__ = make.__doc__
    return build


for _name, _derive in (("erls", erls), ("erls_compatible", erls_compatible)):
    _IN_GRAPH[_name] = {
        "mass": _derived(erls_models.mass_model, _derive), "inverse": _derived(erls_models.inverse_model, _derive),
        "forward": _derived(erls_models.forward_model, _derive), "tree": _derived(tree, _derive),
        "kinematics": _derived(kinematics, _derive), "linear": _derived(linear, _derive),
        "energy": _derived(energy, _derive),
    }  # fmt: skip
BUILDERS: dict[str, dict[str, Callable[..., Function]]] = {
    "newton_euler": dict(MODELS),
    **{way: {name: _in_graph(way, name, make) for name, make in models.items()} for way, models in _IN_GRAPH.items()},
}


def builder(model: str, formulation: str = "newton_euler") -> Callable[..., Function]:
    """The function that makes a model of a mechanism by a formulation."""
    if formulation not in BUILDERS:
        raise SuppleError(f"no models are generated by {formulation!r}; choose one of {', '.join(BUILDERS)}")
    if model not in BUILDERS[formulation]:
        raise SuppleError(f"there is no model {model!r}; choose one of {', '.join(BUILDERS[formulation])}")
    return BUILDERS[formulation][model]


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


# Parts -----------------------------------------------------------------------------------------------------------------


def parametrised(mechanism: Mechanism) -> tuple[Mechanism, Array, list[str]]:
    """The mechanism with a symbol for every parameter forces are linear in, those symbols, and their names."""
    theta: list[Expr] = []  # a family
    names: list[str] = []

    def new(name: str) -> Expr:
        names.append(name)
        return parameter(name, theta)

    frames = []
    for frame in mechanism.frames:
        frames.append(replace(frame, body=_flexible(frame.body, frame.name, new) if frame.body.flexible else
                              _rigid(frame.body, frame.name, new)))  # fmt: skip
    coordinates = []
    for c in mechanism.coordinates:
        changed: dict[str, Any] = {}
        for key, short in (("inertia", "IA"), ("viscous", "fv"), ("coulomb", "fs")):
            if not is_zero(getattr(c, key)):
                changed[key] = new(f"{short} {c.name}")
        coordinates.append(replace(c, **changed))
    made = np.empty(len(theta), dtype=object)
    made[:] = theta
    return replace(mechanism, frames=tuple(frames), coordinates=tuple(coordinates)), made, names


def _rigid(body: Body, name: str, new: Callable[[str], Expr]) -> Body:
    """Mass, first moments and inertia as symbols, where they are not zero."""
    mass = body.mass if is_zero(body.mass) else new(f"m {name}")
    MS, inertia = body.MS_r.copy(), body.I_rr.copy()
    for i, axis in enumerate("xyz"):
        if not is_zero(MS[i]):
            MS[i] = new(f"m{axis} {name}")
        for j in range(i, 3):
            if not is_zero(inertia[i, j]):
                inertia[i, j] = inertia[j, i] = new(f"{axis}{'xyz'[j]} {name}")
    return replace(body, mass=mass, MS_r=MS, I_rr=inertia)


def _flexible(body: Body, name: str, new: Callable[[str], Expr]) -> Body:
    """A factor on the body's inertia, one on its stiffness, one on its damping."""
    inertial = ("MS_r", "I_rr", "MS_de", "beta", "lam", "I_re", "I_ee", "M_ee")
    changed: dict[str, Any] = {}
    if not is_zero(body.mass):
        factor = new(f"inertia {name}")
        changed = {key: getattr(body, key) * factor for key in inertial} | {"mass": body.mass * factor}
        changed["shortened"] = tuple(replace(t, G=t.G * factor) for t in body.shortened)
    changed["K_ee"] = body.K_ee * new(f"stiffness {name}")
    if not is_zero(body.D_ee):
        changed["D_ee"] = body.D_ee * new(f"damping {name}")
    return replace(body, **changed)


def _rows(outputs: Array, wrt: Array) -> Array:
    """d outputs / d wrt, row by row (reverse mode)."""
    rows = []
    for k in range(outputs.size):
        weights = np.full(outputs.size, 0, dtype=object)
        weights[k] = 1
        rows.append(pull_back(outputs.ravel(), weights, wrt))
    return np.stack(rows) if rows else np.full((0, wrt.size), 0, dtype=object)
