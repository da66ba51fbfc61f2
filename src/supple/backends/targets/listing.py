"""Functions as straight-line text, one operation per statement, in any language that has infix operators.

C has its own printer (c_source), which also splits long functions and pairs sines with cosines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from supple.backends.c_source import Names, literal
from supple.backends.package import Package
from supple.backends.targets.heading import ordered_arrays
from supple.backends.targets.names import element_words
from supple.errors import BackendError
from supple.expr.function import Function
from supple.expr.node import Expr, Scalar

_OPERATIONS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FALLBACK = {"sin": "s", "cos": "c"}


@dataclass(frozen=True)
class Dialect:
    """How a language writes things. {name} and {value} stand in `define` and `store`."""

    define: str  # a new local
    store: str  # an element of an output
    element: Callable[[str, int], str]  # of an input or output
    calls: Mapping[str, str]  # sin, cos, sqrt, sign
    infix: Mapping[str, str]  # operations written otherwise than in C
    special: Mapping[str, str]  # NAN, INFINITY, -INFINITY

    def number(self, x: Any) -> str:
        """x as a constant that reads back as the nearest double."""
        text = literal(x)
        return self.special.get(text, text)


@dataclass(frozen=True)
class Identifiers:
    """The function's name, the names of its arrays, and the unique names still to be given out."""

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    more: Names


def identifiers(f: Function, name: str, names: Names) -> Identifiers:
    """Identifiers of f, called `name`."""
    own = names.unique(name)
    inputs = {key: names.unique(key) for key in f.inputs}
    return Identifiers(own, inputs, {key: names.unique(key) for key in f.outputs}, names)


def listing(package: Package, ids: Identifiers, dialect: Dialect) -> Iterator[str]:
    """The statements that compute the outputs: inputs by their labels first, then the operations in order."""
    f = package.function
    text: dict[Expr, str] = {}
    used = {n for n in f.nodes if n.op == "symbol"}
    for signal in ordered_arrays(package.inputs, f.inputs):
        words = element_words(signal.name, signal.labels)
        for i, (x, wanted) in enumerate(zip(f.inputs[signal.name].ravel(), words, strict=True)):
            if x in used:
                text[x] = ids.more.unique(wanted)
                value = dialect.element(ids.inputs[signal.name], i)
                yield dialect.define.format(name=text[x], value=value)
    yield from _operations(f, ids, dialect, text)


def _operations(f: Function, ids: Identifiers, dialect: Dialect, text: dict[Expr, str]) -> Iterator[str]:
    places, constants = _places(f, ids, dialect)
    inner = {a for n in f.nodes if n.op != "symbol" for a in n.args if isinstance(a, Expr)}
    minus = {n.args[0]: f"minus_{n.label}" for n in f.nodes if n.op == "neg" and n.label}

    def operand(x: Scalar, alone: bool = False) -> str:
        if not isinstance(x, Expr):
            return dialect.number(x)
        if x.op != "neg":
            return text[x]
        return f"-{text[x.args[0]]}" if alone else f"(-{text[x.args[0]]})"

    for serial, node in enumerate(f.nodes):
        if node.op not in ("symbol", "neg"):
            value = _value(node, operand, dialect)
            if node in inner or node.label or len(places.get(node, ())) != 1:
                wanted = node.label or minus.get(node) or f"{_FALLBACK.get(node.op, 't')}{serial}"
                text[node] = ids.more.unique(wanted)
                yield dialect.define.format(name=text[node], value=value)
            else:
                yield dialect.store.format(name=places.pop(node)[0], value=value)
        for place in places.get(node, ()):
            yield dialect.store.format(name=place, value=operand(node, alone=True))
    for place, constant in constants:
        yield dialect.store.format(name=place, value=dialect.number(constant))


def _value(node: Expr, operand: Callable[..., str], dialect: Dialect) -> str:
    if node.op in _OPERATIONS:
        sign = dialect.infix.get(node.op, _OPERATIONS[node.op])
        return f"{operand(node.args[0])} {sign} {operand(node.args[1])}"
    if node.op in dialect.calls:
        return f"{dialect.calls[node.op]}({operand(node.args[0], alone=True)})"
    raise BackendError(f"the operation {node.op} cannot be printed")


def _places(f: Function, ids: Identifiers, dialect: Dialect) -> tuple[dict[Expr, list[str]], list[tuple[str, Any]]]:
    """Where in the outputs each node goes, and the outputs that are constants."""
    places: dict[Expr, list[str]] = {}
    constants: list[tuple[str, Any]] = []
    for key, array in f.outputs.items():
        for i, x in enumerate(array.ravel()):
            place = dialect.element(ids.outputs[key], i)
            if isinstance(x, Expr):
                places.setdefault(x, []).append(place)
            else:
                constants.append((place, x))
    return places, constants
