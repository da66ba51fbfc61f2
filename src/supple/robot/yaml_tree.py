"""A YAML text as plain dicts, lists and exact numbers, with the line of every key and value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from supple.errors import RobotFileError

LARGEST = 2_000_000  # bytes; numbers in bulk belong in files of their own
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
_NODES = 200_000

Path_ = tuple[Any, ...]


@dataclass
class Tree:
    """The file's content and where each part of it stands."""

    file: str
    value: Any = None
    lines: dict[Path_, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def line(self, path: Path_) -> int:
        """The line of a path, or of its nearest ancestor that stands in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem(self, path: Path_, text: str) -> str:
        place = ".".join(str(p) for p in path)
        return f"{self.file}:{self.line(path)}: {place + ': ' if place else ''}{text}"


def read_text(path: Path) -> str:
    """The text of a robot file, or a clear error for what is not one."""
    shown = str(path)
    try:
        if path.is_dir():
            raise RobotFileError([f"{shown}: is a directory; give the path of a robot file (.yaml)"])
        size = path.stat().st_size
        if size > LARGEST:
            raise RobotFileError(
                [f"{shown}:1: has {size / 1e6:.1f} MB; a robot file is text of at most {LARGEST / 1e6:.0f} MB"]
            )
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise RobotFileError([f"{shown}: no such file; 'supple robots' lists the gallery"]) from error
    except UnicodeDecodeError as error:
        raise RobotFileError([f"{shown}:1: is not UTF-8 text (byte {error.start}); save it as UTF-8"]) from error
    except OSError as error:
        raise RobotFileError([f"{shown}: cannot be read: {error.strerror}"]) from error
    return text


def read_tree(text: str, file: str) -> Tree:
    """The content of a YAML text. Problems that leave the rest readable are collected in the tree."""
    tree = Tree(file)
    try:
        root = YAML(typ="safe", pure=True).compose(text)
        if root is None:
            raise RobotFileError([f"{file}:1: is empty; 'supple schema' shows what a robot file holds"])
        _Builder(tree).build(root, ())
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else f"{file}:1"
        raise RobotFileError([f"{where}: is not valid YAML: {_one_line(error.problem or error.context)}"]) from error
    except (YAMLError, ValueError) as error:
        raise RobotFileError([f"{file}:1: is not valid YAML: {_one_line(str(error))}"]) from error
    except RecursionError as error:
        raise RobotFileError([f"{file}:1: is nested too deeply"]) from error
    return tree


class _Builder:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.count = 0

    def build(self, node: Node, path: Path_) -> None:
        self.tree.value = self.converted(node, path)

    def converted(self, node: Node, path: Path_) -> Any:
        self.count += 1
        if self.count > _NODES:
            raise RobotFileError([f"{self.tree.file}:1: holds more than {_NODES} values; put bulk data in its own file"])
        self.tree.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, ScalarNode):
            return scalar(node)
        if isinstance(node, SequenceNode):
            return [self.converted(child, (*path, i)) for i, child in enumerate(node.value)]
        assert isinstance(node, MappingNode)
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value) if isinstance(key_node, ScalarNode) else None
            line = key_node.start_mark.line + 1
            if key is None:
                self.tree.problems.append(f"{self.tree.file}:{line}: a key must be a plain name")
                continue
            here = (*path, key)
            if key in made:
                first = self.tree.lines[here]
                place = ".".join(map(str, here))
                self.tree.problems.append(
                    f"{self.tree.file}:{line}: {place}: is given twice (first in line {first}); remove one"
                )
                continue
            self.tree.lines[here] = line
            made[key] = self.converted(value_node, here)
        return made


def scalar(node: ScalarNode) -> Any:
    """Text, an exact number, a truth value or None, by the rules of YAML 1.2."""
    text = node.value
    if node.style is not None:
        return text
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        value = Fraction(text)
        if not math.isfinite(float(value)) if abs(value) < Fraction(10) ** 308 else True:
            return text
        return int(value) if value.denominator == 1 else value
    return text


def _one_line(text: str | None) -> str:
    return " ".join((text or "cannot be read").split())[:200]
