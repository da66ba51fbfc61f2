"""Tables of integers as C has them."""

from __future__ import annotations

from collections.abc import Sequence


def rows(records: Sequence[tuple[int, ...]]) -> str:
    """Records in braces, to stand in an initialiser."""
    return ", ".join("{" + ", ".join(map(str, x)) + "}" for x in records)


def table(name: str, numbers: Sequence[int]) -> str:
    """A constant array."""
    shown = ", ".join(str(int(x)) for x in numbers) or "0"
    return f"static const int {name}[{max(1, len(numbers))}] = {{{shown}}};"
