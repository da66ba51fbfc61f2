"""Branches of a robot: the ways from its base to a point, and the motion each gives it."""

from __future__ import annotations

import numpy as np

from supple.expr.function import Array, Function, function
from supple.expr.vector import cross, matvec, minus, plus, zeros
from supple.formulations.record import Unsupported
from supple.formulations.tree.kinematics import Kinematics, state
from supple.robot.mechanism import Anchor, Mechanism


def branch_motion(mechanism: Mechanism, point: str) -> Function:
    """Twists (velocity, spin; base axes) of a named point as each branch of the robot carries it: q, v -> twist, freedom.

    A branch is a way from the base to the point: the tree's own (unless the point sits on a platform that floats), and
    one through every closing joint on it. `freedom` holds the twists the point gets from each relative motion (three
    translations, three rotations in the first anchor's axes) that the branch's closing joint allows; others are zero."""
    kin = Kinematics(mechanism, state(mechanism))
    anchor = mechanism.points[point]
    _, p = kin.pose(anchor)
    own = _twist(kin, anchor, p)
    path = _path(mechanism, anchor.frame)
    twists, freedoms = [], []
    if mechanism.platform is None or mechanism.platform not in path:
        twists.append(own)
        freedoms.append(zeros(6, 6))
    for closure in mechanism.closures:
        sides = [x for x in (closure.first, closure.second) if x.frame in path]
        if len(sides) != 1:
            continue  # a loop that the way to the point does not pass
        near = sides[0]
        far = closure.second if near is closure.first else closure.first
        twists.append(plus(minus(own, _twist(kin, near, p)), _twist(kin, far, p)))
        freedoms.append(_freedom(kin, closure.first, p, closure.forbidden))
    if not twists:
        raise Unsupported(f"the point {point!r}, which no branch of the robot carries")
    made = {"twist": np.array(twists, dtype=object), "freedom": np.array(freedoms, dtype=object)}
    return function("branches", {"q": kin.state.q, "v": kin.state.v}, made)


def _path(mechanism: Mechanism, frame: int) -> set[int]:
    found = set()
    while frame >= 0:
        found.add(frame)
        frame = mechanism.frames[frame].parent
    return found


def _twist(kin: Kinematics, anchor: Anchor, p: Array) -> Array:
    """Velocity at p and spin of the body an anchor is on, as if p were fixed to the anchor; base axes."""
    base = kin.world[anchor.frame][0] if anchor.frame >= 0 else np.array(np.eye(3, dtype=int), dtype=object)
    spin, _, _, speed = kin.twist(anchor)
    spin, speed = matvec(base, spin), matvec(base, speed)
    return np.concatenate([plus(speed, cross(spin, minus(p, kin.pose(anchor)[1]))), spin])


def _freedom(kin: Kinematics, first: Anchor, p: Array, forbidden: tuple[int, ...]) -> Array:
    R, origin = kin.pose(first)
    made = zeros(6, 6)
    for k in range(3):
        if k not in forbidden:
            made[:3, k] = R[:, k]
        if 3 + k not in forbidden:
            made[:3, 3 + k], made[3:, 3 + k] = cross(R[:, k], minus(p, origin)), R[:, k]
    return made
