"""Where a robot is pushed and where it is watched: columns and rows of its linear model, by name.

    inputs:   tau, tau.NAME (actuators); POINT, POINT.fx ... POINT.mz (force and moment at a named point, base axes)
    outputs:  q, q.NAME (actuated joints); POINT, POINT.x ... POINT.rz (displacement and rotation of a named point)
              strain(LINK), strain(LINK).x .y .z (a beam's strain at its root: along it, and of the outermost fibres that
              bending in its x-y and x-z planes stretches); force(LINK), force(LINK).n .t .my .mz (what is in that section);
              LINK@0.2 m in place of LINK: so far from the root
              joint(NAME), joint(NAME).fx ... .mz (what a joint that closes a loop puts on its second body, in axes of the
              first)

body(POINT) in place of POINT means the point's own axes. A name alone stands for all that belongs to it; of planar robots
that is what lies in their plane.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.model import Model
from supple.robot.bodies.record import Fibres, strain_gradient
from supple.robot.written import si

_OWN = re.compile(r"^body\((.+?)\)((?:\.\w+)?)$")
_GAUGE = re.compile(r"^(strain|force)\((.+?)\)(?:\.(\w+))?$")
_JOINT = re.compile(r"^joint\((.+?)\)(?:\.(\w+))?$")
_MOST = 1e12  # N and N m: what is more is a slip, and its squares overflow
PUSHED = ("fx", "fy", "fz", "mx", "my", "mz")
MOVED = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Ports:
    """Names, units, and rows over the generalised velocities v; the column of an input is its row, by virtual power."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: Array
    reactions: tuple[int, ...] = ()  # of outputs: the reaction of the loops that they are, -1: they are their row


def inputs_of(model: Model, q: Array, asked: Sequence[str]) -> Ports:
    """What pushes: actuators (N, N m) and loads at points."""
    return _ports(model, q, asked, "tau", PUSHED, {"m": "N", "rad": "N m"}, "input")


def outputs_of(model: Model, q: Array, asked: Sequence[str], *, reactions: bool = False) -> Ports:
    """What is watched: actuated joints and points (m, rad), gauges, and where they are asked for reactions of loops."""
    joints = {name: gauge[1] for name in asked if (gauge := _JOINT.match(name))}
    if joints and not reactions:
        raise SuppleError(f"{next(iter(joints))}: forces of joints are watched by linear and frf alone")
    own = {key: found for name in joints for key, found in _reactions(model, name).items()}
    made = [name for name in asked if name not in joints]
    if not own:
        return _ports(model, q, made, "q", MOVED, {"m": "m", "rad": "rad"}, "output")
    rest = (
        _ports(model, q, made, "q", MOVED, {"m": "m", "rad": "rad"}, "output")
        if made
        else Ports((), (), np.zeros((0, model.nv)))
    )
    return Ports(
        (*rest.names, *own), (*rest.units, *(unit for unit, _ in own.values())),
        np.vstack([rest.rows, np.zeros((len(own), model.nv))]), (*[-1] * len(rest.names), *(k for _, k in own.values())),
    )  # fmt: skip


def _reactions(model: Model, name: str) -> dict[str, tuple[str, int]]:
    """Units and places among the reactions of the loops, of what joint(NAME) or joint(NAME).fx names."""
    found = _JOINT.match(name)
    assert found is not None
    at, known = 0, {}
    for closure in model.mechanism.closures:
        if closure.name == found[1]:
            parts = {PUSHED[k]: at + i for i, k in enumerate(closure.forbidden)}
            if found[2] and found[2] not in parts:
                raise SuppleError(f"output {name!r}: that joint holds {', '.join(parts)}")
            chosen = [found[2]] if found[2] else list(parts)
            return {f"joint({closure.name}).{p}": ("N" if p[0] == "f" else "N m", parts[p]) for p in chosen}
        known[closure.name] = 0
        at += len(closure.forbidden)
    raise SuppleError(
        f"{model.mechanism.name} has no joint {found[1]!r} that closes a loop; it has: {', '.join(known) or 'none'}"
    )


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
        if not (np.abs(given) <= _MOST).all():
            raise SuppleError(f"the load at {name!r} is out of range: at most {_MOST:g} N and N m")
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
        elif what == "output" and (gauge := _GAUGE.match(name)):
            found |= _gauges(model, q, *gauge.groups())
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
    own = _OWN.match(name)
    plain = f"{own[1]}{own[2]}" if own else name
    whole = plain in model.mechanism.points or "." not in plain
    point, part = (plain, "") if whole else tuple(plain.rsplit(".", 1))
    rows = point_rows(model, q, point)
    if part and part not in parts:
        raise SuppleError(f"{what} {name!r}: a point has {', '.join(parts)}, not {part!r}")
    if own:
        R = model.call("points", q=q)["rotation"][_place(model, point)]
        rows = np.vstack([R.T @ rows[:3], R.T @ rows[3:]])
    chosen = [parts.index(part)] if part else list(range(6)) if own else in_plane(model)
    if not own:
        _check_plane(model, point, chosen)
    shown = f"body({point})" if own else point
    return {f"{shown}.{parts[k]}": (units["m" if k < 3 else "rad"], rows[k]) for k in chosen}


def _gauges(model: Model, q: Array, word: str, link: str, part: str | None) -> dict[str, tuple[str, Array]]:
    """Strain or forces in a section of a link's beam: at its root, or where LINK@DISTANCE says."""
    named, link = link, link.partition("@")[0].strip()
    beams = {f.link: f for f in reversed(model.mechanism.frames) if f.body.fibres is not None}
    if link not in beams:
        raise SuppleError(f"{model.mechanism.name} has no link of beams {link!r}; it has: {', '.join(beams) or 'none'}")
    frame = beams[link]
    fibres = frame.body.fibres
    assert fibres is not None
    forces = np.zeros((4, model.nv))
    forces[:, frame.ev] = _section(fibres, named, word) @ strain_gradient(frame.body, q[frame.e])
    if word == "force":
        rows = dict(zip(("n", "t", "my", "mz"), zip(("N", "N m", "N m", "N m"), forces, strict=True), strict=True))
    else:
        if not fibres.form[0]:
            raise SuppleError(f"strain of {link!r}: its section is given by properties; its outermost fibre is not known")
        E, A, Iy, Iz = (float(x) for x in (fibres.E, fibres.area, fibres.Iy, fibres.Iz))
        sizes = [float(x) / 2 for x in fibres.form[1]]
        y, z = (sizes[0], sizes[0]) if fibres.form[0] in ("circle", "tube") else (sizes[0], sizes[1])
        strains = (forces[0] / (E * A), forces[3] * y / (E * Iz), forces[2] * z / (E * Iy))
        rows = {axis: ("1", row) for axis, row in zip("xyz", strains, strict=True)}
    if part and part not in rows:
        raise SuppleError(f"output '{word}({named}).{part}': {word} has {', '.join(rows)}")
    return {f"{word}({named}).{key}": row for key, row in rows.items() if not part or key == part}


def _section(fibres: Fibres, named: str, word: str) -> Array:
    """(4, N) forces in a section, linear between the ends of an element as its shape functions have them."""
    forces, places = fibres.forces.astype(float), fibres.places.astype(float)
    if "@" not in named:
        root: Array = forces[0]
        return root
    x = si(named.partition("@")[2].strip(), "length", f"{word}({named})")
    if not 0.0 <= x <= places[-1] * (1 + 1e-12):
        raise SuppleError(f"{word}({named}): the beam is {places[-1]:.6g} m long")
    k = min(2 * int(np.searchsorted(places[1::2], x - 1e-12 * places[-1])), len(places) - 2)
    share = (x - places[k]) / (places[k + 1] - places[k])
    made: Array = (1 - share) * forces[k] + share * forces[k + 1]
    return made
