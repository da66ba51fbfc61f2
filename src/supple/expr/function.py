"""`Function`: named inputs to named outputs, the one currency of equations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.node import ARITHMETIC, Expr, Scalar, parameter, symbol

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


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
        stack = [root]
        seen.add(root)
        while stack:
            for operand in stack[-1].args:
                if type(operand) is Expr and operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
                    break
            else:
                order.append(stack.pop())
    return order


@dataclass(frozen=True)
class Function:
    """Named outputs (object arrays of expressions) of named inputs (object arrays of symbols).

    Parameters that the outputs depend on, and their families, are its input `p`, whether they were named or not."""

    name: str
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]

    def __post_init__(self) -> None:
        known = set(self.input_symbols())
        free = [n for n in self.nodes if n.op == "symbol" and n not in known]
        unknown = [n for n in free if n.family is None]
        if unknown:
            raise ValueError(f"function {self.name}: {unknown[0]} is used but is not an input")
        if free:
            object.__setattr__(self, "inputs", {**self.inputs, "p": _with_families(self.inputs.get("p"), free)})

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


def _with_families(already: Array | None, members: Iterable[Expr]) -> Array:
    """Inputs `p` that hold the families of these parameters too, the eldest first."""
    families = {id(x.family): x.family for x in members if x.family is not None}
    eldest = sorted(families.values(), key=lambda family: family[0].serial)
    return _vector([*([] if already is None else already.ravel()), *(x for family in eldest for x in family)])


def _vector(entries: Iterable[Scalar]) -> Array:
    """An object array of scalars."""
    listed = list(entries)
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return made


def parameters(names: Iterable[str]) -> Array:
    """A family of new parameters."""
    family: list[Expr] = []
    return _vector([parameter(name, family) for name in names])


def function(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Function:
    """A Function from anything array-like."""

    def arrays(named: Mapping[str, Any]) -> dict[str, Array]:
        return {key: np.asarray(value, dtype=object) for key, value in named.items()}

    return Function(name, arrays(inputs), arrays(outputs))


def with_parameters(f: Function, p: Array) -> Function:
    """The Function with these parameters as its input `p` even if nothing depends on them."""
    return f if "p" in f.inputs or not p.size else Function(f.name, {**f.inputs, "p": p}, f.outputs)
