"""The Functions of a plant: accelerations or matrices, loops, and power.

Accelerations come from the closed form (generated with few operations) where the robot has one, else from the matrices of
the virtual tree, which serve every mechanism, every formulation, and the passage of singular poses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.backends.stepping.plant import plant_function
from supple.errors import SuppleError
from supple.expr.derivative import jacobian
from supple.expr.function import Array, Function, symbols
from supple.expr.node import Expr
from supple.expr.passes import optimise
from supple.expr.program import Program
from supple.expr.substitution import substituted
from supple.formulations import registry
from supple.formulations.least_constraint.leg_program import leg_program
from supple.formulations.record import Equations, Formulation, Unsupported
from supple.formulations.tree.undriven import undriven
from supple.models import builder, forward, hybrid, inverse
from supple.robot.mechanism import Mechanism
from supple.simulation.loop_order import Pivot, factors, loop_order, multipliers, odd, solution
from supple.simulation.partition import Partition
from supple.simulation.saddle import saddle

QUICK = ("fold",)  # passes that pay where compiling takes longer than running; it chooses signs as well
_LARGE = 12_000  # operations above which legs share code and passes are left out, because compiling takes longer
_LARGEST_SADDLE = 60  # coordinates; larger matrices are not eliminated in a fixed order
_LARGEST_TREE = 150  # coordinates; larger mass matrices are not printed


def closed_form(
    equations: Equations,
    parts: Partition,
    prescribed: Collection[str],
    loads: bool,
    passes: Sequence[str] | None,
    damped: bool,
) -> dict[str, Any] | None:
    """The accelerations in closed form, as one Function or as a program of equal legs; None where there is none."""
    mechanism = equations.mechanism
    kinds = {mechanism.coordinates[i].kind for i in parts.dependent}
    method = registry.formulation(equations.formulation)
    if method.in_time == "closed forms only":
        return {"accelerations": _by_its_own_models(mechanism, method, parts, loads, passes)}
    if method.in_time != "closed forms" or "active" in kinds:
        return None
    legs = _legs(equations, parts, loads, damped)
    if legs is not None:
        return legs
    active = mechanism.indices("active")
    try:
        if len(parts.given) == len(active) and active:
            f = inverse(mechanism, loads=loads, damped=damped)
        elif not parts.given:
            f = forward(mechanism, loads=loads, damped=damped)
        else:
            f = hybrid(mechanism, prescribed, loads=loads, damped=damped)
    except SuppleError:
        return None
    if not set(parts.free) <= set(_answered(mechanism, f, parts)):
        return None
    made = _arranged(mechanism, f, parts)
    return {"accelerations": made if f.operations > _LARGE else optimise(made, passes).function}


def _legs(equations: Equations, parts: Partition, loads: bool, damped: bool) -> dict[str, Any] | None:
    """The accelerations of a large robot of equal legs as a program; None for others."""
    mechanism = equations.mechanism
    order = {k: mechanism.indices(k) for k in ("active", "elastic")}
    kind = {i: mechanism.coordinates[i].kind for i in parts.free}
    if loads or len(parts.given) not in (0, len(order["active"])) or not set(kind.values()) <= set(order):
        return None
    if "p" in equations.forces.inputs or "p" in equations.energy.inputs:
        return None
    program = _program(mechanism, not parts.given, damped)
    if program is None or program.operations <= _LARGE:
        return None
    return {"program": program, "outputs": tuple((f"a_{kind[i]}", order[kind[i]].index(i)) for i in parts.free)}


def eliminated(equations: Equations, parts: Partition, M: Array, J: Array, damped: bool) -> dict[str, Any] | None:
    """The accelerations of a robot whose closed form is not known, by elimination of its matrices; None where it is large.

    M, J: those of the tree at a posture."""
    if equations.mechanism.nv > _LARGEST_SADDLE:
        return None
    found = saddle(equations, parts, M, J, damped)
    if found is None or found.operations > _LARGE:
        return None
    return {"accelerations": optimise(found, QUICK).function}


def _by_its_own_models(
    mechanism: Mechanism, method: Formulation, parts: Partition, loads: bool, passes: Sequence[str] | None
) -> Function:  # fmt: skip
    """The accelerations by a formulation's own models; there is no other way to write these equations."""
    if parts.given and len(parts.given) < len(mechanism.indices("active")):
        raise SuppleError(
            f"{mechanism.name}: {method.name} takes actuators that are all prescribed or all driven by forces; use "
            "newton_euler for some of each"
        )
    f = builder("inverse" if parts.given else "forward", method.name)(mechanism, loads=loads)
    made = _arranged(mechanism, f, parts)
    return made if f.operations > _LARGE else optimise(made, passes).function


def _program(mechanism: Mechanism, forward: bool, damped: bool) -> Program | None:
    try:
        return leg_program(mechanism, forward, damped)
    except Unsupported:
        return None


def _answered(mechanism: Mechanism, f: Function, parts: Partition) -> dict[int, Any]:
    """Accelerations that a closed form answers with, by their places in v."""
    places = {name: i for i, name in enumerate(mechanism.names())}
    loose = [places[n] for n in undriven(mechanism)] if "a_passive" in f.outputs else []
    others = [i for i in mechanism.indices("active") if i not in parts.given]
    found: dict[int, Any] = {}
    for key, order in (("a_active", others), ("a_elastic", mechanism.indices("elastic")), ("a_passive", loose)):
        if key in f.outputs and len(order) == len(f.outputs[key]):
            found |= dict(zip(order, f.outputs[key], strict=True))
    return found


def _arranged(mechanism: Mechanism, f: Function, parts: Partition) -> Function:
    """A closed form with the inputs and outputs of a plant."""
    found = _answered(mechanism, f, parts)
    given = next((f.inputs[k] for k in ("a_active", "a_prescribed") if k in f.inputs), symbols("given", 0))
    effort = next((f.inputs[k] for k in ("tau", "tau_free") if k in f.inputs), symbols("effort", 0))
    w = f.inputs["w"] if "w" in f.inputs else symbols("w", (len(mechanism.points), 6))
    inputs = {"q": f.inputs["q"], "v": f.inputs["v"], "given": given, "effort": effort, "g": f.inputs["g"], "w": w.ravel()}
    if "x" in f.inputs:
        inputs["x"] = f.inputs["x"]
    tau: Any = f.outputs.get("tau", [])
    return plant_function("model_accelerations", inputs, {"f": [found[i] for i in parts.free], "tau_given": tau})


def check_size(mechanism: Mechanism) -> None:
    if mechanism.nv > _LARGEST_TREE:
        raise SuppleError(
            f"{mechanism.name} has no closed form of its accelerations and {mechanism.nv} coordinates, too many for its "
            f"mass matrix to be compiled (at most {_LARGEST_TREE}); use fewer elements or a reduced body"
        )


def tree(equations: Equations) -> Function:
    """M and c of the virtual tree."""
    f = equations.forces
    check_size(equations.mechanism)
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["a"].ravel(), 0)
    c = substituted(f.outputs["f"] + f.outputs["coulomb"], still)
    column = equations.inertia
    M = jacobian(column.outputs["f"], column.inputs["direction"])
    M = substituted(M, dict.fromkeys(column.inputs["lam"].ravel(), 0))
    inputs = {k: f.inputs[k].ravel() for k in ("q", "v", "g", "w")}
    return optimise(plant_function("model_tree", inputs, {"M": M, "c": c}), ("fold",)).function


def loop_functions(equations: Equations, parts: Partition, J: Array | None) -> dict[str, Any]:
    """The Functions of the loops. J, that of all coordinates at a posture: what the order of elimination is chosen by; None:
    Functions with all columns are wanted instead."""
    if not parts.dependent:
        return {}
    gradient, motion, closure = equations.closure_gradient, equations.closure_motion, equations.closure
    rows, columns = list(parts.rows), list(range(equations.mechanism.nv)) if J is None else list(parts.dependent)
    J_q = jacobian(gradient.outputs["residual"], gradient.inputs["direction"][columns])
    J_v = jacobian(motion.outputs["velocity"], motion.inputs["v"][columns])
    q, v, a = (motion.inputs[k] for k in ("q", "v", "a"))
    weightless = dict.fromkeys(motion.inputs["g"], 0) if "g" in motion.inputs else {}  # it cancels between the two ends
    drift = substituted(motion.outputs["acceleration"], weightless)
    made = {"drift": plant_function("model_drift", {"q": q, "v": v, "a": a}, {"acceleration": drift})}
    fixed: dict[str, Any] = {}
    if J is None:
        J_q, J_v = J_q.T, J_v.T
    else:
        own = dict(zip(gradient.inputs["q"], q, strict=True))
        matrices = {"gradient": substituted(J_q[rows], own).T, "jacobian": J_v[rows].T}
        made["square"] = plant_function("model_square", {"q": q}, matrices)
        order = loop_order(_filled(J_q[rows]) | _filled(J_v[rows]), J[np.ix_(rows, columns)])
        J_q, J_v = (np.array(factors(x[rows], order), dtype=object) for x in (J_q, J_v))
        fixed = {"resolved": _resolved(order, rows, len(closure.outputs["residual"]), len(J_q))}
        fixed |= {"multipliers": multipliers(order), "odd": odd(order)}
    residual = {"residual": closure.outputs["residual"], "gradient": J_q, "alignment": closure.outputs["alignment"]}
    made["loops"] = plant_function("model_loops", {"q": closure.inputs["q"]}, residual)
    rates = {"velocity": motion.outputs["velocity"], "jacobian": J_v}
    made["rates"] = plant_function("model_rates", {"q": q, "v": v}, rates)
    return {name: optimise(f, QUICK).function for name, f in made.items()} | fixed


def _resolved(order: Sequence[Pivot], rows: Sequence[int], equations: int, size: int) -> Function:
    """Factors and equations -> dependent coordinates."""
    known, right = symbols("factors", size), symbols("all", equations)
    made = {"to": solution(order, list(known), list(right[list(rows)]))}
    return plant_function("model_resolved", {"factors": known, "all": right}, made)


def _filled(J: Array) -> Array:
    """Where a matrix of expressions is not zero for certain."""
    return np.array([[isinstance(x, Expr) or x != 0 for x in row] for row in J], dtype=bool)


def power(equations: Equations, parts: Partition) -> Function:
    """Power of actuators and loads less what is lost."""
    mechanism, energy, points = equations.mechanism, equations.energy, equations.points
    others = [i for i in mechanism.indices("active") if i not in parts.given]
    driven = [*parts.given, *others]
    v = energy.inputs["v"]
    known: dict[Expr, Any] = dict(zip(points.inputs["v"].ravel(), v, strict=True))
    known |= dict(zip(points.inputs["q"].ravel(), energy.inputs["q"], strict=True))
    tau, w = symbols("tau", len(driven)), symbols("w", (len(mechanism.points), 6))
    power: Any = -np.sum(energy.outputs["dissipation"])
    for i, k in enumerate(driven):
        power = power + tau[i] * v[k]
    if len(mechanism.points):
        twist = [substituted(points.outputs[key], known) for key in ("velocity", "spin")]
        power = power + np.sum(w[:, :3] * twist[0]) + np.sum(w[:, 3:] * twist[1])
    still = dict.fromkeys(energy.inputs["g"], 0)
    inputs = {"q": energy.inputs["q"], "v": v, "tau": tau, "w": w.ravel()}
    return optimise(
        plant_function("model_power", inputs, {"power": substituted(np.array([power]), still)}), ("fold",)
    ).function


def undamped(functions: dict[str, Any]) -> dict[str, Any]:
    """Functions that know nothing of further damping, under names that say so; C adds it."""
    names = {"tree": "undamped_tree", "power": "undamped_power", "accelerations": "damped_accelerations"}
    return functions | {k: replace(functions[k], name=n) for k, n in names.items() if functions.get(k) is not None}
