"""Models that can be generated from any Equations: forces of the tree, kinematics, matrices about a state, energies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.expr.derivative import pull_back
from supple.expr.function import Array, Function, function
from supple.expr.substitution import substituted
from supple.formulations.record import Build, Derive, Equations
from supple.robot.mechanism import Mechanism

LARGEST_JACOBIAN = 2_000_000  # nodes a dense Jacobian may be made of; larger ones are given along a direction


def equation_models(derive: Derive) -> dict[str, Build]:
    """tree, kinematics, linear and energy of what a formulation derives."""
    every = {"tree": tree_model, "kinematics": kinematics_model, "linear": linear_model, "energy": energy_model}
    return {name: _derived(make, derive) for name, make in every.items()}


def _derived(make: Callable[[Equations], Function], derive: Derive) -> Build:
    def build(mechanism: Mechanism) -> Function:
        return make(derive(mechanism))

    build.__doc__ = make.__doc__
    return build


def tree_model(equations: Equations) -> Function:
    """Generalised forces f = M a + c - J^T lam of the virtual tree, for any mechanism."""
    f = equations.forces
    return function("tree", f.inputs, {"f": f.outputs["f"] + f.outputs["coulomb"]})


def kinematics_model(equations: Equations) -> Function:
    """Loops (residual, J, J v, J a + b) and named points (position, velocity, acceleration, Jacobian)."""
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


def linear_model(equations: Equations) -> Function:
    """M, D and K about a state at rest (columns along `direction`, one at a time, for large robots)."""
    f = equations.forces
    rest = dict.fromkeys(f.inputs["v"].ravel(), 0) | dict.fromkeys(f.inputs["a"].ravel(), 0)
    parts = {"M": equations.inertia, "D": equations.damping, "K": equations.stiffness}
    inputs = {k: f.inputs[k] for k in ("q", "g", "lam", "w") if f.inputs[k].size}
    direction = equations.inertia.inputs["direction"]
    columns = {name: substituted(part.outputs["f"], rest) for name, part in parts.items()}
    if len(f.nodes) * equations.mechanism.nv > LARGEST_JACOBIAN:
        named = {f"{name}_direction": column for name, column in columns.items()}
        return function("linear", {**inputs, "direction": direction}, named)
    matrices = {name: _rows(column, direction) for name, column in columns.items()}
    return function("linear", inputs, matrices)


def energy_model(equations: Equations) -> Function:
    """Kinetic and elastic energy per frame, gravity, motors, and the power lost."""
    f = equations.energy
    return function("energy", {k: f.inputs[k] for k in ("q", "v", "g")}, f.outputs)


def _rows(outputs: Array, wrt: Array) -> Array:
    """d outputs / d wrt, row by row (reverse mode)."""
    rows = []
    for k in range(outputs.size):
        weights = np.full(outputs.size, 0, dtype=object)
        weights[k] = 1
        rows.append(pull_back(outputs.ravel(), weights, wrt))
    return np.stack(rows) if rows else np.full((0, wrt.size), 0, dtype=object)
