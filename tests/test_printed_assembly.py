"""Assembly gives the bits of the C text: a second derivation of the same operations by a compiler."""

import ctypes

import numpy as np
import pytest

from supple.backends import assembly, c_source
from supple.backends.compiler import macros, shared_library
from supple.backends.native import Native, native
from supple.expr.function import Function, function, symbols
from supple.expr.node import Expr, cos, sign, sin, sqrt
from supple.machine import Machine

COUNT = assembly.registers(macros(), 4)
pytestmark = pytest.mark.skipif(not COUNT, reason="the processor or its compiler is of another kind")
LANES = (1, 4, 8) if COUNT == 32 else (1, 4)


def assembled(f: Function, lanes: int, count: int = COUNT) -> Native:
    made = assembly.for_lanes(assembly.assembled(f, count), lanes)
    text = "\n".join([c_source.header(), assembly.PROLOGUE, made, c_source.driver(f)])
    return Native(f, lanes, False, 1, ctypes.CDLL(str(shared_library(text, (f"-DSUPPLE_LANES={lanes}",)))))


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


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(("seed", "size", "count"), [(1, 40, COUNT), (2, 400, COUNT), (3, 400, 3), (4, 2000, 16)])
def test_bits_are_those_of_c(lanes: int, seed: int, size: int, count: int) -> None:
    f = tangle(seed, size)
    draw = np.random.default_rng(seed)
    given = {"x": draw.normal(size=(11, 5)), "y": draw.normal(size=(11, 2, 2))}
    found, expected = assembled(f, lanes, count)(**given), native(f, lanes=lanes)(**given)
    for name in f.outputs:
        assert np.array_equal(found[name], expected[name], equal_nan=True), name


def test_equations_of_a_robot() -> None:
    equations = Machine.read("five_bar").model().equations
    draw = np.random.default_rng(5)
    for f in (equations.forces, equations.closure, equations.energy):
        given = {k: draw.normal(size=(5, *a.shape)) for k, a in f.inputs.items()}
        found, expected = assembled(f, 4)(**given), native(f)(**given)
        assert all(np.array_equal(found[k], expected[k]) for k in f.outputs)


def test_functions_with_too_many_arrays_are_c() -> None:
    inputs = {f"x{k}": symbols(f"x{k}", 1) for k in range(20)}
    f = function("many", inputs, {"y": [sum(x[0] for x in inputs.values())]})
    assert assembly.assembled(f, COUNT) == c_source.body(f)


def test_other_processors_have_no_such_registers() -> None:
    assert assembly.registers("#define __aarch64__ 1\n#define __GNUC__ 12\n", 1) == 0
    assert assembly.registers("#define __x86_64__ 1\n#define __GNUC__ 12\n", 1) == 0
    older = "#define __x86_64__ 1\n#define __GNUC__ 12\n#define __AVX__ 1\n"
    assert [assembly.registers(older, lanes) for lanes in (1, 4, 8)] == [16, 16, 0]
