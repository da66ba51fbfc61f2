"""The order in which the operations of a Function are printed: what is computed waits as little as it can for its use.

Processors have a few registers; what does not fit goes to memory and comes back. Angles come first: their sines and cosines
are computed together.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Sequence, Set
from itertools import islice

from supple.expr.function import Function
from supple.expr.node import Expr

_TURNS = ("sin", "cos")
_DURATION = {"symbol": 0, "neg": 0, "div": 13, "sqrt": 21, "sin": 50, "cos": 50}  # rough processor cycles; 3 for the others
_LATENCY = {"neg": 2, "div": 20, "sqrt": 30}  # cycles of vectors from an operation to those that read it; 6 for the others
_A_CYCLE = 2  # operations of vectors that begin in one
_NEAR = 64  # operations that may come sooner than their neighbours


def sequence(f: Function) -> list[list[Expr]]:
    """The nodes of f, operands first, one by one, but sines and cosines that can be computed together together."""
    return [step for turn in turns(f) for step in ([turn] if turn and turn[0].op in _TURNS else [[n] for n in turn])]


def turns(f: Function, calls: Collection[str] = _TURNS) -> list[list[Expr]]:
    """The nodes of f: symbols, operations that the first calls need, these calls, and so on; at last all others."""
    levels = _levels(f.nodes, calls)
    found = [[n for n in f.nodes if n.op == "symbol"]]
    for level in range(max(levels.values(), default=0), 0, -1):
        group = [n for n in f.nodes if levels[n] == level and n.op != "symbol"]
        found += [[n for n in group if n.op not in calls], [n for n in group if n.op in calls]]
    return [*found, _short_lives(f, {n for n in f.nodes if levels[n] == 0 and n.op != "symbol"})]


def spaced(nodes: Sequence[Expr]) -> list[Expr]:
    """Operations in nearly the same order: always the first of some whose operands are known by then.

    Processors look ahead for such themselves, but not as far."""
    known = dict.fromkeys(nodes, math.inf)  # when each is
    waiting = iter((n, [x for x in _operands(n) if x in known]) for n in nodes)
    near = list(islice(waiting, _NEAR))
    found: list[Expr] = []
    now = 0.0
    while near:
        place, begin = 0, math.inf
        for k, (_, operands) in enumerate(near):
            ready = max((known[x] for x in operands), default=0.0)
            if ready < begin:
                place, begin = k, ready
                if ready <= now:
                    break
        node, _ = near.pop(place)
        now = max(now, begin)
        known[node] = now + _LATENCY.get(node.op, 6)
        now += 1 / _A_CYCLE
        found.append(node)
        near += islice(waiting, 1)
    return found


def _levels(nodes: Sequence[Expr], calls: Collection[str]) -> dict[Expr, int]:
    """How many calls are made of each node, one inside the other, it included; 0 if none is."""
    found = dict.fromkeys(nodes, 0)
    for node in reversed(nodes):
        found[node] += node.op in calls
        for x in _operands(node):
            found[x] = max(found[x], found[node])
    return found


def _operands(node: Expr) -> set[Expr]:
    return set() if node.op == "symbol" else {x for x in node.args if isinstance(x, Expr)}


def _walk(f: Function, among: Set[Expr]) -> dict[Expr, int]:
    """Places of some nodes in a walk from the results to what they are made of, the operand that is known sooner first."""
    known: dict[Expr, tuple[int, int]] = {}
    for node in f.nodes:
        begun = max((known[x][0] for x in _operands(node)), default=0)
        known[node] = (begun + _DURATION.get(node.op, 3), len(known))
    places: dict[Expr, int] = {}
    stack = [x for x in reversed(list(f.output_scalars())) if isinstance(x, Expr) and x in among]
    while stack:
        node = stack[-1]
        left = [x for x in _operands(node) if x in among and x not in places]
        if left:
            stack.append(min(left, key=known.__getitem__))
        else:
            places.setdefault(stack.pop(), len(places))
    return places


def _short_lives(f: Function, among: Set[Expr]) -> list[Expr]:
    """Some nodes of f, always that next which ends the most lives; of equals the first in the walk."""
    places = _walk(f, among)
    nodes = sorted(places, key=places.__getitem__)
    users: dict[Expr, list[Expr]] = {n: [] for n in f.nodes}
    for n in nodes:
        for x in _operands(n):
            users[x].append(n)
    waiting = {n: sum(x in places for x in _operands(n)) for n in nodes}
    uses = {n: len(u) for n, u in users.items()}

    def growth(n: Expr) -> int:
        return bool(users[n]) - sum(uses[x] == 1 and x.op != "symbol" for x in _operands(n))

    ready = [(growth(n), places[n], n) for n in nodes if waiting[n] == 0]
    heapq.heapify(ready)
    ordered: dict[Expr, None] = {}
    while ready:
        expected, _, node = heapq.heappop(ready)
        if node in ordered or expected != growth(node):
            continue  # it was pushed again when what it ends changed
        ordered[node] = None
        for x in _operands(node):
            uses[x] -= 1
            if uses[x] == 1:
                for n in users[x]:
                    if n not in ordered and waiting[n] == 0:
                        heapq.heappush(ready, (growth(n), places[n], n))
        for n in users[node]:
            waiting[n] -= 1
            if waiting[n] == 0:
                heapq.heappush(ready, (growth(n), places[n], n))
    return list(ordered)
