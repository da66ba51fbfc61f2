"""The Functions of a plant: accelerations or matrices, loops, and power.

Accelerations come from the closed form (generated with few operations) where the robot has one, else from the matrices of
the virtual tree, which serve every mechanism, every formulation, and the passage of singular poses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.backends.stepping.plant import Block, plant_function
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
from supple.simulation.block_order import block_order
from supple.simulation.partition import Partition

QUICK = ("fold", "signs")  # passes that pay where compiling takes longer than running
_LARGE = 12_000  # operations above which legs share code and passes are left out, because compiling takes longer
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
        return {"accelerations": _eliminated(mechanism, method, parts, loads, passes)}
    if method.in_time != "closed forms" or "active" in kinds:
        return None
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
    if f.operations > _LARGE:
        if not loads and len(parts.given) in (0, len(active)) and "p" not in f.inputs:
            program = _program(mechanism, not parts.given, damped)
            kind = {i: mechanism.coordinates[i].kind for i in parts.free}
            if program is not None and "passive" not in kind.values():
                order = {k: mechanism.indices(k) for k in ("active", "elastic")}
                return {"program": program, "outputs": tuple((f"a_{kind[i]}", order[kind[i]].index(i)) for i in parts.free)}
        return {"accelerations": _arranged(mechanism, f, parts)}
    return {"accelerations": optimise(_arranged(mechanism, f, parts), passes).function}


def _eliminated(
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


def loop_functions(equations: Equations, parts: Partition, wide: bool) -> dict[str, Any]:
    """The Functions of the loops, and unless all columns are wanted the order of the dependent ones."""
    if not parts.dependent:
        return {}
    gradient, motion, closure = equations.closure_gradient, equations.closure_motion, equations.closure
    columns = list(range(equations.mechanism.nv)) if wide else list(parts.dependent)
    J_q = jacobian(gradient.outputs["residual"], gradient.inputs["direction"][columns])
    J_v = jacobian(motion.outputs["velocity"], motion.inputs["v"][columns])
    q, v, a = (motion.inputs[k] for k in ("q", "v", "a"))
    blocks: tuple[Block, ...] = ()
    if not wide:
        chosen = list(parts.rows)
        blocks = block_order(_filled(J_q[chosen]) | _filled(J_v[chosen]))
        at = np.ix_([chosen[b.equation] for b in blocks], [b.coordinate for b in blocks])
        J_q, J_v = J_q[at], J_v[at]
    residual = {"residual": closure.outputs["residual"], "gradient": J_q.T, "alignment": closure.outputs["alignment"]}
    rates = {"velocity": motion.outputs["velocity"], "jacobian": J_v.T}
    weightless = dict.fromkeys(motion.inputs["g"], 0) if "g" in motion.inputs else {}  # it cancels between the two ends
    drift = substituted(motion.outputs["acceleration"], weightless)
    made = {
        "loops": plant_function("model_loops", {"q": closure.inputs["q"]}, residual),
        "rates": plant_function("model_rates", {"q": q, "v": v}, rates),
        "drift": plant_function("model_drift", {"q": q, "v": v, "a": a}, {"acceleration": drift}),
    }
    return {name: optimise(f, QUICK).function for name, f in made.items()} | {"blocks": blocks}


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
