"""A formulation in one file, as somebody else would add it: Newton-Euler's recursion under another name, other coupling."""

from __future__ import annotations

from supple.formulations.record import Equations, Formulation
from supple.formulations.tree.equations import tree_equations
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.models import equation_models
from supple.formulations.tree.recursion import recursive_forces
from supple.formulations.tree.saddle import saddle_models
from supple.robot.mechanism import Mechanism


def toy(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by recursion, loops by multipliers."""
    kin = Kinematics(mechanism, state(mechanism))
    return tree_equations(kin, recursive_forces(kin), FORMULATION)


FORMULATION = Formulation(
    name="toy",
    about="a formulation of the tests",
    derive=toy,
    couple="multipliers",
    expected="rounding",
    models=saddle_models(toy) | equation_models(toy),
)
