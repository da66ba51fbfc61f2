"""Legs of a robot, each reduced to what it shares with the platform (or with the first leg)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Scalar, add, mul
from supple.expr.substitution import estimates
from supple.formulations.least_constraint.affine import Affine, cofactor_inverse, combined, solve_rows
from supple.formulations.least_constraint.closing import at_anchor, closing_friction, far_side, loop_rows, relative, tied
from supple.formulations.least_constraint.folding import chain_forms, fold, movable, settled_forms
from supple.formulations.least_constraint.nodes import body, is_leaf, leaf_in_node
from supple.formulations.least_constraint.quadratic import Quadratic, Row, Solved
from supple.formulations.least_constraint.tree import Tree
from supple.formulations.least_constraint.unknowns import (
    Coordinate,
    Elastic,
    Force,
    Joint,
    Met,
    Node,
    Pull,
    Slot,
    Spin,
    Unknown,
)
from supple.formulations.record import Unsupported
from supple.formulations.tree.kinematics import typical
from supple.robot.mechanism import Closure, Frame

_POSES = 200  # at which the directions of springs are looked at
_ALIGNED = 0.2  # of a spring's motion, beside what the joints do


@dataclass
class Group:
    """What hangs on one base joint: its Z, how it was solved, and rows of known accelerations, for tau: of given joints,
    and of slots that follow from these alone, each with the share of every joint in it."""

    frames: list[int]
    Z: Quadratic = field(default_factory=Quadratic)
    solved: list[Solved] = field(default_factory=list)
    rows: dict[Unknown, tuple[Row, Scalar]] = field(default_factory=dict)
    shares: dict[Unknown, Row] = field(default_factory=dict)


@dataclass(frozen=True)
class Legs:
    """The groups of a Tree as they are reduced, loops within and between them, and unknowns that loops have determined."""

    tree: Tree
    groups: dict[int, Group]
    inner: list[Closure]
    outer: list[Closure]
    dependent: dict[Unknown, Affine]


class Stuck(Exception):
    """A rigid leg whose joints cannot follow its closure while the accelerations of these actuators are given."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(names)
        self.names = names


def legs_of(tree: Tree) -> Legs:
    """Legs of a Tree, nothing of them solved yet."""
    inner = [c for c in tree.m.closures if _inside(tree, c)]
    outer = [c for c in tree.m.closures if not _inside(tree, c)]
    for closure in inner:
        ends = (closure.first.frame, closure.second.frame)
        if min(ends) < 0 and max(ends) in tree.side:
            raise Unsupported(f"the closure {closure.name!r}, which ties the platform to the base")
    return Legs(tree, _groups(tree), inner, outer, {})


def _inside(tree: Tree, closure: Closure) -> bool:
    """Whether a loop closes within one leg."""
    ends = (closure.first.frame, closure.second.frame)
    if min(ends) < 0:
        return True
    return tree.root not in ends and _top(tree, ends[0]) == _top(tree, ends[1])


def _top(tree: Tree, j: int) -> int:
    while tree.m.frames[j].parent >= 0:
        j = tree.m.frames[j].parent
    return j


def _groups(tree: Tree) -> dict[int, Group]:
    found: dict[int, Group] = {}
    platform = tree.m.platform_chain()
    for j in range(len(tree.m.frames)):
        if j not in platform:
            found.setdefault(_top(tree, j), Group([])).frames.append(j)
    return found


def _interface(legs: Legs) -> dict[int, tuple[int, ...]]:
    """Frames that share slots with another group, and which."""
    tree = legs.tree
    shared: dict[int, tuple[int, ...]] = {}
    for closure in legs.outer:
        for anchor in (closure.first, closure.second):
            if anchor.frame == tree.root:
                shared[anchor.frame] = tree.alive[anchor.frame]
            elif anchor.frame in tree.side:
                continue
            elif anchor.frame >= 0:
                shared[anchor.frame] = tuple(k for k in tied(tree, closure) if k in tree.alive[anchor.frame])
    return shared


# One leg -----------------------------------------------------------------------------------------------------------------


def reduce(legs: Legs, group: Group) -> None:
    """A group's Z down to the slots it shares."""
    tree, shared = legs.tree, _interface(legs)
    keep: set[Unknown] = {Slot(j, k) for j, ks in shared.items() for k in ks}
    path = _path_frames(legs, shared)
    for j in group.frames:
        on_node = tree.planar and is_leaf(tree, j) and j in tree.ports
        group.Z.include(leaf_in_node(tree, j) if on_node else body(tree, j))
    _add_closing_friction(legs, group)
    for j in reversed(group.frames):
        _take_out(tree, group, j, j in path)
    _close_inner(legs, group)
    keep |= _close_rigid(legs, group, shared)
    if not any(tree.is_given(x) for x in keep):
        apply_given(tree, group)
    group.solved += group.Z.minimise_all([x for x in group.Z.ids() if x not in keep and not isinstance(x, Force)])


def gather(legs: Legs, group: Group) -> None:
    """A group's Z in the unknowns of its joints, and in the slots of the platform if it hangs on that."""
    for j in group.frames:
        group.Z.include(body(legs.tree, j))
    _add_closing_friction(legs, group)
    for j in reversed(group.frames):
        fold(legs.tree, group.Z, j)


def hang(legs: Legs, group: Group) -> None:
    """What hangs on the platform, in the platform's slots and its own unknowns."""
    gather(legs, group)
    _close_inner(legs, group)


def _add_closing_friction(legs: Legs, group: Group) -> None:
    for closure in legs.tree.m.closures:
        closing_friction(legs.tree, closure, group.frames, group.Z)


def _take_out(tree: Tree, group: Group, j: int, on_path: bool) -> None:
    """Folds a frame onto its parent; what is on no path to a closing joint is minimised at once."""
    frame = tree.m.frames[j]
    if j in tree.ports:
        if not on_path:
            own: list[Unknown] = [*(Slot(j, k) for k in range(6)), *(Node(j, k) for k in range(6))]
            group.solved += group.Z.minimise_all(own)
        return
    if not movable(tree, frame):
        raise Unsupported(_misplaced(frame))
    if not on_path:
        group.solved += group.Z.minimise_all([Elastic(k) for k in range(frame.ev.start, frame.ev.stop)])
    _take_known(tree, group, j)
    fold(tree, group.Z, j)
    k = frame.v.start
    if not on_path and frame.motion in ("revolute", "prismatic") and not tree.given(k):
        group.solved += group.Z.minimise_all([Spin(k), Joint(k)])


def _misplaced(frame: Frame) -> str:
    place = "between two nodes, on a node another joint has, or where a kept parameter puts it"
    return f"the place of {frame.link!r} on a flexible body ({place})"


def _path_frames(legs: Legs, shared: dict[int, tuple[int, ...]]) -> set[int]:
    """Frames on the way to a joint that closes a loop."""
    path: set[int] = set()
    ends = [a.frame for c in legs.inner for a in (c.first, c.second)]
    for j in [*shared, *ends]:
        while j >= 0:
            path.add(j)
            j = legs.tree.m.frames[j].parent
    return path


# Loops -------------------------------------------------------------------------------------------------------------------


def _close_inner(legs: Legs, group: Group) -> None:
    """Loops within a leg: as many of its unknowns as the joint has equations follow from the others."""
    tree = legs.tree
    for closure in legs.inner:
        if max(closure.first.frame, closure.second.frame) not in group.frames:
            continue
        solved = solve_rows(loop_rows(tree, closure), lambda x: _follows(tree, x), typical(tree.m, tree.s))
        group.Z.substitute({x: form.form() for x, form in solved.items() if x in group.Z.rows})
        legs.dependent.update(solved)


def _follows(tree: Tree, x: Unknown) -> bool:
    """Whether a loop may determine an unknown."""
    return isinstance(x, (Elastic, Spin, Slot)) or (isinstance(x, Joint) and not tree.given(x.velocity))


def _close_rigid(legs: Legs, group: Group, shared: dict[int, tuple[int, ...]]) -> set[Unknown]:
    """Unknowns of a rigid leg replaced by what it shares; returns what else must stay (the root's unknowns)."""
    tree = legs.tree
    stay: set[Unknown] = set()
    for j in group.frames:
        if j not in shared or j in tree.ports:
            continue
        forms = chain_forms(tree, j)
        if j == tree.root:
            stay |= {x for k in shared[j] for x in forms[k].terms}
            continue
        rows = [forms[k] for k in shared[j]]
        chosen = _dependent(tree, rows)
        J = np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object)
        if _springs_align(tree, J, chosen):
            _pull(group.Z, {Slot(j, k): row for k, row in zip(shared[j], rows, strict=True)})
            continue
        inverse = cofactor_inverse(J)
        rest = [
            Affine(mul(-1, row.constant), {x: mul(-1, c) for x, c in row.terms.items() if x not in chosen})
            + Affine(0, {Slot(j, k): 1})
            for k, row in zip(shared[j], rows, strict=True)
        ]
        solved = {x: combined(inverse[n], rest) for n, x in enumerate(chosen)}
        group.Z.substitute({x: form.form() for x, form in solved.items() if x in group.Z.rows})
        legs.dependent.update(solved)
    return stay


def _springs_align(tree: Tree, J: Array, chosen: list[Unknown]) -> bool:
    """Whether springs can come to move a leg's end as its passive joints do, at some angles of all joints: the leg is
    singular there by itself, the robot is not. J: rows of what the leg shares, columns of the unknowns that follow."""
    order = sorted(range(len(chosen)), key=lambda n: isinstance(chosen[n], Elastic))
    joints = sum(not isinstance(x, Elastic) for x in chosen)
    if joints == len(chosen):
        return False
    turning = [q for frame in tree.m.frames if frame.motion == "revolute" for q in tree.s.q[frame.q]]
    draw = np.random.default_rng(0)
    for _ in range(_POSES):
        sample = typical(tree.m, tree.s) | dict(zip(turning, draw.uniform(-np.pi, np.pi, len(turning)), strict=True))
        columns = estimates(J[:, order], sample)
        size = np.linalg.norm(columns, axis=0)
        if np.all(size > 0) and np.abs(np.diag(np.linalg.qr(columns / size)[1])[joints:]).min() < _ALIGNED:
            return True
    return False


def _pull(Z: Quadratic, rows: dict[Slot, Affine]) -> None:
    """Forces along the slots of a leg's end that make them what its joints say."""
    for slot, row in rows.items():
        force = Pull(slot.frame, slot.component)
        Z.add(force, slot, 1)
        Z.add_linear(force, mul(-1, row.constant))
        for x, c in row.terms.items():
            Z.add(force, x, mul(-1, c))


def _dependent(tree: Tree, rows: list[Affine]) -> list[Unknown]:
    """The unknowns that follow from what a rigid leg shares: passive joints, then elastic ones, then actuators; then
    nodes of a flexible body that it hangs on."""
    every = {x for row in rows for x in row.terms}
    found = sorted((x for x in every if not tree.is_given(x)), key=lambda x: _last_resort(tree, x))
    if len(every) < len(rows) or len(rows) > 3:
        raise Unsupported("a rigid leg that cannot follow its closure freely")
    if len(found) < len(rows):
        raise Stuck({tree.m.coordinates[x.velocity].name for x in every if isinstance(x, Joint) and tree.is_given(x)})
    return [*found[: len(rows)]]


def _last_resort(tree: Tree, x: Unknown) -> tuple[int, ...]:
    """The order in which unknowns are made to follow."""
    if isinstance(x, Coordinate):
        return ("passive", "elastic", "active", "platform").index(tree.m.coordinates[x.velocity].kind), x.velocity
    return 4, *(part for part in x if isinstance(part, int))


def apply_given(tree: Tree, group: Group) -> None:
    """Given accelerations of joints are known."""
    _known(group, {x: tree.s.a[x.velocity] for x in group.Z.ids() if isinstance(x, Joint) and tree.given(x.velocity)})


def _take_known(tree: Tree, group: Group, j: int) -> None:
    """Slots of a frame that given joints alone move are known: a vector turns in fewer operations than
    a matrix. What is the acceleration of a joint itself can wait for that."""
    forms, values, inputs = chain_forms(tree, j), settled_forms(tree, j), set(tree.s.a)
    known = {
        Slot(j, k): k
        for k in range(6)
        if Slot(j, k) in group.Z.rows and forms[k].terms and not values[k].terms and values[k].constant not in inputs
    }
    group.shares |= {x: forms[k].terms for x, k in known.items()}
    _known(group, {x: values[k].constant for x, k in known.items()})


def _known(group: Group, values: Row) -> None:
    """Known accelerations: into the linear terms of the others; their own rows are kept for tau."""
    for x, value in values.items():
        group.rows[x] = (dict(group.Z.rows[x]), group.Z.linear[x])
        for y, m in group.Z.rows[x].items():
            if y not in values:
                group.Z.linear[y] = add(group.Z.linear[y], mul(m, value))
    group.Z.drop(values)


def meet(tree: Tree, Z: Quadratic, closure: Closure) -> None:
    """The shared slots of a leg -> slots of the root."""
    near, far = far_side(tree, closure)
    r, j = near.frame, far.frame
    R = relative(tree, j, r)
    shared = [k for k in tied(tree, closure) if k in tree.alive[j]]
    for part in (0, 3):
        if any(k in shared for k in range(part, part + 3)):
            Z.rotate([Slot(j, part + k) for k in range(3)], [Met(closure.name, part + k) for k in range(3)], R)
    own = [Affine(0, {Slot(r, k): 1}) if k in tree.alive[r] else Affine() for k in range(6)]
    at = at_anchor(tree, near, own if r == tree.root else chain_forms(tree, r))
    Z.substitute({Met(closure.name, k): at[k].form() for k in range(6) if Met(closure.name, k) in Z.rows})
