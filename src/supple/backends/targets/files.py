"""Files written all or none: each appears by a rename after the last of them has been stored."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from supple.errors import SuppleError


def deliver(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """The paths of `texts` (file name -> ASCII text) in `folder`, made if need be; same names are replaced."""
    folder = Path(folder)
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _store(folder, texts)
    except OSError as problem:
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()
        reason = problem.strerror or str(problem)
        raise SuppleError(f"nothing was written to {folder}: {reason}; choose a folder that can be written") from problem


def _store(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    paths = [folder / name for name in texts]
    for path in paths:
        if path.is_dir():
            raise IsADirectoryError(0, f"{path.name} is a folder")
    with tempfile.TemporaryDirectory(prefix=".supple-", dir=folder) as stage:
        for name, text in texts.items():
            Path(stage, name).write_bytes(text.encode("ascii"))
        for path in paths:
            os.replace(Path(stage, path.name), path)
    return paths
