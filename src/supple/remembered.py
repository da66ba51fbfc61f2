"""What was derived and compiled, kept by the question that it answers: signed files in the user's private folder.

A question is a text of all that the answer depends on, the source of supple included. A file counts only with its signature,
so what is cut short or foreign is not read; files appear by one rename, so processes may race. They stand on shelves, by the
first digits of their names, so that looking for one does not mean looking at all. The folder stays below a size: what was
not used for longest goes first.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.delivery import scratch
from supple.errors import SuppleError
from supple.private import keyed, not_private, private_folders, signature

LARGEST = 1000.0  # MB of the folder, unless SUPPLE_CACHE_SIZE says so
_RECORD = ".npz"
_WORDS = "words"
_USED = 3600.0  # s after which a use is noted anew
_ROOMS = (
    "expr",
    "robot",
    "formulations",
    "backends",
    "model",
    "motion",
    "simulation",
    "core",
    "live",
)  # that answers come from
_SUFFIXES = (".py", ".h", ".c", ".toml")
_pruned: set[Path] = set()

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """A record of words (as JSON has them) and arrays of numbers."""

    words: Mapping[str, Any]
    arrays: Mapping[str, Array]


@cache
def source_digest() -> str:
    """What tells the sources of two versions apart, released or not."""
    ground = Path(__file__).parent
    files = [p for room in _ROOMS for p in (ground / room).rglob("*") if p.suffix in _SUFFIXES]
    files += ground.glob("*.py")
    made = hashlib.sha256()
    for path in sorted(files):
        made.update(str(path.relative_to(ground)).encode() + b"\0" + path.read_bytes())
    return made.hexdigest()


def key_of(*question: str) -> str:
    """The name of an answer: 32 digits of what the question and the sources are."""
    whole = "\0".join([source_digest(), np.__version__, *question])
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def recalled(key: str) -> Answer | None:
    """The answer of that key, if there is one that was made here and is whole."""
    path = kept_file(key, _RECORD)
    if path is None:
        return None
    with contextlib.suppress(OSError, ValueError, KeyError), np.load(path, allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
        return Answer(json.loads(arrays.pop(_WORDS).tobytes()), arrays)
    return None


def remember(key: str, words: Mapping[str, Any], arrays: Mapping[str, Array] | None = None) -> None:
    """Keep an answer, if there is a folder for it and JSON has its words."""
    stream = io.BytesIO()
    with contextlib.suppress(OSError, SuppleError, ValueError):
        text = np.frombuffer(json.dumps(words, allow_nan=False).encode(), np.uint8)
        np.savez(stream, allow_pickle=False, **{_WORDS: text, **(arrays or {})})
        folder = _folders()[-1]
        with scratch(keyed(folder)) as stage:
            made = stage / "record"
            made.write_bytes(stream.getvalue())
            final = keep_file(folder, key, _RECORD, made)
            for old in final.parent.glob(f"{key}-*{_RECORD}"):  # an earlier answer, of files that have changed since
                if old != final:
                    old.unlink(missing_ok=True)


def _folders() -> list[Path]:
    return private_folders()


def kept_file(key: str, suffix: str) -> Path | None:
    """The file of that key, if there is one that was made here and is whole; others are removed."""
    with contextlib.suppress(SuppleError):
        for folder in _folders():
            for path in sorted(_shelf(folder, key).glob(f"{key}-*{suffix}")):
                with contextlib.suppress(OSError):
                    if not_private(path) is None and path.name == file_name(folder, key, suffix, path.read_bytes()):
                        _note_use(path)
                        return path
                    path.unlink()
    return None


def keep_file(folder: Path, key: str, suffix: str, made: Path) -> Path:
    """The place of a file that was made in a scratch folder of `folder`, after it was moved there."""
    shelf = _shelf(folder, key)
    shelf.mkdir(mode=0o700, exist_ok=True)
    final = shelf / str(file_name(folder, key, suffix, made.read_bytes()))
    os.replace(made, final)
    if folder not in _pruned:
        _pruned.add(folder)
        prune(folder)
    return final


def _shelf(folder: Path, key: str) -> Path:
    """Where an answer stands; the folder itself in the place of a shelf that others own or may write."""
    shelf = folder / key[:2]
    if not os.path.lexists(shelf):
        return shelf
    return shelf if shelf.is_dir() and not shelf.is_symlink() and not_private(shelf) is None else folder


def file_name(folder: Path, key: str, suffix: str, content: bytes) -> str | None:
    signed = signature(folder, key.encode(), content)
    return None if signed is None else f"{key}-{signed[:32]}{suffix}"


def _note_use(path: Path) -> None:
    now = time.time()
    if now - path.stat().st_mtime > _USED:
        os.utime(path, (now, now))


def entries(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """What is kept in a folder, what was not used for longest first."""
    found = []
    for path in (*folder.glob("*-*.*"), *folder.glob("??/*-*.*")):  # some of earlier versions have no shelf
        with contextlib.suppress(OSError):
            found.append((path, path.lstat()))
    return sorted(found, key=lambda one: one[1].st_mtime)


def largest() -> float:
    """Bytes that a folder may hold."""
    given = os.environ.get("SUPPLE_CACHE_SIZE", "").strip()
    try:
        wanted = float(given) if given else LARGEST
    except ValueError:
        wanted = -1.0
    if not 0 <= wanted < 1e9:
        raise SuppleError(f"SUPPLE_CACHE_SIZE is {given!r}; give a number of MB, for example 1000")
    return 1e6 * wanted


def prune(folder: Path, room: float | None = None) -> int:
    """How many files were removed to keep a folder below its size (`room` in bytes), those used last longest ago first."""
    room = largest() if room is None else room
    kept = entries(folder)
    size, removed = sum(found.st_size for _, found in kept), 0
    for path, found in kept:
        if size <= room:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            size -= found.st_size
            removed += 1
    return removed


def summary(*, clear: bool = False) -> dict[str, Any]:
    """The folder, its size by kind of file, and what it may grow to; `clear` empties it first."""
    folder = _folders()[-1]
    removed = prune(folder, 0.0) if clear else 0
    kinds: dict[str, dict[str, int]] = {}
    for path, found in entries(folder):
        entry = kinds.setdefault("derived" if path.suffix == _RECORD else "compiled", {"files": 0, "bytes": 0})
        entry["files"] += 1
        entry["bytes"] += found.st_size
    return {"folder": str(folder), "largest_bytes": largest(), "kinds": kinds, "removed": removed}
