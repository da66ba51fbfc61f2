"""Robot files with fitted values, and with parameters of their own for every leg; comments and order of the file stay."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.machine import Machine
from supple.robot.yaml_tree import read_text

_WRITTEN = re.compile(r"\s*([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?)\s*([A-Za-z%].*)?", re.ASCII)


def with_legs_apart(robot: Machine, apart: Mapping[str, Sequence[str]]) -> tuple[str, list[str]]:
    """The robot file's text in which parameters differ from leg to leg (leg -> parameters), and the names they get there."""
    tree = _loaded(read_text(Path(robot.source.tree.file)))
    names: list[str] = []
    for leg, parameters in apart.items():
        template = robot.source.robot.legs.get(leg)
        if template is None:
            raise SuppleError(
                f"free @{leg}: {robot.name} has no leg {leg!r}; it has: {', '.join(robot.source.robot.legs) or 'none'}"
            )
        for name in parameters:
            if name not in tree.get("parameters", {}):
                raise SuppleError(f"{robot.name} has no parameter {name!r} to free for every leg")
            own = [f"{name}_{leg}{k + 1}" for k in range(template.count)]
            for each in own:
                tree["parameters"][each] = tree["parameters"][name]
            vary = tree["legs"][leg].setdefault("vary", CommentedMap())
            if name in vary:
                raise SuppleError(f"free {name}@{leg}: differs between legs already; free the parameters it is made of")
            vary[name] = CommentedSeq(own)
            names += own
    return _dumped(tree), names


def fitted_text(
    text: str, values: Mapping[str, float], before: Mapping[str, float], remarks: Mapping[str, str], head: str
) -> str:
    """A robot file's text with new values (SI) of parameters in the units that it uses, remarks beside them, and a head."""
    tree = _loaded(text)
    written = tree["parameters"]
    for name, value in values.items():
        entry = written[name]
        raw = entry["value"] if isinstance(entry, CommentedMap) else entry
        new = _in_units(raw, value, before[name])
        if isinstance(entry, CommentedMap):
            entry["value"] = new
        else:
            written[name] = new
        written.yaml_add_eol_comment(remarks[name], name)
    return "".join(f"# {line}\n" for line in head.splitlines()) + _dumped(tree)


def write_robot(path: Path, text: str) -> Path:
    """The path of a robot file, written whole."""
    return written_whole(path, lambda file: file.write_text(text, encoding="utf-8"))


def _in_units(raw: Any, value: float, before: float) -> Any:
    """A value as text in the unit of what stood there; a plain number in SI if that was no number with a unit."""
    found = _WRITTEN.fullmatch(str(raw))
    if found is None or float(found[1]) == 0:
        return float(f"{value:.9g}")
    number = float(f"{value * float(found[1]) / before:.9g}")
    return f"{number:.9g} {found[4]}" if found[4] else number


def _loaded(text: str) -> Any:
    made = YAML(typ="rt")
    made.preserve_quotes = True
    made.width = 125
    return made.load(text)


def _dumped(tree: Any) -> str:
    out = io.StringIO()
    made = YAML(typ="rt")
    made.preserve_quotes = True
    made.width = 125
    made.dump(tree, out)
    return out.getvalue()
