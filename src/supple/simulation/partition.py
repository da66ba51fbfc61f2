"""`Partition`: which coordinates a motion gives, which are integrated, and which follow from the loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from supple.backends.stepping.plant import Ball, Place
from supple.errors import SuppleError
from supple.expr.function import Array
from supple.model.algebra import pivots
from supple.model.mobility import best_conditioned, independent_coordinates
from supple.model.model import Model
from supple.robot.mechanism import Mechanism


@dataclass(frozen=True)
class Partition:
    """Places in v: prescribed, integrated, and following; and the closure equations that say how."""

    given: tuple[int, ...]
    free: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]


def partition(model: Model, q: Array, prescribed: Collection[str] = (), pivoted: bool = False) -> Partition:
    """Which coordinates are given, free and dependent at a posture; spherical joints go as a whole.

    `pivoted`: those depend whose columns of J are largest, whatever kind of joint they belong to."""
    mechanism = model.mechanism
    given = [i for i, c in enumerate(mechanism.coordinates) if c.name in prescribed]
    unknown = set(prescribed) - {mechanism.coordinates[i].name for i in given if mechanism.coordinates[i].kind == "active"}
    if unknown:
        raise SuppleError(f"{mechanism.name} has no actuator {sorted(unknown)[0]!r} to prescribe")
    choice = best_conditioned(model, q) if pivoted else independent_coordinates(model, q)
    if any(i not in choice.independent for i in given):
        choice = best_conditioned(model, q, given)
    taken = [mechanism.coordinates[i].name for i in given if i not in choice.independent]
    if taken:
        raise SuppleError(
            f"{mechanism.name}: the loops leave fewer freedoms than there are prescribed actuators, so {', '.join(taken)} "
            "cannot be prescribed too; drive it with a torque or a PD controller"
        )
    dependent = tuple(i for i in range(mechanism.nv) if i not in choice.independent)
    free = tuple(i for i in choice.independent if i not in given)
    for frame in mechanism.frames:
        own = set(range(frame.v.start, frame.v.stop))
        if frame.motion == "spherical" and own & set(dependent) and own - set(dependent):
            raise SuppleError(f"{mechanism.name}: the ball joint {frame.name!r} is only partly free at this pose")
    return Partition(tuple(given), free, dependent, _rows(model, q, dependent))


def _rows(model: Model, q: Array, dependent: Sequence[int]) -> tuple[int, ...]:
    """As many closure equations as there are dependent coordinates, which determine them."""
    J = model.jacobian(q)[:, list(dependent)]
    if J.shape[0] == len(dependent):
        return tuple(range(J.shape[0]))
    return tuple(sorted(pivots(J.T)[0][: len(dependent)]))


def coordinate_places(mechanism: Mechanism) -> list[Place]:
    """Place in v, in q, and kind of unit of every coordinate."""
    where = [-1] * mechanism.nv
    for frame in mechanism.frames:
        if frame.motion != "spherical":
            where[frame.v] = range(frame.q.start, frame.q.stop)
        where[frame.ev] = range(frame.e.start, frame.e.stop)
    return [Place(i, where[i], c.unit == "rad") for i, c in enumerate(mechanism.coordinates)]


def ball_joints(mechanism: Mechanism, free: Sequence[int], dependent: Sequence[int]) -> tuple[Ball, ...]:
    """Every ball joint, with its places."""
    balls = [f for f in mechanism.frames if f.motion == "spherical"]
    return tuple(
        Ball(f.q.start, *(list(part).index(f.v.start) if f.v.start in part else -1 for part in (free, dependent)))
        for f in balls
    )
