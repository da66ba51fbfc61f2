"""Poses of one assembly mode: postures that continue from home without a singular one on the way.

With some coordinates held (actuators, or the platform's pose) a closed posture is regular if the loops determine all
others. The assembly mode of a pose is told by the straight way from home in the held coordinates, or by a way around
singular postures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from supple.errors import PoseError
from supple.model.algebra import Array, null_space, pivots
from supple.model.closing import close, open_loop, placed, values
from supple.model.continuation import HeldPostures, Walked, apart, displacements
from supple.model.limits import strokes_left
from supple.model.model import Model

AGREE = 1e-9  # m or rad, of coordinates that were asked beyond the robot's freedoms
SINGULAR_END = 1e-3  # of the way: a pose so near to a singular one is next to it
DETOURS = ((0.25, 0.5), (0.5, 1.0))  # back from the singular posture and along it, in lengths of the way
SIDES = 2  # directions along the wall of singular postures that are tried, both ways


def reached(model: Model, q: Array, wanted: Mapping[int, float]) -> Array:
    """The posture with the wanted values (velocity index -> value) that continues from the closed posture q."""
    found = all_reached(model, q, list(wanted), np.array([list(wanted.values())]))[0]
    if isinstance(found, PoseError):
        raise found
    return found


def all_reached(model: Model, q: Array, which: list[int], wanted: Array) -> list[Array | PoseError]:
    """Postures that continue from the closed posture q, one for each row of wanted values of the coordinates `which`, or
    words why not."""
    held, others = chosen_freely(model, q, which)
    way: HeldPostures = model.ways.setdefault(held, HeldPostures(model, held))
    goals = wanted[:, [which.index(i) for i in held]]
    ends, shares = way.walks(np.tile(q, (len(goals), 1)), goals)
    found: list[Array | PoseError] = list(ends)
    stuck = np.flatnonzero(shares < 1.0)
    if stuck.size:
        for k, end in zip(stuck, around(way, q, goals[stuck], ends[stuck], shares[stuck]), strict=True):
            found[k] = end
    if others:
        asked = [dict(zip(which, row.tolist(), strict=True)) for row in wanted]
        found = [_checked(model, end, at, others) for end, at in zip(found, asked, strict=True)]
    return found


def chosen_freely(model: Model, q: Array, wanted: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of the coordinates to hold, those that the loops allow to be chosen freely, and those that follow from them."""
    moving = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
    Z, _, _ = null_space(model.jacobian(q)[:, moving], 1e-7)
    rows = Z[[moving.index(i) for i in wanted]]
    if not len(wanted):
        return (), ()
    order, sizes = pivots(rows.T)
    chosen = {wanted[k] for k in order[: int(np.sum(sizes > 1e-6 * sizes.max(initial=0.0)))]}
    return tuple(i for i in wanted if i in chosen), tuple(i for i in wanted if i not in chosen)


def _checked(model: Model, q: Array | PoseError, wanted: Mapping[int, float], others: tuple[int, ...]) -> Array | PoseError:
    if isinstance(q, PoseError):
        return q
    problem = disagreement(model, q, wanted, others)
    return q if problem is None else PoseError(problem)


def disagreement(model: Model, q: Array, wanted: Mapping[int, float], others: Sequence[int]) -> str | None:
    """Words if coordinates that follow from the loops have other values than wanted."""
    off = displacements(model, q, wanted, others)
    worst = int(np.abs(off).argmax())
    if abs(off[worst]) <= AGREE:
        return None
    name, now = model.names[others[worst]], values(model, q)[others[worst]]
    return (
        f"{model.mechanism.name}: the loops cannot close at {_pose(model, wanted)}: with the other values {name} is "
        f"{now:.6g}, not {wanted[others[worst]]:.6g}"
    )


def around(way: HeldPostures, q: Array, goals: Array, ends: Array, shares: Array) -> list[Array | PoseError]:
    """The ends of ways on which the straight ones meet singular postures; errors in words where none is found."""
    found = [_beyond(way, q, goal, Walked(end, share)) for goal, end, share in zip(goals, ends, shares, strict=True)]
    left = [k for k, x in enumerate(found) if x is None]
    places = {k: list(detours(way, q, goals[k], Walked(ends[k], shares[k]))) for k in left}
    for turn in range(max(map(len, places.values()), default=0)):
        some = np.array([k for k in left if found[k] is None and turn < len(places[k])], dtype=int)
        if not some.size:
            break
        there, share = way.walks(np.tile(q, (len(some), 1)), np.array([places[k][turn] for k in some]))
        some, there = some[share >= 1.0], there[share >= 1.0]
        if some.size:
            there, share = way.walks(there, goals[some])
            for k, end, whole in zip(some, there, share, strict=True):
                found[k] = end if whole >= 1.0 else None
    return [_untold(way, goals[k], shares[k], ends[k]) if x is None else x for k, x in enumerate(found)]


def _beyond(way: HeldPostures, q: Array, goal: Array, stuck: Walked) -> Array | PoseError | None:
    """A pose next to the singular one that a straight way meets, or words if it is out of reach."""
    model, free = way.model, way.free
    held = dict(zip(way.held, goal.tolist(), strict=True))
    ahead = close(model, placed(model, stuck.q, held), free)
    if ahead is not None and 1.0 - stuck.share < SINGULAR_END and np.abs(apart(model, stuck.q, ahead)).max() < 0.1:
        return ahead
    if ahead is None and close(model, placed(model, q, held), free) is None:
        return PoseError(out_of_reach(model, placed(model, stuck.q, held), held, stuck.share))
    return None


def out_of_reach(model: Model, q: Array, held: Mapping[int, float], share: float) -> str:
    """Words for a pose in which a loop stays open, near a posture q after a share of the way from home."""
    where = f"at {_pose(model, held)}; the pose is out of reach (reached {share:.0%} of the way)"
    return open_loop(model, q, where)


def untold(model: Model, held: Mapping[int, float], share: float, *, outside: bool = False) -> str:
    """Words for a pose that no way from home leads to; `outside`: loops do not close there."""
    pose = _pose(model, held)
    if outside:
        return (
            f"{model.mechanism.name}: the loops cannot close at {pose}; the pose is out of reach "
            f"(reached {share:.0%} of the way)"
        )
    return (
        f"{model.mechanism.name}: cannot tell which posture of this assembly has {pose}: the way there from home "
        f"meets a singular pose after {share:.0%} of it, and no way around was found; ask for a pose "
        "nearer home, or choose another home or assembly"
    )


def _untold(way: HeldPostures, goal: Array, share: float, end: Array) -> PoseError:
    told = untold(way.model, dict(zip(way.held, goal.tolist(), strict=True)), share)
    left = strokes_left(way.model.mechanism, end)
    return PoseError(f"{told}; there already {left[0]}" if left else told)


def detours(way: HeldPostures, q: Array, goal: Array, stuck: Walked) -> Iterator[Array]:
    """Places to go by, off the wall of singular postures that the straight way meets.

    The left null vector of F_x there, times F_y, is normal to the wall in the held coordinates."""
    whole = way.remaining(q[None], goal[None])[0]
    length = float(np.linalg.norm(whole))
    J = way.gradient(stuck.q)
    u, _, _ = np.linalg.svd(J[:, way.x])
    normal = u[:, (way.rank or 1) - 1] @ J[:, way.y]
    size = float(np.linalg.norm(normal))
    if size < 1e-12 or len(whole) < 2:
        return
    normal = normal / size * np.sign(normal @ whole or 1.0)
    here = values(way.model, q)[way.held] + stuck.share * whole
    frame, _ = np.linalg.qr(np.column_stack([normal, whole / length, np.eye(len(whole))]))
    for back, along in DETOURS:
        for k in range(1, min(len(whole), 1 + SIDES)):
            for side in (1.0, -1.0):
                yield here + length * (side * along * frame[:, k] - back * normal)


def _pose(model: Model, wanted: Mapping[int, float]) -> str:
    return ", ".join(f"{model.names[i]}={x:g}" for i, x in list(wanted.items())[:6])
