"""Numbers in a robot file: exact decimals, units as text ("70 GPa"), and arithmetic with named parameters.

A value is parsed into a small tree by the parser below and evaluated in a scope, never by Python itself.
Dimensions are powers of (metre, kilogram, second, cycle): hertz is not a radian per second.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from supple.robot.units import DIMENSIONS, NONE, SYMBOLS, UNITS, Dimension


def is_number(x: Any) -> bool:
    """Whether a value is a number, not a symbol that the caller keeps."""
    return isinstance(x, numbers.Real)


_EXACT = (
    0,
    1,
    -1,
    Fraction(1, 2),
    Fraction(-1, 2),
)  # what sin and cos of right and 60 degree angles stand for
NAMED_NUMBERS: dict[str, Any] = {"pi": math.pi}
CALLS = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "atan": math.atan,
    "acos": math.acos,
}
TAKEN = {*UNITS, *NAMED_NUMBERS, *CALLS}  # names that no parameter may have

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(rf"\s*(?:({_NUMBER})|([A-Za-z_]\w*)|(\*\*|[-+*/^()]))", re.ASCII)
_LONGEST = 300  # characters of a value
_DEEPEST = 40  # parentheses, signs and powers inside each other
_LARGEST = Fraction(10) ** 150  # of an intermediate number, and of its inverse
_BITS = 490  # numbers of at most so many bits before or behind the point are far from either
_DIGITS = 1 << 13  # bits of an exact intermediate number; beyond them it is rounded


class QuantityError(ValueError):
    """A value that cannot be read; the message says why."""


@dataclass(frozen=True)
class Value:
    """A number (or a symbol kept by the caller) with its dimension; `bare` values fit any field."""

    number: Any
    dimension: Dimension | None  # None: no unit was given


@dataclass(frozen=True)
class Quantity:
    """A value as written: its text and its parsed tree."""

    text: str
    tree: tuple[Any, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it refers to, units and constants left out."""
        found: set[str] = set()
        stack: list[Any] = [self.tree]
        while stack:
            tree = stack.pop()
            if tree[0] == "name" and tree[1] not in UNITS and tree[1] not in NAMED_NUMBERS:
                found.add(tree[1])
            stack.extend(part for part in tree[1:] if isinstance(part, tuple))
        return frozenset(found)

    @cached_property
    def constant(self) -> Value:
        """The value, if it refers to no names."""
        return _evaluate(self.tree, {})


def parse(raw: Any) -> Quantity:
    """The Quantity of a YAML scalar (number or text)."""
    if isinstance(raw, Quantity):
        return raw
    if isinstance(raw, bool) or raw is None:
        raise QuantityError("needs a number, such as 0.25 or '70 GPa'")
    if isinstance(raw, str):
        return _parsed_text(raw)
    if isinstance(raw, numbers.Rational):
        exact = Fraction(int(raw.numerator), int(raw.denominator))
        return Quantity(str(raw), ("number", _in_range(int(exact) if exact.denominator == 1 else exact)))
    if isinstance(raw, numbers.Real):
        if not math.isfinite(raw):
            raise QuantityError("must be finite")
        text = repr(float(raw))
        return Quantity(text, ("number", _in_range(Fraction(text))))
    raise QuantityError("needs a number, such as 0.25 or '70 GPa'")


@lru_cache(maxsize=4096)
def _parsed_text(raw: str) -> Quantity:
    if raw.strip().lstrip("+-.").lower() in ("nan", "inf", "infinity"):
        raise QuantityError("must be finite")
    return Quantity(raw, _Parser(raw).parsed())


class _Parser:
    """Recursive descent: sums of products of powers; a number followed by a unit is a product."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise QuantityError(f"is longer than {_LONGEST} characters")
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise QuantityError(f"cannot read {text[position : position + 10].strip()!r} as a number with a unit")
            number, name, sign = match.groups()
            self.tokens.append(("number", number) if number else ("name", name) if name else ("sign", sign))
            position = match.end()
        self.at = 0
        self.depth = 0

    def parsed(self) -> tuple[Any, ...]:
        if not self.tokens:
            raise QuantityError("is empty")
        tree = self.sum()
        if self.at < len(self.tokens):
            raise QuantityError(f"does not expect {self.tokens[self.at][1]!r} here")
        return tree

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.at += 1
        return token

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise QuantityError("is nested too deeply; name parts of it under parameters")

    def sum(self) -> tuple[Any, ...]:
        self.deeper()
        tree = self.product()
        while self.peek()[1] in ("+", "-"):
            sign = self.take()[1]
            tree = (sign, tree, self.product())
        self.depth -= 1
        return tree

    def product(self) -> tuple[Any, ...]:
        tree = self.power()
        while True:
            kind, text = self.peek()
            if text in ("*", "/"):
                self.take()
                tree = (text, tree, self.power())
            elif kind in ("name", "number") or text == "(":
                tree = ("*", tree, self.power())
            else:
                return tree

    def power(self) -> tuple[Any, ...]:
        if self.peek()[1] in ("+", "-"):
            sign = self.take()[1]
            self.deeper()
            tree = self.power()
            self.depth -= 1
            return ("-", ("number", 0), tree) if sign == "-" else tree
        base = self.atom()
        if self.peek()[1] in ("^", "**"):
            self.take()
            self.deeper()
            tree = ("^", base, self.power())
            self.depth -= 1
            return tree
        return base

    def atom(self) -> tuple[Any, ...]:
        kind, text = self.take()
        if kind == "number":
            mantissa, _, exponent = text.lower().partition("e")
            if abs(int(exponent or 0)) > 150:
                raise QuantityError(f"is out of range: {text}")
            return ("number", _in_range(Fraction(mantissa) * Fraction(10) ** int(exponent or 0)))
        if kind == "name":
            if text in CALLS and self.peek()[1] == "(":
                return ("call", text, self.atom())
            return ("name", text)
        if text == "(":
            tree = self.sum()
            if self.take()[1] != ")":
                raise QuantityError("misses a closing parenthesis")
            return tree
        raise QuantityError(f"does not expect {text!r} here" if text else "ends too early")


def names_in(quantity: Quantity) -> frozenset[str]:
    """The names a value refers to that are neither units nor constants."""
    return quantity.names


def evaluate(quantity: Quantity, scope: Mapping[str, Value]) -> Value:
    """The value of a quantity with the parameters of `scope`, whose names are none of the units."""
    return _evaluate(quantity.tree, scope) if quantity.names else quantity.constant


def _evaluate(tree: tuple[Any, ...], scope: Mapping[str, Value]) -> Value:
    match tree[0]:
        case "number":
            return Value(tree[1], None)
        case "name":
            return _name(tree[1], scope)
        case "call":
            return _call(tree[1], _evaluate(tree[2], scope))
    a, b = _evaluate(tree[1], scope), _evaluate(tree[2], scope)
    match tree[0]:
        case "+" | "-":
            if a.dimension is not None and b.dimension is not None and a.dimension != b.dimension:
                raise QuantityError(
                    f"adds {dimension_text(a.dimension)} and {dimension_text(b.dimension)}; terms need the same units"
                )
            dims = b.dimension if a.dimension is None else a.dimension
            return Value(_in_range(a.number + b.number if tree[0] == "+" else a.number - b.number), dims)
        case "*":
            return Value(_in_range(a.number * b.number), _combine(a, b, 1))
        case "/":
            if not _symbolic(b.number) and b.number == 0:
                raise QuantityError("divides by zero")
            return Value(_in_range(_divide(a.number, b.number)), _combine(a, b, -1))
    return _power(a, b)


def _name(name: str, scope: Mapping[str, Value]) -> Value:
    if name in scope:
        return scope[name]
    if name in NAMED_NUMBERS:
        return Value(NAMED_NUMBERS[name], None)
    if name in UNITS:
        return Value(*UNITS[name])
    close = get_close_matches(name, [*scope, *UNITS, *NAMED_NUMBERS], n=1)
    new = "give it under parameters, or use a unit such as mm, kg, GPa, deg"
    raise QuantityError(f"does not know {name!r}; " + (f"did you mean {close[0]!r}?" if close else new))


def _call(name: str, argument: Value) -> Value:
    if argument.dimension not in (None, NONE) and name != "sqrt":
        raise QuantityError(f"{name}() needs a plain number or an angle, not {dimension_text(argument.dimension)}")
    if _symbolic(argument.number):
        return _symbolic_call(name, argument)
    try:
        result: Any = CALLS[name](argument.number)
    except (ValueError, OverflowError) as error:
        raise QuantityError(f"{name}({float(argument.number):g}) has no value") from error
    if name == "sqrt":
        dims = None if argument.dimension is None else tuple(Fraction(d) / 2 for d in argument.dimension)
        return Value(_exact_root(argument.number, result), dims)
    if name in ("sin", "cos", "tan") and abs(argument.number) > 0.1:
        result = next((e for e in _EXACT if abs(result - e) < 4e-16), result)
    return Value(result, None)


def _symbolic_call(name: str, argument: Value) -> Value:
    """The same of a symbol that the caller keeps, as far as symbols have it."""
    x = argument.number
    if name == "sqrt":
        return Value(x.sqrt(), None if argument.dimension is None else tuple(Fraction(d) / 2 for d in argument.dimension))
    if name in ("sin", "cos"):
        return Value(x.sin() if name == "sin" else x.cos(), None)
    if name == "tan":
        return Value(x.sin() / x.cos(), None)
    raise QuantityError(f"cannot keep a parameter symbolic inside {name}()")


def _exact_root(x: Any, rounded: float) -> Any:
    """The square root of x, exact where x is the square of a fraction."""
    if isinstance(x, float):
        return rounded
    above, below = math.isqrt(x.numerator), math.isqrt(x.denominator)
    return Fraction(above, below) if above**2 == x.numerator and below**2 == x.denominator else rounded


def _power(a: Value, b: Value) -> Value:
    if _symbolic(b.number) or b.dimension not in (None, NONE) or b.number != int(b.number) or abs(b.number) > 12:
        raise QuantityError("needs a whole exponent between -12 and 12; a root is written sqrt(...)")
    exponent = int(b.number)
    if exponent < 0 and not _symbolic(a.number) and a.number == 0:
        raise QuantityError("divides by zero")
    dims = None if a.dimension is None else tuple(d * exponent for d in a.dimension)
    try:
        return Value(_in_range(a.number**exponent), dims)
    except OverflowError as error:
        raise QuantityError("is out of range") from error


def _divide(a: Any, b: Any) -> Any:
    return Fraction(a) / b if isinstance(a, int) and isinstance(b, int) else a / b


def _combine(a: Value, b: Value, sign: int) -> Dimension | None:
    if a.dimension is None and b.dimension is None:
        return None
    first, second = a.dimension or NONE, b.dimension or NONE
    return tuple(x + sign * y for x, y in zip(first, second, strict=True))


def _in_range(x: Any) -> Any:
    """x, rounded if its exact digits grow without bound; numbers no machine has are refused."""
    if _symbolic(x) or x == 0:
        return x
    bits = (0, 0) if isinstance(x, float) else (x.numerator.bit_length(), x.denominator.bit_length())
    if (isinstance(x, float) or abs(bits[0] - bits[1]) > _BITS) and not 1 / _LARGEST <= abs(x) <= _LARGEST:
        raise QuantityError("is out of range")
    return float(x) if isinstance(x, Fraction) and max(bits) > _DIGITS else x


def _symbolic(x: Any) -> bool:
    return not isinstance(x, (int, float, Fraction))


def fits(value: Value, wanted: Dimension) -> bool:
    return value.dimension is None or value.dimension == wanted


def dimension_text(dims: Dimension | None) -> str:
    """A dimension in words a person writes: m, kg/m^3, N m, ..."""
    if dims is None or dims == NONE:
        return "a plain number or an angle"
    for name, known in DIMENSIONS.items():
        if known == dims:
            return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    parts = [f"{s}^{d}" if d != 1 else s for s, d in zip(SYMBOLS, dims, strict=True) if d]
    return " ".join(parts)
