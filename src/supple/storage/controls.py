"""Control laws in files."""

from __future__ import annotations

from pathlib import Path

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results.control import Control
from supple.results.tuning import Tuned


def save_control(found: Control, file: Path) -> Path:
    """The file that the law was written to."""
    if file.suffix.lower() != ".json":
        raise SuppleError(f"{file}: controllers are written to .json files")
    return written_whole(file, lambda path: path.write_text(found.text, encoding="utf-8"))


def save_tuned(found: Tuned, file: Path) -> Path:
    """The file that the lines for a motion file were written to."""
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise SuppleError(f"{file}: lines of a motion file are written to .yaml files")
    about = f"# {found.robot}: {found.best.about}, for a motion file\n"
    return written_whole(file, lambda path: path.write_text(about + found.text, encoding="utf-8"))
