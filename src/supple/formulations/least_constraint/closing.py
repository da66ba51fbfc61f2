"""Loops in the unknowns of folding: what a closing joint ties, the equations it has, its friction."""

from __future__ import annotations

from supple.expr.function import Array
from supple.expr.node import Scalar, add, mul, sub
from supple.expr.vector import (
    axis_rotation,
    cross,
    dot,
    identity,
    is_zero,
    matmul,
    matvec,
    minus,
    plus,
    scale,
    vector,
    zeros,
)
from supple.formulations.least_constraint.affine import Affine, across, shifted, turned
from supple.formulations.least_constraint.folding import bent, chain_forms
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.tree import Tree, is_rigid, normal_axis
from supple.formulations.least_constraint.unknowns import (
    Slot,
)
from supple.formulations.record import Unsupported
from supple.formulations.tree.friction import friction
from supple.formulations.tree.kinematics import relative as relative_pose
from supple.robot.mechanism import Anchor, Closure


def tied(tree: Tree, closure: Closure) -> tuple[int, ...]:
    """Slots of the frames at both ends of a closure that it ties to each other."""
    linear = [k for k in closure.forbidden if k < 3]
    turning = [k for k in closure.forbidden if k >= 3]
    wanted = 2 if tree.planar else 3
    if len(linear) != wanted:
        raise Unsupported(f"the closure {closure.name!r} lets its ends slide")
    if turning and not (len(turning) == (1 if tree.planar else 3)):
        raise Unsupported(f"the closure {closure.name!r} ties some rotations only")
    return (0, 1, 2) + ((3, 4, 5) if turning else ())


def far_side(tree: Tree, closure: Closure) -> tuple[Anchor, Anchor]:
    """The anchor on the root (the platform's side) and the one on the leg."""
    root: set[int | None] = {*tree.side} or {tree.root}
    near, far = (closure.first, closure.second) if closure.first.frame in root else (closure.second, closure.first)
    if near.frame not in root or far.frame in root or far.frame < 0:
        raise Unsupported(f"the closure {closure.name!r} does not meet the platform or the first leg")
    if tree.ports and not is_zero(minus(far.marker.position, tree.c[far.frame])):
        raise Unsupported(f"the closure {closure.name!r} shares its link with another")
    return near, far


def loop_rows(tree: Tree, closure: Closure) -> list[Affine]:
    """The equations of a closing joint: relative accelerations that must vanish, in the second anchor's axes."""
    if closure.slides:
        return _sliding_rows(tree, closure)
    near, far = closure.second, closure.first
    if near.frame < 0:
        near, far = far, near
    own = at_anchor(tree, near, chain_forms(tree, near.frame))
    if far.frame < 0:
        R, spin = tree.kin.world[near.frame][0].T, zeros(3)
        other = [Affine(mul(-1, g)) for g in tree.s.g] + [Affine() for _ in range(3)]
    else:
        R, spin = relative(tree, near.frame, far.frame), _spin(tree, far)
        other = at_anchor(tree, far, chain_forms(tree, far.frame))
    bias = cross(_spin(tree, near), matvec(R, spin))
    apart = [x + y * -1 for x, y in zip(own[:3], turned(R, other[:3]), strict=True)]
    turning = [x + y * -1 + z for x, y, z in zip(own[3:], turned(R, other[3:]), bias, strict=True)]
    marker = near.marker.rotation.T if is_rigid(near.marker) else tree.kin.marker(near).R.T
    twist = turned(marker, apart) + turned(marker, turning)
    return [twist[k] for k in closure.forbidden]


def _sliding_rows(tree: Tree, closure: Closure) -> list[Affine]:
    """The equations of a joint whose ends slide apart by d: second derivatives in the first anchor's turning axes."""
    R, d = relative_pose(tree.kin, closure.first, closure.second)
    to_first = (tree.kin.marker(closure.first).R.T, matmul(R, tree.kin.marker(closure.second).R.T))
    spins, rates, linear, turning = [], [], [], []
    for anchor, T in zip((closure.first, closure.second), to_first, strict=True):
        spin, _, _, rate = tree.kin.twist(anchor)
        spins.append(matvec(T, spin))
        rates.append(matvec(T, rate))
        still = [Affine(mul(-1, g)) for g in tree.s.g] + [Affine() for _ in range(3)]
        forms = still if anchor.frame < 0 else at_anchor(tree, anchor, chain_forms(tree, anchor.frame))
        linear.append(turned(T, forms[:3]))
        turning.append(turned(T, forms[3:]))
    apart = minus(minus(rates[1], rates[0]), cross(spins[0], d))
    swing = cross(spins[0], plus(cross(spins[0], d), scale(2, apart)))
    swung = shifted(shifted(linear[0], across(turning[0], d)), swing)
    twisted = shifted(turning[0], cross(spins[0], spins[1]))
    twist = [x + y * -1 for x, y in zip(linear[1] + turning[1], swung + twisted, strict=True)]
    return [twist[k] for k in closure.forbidden]


def at_anchor(tree: Tree, anchor: Anchor, slots: list[Affine]) -> list[Affine]:
    """Accelerations at an anchor in its frame's axes, from the frame's slots."""
    c, w = tree.c[anchor.frame], tree.kin.motions[anchor.frame].omega
    if is_rigid(anchor.marker):
        rho = minus(anchor.marker.position, c)
        return shifted(shifted(slots[:3], across(slots[3:], rho)), cross(w, cross(w, rho))) + slots[3:]
    m = tree.kin.marker(anchor)
    rho = minus(m.r, c)
    swing = plus(cross(w, plus(cross(w, rho), scale(2, m.v_e))), m.inward)
    a, alpha = bent(tree, anchor.frame, m, shifted(shifted(slots[:3], across(slots[3:], rho)), swing), slots[3:])
    return a + alpha


def _spin(tree: Tree, anchor: Anchor) -> Array:
    """Angular velocity of an anchor in its frame's axes."""
    omega = tree.kin.motions[anchor.frame].omega
    return omega if is_rigid(anchor.marker) else plus(omega, tree.kin.marker(anchor).omega_e)


def closing_friction(tree: Tree, closure: Closure, frames: list[int], Z: Quadratic) -> None:
    """Friction of a joint that a closure has taken over acts between the spins of its two links."""
    if closure.turning is None or closure.about is None or is_zero(closure.turning.viscous + closure.turning.coulomb):
        return
    first, second = closure.first.frame, closure.second.frame
    spin_first = tree.kin.motions[first].omega if first >= 0 else zeros(3)
    R = relative(tree, second, first) if first >= 0 else tree.kin.world[second][0].T
    rate = dot(closure.about, minus(matvec(R, spin_first), tree.kin.motions[second].omega))
    force = friction(closure.turning, rate)
    for j, axis, way in ((second, closure.about, -1), (first, matvec(R.T, closure.about), 1)):
        if j in frames:
            for n in range(3):
                if 3 + n in tree.alive[j] and not is_zero(axis[n]):
                    Z.add_linear(Slot(j, 3 + n), mul(way, mul(force, axis[n])))


def relative(tree: Tree, j: int, r: int) -> Array:
    """Rotation from frame r's axes to frame j's; planar angles are added before their sine is taken."""
    if tree.planar:
        angle = sub(planar_angle(tree, r), planar_angle(tree, j))
        k = normal_axis(tree.m, j)
        if k == normal_axis(tree.m, r):
            axis = zeros(3)
            axis[k] = 1
            constant = matmul(constant_rotation(tree, j).T, constant_rotation(tree, r))
            if is_zero(minus(matvec(constant, axis), axis)):
                return (
                    matmul(constant, axis_rotation(axis, angle))
                    if not is_zero(constant - identity())
                    else axis_rotation(axis, angle)
                )
    return matmul(tree.kin.world[j][0].T, tree.kin.world[r][0])


def planar_angle(tree: Tree, j: int) -> Scalar:
    """Sum of the planar angles from the base to a frame, about its normal."""
    total: Scalar = 0
    while j >= 0:
        frame = tree.m.frames[j]
        k = normal_axis(tree.m, j)
        if frame.motion == "revolute":
            total = add(total, mul(frame.axis[k], tree.s.q[frame.q.start]))
        if frame.parent >= 0 and not is_zero(frame.marker.Phi_r):
            phi = matvec(frame.marker.Phi_r, tree.kin.motions[frame.parent].qe)
            total = add(total, dot(matvec(frame.marker.rotation.T, phi), vector(*(1 if n == k else 0 for n in range(3)))))
        j = frame.parent
    return total


def constant_rotation(tree: Tree, j: int) -> Array:
    R = identity()
    while j >= 0:
        R = matmul(tree.m.frames[j].marker.rotation, R)
        j = tree.m.frames[j].parent
    return R
