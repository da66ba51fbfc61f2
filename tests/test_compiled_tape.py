"""Tapes that are run often are compiled: the machine's bits, found again by those who come later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_printed_assembly import COUNT, tangle

from supple.backends import compiled_tape
from supple.backends import tape as tapes
from supple.backends.tape import Tape, tape
from supple.errors import BackendError, Makeshift
from supple.expr.restored import unfolded
from supple.expr.stored import stored
from supple.machine import Machine

needs_assembly = pytest.mark.skipif(not COUNT, reason="the processor or its compiler is of another kind")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tapes, "_WORTH_A_LOOK", 0)


def told(f: Tape, count: int) -> np.ndarray:
    """Results of f, rows of `count` states, at some numbers; one input is the same for all."""
    draw = np.random.default_rng(count)
    x, y = draw.normal(size=(count, 7))[:, 1:6], draw.normal(size=(2, 2))
    out = np.full((len(f.stored.results), count + 1), np.nan)
    f.rows((out[:3, :count], out[3:, 1:]), x=x, y=y)
    return out


@needs_assembly
@pytest.mark.parametrize("count", [1, 3, 8, 83])
def test_bits_are_those_of_the_machine(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f, plain = (tape(tangle(2, 400)) for _ in range(2))
    true = told(plain, count)
    assert plain._use.library is None
    monkeypatch.setattr(tapes, "_WORTH_COMPILING", 0)
    found = told(f, count)
    assert f._use.library is not None and np.array_equal(found, true, equal_nan=True)


@needs_assembly
def test_compiled_once_it_is_worth_it_and_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tape(tangle(1, 40))
    monkeypatch.setattr(tapes, "_COMPILER", 0)
    monkeypatch.setattr(tapes, "_WORTH_COMPILING", 100)
    told(f, 60)
    assert f._use.library is None
    told(f, 60)
    assert f._use.library is not None
    monkeypatch.setattr(compiled_tape, "shared_library", None)  # nothing is compiled any more
    later, other = tape(tangle(1, 40)), tape(tangle(3, 40))
    told(later, 60)
    told(other, 60)
    assert later._use.library is not None and other._use.library is None


@needs_assembly
def test_where_it_cannot_be_compiled_it_stays_a_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*given: object) -> Path:
        raise BackendError("no room")

    monkeypatch.setattr(compiled_tape, "shared_library", failed)
    f, plain = (tape(tangle(1, 40)) for _ in range(2))
    true = told(plain, 9)
    monkeypatch.setattr(tapes, "_WORTH_COMPILING", 0)
    with pytest.warns(Makeshift, match="no room"):
        assert np.array_equal(told(f, 9), true, equal_nan=True)
    monkeypatch.setattr(compiled_tape, "registers", lambda *given: 0)
    assert compiled_tape.rows_library(f.stored, True) is None


def test_operations_written_out_are_those_that_were_stored() -> None:
    f = Machine.read("five_bar").model().equations.energy
    again = stored(unfolded(stored(f)))
    assert np.array_equal(again.code, stored(f).code) and np.array_equal(again.results, stored(f).results)
    assert np.array_equal(again.first, stored(f).first) and np.array_equal(again.constants, stored(f).constants)
