"""Generalised Newton-Euler with virtual power (Briot & Khalil 2014; Boyer & Khalil 1998): forces by recursion over the tree,
loops by projection on the motions that keep them closed. See `tree/recursion.py` and docs/newton_euler.md;
`least_constraint` has its models in few operations (docs/articulated.md).
"""

from __future__ import annotations

import numpy as np

from supple.expr.derivative import push_forward
from supple.expr.function import Function, function
from supple.expr.substitution import substituted
from supple.formulations.least_constraint import composite
from supple.formulations.least_constraint.articulated import forward_model, inverse_model
from supple.formulations.record import DENSE, Equations, Formulation, Unsupported
from supple.formulations.tree.equations import tree_equations
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.models import LARGEST_JACOBIAN, equation_models
from supple.formulations.tree.parametrised import parametrised
from supple.formulations.tree.recursion import recursive_forces
from supple.robot.mechanism import Mechanism


def newton_euler(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by the recursive generalised Newton-Euler method."""
    kin = Kinematics(mechanism, state(mechanism))
    return tree_equations(kin, recursive_forces(kin), FORMULATION)


def mass_model(mechanism: Mechanism) -> Function:
    """M and c of the closed robot in its independent coordinates; of the virtual tree where loops do not allow it."""
    try:
        if mechanism.nv > DENSE:
            raise Unsupported("a matrix of that size")
        return composite.mass_model(mechanism, composite.independent_names(mechanism))
    except Unsupported:
        equations = newton_euler(mechanism)
        f = equations.forces
        still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["w"].ravel(), 0)
        c = substituted(f.outputs["f"], {**still, **dict.fromkeys(f.inputs["a"], 0)})
        inputs = {k: f.inputs[k] for k in ("q", "v", "g")} | {"direction": equations.inertia.inputs["direction"]}
        column = substituted(equations.inertia.outputs["f"], still)
        return function("mass", inputs, {"M_direction": column, "c": c + f.outputs["coulomb"]})


def regressor_model(mechanism: Mechanism) -> Function:
    """Y of f = Y theta: forces linear in inertial, stiffness, damping and friction parameters (identification model)."""
    spread, theta, _ = parametrised(mechanism)
    f = newton_euler(spread).forces
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["w"].ravel(), 0)
    total = substituted(f.outputs["f"] + f.outputs["coulomb"], still)
    inputs = {k: f.inputs[k] for k in ("q", "v", "a", "g")}
    if len(f.nodes) * len(theta) > LARGEST_JACOBIAN:
        return function("regressor", {**inputs, "theta": theta}, {"Y_theta": total})
    zero = dict.fromkeys(theta, 0)
    columns = [substituted(push_forward(total, {x: 1}), zero) for x in theta]
    return function("regressor", inputs, {"Y": np.stack(columns, axis=1)})


FORMULATION = Formulation(
    name="newton_euler",
    about="generalised Newton-Euler recursion with virtual power",
    derive=newton_euler,
    couple="projection",
    expected="reference",
    models={
        "mass": mass_model,
        "inverse": inverse_model,
        "forward": forward_model,
        **equation_models(newton_euler),
        "regressor": regressor_model,
    },
    independent=composite.independent_names,
    in_time="closed forms",
)
