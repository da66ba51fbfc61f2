"""Greedy extraction of what sums of products have in common, the most profitable first.

Three kinds of candidates, as in the extraction of cubes and kernels in logic synthesis:
a pair of factors that several products contain; a pair of terms that several sums contain, up to a sign and,
when factoring, up to a product in front of them; and, when factoring, a factor of several terms of one sum.
"""

from __future__ import annotations

import heapq
import random
from itertools import combinations
from typing import Any

from supple.expr.passes.sums import Atom, Product, Sum, Sums

FactorPair = tuple[Atom, Atom]
Occurrence = tuple[Atom, Product]  # a term of a definition
Kind = tuple[str, float]  # of a candidate, and what it is preferred by to others of equal gain
_TERMS, _FACTOR, _FACTORS = ("terms", 0.2), ("factor", 0.1), ("factors", 0.0)
_NEIGHBOURS = 48  # terms of one sum each term is paired with


class Extraction:
    """The candidates of some sums, kept up to date while the best ones are carried out.

    Candidates are numbered as they are found: what is known of them is found by number, not by their long names."""

    def __init__(self, sums: Sums, factoring: bool, source: random.Random | None = None, noise: float = 0.0) -> None:
        self.sums, self.factoring = sums, factoring
        self.source, self.noise = source or random.Random(0), noise
        self.numbers: dict[Kind, dict[Any, int]] = {_TERMS: {}, _FACTOR: {}, _FACTORS: {}}
        self.named: list[tuple[Kind, Any]] = []
        self.places: list[dict[Any, None]] = []
        self.preferred: list[float] = []
        self.noted: dict[Occurrence, list[tuple[int, Any]]] = {}
        self.whole: dict[frozenset[tuple[Product, int]], Atom] = {}
        self.splits: dict[tuple[Product, Product], tuple[Product, Product, Product]] = {}
        self.heap: list[tuple[float, int, int]] = []
        self.queued: dict[int, int] = {}
        self.changed: dict[int, None] = {}
        for s in list(sums.sums):
            terms, sums.sums[s] = sums.sums[s], {}
            for product, sign in terms.items():
                self._insert(s, product, sign)
            self._remember(s)

    def run(self) -> Sums:
        """The sums after every profitable extraction."""
        self._requeue()
        while self.heap:
            _, gain, key = heapq.heappop(self.heap)
            if self.queued.get(key) != gain:
                continue
            del self.queued[key]
            if self._gain(key) != gain:
                self.changed[key] = None
            else:
                self._carry_out(key)
            self._requeue()
        return self.sums

    def _requeue(self) -> None:
        queued, named, places = self.queued, self.named, self.places
        for key in self.changed:
            gain = len(places[key]) - 1 if named[key][0] is _FACTORS else self._gain(key)
            if gain <= 0:
                queued.pop(key, None)
            elif queued.get(key) != gain:
                queued[key] = gain
                heapq.heappush(self.heap, (-gain - self.preferred[key] + 1e-9 * key, gain, key))
        self.changed.clear()

    # -- the index of candidates

    def _number(self, kind: Kind, name: Any) -> int:
        """The number of a candidate; a new one if it is not known."""
        numbers = self.numbers[kind]
        key = numbers.get(name)
        if key is None:
            key = numbers[name] = len(self.named)
            self.named.append((kind, name))
            self.places.append({})
            self.preferred.append(kind[1] + self.noise * self.source.random())
        self.changed[key] = None
        return key

    def _insert(self, s: Atom, product: Product, sign: int) -> None:
        """Add a term to definition s and note the candidates it makes."""
        terms = self.sums.sums[s]
        if product in terms:
            met = terms[product]
            self._drop(s, product)
            if met == sign:
                self._insert(s, self.sums.scaled(product, 2), sign)
            return
        here = (s, product)
        noted = self.noted[here] = []
        for other in list(terms)[-_NEIGHBOURS:]:
            self._note_terms(s, product, sign, other, terms[other], noted)
        terms[product] = sign
        inverses = self.sums.inverses
        for pair in dict.fromkeys(combinations(product, 2)):  # in order, as the product is
            if not inverses or not inverses.issuperset(pair):
                key = self._number(_FACTORS, pair)
                self.places[key][here] = None
                noted.append((key, here))
        if self.factoring:
            for x in dict.fromkeys(product):
                key = self._number(_FACTOR, (s, x))
                self.places[key][here] = None
                noted.append((key, here))

    def _note_terms(self, s: Atom, p: Product, sp: int, q: Product, sq: int, noted: list[tuple[int, Any]]) -> None:
        """Note the pair of a new term p, whose candidates are `noted`, and the term q of definition s."""
        _, a, b = self._split(p, q) if self.factoring else ((), p, q)
        place = (s, p, q)
        if b < a:
            place, a, b = (s, q, p), b, a
        key = self._number(_TERMS, (a, b, sp * sq))
        self.places[key][place] = None
        both = (key, place)
        noted.append(both)
        self.noted[s, q].append(both)

    def _drop(self, s: Atom, product: Product) -> int:
        """Remove a term and its candidates; its sign."""
        for key, place in self.noted.pop((s, product)):
            if self.places[key].pop(place, 0) is None:
                self.changed[key] = None
        return self.sums.sums[s].pop(product)

    def _split(self, p: Product, q: Product) -> tuple[Product, Product, Product]:
        """The common product of p and q, and what is left of each."""
        found = self.splits.get((p, q))
        if found is None:
            shared, left, right = [], [], list(q)
            for x in p:
                if x in right:
                    right.remove(x)
                    shared.append(x)
                else:
                    left.append(x)
            found = self.splits[p, q] = tuple(shared), tuple(left), tuple(right)
        return found

    def _remember(self, s: Atom) -> None:
        terms = self.sums.sums[s]
        if terms:
            self.whole.setdefault(frozenset(terms.items()), s)

    def _forget(self, s: Atom) -> None:
        key = frozenset(self.sums.sums[s].items())
        if self.whole.get(key) == s:
            del self.whole[key]

    def _definition(self, terms: Sum) -> tuple[int, Atom]:
        """An atom, with its sign, for these terms: one that exists, or a new one."""
        opposite = {p: -s for p, s in terms.items()}
        for sign, content in ((1, terms), (-1, opposite)):
            found = self.whole.get(frozenset(content.items()))
            if found is not None:
                return sign, found
        sign = terms[min(terms)]
        atom = self.sums.atom("sum", "extracted", len(self.sums.kind))
        self.sums.sums[atom] = {}
        for product, s in sorted((terms if sign > 0 else opposite).items()):
            self._insert(atom, product, s)
        self._remember(atom)
        return sign, atom

    # -- what a candidate is worth, and carrying it out

    def _gain(self, key: int) -> int:
        """Operations saved by a candidate."""
        places, (kind, name) = self.places[key], self.named[key]
        if not places or kind is _FACTORS:
            return len(places) - 1
        if kind is _FACTOR:
            if len(places) == 1:
                return 0
            many = [p for _, p in places if len(p) > 1]
            return len(many) - 1 - self._shared_products(name[0], many)
        a, b, _ = name
        if len(places) == 1 and next(iter(places))[1] == a:
            return 0
        cost = self.sums.cost
        total = -(cost(a) + cost(b) + 1)
        for s, p, q, front in self._disjoint(key):
            whole = not front and len(self.sums.sums[s]) == 2
            total += cost(p) + cost(q) + 1 - (0 if whole else len(front))
        return total

    def _shared_products(self, s: Atom, products: list[Product]) -> int:
        """How many of these products another definition computes anyway, so that they cost nothing here."""
        return sum(1 for p in products for sign in (1, -1) if self.whole.get(frozenset(((p, sign),)), s) != s)

    def _disjoint(self, key: int) -> list[tuple[Atom, Product, Product, Product]]:
        """Places of a pair of terms that do not overlap, each with the product in front."""
        chosen = []
        used: set[Occurrence] = set()
        for s, p, q in self.places[key]:
            if (s, p) not in used and (s, q) not in used:
                used.update(((s, p), (s, q)))
                chosen.append((s, p, q, self._split(p, q)[0] if self.factoring else ()))
        return chosen

    def _carry_out(self, key: int) -> None:
        kind, name = self.named[key]
        if kind is _FACTORS:
            self._take_factors(name, list(self.places[key]))
        elif kind is _FACTOR:
            s, x = name
            self._take_factor(s, x, [p for _, p in self.places[key]])
        else:
            self._take_terms(key)

    def _replace(self, s: Atom, old: list[Product], new: Product, sign: int) -> None:
        self._forget(s)
        for product in old:
            self._drop(s, product)
        self._insert(s, new, sign)
        self._remember(s)

    def _take_factors(self, pair: FactorPair, places: list[Occurrence]) -> None:
        sign, atom = self._definition({pair: 1})
        for s, product in places:
            if s != atom and product in self.sums.sums[s]:
                rest = list(product)
                made = []
                while pair[0] in rest and pair[1] in rest and (pair[0] != pair[1] or rest.count(pair[0]) > 1):
                    rest.remove(pair[0])
                    rest.remove(pair[1])
                    made.append(atom)
                outer = self.sums.sums[s][product] * (sign if len(made) % 2 else 1)
                self._replace(s, [product], tuple(sorted(rest + made)), outer)

    def _take_factor(self, s: Atom, x: Atom, products: list[Product]) -> None:
        inner = {}
        for product in products:
            rest = list(product)
            rest.remove(x)
            inner[tuple(rest)] = self.sums.sums[s][product]
        sign, atom = self._definition(inner)
        self._replace(s, products, tuple(sorted((x, atom))), sign)

    def _take_terms(self, key: int) -> None:
        _, (a, b, relative) = self.named[key]
        places = self._disjoint(key)
        sign, atom = self._definition({a: 1, b: relative})
        for s, p, q, front in places:
            terms = self.sums.sums[s]
            if s != atom and p in terms and q in terms:
                first = terms[p]
                self._replace(s, [p, q], tuple(sorted((*front, atom))), first * sign)
