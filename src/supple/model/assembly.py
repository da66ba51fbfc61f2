"""Poses of one assembly mode: postures that continue from home without a singular one on the way.

With some coordinates held (actuators, or the platform's pose) a closed posture is regular if the loops determine all
others. The assembly mode of a pose is told by the straight way from home in the held coordinates, or by a way around
singular postures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import qr

from supple.errors import PoseError
from supple.model.algebra import Array, null_space
from supple.model.closing import close, open_loop, placed, values
from supple.model.continuation import Goal, Walked, Way, apart, displacements
from supple.model.model import Model

AGREE = 1e-9  # m or rad, of coordinates that were asked beyond the robot's freedoms
SINGULAR_END = 1e-3  # of the way: a pose so near to a singular one is next to it
DETOURS = ((0.25, 0.5), (0.5, 1.0))  # back from the singular posture and along it, in lengths of the way
SIDES = 2  # directions along the wall of singular postures that are tried, both ways
_WAYS: WeakKeyDictionary[Model, dict[tuple[int, ...], Way]] = WeakKeyDictionary()


def reached(model: Model, q: Array, wanted: Mapping[int, float]) -> Array:
    """The posture with the wanted values (velocity index -> value) that continues from the closed posture q."""
    held, others = independent(model, q, list(wanted))
    way = _WAYS.setdefault(model, {}).setdefault(held, Way(model, held))
    goal = Goal({i: wanted[i] for i in held})
    walked = way.walk(q, goal)
    if not walked.arrived:
        walked = around(way, q, goal, walked)
    if others:
        _check_others(model, walked.q, wanted, others)
    return walked.q


def independent(model: Model, q: Array, wanted: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of the coordinates to hold, those that the loops allow to be chosen freely, and those that follow from them."""
    moving = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
    Z, _, _ = null_space(model.jacobian(q)[:, moving], 1e-7)
    rows = Z[[moving.index(i) for i in wanted]]
    if not len(wanted):
        return (), ()
    _, R, order = qr(rows.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diagonal(R))
    chosen = {wanted[k] for k in order[: int(np.sum(sizes > 1e-6 * sizes.max(initial=0.0)))]}
    return tuple(i for i in wanted if i in chosen), tuple(i for i in wanted if i not in chosen)


def _check_others(model: Model, q: Array, wanted: Mapping[int, float], others: tuple[int, ...]) -> None:
    off = displacements(model, q, wanted, others)
    worst = int(np.abs(off).argmax())
    if abs(off[worst]) > AGREE:
        name, now = model.names[others[worst]], values(model, q)[others[worst]]
        raise PoseError(
            f"{model.mechanism.name}: the loops cannot close at {_pose(model, wanted)}: with the other values {name} is "
            f"{now:.6g}, not {wanted[others[worst]]:.6g}"
        )


def around(way: Way, q: Array, goal: Goal, stuck: Walked) -> Walked:
    """The end of a way on which the straight one meets a singular posture; an error in words if none is found."""
    model = way.model
    free = way.free
    ahead = close(model, placed(model, stuck.q, goal.held), free)
    if ahead is not None and 1.0 - stuck.share < SINGULAR_END and np.abs(apart(model, stuck.q, ahead)).max() < 0.1:
        return Walked(ahead, 1.0)
    if ahead is None and close(model, placed(model, q, goal.held), free) is None:
        where = f"at {_pose(model, goal.held)}; the pose is out of reach (reached {stuck.share:.0%} of the way)"
        raise PoseError(open_loop(model, placed(model, stuck.q, goal.held), where))
    for waypoint in detours(way, q, goal, stuck):
        there = way.walk(q, waypoint)
        walked = way.walk(there.q, goal) if there.arrived else there
        if walked.arrived:
            return walked
    raise PoseError(
        f"{model.mechanism.name}: cannot tell which posture of this assembly has {_pose(model, goal.held)}: the way there "
        f"from home meets a singular pose after {stuck.share:.0%} of it, and no way around was found; ask for a pose "
        "nearer home, or choose another home or assembly"
    )


def detours(way: Way, q: Array, goal: Goal, stuck: Walked) -> Iterator[Goal]:
    """Places to go by, off the wall of singular postures that the straight way meets.

    The left null vector of F_x there, times F_y, is normal to the wall in the held coordinates."""
    whole = way.remaining(q, goal)
    length = float(np.linalg.norm(whole))
    J = way.gradient(stuck.q)
    u, _, _ = np.linalg.svd(J[:, way.x])
    normal = u[:, len(way.x) - 1] @ J[:, way.y]
    size = float(np.linalg.norm(normal))
    if size < 1e-12 or len(whole) < 2:
        return
    normal = normal / size * np.sign(normal @ whole or 1.0)
    here = values(way.model, q)[way.held] + stuck.share * whole
    frame, _ = np.linalg.qr(np.column_stack([normal, whole / length, np.eye(len(whole))]))
    for back, along in DETOURS:
        for k in range(1, min(len(whole), 1 + SIDES)):
            for side in (1.0, -1.0):
                place = here + length * (side * along * frame[:, k] - back * normal)
                yield Goal(dict(zip(way.held, place.tolist(), strict=True)))


def _pose(model: Model, wanted: Mapping[int, float]) -> str:
    return ", ".join(f"{model.names[i]}={x:g}" for i, x in list(wanted.items())[:6])
