"""Entries of a robot file as they are used: template entries once per leg, numbers in place of quantities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.robot.description import RobotFile
from supple.robot.reader import Description
from supple.robot.values import Scope, leg_scope, resolve, varied_bodies
from supple.robot.yaml_tree import Path_


@dataclass(frozen=True)
class Entry:
    """A part of the file under its full name (leg2/rod), with the leg it belongs to."""

    name: str
    part: Any
    path: Path_
    leg: str = ""
    template: str = ""


class EntryError(Exception):
    """Something wrong with the entry at hand; the rest of the file is still looked at."""


def entries(description: Description, section: str) -> list[Entry]:
    """Entries of a section outside the legs, then those of every leg."""
    robot, scope = description.robot, Scope(description.tree)
    made = []
    for name, part in getattr(robot, section).items():
        here: Path_ = (section, name)
        made.append(Entry(name, resolve(part, description.parameters, here, scope), here))
    for template, leg in robot.legs.items():
        for index in range(leg.count):
            known = leg_scope(robot, template, index, description.parameters, scope)
            prefix = f"{template}{index + 1}"
            for name, part in getattr(leg, section).items():
                path = ("legs", template, section, name)
                own = _with_body(resolve(part, known, path, scope), robot, template, index)
                made.append(Entry(f"{prefix}/{name}", own, path, prefix, template))
    return made


def _with_body(part: Any, robot: RobotFile, leg: str, index: int) -> Any:
    """A link with the body of its leg, if that is varied."""
    named = getattr(part, "body", None)
    found = varied_bodies(robot, leg, named) if isinstance(named, str) else None
    return part if found is None else part.model_copy(update={"body": found[index]})


def resolved(description: Description, section: str) -> Any:
    """A section outside the legs with numbers in place of quantities."""
    return resolve(getattr(description.robot, section), description.parameters, (section,), Scope(description.tree))
