"""Exact derivatives of a batch's answers with respect to the pose and the parameters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from supple.backends.interpreter import interpret
from supple.core.prepared import Prepared
from supple.core.tangents import by_parameters
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.turning import turn_rates


@dataclass(frozen=True)
class Directions:
    """What derivatives are taken with respect to: names, and tangents (n, names, ...) of what is given and of p."""

    names: tuple[str, ...]
    given: Array
    p: Array


def directions(core: Prepared, poses: Array, values: Array, inner: Array, by: Sequence[str] | None) -> Directions:
    """The Directions of coordinates of the pose and of kept parameters (None: all of them)."""
    names = tuple([*core.names, *core.robot.keep] if by is None else by)
    follow = [core.model.names[i] for i in core.others]
    for name in names:
        if name not in core.names and name not in core.robot.keep:
            known = ", ".join([*core.names, *core.robot.keep])
            raise SuppleError(f"{core.robot.name}: no derivative by {name!r}; there are: {known}")
        if name in follow:
            raise SuppleError(f"{core.robot.name}: no derivative by {name!r}, which follows from the other coordinates")
    count = len(poses)
    dp = np.zeros((count, len(names), inner.shape[1]))
    held = np.zeros((count, len(names), len(core.held_indices)))
    order = [core.model.names[i] for i in core.held_indices]
    for k, name in enumerate(names):
        if name in core.names:
            held[:, k, order.index(name)] = 1.0
    kept = [k for k, name in enumerate(names) if name not in core.names]
    if kept:
        rows = [core.robot.keep.index(names[k]) for k in kept]
        tangents = np.array([core.parameters.tangents(row)[rows] for row in values])
        dp[:, kept] = tangents
        p = np.broadcast_to(np.broadcast_to(inner, (count, inner.shape[1]))[:, None], tangents.shape)
        found = interpret(by_parameters(core.base))(p=p, dp=tangents)["held"]
        moved = np.broadcast_to(found, (count, len(kept), len(order))).copy()
        moved[..., [order.index(n) for n in core.names]] = 0.0
        held[:, kept] = moved
    return Directions(names, _tangents(core, poses, inner, held), dp)


def _tangents(core: Prepared, poses: Array, inner: Array, dheld: Array) -> Array:
    """(n, names, chosen) velocities of what is chosen: themselves, but for ball joints, given by rotation vectors."""
    where = [core.held_indices.index(i) for i in core.chosen]
    held = core.held(poses, np.broadcast_to(inner, (len(poses), inner.shape[1])))[:, where]
    made: Array = dheld[..., where].copy()
    for frame in core.model.mechanism.frames:
        own = [core.chosen.index(i) for i in range(frame.v.start, frame.v.stop) if i in core.chosen]
        if frame.motion == "spherical" and own:
            made[..., own] = np.einsum("nij,nkj->nki", turn_rates(held[:, own]), made[..., own])
    return made


def along(
    core: Prepared, at: Directions, found: dict[str, Array], inner: Array, load: Array, wanted: Collection[str]
) -> tuple[dict[str, Array], Array]:
    """Derivatives by name (n, names, ...) of what was found, and which poses have them."""
    count = len(found["q"])
    needed = set(wanted) | ({"S"} if "T" in wanted else set())
    tables = [found["posture"], found["q"], found["lam"], _rows(inner, count), _rows(load, count)]
    made, good = core.compiled_tangents.run(tables, [at.given, at.p], needed)
    if "T" in wanted:
        way = core.structure.linear
        made["T"] = np.zeros((count, len(at.names), core.structure.nv, len(way.independent)))
        made["T"][:, :, list(way.dependent)] = made["S"]
    return made, good


def _rows(table: Array, count: int) -> Array:
    return np.broadcast_to(table, (count, table.shape[1]))
