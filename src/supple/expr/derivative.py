"""Exact derivatives of expressions: forward along a direction, and reverse against a covector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from supple.expr.function import Array, Function, symbols, topological
from supple.expr.node import Expr, Scalar, add, cos, div, mul, neg, sin


def _partials(node: Expr) -> tuple[Scalar, ...]:
    """d node / d operand, one per operand."""
    op, args = node.op, node.args
    match op:
        case "add":
            return (1, 1)
        case "sub":
            return (1, -1)
        case "neg":
            return (-1,)
        case "mul":
            return (args[1], args[0])
        case "div":
            return (div(1, args[1]), neg(div(node, args[1])))
        case "sin":
            return (cos(args[0]),)
        case "cos":
            return (neg(sin(args[0])),)
        case "sqrt":
            return (div(1, mul(2, node)),)
        case "sign":
            return (0,)
    raise ValueError(f"no derivative rule for {op}")


def push_forward(outputs: Array, seeds: Mapping[Expr, Scalar]) -> Array:
    """Directional derivative of `outputs` when each symbol moves by its seed (unseeded symbols rest)."""
    return _pushed(outputs, topological(outputs.ravel()), seeds)


def _pushed(outputs: Array, nodes: Iterable[Expr], seeds: Mapping[Expr, Scalar]) -> Array:
    """push_forward by way of the nodes that may move, operands first."""
    tangent: dict[Expr, Scalar] = dict(seeds)
    for node in nodes:
        if node.op == "symbol" or node in tangent:
            continue
        total: Scalar = 0
        moving = [(i, a) for i, a in enumerate(node.args) if isinstance(a, Expr) and a in tangent]
        if not moving:
            continue
        partials = _partials(node)
        for i, operand in moving:
            total = add(total, mul(partials[i], tangent[operand]))
        if isinstance(total, Expr) or total != 0:
            tangent[node] = total
    flat = [tangent.get(x, 0) if isinstance(x, Expr) else 0 for x in outputs.ravel()]
    return _object_array(flat, outputs.shape)


def pull_back(outputs: Array, weights: Array, wrt: Array) -> Array:
    """Gradient of sum(weights * outputs) with respect to the symbols `wrt`."""
    adjoint: dict[Expr, Scalar] = {}
    for output, weight in zip(outputs.ravel(), weights.ravel(), strict=True):
        if isinstance(output, Expr):
            adjoint[output] = add(adjoint.get(output, 0), weight)
    for node in reversed(topological(outputs.ravel())):
        bar = adjoint.get(node, 0)
        if node.op == "symbol" or (not isinstance(bar, Expr) and bar == 0):
            continue
        for operand, partial in zip(node.args, _partials(node), strict=True):
            if isinstance(operand, Expr):
                adjoint[operand] = add(adjoint.get(operand, 0), mul(bar, partial))
    return _object_array([adjoint.get(x, 0) for x in wrt.ravel()], wrt.shape)


def directional(f: Function, seeds: Mapping[str, Any], direction: Array, name: str) -> Function:
    """The Function d f along `direction`: input name -> tangent of that input, as expressions of `direction`."""
    moved: dict[Expr, Scalar] = {}
    for key, tangent in seeds.items():
        for x, dx in zip(f.inputs[key].ravel(), np.asarray(tangent, dtype=object).ravel(), strict=True):
            moved[x] = dx
    outputs = {key: push_forward(value, moved) for key, value in f.outputs.items()}
    return Function(name, {**f.inputs, "direction": direction}, outputs)


def jacobian(outputs: Array, wrt: Array) -> Array:
    """The dense matrix d outputs / d wrt as expressions, for small functions."""
    nodes = topological(outputs.ravel())
    above: dict[Expr, list[int]] = {}  # places of the nodes that read a node
    for place, node in enumerate(nodes):
        if node.op != "symbol":
            for x in node.args:
                if isinstance(x, Expr):
                    above.setdefault(x, []).append(place)
    columns = [_pushed(outputs.ravel(), _reached(nodes, above, x), {x: 1}) for x in wrt.ravel()]
    return np.stack(columns, axis=1) if columns else np.zeros((outputs.size, 0), dtype=object)


def _reached(nodes: Sequence[Expr], above: Mapping[Expr, Sequence[int]], x: Expr) -> Iterator[Expr]:
    """Nodes that depend on x, operands first."""
    places = set(above.get(x, ()))
    ahead = list(places)
    while ahead:
        for place in above.get(nodes[ahead.pop()], ()):
            if place not in places:
                places.add(place)
                ahead.append(place)
    return (nodes[place] for place in sorted(places))


def differentiate(f: Function, wrt: str, name: str | None = None) -> Function:
    """The directional derivative of f along an arbitrary direction of its input `wrt`."""
    direction = symbols("d_" + wrt, f.inputs[wrt].shape)
    return directional(f, {wrt: direction}, direction, name or f"{f.name}_d_{wrt}")


def _object_array(flat: list[Scalar], shape: tuple[int, ...]) -> Array:
    made = np.empty(len(flat), dtype=object)
    made[:] = flat
    return made.reshape(shape)


__all__ = ["differentiate", "directional", "jacobian", "pull_back", "push_forward"]
