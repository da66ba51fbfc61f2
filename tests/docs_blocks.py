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
_BY_HAND = re.compile(r"<!-- by hand: (.+) -->$")  # above a block that CI does not run, with the reason
_SKETCH = "<!-- a sketch"  # YAML that is no part of a sound file: values side by side, mistakes, dots
_FILE = re.compile(r"(?:<!-- file: |<!-- a sketch: |# file: )(\S+)(?: -->)?$")  # above a block of YAML, or its first line
_COMMAND = re.compile(r"^(    |\$ |)(supple [a-z_]+ .*)$")


@dataclass(frozen=True)
class Block:
    """A fenced or indented block: its language, text, line, and why it is run by hand only, if it is."""

    page: Path
    line: int
    language: str
    text: str
    by_hand: str = ""
    sketch: bool = False
    file: str = ""  # that it is saved as

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """The README and all pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, and the indented ones with commands in them."""
    made, lines = [], page.read_text(encoding="utf-8").splitlines()
    begun: int | None = None
    for k, line in enumerate(lines):
        if line.startswith("```"):
            if begun is None:
                begun = k
            else:
                made.append(_block(page, lines, begun, k, lines[begun][3:].strip()))
                begun = None
        elif begun is None and line.startswith("    ") and not lines[k - 1].strip():
            end = next((n for n in range(k, len(lines)) if not lines[n].startswith("    ")), len(lines))
            if any(_COMMAND.match(x) for x in lines[k:end]):
                made.append(_block(page, lines, k - 1, end, "sh"))
    return made


def _block(page: Path, lines: list[str], above: int, end: int, language: str) -> Block:
    """Lines between two others; what is said of them stands before."""
    said = lines[above - 1].strip() if above > 0 else ""
    reason = _BY_HAND.match(said)
    text = "\n".join(line.removeprefix("    " if language == "sh" else "") for line in lines[above + 1 : end])
    file = _FILE.match(said) or _FILE.match(lines[above + 1])
    sketch = said.startswith(_SKETCH)
    return Block(page, above + 1, language, text, reason[1] if reason else "", sketch, file[1] if file else "")


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


def words(command: str) -> list[str]:
    """Arguments of a printed command, without its remark."""
    return shlex.split(command, comments=True)[1:]


def run(block: Block, folder: Path, names: dict[str, object]) -> None:
    """Runs a block in a folder; `names` are what Python blocks of the page have made so far."""
    if block.file:
        (folder / block.file).write_text(block.text + "\n", encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, block.name, "exec"), names)
        elif block.language == "sh":
            for line in re.sub(r"\\\n\s*", " ", block.text).splitlines():
                if line.startswith("supple "):  # not another program, or what supple prints
                    found = CliRunner().invoke(main, words(line), catch_exceptions=False)
                    assert found.exit_code == 0, f"{block.name}: {line}: {found.output}"
        elif not block.language:
            for session in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                _check_session(block.name, *session.partition("\n")[::2])
    finally:
        os.chdir(before)


def _check_session(where: str, command: str, printed: str) -> None:
    """The command prints what stands below it, line by line; dots stand for more."""
    if not command.startswith("supple "):
        return
    found = CliRunner().invoke(main, words(command), catch_exceptions=False)
    assert found.exit_code in (0, 2), f"{where}: {command}: {found.output}"
    output, at = " ".join(found.output.split()), 0
    for piece in re.split(r"\.\.\.|\n", printed):
        asked = " ".join(piece.split())
        assert asked in output[at:], f"{where}: {command}: {asked!r} is not printed (any more): {found.output}"
        at = output.index(asked, at) + len(asked)
