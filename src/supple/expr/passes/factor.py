"""Factoring: a*b + a*c as a*(b + c), where that saves operations."""

from __future__ import annotations

from supple.expr.function import Function
from supple.expr.passes.extraction import Extraction
from supple.expr.passes.signed import Signed, read
from supple.expr.passes.signs import signed_function
from supple.expr.passes.sums import Distribute, Inline, Terms, collect, expand

_TINY, _LONG = 500, 2.2  # operations up to which every start is worth its time; how much longer others may be written out
_SMALL, _MEDIUM = 1_500, 12_000  # operations up to which every start, or the best three, are tried


def factor(f: Function) -> Function:
    """f with common factors taken out of its sums, the most profitable first, sharing what results.

    The result of greedy factoring depends on its start, so it starts from sums written out more and less.
    """
    graph = read(f)
    size = graph.size()
    starts = STARTS if size <= _SMALL else STARTS[:3] if size <= _MEDIUM else LARGE_STARTS
    choices = [made for inline, distribute in starts if (made := greedily_factored(graph, inline, distribute, size))]
    return signed_function(min(choices, key=lambda made: made.size()))


def greedily_factored(graph: Signed, inline: Inline, distribute: Distribute, size: int) -> Signed | None:
    """The graph, of so many operations, factored greedily after writing out what `inline` and `distribute` say; None if that
    makes it so much longer that factoring does not make up for it."""
    sums = collect(graph, inline, distribute)
    if size > _TINY and sums.size() > _LONG * size:
        return None
    return expand(Extraction(sums, factoring=True).run())


def nothing(part: Terms, uses: int) -> bool:
    return False


def short_products(part: Terms, uses: int) -> bool:
    return len(part) == 1 and uses <= 6 and all(len(p) <= 3 for p in part)


def short_sums(part: Terms, uses: int) -> bool:
    return len(part) <= 3 and uses <= 4 and all(len(p) <= 3 for p in part)


def sums(part: Terms, uses: int) -> bool:
    return len(part) <= 12 and len(part) * uses <= 24


def never(a: Terms, b: Terms) -> bool:
    return False


def over_short_sums(a: Terms, b: Terms) -> bool:
    return min(len(a), len(b)) == 1 and max(len(a), len(b)) <= 4


def over_sums(a: Terms, b: Terms) -> bool:
    return min(len(a), len(b)) == 1 and max(len(a), len(b)) <= 12


def between_sums(a: Terms, b: Terms) -> bool:
    return len(a) * len(b) <= 16


# What is written out at each use, and which products are multiplied out, before factoring.
STARTS: tuple[tuple[Inline, Distribute], ...] = (
    (nothing, never),
    (short_products, over_sums),
    (short_sums, over_sums),
    (short_products, never),
    (nothing, over_sums),
    (sums, over_sums),
    (sums, between_sums),
)
LARGE_STARTS: tuple[tuple[Inline, Distribute], ...] = ((nothing, never), (short_products, over_short_sums))
