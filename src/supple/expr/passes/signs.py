"""Signs: which of x and -x each operation computes, so that few explicit negations remain.

Every node is stored with a sign. A sum of operands of opposite sign is a subtraction, which can be turned
round for nothing, and a constant operand takes any sign; all other operations have the sign their operands
dictate. What is left to pay are stored signs the operands do not offer, and outputs and square roots that
want the other sign.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from supple.expr.function import Array, Function
from supple.expr.node import Expr, Number, Scalar, _node
from supple.expr.passes.signed import ODD, Reference, Signed, read

_EFFORT = 400_000  # nodes visited by the search before it settles for what it has
_ANCESTORS = 300  # nodes tried to repair one negation
_SECOND = 20  # of these, tried after another one that neither gains nor loses

_FIXED, _SUM, _PRODUCT, _ODD = range(4)  # kinds of rules by which nodes have their signs
_Rule = tuple[int, int, int, int]  # kind, two operands, and the sign of the second one, or of the node itself
_ANY: _Rule = (_FIXED, 0, 0, 0)
_EVEN: _Rule = (_FIXED, 0, 0, 1)
_Flipped = tuple[list[int], dict[int, bool]]  # nodes flipped, and what nodes that may have changed cost before


def signs(f: Function) -> Function:
    """f with the orientation of every subtraction chosen so that the fewest negations are left."""
    return signed_function(read(f))


def signed_function(graph: Signed) -> Function:
    """The Function of a signed graph, with the fewest negations found."""
    return _emitted(graph, Orientation(graph).improved())


class Orientation:
    """The stored sign of every node, and a local search over them."""

    def __init__(self, graph: Signed) -> None:
        self.graph = graph
        self.live = graph.live()
        self.users: dict[int, list[int]] = {i: [] for i in self.live}
        self.wanted: dict[int, set[int]] = {}
        self.effort = 0
        self.alone: dict[int, tuple[int, set[int]]] = {}  # flips tried since one last gained: cost, and what they touch
        self.failed: dict[tuple[int, int], int] = {}  # pairs of flips tried since, and the effort of the second
        for i in self.live:
            for a in graph.args[i]:
                readers = self.users[abs(a)]
                if not readers or readers[-1] != i:
                    readers.append(i)
            if graph.ops[i] == "sqrt":
                self._want(graph.args[i][0])
        for refs in graph.outputs.values():
            for r in refs:
                self._want(r)
        self.stored = [1] * len(graph.ops)
        self.rules = [_ANY] * len(graph.ops)
        for i in self.live:
            self.rules[i] = self._rule(i)
            self.stored[i] = self._preferred(i) or self._labelled(i)
        self.costs = [False] * len(graph.ops)
        for i in self.live:
            self.costs[i] = self.cost(i)

    def _want(self, r: Reference) -> None:
        if abs(r) not in self.graph.values:
            self.wanted.setdefault(abs(r), set()).add(1 if r > 0 else -1)

    def _labelled(self, i: int) -> int:
        return -1 if -i in self.graph.labels and i not in self.graph.labels else 1

    def _rule(self, i: int) -> _Rule:
        """How node i has its sign of its operands."""
        op, args, values = self.graph.ops[i], self.graph.args[i], self.graph.values
        if op == "sum":
            return _ANY if abs(args[1]) in values else (_SUM, args[0], abs(args[1]), 1 if args[1] > 0 else -1)
        if op in ("mul", "div"):
            return _ANY if args[0] in values else (_PRODUCT, args[0], args[1], 1)
        return (_ODD, args[0], 0, 1) if op in ODD else _EVEN

    def offered(self, i: int) -> int:
        """The sign node i has at no cost: 1, -1, or 0 where both are free."""
        kind, a, b, sign = self.rules[i]
        if kind == _SUM:
            first = self.stored[a]
            return first if first == sign * self.stored[b] else 0
        if kind == _PRODUCT:
            return self.stored[a] * self.stored[b]
        return self.stored[a] if kind == _ODD else sign

    def _preferred(self, i: int) -> int:
        """The sign to store i with now: what its operands dictate, else what its readers want, else 0."""
        offered = self.offered(i)
        if offered == 0:
            wanted = self.wanted.get(i, ())
            return next(iter(wanted)) if len(wanted) == 1 else 0
        return offered

    def cost(self, i: int) -> bool:
        """Whether node i needs an explicit negation."""
        sign = self.stored[i]
        return self.offered(i) == -sign or (i in self.wanted and -sign in self.wanted[i])

    def _flip(self, start: int) -> tuple[int, _Flipped]:
        """Flip `start` and what follows from it; the change of cost, and what `_undo` needs."""
        stored, costs, users = self.stored, self.costs, self.users
        touched, flipped, queue = {start: costs[start]}, list[int](), [start]
        while queue:
            i = heapq.heappop(queue)
            if i != start and self._preferred(i) in (0, stored[i]):
                continue
            for user in users[i]:
                if user not in touched:
                    touched[user] = costs[user]
                    heapq.heappush(queue, user)
            stored[i] = -stored[i]
            flipped.append(i)
        self.effort += len(touched) + 1
        change = 0
        for i, before in touched.items():
            now = costs[i] = self.cost(i)
            change += now - before
        return change, (flipped, touched)

    def _ancestors(self, i: int) -> list[int]:
        """Nodes that decide the sign of i, nearest first."""
        found, at = [i], 0
        seen = {i}
        while at < len(found) and len(found) < _ANCESTORS:
            node = found[at]
            at += 1
            if self.graph.ops[node] in ("cos", "sqrt"):
                continue
            for a in self.graph.args[node]:
                if abs(a) not in seen and abs(a) not in self.graph.values:
                    seen.add(abs(a))
                    found.append(abs(a))
        return found

    def _repaired(self, i: int) -> bool:
        """Whether the negation at i could be removed, by one flip or by two in a row."""
        ancestors = self._ancestors(i)
        for u in ancestors:
            gain = self._alone(u)
            if gain < 0 or (gain == 0 and u != i and self._followed(u, ancestors[:_SECOND])):
                self.alone.clear()
                self.failed.clear()
                return True
            if self.effort > _EFFORT:
                break
        return False

    def _alone(self, u: int) -> int:
        """The change of cost by one flip, which stays if it gains."""
        known = self.alone.get(u)
        if known is not None:
            self.effort += len(known[1]) + 1
            return known[0]
        gain, done = self._flip(u)
        if gain >= 0:
            self._undo(done)
            self.alone[u] = gain, set(done[1])
        return gain

    def _followed(self, u: int, second: Sequence[int]) -> bool:
        """Whether a second flip gains after that of u; then both stay."""
        touched, first = self.alone[u][1], None
        for v in second:
            known = self.alone.get(v)
            if known is not None and known[1].isdisjoint(touched):  # it gains what it gains alone: nothing
                self.effort += len(known[1]) + 1
                continue
            if (u, v) in self.failed:
                self.effort += self.failed[u, v]
                continue
            before = self.effort
            first = first or self._flip(u)[1]
            self.effort = before
            gain, done = self._flip(v)
            if gain < 0:
                return True
            self._undo(done)
            self.failed[u, v] = self.effort - before
        if first is not None:
            self._undo(first)
        return False

    def _undo(self, done: _Flipped) -> None:
        flipped, touched = done
        for i in flipped:
            self.stored[i] = -self.stored[i]
        for i, before in touched.items():
            self.costs[i] = before

    def improved(self) -> list[int]:
        """The stored signs after the search, by node."""
        again = True
        while again and self.effort <= _EFFORT:
            again = False
            for i in self.live:
                if i not in self.graph.values and self.costs[i] and self._repaired(i):
                    again = True
        return self.stored


def _emitted(graph: Signed, stored: Sequence[int]) -> Function:
    """The expressions of a graph whose nodes are stored with the given signs."""
    made: dict[int, Expr] = {}
    opposite: dict[int, Expr] = {}

    def negated(i: int) -> Expr:
        return opposite[i] if i in opposite else _node("neg", made[i])

    def scalar(r: Reference) -> Scalar:
        value = graph.value(r)
        if value is not None:
            return value
        return made[abs(r)] if (r > 0) == (stored[abs(r)] > 0) else negated(abs(r))

    for i in graph.live():
        if i in graph.values:
            continue
        node, sign = _operation(graph, i, stored, made, scalar)
        made[i] = node
        if sign != stored[i]:
            made[i], opposite[i] = _node("neg", node), node
        for expression, ref in ((made[i], i * stored[i]), (opposite.get(i), -i * stored[i])):
            if expression is not None and expression.label is None and ref in graph.labels:
                expression.label = graph.labels[ref]
    outputs: dict[str, Array] = {}
    for name, refs in graph.outputs.items():
        array = np.empty(len(refs), dtype=object)
        array[:] = [scalar(r) for r in refs]
        outputs[name] = array.reshape(graph.source.outputs[name].shape)
    return Function(graph.source.name, graph.source.inputs, outputs)


def _operation(
    graph: Signed,
    i: int,
    stored: Sequence[int],
    made: dict[int, Expr],
    scalar: Callable[[Reference], Scalar],
) -> tuple[Expr, int]:
    """The operation of node i without any negation, and the sign it has relative to the node."""
    op, args = graph.ops[i], graph.args[i]
    match op:
        case "symbol":
            return graph.symbols[i], 1
        case "sum":
            return _sum(graph, i, stored, made)
        case "mul" | "div":
            a, b = made.get(args[0]), made[args[1]]
            if a is None:
                value = graph.values[args[0]]
                return _node(op, _times(value, stored[i] * stored[args[1]]), b), stored[i]
            swap = op == "mul" and a.serial > b.serial
            return _node(op, b, a) if swap else _node(op, a, b), stored[args[0]] * stored[args[1]]
        case "sqrt":
            return _node(op, scalar(args[0])), 1
        case "cos":
            return _node(op, made[args[0]]), 1
    return _node(op, made[args[0]]), stored[args[0]]


def _sum(graph: Signed, i: int, stored: Sequence[int], made: dict[int, Expr]) -> tuple[Expr, int]:
    """stored * (a + b) as an addition or as a subtraction either way round."""
    first, second = graph.args[i]
    a, sa = made[first], stored[first]
    value = graph.value(second)
    if value is not None:
        c = _times(value, stored[i])
        if sa != stored[i]:
            return _node("sub", c, a), stored[i]
        return (_node("add", a, c) if c > 0 else _node("sub", a, -c)), stored[i]
    b, sb = made[abs(second)], stored[abs(second)] * (1 if second > 0 else -1)
    if sa == sb:
        return (_node("add", a, b) if a.serial < b.serial else _node("add", b, a)), sa
    return (_node("sub", a, b) if sa == stored[i] else _node("sub", b, a)), stored[i]


def _times(value: Number, sign: int) -> Number:
    return value if sign > 0 else -value
