"""Stored Functions run by the machine in C: the interpreter's values for every operation, alone and side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.backends import tape as tapes
from supple.backends.compiler import find_compiler
from supple.backends.interpreter import interpret
from supple.backends.tape import Tape, tape
from supple.expr.function import Function, function, symbols
from supple.expr.node import cos, sign, sin, sqrt
from supple.expr.stored import Stored, stored
from supple.machine import Machine
from supple.remembered import key_of, recalled, remember

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def every_operation() -> Function:
    a, n, b = symbols("a", 3), symbols("n", 0), symbols("b", (2, 2))
    x, y, z = a
    (p, q), (r, s) = b
    plain = [x + y, x - p, q * r, -(x * s), 3 * x - y * z, 0.5 - z]
    others = [x / y, sin(p) * cos(q), sqrt(x * x + y * y), sign(z) * r, 1 / (2 + cos(s)), -sin(-x)]
    return function("every", {"a": a, "n": n, "b": b}, {"plain": plain, "others": others, "fixed": [2, 0.25], "same": b})


@needs_compiler
@pytest.mark.parametrize("count", [(), (1,), (8,), (3, 7), (0,)])
def test_the_machine_gives_the_interpreters_values(count: tuple[int, ...]) -> None:
    f = every_operation()
    rng = np.random.default_rng(3)
    given = {"a": rng.normal(size=(*count, 3)), "n": np.zeros(0), "b": rng.normal(size=(2, 2))}
    true, found = interpret(f)(**given), tape(f)(**given)
    assert {k: x.shape for k, x in found.items()} == {k: x.shape for k, x in true.items()}
    assert np.array_equal(found["plain"], true["plain"]) and np.array_equal(found["same"], true["same"])
    for key, value in true.items():
        assert np.allclose(found[key], value, rtol=1e-15, atol=0)


@needs_compiler
def test_zeros_keep_their_signs() -> None:
    a = symbols("a", 2)
    f = function("zeros", {"a": a}, {"y": [a[0] + a[1], a[0] - a[1], a[0] * a[1], -a[0]]})
    for x in (0.0, -0.0):
        for y in (0.0, -0.0):
            given = np.array([x, y])
            assert np.array_equal(np.signbit(tape(f)(a=given)["y"]), np.signbit(interpret(f)(a=given)["y"]))


def test_without_a_compiler_and_with_complex_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    f = every_operation()
    given = {"a": np.array([0.3, -0.4, 0.5]), "n": np.zeros(0), "b": np.ones((2, 2))}
    step = 1e-30
    moved = tape(f)(**{**given, "a": given["a"] + 1j * step * np.array([1.0, 0, 0])})
    assert np.imag(moved["plain"]) / step == pytest.approx([1, 1, 0, -1, 3, 0])
    monkeypatch.setattr(tapes, "_library", lambda: None)
    assert tape(f)(**given)["plain"] == pytest.approx(interpret(f)(**given)["plain"], rel=0)


def test_what_was_stored_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    made = stored(every_operation())
    key = key_of("test", "every")
    assert recalled(key) is None
    remember(key, made.words(), made.arrays())
    answer = recalled(key)
    assert answer is not None
    found = Stored.of(answer.words, answer.arrays)
    assert found is not None and found.words() == made.words()
    given = {"a": np.array([0.3, -0.4, 0.5]), "n": np.zeros(0), "b": np.ones((2, 2))}
    assert np.array_equal(Tape(found)(**given)["others"], Tape(made)(**given)["others"])
    (path,) = (tmp_path / "cache").rglob("*.npz")
    path.write_bytes(path.read_bytes()[:-1] + b"?")  # not what was signed
    assert recalled(key) is None and not path.exists()


def test_models_are_not_mixed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed parameter is another question; the answers of a second look are those of the first."""
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    q = np.full(Machine.read("dualemps").mechanism().nq, 1e-3)
    first = [Machine.read("dualemps", {"E": E}).model().forces(q) for E in (2e11, 1e11)]
    again = [Machine.read("dualemps", {"E": E}).model().forces(q) for E in (2e11, 1e11)]
    assert np.array_equal(first, again) and not np.allclose(first[0], first[1])
