"""Assembly gives the bits of the C text: a second derivation of the same operations by a compiler."""

import ctypes

import numpy as np
import pytest

from supple.backends import assembly, c_source, sequence
from supple.backends.compiler import macros, shared_library
from supple.backends.native import Native, native, printed
from supple.expr.function import Function, function, symbols
from supple.expr.node import Expr, cos, sign, sin, sqrt
from supple.machine import Machine

COUNT = assembly.registers(macros(), 4)
pytestmark = pytest.mark.skipif(not COUNT, reason="the processor or its compiler is of another kind")
KINDS = [
    (lanes, single)
    for lanes, single in ((1, False), (4, False), (8, False), (4, True), (8, True), (16, True))
    if assembly.registers(macros(), lanes, single)
]


def compiled(f: Function, text: str, lanes: int, single: bool) -> Native:
    flags = (f"-DSUPPLE_LANES={lanes}", *(["-DSUPPLE_SINGLE"] if single else []))
    return Native(f, lanes, single, 1, ctypes.CDLL(str(shared_library(text + c_source.driver(f), flags))))


def assembled(f: Function, lanes: int, single: bool = False, count: int = COUNT, ordered: bool = False) -> Native:
    made = assembly.for_lanes(assembly.assembled(f, count, ordered), lanes, single)
    return compiled(f, "\n".join([c_source.header(), assembly.PROLOGUE, made]), lanes, single)


def in_c(f: Function, lanes: int, single: bool = False) -> Native:
    return compiled(f, c_source.source(f), lanes, single)


def tangle(seed: int, size: int) -> Function:
    """A Function of operations on any of those before, calls of what was computed among them."""
    draw = np.random.default_rng(seed)
    x, y = symbols("x", 5), symbols("y", (2, 2))
    known: list = [*x, *y.ravel()]
    for k in range(size):
        a, b = (known[i] for i in draw.integers(max(0, len(known) - 40), len(known), 2))
        a, b = (known[draw.integers(9)] if k % 5 == 0 else a), (0.75 if k % 7 == 0 else b)
        made = [
            a + b, a - b, a * b * 0.5, 2 - a, a / (1.5 + b * b), -a, sin(a), cos(a), sqrt(1.25 + a * a), sign(a),
            3 / (2 + a * a),
        ][draw.integers(11)]  # fmt: skip
        if isinstance(made, Expr):
            known.append(made)
    return function(
        "tangle", {"x": x, "y": y}, {"some": [*known[-30:], 2.5, 0, -1], "inputs": [x[3], -y[0, 1], 0], "none": []}
    )


@pytest.mark.parametrize(("lanes", "single"), KINDS)
@pytest.mark.parametrize(
    ("seed", "size", "count", "ordered"),
    [(1, 40, COUNT, True), (2, 400, COUNT, False), (2, 400, COUNT, True), (3, 400, 3, False), (4, 2000, 16, True)],
)
def test_bits_are_those_of_c(lanes: int, single: bool, seed: int, size: int, count: int, ordered: bool) -> None:
    f = tangle(seed, size)
    draw = np.random.default_rng(seed)
    given = {"x": draw.normal(size=(11, 5)), "y": draw.normal(size=(11, 2, 2))}
    found, expected = assembled(f, lanes, single, count, ordered)(**given), in_c(f, lanes, single)(**given)
    for name in f.outputs:
        assert np.array_equal(found[name], expected[name], equal_nan=True), name
        assert np.array_equal(np.signbit(found[name]), np.signbit(expected[name])), name


def test_equations_of_a_robot() -> None:
    equations = Machine.read("five_bar").model().equations
    draw = np.random.default_rng(5)
    for f in (equations.forces, equations.closure, equations.energy):
        given = {k: draw.normal(size=(5, *a.shape)) for k, a in f.inputs.items()}
        found, expected = assembled(f, 4)(**given), in_c(f, 1)(**given)
        assert all(np.array_equal(found[k], expected[k]) for k in f.outputs)


def test_functions_with_too_many_arrays_are_c() -> None:
    inputs = {f"x{k}": symbols(f"x{k}", 1) for k in range(20)}
    f = function("many", inputs, {"y": [sum(x[0] for x in inputs.values())]})
    assert assembly.assembled(f, COUNT) == c_source.body(f)


def test_other_processors_have_no_such_registers() -> None:
    assert assembly.registers("#define __aarch64__ 1\n#define __GNUC__ 12\n", 1) == 0
    assert assembly.registers("#define __x86_64__ 1\n#define __GNUC__ 12\n", 1) == 0
    older = "#define __x86_64__ 1\n#define __GNUC__ 12\n#define __AVX__ 1\n"
    assert [assembly.registers(older, lanes) for lanes in (1, 4, 8, 16)] == [16, 16, 0, 0]
    assert [assembly.registers(older, lanes, single=True) for lanes in (1, 4, 8, 16)] == [0, 16, 16, 0]


def lines_of(f: Function, count: int, ordered: bool = True) -> list[str]:
    return [
        x.strip('"').removesuffix("\\n") for x in assembly.assembled(f, count, ordered).splitlines() if x.startswith('"v')
    ]


def test_states_in_lanes_are_computed_by_assembly() -> None:
    f = tangle(6, 200)
    draw = np.random.default_rng(6)
    given = {"x": draw.normal(size=(19, 5)), "y": draw.normal(size=(19, 2, 2))}
    for lanes, single in KINDS:
        assert ("__asm__" in printed(f, lanes, single)) == (lanes > 1)
        found, expected = native(f, lanes=lanes, single=single)(**given), in_c(f, 1, single)(**given)
        assert all(np.array_equal(found[k], expected[k], equal_nan=True) for k in f.outputs)
    assert "__asm__" not in printed(f, 16, False)


def test_numbers_are_stored_once_and_kept_where_they_are_read_again_soon() -> None:
    x = symbols("x", 40)
    f = function("scaled", {"x": x}, {"y": [a * 0.3 for a in x] + [a + 0.0 for a in x[:2]] + [-0.0, 0.0]})
    lines = lines_of(f, 32)
    assert sum("vspread$" in line for line in lines) == 3  # 0.3, and the outputs 0.0 and -0.0
    assert not any("{all}" in line for line in lines)
    assert any("*.Lw(%0)" in line for line in lines_of(f, 16))  # older processors have vectors of numbers in memory


def test_what_memory_holds_leaves_registers_first() -> None:
    """Inputs wait in memory, sums do not: of values that are read again late, no sum is stored while inputs can go."""
    x, y = symbols("x", 4), symbols("y", 6)
    sums = [a + b for a, b in zip(x[:2], x[2:], strict=True)]
    scaled = [a * a for a in y]
    f = function("late", {"x": x, "y": y}, {"z": [*scaled, sums[0] * sums[1] * x[0] * x[1] * x[2] * x[3]]})
    stores = [line for line in lines_of(f, 8, ordered=False) if line.startswith("vmov$ @") and line.endswith("(%1)")]
    assert not stores


def test_sines_and_cosines_of_all_angles_are_one_call() -> None:
    x = symbols("x", 3)
    f = function("turned", {"x": x}, {"y": [sin(x[0]) * cos(x[0]), sin(x[1] + x[2]), cos(x[2]), sign(x[2])]})
    text = assembly.assembled(f, COUNT, ordered=True)
    assert text.count("supple_sincos_of(3, ") == 1 and text.count("supple_sincos") == 1


def test_order_keeps_operands_first_and_puts_what_waits_off() -> None:
    f = tangle(7, 600)
    (*_, last) = sequence.turns(f)
    made = sequence.spaced(last)
    place = {n: k for k, n in enumerate(made)}
    assert len(place) == len(last) and set(place) == set(last)
    assert all(place[x] < place[n] for n in made for x in n.args if x in place)
    x = symbols("x", 30)
    slow = [1 / x[0]]
    slow.append(slow[0] * x[1])
    quick = [a * a for a in x[2:]]
    made = sequence.spaced([*slow, *quick])
    assert made[0] is slow[0] and made.index(slow[1]) > 20
