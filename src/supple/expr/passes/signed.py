"""A graph of values known up to their sign: x and -x are one node, so negation is free while passes work.

A reference is a non-zero int: +i is the value of node i, -i its negative. Numbers are nodes, kept positive.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from supple.expr import node as expressions
from supple.expr.function import Function
from supple.expr.node import Expr, Number, Scalar, add_numbers, number

Reference = int
ODD = ("sin", "sign")  # f(-x) = -f(x)


@dataclass
class Signed:
    """Value-numbered nodes, operands first: `ops[i]` of the references `args[i]`.

    Kinds: symbol, number, sum (first operand positive), mul and div (both positive), sin, cos, sqrt, sign.
    """

    source: Function
    ops: list[str] = field(default_factory=lambda: [""])
    args: list[tuple[Reference, ...]] = field(default_factory=lambda: [()])
    depth: list[int] = field(default_factory=lambda: [0])
    values: dict[int, Number] = field(default_factory=dict)
    symbols: dict[int, Expr] = field(default_factory=dict)
    labels: dict[Reference, str] = field(default_factory=dict)
    outputs: dict[str, list[Reference]] = field(default_factory=dict)
    _known: dict[object, int] = field(default_factory=dict)

    def _node(self, op: str, *args: Reference) -> Reference:
        key = (op, *args)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._append(op, args)
        return found

    def _append(self, op: str, args: tuple[Reference, ...]) -> int:
        self.ops.append(op)
        self.args.append(args)
        self.depth.append(1 + max((self.depth[abs(a)] for a in args), default=-1))
        return len(self.ops) - 1

    def symbol(self, x: Expr) -> Reference:
        found = self._known.get(x)
        if found is None:
            found = self._known[x] = self._append("symbol", ())
            self.symbols[found] = x
        return found

    def number(self, x: Number) -> Reference:
        size = magnitude(x)
        found = self._known.get(("number", size))
        if found is None:
            found = self._known[("number", size)] = self._append("number", ())
            self.values[found] = size
        return -found if x < 0 else found

    def value(self, a: Reference) -> Number | None:
        """The number a stands for, or None where it depends on a symbol."""
        size = self.values.get(abs(a))
        return size if size is None or a > 0 else -size

    def add(self, a: Reference, b: Reference) -> Reference:
        x, y = self.value(a), self.value(b)
        if x is not None:
            if y is not None:
                return self.number(add_numbers(x, y))
            a, b, x, y = b, a, y, x
        if y == 0:
            return a
        if abs(a) == abs(b):
            return self.mul(self.number(2), a) if a == b else self.number(0)
        if y is None and abs(b) < abs(a):
            a, b = b, a
        return self._node("sum", a, b) if a > 0 else -self._node("sum", -a, -b)

    def mul(self, a: Reference, b: Reference) -> Reference:
        x, y = self.value(a), self.value(b)
        if y is not None:
            if x is not None:
                return self.number(times(x, y))
            a, b, x = b, a, y
        if x is not None:
            return self._scaled(x, b)
        sign = 1 if (a > 0) == (b > 0) else -1
        a, b = sorted((abs(a), abs(b)))
        return sign * self._node("mul", a, b)

    def _scaled(self, x: Number, b: Reference) -> Reference:
        """x * b, constants of a product of constants merged."""
        if self.ops[abs(b)] == "mul":
            factor, rest = self.args[abs(b)]
            inner = self.value(factor)
            if inner is not None:
                x, b = times(x, inner), rest if b > 0 else -rest
        if x == 0:
            return self.number(0)
        if abs(x) == 1:
            return b if x > 0 else -b
        sign = 1 if (x > 0) == (b > 0) else -1
        return sign * self._node("mul", self.number(magnitude(x)), abs(b))

    def div(self, a: Reference, b: Reference) -> Reference:
        x, y = self.value(a), self.value(b)
        if y is not None:
            return self.mul(a, self.number(reciprocal(y)))
        if x == 0:
            return a
        sign = 1 if (a > 0) == (b > 0) else -1
        return self.number(sign) if abs(a) == abs(b) else sign * self._node("div", abs(a), abs(b))

    def call(self, op: str, a: Reference) -> Reference:
        """sin, cos, sqrt or sign of a."""
        x = self.value(a)
        if x is not None:
            if op == "sqrt" and x < 0:
                raise ValueError("the argument of a square root is negative once it is simplified")
            return self.number(expressions.number(expressions.BUILD[op](x)))
        if op in ODD:
            return self._node(op, a) if a > 0 else -self._node(op, -a)
        return self._node(op, abs(a) if op == "cos" else a)

    def live(self) -> list[int]:
        """The nodes the outputs need, operands first."""
        args, needed = self.args, bytearray(len(self.ops))
        for refs in self.outputs.values():
            for r in refs:
                needed[abs(r)] = 1
        for i in range(len(args) - 1, 0, -1):
            if needed[i]:
                for a in args[i]:
                    needed[abs(a)] = 1
        return [i for i, wanted in enumerate(needed) if wanted]

    def size(self) -> int:
        """Additions, subtractions, multiplications and divisions of the live nodes."""
        return sum(op in ("sum", "mul", "div") for op in map(self.ops.__getitem__, self.live()))

    def uses(self) -> Counter[int]:
        """How often each live node is an operand or an output."""
        counted = Counter(abs(a) for i in self.live() for a in self.args[i])
        counted.update(abs(r) for refs in self.outputs.values() for r in refs)
        return counted


def magnitude(x: Number) -> Number:
    return number(-x if x < 0 else x)


def times(x: Number, y: Number) -> Number:
    """x * y, exact for integers and fractions."""
    return number(x * y)


def reciprocal(x: Number) -> Number:
    """1/x, exact for integers and fractions."""
    if x == 0:
        raise ZeroDivisionError("a denominator is zero once it is simplified")
    return number(1.0 / x if isinstance(x, float) else Fraction(1) / x)


def read(f: Function) -> Signed:
    """f as a graph of values up to sign; a - b and b - a, or 2x and -2x, become one node."""
    graph = Signed(f)
    refs: dict[Expr, Reference] = {}

    def refer(x: Scalar) -> Reference:
        return refs[x] if isinstance(x, Expr) else graph.number(number(x))

    for node in f.nodes:
        if node.op == "symbol":
            refs[node] = graph.symbol(node)
            continue
        a = [refer(x) for x in node.args]
        match node.op:
            case "add":
                ref = graph.add(a[0], a[1])
            case "sub":
                ref = graph.add(a[0], -a[1])
            case "neg":
                ref = -a[0]
            case "mul":
                ref = graph.mul(a[0], a[1])
            case "div":
                ref = graph.div(a[0], a[1])
            case _:
                ref = graph.call(node.op, a[0])
        refs[node] = ref
        if node.label is not None and abs(ref) not in graph.symbols:
            graph.labels.setdefault(ref, node.label)
    for name, array in f.outputs.items():
        graph.outputs[name] = [refer(x) for x in array.ravel()]
    return graph
