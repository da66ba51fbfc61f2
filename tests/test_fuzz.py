"""Damaged files of every format: a short, seeded run of fuzz/, and all that longer runs have found."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.campaign import attack_of, smaller
from fuzz.formats import FORMATS, mutant
from fuzz.judges import Wrong, bodies
from fuzz.worker import alone, tried

COUNTS = {"robots": 60}  # of the others 15
FOUND = Path(__file__).parent / "data" / "found"
KEPT = sorted(p for p in FOUND.glob("*/*") if p.suffix != ".txt")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    attack = attack_of(name, 2026, tmp_path)
    count = COUNTS.get(name, 15)
    tallies = list(tried(attack, 0, count))
    assert [f for t in tallies for f in t.findings] == []
    assert sum(t.counts["refused"] for t in tallies) > count / 4


@pytest.mark.parametrize("path", KEPT, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_what_was_found_stays_repaired(path: Path, tmp_path: Path) -> None:
    """Files of tests/data/found: FORMAT/SEED-NAME.SUFFIX."""
    seed = next(s for s in FORMATS[path.parent.name].seeds(tmp_path) if s.path.parent.name == path.name.partition("-")[0])
    for deep in (False, True):
        assert alone(seed, path.read_bytes(), deep)[0] in ("refused", "read", "examined")


# The tool itself ----------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_mutants(tmp_path: Path) -> None:
    whole = [s.path.read_bytes() for s in FORMATS["tests"].seeds(tmp_path)]
    made = [[mutant(FORMATS["tests"], whole, run, k).content for k in range(40)] for run in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
    assert len(set(made[0])) > 30


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        ("1 / 0", "traceback"),
        ("os.kill(os.getpid(), 11)", "signal"),
        ("os._exit(3)", "exit"),
        ("bytearray(6 << 30)", "memory"),
        ("[None for _ in iter(int, 1)]", "hang"),
        ("numpy.log(numpy.zeros(1))", "warning"),
        ("raise_(errors.SuppleError('a\\x1b[31m'))", "message"),
        ("raise_(errors.SuppleError('file:1: no'))", "refused"),
        ("None", "read"),
    ],
)
def test_every_end_is_told(work: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that dies in any way is noticed, and its end called by its name."""
    import os

    import numpy

    from fuzz.seeds import Seed
    from supple import errors

    def raise_(error: Exception) -> None:
        raise error

    known = {"os": os, "numpy": numpy, "errors": errors, "raise_": raise_}
    seed = Seed(tmp_path / "file", lambda path, deep: eval(work, known))
    monkeypatch.setattr("fuzz.worker.SECONDS", 0.3)
    assert alone(seed, b"", False)[0] == kind


def test_findings_are_made_small() -> None:
    content = b"".join(b"%d\n" % k for k in range(200))
    assert smaller(content, lambda x: b"\n77\n" in x and b"\n130\n" in b"\n" + x).count(b"\n") <= 4
    assert smaller(b"abcdef", lambda x: b"d" in x) == b"d"


def test_bodies_that_cannot_be_are_found() -> None:
    from dataclasses import replace

    from supple.machine import Machine

    frames = Machine.read("delta").mechanism().frames
    bodies(frames, unphysical=False)
    frame = next(f for f in frames if f.body.I_rr.astype(float).trace() > 0)
    for change in ({"mass": -1.0}, {"I_rr": -frame.body.I_rr}, {"I_rr": frame.body.I_rr * float("nan")}):
        with pytest.raises(Wrong):
            bodies([replace(frame, body=replace(frame.body, **change))], unphysical=False)
