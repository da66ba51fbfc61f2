"""The user's own folder, which nobody else may write: compiled libraries, and the key that signs what is read back.

Whatever another could have written is not trusted: the folder must be the user's, and a library or a checkpoint counts only
with a signature (HMAC-SHA256) by the key in it.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
import tempfile
import warnings
from pathlib import Path

from supple.delivery import scratch
from supple.errors import Makeshift, SuppleError

_KEY = "key"
_BYTES = 32
_told: set[str] = set()


def cache_directory() -> Path | None:
    """Where compiled libraries are to be kept: SUPPLE_CACHE, else the user's cache directory; None if there is no home."""
    try:
        if own := os.environ.get("SUPPLE_CACHE"):
            return Path(own).expanduser()
        if os.name == "nt":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "supple" / "cache"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple"
    except RuntimeError:  # nobody of that name, or no home
        return None


def private_folders() -> list[Path]:
    """Folders in which to look for what was kept; the last of them can be written.

    Usually the cache directory alone; where that cannot be written, a folder for temporary files too (said once).
    One that others own or may write is refused."""
    wanted = cache_directory()
    if wanted is None:
        return [_makeshift("there is no home directory")]
    try:
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
    except FileExistsError:
        raise SuppleError(f"{wanted} is no folder; set SUPPLE_CACHE to one for compiled code") from None
    except OSError as problem:
        return [_makeshift(f"{wanted}: {problem.strerror or problem}")]
    fault = not_private(wanted)
    if fault is not None:
        raise SuppleError(f"{wanted} {fault}, so compiled code is not kept there; {_cure(wanted)}")
    if os.access(wanted, os.W_OK | os.X_OK):
        return [wanted]
    return [wanted, _makeshift(f"{wanted} cannot be written")]


def not_private(folder: Path) -> str | None:
    """Why others could have put something into a folder or file, or None; links count as what they lead to."""
    if not hasattr(os, "geteuid"):
        return None  # Windows: folders of users are their own
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written by other users"
    return None


def _cure(folder: Path) -> str:
    return f"`chmod go-w {folder}` if you trust what is in it, or set SUPPLE_CACHE to a folder of your own"


def _makeshift(reason: str) -> Path:
    """A folder of the user's among those for temporary files, with a remark; the same one next time, if it is ours."""
    ground = Path(tempfile.gettempdir())
    folder = ground / f"supple-{os.geteuid()}" if hasattr(os, "geteuid") else ground / "supple"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700)
    if folder.is_symlink() or not folder.is_dir() or not_private(folder) is not None:
        folder = Path(tempfile.mkdtemp(prefix="supple-"))
    if reason not in _told:
        _told.add(reason)
        warnings.warn(
            f"compiled code is kept in {folder} until that is cleared ({reason}); set SUPPLE_CACHE to a folder of your own",
            Makeshift,
            stacklevel=2,
        )
    return folder


def signature(folder: Path, *parts: bytes) -> str | None:
    """The signature of `parts` by the key of a private folder, as 64 hexadecimal digits; None without key."""
    key = _key(folder)
    if key is None:
        return None
    made = hmac.new(key, digestmod="sha256")
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.hexdigest()


def signing_folder() -> Path:
    """The private folder whose key signs: the first that has one, else the last, in which one is made."""
    folders = private_folders()
    return next((folder for folder in folders if _key(folder) is not None), None) or keyed(folders[-1])


def keyed(folder: Path) -> Path:
    """The private folder, with a key in it."""
    if _key(folder) is None:
        _make_key(folder)
    return folder


def _key(folder: Path) -> bytes | None:
    file = folder / _KEY
    try:
        if not_private(file) is not None:
            return None
        found = file.read_bytes()
    except OSError:
        return None
    return found if len(found) == _BYTES else None


def _make_key(folder: Path) -> None:
    """Put a new key into a folder, unless another process is quicker."""
    with scratch(folder) as stage:
        made = stage / _KEY
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(secrets.token_bytes(_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(made, folder / _KEY)
        except OSError:  # one is there, or there are no links here
            if _key(folder) is None:
                os.replace(made, folder / _KEY)
