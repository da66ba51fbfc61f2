"""The robot with points all over it, to be hit at."""

from __future__ import annotations

from dataclasses import replace

from supple.machine import Machine
from supple.robot.description import Point
from supple.robot.mechanism import Mechanism

_MOST = 60  # points


def hit_points(robot: Machine) -> tuple[Machine, dict[str, str]]:
    """The robot with points at ends and middles of its beams and at its other links, and for every point that was added
    what it is called."""
    written = robot.source.robot
    mechanism = robot.mechanism() if not robot.keep else robot.keeping(()).mechanism()
    added: dict[str, Point] = {}
    names: dict[str, str] = {}
    for link, place in _places(mechanism)[: max(0, _MOST - len(mechanism.points))]:
        name = f"hit{len(added) + 1}"
        while name in mechanism.points:
            name += "-"
        added[name] = Point.model_validate({"link": link, **({"on": place} if place else {})})
        names[name] = f"{link} {place}".strip()
    changed = replace(robot.source, robot=written.model_copy(update={"points": {**written.points, **added}}))
    return Machine(changed, robot.settings, robot.keep), names


def _places(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Links and places on them, ends of beams first."""
    ends, others = [], []
    taken = {(a.frame, tuple(a.marker.position.astype(float))) for a in mechanism.points.values()}
    counts: dict[str, int] = {}
    for frame in mechanism.frames:
        counts[frame.link] = counts.get(frame.link, 0) + (frame.role == "link")
    for index, frame in enumerate(mechanism.frames):
        piece = mechanism.pieces.get(index)
        if frame.role != "link" or counts[frame.link] != 1:  # a link in several pieces has no one middle
            continue
        if piece is not None and piece.beam is not None:
            if (index, tuple(piece.section(1).position.astype(float))) not in taken:
                ends.append((frame.link, "end"))
            others.append((frame.link, "middle"))
        elif piece is None and frame.body.mass and (index, (0.0, 0.0, 0.0)) not in taken:
            ends.append((frame.link, ""))
    return [*ends, *others]
