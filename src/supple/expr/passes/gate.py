"""The gate after every pass: old and new Function agree at random points, within their own rounding.

Each value is computed in float64 together with a first-order bound of its rounding error, so that an
ill-conditioned point widens the tolerance by what it deserves and a wrong pass still shows.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from supple.expr.function import Floats, Function
from supple.expr.node import Expr
from supple.expr.stored import OPERATIONS, levels, stored

Measured = tuple[Floats, Floats]  # values at the points, bounds of their errors

_POINTS = 6
_SLACK = 32.0  # first-order bounds of two roundings, with room for the order of summation
_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


class PassError(RuntimeError):
    """A pass changed the value of a Function: a defect of the optimiser, not of the user's robot."""


def sample(f: Function, seed: int) -> dict[Expr, Floats]:
    """Values of moderate size for every input symbol: half of the points of any sign, half positive."""
    source = random.Random(f"{seed} {f.name}")
    half = _POINTS // 2
    drawn: dict[Expr, Floats] = {}
    for x in f.input_symbols():
        mixed = [source.choice((-1, 1)) * source.uniform(0.3, 1.7) for _ in range(half)]
        drawn[x] = np.array(mixed + [source.uniform(0.3, 1.7) for _ in range(_POINTS - half)])
    return drawn


def measure(f: Function, point: dict[Expr, Floats]) -> list[Measured]:
    """The output scalars of f at the points, each with a bound of its rounding error.

    Operations of the same kind and depth are computed at once."""
    plain = stored(f)
    fixed = plain.given + len(plain.constants)
    values, errors = np.zeros((2, fixed + len(plain.code), _POINTS))
    for k, x in enumerate(f.input_symbols()):
        values[k] = point.get(x, 0.0)
    values[plain.given : fixed] = plain.constants[:, None]
    errors[plain.given : fixed] = _EPS * np.abs(values[plain.given : fixed])
    with np.errstate(all="ignore"):
        for group in levels(plain):
            rule, at = _RULES[OPERATIONS[plain.code[group[0]]]], fixed + group
            operands = [(values[i], errors[i]) for i in (plain.first[group], plain.second[group])]
            value, inherited = rule(*operands[: rule.__code__.co_argcount])
            values[at], errors[at] = value, inherited + _EPS * np.abs(value)
    return [(values[i], errors[i]) for i in plain.results]


def error_growth(old: Function, new: Function, name: str, seed: int = 0) -> float:
    """How many times larger rounding errors may be in new than in old, the worst of the outputs.

    Raises a PassError naming the pass `name` where new differs from old by more than rounding.
    """
    growth = 0.0
    point = sample(old, seed)
    where = [(key, i) for key, array in old.outputs.items() for i in range(array.size)]
    pairs = zip(where, measure(old, point), measure(new, point), strict=True)
    for (key, i), (before, error_before), (after, error_after) in pairs:
        with np.errstate(all="ignore"):
            allowed = _SLACK * (error_before + error_after) + _TINY
            wrong = np.isfinite(before) & np.isfinite(allowed) & ~(np.abs(after - before) <= allowed)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise PassError(
                f"pass {name} changed output {key}[{i}] of {old.name}: {float(before[k])!r} became "
                f"{float(after[k])!r}, allowed difference {float(allowed[k]):.1e}. "
                f"Leave the pass out (optimise(f, passes=...)) and report this."
            )
        rated = np.isfinite(allowed) & (error_before > 0)
        if rated.any():
            growth = max(growth, float(np.median(error_after[rated] / error_before[rated])))
    return growth


def _mul(a: Measured, b: Measured) -> Measured:
    return a[0] * b[0], np.abs(a[0]) * b[1] + np.abs(b[0]) * a[1] + a[1] * b[1]


def _div(a: Measured, b: Measured) -> Measured:
    value = a[0] / b[0]
    left = np.abs(b[0]) - _SLACK * b[1]
    return value, np.where(left > 0, (a[1] + np.abs(value) * b[1]) / left, np.inf)


def _sqrt(a: Measured) -> Measured:
    value = np.sqrt(a[0])
    return value, np.where(a[0] > _SLACK * a[1], a[1] / value, np.inf)


def _sign(a: Measured) -> Measured:
    return np.sign(a[0]), np.where(np.abs(a[0]) > _SLACK * a[1], 0.0, np.inf)


_RULES: dict[str, Any] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[0], a[1] + b[1]),
    "neg": lambda a: (-a[0], a[1]),
    "mul": _mul,
    "div": _div,
    "sin": lambda a: (np.sin(a[0]), a[1]),
    "cos": lambda a: (np.cos(a[0]), a[1]),
    "sqrt": _sqrt,
    "sign": _sign,
}
