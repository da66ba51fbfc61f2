"""Functions evaluated with numpy over whole batches of states, no compiler needed.

Operations of the same kind and depth run as one numpy call on a table with a row per node and a column per state,
so wide graphs (many legs, many elements) and wide batches are both fast. Works in float64 and complex128.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Array, Function
from supple.expr.stored import OPERATIONS, Shapes, Stored, levels, stored

_TABLE_ELEMENTS = 4_000_000  # floats in one working table: bigger batches go through in slices

_NUMPY: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "neg": np.negative, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": np.sign,
}  # fmt: skip

_TWO = ("add", "sub", "mul", "div")

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


def schedule(f: Stored) -> Schedule:
    """The order of evaluation of f, widest steps possible."""
    fixed = f.given + len(f.constants)
    groups = levels(f)
    row = np.arange(fixed + len(f.code))
    row[[fixed + k for group in groups for k in group]] = np.arange(fixed, fixed + len(f.code))
    steps = []
    for group in groups:
        op, start = OPERATIONS[f.code[group[0]]], int(row[fixed + group[0]])
        second = row[f.second[group]] if op in _TWO else None
        steps.append(TableStep(op, start, start + len(group), row[f.first[group]], second))
    inputs = tuple((name, _rows(range(s.stop - s.start)), _rows(range(s.start, s.stop))) for name, s in f.places.items())
    ends = np.cumsum([0, *(int(np.prod(shape, dtype=int)) for shape in f.outputs.values())])
    outputs = tuple(
        (name, shape, row[f.results[a:b]]) for (name, shape), a, b in zip(f.outputs.items(), ends, ends[1:], strict=False)
    )
    constants = np.arange(f.given, fixed), f.constants
    return Schedule(len(row), inputs, constants, tuple(steps), outputs)


def _rows(numbers: Iterable[int]) -> Rows:
    return np.array(list(numbers), dtype=np.intp)


@dataclass(frozen=True)
class Interpreted:
    """A callable Function: arrays with leading batch axes in, arrays with the same batch axes out."""

    stored: Stored
    plan: Schedule
    function: Function | None = None  # that it was made of, if it was at hand

    @property
    def inputs(self) -> Shapes:
        """Shapes of the inputs by name."""
        return self.stored.inputs

    def __call__(self, **inputs: Any) -> dict[str, Array]:
        tables, batch = broadcast(self.stored, inputs)
        count = int(np.prod(batch)) if batch else 1
        given = {name: np.broadcast_to(a, (count, a.shape[-1])) for name, a in tables.items()}
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


def broadcast(f: Stored, inputs: dict[str, Any]) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Inputs as (states, elements) tables, those of one state with a single row, and their common leading batch shape."""
    if inputs.keys() != f.inputs.keys():
        unknown, missing = set(inputs) - set(f.inputs), set(f.inputs) - set(inputs)
        raise TypeError(f"{f.name}: missing inputs {sorted(missing)}, unknown inputs {sorted(unknown)}")
    arrays = {}
    for name, shape in f.inputs.items():
        array = np.asarray(inputs[name])
        if array.dtype.kind not in "fc":
            array = array.astype(np.float64)
        lead = array.ndim - len(shape)
        if lead < 0 or array.shape[lead:] != shape:
            raise ValueError(f"{f.name}: input {name} has shape {array.shape}, expected (..., {shape})")
        arrays[name] = array.reshape(*array.shape[:lead], prod(shape))
    leads = {a.shape[:-1] for a in arrays.values()}
    shared = leads - {()}
    batch = np.broadcast_shapes(*shared) if len(shared) > 1 else next(iter(shared), ())
    count = prod(batch)
    tables = {}
    for name, a in arrays.items():
        if any(n != 1 for n in a.shape[:-1]):
            a = a if a.shape[:-1] == batch else np.broadcast_to(a, (*batch, a.shape[-1]))
            a = a.reshape(count, a.shape[-1])
        tables[name] = a.reshape(-1, a.shape[-1]) if a.shape[-1] else np.empty((1, 0))
    return tables, batch


def interpret(f: Function) -> Interpreted:
    """f, ready to be called on arrays."""
    made = stored(f)
    return Interpreted(made, schedule(made), f)
