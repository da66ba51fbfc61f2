"""C compilers found, run and remembered: a C text in, the path of a shared library out.

Libraries are kept in the user's private folder as KEY-SIGNATURE.so: the key says what was compiled, by what
and for which processor; the signature, by a key of the user's, that the file is whole and was made here for
that source. They appear by one atomic rename, so processes may race and be killed at any moment.

Flags: -ffp-contract=off because a fused a*b - c*d is not zero where the interpreter's is (sqrt of -1e-17,
sign of 1e-17), and fusing gained nothing measurable. So every operation but sine and cosine gives the
interpreter's bits, on every processor and with any number of lanes; those two, which fuse where the processor
can, are within a unit in the last place.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, wait
from functools import cache
from pathlib import Path
from threading import Event, Thread

from supple.delivery import scratch
from supple.errors import BackendError
from supple.private import keyed, private_folders
from supple.remembered import keep_file, kept_file, key_of, recalled, remember

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_LIBRARY = ("-shared", "-fvisibility=hidden") + (() if os.name == "nt" else ("-fPIC",))
_WASM = ("-target", "wasm32-freestanding", "-mbulk-memory", "-s", "-nostdlib", "-Wl,--no-entry")
_TUNING = (("-march=native",), ("-mcpu=native",), ())  # the first the compiler takes
_SUFFIX = ".dll" if os.name == "nt" else ".so"
_WORDS = 2000  # characters of a compiler's complaint worth showing
_PATIENCE = 900.0  # seconds for one compilation
_GRACE = 2.0  # seconds in which a compiler that is told to end removes its own temporary files

Command = tuple[str, ...]
_running: list[subprocess.Popen[str]] = []  # compilers at work, of all threads


def find_compiler() -> Command | None:
    """The command of the C compiler: SUPPLE_CC, else cc, gcc, clang, else the ziglang wheel's, else None."""
    chosen = os.environ.get("SUPPLE_CC", "").strip()
    if chosen:
        return _words_of(chosen)
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path:
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    return None


def _words_of(text: str) -> Command:
    try:
        words = tuple(word.strip('"') for word in shlex.split(text, posix=os.name != "nt"))
    except ValueError as problem:  # an open quote
        raise BackendError(f"SUPPLE_CC is {text!r}: {str(problem).lower()}; write a command as for a shell") from problem
    if not words or not words[0]:
        raise BackendError(f"SUPPLE_CC is {text!r}: there is no command in it; name a C compiler, or unset it")
    return words


def shared_library(source: str, flags: tuple[str, ...] = (), compiler: Command | None = None) -> Path:
    """The path of the shared library made of `source`, compiled now or taken from the cache."""
    compiler = compiler or find_compiler()
    if compiler is None:
        raise BackendError("no C compiler found: install gcc or clang, or `pip install 'supple[cc]'`, or set SUPPLE_CC")
    tuning, identity = _identity(compiler)
    return _kept(compiler, (*FLAGS, *tuning, *_LIBRARY, *flags), source, identity, _SUFFIX)


def _kept(compiler: Command, options: Command, source: str, identity: str, suffix: str) -> Path:
    """The path of what a compiler makes of a source, made now or taken from the cache."""
    key = _digest("\0".join([source, *options, identity]).encode())
    try:
        folder = private_folders()[-1]
        return kept_file(key, suffix) or _build(compiler, options, source, folder, key, suffix)
    except OSError as problem:
        reason = problem.strerror or problem
        raise BackendError(f"compiled code cannot be kept: {reason}; set SUPPLE_CACHE to a folder with room") from problem


def library(key: str) -> Path | None:
    """The path of a library that was compiled before, by the key that its name begins with."""
    return kept_file(key, _SUFFIX)


def compiler_mark() -> str:
    """What tells compilers and processors apart; nothing without a compiler."""
    known = macros()
    return known and _digest(known.encode())


def macros() -> str:
    """What the compiler says of itself and of the processor; nothing without a compiler."""
    compiler = find_compiler()
    return "" if compiler is None else _identity(compiler)[1]


def wasm_module(source: str, exports: Sequence[str]) -> bytes:
    """The WebAssembly module of a C text that needs no C library but what is in wasm/, compiled by the ziglang wheel.

    It imports functions of JavaScript's Math, and exports these functions, its memory and where free memory begins."""
    if importlib.util.find_spec("ziglang") is None:
        raise BackendError("there is no compiler for pages here: `pip install 'supple[cc]'`")
    named = tuple(f"-Wl,--export={name}" for name in (*exports, "__heap_base"))
    compiler = (sys.executable, "-m", "ziglang", "cc")
    headers = (Path(__file__).parent / "wasm").glob("*.h")
    identity = importlib.metadata.version("ziglang") + "".join(h.read_text(encoding="ascii") for h in sorted(headers))
    options = (*FLAGS, *_WASM, f"-isystem{Path(__file__).parent / 'wasm'}", *named)
    return _kept(compiler, options, source, identity, ".wasm").read_bytes()


def shared_libraries(sources: Sequence[tuple[str, tuple[str, ...]]]) -> list[Path]:
    """The paths of several libraries, each from its source and flags, compiled side by side; Ctrl-C ends all of them."""
    if len(sources) == 1:
        return [shared_library(*sources[0])]
    made: list[Future[Path]] = [Future() for _ in sources]
    stopped = Event()
    threads = [Thread(target=_compile_into, args=(*pair, stopped)) for pair in zip(made, sources, strict=True)]
    try:
        for thread in threads:
            thread.start()
        return [library.result() for library in made]
    except BaseException:  # what was not begun is not begun, and what runs is told to end
        stopped.set()
        while any(thread.is_alive() for thread in threads):  # some may only just begin
            for process in list(_running):
                _end(process)
            wait(made, timeout=0.05)
        raise


def _compile_into(made: Future[Path], given: tuple[str, tuple[str, ...]], stopped: Event) -> None:
    """Compile one of several sources, unless all were stopped before; the library or what went wrong goes into `made`."""
    if stopped.is_set():
        return
    try:
        made.set_result(shared_library(*given))
    except BaseException as problem:
        made.set_exception(problem)


def portable_library(source: Path, made: Path, compiler: Command | None = None) -> None:
    """Write the shared library of a C file to `made`, for any processor of this platform; not kept in the cache."""
    compiler = compiler or find_compiler()
    if compiler is None:
        raise BackendError("no C compiler found: install gcc or clang, or `pip install 'supple[cc]'`, or set SUPPLE_CC")
    _run((*compiler, *FLAGS, *_LIBRARY, "-o", str(made), str(source), "-lm"), made.parent)
    if not made.is_file():
        raise BackendError(f"the C compiler {shlex.join(compiler)} ended well but wrote no library")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _build(compiler: Command, options: Command, source: str, folder: Path, key: str, suffix: str) -> Path:
    with scratch(keyed(folder)) as build:
        text, made = build / "model.c", build / f"model{suffix}"
        text.write_text(source, encoding="ascii")
        library = () if suffix == ".wasm" else ("-lm",)
        _run((*compiler, *options, "-o", str(made), str(text), *library), build)
        if not made.is_file():
            raise BackendError(f"the C compiler {shlex.join(compiler)} ended well but wrote no library")
        made.chmod(0o700)
        return keep_file(folder, key, suffix, made)


@cache
def _identity(compiler: Command) -> tuple[Command, str]:
    """The tuning flags `compiler` takes, and its predefined macros: its version and the processor's features.

    Part of the key, so that a home directory shared by different machines never serves foreign instructions. Remembered
    while the compiler's file, the environment and the processor are the same.
    """
    asked = _asked(compiler)
    known = recalled(asked) if asked else None
    if known is not None:
        return tuple(known.words["tuning"]), str(known.words["identity"])
    tuning, identity = _told(compiler)
    if asked:
        remember(asked, {"tuning": tuning, "identity": identity})
    return tuning, identity


def _asked(compiler: Command) -> str | None:
    """The question of which compiler and processor this is; None if only the compiler can tell."""
    with contextlib.suppress(OSError):
        found, lines = os.stat(compiler[0]), Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        features = {x for x in lines if x.startswith(("model", "flags", "Features", "CPU"))}
        around = [f"{k}={x}" for k, x in os.environ.items() if k.startswith(("GCC", "COMPILER", "C_INCLUDE", "CPATH"))]
        file = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if len(compiler) == 1 and features:
            return key_of("compiler", os.path.realpath(compiler[0]), str(file), *sorted(features), *sorted(around))
    return None


def _told(compiler: Command) -> tuple[Command, str]:
    for tuning in _TUNING:
        try:
            return tuning, shlex.join(compiler) + _run((*compiler, *FLAGS, *tuning, "-dM", "-E", "-x", "c", os.devnull))
        except BackendError:
            if not tuning:
                raise
    raise AssertionError("unreachable: the last tuning is none")


def _run(command: Command, folder: Path | None = None) -> str:
    """What the compiler prints; its own words if it fails. Its temporary files are in `folder`, if one is given."""
    shown = shlex.join(command[:4])
    own = {} if folder is None else {name: str(folder) for name in ("TMPDIR", "TMP", "TEMP")}
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            errors="replace", env={**os.environ, **own}, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as problem:
        raise BackendError(f"the C compiler {shown} cannot be started: {problem}; see SUPPLE_CC") from problem
    _running.append(process)
    try:
        printed, words = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired as problem:
        raise BackendError(f"the C compiler {shown} did not finish within {_PATIENCE:.0f} s") from problem
    finally:
        _end(process)
        _running.remove(process)
    if process.returncode != 0:
        words = (words.strip() or printed.strip() or "it said nothing")[:_WORDS]
        raise BackendError(f"the C compiler {shown} failed with code {process.returncode}:\n{words}")
    return printed


def _end(process: subprocess.Popen[str]) -> None:
    """End a compiler that still runs and what it has started, gently first."""
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
                return
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
