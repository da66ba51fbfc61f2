"""Compiled functions against the interpreter, and what can go wrong between a text and a library."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import stat
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from limits import PATIENCE

from supple import private
from supple.backends import c_source, compiler, native
from supple.backends.interpreter import Interpreted, interpret
from supple.backends.sequence import sequence
from supple.delivery import scratch
from supple.errors import BackendError, SuppleError
from supple.expr.function import Function, function, symbols
from supple.expr.node import ARITHMETIC, BUILD, FUNCTIONS, Expr, cos, mul, named, neg, sign, sin, sqrt
from supple.remembered import file_name

needs_compiler = pytest.mark.skipif(compiler.find_compiler() is None, reason="no C compiler")
OPERATIONS = (*ARITHMETIC, *FUNCTIONS)
WAYS = [(1, False), (4, False), (8, False), (1, True), (4, True), (8, True)]


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An empty cache for this file, so that every test compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUPPLE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def tame(op: str, a: Any, b: Any) -> Any:
    """op(a, b), kept away from poles and cancellation so that rounding stays rounding."""
    if op == "div":
        return BUILD[op](a, 2 + b * b)
    if op == "sqrt":
        return sqrt(1 + a * a)
    if op == "sign":
        return sign(sin(a) + 3) * b + sign(b - 40)
    if op in ("sin", "cos", "neg"):
        return BUILD[op](a)
    return sin(BUILD[op](a, b)) if op == "mul" else BUILD[op](a, b) / 2


def random_function(seed: int, steps: int, inputs: int = 5) -> Function:
    """A graph with every operation in it, all values of order one."""
    rng = random.Random(seed)
    q, p = symbols("q", inputs), symbols("p", (2, 3))
    pool: list[Any] = [*q, *p.ravel(), 3, Fraction(1, 3), -0.7, Fraction(-22, 7)]
    for k in range(steps):
        op = OPERATIONS[k % len(OPERATIONS)] if k < 2 * len(OPERATIONS) else rng.choice(OPERATIONS)
        made = tame(op, rng.choice(pool[-30:]), rng.choice(pool))
        if rng.random() < 0.3:
            named(made, rng.choice(["w_3", "F[1,2]", "double", "cos", "x" * 70, "é*/"]))
        pool.append(made)
    loose = {"all": pool[-steps:], "some": pool[:12], "one": [[neg(pool[0])]]}
    return function("random", {"q": q, "p": p}, loose)


def draw(f: Function, batch: tuple[int, ...], seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-2, 2, (*batch, *array.shape)) for name, array in f.inputs.items()}


def assert_agree(got: dict[str, Any], expected: dict[str, Any], tolerance: float = 1e-11) -> None:
    assert got.keys() == expected.keys()
    for name in expected:
        assert got[name].shape == expected[name].shape
        np.testing.assert_allclose(got[name], expected[name], rtol=tolerance, atol=tolerance)


@needs_compiler
@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), steps=st.integers(20, 90), batch=st.sampled_from([(), (3,), (2, 7), (16,)]))
def test_agrees_with_interpreter(seed: int, steps: int, batch: tuple[int, ...]) -> None:
    f = random_function(seed, steps)
    x = draw(f, batch, seed)
    expected = interpret(f)(**x)
    for lanes, single in WAYS:
        got = native.native(f, lanes=lanes, single=single)(**x)
        assert_agree(got, expected, 1e-5 if single else 1e-11)


@needs_compiler
@pytest.mark.parametrize("op", OPERATIONS)
def test_each_operation(op: str) -> None:
    """Bit for bit what the interpreter gives, but for sine and cosine."""
    q = symbols("q", 2)
    arity = 2 if op in ("add", "sub", "mul", "div") else 1
    f = function("each", {"q": q}, {"y": [BUILD[op](*q[:arity])], "k": [BUILD[op](*[*q[: arity - 1], q[1] * 3])]})
    special = [0.0, -0.0, 1.0, -2.5, 1e-310, 1e300, np.inf, -np.inf, np.nan]
    x = np.array([(a, b) for a in special for b in special])
    with np.errstate(all="ignore"):
        expected = interpret(f)(q=x)
        if op in ("sin", "cos"):
            x[np.isinf(x)] = 1e4
            expected = interpret(f)(q=x)
    for lanes in native.LANES:
        got = native.native(f, lanes=lanes)(q=x)
        for name, value in expected.items():
            np.testing.assert_allclose(got[name], value, rtol=4e-16 if op in ("sin", "cos") else 0, atol=0)


@needs_compiler
def test_results_do_not_depend_on_lanes_threads_or_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_WORTH_A_THREAD", 1)
    f = random_function(3, 60)
    x = draw(f, (1003,))
    x["q"][::10] *= 1e6  # beyond the range of the fast reduction
    expected = native.native(f)(**x)
    for options in ({"lanes": 4}, {"lanes": 8}, {"threads": 3}, {"lanes": 8, "threads": 2}):
        got = native.native(f, **options)(**x)
        for name in expected:
            np.testing.assert_array_equal(got[name], expected[name])


@needs_compiler
@pytest.mark.parametrize(("single", "lanes", "flags"), [
    *((single, native.LANES, ()) for single in (False, True)),
    *((single, (8,), ("-DSUPPLE_NOT_FUSED",)) for single in (False, True)),
])  # fmt: skip
def test_sincos_within_a_unit_in_the_last_place(
    single: bool, lanes: tuple[int, ...], flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also as processors compute it that do not fuse multiplication and addition."""
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, *flags))
    q = symbols("q", 1)
    f = function("turn", {"q": q}, {"s": [sin(q[0])], "c": [cos(q[0])]})
    assert c_source.body(f).count("supple_sincos") == 1
    rng = np.random.default_rng(1)
    quarter = np.arange(-63661, 63662, 11) * (np.pi / 2)
    ranges = [
        rng.uniform(-1e5, 1e5, 4000),
        rng.uniform(-4, 4, 4000),
        quarter,
        10.0 ** rng.uniform(-30, 15, 2000),
    ]
    x = np.concatenate(ranges).astype(np.float32 if single else np.float64)
    with mpmath.workdps(50):
        exact = [(mpmath.sin(mpmath.mpf(float(v))), mpmath.cos(mpmath.mpf(float(v)))) for v in x]
        for count in lanes:
            got = native.native(f, lanes=count, single=single)(q=x[:, None])
            for name, column in (("s", 0), ("c", 1)):
                value = np.array([float(e[column]) for e in exact])
                error = np.array(
                    [float(mpmath.mpf(float(g)) - e[column]) for g, e in zip(got[name][:, 0], exact, strict=True)]
                )
                assert np.max(np.abs(error) / np.spacing(np.abs(value).astype(x.dtype))) < 1


@needs_compiler
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("states", [37, 48])
def test_states_stored_in_lanes_give_the_same_bits(states: int, single: bool) -> None:
    f = random_function(3, 60)
    x = draw(f, (states,))
    for lanes in native.LANES:
        compiled = native.native(f, lanes=lanes, single=single)
        expected = compiled(**x)
        got = compiled.in_lanes(**{name: native.to_lanes(value, lanes) for name, value in x.items()})
        for name, array in f.outputs.items():
            assert got[name].shape == (-(-states // lanes), *array.shape, lanes)
            np.testing.assert_array_equal(native.from_lanes(got[name], states), expected[name])


@needs_compiler
def test_what_is_stored_in_lanes_may_be_shared_or_lie_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_WORTH_A_THREAD", 1)
    f = random_function(5, 40)
    x = draw(f, (40,))
    x["p"][:] = x["p"][0]
    compiled = native.native(f, lanes=8, threads=2)
    expected = compiled(**x)["all"]
    q = native.to_lanes(x["q"], 8)
    elsewhere = np.empty(q.size + 1)[1:].reshape(q.shape)
    elsewhere[:] = q
    for stored in (q, elsewhere, np.asfortranarray(q)):
        np.testing.assert_array_equal(native.from_lanes(compiled.in_lanes(q=stored, p=x["p"][0])["all"], 40), expected)
    with pytest.raises(ValueError, match="blocks"):
        compiled.in_lanes(q=x["q"], p=x["p"][0])
    with pytest.raises(ValueError, match=r"\[4, 5\] blocks"):
        compiled.in_lanes(q=q, p=native.to_lanes(x["p"], 8)[:4])
    with pytest.raises(TypeError, match="missing inputs"):
        compiled.in_lanes(q=q)


@pytest.mark.parametrize("seed", range(5))
def test_operations_are_printed_once_and_after_their_operands(seed: int) -> None:
    f = random_function(seed, 200)
    known: set[Expr] = set()
    for step in sequence(f):
        assert len(step) == 1 or {n.op for n in step} <= {"sin", "cos"}
        operands = {x for n in step if n.op != "symbol" for x in n.args if isinstance(x, Expr)}
        assert operands <= known and not known & set(step)
        known |= set(step)
    assert known == set(f.nodes)


@needs_compiler
def test_calling_convention() -> None:
    q, p, s = symbols("q", 3), symbols("p", (2, 2)), symbols("s", ())
    f = function("call", {"q": q, "p": p, "s": s, "unused": symbols("u", 2)}, {"y": p @ q[:2] * s.item(), "z": q[2]})
    rng = np.random.default_rng(0)
    x = {"q": rng.normal(size=(4, 1, 3)), "p": rng.normal(size=(2, 2)), "s": np.arange(5), "unused": [1, 2]}
    for lanes in native.LANES:
        compiled = native.native(f, lanes=lanes)
        assert_agree(compiled(**x), interpret(f)(**x), 1e-15)
        assert compiled(**{**x, "s": 2.0, "q": x["q"][:0]})["y"].shape == (0, 1, 2)
        assert compiled(**{**x, "s": 2.0, "q": [1, 2, 3]})["z"].shape == ()
        strided = np.asfortranarray(rng.normal(size=(7, 3)))[::2]
        assert_agree(compiled(**{**x, "s": 1, "q": strided}), interpret(f)(**{**x, "s": 1, "q": strided}), 1e-15)
        with pytest.raises(TypeError, match="missing inputs"):
            compiled(q=x["q"])
        with pytest.raises(ValueError, match="expected"):
            compiled(**{**x, "q": np.ones(4)})
        with pytest.raises(TypeError, match="complex"):
            compiled(**{**x, "q": np.ones(3) * 1j})
    with pytest.raises(ValueError, match="lanes"):
        native.native(f, lanes=3)
    with pytest.raises(ValueError, match="threads"):
        native.native(f, threads=0)


@needs_compiler
def test_functions_without_inputs_or_outputs() -> None:
    q = symbols("q", 2)
    constant = native.native(function("constant", {}, {"y": [1, Fraction(1, 3)]}), lanes=4)
    np.testing.assert_array_equal(constant()["y"], [1, 1 / 3])
    assert native.native(function("nothing", {"q": q}, {}))(q=[1, 2]) == {}
    assert native.native(function("void", {}, {"e": np.zeros((0, 3), dtype=object)}))()["e"].shape == (0, 3)


@needs_compiler
def test_constants_are_exact() -> None:
    rng = random.Random(5)
    values: list[Any] = [Fraction(rng.randrange(1, 10**20), rng.randrange(1, 10**20)) for _ in range(40)]
    values += [rng.uniform(-1, 1) * 10 ** rng.uniform(-300, 300) for _ in range(40)]
    values += [
        0,
        -0.0,
        2**53 + 1,
        -(10**22),
        5e-324,
        1.7976931348623157e308,
        0.1,
        np.float64(0.3),
        np.inf,
        -np.inf,
    ]
    q = symbols("q", 1)
    f = function("constants", {"q": q}, {"plain": values, "times": [mul(v, q[0]) for v in values]})
    exact = np.array([float(v) for v in values])
    for lanes in native.LANES:
        got = native.native(f, lanes=lanes)(q=[1.0])
        np.testing.assert_array_equal(got["plain"], exact)
        np.testing.assert_array_equal(got["times"], exact)
        np.testing.assert_array_equal(np.signbit(got["plain"]), np.signbit(exact))
    assert all(float(c_source.literal(v)) == float(v) for v in values if np.isfinite(float(v)))
    with pytest.raises(BackendError, match="too large"):
        c_source.literal(10**5000)


HOSTILE = [
    "*/ int main(void){return 0;} /*", "\n#include </etc/passwd>\n", 'a"; system("x"); "', "double", "_Bool",
    "restrict", "__asm__", "3rd", "x" * 5000, "é\u202eü", "supple_sincos", "NAN", "num", "real", "t1", "t1_2",
    "t1", "", "%s%n", "a\\\nb", "??/", "sin", "I", "in", "in_0", "out", "first", "hostile_part1", "M_PI",
    "work",
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("split", [False, True])
def test_hostile_names_become_plain_identifiers(split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if split:
        monkeypatch.setattr(c_source, "SPLIT_ABOVE", 5)
        monkeypatch.setattr(c_source, "PART", 7)
    for name in ["hostile", *HOSTILE[:8], "malloc", "in", "supple_batch", "main", "printf"]:
        q = symbols("q", len(HOSTILE))
        inner = [named(x * x + 1, label) for x, label in zip(q, HOSTILE, strict=True)]
        inputs = {f"{label}": [x] for x, label in zip(q, HOSTILE, strict=True)}
        inputs["q"] = [x for x, label in zip(q, HOSTILE, strict=True) if inputs[label][0] is not x]
        f = function(name, inputs, {"t1": [a * b for a, b in pairwise(inner)], "*/": [sum(inner)]})
        text = c_source.body(f)
        assert set(re.findall(r"[^\w\s]", text)) <= set("/*:;,[]()->=+{}.")
        assert text.count("/*") == text.count("*/") == 1 and "#" not in text and '"' not in text
        words = re.findall(r"\w+", text)
        assert all(word.isascii() and len(word) <= 64 for word in words)
        if name in ("hostile", "in", "malloc"):
            compile_strictly(f, tmp_path)
    x = {key: np.full(np.shape(a), 2.0) for key, a in inputs.items()}
    assert_agree(native.native(f)(**x), interpret(f)(**x))


def compile_strictly(f: Function, folder: Path) -> None:
    """No warning from gcc -Wall -Wextra, for every kind of real."""
    path = folder / "strict.c"
    path.write_text(c_source.source(f) + c_source.driver(f), encoding="ascii")
    found = compiler.find_compiler()
    assert found is not None
    for lanes, single in WAYS:
        flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-march=native", f"-DSUPPLE_LANES={lanes}"]
        flags += ["-DSUPPLE_SINGLE"] * single
        done = subprocess.run([*found, *flags, "-c", str(path), "-o", str(folder / "strict.o")], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()


@needs_compiler
def test_printed_c_is_clean_deterministic_and_readable(tmp_path: Path) -> None:
    q = symbols("q", 3)
    w = named(q[2] - q[0] * q[1], "w_3")
    f = function("tip", {"q": q}, {"v": [w * w, neg(w), sin(q[0]), cos(q[0])], "k": [1, q[1]]})
    u = function("tip", {"q": q}, {"v": [named(q[0] * q[2] - q[1], "u_3")]})
    assert "const real minus_u_3 = q[1] - " in c_source.body(u) and "v[0] = -minus_u_3;" in c_source.body(u)
    text = c_source.body(f)
    assert text == c_source.body(f)
    assert "void tip(const real *restrict q, real *restrict v, real *restrict k)" in text
    assert "const real w_3 = " in text and "v[0] = w_3 * w_3;" in text and "v[1] = -w_3;" in text
    assert "Generated; do not edit" in text and f"{f.operations} operations" in text and "malloc" not in text
    compile_strictly(f, tmp_path)
    compile_strictly(random_function(11, 80), tmp_path)


def wide_function(statements: int) -> Function:
    rng = random.Random(2)
    q = symbols("q", 40)
    pool: list[Any] = list(q)
    while len(pool) < statements:
        a, b = rng.choice(pool[-60:]), rng.choice(pool[-4000:])
        pool.append(a * b if rng.random() < 0.2 else (a + b) * Fraction(3, 5) if rng.random() < 0.6 else sin(a))
    return function("wide", {"q": q}, {"y": pool[-50:], "z": pool[::400]})


@needs_compiler
def test_large_functions_are_split_into_parts_a_compiler_takes_quickly() -> None:
    f = wide_function(13_000)
    assert len(f.nodes) > 10_000
    text = c_source.body(f)
    assert text.count("SUPPLE_APART void") >= 9_000 / c_source.PART
    assert max(map(len, text.split("\n}\n"))) < 4 * len(text) / text.count("SUPPLE_APART void")
    x = draw(f, (9,))
    expected = interpret(f)(**x)
    for lanes in (1, 8):
        assert_agree(native.native(f, lanes=lanes)(**x), expected, 1e-10)


@needs_compiler
def test_split_parts_reuse_their_working_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = wide_function(400)
    whole = native.native(f, lanes=4)
    monkeypatch.setattr(c_source, "SPLIT_ABOVE", 50)
    monkeypatch.setattr(c_source, "PART", 23)
    monkeypatch.setattr(c_source, "_STACK", 64)
    monkeypatch.setattr(native, "_WORTH_A_THREAD", 1)
    text = c_source.body(f)
    slots = int(re.search(r"SUPPLE_THREAD_LOCAL real work\[(\d+)\]", text)[1])  # type: ignore[index]
    assert slots < text.count("work[") / 3
    compile_strictly(f, tmp_path)
    x = draw(f, (301,))
    for options in ({}, {"lanes": 4}, {"lanes": 8, "threads": 2}):
        for name, value in native.native(f, **options)(**x).items():
            np.testing.assert_array_equal(value, whole(**x)[name])


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPPLE_CC", raising=False)
    monkeypatch.setenv("PATH", "")
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "ziglang" else known(name, *a))
    monkeypatch.setattr(native, "_notice_given", False)


def small() -> Function:
    q = symbols("q", 2)
    return function("small", {"q": q}, {"y": [q[0] * q[1] + Fraction(1, 3), sin(q[0])]})


def test_no_compiler_is_said_once(no_compiler: None) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loaded = [native.load(small(), lanes=8), native.load(small())]
    assert all(isinstance(f, Interpreted) for f in loaded)
    assert len(said) == 1 and "no C compiler" in str(said[0].message)
    np.testing.assert_allclose(loaded[0](q=[2.0, 3.0])["y"][0], 6 + 1 / 3)
    with pytest.raises(BackendError, match="no C compiler"):
        native.native(small())


@needs_compiler
def test_load_compiles_where_it_can() -> None:
    assert isinstance(native.load(small(), lanes=4, threads=2), native.Native)


def script(path: Path, text: str) -> str:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="shell scripts")
def test_broken_compiler_is_an_error_with_its_words(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {
        "false": "failed with code 1",
        "/nowhere/cc": "cannot be started",
        script(tmp_path / "angry", "echo 'licence expired' >&2; exit 3\n"): "code 3.*\n.*licence expired",
        script(tmp_path / "late", "case \"$*\" in *-dM*) ;; *) echo 'disk on fire'; exit 1;; esac\n"): "disk on fire",
        script(tmp_path / "lazy", "exit 0\n"): "wrote no library",
        script(tmp_path / "wordy", "yes error | head -c 100000 >&2; exit 1\n"): "error",
    }
    for command, words in cases.items():
        monkeypatch.setenv("SUPPLE_CC", f"'{command}' --flag")
        with pytest.raises(BackendError, match=words) as caught:
            native.load(small())
        assert len(str(caught.value)) < 3000
    assert not list(own_cache.rglob("*.so"))


@needs_compiler
def test_compiler_complaint_is_passed_on(own_cache: Path) -> None:
    with pytest.raises(BackendError, match=r"undeclared_thing|error"):
        compiler.shared_library("int f(void) { return undeclared_thing; }\n")
    assert [p.name for p in own_cache.iterdir()] == ["key"]


@needs_compiler
@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_unwritable_cache_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "file"))
    with pytest.raises(SuppleError, match="SUPPLE_CACHE"):
        native.native(small())


def test_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SUPPLE_CACHE")
    if os.name != "nt":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert private.cache_directory() == tmp_path / "supple"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert private.cache_directory() == Path.home() / ".cache" / "supple"


@needs_compiler
@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped"])
def test_damaged_library_is_rebuilt(damage: str, own_cache: Path) -> None:
    source = c_source.source(small()) + c_source.driver(small())
    path = compiler.shared_library(source)
    content = path.read_bytes()
    made = path.stat().st_mtime_ns
    assert compiler.shared_library(source) == path and path.stat().st_mtime_ns == made
    middle = len(content) // 2
    harm = {
        "truncated": content[:middle],
        "empty": b"",
        "flipped": content[:middle] + b"?" + content[middle + 1 :],
    }
    path.write_bytes(harm[damage])
    again = compiler.shared_library(source)
    assert again.read_bytes() == content or again != path
    assert [p for p in own_cache.rglob("*") if p.suffix == path.suffix] == [again]
    np.testing.assert_allclose(native.native(small())(q=[2.0, 3.0])["y"][0], 6 + 1 / 3)


@needs_compiler
def test_abandoned_builds_are_swept_and_ignored(own_cache: Path) -> None:
    """Those that nobody uses go, however young; those in use stay."""
    own_cache.mkdir(mode=0o700)
    (own_cache / ".supple-left").mkdir()
    (own_cache / ".supple-left" / "model.so").write_bytes(b"half")
    with scratch(own_cache) as used:
        native.native(small())
        assert list(own_cache.glob(".supple-*")) == [used]


CHILD = """
from supple.backends.native import native
from supple.expr.function import function, symbols
q = symbols("q", 2)
print(native(function("race", {"q": q}, {"y": [q[0] * q[1]]}), lanes=4)(q=[3.0, 7.0])["y"][0])
"""


@needs_compiler
def test_processes_may_compile_the_same_at_once(own_cache: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [p.communicate(timeout=PATIENCE)[0].strip() for p in running] == ["21.0"] * 4
    assert not list(own_cache.glob(".supple-*"))
    for path in own_cache.rglob("*.so"):
        assert path.name == file_name(own_cache, path.name.split("-")[0], ".so", path.read_bytes())


@needs_compiler
def test_killed_process_leaves_a_usable_cache(own_cache: Path) -> None:
    for delay in (0.25, 0.35, 0.45):
        child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        child.kill()
        child.wait()
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.strip() == "21.0", done.stderr


@needs_compiler
def test_threads_may_share_one_compiled_function() -> None:
    f = random_function(8, 50)
    compiled = native.native(f, lanes=8)
    x = draw(f, (500,))
    expected = compiled(**x)["all"]
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: compiled(**x)["all"], range(20)):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="the ziglang wheel is not installed")
def test_zig_compiles_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)
    monkeypatch.delenv("SUPPLE_CC", raising=False)
    assert compiler.find_compiler() == (sys.executable, "-m", "ziglang", "cc")
    f = random_function(4, 60)
    x = draw(f, (21,))
    expected = interpret(f)(**x)
    for lanes in (1, 8):
        assert_agree(native.load(f, lanes=lanes)(**x), expected)


def test_every_operation_is_drawn() -> None:
    assert set(random_function(0, 40).counts) >= set(OPERATIONS)
    assert all(isinstance(node, Expr) for node in random_function(0, 40).nodes)
