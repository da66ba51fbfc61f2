"""The `Equations` of a virtual tree from its forces: with their derivatives, and all that can be observed."""

from __future__ import annotations

from supple.expr.derivative import directional
from supple.expr.function import Function, symbols
from supple.formulations.record import Equations, Formulation
from supple.formulations.tree.kinematics import Kinematics
from supple.formulations.tree.observed import displacement, observed, only


def tree_equations(kin: Kinematics, forces: Function, formulation: Formulation) -> Equations:
    """Equations of some forces (q v a g lam w -> f, coulomb)."""
    direction = symbols("d", kin.mechanism.nv)
    along = {"q": displacement(kin.mechanism, kin.state.q, direction)}
    return Equations(
        formulation=formulation.name,
        forces=forces,
        inertia=only(directional(forces, {"a": direction}, direction, "inertia"), "f"),
        stiffness=only(directional(forces, along, direction, "stiffness"), "f"),
        damping=only(directional(forces, {"v": direction}, direction, "damping"), "f"),
        **observed(kin, direction),
        coupling=formulation.couple,
    )
