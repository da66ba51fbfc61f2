"""A YAML text as plain dicts, lists and exact numbers, with the line of every key and value."""

from __future__ import annotations

import re
import unicodedata
import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from supple.errors import RobotFileError
from supple.robot.named_files import first_bytes
from supple.robot.yaml_quick import quick_tree

LARGEST_TEXT = 200_000  # bytes; numbers in bulk belong in files of their own
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)
_DIGITS = 300  # characters of a number; longer ones stay text
_NODES = 40_000
_DEEPEST = 40  # lists and keys inside each other
_BIDIRECTIONAL = {
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
}  # characters that reverse the text around them

Path_ = tuple[Any, ...]


@dataclass
class FileTree:
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

    def at(self, path: Path_) -> Any:
        """The part of the file at a path, or None."""
        here = self.value
        for part in path:
            here = here.get(part) if isinstance(here, dict) else None
        return here

    def problem(self, path: Path_, text: str, line: int | None = None) -> str:
        place = ".".join(printable(str(p)) for p in path)
        return f"{self.file}:{line or self.line(path)}: {place + ': ' if place else ''}{text}"


def read_text(path: Path) -> str:
    """The text of a robot file, or a clear error for what is not one."""
    file = printable(str(path), most=1000)
    try:
        if path.is_dir():
            raise RobotFileError([f"{file}:1: is a directory; give the path of a robot file (.yaml)"])
        data = first_bytes(path, LARGEST_TEXT + 1)
    except FileNotFoundError as error:
        raise RobotFileError([f"{file}:1: no such file; 'supple robots' lists the gallery"]) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RobotFileError([f"{file}:1: cannot be read: {reason}"]) from error
    if len(data) > LARGEST_TEXT:
        most = f"{LARGEST_TEXT // 1000} kB"
        raise RobotFileError(
            [f"{file}:1: is larger than {most}; a robot file is text, bulk data go into files of their own"]
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RobotFileError([f"{file}:{line}: is not UTF-8 text (byte {error.start}); save it as UTF-8"]) from error


def printable(text: str, most: int = 70) -> str:
    """Text from a file as a message may show it: on one line, printable, not too long."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return safe if len(safe) <= most else safe[: most - 3] + "..."


def read_tree(text: str, file: str) -> FileTree:
    """The content of a YAML text. Problems that leave the rest readable are collected in the tree."""
    quick = quick_tree(text, scalar)
    return FileTree(file, *quick) if quick is not None else full_tree(text, file)


def full_tree(text: str, file: str) -> FileTree:
    """The content of a YAML text by a parser that knows all of YAML."""
    tree = FileTree(file)
    _check_depth(text, file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            root = YAML(typ="safe", pure=True).compose(text)
        if root is None:
            raise RobotFileError([f"{file}:1: is empty; 'supple schema' shows what a robot file holds"])
        _Builder(tree).build(root, ())
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else f"{file}:1"
        raise RobotFileError([f"{where}: is not valid YAML: {_one_line(error.problem or error.context)}"]) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise RobotFileError([f"{file}:{line}: is not valid YAML: holds a control character; remove it"]) from error
    except (YAMLError, ValueError) as error:
        raise RobotFileError([f"{file}:1: is not valid YAML: {_one_line(str(error))}"]) from error
    except RecursionError as error:
        raise RobotFileError([f"{file}:1: {_TOO_DEEP}"]) from error
    return tree


_TOO_DEEP = f"is nested too deeply; at most {_DEEPEST} lists and keys stand inside each other"


def _check_depth(text: str, file: str) -> None:
    """Refuses heaps of open brackets before the YAML parser, whose time grows with their square."""
    depth = 0
    for match in re.finditer(r"[\[{\]}]", text):
        depth = depth + 1 if match.group() in "[{" else max(depth - 1, 0)
        if depth > 5 * _DEEPEST:
            line = text.count("\n", 0, match.start()) + 1
            raise RobotFileError([f"{file}:{line}: {_TOO_DEEP}"])


class _Builder:
    def __init__(self, tree: FileTree) -> None:
        self.tree = tree
        self.count = 0

    def build(self, node: Node, path: Path_) -> None:
        self.tree.value = self.converted(node, path)

    def converted(self, node: Node, path: Path_) -> Any:
        self.count += 1
        line = node.start_mark.line + 1
        if self.count > _NODES:
            text = f"holds more than {_NODES} values; put bulk data in a file of its own"
            raise RobotFileError([f"{self.tree.file}:{line}: {text}"])
        if len(path) > _DEEPEST:
            raise RobotFileError([f"{self.tree.file}:{line}: {_TOO_DEEP}"])
        self.tree.lines.setdefault(path, line)
        if isinstance(node, ScalarNode):
            return self.readable(node, path)
        if isinstance(node, SequenceNode):
            return [self.converted(child, (*path, i)) for i, child in enumerate(node.value)]
        assert isinstance(node, MappingNode)
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode):
                self.tree.problems.append(self.tree.problem(path, "a key must be a plain name", line))
                continue
            key = str(key_node.value)
            here = (*path, key)
            if key in made:
                text = f"is given twice (first in line {self.tree.lines[here]}); remove one"
                self.tree.problems.append(self.tree.problem(here, text, line))
                continue
            self.tree.lines[here] = line
            made[key] = self.converted(value_node, here)
        return made

    def readable(self, node: ScalarNode, path: Path_) -> Any:
        """The scalar's value; control characters, half characters and reversed text are noted."""
        value = scalar(node.value, node.style is None)
        if isinstance(value, str) and any(_hidden(c) for c in value):
            self.tree.problems.append(self.tree.problem(path, "holds hidden control characters; remove them"))
            return printable(value, most=len(value) * 10)
        return value


def _hidden(c: str) -> bool:
    return (unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t") or ord(c) in _BIDIRECTIONAL


def scalar(text: str, plain: bool) -> Any:
    """Text, an exact number, a truth value or None, by the rules of YAML 1.2; quoted ones are text."""
    if not plain:
        return text
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if len(text) <= _DIGITS and _NUMBER.fullmatch(text):
        mantissa, _, exponent = text.lower().partition("e")
        if abs(int(exponent or 0)) > _DIGITS:
            return text
        value = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
        return int(value) if value.denominator == 1 else value
    return text


def _one_line(text: str | None) -> str:
    return " ".join((text or "cannot be read").split())[:200]
