"""`Stored`: a Function as plain arrays, to be kept in files and evaluated without its expression graph.

Values are numbered: the elements of the inputs in order, then the constants, then the operations, operands first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Array, Function
from supple.expr.node import ARITHMETIC, Expr

OPERATIONS = ("add", "sub", "mul", "div", "neg", "sin", "cos", "sqrt", "sign")
_CODES = {name: code for code, name in enumerate(OPERATIONS)}
_FORM = 1  # of the arrays; others are not read

Shapes = Mapping[str, tuple[int, ...]]
Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Stored:
    """Named inputs to named outputs by numbered operations: value = OPERATIONS[code](value first, value second)."""

    name: str
    inputs: Shapes
    outputs: Shapes
    constants: npt.NDArray[np.float64]
    code: Integers
    first: Integers
    second: Integers  # that of operations on one value is the value again
    results: Integers  # the values that the elements of the outputs are

    @property
    def places(self) -> dict[str, slice]:
        """Which values the elements of each input are."""
        made, begin = {}, 0
        for name, shape in self.inputs.items():
            end = begin + int(np.prod(shape, dtype=int))
            made[name] = slice(begin, end)
            begin = end
        return made

    @property
    def operations(self) -> int:
        """Additions, subtractions, multiplications, divisions and negations of one evaluation."""
        return int(np.isin(self.code, [_CODES[name] for name in ARITHMETIC]).sum())

    @property
    def given(self) -> int:
        """How many numbers the inputs are."""
        return sum(int(np.prod(shape, dtype=int)) for shape in self.inputs.values())

    def arrays(self) -> dict[str, Array]:
        """The operations as arrays, to be written to a file beside `words`."""
        whole = np.array([self.code, self.first, self.second], dtype=np.int32)
        return {"constants": self.constants, "operations": whole, "results": self.results}

    def words(self) -> dict[str, Any]:
        """The rest, as JSON has it."""
        shapes = {key: [list(pair) for pair in named.items()] for key, named in self._named().items()}
        return {"form": _FORM, "name": self.name, **shapes}

    def _named(self) -> dict[str, Shapes]:
        return {"inputs": self.inputs, "outputs": self.outputs}

    @classmethod
    def of(cls, words: Mapping[str, Any], arrays: Mapping[str, Array]) -> Stored | None:
        """What `words` and `arrays` were written of; None if another version wrote them."""
        if words.get("form") != _FORM:
            return None
        inputs, outputs = ({name: tuple(shape) for name, shape in words[key]} for key in ("inputs", "outputs"))
        code, first, second = arrays["operations"]
        return cls(words["name"], inputs, outputs, arrays["constants"], code, first, second, arrays["results"])


def constants_of(f: Function) -> list[Any]:
    """The numbers among operands and outputs, each once; 1 and 1.0 are equal, yet not the same to those who print them."""
    operands = (a for n in f.nodes if n.op != "symbol" for a in n.args)
    found: dict[tuple[type, Any], None] = {}
    for x in chain(operands, f.output_scalars()):
        if not isinstance(x, Expr):
            found[type(x), x] = None
    return [x for _, x in found]


def stored(f: Function) -> Stored:
    """f as plain arrays."""
    number: dict[Any, int] = {x: k for k, x in enumerate(f.input_symbols())}
    operations = [n for n in f.nodes if n.op != "symbol"]
    constants = {(type(x), x): len(number) + k for k, x in enumerate(constants_of(f))}
    begin = len(number) + len(constants)
    for k, node in enumerate(operations):
        number[node] = begin + k

    def value(x: Any) -> int:
        return number[x] if isinstance(x, Expr) else constants[type(x), x]

    first = [value(n.args[0]) for n in operations]
    second = [value(n.args[-1]) for n in operations]
    return Stored(
        f.name,
        {name: array.shape for name, array in f.inputs.items()},
        {name: array.shape for name, array in f.outputs.items()},
        np.array([float(x) for _, x in constants], dtype=np.float64),
        _integers([_CODES[n.op] for n in operations]),
        _integers(first),
        _integers(second),
        _integers([value(x) for x in f.output_scalars()]),
    )


def levels(f: Stored) -> list[npt.NDArray[np.intp]]:
    """Operations by depth and kind, those that need no others first: each group can be computed at once."""
    depth = [0] * (f.given + len(f.constants))
    fixed = len(depth)
    for a, b in zip(f.first.tolist(), f.second.tolist(), strict=True):
        depth.append(1 + max(depth[a], depth[b]))
    keys = np.stack([np.array(depth[fixed:], dtype=np.int32), f.code])
    order = np.lexsort(keys[::-1])
    sorted_keys = keys[:, order]
    edges = np.flatnonzero((sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)) + 1
    return [group for group in np.split(order, edges) if len(group)]


def _integers(numbers: list[int]) -> Integers:
    return np.array(numbers, dtype=np.int32)
