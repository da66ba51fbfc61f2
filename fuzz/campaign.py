"""A campaign: mutants of a format tried one after another, counted up over runs; findings kept, and made small."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz.formats import FORMATS
from fuzz.worker import Attack, Finding, alone, tried
from supple.errors import SuppleError

_TRIALS = 250  # to make a finding smaller


def campaign(name: str, count: int, run: int, keep: Path, seconds: float | None = None) -> dict[str, Any]:
    """The state after `count` mutants of a run in all, those of earlier calls among them; or after `seconds` of this one."""
    state = _read(keep / f"{name}-{run}.json")
    end = None if seconds is None else time.monotonic() + seconds
    with TemporaryDirectory(prefix="supple-fuzz-") as folder:
        os.environ["SUPPLE_CACHE"] = str(Path(folder, "cache"))  # mutants are not worth keeping in the user's
        attack = attack_of(name, run, Path(folder))
        for seed in attack.seeds[:3]:  # children find imported and compiled what they need
            with contextlib.suppress(SuppleError):
                seed.examine(seed.path, True)
        gc.freeze()
        for tally in tried(attack, state["tried"], count):
            for answer in Path(folder, "cache").rglob("*.npz"):
                answer.unlink()
            state["tried"] += tally.tried
            state["seconds"] += tally.seconds
            for key, value in tally.counts.items():
                state[key] = state.get(key, 0) + value
            for finding in tally.findings:
                _found(attack, finding, keep, state)
            _write(keep / f"{name}-{run}.json", state)
            print(line(name, state), file=sys.stderr)
            if end is not None and time.monotonic() > end:
                break
    return state


def attack_of(name: str, run: int, folder: Path) -> Attack:
    """The attack on a format, its whole files made below a folder and found whole."""
    chosen = FORMATS[name]
    seeds = chosen.seeds(folder)
    for seed in seeds if name != "robots" else ():  # those are held by tests
        seed.examine(seed.path, False)
    return Attack(chosen, seeds, [s.path.read_bytes() for s in seeds], run)


def line(name: str, state: dict[str, Any]) -> str:
    """A campaign on one line."""
    counts = ", ".join(f"{state.get(k, 0)} {k}" for k in ("refused", "read", "examined", "found"))
    cost = 1e3 * state["seconds"] / max(state["tried"], 1)
    return f"{name}: {state['tried']} tried: {counts}; {cost:.1f} ms each; different findings: {len(state['places'])}"


def _read(path: Path) -> dict[str, Any]:
    empty = {"tried": 0, "seconds": 0.0, "found": 0, "places": {}}
    return json.loads(path.read_text()) if path.exists() else empty


def _write(path: Path, state: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(state, indent=1))
    part.replace(path)


def _found(attack: Attack, finding: Finding, keep: Path, state: dict[str, Any]) -> None:
    """Keep a finding; the first of its place is kept as a small file."""
    place = f"{finding.kind}: {finding.where}"
    state["places"].setdefault(place, []).append(finding.number)
    if len(state["places"][place]) > 1:
        return
    made = attack.mutant(finding.number)
    seed = attack.seeds[made.seed]
    folder = keep / "found" / attack.chosen.name
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{seed.path.parent.name}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"

    def same(content: bytes) -> bool:
        return alone(seed, content, made.deep)[:2] == (finding.kind, finding.where)

    (folder / f"{name}{seed.path.suffix}").write_bytes(smaller(made.content, same))
    text = f"{place}\n{finding.number} of seed {attack.run}, deep: {made.deep}\n{finding.words}\n"
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"found {place} -> {folder / name}", file=sys.stderr)


def smaller(content: bytes, same: Callable[[bytes], bool], trials: int = _TRIALS) -> bytes:
    """The content without the pieces, lines if it has some, that `same` does without (Zeller & Hildebrandt 2002)."""
    pieces = (
        content.splitlines(keepends=True) if content.count(b"\n") > 3 else [content[k : k + 1] for k in range(len(content))]
    )
    size = max(len(pieces) // 2, 1)
    while trials > 0 and pieces:
        at = 0
        while at < len(pieces) and trials > 0:
            rest = pieces[:at] + pieces[at + size :]
            trials -= 1
            if same(b"".join(rest)):
                pieces = rest
            else:
                at += size
        if size == 1:
            break
        size = max(size // 2, 1)
    return b"".join(pieces)
