"""Expressions with symbols replaced, and the numbers they have at a sample state."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import is_
from typing import Any

import numpy as np

from supple.expr.function import Array, topological
from supple.expr.node import BUILD, Expr


def substituted(outputs: Array, values: Mapping[Expr, Any]) -> Array:
    """Outputs with symbols replaced by numbers or expressions."""
    known: dict[Expr, Any] = dict(values)
    for node in topological(outputs.ravel()):
        if node.op != "symbol" and node not in known:
            args = [known.get(a, a) if isinstance(a, Expr) else a for a in node.args]
            same = all(map(is_, args, node.args))
            known[node] = node if same else BUILD[node.op](*args)
    made = np.empty(outputs.size, dtype=object)
    made[:] = [known.get(x, x) if isinstance(x, Expr) else x for x in outputs.ravel()]
    return made.reshape(outputs.shape)


def estimates(outputs: Array, sample: Mapping[Expr, float], unknown: float | None = None) -> Any:
    """The numbers that expressions have at a sample state; symbols without a value (kept parameters) are
    `unknown`, or get numbers near one, all different, so that nothing vanishes by chance."""
    known: dict[Expr, float] = {}
    for node in topological(outputs.ravel()):
        if node.op == "symbol":
            usual = 0.5 + (0.6180339887 * len(known)) % 1.0 if unknown is None else unknown
            known[node] = sample.get(node, usual)
        else:
            known[node] = _NUMBERS[node.op](*(known[y] if isinstance(y, Expr) else float(y) for y in node.args))
    return np.array([known[x] if isinstance(x, Expr) else float(x) for x in outputs.ravel()]).reshape(outputs.shape)


_NUMBERS: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else math.inf,
    "neg": lambda a: -a,
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": lambda a: math.sqrt(max(a, 0.0)),
    "sign": lambda a: (a > 0) - (a < 0),
}
