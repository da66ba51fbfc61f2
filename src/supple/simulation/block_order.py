"""The order of blocks in which the loops' square Jacobian is eliminated with the least work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.backends.stepping.plant import Block
from supple.expr.function import Array


def block_order(filled: Array) -> tuple[Block, ...]:
    """An order of a square matrix, given where it is filled: blocks that share no rows, then the columns that tie them.

    Columns that share rows with many others tie: as many of them as make elimination cheapest, or all if that saves
    less than half."""
    n = len(filled)
    together = filled.T.astype(int) @ filled.astype(int) > 0
    ties = sorted(range(n), key=lambda j: -int(together[j].sum()))
    trials = [_elimination(filled, together, ties[:k]) for k in range(n + 1)]
    cost, tied, parts = min(trials, key=lambda found: found[0])
    if 2 * cost > trials[-1][0]:
        _, tied, parts = trials[-1]
    columns: list[tuple[int, int, int, int]] = []
    rows: list[int] = []
    for part in parts:
        own = [int(i) for i in np.flatnonzero(filled[:, part].any(axis=1))]
        columns += [(j, len(columns), len(rows), len(rows) + len(own)) for j in part]
        rows += own
    columns += [(j, 0, 0, n) for j in tied]
    rows += [i for i in range(n) if i not in rows]
    return tuple(Block(j, i, *rest) for (j, *rest), i in zip(columns, rows, strict=True))


def _elimination(filled: Array, together: Array, ties: Sequence[int]) -> tuple[int, list[int], list[list[int]]]:
    """About how many multiplications elimination takes, the columns that tie, in order, and the columns of every block."""
    left = [j for j in range(len(filled)) if j not in ties]
    parts = _connected(together, left)
    cost = len(ties) ** 3 // 3
    cost += sum(len(p) * int(filled[:, p].any(axis=1).sum()) * (len(p) + 2 * len(ties)) // 2 for p in parts)
    return cost, sorted(ties), parts


def _connected(together: Array, left: Sequence[int]) -> list[list[int]]:
    """Those left in groups, each of all that are tied to one another directly or through others."""
    parts, rest = [], set(left)
    for j in left:
        part, front = set[int](), {j} & rest
        while front:
            rest -= front
            part |= front
            front = rest & {int(i) for i in np.flatnonzero(together[:, list(front)].any(axis=1))}
        parts += [sorted(part)] if part else []
    return parts
