"""Names and values of a motion in the terms of its robot: coordinates, points, units, lines of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from supple.robot.fields import Q
from supple.robot.mechanism import Mechanism
from supple.robot.quantity import Value
from supple.robot.skeleton import PLANES
from supple.robot.values import Scope
from supple.robot.yaml_tree import FileTree, Path_

# dimensions of a channel, by the unit of its coordinate and the number of derivatives
LENGTH = ("length", "velocity", "acceleration", "jerk")
ANGLE = ("angle", "rate", "angular acceleration", "angular jerk")
WRENCH = {"fx": "force", "fy": "force", "fz": "force", "mx": "torque", "my": "torque", "mz": "torque"}


PointAtHome = Callable[[str, str | None], Sequence[float]]  # point, assembly mode -> its position at home


@dataclass(frozen=True)
class Setting:
    """Where a motion is read: the robot it moves, its file, and the problems found on the way."""

    mechanism: Mechanism
    plane: str
    parameters: Mapping[str, Value]
    scope: Scope
    folder: Path
    legs: Mapping[str, int] = field(default_factory=dict)  # leg template -> count
    at_home: PointAtHome | None = None

    @property
    def tree(self) -> FileTree:
        return self.scope.tree

    def note(self, path: Path_, text: str) -> None:
        self.scope.note(path, text)

    def number(self, quantity: Any, dimension: str, path: Path_) -> float:
        """The value of a quantity in SI; what does not fit is noted and stands as 1."""
        number = self.scope.value(quantity, Q(dimension), self.parameters, path).number
        try:
            return float(number)
        except (TypeError, ValueError):
            if number is not None:
                self.note(path, "must be a number, not a kept parameter")
            return 1.0

    def dimension(self, name: str, order: int = 0) -> str:
        """The dimension of a coordinate (or axis of a point) or of its derivative."""
        units = {c.name: c.unit for c in self.mechanism.coordinates}
        return (LENGTH if units.get(name, "m") == "m" else ANGLE)[order]

    def effort(self, actuator: str) -> str:
        return "force" if self.dimension(actuator) == "length" else "torque"

    def coordinates(self, *kinds: str) -> list[str]:
        return [c.name for c in self.mechanism.coordinates if c.kind in kinds]

    def axes(self) -> list[str]:
        """Axes in which a point moves: x y z, or the two of a planar robot's plane."""
        return list(PLANES[self.plane][:2]) if self.mechanism.planar else ["x", "y", "z"]

    def expanded(self, name: str, known: Iterable[str], what: str, path: Path_) -> list[str]:
        """The names a key stands for: itself, or those of all legs (leg/q1); what is unknown is noted."""
        names = list(known)
        if name in names:
            return [name]
        template, _, own = name.partition("/")
        legs = {f"{template}{k + 1}" for k in range(self.legs.get(template, 0))}
        matches = [n for n in names if own and n.partition("/")[2] == own and n.partition("/")[0] in legs]
        if not matches:
            self.note(path, f"{self.mechanism.name} has no {what} {name!r}; {hint(name, names, what)}")
        return matches

    def pose(
        self, values: Mapping[str, Any], known: Iterable[str], what: str, path: Path_, order: int = 0
    ) -> dict[str, float]:
        """Name -> number of a pose or of its rates."""
        names, made = list(known), {}
        for key, quantity in values.items():
            for name in self.expanded(key, names, what, (*path, key)):
                made[name] = self.number(quantity, self.dimension(name, order), (*path, key))
        return made


def hint(name: str, known: Iterable[str], what: str = "") -> str:
    names = list(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"it has: {', '.join(names[:12])}" + (", ..." if len(names) > 12 else "") if names else "it has none"
