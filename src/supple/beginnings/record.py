"""`Brought`: a robot of another program as plain data of a robot file, and what it does not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supple.errors import SuppleError
from supple.robot.yaml_tree import full_tree, printable, read_text

ADDED = ("gravity", "parameters", "materials", "sections", "damping", "bodies", "platform", "links", "closures", "actuators",
         "points", "assembly", "home", "motions")  # fmt: skip


@dataclass(frozen=True)
class Brought:
    """Parts of a robot file, and in words what is missing or was left out."""

    robot: dict[str, Any]
    missing: list[str] = field(default_factory=list)


def text_of(path: Path, most: int = 5_000_000) -> str:
    """The text of a file of another program, in UTF-8 and not too long."""
    if path.is_file() and path.stat().st_size > most:
        raise SuppleError(f"{printable(str(path))}: is longer than {most // 1_000_000} MB")
    return read_text(path)


def added(brought: Brought, loops: Path, leg: bool = False) -> Brought:
    """The robot with the parts of a loop file: closures, actuators, points, assembly and more, as in a robot file; under
    `leg` those of the template."""
    tree = full_tree(text_of(loops), printable(str(loops)))
    if not isinstance(tree.value, dict):
        raise SuppleError(f"{printable(str(loops))}: holds no parts of a robot file, such as closures:")
    if tree.problems:
        raise SuppleError("\n".join(tree.problems))
    made = dict(brought.robot)
    for key, part in tree.value.items():
        if key == "leg" and leg and isinstance(part, Mapping):
            template = dict(made["legs"]["leg"])
            made["legs"] = {"leg": template | {k: _joined(template.get(k), v) for k, v in part.items()}}
        elif key in ADDED:
            made[key] = _joined(made.get(key), part)
        else:
            raise SuppleError(f"{printable(str(loops))}: does not take {printable(str(key))!r}; it takes {', '.join(ADDED)}")
    return Brought(made, [m for m in brought.missing if not m.startswith("closures of loops")])


def _joined(before: Any, after: Any) -> Any:
    return {**before, **after} if isinstance(before, Mapping) and isinstance(after, Mapping) else after
