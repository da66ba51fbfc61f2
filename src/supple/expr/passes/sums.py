"""A Function as definitions, each a sum of products of atoms: the form in which common parts are found.

An atom is a symbol, a positive number, a function of an atom, the inverse of an atom, or a definition. A
product is a sorted tuple of atoms; the empty one is the number 1. Numbers are atoms like others, so no pass
ever divides one by another, and exact constants stay exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from supple.expr.node import Number, add_numbers
from supple.expr.passes.signed import ODD, Reference, Signed, magnitude, reciprocal, times

Atom = int
Product = tuple[Atom, ...]
Sum = dict[Product, int]  # product -> its sign
Terms = dict[Product, Number]  # product -> its coefficient, while like terms are collected
Ref = tuple[int, Atom]  # sign, atom
Inline = Callable[[Terms, int], bool]  # polynomial, number of uses
Distribute = Callable[[Terms, Terms], bool]

_TERMS, _FACTORS = 200, 20  # longer sums and products are flattened in pieces
_DIVISIONS = 2  # two divisions by y take no longer than 1/y and two multiplications; more of them do


@dataclass
class Sums:
    """Definitions and the other atoms they are made of; atoms are numbered as they are made."""

    graph: Signed
    distribute: Distribute
    kind: list[tuple[Any, ...]] = field(default_factory=list)
    sums: dict[Atom, Sum] = field(default_factory=dict)
    inverses: set[Atom] = field(default_factory=set)
    numbers: dict[Atom, Number] = field(default_factory=dict)
    outputs: dict[str, list[Ref]] = field(default_factory=dict)
    labels: dict[Atom, list[tuple[int, str]]] = field(default_factory=dict)
    _known: dict[object, Atom] = field(default_factory=dict)

    def atom(self, *key: object) -> Atom:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.kind)
            self.kind.append(key)
        return found

    def constant(self, value: Number) -> Atom:
        made = self.atom("number", value)
        self.numbers[made] = value
        return made

    def inverse(self, denominator: Atom) -> Atom:
        made = self.atom("inverse", denominator)
        self.inverses.add(made)
        return made

    def define(self, terms: Sum) -> Ref:
        """A definition of these terms, found again if it exists, with the sign it has there."""
        first = terms[min(terms)]
        normal = terms if first > 0 else {p: -s for p, s in terms.items()}
        key = ("sum", frozenset(normal.items()))
        if key not in self._known:
            self._known[key] = len(self.kind)
            self.kind.append(("sum",))
            self.sums[self._known[key]] = dict(normal)
        return first, self._known[key]

    def cost(self, product: Product) -> int:
        """Multiplications and divisions of one product."""
        if not product:
            return 0
        lonely = self.inverses and self.inverses.issuperset(product)
        return len(product) - (0 if lonely else 1)

    def size(self) -> int:
        """Operations of all definitions as they are written."""
        written = (sum(map(self.cost, terms)) + len(terms) - 1 for terms in self.sums.values() if terms)
        return sum(written)

    def scaled(self, product: Product, value: Number) -> Product:
        """value * product, value positive and merged with a number the product has already."""
        for a in product:
            if a in self.numbers:
                rest = list(product)
                rest.remove(a)
                return self.scaled(tuple(rest), times(self.numbers[a], value))
        return product if value == 1 else tuple(sorted((*product, self.constant(value))))

    def definition(self, polynomial: Terms) -> Ref:
        """The atom, with its sign, that stands for a polynomial."""
        if not polynomial:
            return 1, self.constant(0)
        if len(polynomial) == 1:
            ((product, c),) = polynomial.items()
            if not product:
                return (1 if c > 0 else -1), self.constant(magnitude(c))
            if len(product) == 1 and abs(c) == 1 and product[0] not in self.inverses:
                return (1 if c > 0 else -1), product[0]
        return self.define({self.scaled(p, magnitude(c)): 1 if c > 0 else -1 for p, c in polynomial.items()})

    def factors(self, polynomial: Terms) -> tuple[Number, Product]:
        """A polynomial as one product with a coefficient; a sum becomes a definition."""
        if len(polynomial) == 1:
            ((product, c),) = polynomial.items()
            return c, product
        sign, atom = self.definition(polynomial)
        return sign, (atom,)


def collect(
    graph: Signed,
    inline: Inline = lambda part, uses: False,
    distribute: Distribute = lambda a, b: False,
    divisions: int = _DIVISIONS,
) -> Sums:
    """The sums of products of a graph: single-use chains are flattened, like terms and inverses collected.

    `inline` says which polynomials used several times are written out in each user instead of shared,
    `distribute` which products of sums are multiplied out. A reciprocal 1/y that is used at most `divisions`
    times becomes divisions by y, one operation less.
    """
    made = Sums(graph, distribute)
    uses = graph.uses()
    wanted = {abs(r) for refs in graph.outputs.values() for r in refs}
    parts: dict[int, Terms] = {}
    for i in graph.live():
        part = parts[i] = _polynomial(made, i, parts)
        inverted = _is_inverse(made, part)
        if _is_plain(part) and (uses[i] <= divisions or not inverted):
            continue
        once = uses[i] == 1 or (not inverted and inline(part, uses[i]))
        if once and i not in wanted and _is_short(part, graph.ops[i]):
            continue
        sign, atom = made.definition(part)
        parts[i] = {(atom,): sign}
        for s in (1, -1):
            if s * i in graph.labels:
                made.labels.setdefault(atom, []).append((s * sign, graph.labels[s * i]))
    for name, refs in graph.outputs.items():
        made.outputs[name] = [made.definition(_signed(parts[abs(r)], r)) for r in refs]
    return made


def _is_inverse(made: Sums, part: Terms) -> bool:
    """Whether a polynomial is the inverse of an atom, times a number."""
    return len(part) == 1 and all(len(p) == 1 and p[0] in made.inverses for p in part)


def _is_short(part: Terms, op: str) -> bool:
    """Whether a polynomial may be flattened in one piece; products of a sum are those of its operands, which were."""
    return len(part) <= _TERMS and (op == "sum" or all(len(p) <= _FACTORS for p in part))


def _is_plain(part: Terms) -> bool:
    """Whether a polynomial is a number or one atom, up to sign: nothing to define."""
    return len(part) <= 1 and all(not p or (len(p) == 1 and abs(c) == 1) for p, c in part.items())


def _signed(part: Terms, r: Reference) -> Terms:
    return part if r > 0 else {p: -c for p, c in part.items()}


def _polynomial(made: Sums, i: int, parts: dict[int, Terms]) -> Terms:
    """Node i in terms of the parts of its operands."""
    graph = made.graph
    op = graph.ops[i]
    if op == "symbol":
        return {(made.atom("symbol", i),): 1}
    if op == "number":
        value = graph.values[i]
        return {(): value} if value else {}
    a = [_signed(parts[abs(r)], r) for r in graph.args[i]]
    if op == "sum":
        return _added(a[0], a[1])
    if op == "mul":
        return _multiplied(made, a[0], a[1])
    if op == "div":
        return _divided(made, a[0], a[1])
    sign, argument = made.definition(a[0])
    if argument in made.numbers:
        constant = graph.value(graph.call(op, graph.number(times(sign, made.numbers[argument]))))
        return {(): constant} if constant else {}
    outer = sign if op in ODD else 1
    return {(made.atom("call", op, 1 if op != "sqrt" else sign, argument),): outer}


def _added(a: Terms, b: Terms) -> Terms:
    total = dict(a)
    for product, c in b.items():
        if product in total:
            c = add_numbers(total.pop(product), c)
        if c != 0:
            total[product] = c
    return total


def _multiplied(made: Sums, a: Terms, b: Terms) -> Terms:
    if not a or not b:
        return {}
    if len(a) * len(b) > 1 and made.distribute(a, b):
        total: Terms = {}
        for p, c in a.items():
            for q, d in b.items():
                total = _added(total, _joined(made, p, q, c, d))
        return total
    c, left = made.factors(a)
    d, right = made.factors(b)
    return _joined(made, left, right, c, d)


def _joined(made: Sums, left: Product, right: Product, c: Number, d: Number) -> Terms:
    """c * left times d * right; an atom and its inverse cancel."""
    product = list(left)
    for atom in right:
        opposite = made.kind[atom][1] if atom in made.inverses else made._known.get(("inverse", atom))
        if opposite in product:
            product.remove(opposite)
        else:
            product.append(atom)
    return {tuple(sorted(product)): times(c, d)}


def _divided(made: Sums, a: Terms, b: Terms) -> Terms:
    sign, denominator = made.definition(b)
    if denominator in made.numbers:
        return _multiplied(made, a, {(): times(sign, reciprocal(made.numbers[denominator]))})
    return _multiplied(made, a, {(made.inverse(denominator),): sign})


def expand(sums: Sums) -> Signed:
    """The graph of binary operations of these sums; operands that are ready first are joined first."""
    graph = Signed(sums.graph.source)
    values: dict[Atom, Reference] = {}

    def joined(refs: Iterable[Reference], operation: Callable[[Reference, Reference], Reference]) -> Reference:
        heap = [(graph.depth[abs(r)], k, r) for k, r in enumerate(refs)]
        heapq.heapify(heap)
        serial = len(heap)
        while len(heap) > 1:
            (_, _, a), (_, _, b) = heapq.heappop(heap), heapq.heappop(heap)
            c = operation(a, b)
            heapq.heappush(heap, (graph.depth[abs(c)], serial, c))
            serial += 1
        return heap[0][2]

    def product(p: Product) -> Reference:
        over = [values[a] for a in p if a not in sums.inverses]
        under = [values[denominator(sums, a)] for a in p if a in sums.inverses]
        top = joined(over, graph.mul) if over else graph.number(1)
        return graph.div(top, joined(under, graph.mul)) if under else top

    for atom in ordered(sums):
        kind = sums.kind[atom]
        if kind[0] == "symbol":
            values[atom] = graph.symbol(sums.graph.symbols[kind[1]])
        elif kind[0] == "number":
            values[atom] = graph.number(sums.numbers[atom])
        elif kind[0] == "call":
            values[atom] = graph.call(str(kind[1]), kind[2] * values[kind[3]])
        elif kind[0] == "sum":
            terms = [s * product(p) for p, s in sorted(sums.sums[atom].items())]
            values[atom] = joined(terms, graph.add) if terms else graph.number(0)
        for sign, label in sums.labels.get(atom, ()):
            if abs(values[atom]) not in graph.values and abs(values[atom]) not in graph.symbols:
                graph.labels.setdefault(sign * values[atom], label)
    for name, refs in sums.outputs.items():
        graph.outputs[name] = [s * values[a] for s, a in refs]
    return graph


def denominator(sums: Sums, inverse: Atom) -> Atom:
    atom: Atom = sums.kind[inverse][1]
    return atom


def operands(sums: Sums, atom: Atom) -> list[Atom]:
    """The atoms an atom is made of directly, inverses replaced by their denominators."""
    kind = sums.kind[atom]
    if kind[0] == "call":
        return [kind[3]]
    if kind[0] != "sum":
        return []
    return [denominator(sums, a) if a in sums.inverses else a for p in sorted(sums.sums[atom]) for a in p]


def ordered(sums: Sums) -> list[Atom]:
    """The atoms the outputs need, operands first."""
    order: list[Atom] = []
    seen: set[Atom] = set()
    for refs in sums.outputs.values():
        for _, root in refs:
            stack = [] if root in seen else [(root, iter(operands(sums, root)))]
            seen.add(root)
            while stack:
                atom, rest = stack[-1]
                fresh = next((a for a in rest if a not in seen), None)
                if fresh is None:
                    order.append(atom)
                    stack.pop()
                else:
                    seen.add(fresh)
                    stack.append((fresh, iter(operands(sums, fresh))))
    return order
