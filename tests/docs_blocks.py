"""Code blocks of the documentation: what they are, and how they are run as printed."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from supple.cli.main import main

ROOT = Path(__file__).parents[1]
BY_HAND = "<!-- by hand -->"
SKETCH = "<!-- a sketch -->"  # YAML that is no part of a file: values side by side, mistakes, dots
_COMMAND = re.compile(r"^(    |\$ |)(supple [a-z_]+ .*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, line, and whether it is run by hand only."""

    page: Path
    line: int
    language: str
    text: str
    by_hand: bool
    sketch: bool = False

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """The README and all pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    made, lines = [], page.read_text(encoding="utf-8").splitlines()
    begun: int | None = None
    for k, line in enumerate(lines):
        if line.startswith("```"):
            if begun is None:
                begun = k
            else:
                above = lines[begun - 1].strip() if begun > 0 else ""
                text = "\n".join(lines[begun + 1 : k])
                made.append(Block(page, begun + 1, lines[begun][3:].strip(), text, above == BY_HAND, above == SKETCH))
                begun = None
    return made


def commands(page: Path) -> list[tuple[int, str]]:
    """Lines of a page that call supple with a verb and something behind it; continued lines are joined."""
    found, lines = [], page.read_text(encoding="utf-8").splitlines()
    fenced = False
    for k, line in enumerate(lines):
        fenced ^= line.startswith("```")
        match = _COMMAND.match(line)
        if match and (match[1] or fenced):
            text, n = match[2], k
            while text.endswith("\\"):
                n += 1
                text = text[:-1] + " " + lines[n].strip()
            found.append((k + 1, text))
    return found


def indented(page: Path) -> list[Block]:
    """Commands that are printed by themselves, without a fence: too long for CI, run by bench/docs.py."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [Block(page, k, "sh", text, True) for k, text in commands(page) if lines[k - 1].startswith("    ")]


def words(command: str) -> list[str]:
    """Arguments of a printed command, without its remark."""
    return shlex.split(command, comments=True)[1:]


def run(block: Block, folder: Path, names: dict[str, object]) -> None:
    """Runs a block in a folder; `names` are what Python blocks of the page have made so far."""
    if block.language == "yaml":
        first = block.text.splitlines()[0]
        if first.startswith("# file: "):
            (folder / first.removeprefix("# file: ").strip()).write_text(block.text + "\n", encoding="utf-8")
        return
    before = Path.cwd()
    os.chdir(folder)
    try:
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, block.name, "exec"), names)
        elif block.language == "sh":
            for line in block.text.splitlines():
                found = CliRunner().invoke(main, words(line), catch_exceptions=False)
                assert found.exit_code == 0, f"{block.name}: {line}: {found.output}"
    finally:
        os.chdir(before)
