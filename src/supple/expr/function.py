"""`Function`: named inputs to named outputs, the one currency of equations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.node import ARITHMETIC, Expr, Scalar, symbol

Array = npt.NDArray[Any]


def symbols(name: str, shape: int | tuple[int, ...]) -> Array:
    """An object array of new symbols name[0], name[1], ..."""
    made = np.empty(shape, dtype=object)
    for index in np.ndindex(made.shape):
        made[index] = symbol(f"{name}[{','.join(map(str, index))}]")
    return made


def topological(roots: Iterable[Scalar]) -> list[Expr]:
    """All nodes under `roots`, operands before the operations that use them."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    for root in roots:
        if not isinstance(root, Expr) or root in seen:
            continue
        stack = [(root, iter(root.args))]
        seen.add(root)
        while stack:
            node, operands = stack[-1]
            for operand in operands:
                if isinstance(operand, Expr) and operand not in seen:
                    seen.add(operand)
                    stack.append((operand, iter(operand.args)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


@dataclass(frozen=True)
class Function:
    """Named outputs (object arrays of expressions) of named inputs (object arrays of symbols)."""

    name: str
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]

    def __post_init__(self) -> None:
        known = set(self.input_symbols())
        free = [n for n in self.nodes if n.op == "symbol" and n not in known]
        if free:
            raise ValueError(f"function {self.name}: {free[0]} is used but is not an input")

    def input_symbols(self) -> Iterator[Expr]:
        for array in self.inputs.values():
            yield from array.ravel()

    def output_scalars(self) -> Iterator[Scalar]:
        for array in self.outputs.values():
            yield from array.ravel()

    @cached_property
    def nodes(self) -> list[Expr]:
        """The expression graph of the outputs, operands first."""
        return topological(self.output_scalars())

    @cached_property
    def counts(self) -> Counter[str]:
        """How many operations of each kind one evaluation takes."""
        return Counter(node.op for node in self.nodes if node.op != "symbol")

    @property
    def operations(self) -> int:
        """Additions, subtractions, multiplications, divisions and negations of one evaluation."""
        return sum(self.counts[op] for op in ARITHMETIC)


_parameters: ContextVar[Array | None] = ContextVar("parameters", default=None)


@contextmanager
def kept_parameters(symbols: Array) -> Iterator[None]:
    """Functions made inside have these symbols, and those kept already, as an additional input `p`."""
    already = _parameters.get()
    every = symbols if already is None else np.concatenate([already, symbols])
    token = _parameters.set(every if every.size else None)
    try:
        yield
    finally:
        _parameters.reset(token)


def function(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Function:
    """A Function from anything array-like, with the kept parameters among its inputs."""
    kept = _parameters.get()
    if kept is not None:
        inputs = {**inputs, "p": kept}

    def arrays(named: Mapping[str, Any]) -> dict[str, Array]:
        return {key: np.asarray(value, dtype=object) for key, value in named.items()}

    return Function(name, arrays(inputs), arrays(outputs))
