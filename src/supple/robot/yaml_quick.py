"""Usual YAML read quickly: blocks of keys and dashes, lists and maps in brackets, folded texts; ten times a full parser.

What is not certainly of that kind (anchors, tags, tabs, scalars over several lines, doubled keys, all that is wrong) is left
to the full parser: `quick_tree` answers None then. What it does answer is the same (tests/test_yaml_quick.py)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

Path_ = tuple[Any, ...]
Scalar = Callable[[str, bool], Any]  # of a text, and whether it stands there without quotes

_FIRST = r"(?:[^\s,:?\[\]{}#&*!|>'\"%@`=<-]|-(?=[\w.(]))"
_FLOW_PLAIN = re.compile(_FIRST + r"(?: *[^\s,:?\[\]{}#])*")
_BLOCK_PLAIN = re.compile(_FIRST + r"(?: *[^\s:?#])*")
_QUOTED = re.compile(r"'[^'\n]*'(?!')|\"(?:[^\"\\\n]|\\[n\"\\])*\"")
_ESCAPED = re.compile(r"\\(.)")
_KEY = re.compile(rf"({_FIRST}(?: *[^\s,:?\[\]{{}}#]){{0,99}}|'[^'\n]{{0,99}}'|\"[^\"\\\n]{{0,99}}\"):(?=[ \n]|$)")
_SPACE = re.compile(r"(?:[ \n]|(?<=[ \n])#[^\n]*)*")
_REST = re.compile(r" *(?:(?<= )#.*)?")  # of a line behind its value
_DOCUMENTS = re.compile(r"^(?:---|\.\.\.|%)", re.MULTILINE)
_DEEPEST, _MOST = 30, 20_000


class _Unsure(Exception):
    pass


def quick_tree(text: str, scalar: Scalar) -> tuple[Any, dict[Path_, int]] | None:
    """The content of a YAML text and the line of every part of it, or None if the text is not of the usual kind."""
    if not text.replace("\n", "").isprintable() or _DOCUMENTS.search(text):
        return None
    try:
        return _Quick(text, scalar).tree()
    except _Unsure:
        return None


class _Quick:
    """Lines of a text as (indent, content, place in the text); those of no content have the indent -1."""

    def __init__(self, text: str, scalar: Scalar) -> None:
        self.text, self.scalar = text, scalar
        self.lines: dict[Path_, int] = {}
        self.starts: list[int] = []
        self.rows: list[tuple[int, str]] = []
        at = 0
        for line in text.split("\n"):
            content = line.lstrip(" ")
            self.starts.append(at)
            self.rows.append((-1 if not content or content[0] == "#" else len(line) - len(content), content))
            at += len(line) + 1
        self.row = 0

    def tree(self) -> tuple[Any, dict[Path_, int]]:
        self.skip()
        if self.row == len(self.rows):
            raise _Unsure
        self.lines[()] = self.row + 1
        indent, content = self.rows[self.row]
        if content[0] in "{[":
            made = self.flow_line(self.starts[self.row] + indent, (), -1)
        elif indent == 0:
            made = self.sequence(0, ()) if content.startswith("- ") else self.mapping(0, ())
        else:
            raise _Unsure
        if self.row < len(self.rows) or len(self.lines) > _MOST:
            raise _Unsure
        return made, self.lines

    def skip(self) -> None:
        """Go to the next line that says something."""
        while self.row < len(self.rows) and self.rows[self.row][0] < 0:
            self.row += 1

    def deeper(self, indent: int) -> bool:
        return self.row < len(self.rows) and self.rows[self.row][0] > indent

    # Blocks -----------------------------------------------------------------------------------------------------------

    def mapping(self, indent: int, path: Path_) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while self.row < len(self.rows):
            here, content = self.rows[self.row]
            if here < indent:
                break
            found = _KEY.match(content)
            if here > indent or found is None:
                raise _Unsure
            key = _bare(found[1])
            if key in made or len(path) >= _DEEPEST:
                raise _Unsure
            self.lines[*path, key] = self.row + 1
            made[key] = self.value(content, found.end(), indent, (*path, key))
        return made

    def sequence(self, indent: int, path: Path_) -> list[Any]:
        made: list[Any] = []
        if len(path) >= _DEEPEST:
            raise _Unsure
        while self.row < len(self.rows):
            here, content = self.rows[self.row]
            if here != indent or not content.startswith("- "):
                break
            item = content[2:].lstrip(" ")
            column = indent + len(content) - len(item)
            own = (*path, len(made))
            self.lines[own] = self.row + 1
            if item.startswith("- ") or _KEY.match(item):
                self.rows[self.row] = (column, item)
                made.append(self.sequence(column, own) if item.startswith("- ") else self.mapping(column, own))
            elif not item or item[0] == "#":
                raise _Unsure
            else:
                made.append(self.value(content, len(content) - len(item), indent, own))
        return made

    def value(self, content: str, at: int, indent: int, path: Path_) -> Any:
        """What stands behind a key or a dash at a place of a line."""
        while at < len(content) and content[at] == " ":
            at += 1
        first = content[at : at + 1]
        if not first or first == "#":
            return self.nested(indent, path)
        if first in "{[":
            place = self.starts[self.row] + self.rows[self.row][0] + at
            return self.flow_line(place, path, indent)
        if first in ">|":
            return self.folded(content[at:], indent)
        found = _QUOTED.match(content, at) or _BLOCK_PLAIN.match(content, at)
        if found is None or not _REST.fullmatch(content, found.end()):
            raise _Unsure
        self.row += 1
        self.skip()
        if self.deeper(indent):  # a scalar that goes on
            raise _Unsure
        return self.scalar(_bare(found[0]), first not in "'\"")

    def nested(self, indent: int, path: Path_) -> Any:
        self.row += 1
        self.skip()
        here, content = self.rows[self.row] if self.row < len(self.rows) else (-1, "")
        if content.startswith("- ") and here >= indent:
            return self.sequence(here, path)
        if here <= indent:
            return None
        if content[0] in "{[":
            raise _Unsure
        return self.mapping(here, path)

    def folded(self, header: str, indent: int) -> str:
        """A text below > or |, all of its lines equally far in."""
        if header not in (">", "|") or not self.text.endswith("\n"):
            raise _Unsure
        self.row += 1
        texts: list[str] = []
        column = -1
        while self.row < len(self.rows):
            content = self.rows[self.row][1]
            end = self.starts[self.row + 1] - 1 if self.row + 1 < len(self.starts) else len(self.text)
            here = end - self.starts[self.row] - len(content)
            if not content or here <= indent or here < column:
                break
            if (texts and here != column) or content[-1] == " ":
                raise _Unsure
            column = here
            texts.append(content)
            self.row += 1
        self.skip()
        if not texts or self.deeper(indent):  # empty lines within it, or none at all
            raise _Unsure
        return (" " if header == ">" else "\n").join(texts) + "\n"

    # Brackets ---------------------------------------------------------------------------------------------------------

    def flow_line(self, at: int, path: Path_, indent: int) -> Any:
        """A bracket, behind which its line must say nothing more."""
        made, at = self.flow(at, path)
        self.row = bisect_right(self.starts, at - 1) - 1
        stop = self.text.find("\n", at)
        if not _REST.fullmatch(self.text, at, len(self.text) if stop < 0 else stop):
            raise _Unsure
        self.row += 1
        self.skip()
        if self.deeper(indent):
            raise _Unsure
        return made

    def flow(self, at: int, path: Path_) -> tuple[Any, int]:
        """A list, map or scalar at a place of the text, and the place behind it."""
        first = self.text[at : at + 1]
        if len(path) > _DEEPEST:
            raise _Unsure
        if first == "[":
            return self.flow_list(at + 1, path)
        if first == "{":
            return self.flow_map(at + 1, path)
        found = _QUOTED.match(self.text, at) or _FLOW_PLAIN.match(self.text, at)
        if found is None:
            raise _Unsure
        return self.scalar(_bare(found[0]), first not in "'\""), found.end()

    def flow_list(self, at: int, path: Path_) -> tuple[list[Any], int]:
        made: list[Any] = []
        at = self.space(at)
        if self.text[at : at + 1] == "]":
            return made, at + 1
        while True:
            own = (*path, len(made))
            self.lines[own] = bisect_right(self.starts, at)
            item, at = self.flow(at, own)
            made.append(item)
            at, ended = self.next(at, "]")
            if ended:
                return made, at

    def flow_map(self, at: int, path: Path_) -> tuple[dict[str, Any], int]:
        made: dict[str, Any] = {}
        at = self.space(at)
        if self.text[at : at + 1] == "}":
            return made, at + 1
        while True:
            found = _KEY.match(self.text, at)
            if found is None or (key := _bare(found[1])) in made:
                raise _Unsure
            own = (*path, key)
            self.lines[own] = bisect_right(self.starts, at)
            made[key], at = self.flow(self.space(found.end()), own)
            at, ended = self.next(at, "}")
            if ended:
                return made, at

    def next(self, at: int, close: str) -> tuple[int, bool]:
        """The place behind a comma and what follows it, or behind the closing bracket."""
        at = self.space(at)
        mark = self.text[at : at + 1]
        if mark == close:
            return at + 1, True
        if mark != "," or self.text[at + 1 : at + 2] not in (" ", "\n"):
            raise _Unsure
        return self.space(at + 1), False

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at


def _bare(text: str) -> str:
    """A scalar without its quotes."""
    if text[0] == '"' and "\\" in text:
        return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text[1:-1])
    return text[1:-1] if text[0] in "'\"" else text
