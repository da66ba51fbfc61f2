"""Files that appear whole or not at all, and scratch folders; what a killed run left of them is removed by the next one.

Files are made in a scratch folder beside their place, stored to the disk, and renamed. A scratch folder is locked while
somebody uses it: one that nobody locks was left behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from supple.errors import SuppleError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MARK = ".supple-"
_STALE = 86_400.0  # s after which a folder that cannot be locked here counts as left behind


def written_whole(path: Path, write: Callable[[Path], Any]) -> Path:
    """The path, after `write` has made a file of its name elsewhere and it was put in its place in one step."""
    try:
        return store(path.parent, {path.name: write})[0]
    except OSError as problem:
        raise SuppleError(f"{path} cannot be written: {problem.strerror or problem}") from problem


def store(folder: Path, writers: Mapping[str, Callable[[Path], Any]]) -> list[Path]:
    """The paths of files in `folder`, made if need be: all of them or none, and no trace of those that failed.

    Each of `writers` is called with the path that it has to write to."""
    paths = [folder / name for name in writers]
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            if path.is_dir():
                raise IsADirectoryError(0, f"{path.name} is a folder")
            if path.exists() and not path.is_file():
                raise FileExistsError(0, f"{path.name} is a pipe or a device, which no file replaces")
        with scratch(folder) as stage:
            for name, write in writers.items():
                write(stage / name)
                _settle(stage / name)
            for path in paths:
                os.replace(stage / path.name, path)
    except BaseException:
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()
        raise
    return paths


def _settle(file: Path) -> None:
    """Wait until the disk has the file."""
    with open(file, "r+b") as made:
        os.fsync(made.fileno())


@contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """A new folder in `parent` (usually that for temporary files) that only its user may enter; removed at the end."""
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    _sweep(parent)
    folder, lock = _locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _unlock(lock)


def _locked_folder(parent: Path) -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_MARK, dir=parent))
        lock = _lock(folder, wait=True)
        if folder.is_dir():  # else another run took it for left behind, just before it was locked
            return folder, lock
        _unlock(lock)


def _lock(folder: Path, wait: bool) -> int | None:
    """A handle that locks a folder until it is closed or its process ends; None where folders cannot be locked.

    Raises BlockingIOError if another has locked it and we do not wait."""
    if fcntl is None:
        return None
    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as problem:
        _unlock(handle)
        if isinstance(problem, BlockingIOError):
            raise
        return None
    return handle


def _unlock(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)


def _sweep(parent: Path) -> None:
    """Remove our scratch folders that nobody uses any more."""
    for folder in parent.glob(f"{_MARK}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
                continue
            lock = _lock(folder, wait=False)
            if lock is not None or time.time() - found.st_mtime > _STALE:
                shutil.rmtree(folder, ignore_errors=True)
            _unlock(lock)
