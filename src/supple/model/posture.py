"""Closing the loops: from joint values or a platform pose to a posture in which every loop is shut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.formulations.tree.undriven import outside_loops
from supple.model.algebra import Array, one_thread
from supple.model.assembly import all_reached, reached
from supple.model.closing import close, open_loop, placed, values
from supple.model.model import Model
from supple.model.turning import turned
from supple.remembered import Answer

IDLE = 1e-3  # m or rad: how rough the value of a joint may be that follows from others


def start(model: Model, assembly: str | None = None) -> Array:
    """The assembly guess of the robot file, loops still open."""
    mechanism = model.mechanism
    if assembly is not None and assembly not in mechanism.start:
        known = ", ".join(mechanism.start)
        raise SuppleError(f"{mechanism.name} has no assembly mode {assembly!r}; it has: {known}")
    guess = mechanism.start[assembly or next(iter(mechanism.start))]
    q = np.zeros(mechanism.nq)
    for index, frame in enumerate(mechanism.frames):
        if frame.motion == "spherical":
            own = index == mechanism.platform and mechanism.orientation is not None
            q[frame.q] = mechanism.orientation if own else (1.0, 0.0, 0.0, 0.0)
            q[frame.q] = turned(q[frame.q], _guessed(model, frame.v, guess))
        else:
            q[frame.q] = _guessed(model, frame.v, guess)
    return q


def _guessed(model: Model, part: slice, guess: Mapping[str, Any]) -> Array:
    return np.array([float(guess.get(c.name, 0)) for c in model.mechanism.coordinates[part]])


@one_thread
def posture(model: Model, at: Mapping[str, float] | None = None, assembly: str | None = None) -> Array:
    """The undeformed, closed posture with the given joint values or platform pose; the rest comes from home.

    Of several closures it is the one that continues from home without a singular pose on the way; see `assembly`."""
    if not model.mechanism.closures:
        q = placed(model, start(model, assembly), idle_home(model))
        return placed(model, q, held_values(model, at or {}, q))
    home, problem = _known_home(model, assembly)
    if not at and problem is not None:
        raise problem
    if not at:
        return home.copy()
    held = held_values(model, at, home)
    asked = (home, list(held.items()))
    made = model.memory.solved("posture", asked, lambda: Answer({}, {"q": reached(model, home, held)}))
    return made.arrays["q"]


@one_thread
def postures(model: Model, names: Sequence[str], values: Array, assembly: str | None = None) -> list[Array | PoseError]:
    """What `posture` answers to each row (n, names) of joint values or platform poses, many times faster for many: closed
    postures, and in place of those that cannot be the errors that say why."""
    asked = [dict(zip(names, row.tolist(), strict=True)) for row in values]
    if not model.mechanism.closures:
        return [posture(model, at, assembly) for at in asked]
    home, _ = _known_home(model, assembly)
    held = [held_values(model, at, home) for at in asked]
    return all_reached(model, home, list(held[0]), np.array([list(h.values()) for h in held])) if held else []


def _known_home(model: Model, assembly: str | None) -> tuple[Array, PoseError | None]:
    known = _HOMES.setdefault(model, {})
    if assembly not in known:
        made = model.memory.solved("home", (assembly,), lambda: _told(*_home(model, assembly)))
        problem = made.words["problem"]
        known[assembly] = made.arrays["q"], None if problem is None else PoseError(problem)
    return known[assembly]


def _told(q: Array, problem: PoseError | None) -> Answer:
    return Answer({"problem": None if problem is None else str(problem)}, {"q": q})


_HOMES: WeakKeyDictionary[Model, dict[str | None, tuple[Array, PoseError | None]]] = WeakKeyDictionary()


def _home(model: Model, assembly: str | None) -> tuple[Array, PoseError | None]:
    """The closed posture of the home pose; where that cannot be, the one next to the assembly guess, and why."""
    idle = idle_home(model)
    q = placed(model, start(model, assembly), idle)
    wanted = held_values(model, {}, q) or idle
    joints = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
    for held in (wanted | idle, wanted):  # a joint that nothing drives may be free of the others, or follow from them
        direct = close(model, placed(model, q, held), [i for i in joints if i not in held])
        if direct is not None:
            break
    if direct is not None:
        _check_idle(model, direct, idle)
        return direct, None
    shut = close(model, q, joints)
    if shut is None:
        raise PoseError(open_loop(model, q, "at the assembly guess of the file; change assembly: in the robot file"))
    try:
        return reached(model, shut, wanted), None
    except PoseError as problem:
        return shut, problem


def standing(model: Model, names: Iterable[str] = ()) -> list[int]:
    """Joints outside the loops that no actuator holds and that start where home or `names` says, not where they hang."""
    told = {*names, *(str(n) for n in model.mechanism.home)}
    return [model.index(n) for n in outside_loops(model.mechanism) if n in told]


def idle_home(model: Model) -> dict[int, float]:
    """Values that home gives to joints that nothing drives: where they stand, or in loops where they are expected."""
    passive = {c.name: i for i, c in enumerate(model.mechanism.coordinates) if c.kind == "passive"}
    return {passive[n]: float(x) for n, x in model.mechanism.home.items() if n in passive}


def _check_idle(model: Model, q: Array, idle: Mapping[int, float]) -> None:
    """A joint in a loop follows from the others: home may not say otherwise."""
    now = values(model, q)
    for i, x in idle.items():
        if abs(now[i] - x) > IDLE:
            raise PoseError(
                f"{model.mechanism.name}: home: {model.names[i]!r} follows from the other joints through the loops and is "
                f"{now[i]:.6g}, not {x:.6g}; leave it out, or give it as a rough value under assembly"
            )


def held_values(model: Model, at: Mapping[str, float], q: Array) -> dict[int, float]:
    """Velocity index -> value to hold, from what was asked and the home pose."""
    _check_asked(model, at)
    kinds = _kinds(model)
    asked = {k: float(v) for k, v in at.items()}
    if any(kinds[n] == "platform" for n in asked):
        held = _held_platform(model, asked, q)
    elif all(kinds[n] == "active" for n in asked):
        home = {n: float(x) for n, x in model.mechanism.home.items()}
        if any(kinds[n] == "platform" for n in home) and not asked:
            return held_values(model, {n: x for n, x in home.items() if kinds[n] == "platform"}, q)
        now = values(model, q)
        held = {n: home.get(n, float(now[i])) for i, n in enumerate(model.names) if kinds[n] == "active"} | asked
    else:
        held = asked
    return {model.names.index(n): x for n, x in held.items()}


def _kinds(model: Model) -> dict[str, str]:
    return {c.name: c.kind for c in model.mechanism.coordinates}


def _check_asked(model: Model, at: Mapping[str, float]) -> None:
    """A pose is asked for by names of joints, or of the platform."""
    names, kinds = model.names, _kinds(model)
    for name in at:
        if name not in names:
            close_names = get_close_matches(name, names, n=1)
            joints = [n for n in names if kinds[n] != "elastic"]
            hint = f"did you mean {close_names[0]!r}?" if close_names else f"it has: {', '.join(joints[:24])}"
            raise SuppleError(f"{model.mechanism.name} has no coordinate {name!r}; {hint}")
        if kinds[name] == "elastic":
            raise SuppleError(f"{name!r} is an elastic coordinate; a pose is given by joints or by the platform")


def _held_platform(model: Model, asked: dict[str, float], q: Array) -> dict[str, float]:
    """The platform coordinates to hold where some are asked for: the others stand as at home, else as they are."""
    kinds = _kinds(model)
    others = [n for n in asked if kinds[n] != "platform"]
    if others:
        first = next(n for n in asked if kinds[n] == "platform")
        raise SuppleError(f"give either the platform's pose ({first}, ...) or joint values ({others[0]}, ...), not both")
    now = values(model, q)
    rest = {n: float(now[i]) for i, n in enumerate(model.names) if kinds[n] == "platform"}
    rest |= {n: float(v) for n, v in model.mechanism.home.items() if kinds[n] == "platform"}
    return _solvable(model, rest | asked, asked)


def _solvable(model: Model, whole: dict[str, float], asked: dict[str, float]) -> dict[str, float]:
    """The platform coordinates to hold: all of a robot with as many actuators; else those that were asked, then those that
    `home` names, or, where those are more than there are actuators, those that were asked alone."""
    if len(model.active) >= len(whole):
        return whole
    named = asked | {n: x for n, x in whole.items() if n not in asked and n in model.mechanism.home}
    return named if len(named) <= len(model.active) else asked
