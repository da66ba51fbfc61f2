"""`Tree`: a mechanism prepared for folding: its frames, the unknowns they have, and what drives it.

Variants differ in a record of choices: how the mechanism is simplified, which accelerations of joints stay unknowns of their
own, and whether nodes of bodies are described by their absolute acceleration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from supple.expr.function import Array, symbols
from supple.expr.node import Scalar
from supple.expr.vector import identity, is_zero, matmul, zeros
from supple.formulations.least_constraint.bodies import Port, port_of
from supple.formulations.least_constraint.unknowns import Joint, Unknown
from supple.formulations.record import Unsupported
from supple.formulations.tree.kinematics import Kinematics, State, state
from supple.robot.bodies.record import Marker
from supple.robot.mechanism import Frame, Mechanism
from supple.robot.nodes import opened
from supple.robot.simplify import simplify


@dataclass(frozen=True)
class Drives:
    """What is given of the actuators, by name: the acceleration, kept as an input (`accelerated`) or by a force that is an
    unknown (`held`); or the force (`pushed`), for which the input a stands."""

    accelerated: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    pushed: frozenset[str] = frozenset()


def drives(mechanism: Mechanism, prescribed: Collection[str], held: Collection[str] = ()) -> Drives:
    """Drives of a mechanism whose prescribed actuators have given accelerations, the others given forces."""
    active = {c.name for c in mechanism.coordinates if c.kind == "active"}
    return Drives(frozenset(prescribed) - frozenset(held), frozenset(held), frozenset(active - set(prescribed)))


def _prepared(mechanism: Mechanism) -> Mechanism:
    return opened(simplify(mechanism))


@dataclass(frozen=True)
class Choices:
    """own: coordinates whose acceleration stays an unknown of its own (None: all), instead of the absolute one about the
    joint's axis; nodes: whether nodes of bodies are unknowns, and frames that close a loop have their acceleration there."""

    drives: Drives = Drives()
    own: frozenset[str] | None = frozenset()
    prepared: Callable[[Mechanism], Mechanism] = _prepared
    nodes: bool = True
    loads: bool = False  # wrenches at the named points as an input w
    damped: bool = False  # forces of damping on the elastic coordinates as an input x


@dataclass(frozen=True)
class Tree:
    """A mechanism with symbols for its state, and where its unknowns are."""

    original: Mechanism
    m: Mechanism  # the same, simplified
    choices: Choices
    inputs: State  # symbols in the order of the original
    s: State  # the same in the order of m
    kin: Kinematics
    w: Array | None
    x: Array | None
    damping: dict[str, Scalar]  # elastic coordinate -> its entry of x
    side: set[int]  # frames of the platform and what hangs on it
    c: list[Array]  # reference point of every frame
    ports: dict[int, Port]  # frame -> the port of its parent it sits on
    alive: list[tuple[int, ...]]  # components of every frame's acceleration that are not identically zero
    root: int | None  # the frame at which legs meet

    @property
    def planar(self) -> bool:
        return self.m.planar

    def given(self, k: int) -> bool:
        """Whether a joint's own acceleration stays an unknown; where an input stands for it, it is known beforehand."""
        return self.choices.own is None or self.m.coordinates[k].name in self.choices.own

    def is_given(self, x: Unknown) -> bool:
        return isinstance(x, Joint) and self.given(x.velocity)


def tree_of(mechanism: Mechanism, choices: Choices) -> Tree:
    """The Tree of a mechanism."""
    m = choices.prepared(mechanism)
    w = symbols("w", (len(mechanism.points), 6)) if choices.loads else None
    elastic = [c.name for c in mechanism.coordinates if c.kind == "elastic"]
    x = symbols("x", len(elastic)) if choices.damped else None
    damping = dict(zip(elastic, x, strict=True)) if x is not None else {}
    inputs = state(mechanism)
    s = _reordered(mechanism, m, inputs)
    every, side = range(len(m.frames)), m.platform_side()
    return Tree(
        mechanism, m, choices, inputs, s, Kinematics(m, s), w, x, damping, side,
        c=[_reference_point(m, j) if choices.nodes else zeros(3) for j in every],
        ports=_ports(m, side) if choices.nodes else {},
        alive=[_alive(m, j) for j in every],
        root=_root(m),
    )  # fmt: skip


def _reference_point(m: Mechanism, j: int) -> Array:
    """Where a frame's acceleration is taken: at the joint that closes its loop, if it has one."""
    if j == m.platform:
        return zeros(3)
    anchors = [a for c in m.closures for a in (c.first, c.second) if a.frame == j]
    return anchors[0].marker.position if len(anchors) == 1 else zeros(3)


def _ports(m: Mechanism, side: set[int]) -> dict[int, Port]:
    found: dict[int, Port] = {}
    taken: dict[int, set[int]] = {}
    for j, frame in enumerate(m.frames):
        if frame.motion != "fixed" or frame.parent < 0 or frame.parent in side:
            continue
        port = port_of(j, frame.marker, taken.setdefault(frame.parent, set()), m.planar)
        if port is not None:
            found[j] = port
            taken[frame.parent] |= set(port.columns)
    return found


def _alive(m: Mechanism, j: int) -> tuple[int, ...]:
    """Components of a frame's acceleration that are not identically zero."""
    if not m.planar:
        return (0, 1, 2, 3, 4, 5)
    k = normal_axis(m, j)
    return (*(i for i in range(3) if i != k), 3 + k)


def normal_axis(m: Mechanism, j: int) -> int:
    """The axis of frame j that is normal to the plane of a planar mechanism."""
    R = identity()
    frame: Frame | None = m.frames[j]
    while frame is not None:
        R = matmul(frame.marker.rotation, R)
        frame = m.frames[frame.parent] if frame.parent >= 0 else None
    n = np.abs((R.T @ m.normal).astype(float))
    if n.max() < 1 - 1e-9:
        raise Unsupported("a planar frame that is turned out of the axes of its plane")
    return int(n.argmax())


def _root(m: Mechanism) -> int | None:
    if m.platform is not None:
        return m.platform
    meeting = [c.first.frame for c in m.closures if min(c.first.frame, c.second.frame) >= 0]
    return meeting[0] if meeting else None


def is_rigid(marker: Marker) -> bool:
    """Whether no elastic coordinate moves a place."""
    return is_zero(marker.Phi_d) and is_zero(marker.Phi_r)


def _reordered(old: Mechanism, new: Mechanism, given: State) -> State:
    """The symbols of the original mechanism in the order of the simplified one."""
    place = {c.name: k for k, c in enumerate(old.coordinates)}
    where_q: dict[str, int] = {}
    for frame in old.frames:
        for offset in range(frame.e.stop - frame.e.start):
            where_q[old.coordinates[frame.ev.start + offset].name] = frame.e.start + offset
        if frame.v.stop > frame.v.start:
            where_q[old.coordinates[frame.v.start].name] = frame.q.start
    q = zeros(new.nq)
    for frame in new.frames:
        for offset in range(frame.e.stop - frame.e.start):
            q[frame.e.start + offset] = given.q[where_q[new.coordinates[frame.ev.start + offset].name]]
        if frame.v.stop > frame.v.start:
            first = where_q[new.coordinates[frame.v.start].name]
            for n in range(frame.q.stop - frame.q.start):
                q[frame.q.start + n] = given.q[first + n]
    index = [place[c.name] for c in new.coordinates]
    return State(q, given.v[index], given.a[index], given.g)
