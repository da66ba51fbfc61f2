"""C compilers found, run and remembered: a C text in, the path of a shared library out.

Libraries are kept under a per-user directory as KEY-CHECKSUM.so: the key says what was compiled, by what
and for which processor; the checksum says whether the file is whole. They appear by one atomic rename, so
processes may race and be killed at any moment.

Flags: -ffp-contract=off because a fused a*b - c*d is not zero where the interpreter's is (sqrt of -1e-17,
sign of 1e-17), and fusing gained nothing measurable. So every operation but sine and cosine gives the
interpreter's bits, on every processor and with any number of lanes; those two are within 2 units in the
last place.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from supple.errors import BackendError

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_LIBRARY = ("-shared", "-fvisibility=hidden") + (() if os.name == "nt" else ("-fPIC",))
_TUNING = (("-march=native",), ("-mcpu=native",), ())  # the first the compiler takes
_SUFFIX = ".dll" if os.name == "nt" else ".so"
_WORDS = 2000  # characters of a compiler's complaint worth showing
_PATIENCE = 900.0  # seconds for one compilation
_STALE = 86_400.0  # seconds after which an abandoned build directory is removed

Command = tuple[str, ...]


def find_compiler() -> Command | None:
    """The command of the C compiler: SUPPLE_CC, else cc, gcc, clang, else the ziglang wheel's, else None."""
    chosen = os.environ.get("SUPPLE_CC", "").strip()
    if chosen:
        return tuple(word.strip('"') for word in shlex.split(chosen, posix=os.name != "nt"))
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path:
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    return None


def cache_directory() -> Path:
    """Where compiled libraries are kept: SUPPLE_CACHE, else the user's cache directory."""
    if own := os.environ.get("SUPPLE_CACHE"):
        return Path(own).expanduser()
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "supple" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple"


def shared_library(source: str, flags: tuple[str, ...] = (), compiler: Command | None = None) -> Path:
    """The path of the shared library made of `source`, compiled now or taken from the cache."""
    compiler = compiler or find_compiler()
    if compiler is None:
        raise BackendError("no C compiler found: install gcc or clang, or `pip install ziglang`, or set SUPPLE_CC")
    tuning, identity = _identity(compiler)
    options = (*FLAGS, *tuning, *_LIBRARY, *flags)
    key = _digest("\0".join([source, *options, identity]).encode())
    folder = cache_directory()
    found = _cached(folder, key)
    return found if found is not None else _build(compiler, options, source, folder, key)


def portable_library(source: Path, made: Path, compiler: Command | None = None) -> None:
    """Write the shared library of a C file to `made`, for any processor of this platform; not kept in the cache."""
    compiler = compiler or find_compiler()
    if compiler is None:
        raise BackendError("no C compiler found: install gcc or clang, or `pip install ziglang`, or set SUPPLE_CC")
    _run((*compiler, *FLAGS, *_LIBRARY, "-o", str(made), str(source), "-lm"))
    if not made.is_file():
        raise BackendError(f"the C compiler {shlex.join(compiler)} ended well but wrote no library")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _cached(folder: Path, key: str) -> Path | None:
    """The whole library of that key, if there is one; damaged ones are removed."""
    for path in sorted(folder.glob(f"{key}-*{_SUFFIX}")):
        with contextlib.suppress(OSError):
            if path.name == _file_name(key, path.read_bytes()):
                return path
            path.unlink()
    return None


def _file_name(key: str, content: bytes) -> str:
    return f"{key}-{_digest(content)}{_SUFFIX}"


def _build(compiler: Command, options: Command, source: str, folder: Path, key: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _sweep(folder)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder, ignore_cleanup_errors=True) as build:
            text, made = Path(build, "model.c"), Path(build, "model" + _SUFFIX)
            text.write_text(source, encoding="ascii")
            _run((*compiler, *options, "-o", str(made), str(text), "-lm"))
            if not made.is_file():
                raise BackendError(f"the C compiler {shlex.join(compiler)} ended well but wrote no library")
            final = folder / _file_name(key, made.read_bytes())
            os.replace(made, final)
            return final
    except OSError as problem:
        advice = "set SUPPLE_CACHE to a directory that can be written"
        raise BackendError(f"compiled code cannot be kept in {folder}: {problem}; {advice}") from problem


def _sweep(folder: Path) -> None:
    """Remove what killed processes left behind."""
    for path in folder.glob(".build-*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _STALE:
                shutil.rmtree(path, ignore_errors=True)


@cache
def _identity(compiler: Command) -> tuple[Command, str]:
    """The tuning flags `compiler` takes, and its predefined macros: its version and the processor's features.

    Part of the key, so that a home directory shared by different machines never serves foreign instructions.
    """
    for tuning in _TUNING:
        try:
            return tuning, shlex.join(compiler) + _run((*compiler, *FLAGS, *tuning, "-dM", "-E", "-x", "c", os.devnull))
        except BackendError:
            if not tuning:
                raise
    raise AssertionError("unreachable: the last tuning is none")


def _run(command: Command) -> str:
    """What the compiler prints; its own words if it fails."""
    shown = shlex.join(command[:4])
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
        )
    except OSError as problem:
        raise BackendError(f"the C compiler {shown} cannot be started: {problem}; see SUPPLE_CC") from problem
    except subprocess.TimeoutExpired as problem:
        raise BackendError(f"the C compiler {shown} did not finish within {_PATIENCE:.0f} s") from problem
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "it said nothing")[:_WORDS]
        raise BackendError(f"the C compiler {shown} failed with code {done.returncode}:\n{words}")
    return done.stdout
