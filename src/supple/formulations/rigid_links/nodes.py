"""Joint nodes, their axes and the numbering of nodal displacements (Vidoni et al. 2012, "Constraints for general parallel
robots"), for any chain: open, closed, or branched.

A joint is a node of all links that meet there. A link starts from the node its own frame is at and ends in its other
ones. The axes of a node are those of the first link (in the order of the robot file) that starts there, else of the first
that ends there. Displacements are counted link by link; what an earlier link has counted is not counted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from supple.expr.function import Function, function, symbols
from supple.expr.vector import is_zero, matmul, matvec, minus, scale, vector, zeros
from supple.formulations.rigid_links.link_system import LinkSystem
from supple.formulations.tree.kinematics import small_rotation, state
from supple.robot.bodies.record import eye, fixed_marker
from supple.robot.mechanism import Anchor, Mechanism

Place = tuple[int, tuple[float, ...]]  # frame (-1: base) and position on it


@dataclass(frozen=True)
class Node:
    """Where links meet: the links that start and end there, the link whose axes it has, and its numbers.

    numbers: of its displacement along the three axes; turns: of each link's turn, one row per link in the order
    starting, ending. Links welded together share a row."""

    name: str
    starting: tuple[int, ...]
    ending: tuple[int, ...]
    axes: int
    anchors: tuple[Anchor, ...]  # one per link, in the same order
    numbers: tuple[int, ...] = ()
    turns: tuple[tuple[int, ...], ...] = ()


def nodes(mechanism: Mechanism) -> tuple[Node, ...]:
    """All nodes at which links meet or end in a named point, numbered by the paper's rule."""
    found = [_node(mechanism, group) for group in _groups(mechanism)]
    return _numbered(mechanism, [node for node in found if node is not None])


def _place(anchor: Anchor) -> Place:
    return anchor.frame, tuple(round(float(x), 9) for x in anchor.marker.position)


def _groups(mechanism: Mechanism) -> list[dict[Place, Anchor]]:
    """Places that are one point of the robot."""
    known: dict[Place, Anchor] = {}
    group_of: dict[Place, set[Place]] = {}

    def join(*anchors: Anchor) -> None:
        both: set[Place] = set()
        for anchor in anchors:
            known.setdefault(_place(anchor), anchor)
            both |= group_of.get(_place(anchor), {_place(anchor)})
        for place in both:
            group_of[place] = both

    for index, frame in enumerate(mechanism.frames):
        origin = Anchor(index, fixed_marker(zeros(3), eye(), len(frame.body.coordinates)))
        if frame.motion == "prismatic":  # the two sides of a slider are not at one point
            join(origin)
            join(Anchor(frame.parent, frame.marker))
        else:
            join(Anchor(frame.parent, frame.marker), origin)
    for closure in mechanism.closures:
        if not closure.slides:
            join(closure.first, closure.second)
    for anchor in mechanism.points.values():
        join(anchor)
    distinct = {id(group): group for group in group_of.values()}
    return [{place: known[place] for place in sorted(group)} for group in distinct.values()]


def _node(mechanism: Mechanism, group: dict[Place, Anchor]) -> Node | None:
    """The node of a group of places, or None if all of it is ground."""
    starts = {f: a for (f, _), a in group.items() if f >= 0 and _is_start(mechanism, a)}
    ends = {f: a for (f, _), a in group.items() if f >= 0 and f not in starts}
    if not starts and not ends:
        return None
    first = min(starts) if starts else min(ends)
    anchors = (*(starts[f] for f in sorted(starts)), *(ends[f] for f in sorted(ends)))
    grounded = any(f < 0 for f, _ in group)
    name = " ".join(mechanism.frames[a.frame].name for a in anchors)
    return Node(f"base {name}" if grounded else name, tuple(sorted(starts)), tuple(sorted(ends)), first, anchors)


def _is_start(mechanism: Mechanism, anchor: Anchor) -> bool:
    return is_zero(anchor.marker.position) and is_zero(anchor.marker.Phi_d)


def _numbered(mechanism: Mechanism, found: list[Node]) -> tuple[Node, ...]:
    """Nodes with the numbers of their displacements, counted link by link, a link's own nodes in the order of its frame."""
    width = (2, 1) if mechanism.planar else (3, 3)
    numbers: dict[int, tuple[int, ...]] = {}
    turns: dict[tuple[int, int], tuple[int, ...]] = {}
    count = 0
    for link in range(len(mechanism.frames)):
        own = [k for k, node in enumerate(found) if link in (*node.starting, *node.ending)]
        for k in sorted(own, key=lambda k: link not in found[k].starting):
            if k not in numbers:
                size = 0 if found[k].name.startswith("base ") else width[0]
                numbers[k] = tuple(range(count, count + size))
                count += size
            welded = [f for f in (*found[k].starting, *found[k].ending) if (k, f) in turns and _welded(mechanism, f, link)]
            if welded:
                turns[k, link] = turns[k, welded[0]]
            else:
                turns[k, link] = tuple(range(count, count + width[1]))
                count += width[1]
    return tuple(
        replace(node, numbers=numbers[k], turns=tuple(turns[k, f] for f in (*node.starting, *node.ending)))
        for k, node in enumerate(found)
    )


def _welded(mechanism: Mechanism, one: int, other: int) -> bool:
    """Whether one of two links hangs on the other by a fixed joint."""
    low, high = sorted((one, other))
    return mechanism.frames[high].motion == "fixed" and mechanism.frames[high].parent == low


def nodal_displacements(mechanism: Mechanism) -> Function:
    """q, rigid -> u (nodes x 3) and turn (one 3-vector per link at each node, in the order of `nodes`): displacements of the
    real nodes from those of the rigid robot in the posture `rigid` (its elastic coordinates do not count), in node axes."""
    s, listed = state(mechanism), nodes(mechanism)
    rigid = symbols("rigid", mechanism.nq)
    still = rigid.copy()
    for frame in mechanism.frames:
        still[frame.e] = 0
    real, ideal = LinkSystem(mechanism, s), LinkSystem(mechanism, replace(s, q=still))
    u, turn = [], []
    for node in listed:
        R = ideal.motions[node.axes].R
        here, there = real.section(node.anchors[0]), ideal.section(node.anchors[0])
        u.append(matvec(R.T, minus((here.o + here.d).x, there.o.x)))
        for anchor in node.anchors:
            here, there = real.section(anchor), ideal.section(anchor)
            E, _, _, _ = small_rotation(here.phi.x, here.phi.rate)
            D = matmul(matmul(E, here.R), there.R.T)
            twice = vector(*(D[i, j] - D[j, i] for i, j in ((2, 1), (0, 2), (1, 0))))
            turn.append(matvec(R.T, scale(Fraction(1, 2), twice)))
    outputs = {"u": np.array(u, dtype=object), "turn": np.array(turn, dtype=object)}
    return function("nodal_displacements", {"q": s.q, "rigid": rigid}, outputs)
