"""Functions written as plain arrays with their exact constants and names, and made again of them, node by node."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from supple.expr.function import Array, Function
from supple.expr.node import Expr, raw_node, symbol
from supple.expr.stored import OPERATIONS, Stored, constants_of, stored

_ONE = ("neg", "sin", "cos", "sqrt", "sign")


def written(f: Function) -> tuple[dict[str, Any], dict[str, Array]]:
    """f as words and arrays."""
    plain = stored(f)
    operations = [n for n in f.nodes if n.op != "symbol"]
    words = plain.words() | {
        "exact": [_number_written(x) for x in constants_of(f)],
        "labels": {str(k): n.label for k, n in enumerate(operations) if n.label is not None},
        "symbols": [str(x.args[0]) for x in f.input_symbols()],
        "symbol_labels": [x.label for x in f.input_symbols()],
    }
    return words, plain.arrays()


def restored(words: Mapping[str, Any], arrays: Mapping[str, Array]) -> Function | None:
    """What was written: a Function with the same nodes in the same order; None if another version wrote it."""
    plain = Stored.of(words, arrays)
    if plain is None:
        return None
    given: list[Any] = [symbol(name) for name in words["symbols"]]
    for x, label in zip(given, words["symbol_labels"], strict=True):
        x.label = label
    values = [*given, *(_number_read(x) for x in words["exact"])]
    nodes = _extended(plain, values)
    for k, label in words["labels"].items():
        nodes[int(k)].label = label
    inputs = {name: _array(given[part], plain.inputs[name]) for name, part in plain.places.items()}
    outputs, begin = {}, 0
    for name, shape in plain.outputs.items():
        size = int(np.prod(shape, dtype=int))
        outputs[name] = _array([values[i] for i in plain.results[begin : begin + size]], shape)
        begin += size
    return Function(plain.name, inputs, outputs)


def unfolded(f: Stored) -> Function:
    """The operations of f as they stand, its outputs one after the other in one: `results`."""
    given: list[Any] = [symbol(f"{name}[{k}]") for name, part in f.places.items() for k in range(part.stop - part.start)]
    values = [*given, *f.constants.tolist()]
    _extended(f, values)
    inputs = {name: _array(given[part], f.inputs[name]) for name, part in f.places.items()}
    return Function(f.name, inputs, {"results": _array([values[i] for i in f.results.tolist()], (len(f.results),))})


def _extended(f: Stored, values: list[Any]) -> list[Expr]:
    """The nodes of the operations, which are also put behind the values of inputs and constants."""
    before = len(values)
    for code, first, second in zip(f.code.tolist(), f.first.tolist(), f.second.tolist(), strict=True):
        op = OPERATIONS[code]
        values.append(raw_node(op, values[first]) if op in _ONE else raw_node(op, values[first], values[second]))
    return values[before:]


def _array(entries: list[Any], shape: tuple[int, ...]) -> Array:
    made = np.empty(len(entries), dtype=object)
    made[:] = entries
    return made.reshape(shape)


def _number_written(x: Any) -> Any:
    assert not isinstance(x, Expr)
    return {"fraction": str(x)} if isinstance(x, Fraction) else {"float": x.hex()} if isinstance(x, float) else int(x)


def _number_read(x: Any) -> Any:
    if isinstance(x, dict):
        return Fraction(x["fraction"]) if "fraction" in x else float.fromhex(x["float"])
    return x
