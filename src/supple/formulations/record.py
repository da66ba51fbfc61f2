"""`Equations`: what every formulation delivers, as Functions of the state of the virtual tree and its loops.

    forces:  f(q, v, a, g, lam, w) = M a + c - J^T lam - loads, without Coulomb friction, which is `coulomb`
    closure: C(q), J v and J a + b of the loops; J^T lam is power-conjugate to J v

q, v and a are those of the virtual tree (legs cut from the platform); g is gravity, w the wrenches (force, moment in base
axes) at the named points. The robot's own model follows by virtual power: project on the motions that keep J v = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from supple.expr.function import Function
from supple.robot.mechanism import Mechanism


class Unsupported(Exception):
    """A mechanism this method does not take; the message says why."""


@dataclass(frozen=True)
class Equations:
    formulation: str
    mechanism: Mechanism
    forces: Function  # q v a g lam w -> f, coulomb
    inertia: Function  # + direction -> f: derivative along a change of a, that is M direction
    stiffness: Function  # + direction -> f: derivative along a displacement of q
    damping: Function  # + direction -> f: derivative along a change of v
    closure: Function  # q -> residual, alignment
    closure_gradient: Function  # q direction -> residual: derivative along a displacement of q
    closure_motion: Function  # q v a -> velocity (J v), acceleration (J a + b)
    points: Function  # q v a -> position, rotation, velocity, acceleration, spin
    energy: Function  # q v g -> kinetic and elastic (per frame), gravity, motors, dissipation
    outline: Function  # q -> points of the drawing, one array per frame
    outline_gradient: Function  # q direction -> their derivative along a displacement of q
    coupling: str = "projection"  # how the loops are solved: a name in COUPLINGS
