"""Functions evaluated with numpy over whole batches of states, no compiler needed.

Operations of the same kind and depth run as one numpy call on a table with a row per node and a column per state,
so wide graphs (many legs, many elements) and wide batches are both fast. Works in float64 and complex128.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Array, Function
from supple.expr.node import Expr, Scalar

_TABLE_ELEMENTS = 4_000_000  # floats in one working table: bigger batches go through in slices

_NUMPY: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "neg": np.negative, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": np.sign,
}  # fmt: skip

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class TableStep:
    """Rows start..stop of the table = op(rows first, rows second)."""

    op: str
    start: int
    stop: int
    first: Rows
    second: Rows | None


@dataclass(frozen=True)
class Schedule:
    rows: int
    inputs: tuple[tuple[str, Rows, Rows], ...]  # input name, its used flat elements, their rows
    constants: tuple[Rows, Array]
    steps: tuple[TableStep, ...]
    outputs: tuple[tuple[str, tuple[int, ...], Rows], ...]


def schedule(f: Function) -> Schedule:
    """The order of evaluation of f, widest steps possible."""
    row: dict[Expr, int] = {}
    used = {n for n in f.nodes if n.op == "symbol"}
    inputs = []
    for name, array in f.inputs.items():
        flat = [i for i, x in enumerate(array.ravel()) if x in used]
        start = len(row)
        for i in flat:
            row[array.ravel()[i]] = len(row)
        inputs.append((name, _rows(flat), np.arange(start, len(row), dtype=np.intp)))
    constants = {x: len(row) + k for k, x in enumerate(_constants(f))}

    def rows(operands: Iterable[Scalar]) -> Rows:
        return _rows(row[x] if isinstance(x, Expr) else constants[x] for x in operands)

    next_row = len(row) + len(constants)
    steps = []
    for op, nodes in _groups(f):
        row.update((node, next_row + k) for k, node in enumerate(nodes))
        first, *second = (rows(n.args[i] for n in nodes) for i in range(len(nodes[0].args)))
        steps.append(TableStep(op, next_row, next_row + len(nodes), first, second[0] if second else None))
        next_row += len(nodes)
    outputs = tuple((name, array.shape, rows(array.ravel())) for name, array in f.outputs.items())
    fixed = (_rows(constants.values()), np.array([float(c) for c in constants]))
    return Schedule(next_row, tuple(inputs), fixed, tuple(steps), outputs)


def _rows(numbers: Iterable[int]) -> Rows:
    return np.array(list(numbers), dtype=np.intp)


def _constants(f: Function) -> list[Any]:
    """The numbers among operands and outputs, each once."""
    operands = [a for n in f.nodes if n.op != "symbol" for a in n.args]
    return list(dict.fromkeys(x for x in [*operands, *f.output_scalars()] if not isinstance(x, Expr)))


def _groups(f: Function) -> list[tuple[str, list[Expr]]]:
    """Operations of the same kind and depth, the shallow ones first."""
    level: dict[Expr, int] = {}
    groups: dict[tuple[int, str], list[Expr]] = {}
    for node in f.nodes:
        if node.op != "symbol":
            depth = 1 + max((level.get(a, 0) for a in node.args if isinstance(a, Expr)), default=0)
            level[node] = depth
            groups.setdefault((depth, node.op), []).append(node)
    return [(op, nodes) for (_, op), nodes in sorted(groups.items(), key=lambda item: item[0][0])]


@dataclass(frozen=True)
class Interpreted:
    """A callable Function: arrays with leading batch axes in, arrays with the same batch axes out."""

    function: Function
    plan: Schedule

    def __call__(self, **inputs: Any) -> dict[str, Array]:
        given, batch = _broadcast(self.function, inputs)
        count = int(np.prod(batch)) if batch else 1
        kind = np.result_type(np.float64, *(a.dtype for a in given.values()))
        outputs = {name: np.empty((count, rows.size), dtype=kind) for name, _, rows in self.plan.outputs}
        width = max(1, _TABLE_ELEMENTS // max(1, self.plan.rows))
        for start in range(0, count, width):
            self._slice(given, outputs, slice(start, min(start + width, count)), kind)
        return {name: outputs[name].reshape((*batch, *shape)) for name, shape, _ in self.plan.outputs}

    def _slice(self, given: dict[str, Array], outputs: dict[str, Array], part: slice, kind: Any) -> None:
        plan = self.plan
        table = np.empty((plan.rows, part.stop - part.start), dtype=kind)
        for name, flat, rows in plan.inputs:
            table[rows] = given[name][part, flat].T
        table[plan.constants[0]] = plan.constants[1][:, None]
        for step in plan.steps:
            out = table[step.start : step.stop]
            if step.second is None:
                _NUMPY[step.op](table[step.first], out=out)
            else:
                _NUMPY[step.op](table[step.first], table[step.second], out=out)
        for name, _, rows in plan.outputs:
            outputs[name][part] = table[rows].T


def _broadcast(f: Function, inputs: dict[str, Any]) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Inputs as (states, elements) tables, and their common leading batch shape."""
    unknown = set(inputs) - set(f.inputs)
    missing = set(f.inputs) - set(inputs)
    if unknown or missing:
        raise TypeError(f"{f.name}: missing inputs {sorted(missing)}, unknown inputs {sorted(unknown)}")
    arrays = {}
    for name, symbols in f.inputs.items():
        array = np.asarray(inputs[name])
        if array.dtype.kind not in "fc":
            array = array.astype(np.float64)
        own = array.shape[array.ndim - symbols.ndim :] if symbols.ndim else ()
        if own != symbols.shape:
            raise ValueError(f"{f.name}: input {name} has shape {array.shape}, expected (..., {symbols.shape})")
        arrays[name] = array.reshape(*array.shape[: array.ndim - symbols.ndim], symbols.size)
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values())) if arrays else ()
    count = int(np.prod(batch)) if batch else 1
    return {name: np.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]) for name, a in arrays.items()}, batch


def interpret(f: Function) -> Interpreted:
    """f, ready to be called on arrays."""
    return Interpreted(f, schedule(f))
