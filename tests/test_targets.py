"""Exported models against the interpreter, in the tools of their languages, and names that try to get out."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from limits import PATIENCE
from target_runners import RUNNERS, SELF_TESTING, STRICT, by_rust, done, execute, imported, self_test, tool, zig

from supple.backends.c_source import Names
from supple.backends.interpreter import interpret
from supple.backends.package import NamedArray, Package
from supple.backends.targets import TARGETS, names
from supple.errors import BackendError, SuppleError
from supple.expr.function import Function, function, symbols
from supple.expr.node import cos, named, neg, sign, sin, sqrt
from supple.expr.passes import optimise
from supple.formulations.least_constraint.articulated import forward_model, inverse_model
from supple.machine import Machine

TOLERANCE = 1e-11
MODELS = ["dualemps inverse", "3rrr forward", "gough_stewart forward", "odd"]


def packed(f: Function, robot: str = "robot", model: str = "model", label: str = "part {}", unit: str = "rad") -> Package:
    """A package of f with a random sample."""
    rng = np.random.default_rng(0)
    sample = {key: 0.1 * rng.standard_normal(array.shape) for key, array in f.inputs.items()}

    def signals(arrays: Any) -> tuple[NamedArray, ...]:
        return tuple(
            NamedArray(key, tuple(label.format(i) for i in range(a.size)), (unit,) * a.size) for key, a in arrays.items()
        )

    expected = interpret(f)(**sample)
    return Package(robot, model, "A test.", f, signals(f.inputs), signals(f.outputs), sample, expected)


def odd() -> Function:
    """Whatever models rarely have: no elements, no dimensions, matrices, constants, one name twice, unused inputs."""
    x, a, b = symbols("x", 3), symbols("a", ()), symbols("b", (2, 2))
    s = named(sin(x[0]), "w_1_z")
    matrix = [[neg(s), sign(x[1])], [sqrt(1 + x[2] * x[2]), x[0]], [s, neg(x[1])], [b[0, 1] / (2 + s * s), cos(a[()])]]
    constants = [0, Fraction(1, 3), -2.5, 1e300, np.inf, -np.inf]
    inputs = {"x": x, "a": a, "b": b, "none": symbols("none", 0), "idle": symbols("idle", 2)}
    outputs = {"matrix": matrix, "constant": constants, "x": x * a, "empty": [], "scalar": s * 2 - a[()]}
    return function("odd", inputs, outputs)


@cache
def package(model: str) -> Package:
    if model == "odd":
        made = packed(odd(), "odd one", "odd")
        kept = {key: np.nan_to_num(y, posinf=1.0, neginf=-1.0) for key, y in made.expected.items()}
        return dataclasses.replace(made, expected=kept)  # infinity is computed, but no self-test expects it
    robot, kind = model.split()
    f = {"inverse": inverse_model, "forward": forward_model}[kind](Machine.read(robot).mechanism())
    return packed(optimise(f, ("fold", "share", "signs")).function if kind == "inverse" else f, robot, kind)


def states(f: Function, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [0.2 * rng.standard_normal((count, array.size)) for array in f.inputs.values()]


def text_of(files: list[Path]) -> str:
    return "".join(path.read_text(encoding="ascii") for path in files)


def test_every_target_has_a_runner_and_every_module_is_a_target() -> None:
    assert list(RUNNERS) == [name for name in TARGETS if name != "fmu"], "an FMU is no text and has tests of its own"
    folder = Path(names.__file__).parent
    writers = {p.stem for p in folder.glob("*.py") if "\ndef write(" in p.read_text(encoding="utf-8")}
    assert writers | {"fmu"} == set(TARGETS) | {"fmu"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("target", RUNNERS)
def test_agrees_with_the_interpreter_at_random_states(target: str, model: str, tmp_path: Path) -> None:
    given = package(model)
    f = given.function
    inputs = states(f, 5)
    shaped = {key: x.reshape(5, *f.inputs[key].shape) for key, x in zip(f.inputs, inputs, strict=True)}
    wanted = interpret(f)(**shaped)
    found = RUNNERS[target](given, TARGETS[target](given, tmp_path), inputs)
    assert len(found) == len(f.outputs)
    for (key, y), own in zip(wanted.items(), found, strict=True):
        expected = y.reshape(5, -1 if y.size else 0)
        finite = np.isfinite(expected)
        assert np.array_equal(expected[~finite], own[~finite]), key
        scale = max(1.0, np.max(np.abs(expected[finite]), initial=0.0)) if key != "constant" else 1e300
        assert own.shape == expected.shape
        assert (
            np.max(np.abs(np.subtract(own, expected, where=finite, out=np.zeros_like(own))), initial=0) <= TOLERANCE * scale
        )


@pytest.mark.parametrize("model", ["dualemps inverse", "3rrr forward"])
@pytest.mark.parametrize("target", SELF_TESTING)
def test_self_test_passes_and_notices_a_wrong_value(target: str, model: str, tmp_path: Path) -> None:
    good = package(model)
    passed = self_test(target, TARGETS[target](good, tmp_path / "good"))
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "PASS" in passed.stdout or "test result: ok. 1 passed" in passed.stdout
    last = list(good.expected)[-1]
    wrong = good.expected[last].copy()
    wrong[-1] += 3 * TOLERANCE * max(1.0, np.max(np.abs(wrong)))
    bad = dataclasses.replace(good, expected={**good.expected, last: wrong})
    failed = self_test(target, TARGETS[target](bad, tmp_path / "bad"))
    assert failed.returncode != 0
    assert "FAIL" in failed.stdout + failed.stderr and "PASS" not in failed.stdout


@pytest.mark.parametrize("target", SELF_TESTING)
def test_self_test_notices_what_is_not_a_number(target: str, tmp_path: Path) -> None:
    x = symbols("x", 1)
    made = packed(function("f", {"x": x}, {"y": [sqrt(x[0]), x[0]]}))
    made = dataclasses.replace(made, sample={"x": np.array([-1.0])}, expected={"y": np.array([0.0, -1.0])})
    assert self_test(target, TARGETS[target](made, tmp_path)).returncode != 0


@pytest.mark.parametrize("model", MODELS[:3])
def test_zig_takes_the_c_without_a_warning(model: str, tmp_path: Path) -> None:
    files = TARGETS["c"](package(model), tmp_path)
    command = [*zig(), *STRICT, "main.c", files[1].name, "-o", "check"]
    done(*command, folder=tmp_path)
    assert "PASS" in done(tmp_path / "check", folder=tmp_path)


def test_the_header_serves_cpp_and_two_models_of_one_robot(tmp_path: Path) -> None:
    f = package("3rrr forward").function
    for model in ("first", "second"):
        TARGETS["c"](packed(f, "3rrr", model, "leg{}"), tmp_path)
    uses = "int main() { double q[ROBOT_3RRR_Q_SIZE]; q[ROBOT_3RRR_Q_LEG11] = 0.0; return q[11] != 0.0; }\n"
    (tmp_path / "use.cpp").write_text('#include "robot_3rrr_first.h"\n#include "robot_3rrr_second.h"\n' + uses)
    done(tool("g++"), "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "use.cpp", folder=tmp_path)


def test_rust_without_the_standard_library(tmp_path: Path) -> None:
    """The feature libm, with a stand-in for that crate."""
    rustc = tool("rustc")
    (path,) = TARGETS["rust"](package("odd"), tmp_path)
    calls = "".join(f"pub fn {f}(x: f64) -> f64 {{ x.{f}() }}\n" for f in ("sin", "cos", "sqrt"))
    (tmp_path / "libm.rs").write_text(calls)
    (tmp_path / "lib.rs").write_text(f'#![no_std]\n#[path = "{path.name}"]\npub mod model;\n')
    done(rustc, "--edition=2021", "--crate-type=rlib", "libm.rs", folder=tmp_path)
    feature = ("--cfg", 'feature="libm"', "--extern", "libm=liblibm.rlib")
    done(rustc, "--edition=2021", "--crate-type=rlib", *feature, "lib.rs", folder=tmp_path)


def test_python_takes_any_leading_axes_and_complex_steps(tmp_path: Path) -> None:
    given = package("3rrr forward")
    (path,) = TARGETS["python"](given, tmp_path)
    f = getattr(imported(path), path.stem)
    inputs = dict(zip(given.function.inputs, states(given.function, 6), strict=True))
    inputs["q"] = inputs["q"].reshape(2, 3, -1) + 1e-30j
    inputs["v"] = inputs["v"].reshape(2, 3, -1)
    inputs["tau"], inputs["g"] = inputs["tau"][:3], np.array([0, 0, -10])
    wanted = interpret(given.function)(**inputs)
    for y, own in zip(wanted.values(), f(**inputs), strict=True):
        assert own.shape == y.shape
        assert np.allclose(own, y, rtol=1e-9, atol=1e-9 * np.max(np.abs(y)))
    with pytest.raises(ValueError, match="q has shape"):
        f(**{**inputs, "q": np.zeros(5)})


def test_a_delta_of_20000_operations_loads_in_octave_and_python(tmp_path: Path) -> None:
    given = package("delta forward")
    assert given.function.operations > 15_000
    for target in ("python", "matlab"):
        assert self_test(target, TARGETS[target](given, tmp_path)).returncode == 0


@pytest.mark.parametrize("target", RUNNERS)
def test_every_file_says_what_it_is(target: str, tmp_path: Path) -> None:
    given = dataclasses.replace(package("3rrr forward"), about="Accelerations of given forces, N·m and µm.")
    operations = given.counts()["operations"]["total"]
    for path in TARGETS[target](given, tmp_path):
        text = path.read_text(encoding="ascii")
        assert "generated by supple; do not edit" in text.splitlines()[0]
        for part in ("robot: 3rrr", "model: forward", "forces, N.m and um", f"{operations} operations", "[rad]"):
            assert part in text[:1500]
        for key in (*given.function.inputs, *given.function.outputs):
            assert f" {key}: {len(given.function.inputs.get(key, given.function.outputs.get(key)))} elements" in text
        assert not re.search(r"[ \t]$", text, re.MULTILINE) and text.endswith("\n") and not text.endswith("\n\n")
    body = text_of(TARGETS[target](given, tmp_path))
    assert "vd_leg1_arm_x" in body, "intermediates keep the names of the literature"


REWRITE = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_targets import RUNNERS, TARGETS, package
for name in RUNNERS:
    TARGETS[name](package("3rrr forward"), Path({folder!r}, name))
"""


def test_output_is_the_same_byte_for_byte_in_another_process(tmp_path: Path) -> None:
    package("odd")  # numbers given to nodes before must not matter
    for name in RUNNERS:
        TARGETS[name](package("3rrr forward"), tmp_path / "here" / name)
    script = REWRITE.format(tests=str(Path(__file__).parent), folder=str(tmp_path / "there"))
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=PATIENCE)
    here, there = (
        {p.relative_to(tmp_path / side): p.read_bytes() for p in (tmp_path / side).rglob("*.*")}
        for side in ("here", "there")
    )
    assert here == there and len(here) >= 10


@pytest.mark.parametrize("target", RUNNERS)
def test_files_are_replaced_or_nothing_is_written(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = packed(odd_free())
    folder = tmp_path / "new" / "folder"
    first = TARGETS[target](given, folder)
    before = text_of(first)
    first[0].write_text("old")
    assert TARGETS[target](given, folder) == first and text_of(first) == before
    assert sorted(folder.iterdir()) == sorted(first), "nothing but what is returned"

    (tmp_path / "file").write_text("in the way")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SuppleError, match="nothing was written to"):
            TARGETS[target](given, place)
    (tmp_path / "taken" / first[-1].name).mkdir(parents=True)
    with pytest.raises(SuppleError, match="is a folder"):
        TARGETS[target](given, tmp_path / "taken")
    assert [p.name for p in (tmp_path / "taken").iterdir()] == [first[-1].name]

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SuppleError, match="No space left"):
        TARGETS[target](given, tmp_path / "disk" / "full")
    assert not (tmp_path / "disk").exists()


def odd_free() -> Function:
    """A small function without peculiarities."""
    x = symbols("x", 2)
    return function("f", {"x": x}, {"y": [sin(x[0]) + x[1], x[0] * x[1]]})


@pytest.mark.parametrize("target", RUNNERS)
def test_a_package_whose_parts_do_not_fit_is_refused(target: str, tmp_path: Path) -> None:
    good = packed(odd_free())
    few = NamedArray("x", ("a",), ("m",))
    for change, words in (
        ({"inputs": ()}, "names"),
        ({"inputs": (few,)}, "label and a unit"),
        ({"sample": {"x": np.zeros(3)}}, "3 values for 2"),
        ({"expected": {"y": np.array([np.nan, 0.0])}}, "not finite"),
        ({"expected": {}}, "names"),
    ):
        with pytest.raises(BackendError, match=words):
            TARGETS[target](dataclasses.replace(good, **change), tmp_path / "out")
    assert not (tmp_path / "out").exists()


HOSTILE = [
    "*/ int x; /*", "%{", "%}\n%{", "\n#error out\n", "\r\nraise SystemExit(9)\r", "'); exit(9); %", '"; panic!("', "int",
    "int32_t", "INT_LEAST8_MAX", "class", "None", "function", "end", "fn", "_", "__", "", "9", "é", "Ω", "日本",
    "\u202e", "\u2028exit(9)", "x" * 300, "??/", "\\", "\\\n", "-*- coding: utf-7 -*-", "coding: utf-7", "vim: set x:",
    "{0}{name}", "%s%n", "${x}", "`x`", "np", "sin", "math_", "self_test", "main", "supple_sin", "real", "i", "\x00", "#{",
    "ROBOT_X_A", "errno", "FP_NAN", "t3", "q[0]", "index", "count", "\ud800", "//", "/*/", "'''", '"""', "...", "\f",
    "\x1b[2J",
]  # fmt: skip
words = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=12), st.tuples(st.sampled_from(HOSTILE), st.text(max_size=3)).map("".join)
)


def hostile(robot: str, model: str, keys: list[str], label: str, unit: str) -> Package:
    """A package in which every word is of the enemy's choosing."""
    first, second, third = [*dict.fromkeys(keys), "x", "y_", "z__"][:3]
    x, y = symbols(first, 2), symbols(second, 1)
    outputs = {
        third: [named(sin(x[0]) * y[0], label) + named(x[1] * y[0], robot), neg(named(cos(x[1]), model)), x[0] + y[0]]
    }
    f = function(model, {first: x, second: y}, outputs)
    made = packed(f, robot, model, unit=unit)
    labels = (label, robot, model)
    inputs, outs = (
        [NamedArray(s.name, labels[: len(s.labels)], s.units) for s in side] for side in (made.inputs, made.outputs)
    )
    return dataclasses.replace(made, about=label + unit, inputs=tuple(inputs), outputs=tuple(outs))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
@given(words, words, st.lists(words, min_size=3, max_size=3), words, words)
def test_hostile_names_stay_names_in_c_and_python(
    tmp_path_factory: pytest.TempPathFactory, robot: str, model: str, keys: list[str], label: str, unit: str
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    made = hostile(robot, model, keys, label, unit)
    assert imported(TARGETS["python"](made, folder)[0]).self_test()
    ended = self_test("c", TARGETS["c"](made, folder))
    assert ended.returncode == 0 and ended.stdout.splitlines()[-1] == f"PASS {names.stem(made)}", ended
    stub = f"-I{Path(__file__).parent / 'data' / 'simulink_stub'}"
    sfun = TARGETS["simulink"](made, folder)[2]
    done(tool("gcc"), *STRICT, "-DMATLAB_MEX_FILE", stub, "-fsyntax-only", sfun, folder=folder)


def enemies() -> list[Package]:
    """Every hostile word in every place, in a fixed order."""
    turned = [HOSTILE[k:] + HOSTILE[:k] for k in range(7)]
    return [hostile(a, f"{b}{i}", [c, d, e], f, g) for i, (a, b, c, d, e, f, g) in enumerate(zip(*turned, strict=True))]


def test_hostile_names_stay_names_in_octave(tmp_path: Path) -> None:
    tests = [TARGETS["matlab"](made, tmp_path)[1].stem for made in enemies()]
    script = "\n".join([*(f"{name};" for name in tests), "puts('survived');"])
    (tmp_path / "all_of_them.m").write_text(script)
    output = done(tool("octave-cli"), "--norc", "--eval", "all_of_them", folder=tmp_path)
    assert output.count("PASS") == len(HOSTILE) and output.endswith("survived")


def test_hostile_names_stay_names_in_rust(tmp_path: Path) -> None:
    paths = [TARGETS["rust"](made, tmp_path)[0] for made in enemies()]
    lines = [f'#[path = "{path.name}"]\nmod m{k};\n' for k, path in enumerate(paths)]
    (tmp_path / "all.rs").write_text("#![deny(warnings)]\n" + "".join(lines))
    done(tool("rustc"), "--edition=2021", "--test", "all.rs", "-o", "all", folder=tmp_path)
    assert f"{len(paths)} passed" in done(tmp_path / "all", folder=tmp_path)


@given(st.text(max_size=60))
def test_words_are_safe_and_files_have_one_stem(text: str) -> None:
    made = dataclasses.replace(packed(odd_free()), robot=text, model=text[::-1])
    stem = names.stem(made)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+", stem) and len(stem) <= 40
    assert Names().unique(stem) == stem, "C keeps it"
    line = names.harmless(text)
    assert line.isascii() and line.isprintable() and not set(line) & set('"\\{}%?`$')
    assert "*/" not in line and "/*" not in line and len(line) <= 72


def test_an_intermediate_named_like_an_index_stays_a_variable(tmp_path: Path) -> None:
    x = symbols("q", 2)
    f = function("f", {"q": x}, {"y": [named(x[0] * x[1], "R_Q_1") + x[0], named(sin(x[0]), "Q_1") * x[1]]})
    made = packed(f, "r", label="{}")
    for target in SELF_TESTING:
        files = TARGETS[target](made, tmp_path / target)
        assert target != "c" or "#define R_Q_1 " in files[0].read_text()
        assert self_test(target, files).returncode == 0


def test_signals_are_listed_in_the_order_of_the_function(tmp_path: Path) -> None:
    made = package("odd")
    turned = dataclasses.replace(made, inputs=made.inputs[::-1], outputs=made.outputs[::-1])
    for name in RUNNERS:
        first, second = (TARGETS[name](x, tmp_path / f"{k} {name}") for k, x in enumerate((made, turned)))
        assert text_of(first) == text_of(second)
    header = text_of(TARGETS["c"](made, tmp_path))
    assert header.index(" x: 3") < header.index(" a: 1") < header.index(" matrix: 8") < header.index(" scalar: 1")


def test_elements_of_one_label_stay_apart(tmp_path: Path) -> None:
    header = TARGETS["c"](packed(odd_free(), label="q-1"), tmp_path)[0].read_text()
    defined = re.findall(r"#define (\w+) +\d", header)
    assert len(defined) == len(set(defined)) == 6
    assert {"ROBOT_X_Q_1", "ROBOT_X_Q_1_2", "ROBOT_X_SIZE"} <= set(defined)


def test_the_runner_of_rust_reads_every_digit(tmp_path: Path) -> None:
    made = packed(function("same", {"x": (x := symbols("x", 2))}, {"y": x}))
    given = [np.array([[1 / 3, -1e-300]])]
    assert np.array_equal(by_rust(made, TARGETS["rust"](made, tmp_path), given)[0], given[0])
    assert execute(sys.executable, "-c", "raise SystemExit(3)", folder=tmp_path).returncode == 3
