"""Scalar expressions: immutable, hash-consed, sign-normalised, with exact rational constants.

Constants are plain Python numbers (int, Fraction, float); an `Expr` is anything that still depends on a symbol.
Equal sub-expressions are the same object, so `is` is equality. Negations move outwards: (-a)*b is -(a*b), a-b
is stored once for both signs, cos(-a) is cos(a).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from weakref import ref

Number = int | float | Fraction
HALF = Fraction(1, 2)

ARITHMETIC = ("add", "sub", "mul", "div", "neg")
FUNCTIONS = ("sin", "cos", "sqrt", "sign")

_serial = itertools.count()
_RATIONAL_BITS = 512  # beyond this an exact constant is not worth its digits


class Expr:
    """One node: an operation and its operands (Exprs or numbers), or a named symbol."""

    __slots__ = ("__weakref__", "args", "family", "label", "op", "serial")
    op: str
    args: tuple[Any, ...]
    label: str | None
    serial: int
    family: list[Expr] | None  # of a symbol that is a parameter: all that belong to it

    def __add__(self, other: Scalar) -> Scalar:
        try:
            return add(self, other)
        except TypeError:
            return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        try:
            return sub(self, other)
        except TypeError:
            return NotImplemented

    def __rsub__(self, other: Scalar) -> Scalar:
        return sub(other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        try:
            return mul(self, other)
        except TypeError:
            return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return div(self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return div(other, self)

    def __neg__(self) -> Scalar:
        return neg(self)

    def __pos__(self) -> Expr:
        return self

    def __pow__(self, power: int) -> Scalar:
        if not isinstance(power, int):
            return NotImplemented
        if power < 0:
            return div(1, self**-power)
        result: Scalar = 1
        for _ in range(power):
            result = mul(result, self)
        return result

    def sin(self) -> Scalar:
        return sin(self)

    def cos(self) -> Scalar:
        return cos(self)

    def sqrt(self) -> Scalar:
        return sqrt(self)

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value; compare numbers, not symbols")

    def __repr__(self) -> str:
        if self.op == "symbol":
            return str(self.args[0])
        return f"<{self.op} #{self.serial}>"

    def __reduce__(self) -> str:
        raise TypeError("expressions are not pickled; rebuild them")


Scalar = Number | Expr  # numpy object arrays carry both


class _Known(ref[Expr]):
    """A node that goes when nobody else refers to it; a WeakValueDictionary's take three times as long to make."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


_nodes: dict[tuple[Any, ...], _Known] = {}


def _forget(known: ref[Expr]) -> None:
    assert isinstance(known, _Known)
    if _nodes.get(known.key) is known:
        del _nodes[known.key]


def raw_node(op: str, *args: Scalar) -> Expr:
    """The node of an operation exactly as it stands, for those who write down nodes that were made before."""
    return _node(op, *args)


def _node(op: str, *args: Scalar) -> Expr:
    key = (op, *args)
    known = _nodes.get(key)
    found = None if known is None else known()
    if found is None:
        found = Expr()
        found.op, found.args, found.label, found.serial = op, args, None, next(_serial)
        found.family = None
        known = _nodes[key] = _Known(found, _forget)
        known.key = key
    return found


def symbol(name: str) -> Expr:
    """A new independent symbol; two symbols of the same name are different."""
    made = Expr()
    made.op, made.args, made.label, made.serial = "symbol", (name,), name, next(_serial)
    made.family = None
    return made


def parameter(name: str, family: list[Expr]) -> Expr:
    """A new symbol that joins a family: what depends on one of them has them all as its input `p` (`expr.function`)."""
    made = symbol(name)
    made.family = family
    family.append(made)
    return made


def number(x: Any) -> Number:
    """A plain Python number: rationals stay exact, numpy scalars become float, huge fractions are rounded."""
    if type(x) is float or type(x) is int:
        return x
    if isinstance(x, (int, float)):
        return x + 0 if isinstance(x, bool) else float(x) if isinstance(x, float) else x
    if isinstance(x, Fraction):
        if x.denominator == 1:
            return x.numerator
        return float(x) if x.denominator.bit_length() > _RATIONAL_BITS else x
    return float(x)


def add_numbers(a: Number, b: Number) -> Number:
    """a + b, with a float result that is only the rounding of a cancellation snapped to zero."""
    total: Any = a + b
    if isinstance(total, float) and abs(total) <= 4e-16 * max(abs(float(a)), abs(float(b))):
        return 0
    return number(total)


def add(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Expr):
        if not isinstance(b, Expr):
            return add_numbers(number(a), number(b))
        a, b = b, a
    if not isinstance(b, Expr):
        b = number(b)
        if b == 0:
            return a
        if a.op == "neg":
            return sub(b, a.args[0])
        if b < 0:
            return _node("sub", a, -b)
        return _node("add", a, b)
    if a is b:
        return mul(2, a)
    if a.op == "neg":
        return neg(add(a.args[0], b.args[0])) if b.op == "neg" else sub(b, a.args[0])
    if b.op == "neg":
        return sub(a, b.args[0])
    return _node("add", a, b) if a.serial < b.serial else _node("add", b, a)


def sub(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(b, Expr):
        return add(a, -number(b))
    if not isinstance(a, Expr):
        a = number(a)
        if a == 0:
            return neg(b)
        if b.op == "neg":
            return add(b.args[0], a)
        return neg(_node("sub", b, a)) if a > 0 else neg(_node("add", b, -a))
    if a is b:
        return 0
    if b.op == "neg":
        return add(a, b.args[0])
    if a.op == "neg":
        return neg(add(a.args[0], b))
    return _node("sub", a, b) if a.serial < b.serial else neg(_node("sub", b, a))


def neg(a: Scalar) -> Scalar:
    if not isinstance(a, Expr):
        return -number(a)
    if a.op == "neg":
        inner: Scalar = a.args[0]
        return inner
    if a.op == "mul" and not isinstance(a.args[0], Expr):
        return mul(-a.args[0], a.args[1])
    return _node("neg", a)


def mul(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Expr):
        return _times(number(a), b) if isinstance(b, Expr) else number(number(a) * number(b))
    if not isinstance(b, Expr):
        return _times(number(b), a)
    if a.op == "neg":
        return mul(a.args[0], b.args[0]) if b.op == "neg" else neg(mul(a.args[0], b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    return _node("mul", a, b) if a.serial < b.serial else _node("mul", b, a)


def _times(k: Number, x: Expr) -> Scalar:
    if k == 0:
        return 0
    if k == 1:
        return x
    if k == -1:
        return neg(x)
    if x.op == "neg":
        return mul(-k, x.args[0])
    if x.op == "mul" and not isinstance(x.args[0], Expr):
        return mul(number(k * x.args[0]), x.args[1])
    return _node("mul", k, x)


def div(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(b, Expr):
        b = number(b)
        if b == 0:
            raise ZeroDivisionError("division of an expression by zero")
        return mul(a, Fraction(1) / b if isinstance(b, (int, Fraction)) else 1.0 / b)
    if not isinstance(a, Expr):
        a = number(a)
        if a == 0:
            return 0
        if b.op == "neg":
            return _node("div", -a, b.args[0])
        return _node("div", a, b)
    if a is b:
        return 1
    if a.op == "neg":
        return div(a.args[0], b.args[0]) if b.op == "neg" else neg(div(a.args[0], b))
    if b.op == "neg":
        return neg(div(a, b.args[0]))
    return _node("div", a, b)


# Values of sin and cos that a rounded angle such as pi/2 or 60 degrees must not spoil.
_EXACT: dict[float, Number] = {0.0: 0, 1.0: 1, -1.0: -1, 0.5: HALF, -0.5: -HALF}


def _snapped(value: float) -> Number:
    for exact, replacement in _EXACT.items():
        if abs(value - exact) < 2e-16:
            return replacement
    return value


def sin(x: Scalar) -> Scalar:
    if not isinstance(x, Expr):
        return _snapped(math.sin(x))
    return neg(_node("sin", x.args[0])) if x.op == "neg" else _node("sin", x)


def cos(x: Scalar) -> Scalar:
    if not isinstance(x, Expr):
        return _snapped(math.cos(x))
    return _node("cos", x.args[0]) if x.op == "neg" else _node("cos", x)


def sqrt(x: Scalar) -> Scalar:
    if not isinstance(x, Expr):
        root = math.sqrt(x)
        return int(root) if root.is_integer() and root * root == x else root
    return _node("sqrt", x)


def sign(x: Scalar) -> Scalar:
    if not isinstance(x, Expr):
        return (x > 0) - (x < 0)
    return neg(_node("sign", x.args[0])) if x.op == "neg" else _node("sign", x)


BUILD: dict[str, Callable[..., Scalar]] = {
    "add": add, "sub": sub, "mul": mul, "div": div, "neg": neg,
    "sin": sin, "cos": cos, "sqrt": sqrt, "sign": sign,
}  # fmt: skip


def named(x: Scalar, label: str) -> Scalar:
    """x itself, carrying the literature's name for it (the first name given stays)."""
    if isinstance(x, Expr):
        bare, sign_ = (x.args[0], "minus_") if x.op == "neg" else (x, "")
        if bare.label is None:
            bare.label = sign_ + label
    return x
