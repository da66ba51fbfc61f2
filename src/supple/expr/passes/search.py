"""Search: factoring again from randomly loosened starts, where greedy factoring got stuck."""

from __future__ import annotations

import random

from supple.expr.function import Function
from supple.expr.passes.extraction import Extraction
from supple.expr.passes.signed import Signed, read
from supple.expr.passes.signs import write
from supple.expr.passes.sums import Polynomial, collect, expand

_EFFORT = 16_000  # operations factored again in all: the search takes about as long for any Function
_TRIES = 80


def search(f: Function) -> Function:
    """f after tries that write out some shared values, multiply out some products and factor again."""
    source = random.Random(f.name)
    current = read(f)
    size = current.size()
    for _ in range(min(_TRIES, _EFFORT // max(size, 1))):
        tried = loosened(current, source)
        if tried.size() <= size:
            current, size = tried, tried.size()
    return write(current)


def loosened(graph: Signed, source: random.Random) -> Signed:
    """A graph of the same values, factored again after random changes."""
    shared = source.choice((0.0, 0.03, 0.1, 0.3))
    multiplied = source.choice((0.0, 0.05, 0.2, 0.5))
    longest = source.choice((3, 12))
    noise = source.choice((0.1, 0.5, 1.0))

    def inline(part: Polynomial, uses: int) -> bool:
        return len(part) <= longest and source.random() < shared

    def distribute(a: Polynomial, b: Polynomial) -> bool:
        return len(a) * len(b) <= longest and source.random() < multiplied

    return expand(Extraction(collect(graph, inline, distribute), True, source, noise).run())
