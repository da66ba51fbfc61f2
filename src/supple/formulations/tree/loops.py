"""Loops as Functions: how far they are open, how fast they open, and how that changes. Kinematics only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from supple.expr.derivative import pull_back
from supple.expr.function import Array, Function, function
from supple.expr.node import Scalar, add, mul
from supple.expr.vector import cross, matvec, minus, plus, scale, vector, zeros
from supple.formulations.tree.kinematics import Kinematics, inputs, relative
from supple.robot.mechanism import Closure


def closure_function(kin: Kinematics) -> Function:
    """Residuals of every loop, and for each the cosine that must be positive (the joint is not upside down)."""
    residual, alignment = [], []
    for closure in kin.mechanism.closures:
        rows, upright = closure_rows(closure, *relative(kin, closure.first, closure.second))
        residual += rows
        alignment.append(upright)
    return function("closure", {"q": kin.state.q}, {"residual": residual, "alignment": alignment})


def closure_rows(closure: Closure, R: Array, d: Array) -> tuple[list[Scalar], Scalar]:
    """Residuals and alignment of a loop whose second anchor is turned by R and displaced by d in the first one's axes."""
    residual: list[Scalar] = []
    turned = {k for k in closure.forbidden if k >= 3}
    whole = turned == {3, 4, 5}
    for k in closure.forbidden:
        if k < 3:
            residual.append(d[k])
        else:
            i = k - 3
            j, m = (i + 1) % 3, (i + 2) % 3
            if whole or len(turned) == 1:
                residual.append(mul(Fraction(1, 2), add(R[m, j], mul(-1, R[j, m]))))
            else:
                residual.append(mul(-1, R[1, 2]) if i == 0 else R[0, 2])
    if whole:
        return residual, add(R[0, 0], add(R[1, 1], R[2, 2]))
    if len(turned) == 1:
        i = next(iter(turned)) - 3
        return residual, add(R[(i + 1) % 3, (i + 1) % 3], R[(i + 2) % 3, (i + 2) % 3])
    return residual, R[2, 2] if turned else 1


def closure_motion(kin: Kinematics) -> Function:
    """J v and J a + b: relative twists of the anchors in the first one's axes (eqs. 30 and 38)."""
    velocity, acceleration = [], []
    for closure in kin.mechanism.closures:
        R, d = relative(kin, closure.first, closure.second)
        first, second = kin.marker(closure.first), kin.marker(closure.second)
        w1, al1, a1, v1 = (matvec(first.R.T, x) for x in kin.twist(closure.first))
        w2, al2, a2, v2 = (matvec(R, matvec(second.R.T, x)) for x in kin.twist(closure.second))
        if not closure.slides:
            d = zeros(3)
        rate = minus(minus(v2, v1), cross(w1, d))
        swing = cross(w1, plus(cross(w1, d), scale(2, rate)))
        rate2 = minus(minus(minus(a2, a1), cross(al1, d)), swing)
        spin = minus(w2, w1)
        spin2 = minus(minus(al2, al1), cross(w1, w2))
        twist, twist2 = np.concatenate([rate, spin]), np.concatenate([rate2, spin2])
        # the derivative above is that of the components in the first anchor's turning axes
        velocity += [twist[k] for k in closure.forbidden]
        acceleration += [twist2[k] for k in closure.forbidden]
    s = kin.state
    return function("closure_motion", inputs(s), {"velocity": velocity, "acceleration": acceleration})


def loop_jacobian(kin: Kinematics) -> Array:
    """J of the loops, row by row."""
    J = zeros(kin.mechanism.equations, kin.mechanism.nv)
    for n, velocity in enumerate(closure_motion(kin).outputs["velocity"]):
        J[n] = pull_back(vector(velocity), vector(1), kin.state.v)
    return J
