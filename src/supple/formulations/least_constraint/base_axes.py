"""Planar loops in base axes: accelerations of anchors along their chains, joints near the base with constant columns."""

from __future__ import annotations

from supple.expr.function import Array
from supple.expr.node import Expr
from supple.expr.vector import axis_rotation, cross, identity, is_zero, matmul, matvec, plus, scale, zeros
from supple.formulations.least_constraint.affine import Affine, across, along, combined, shifted, turned
from supple.formulations.least_constraint.closing import constant_rotation, planar_angle
from supple.formulations.least_constraint.tree import Tree, is_rigid, normal_axis
from supple.formulations.least_constraint.unknowns import Elastic, Joint, Spin
from supple.robot.mechanism import Anchor


def loop_in_base(tree: Tree, near: Anchor, far: Anchor) -> list[Affine]:
    """The equations of a planar closing joint that lets its ends turn: accelerations apart, in base axes."""
    rows = [x + y * -1 for x, y in zip(base_forms(tree, far), base_forms(tree, near), strict=True)]
    return [row for row in rows if row.terms]


def base_forms(tree: Tree, anchor: Anchor) -> list[Affine]:
    """A planar anchor's acceleration (less gravity's) in base axes: joints near the base have constant columns."""
    path, j = [], anchor.frame
    while j >= 0:
        path.append(j)
        j = tree.m.frames[j].parent
    a = [Affine() for _ in range(3)]
    alpha: list[Affine] = [Affine() for _ in range(3)]
    R, w = identity(), zeros(3)
    for j in reversed(path):
        frame, now = tree.m.frames[j], tree.kin.motions[j]
        a = _swung(a, alpha, R, w, now.marker.r, now.marker.v_e)
        if frame.parent >= 0 and not is_rigid(frame.marker):
            a = shifted(a, matvec(R, now.marker.inward))
            first = tree.m.frames[frame.parent].ev.start
            qdd = [Affine(0, {Elastic(first + k): 1}) for k in range(now.marker.Phi_d.shape[1])]
            a = shifted(a, turned(R, [combined(row, qdd) for row in now.marker.Phi_d]))
            alpha = shifted(alpha, turned(_constant_normal(R), [combined(row, qdd) for row in now.marker.Phi_r]))
        R, w, k = base_rotation(tree, j), now.omega, frame.v.start
        if frame.motion == "revolute":
            axis = matvec(_constant_normal(R), frame.axis)
            own = Affine(0, {Joint(k) if tree.given(k) else Spin(k): 1})
            alpha = [
                (x if tree.given(k) else Affine()) + own * axis[n] if not is_zero(axis[n]) else x
                for n, x in enumerate(alpha)
            ]
        elif frame.motion == "prismatic":
            slide, rate = now.slide, scale(tree.s.v[k], frame.axis)
            a = _swung(a, alpha, R, w, slide, rate)
            a = along(a, matvec(R, frame.axis), Joint(k))
    return _swung(a, alpha, R, w, anchor.marker.position, zeros(3))


def _swung(a: list[Affine], alpha: list[Affine], R: Array, w: Array, r: Array, rate: Array) -> list[Affine]:
    """a + alpha x R r + R (w x (w x r + 2 rate)), R from the frame's axes to the base."""
    bias = matvec(R, cross(w, plus(cross(w, r), scale(2, rate))))
    return shifted(shifted(a, across(alpha, matvec(R, r))), bias)


def base_rotation(tree: Tree, j: int) -> Array:
    """Rotation of a planar frame in the base, its angles added before their sine is taken."""
    k = normal_axis(tree.m, j)
    axis = zeros(3)
    axis[k] = 1
    return matmul(constant_rotation(tree, j), axis_rotation(axis, planar_angle(tree, j)))


def _constant_normal(R: Array) -> Array:
    """R with the entries that a planar rotation varies set to zero: it only maps vectors along the normal."""
    made = zeros(3, 3)
    for i in range(3):
        for j in range(3):
            if not isinstance(R[i, j], Expr):
                made[i, j] = R[i, j]
    return made
