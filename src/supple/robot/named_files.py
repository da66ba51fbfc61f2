"""Files that files name: regular ones, not too large, and below the folder of the file that names them.

A robot from elsewhere may not make its reader open devices, wait at pipes, or show what lies outside its folder. Who trusts
it says so: `--allow-outside` on the command line, `allow_outside=True` or `with outside_allowed():` in Python.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from supple.errors import SuppleError

LARGEST_FILE = 200_000_000  # bytes of a file that a robot or motion file names
_TRUSTED: ContextVar[bool] = ContextVar("trusted", default=False)
_FOLDER: ContextVar[Path | None] = ContextVar("folder", default=None)  # in which files must lie at the moment

_NOTED: ContextVar[list[Path] | None] = ContextVar("noted", default=None)


@contextmanager
def outside_allowed() -> Iterator[None]:
    """Within it, robot and motion files that are read may name files outside their folder."""
    token = _TRUSTED.set(True)
    try:
        yield
    finally:
        _TRUSTED.reset(token)


def is_outside_allowed() -> bool:
    return _TRUSTED.get()


@contextmanager
def files_below(folder: Path, outside: bool) -> Iterator[None]:
    """Within it, `checked_file` refuses what lies outside the folder, links followed, unless `outside`."""
    token = _FOLDER.set(None if outside else folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


@contextmanager
def files_noted() -> Iterator[list[Path]]:
    """The files that `checked_file` lets pass within it; whoever notes around it notes them too."""
    seen: list[Path] = []
    token = _NOTED.set(seen)
    try:
        yield seen
    finally:
        _NOTED.reset(token)
        note_files(seen)


def note_files(paths: Iterable[Path]) -> None:
    """Files that something depends on, for whoever notes them."""
    noted = _NOTED.get()
    if noted is not None:
        noted.extend(paths)


def checked_file(path: Path, most: int = LARGEST_FILE) -> Path:
    """The path, if it is a regular file of a size that can be read, and lies where it may."""
    note_files([path])
    fault = file_fault(path, most)
    if fault is not None:
        raise SuppleError(f"{path.name}: {fault}")
    return path


def file_fault(path: Path, most: int = LARGEST_FILE) -> str | None:
    """Why a file is not read, or None."""
    folder = _FOLDER.get()
    try:
        if folder is not None and not path.resolve().is_relative_to(folder.resolve()):
            return "lies outside the folder of the file that names it; move it there, or use --allow-outside"
        found = path.stat()
    except FileNotFoundError:
        return f"no such file; it is looked for in {path.parent}"
    except (OSError, ValueError, RuntimeError) as error:  # of paths: too long, with a zero byte, links in a circle
        return f"cannot be read: {getattr(error, 'strerror', None) or 'it is no path of a file'}"
    if stat.S_ISDIR(found.st_mode):
        return "is a folder; name a file in it"
    if not stat.S_ISREG(found.st_mode):
        return "is a device or a pipe; name a regular file"
    if found.st_size == 0:
        return "is empty"
    if found.st_size > most:
        return f"has {found.st_size / 1e6:.0f} MB; at most {most / 1e6:.0f} MB are read"
    return None


def first_bytes(path: Path, most: int) -> bytes:
    """The first bytes of a regular file; anything else raises OSError, without waiting at pipes."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "it is a device or a pipe; give a regular file", str(path))
        return stream.read(most)
