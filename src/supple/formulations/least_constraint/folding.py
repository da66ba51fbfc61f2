"""Joints and places as substitutions: slots of a frame from those of its parent and its joint's own unknown."""

from __future__ import annotations

from supple.expr.node import Scalar, mul, sub
from supple.expr.vector import (
    cross,
    is_zero,
    matvec,
    minus,
    plus,
    scale,
    vector,
)
from supple.formulations.least_constraint.affine import Affine, across, along, combined, shifted, turned
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.tree import Tree, is_rigid
from supple.formulations.least_constraint.unknowns import (
    Elastic,
    Holding,
    Hung,
    Joint,
    Place,
    Slot,
    Spin,
)
from supple.formulations.tree.friction import friction
from supple.formulations.tree.kinematics import MarkerMotion
from supple.robot.mechanism import Frame


def _joint_force(tree: Tree, k: int) -> Scalar:
    """Friction of a coordinate, less the actuator's force where that is given."""
    c = tree.m.coordinates[k]
    force = friction(c, tree.s.v[k])
    if c.name in tree.choices.drives.pushed:
        force = sub(force, tree.s.a[k])  # the input a of such an actuator carries tau
    return force


def frame_forms(tree: Tree, j: int, parent: list[Affine] | None) -> list[Affine]:
    """The six slots of frame j as affine forms of its parent's slots (None: the base) and its joint's variable."""
    at, R = _at_place(tree, j, parent), tree.kin.motions[j].R
    return _from_joint(tree, j, turned(R.T, at[:3]), turned(R.T, at[3:]), parent is None)


def _at_place(tree: Tree, j: int, parent: list[Affine] | None) -> list[Affine]:
    """Accelerations of the place frame j hangs on, in its parent's axes."""
    frame, now = tree.m.frames[j], tree.kin.motions[j]
    if parent is None:
        return [Affine(mul(-1, g)) for g in tree.s.g] + [Affine() for _ in range(3)]
    i = frame.parent
    rho, w = minus(now.marker.r, tree.c[i]), tree.kin.motions[i].omega
    swing = cross(w, plus(cross(w, rho), scale(2, now.marker.v_e)))
    at = shifted(shifted(parent[:3], across(parent[3:], rho)), plus(swing, now.marker.inward))
    spin = parent[3:]
    if not is_rigid(frame.marker):
        at, spin = bent(tree, i, now.marker, at, spin)
    return at + spin


def _from_joint(tree: Tree, j: int, a: list[Affine], alpha: list[Affine], grounded: bool) -> list[Affine]:
    """Slots of frame j from the accelerations of its place, turned into its own axes."""
    frame, now = tree.m.frames[j], tree.kin.motions[j]
    w, k = now.omega, frame.v.start
    if frame.motion == "revolute":
        alpha = shifted(alpha, cross(w, scale(tree.s.v[k], frame.axis)))
        motor = tree.m.coordinates[k]
        if tree.given(k) or motor.name in tree.choices.drives.held or not (grounded or is_zero(motor.inertia)):
            alpha = along(alpha, frame.axis, Joint(k))
        else:
            own = combined(frame.axis, alpha)
            alpha = along([x + own * mul(-1, frame.axis[n]) for n, x in enumerate(alpha)], frame.axis, Spin(k))
    elif frame.motion == "prismatic":
        slide, rate = now.slide, scale(tree.s.v[k], frame.axis)
        a = shifted(shifted(a, across(alpha, slide)), cross(w, plus(cross(w, slide), scale(2, rate))))
        a = along(a, frame.axis, Joint(k))
    elif frame.motion == "spherical":
        alpha = [Affine(0, {Spin(k + n): 1}) for n in range(3)]
    c = tree.c[j]
    return shifted(shifted(a, across(alpha, c)), cross(w, cross(w, c))) + alpha


def bent(tree: Tree, i: int, m: MarkerMotion, a: list[Affine], alpha: list[Affine]) -> tuple[list[Affine], list[Affine]]:
    """Adds what the relative elastic coordinates of frame i's body do to a place on it."""
    first = tree.m.frames[i].ev.start
    qdd = [Affine(0, {Elastic(first + k): 1}) for k in range(m.Phi_d.shape[1])]
    a = [x + combined(m.Phi_d[n], qdd) for n, x in enumerate(a)]
    turn = [combined(m.Phi_r[n], qdd) for n in range(3)]
    rest = plus(cross(tree.kin.motions[i].omega, m.omega_e), m.bias)
    alpha = [x + t + r for x, t, r in zip(alpha, turn if m.B is None else turned(m.B, turn), rest, strict=True)]
    return a, alpha


def _relative_place(tree: Tree, frame: Frame) -> bool:
    """Whether all coordinates that move a frame's place are relative ones."""
    taken = {c for k, p in tree.ports.items() if tree.m.frames[k].parent == frame.parent for c in p.columns}
    moving = [frame.marker.Phi_d, frame.marker.Phi_r, *(s.G for s in frame.marker.shortening)]
    return not any(k in taken and not is_zero(part[:, k]) for part in moving for k in range(part.shape[1]))


def fold(tree: Tree, Z: Quadratic, j: int) -> None:
    """Slots of a frame -> slots of its parent and its joint's variable, in small steps: shift, joint, turn, shift."""
    frame, now = tree.m.frames[j], tree.kin.motions[j]
    parent = None
    if frame.parent >= 0:
        alive = tree.alive[frame.parent]
        parent = [Affine(0, {Slot(frame.parent, k): 1}) if k in alive else Affine() for k in range(6)]
    if parent is None:
        forms = frame_forms(tree, j, None)
        Z.substitute({Slot(j, k): forms[k].form() for k in range(6) if Slot(j, k) in Z.rows})
    else:
        inner = [Affine(0, {Hung(j, k): 1}) for k in range(6)]
        forms = _from_joint(tree, j, inner[:3], inner[3:], False)
        Z.substitute({Slot(j, k): forms[k].form() for k in range(6) if Slot(j, k) in Z.rows})
        for part in (0, 3):
            Z.rotate([Hung(j, part + k) for k in range(3)], [Place(j, part + k) for k in range(3)], now.R.T)
        at = _at_place(tree, j, parent)
        Z.substitute({Place(j, k): at[k].form() for k in range(6) if Place(j, k) in Z.rows})
    if frame.motion in ("revolute", "prismatic"):
        _add_joint(tree, Z, j, parent)
    elif frame.motion == "spherical":
        _add_ball(tree, Z, j)


def _add_joint(tree: Tree, Z: Quadratic, j: int, parent: list[Affine] | None) -> None:
    frame = tree.m.frames[j]
    k = frame.v.start
    force, inertia = _joint_force(tree, k), tree.m.coordinates[k].inertia
    absolute = Spin(k) in Z.rows
    x = Spin(k) if absolute else Joint(k)
    Z.add_linear(x, force)
    if not is_zero(inertia):
        Z.add(x, x, inertia)
    if tree.m.coordinates[k].name in tree.choices.drives.held:
        Z.add(x, Holding(k), -1)
        Z.add_linear(Holding(k), tree.s.a[k])
    if absolute and parent is not None and not is_zero(force):
        axis = matvec(frame.marker.rotation, frame.axis)
        for n in range(3):
            if 3 + n in tree.alive[frame.parent] and not is_zero(axis[n]):
                Z.add_linear(Slot(frame.parent, 3 + n), mul(-1, mul(force, axis[n])))


def _add_ball(tree: Tree, Z: Quadratic, j: int) -> None:
    """Friction of a spherical joint, between the spins of its two links."""
    frame = tree.m.frames[j]
    force = vector(*(_joint_force(tree, k) for k in range(frame.v.start, frame.v.stop)))
    if is_zero(force):
        return
    for n in range(3):
        Z.add_linear(Spin(frame.v.start + n), force[n])
    if frame.parent >= 0:
        back = matvec(tree.kin.motions[j].R, force)
        for n in range(3):
            Z.add_linear(Slot(frame.parent, 3 + n), mul(-1, back[n]))


def movable(tree: Tree, frame: Frame) -> bool:
    return is_rigid(frame.marker) or _relative_place(tree, frame)


def chain_forms(tree: Tree, j: int) -> list[Affine]:
    """Slots of a frame as forms of its group's variables."""
    if j in tree.ports or j == tree.m.platform:
        return [Affine(0, {Slot(j, k): 1}) if k in tree.alive[j] else Affine() for k in range(6)]
    frame = tree.m.frames[j]
    parent = None if frame.parent < 0 else chain_forms(tree, frame.parent)
    return frame_forms(tree, j, parent)


def settled_forms(tree: Tree, j: int) -> list[Affine]:
    """The same with the values of given accelerations put in."""
    frame = tree.m.frames[j]
    if j in tree.ports or j == tree.m.platform:
        return chain_forms(tree, j)
    forms = frame_forms(tree, j, None if frame.parent < 0 else settled_forms(tree, frame.parent))
    return [_settled(tree, form) for form in forms]


def _settled(tree: Tree, form: Affine) -> Affine:
    made = Affine(form.constant)
    for x, c in form.terms.items():
        if isinstance(x, Joint) and tree.given(x.velocity):
            made = made + mul(c, tree.s.a[x.velocity])
        else:
            made = made + Affine(0, {x: c})
    return made
