"""Best of many runs, the contestants taking turns so that a busy machine slows all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping


def best_times(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The shortest wall-clock time of each contestant in seconds, after one run to warm up."""
    best = dict.fromkeys(contestants, float("inf"))
    for run in range(rounds + 1):
        for name, call in contestants.items():
            start = time.perf_counter()
            call()
            if run:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def show(title: str, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print one table: words to the left, numbers to the right."""
    cells = [[str(x) for x in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for k, row in enumerate(cells):
        first, *rest = zip(row, widths, strict=True)
        print("  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]).rstrip())
        if k == 0:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))
