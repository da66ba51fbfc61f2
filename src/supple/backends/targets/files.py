"""Files of a target written all or none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from supple.delivery import store
from supple.errors import SuppleError


def deliver(folder: Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """The paths of `contents` (file name -> ASCII text or bytes) in `folder`, made if need be; same names are replaced."""
    folder = Path(folder)
    try:
        return store(folder, {name: partial(_write, content) for name, content in contents.items()})
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise SuppleError(f"nothing was written to {folder}: {reason}; choose a folder that can be written") from problem


def _write(content: str | bytes, file: Path) -> None:
    file.write_bytes(content if isinstance(content, bytes) else content.encode("ascii"))
