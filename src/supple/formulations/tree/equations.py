"""The `Equations` of a virtual tree from its forces: with their derivatives, and all that can be observed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from supple.expr.derivative import directional
from supple.expr.function import Array, Function, symbols
from supple.formulations.record import Equations, Formulation
from supple.formulations.tree.kinematics import Kinematics
from supple.formulations.tree.observed import displacement, observed, only
from supple.robot.mechanism import Mechanism


def tree_equations(kin: Kinematics, forces: Function, formulation: Formulation) -> Equations:
    """Equations of some forces (q v a g lam w -> f, coulomb)."""
    direction = symbols("d", kin.mechanism.nv)
    makes = {**tangents(kin.mechanism, forces, direction), **observed(kin, direction)}
    return Equations(formulation.name, kin.mechanism, makes, formulation.couple)


def tangents(mechanism: Mechanism, forces: Function, direction: Array) -> dict[str, Callable[[], Function]]:
    """What derives forces and their derivatives along a direction."""
    f = only(forces, "f")
    seeds = {"inertia": ("a", direction), "damping": ("v", direction)}
    seeds["stiffness"] = ("q", displacement(mechanism, f.inputs["q"], direction))
    made = {k: partial(directional, f, dict([moved]), direction, k) for k, moved in seeds.items()}
    return {"forces": lambda: forces, **made}
