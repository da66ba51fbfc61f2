"""Hoisting: one Function split into a chain by dependence, to compute early what changes rarely."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from supple.expr.function import Array, Function
from supple.expr.node import Expr, Scalar, _node, symbol


def staged(f: Function, stages: Sequence[Collection[str]]) -> tuple[Function, ...]:
    """One Function per stage, in a chain whose composition is f.

    `stages` lists the names of the inputs that become known at each stage, such as parameters, pose and
    velocity; each input of f is named once. Function k takes the inputs of its stage and, after the first,
    the flat array `carried` that the one before it returns. The last returns the outputs of f.
    """
    _check_names(f, stages)
    level = _levels(f, stages)
    chain = []
    known: dict[Expr, Scalar] = {}
    carried: list[Expr] = []
    for k, names in enumerate(stages):
        inputs: dict[str, Array] = {name: f.inputs[name] for name in f.inputs if name in names}
        if k > 0:
            inputs["carried"] = _carriers(carried)
            known = dict(zip(carried, inputs["carried"], strict=True))
        last = k == len(stages) - 1
        needed = [] if last else _needed_later(f, level, k)
        values = _rebuilt(f, list(f.output_scalars()) if last else needed, known)
        if last:
            outputs = _shaped(f, values)
        else:
            carried = needed
            outputs = {"carried": _flat(values)}
        chain.append(Function(f"{f.name}_{k}", inputs, outputs))
    return tuple(chain)


def _check_names(f: Function, stages: Sequence[Collection[str]]) -> None:
    named = [name for names in stages for name in names]
    repeated = {name for name in named if named.count(name) > 1}
    wrong = repeated | set(named).symmetric_difference(f.inputs)
    if wrong:
        raise ValueError(f"{f.name}: every input belongs to one stage exactly; look at {', '.join(sorted(wrong))}")
    if "carried" in f.inputs:
        raise ValueError(f"{f.name}: the input name `carried` is taken by the split itself; rename that input")


def _levels(f: Function, stages: Sequence[Collection[str]]) -> dict[Expr, int]:
    """The first stage at which each node is known."""
    level = {x: k for k, names in enumerate(stages) for name in names for x in f.inputs[name].ravel()}
    for node in f.nodes:
        if node.op != "symbol":
            level[node] = max(level[a] for a in node.args if isinstance(a, Expr))
    return level


def _needed_later(f: Function, level: dict[Expr, int], k: int) -> list[Expr]:
    """What stages after k read of what is known at stage k, operands first."""
    read = {x for x in f.output_scalars() if isinstance(x, Expr)}
    for node in f.nodes:
        if level[node] > k:
            read.update(a for a in node.args if isinstance(a, Expr))
    return [node for node in f.nodes if node in read and level[node] <= k]


def _rebuilt(f: Function, wanted: Sequence[Scalar], known: dict[Expr, Scalar]) -> list[Scalar]:
    """The wanted values with the known nodes replaced, every other operation kept as it is."""
    done = dict(known)
    pending = [x for x in wanted if isinstance(x, Expr)]
    needed: set[Expr] = set()
    while pending:
        node = pending.pop()
        if node not in needed and node not in done:
            needed.add(node)
            if node.op != "symbol":
                pending.extend(a for a in node.args if isinstance(a, Expr))
    for node in f.nodes:
        if node not in needed:
            continue
        args = [done[a] if isinstance(a, Expr) else a for a in node.args] if node.op != "symbol" else []
        same = all(new is old for new, old in zip(args, node.args, strict=False))
        made = node if same else _node(node.op, *args)
        if made.label is None:
            made.label = node.label
        done[node] = made
    return [done[x] if isinstance(x, Expr) else x for x in wanted]


def _carriers(carried: Sequence[Expr]) -> Array:
    """New symbols for carried values, named after them where they have a name."""
    return _flat([symbol(x.label or f"carried[{i}]") for i, x in enumerate(carried)])


def _flat(values: Sequence[Scalar]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _shaped(f: Function, values: Sequence[Scalar]) -> dict[str, Array]:
    outputs, start = {}, 0
    for name, array in f.outputs.items():
        outputs[name] = _flat(values[start : start + array.size]).reshape(array.shape)
        start += array.size
    return outputs
