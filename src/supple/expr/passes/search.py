"""Search: factoring again from randomly loosened starts, where greedy factoring got stuck."""

from __future__ import annotations

import random

from supple.expr.function import Function
from supple.expr.passes.extraction import Extraction
from supple.expr.passes.factor import greedily_factored
from supple.expr.passes.signed import Signed, read
from supple.expr.passes.signs import signed_function
from supple.expr.passes.sums import Terms, collect, expand

_EFFORT = 30_000  # operations factored again in all: the search takes about as long for any Function
_TRIES = 80
_WIDE = 2_000  # operations up to which long sums are written out as a first try


def search(f: Function) -> Function:
    """f after tries that write out some shared values, multiply out some products and factor again."""
    source = random.Random(f.name)
    current = read(f)
    size = current.size()
    if size <= _WIDE:
        wide = greedily_factored(current, long_sums, between_long_sums, size)
        if wide is not None and wide.size() <= size:
            current, size = wide, wide.size()
    for _ in range(min(_TRIES, _EFFORT // max(size, 1))):
        tried = loosened(current, source)
        tried_size = tried.size()
        if tried_size <= size:
            current, size = tried, tried_size
    return signed_function(current)


def long_sums(part: Terms, uses: int) -> bool:
    return len(part) <= 40 and len(part) * uses <= 120


def between_long_sums(a: Terms, b: Terms) -> bool:
    return len(a) * len(b) <= 48


def loosened(graph: Signed, source: random.Random) -> Signed:
    """A graph of the same values, factored again after random changes."""
    shared = source.choice((0.0, 0.03, 0.1, 0.3))
    multiplied = source.choice((0.0, 0.05, 0.2, 0.5))
    longest = source.choice((3, 12))
    noise = source.choice((0.1, 0.5, 1.0))

    def inline(part: Terms, uses: int) -> bool:
        return len(part) <= longest and source.random() < shared

    def distribute(a: Terms, b: Terms) -> bool:
        return len(a) * len(b) <= longest and source.random() < multiplied

    return expand(Extraction(collect(graph, inline, distribute), True, source, noise).run())
