"""Generalised Newton-Euler with virtual power (Briot & Khalil 2014; Boyer & Khalil 1998): forces by recursion over the tree,
loops by projection on the motions that keep them closed. See `tree/recursion.py` and docs/newton_euler.md.
"""

from __future__ import annotations

from supple.formulations.record import Equations
from supple.formulations.tree.equations import tree_equations
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.recursion import recursive_forces
from supple.robot.mechanism import Mechanism


def newton_euler(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by the recursive generalised Newton-Euler method."""
    kin = Kinematics(mechanism, state(mechanism))
    return tree_equations(kin, recursive_forces(kin), "newton_euler", "projection")
