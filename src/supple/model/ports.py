"""Where a robot is pushed and where it is watched: columns and rows of its linear model, by name.

    inputs:   tau, tau.NAME (actuators); POINT, POINT.fx ... POINT.mz (force and moment at a named point, base axes)
    outputs:  q, q.NAME (actuated joints); POINT, POINT.x ... POINT.rz (displacement and rotation of a named point)

A name alone stands for all that belongs to it; of planar robots that is what lies in their plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.model import Model

PUSHED = ("fx", "fy", "fz", "mx", "my", "mz")
MOVED = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Ports:
    """Names, units, and rows over the generalised velocities v; the column of an input is its row, by virtual power."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: Array


def inputs_of(model: Model, q: Array, asked: Sequence[str]) -> Ports:
    """What pushes: actuators (N, N m) and loads at points."""
    return _ports(model, q, asked, "tau", PUSHED, {"m": "N", "rad": "N m"}, "input")


def outputs_of(model: Model, q: Array, asked: Sequence[str]) -> Ports:
    """What is watched: actuated joints and points (m, rad)."""
    return _ports(model, q, asked, "q", MOVED, {"m": "m", "rad": "rad"}, "output")


def point_rows(model: Model, q: Array, point: str) -> Array:
    """Velocity and angular velocity (base axes) of a named point: six rows over v."""
    found = model.call("points", q=q, v=np.eye(model.nv))
    k = _place(model, point)
    return np.vstack([found["velocity"][:, k].T, found["spin"][:, k].T])


def in_plane(model: Model) -> list[int]:
    """Which of the six components of a point stay in a planar robot's plane; all in space."""
    if not model.mechanism.planar:
        return list(range(6))
    across = int(np.argmax(np.abs(model.mechanism.normal.astype(float))))
    return [*(k for k in range(3) if k != across), 3 + across]


def wrenches_of(model: Model, loads: Mapping[str, Any]) -> Array:
    """Force and moment at every named point, from named point -> three or six numbers."""
    made = np.zeros((len(model.mechanism.points), 6))
    for name, wrench in loads.items():
        given = np.asarray(wrench, dtype=float).ravel()
        if given.size not in (3, 6):
            raise SuppleError(f"the load at {name!r} needs three forces, or three forces and three moments")
        _check_plane(model, name, np.flatnonzero(given))
        made[_place(model, name), : given.size] = given
    return made


def _check_plane(model: Model, point: str, components: Iterable[int]) -> None:
    """A planar robot says nothing of what leaves its plane."""
    known = in_plane(model)
    for k in components:
        if k not in known:
            there = ", ".join(PUSHED[i] for i in known)
            asked = f"not {PUSHED[k]} (or {MOVED[k]}), which leaves its plane"
            raise SuppleError(f"{model.mechanism.name} is planar: at {point!r} it knows {there}, {asked}")


def _place(model: Model, point: str) -> int:
    names = list(model.mechanism.points)
    if point not in names:
        raise SuppleError(f"{model.mechanism.name} has no point {point!r}; it has: {', '.join(names) or 'none'}")
    return names.index(point)


def _ports(
    model: Model, q: Array, asked: Sequence[str], word: str, parts: tuple[str, ...], units: Mapping[str, str], what: str
) -> Ports:
    found: dict[str, tuple[str, Array]] = {}
    for name in asked:
        if name.partition(".")[0] == word:
            found |= _joints(model, name, word, units)
        else:
            found |= _components(model, q, name, parts, units, what)
    if not found:
        raise SuppleError(f"name at least one {what}: {word}, or a point of the robot")
    return Ports(tuple(found), tuple(unit for unit, _ in found.values()), np.array([row for _, row in found.values()]))


def _joints(model: Model, name: str, word: str, units: Mapping[str, str]) -> dict[str, tuple[str, Array]]:
    active = [model.names[i] for i in model.active]
    chosen = name.partition(".")[2]
    if chosen and chosen not in active:
        raise SuppleError(f"{model.mechanism.name} has no actuator {chosen!r}; it has: {', '.join(active) or 'none'}")
    places = [model.index(own) for own in ([chosen] if chosen else active)]
    return {
        f"{word}.{model.names[i]}": (units[model.mechanism.coordinates[i].unit], model.held([i])[0]) for i in places
    }  # fmt: skip


def _components(
    model: Model, q: Array, name: str, parts: tuple[str, ...], units: Mapping[str, str], what: str
) -> dict[str, tuple[str, Array]]:
    whole = name in model.mechanism.points or "." not in name
    point, part = (name, "") if whole else tuple(name.rsplit(".", 1))
    rows = point_rows(model, q, point)
    if part and part not in parts:
        raise SuppleError(f"{what} {name!r}: a point has {', '.join(parts)}, not {part!r}")
    chosen = [parts.index(part)] if part else in_plane(model)
    _check_plane(model, point, chosen)
    return {f"{point}.{parts[k]}": (units["m" if k < 3 else "rad"], rows[k]) for k in chosen}
