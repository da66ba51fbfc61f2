"""The quick reader of usual YAML gives what the full parser gives, on whole and on damaged files, or leaves it to that."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.formats import FORMATS, mutant
from supple.errors import RobotFileError
from supple.robot.yaml_quick import quick_tree
from supple.robot.yaml_tree import full_tree, read_tree, scalar

USUAL = """\
# a comment
name: a robot  # another
text: >
  folded
  lines: of # it
list:
- 1
- {a: [1, -2.5e3, 'x: y'], "b": "say \\"no\\"\\n"}
- key: value
  other:
    - deep
    -   - nested
        - lists
empty:
quoted key: 'it'
brackets: [[1, 2],   # over
   [3, 4]]
last: -x
"""
LEFT = [
    "a: &x 1", "a: !t 1", "a: *x", "a: b\n  c", "a: 1\na: 2", "a:\t1", "? a", "- - 1\n  -2", "a: {b}", "a: [1, ]",
    "--- 1", "a: 'b''c'", "a: \"\\u00e9\"", "a: b: c", "a: >-\n  x\n", "a: >\n  x\n\n  y\n", "{a: 1} b", "a: [1\n", "",
    "a: {b:1}", " a: 1", "a: 1\n b: 2", "- a\nb", "a: |\n  x\n   y\n", "a: [b: 1]", "'a: 1", "a: @x", "a: \u2028",
]  # fmt: skip


def both(text: str) -> tuple[object, object]:
    """What the quick reader says, None if nothing; and what the full one says, None if it refuses."""
    quick = quick_tree(text, scalar)
    try:
        full = full_tree(text, "f")
    except RobotFileError:
        return quick, None
    return quick, (full.value, full.lines) if not full.problems else None


def test_usual_files_are_read_quickly() -> None:
    quick, full = both(USUAL)
    assert quick == full and quick is not None
    tree = read_tree(USUAL, "f")
    assert tree.value["list"][2]["other"] == ["deep", ["nested", "lists"]] and tree.value["empty"] is None
    assert tree.lines["list", 1, "a", 2] == 8 and tree.lines["brackets", 1] == 17


@pytest.mark.parametrize("text", LEFT)
def test_unusual_files_are_left_to_the_full_parser(text: str) -> None:
    assert quick_tree(text, scalar) is None


@pytest.mark.parametrize("name", ["robots", "motions", "tests"])
def test_quick_and_full_agree_on_whole_and_damaged_files(name: str, tmp_path: Path) -> None:
    whole = [s.path.read_bytes() for s in FORMATS[name].seeds(tmp_path)]
    for content in whole:
        quick, full = both(content.decode())
        assert quick == full and quick is not None
    answered = 0
    for k in range(100):
        quick, full = both(mutant(FORMATS[name], whole, 5, k).content.decode(errors="replace"))
        assert quick is None or quick == full, k
        answered += quick is not None
    assert answered > 40
