"""The robot with its sensors on: their places as named points, their masses as bodies, and their rows over velocities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import RobotFileError
from supple.machine import Machine
from supple.measured.parametric import Shifted
from supple.measured.test import Channel, Test, springs
from supple.model.algebra import Array
from supple.model.model import Model
from supple.robot.description import Link, Point
from supple.robot.mechanism import Mechanism

_MASS = "mass-of-{}"


def instrumented(robot: Machine, test: Test) -> Machine:
    """The robot with a point for every sensor and exciter of a test, and the masses of the sensors."""
    source = robot.source
    points, links = dict(source.robot.points), dict(source.robot.links)
    places = {**test.written.sensors, **test.written.exciters}
    for name, part in places.items():
        if getattr(part, "joint", None) is not None:
            continue
        where = _where(robot, part)
        points[name] = Point.model_validate(where)
        for c in (c for c in test.outputs if c.place == name and c.gauge):
            beyond = (np.array([float(x) for x in where["at"]]) + c.gauge * c.vector).tolist()
            points[c.end] = Point.model_validate(where | {"at": beyond})
        mass = float(getattr(part, "mass", 0))
        if mass > 0:
            held = {"parent": where["link"], **{k: x for k, x in where.items() if k != "link"}}
            links[_MASS.format(name)] = Link.model_validate(held | {"joint": "fixed", "body": {"rigid": {"mass": mass}}})
    changed = replace(source, robot=source.robot.model_copy(update={"points": points, "links": links}))
    try:
        made = Machine(changed, robot.settings, robot.keep)
        made.mechanism()
    except RobotFileError as error:
        raise RobotFileError([_at_home(problem, test) for problem in error.problems]) from error
    return made


def _where(robot: Machine, part: Any) -> dict[str, Any]:
    """link, at and on of a sensor, in the words of a robot file."""
    if part.point is not None:
        written = robot.source.robot.points.get(part.point)
        if written is None:  # a point of a leg
            template, _, own = part.point.partition("/")
            leg = next(x for k, x in robot.source.robot.legs.items() if template.startswith(k) and own in x.points)
            written = leg.points[own]
            return {"link": f"{template}/{written.link}", **_given(written)}
        return {"link": written.link, **_given(written)}
    return {"link": part.link, **_given(part)}


def _given(part: Any) -> dict[str, Any]:
    at = None if part.at is None else [x if hasattr(x, "text") else float(x) for x in part.at]
    turned = part.rotate if isinstance(part, Point) else None  # a sensor's own turn is in its channels
    return {k: x for k, x in (("at", at), ("on", part.on), ("rotate", turned)) if x is not None}


def _at_home(problem: str, test: Test) -> str:
    """A problem of a point or a mass, at its place in the test file."""
    for section in ("sensors", "exciters"):
        for name in getattr(test.written, section):
            for place in (f"points.{name}: ", f"links.{_MASS.format(name)}: "):
                _, found, text = problem.partition(place)
                if found:
                    return test.tree.problem((section, name), text)
    return problem


def rows_of(model: Model, q: Array, channels: Sequence[Channel], motions: Array) -> Array:
    """Displacements along channels (rows) of motions (columns of generalised velocities)."""
    made = np.zeros((len(channels), motions.shape[1]))
    for row, channel in enumerate(channels):
        if channel.joint is not None and not channel.force:
            made[row] = motions[model.index(channel.joint)]
    found = model.call("points", q=q, v=motions.T) if any(c.joint is None for c in channels) else {}
    return made + _seen(model.mechanism, channels, motions, found, model.body_stiffness)


def row_slopes(shifted: Shifted, channels: Sequence[Channel], motions: Array) -> Array:
    """Derivatives of `rows_of` along a shift, for motions that stay."""
    model, found, moved = shifted.model, {}, {}
    if any(c.joint is None for c in channels):
        found = model.call("points", q=shifted.q, v=motions.T)
        moved = shifted.call("points", v=motions.T)
    made = _seen(model.mechanism, channels, motions, found | {"velocity": moved.get("velocity")}, shifted.body_stiffness)
    turning = [replace(c, joint="", force=False) if not c.in_link else c for c in channels]  # others do not turn
    return made + _seen(model.mechanism, turning, motions, found | {"rotation": moved.get("rotation")}, None)


def _seen(
    mechanism: Mechanism, channels: Sequence[Channel], motions: Array, found: Mapping[str, Any],
    stiffness: Callable[[int], Array] | None,
) -> Array:  # fmt: skip
    """Rows of channels at places, by velocities and rotations of points, and of springs by their stiffness."""
    made = np.zeros((len(channels), motions.shape[1]))
    if not motions.shape[1]:
        return made
    places = {name: k for k, name in enumerate(mechanism.points)}
    for row, channel in enumerate(channels):
        if channel.force and stiffness is not None:
            frame, own = springs(mechanism)[str(channel.joint)]
            made[row] = stiffness(frame)[own] @ motions[mechanism.frames[frame].ev]
        if channel.joint is not None:
            continue
        k = places[channel.place]
        turned = found["rotation"].reshape(-1, *found["rotation"].shape[-3:])[0, k] if channel.in_link else np.eye(3)
        moved = found["velocity"][:, k]
        if channel.gauge:
            moved = (found["velocity"][:, places[channel.end]] - moved) / channel.gauge
        made[row] = moved @ (turned @ channel.vector)
    return made
