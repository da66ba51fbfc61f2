"""Control laws in files."""

from __future__ import annotations

from pathlib import Path

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results.control import Control


def save_control(found: Control, file: Path) -> Path:
    """The file that the law was written to."""
    if file.suffix.lower() != ".json":
        raise SuppleError(f"{file}: controllers are written to .json files")
    return written_whole(file, lambda path: path.write_text(found.text, encoding="utf-8"))
