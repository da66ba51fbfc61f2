"""Mutants tried in a child process that may die: by a signal, by its limits of time and memory, or by an exception.

The child computes at most `SECONDS` a mutant (waiting is allowed `PATIENCE`) and takes at most `MEMORY` beyond what it has
at the start; the signals of its timers end it wherever it is, in C too."""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from fuzz import judges
from fuzz.formats import Format, Mutant, mutant
from fuzz.seeds import Seed
from supple.errors import SuppleError

SECONDS, PATIENCE = 20, 400
MEMORY = 4 << 30
_CHUNK = 250  # mutants of one child
_TIMERS = {signal.SIGPROF: "hang", signal.SIGALRM: "hang"}


@dataclass(frozen=True)
class Finding:
    """What went wrong: of which kind, where (what tells it from others), and the words of it."""

    number: int
    kind: str
    where: str
    words: str = ""


@dataclass
class Tally:
    """How mutants ended."""

    tried: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0  # of computing


@dataclass(frozen=True)
class Attack:
    """A format with its whole files on disk, and the seed of the run."""

    chosen: Format
    seeds: Sequence[Seed]
    whole: Sequence[bytes]
    run: int

    def mutant(self, number: int) -> Mutant:
        return mutant(self.chosen, self.whole, self.run, number)


def outcome(seed: Seed, content: bytes, deep: bool) -> str | tuple[str, str, str]:
    """refused, read or examined; or kind, where and words of what went wrong."""
    seed.path.write_bytes(content)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            seed.examine(seed.path, deep)
        stray = next((w for w in heard if issubclass(w.category, RuntimeWarning)), None)
        if stray is not None:
            return "warning", f"{Path(stray.filename).name}: {stray.message}", ""
        return "examined" if deep else "read"
    except SuppleError as error:
        try:
            judges.message(error)
        except judges.Wrong as wrong:
            return "message", str(wrong), str(error)[:500]
        return "refused"
    except judges.Wrong as wrong:
        return "wrong", str(wrong).partition("(")[0], str(wrong)
    except MemoryError as error:
        return "memory", _place(error), ""
    except Exception as error:
        return "traceback", _place(error), "".join(traceback.format_exception(error))[-3000:]


def _place(error: BaseException) -> str:
    """Type of an exception and the innermost place in supple that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "supple" in Path(f.filename).parts] or frames
    return f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].name}"


def tried(attack: Attack, first: int, last: int) -> Iterator[Tally]:
    """Tallies of mutants first to last - 1, one for every child that was needed."""
    while first < last:
        made = in_child(partial(_batch, attack, range(first, min(first + _CHUNK, last))))
        tally = Tally(seconds=made.seconds)
        for entry in made.entries:
            tally.tried += 1
            if isinstance(entry[1], str):
                tally.counts[entry[1]] += 1
            else:
                tally.findings.append(Finding(entry[0], *entry[1]))
        if made.died is not None:
            tally.tried += 1
            tally.findings.append(Finding(made.at, *made.died))
        tally.counts["found"] = len(tally.findings)
        first += tally.tried
        yield tally


def alone(seed: Seed, content: bytes, deep: bool) -> tuple[str, str, str]:
    """How a file ends in a child of its own: kind, where and words."""

    def work(told: Callable[[int, Any], None]) -> None:
        told(0, None)
        told(0, outcome(seed, content, deep))

    child = in_child(work)
    ended = child.died or child.entries[0][1]
    return (ended, "", "") if isinstance(ended, str) else (ended[0], ended[1], ended[2])


def _batch(attack: Attack, numbers: range, told: Callable[[int, Any], None]) -> None:
    for number in numbers:
        told(number, None)
        made = attack.mutant(number)
        told(number, outcome(attack.seeds[made.seed], made.content, made.deep))


@dataclass(frozen=True)
class Child:
    """What a child said, the last number that it began, how it died (None: it did not), and how long it computed (s)."""

    entries: list[tuple[int, Any]]
    at: int
    died: tuple[str, str, str] | None
    seconds: float


def in_child(work: Callable[[Callable[[int, Any], None]], None]) -> Child:
    """Let a child process do the work, which tells (number, None) before and (number, outcome) after each piece."""
    at = mmap.mmap(-1, 8)
    with TemporaryFile() as said, TemporaryFile() as last_words:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _work(work, at, said, last_words)
        _, status, usage = os.wait4(child, 0)
        said.seek(0)
        entries = [tuple(json.loads(line)) for line in said.read().splitlines() if line.endswith(b"]")]
        last_words.seek(0)
        words = last_words.read().decode("utf-8", "replace")
    return Child(entries, struct.unpack("q", at[:])[0], _death(status, words), usage.ru_utime + usage.ru_stime)


def _work(work: Callable[[Callable[[int, Any], None]], None], at: mmap.mmap, said: Any, last_words: Any) -> None:
    """The child's life; it does not return."""
    rc = 70
    try:
        os.dup2(last_words.fileno(), 2)
        faulthandler.enable(last_words)
        for number in _TIMERS:
            faulthandler.register(number, last_words, chain=True)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def told(number: int, entry: Any) -> None:
            if entry is None:
                at[:] = struct.pack("q", number)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            else:
                said.write(json.dumps([number, entry]).encode() + b"\n")
                said.flush()

        work(told)
        rc = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(rc)


def _death(status: int, words: str) -> tuple[str, str, str] | None:
    if os.WIFSIGNALED(status):
        ended = signal.Signals(os.WTERMSIG(status))
        kind = _TIMERS.get(ended, "signal")
        frames = [line.strip() for line in words.splitlines() if line.strip().startswith("File ")]
        own = next((f for f in frames if "/supple/" in f), frames[0] if frames else "")
        where = own.replace("File ", "").replace('"', "").rpartition("/")[2]
        return kind, f"{ended.name} at {where}", words[-3000:]
    code = os.WEXITSTATUS(status)
    return None if code == 0 else ("exit", f"code {code}", words[-3000:])
