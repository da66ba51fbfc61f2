"""Where factors of limbs have numbers: columns of elastic coordinates reach few others, the rest of a band are zeros."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from supple.backends.stepping.plant import Limb, Limbs, Window

Columns = list[list[int]]


def factor_columns(limbs: Limbs) -> list[Columns]:
    """Of every frame and elastic coordinate, the places in its column of factors (after its pivot, 0) that are not zero:
    neighbours from 1 on, then those of the twist, then forces in loops. None where a frame moves no mass."""
    n = len(limbs.twists)
    made: list[list[set[int]]] = [_own(limbs, x) for x in limbs.frames]
    for child in limbs.frames:
        if child.parent >= 0:
            on = limbs.frames[child.parent]
            forces = range(child.first - on.first, child.last - on.first)
            others = [*range(n), *(n + k for k in forces)]
            _add(made[child.parent], on, child.mark, child.marked, others, True)
    for tie in limbs.ties:
        on = limbs.frames[tie.frame]
        if not tie.hosted:
            _add(made[tie.frame], on, tie.mark, tie.marked, [n + k - on.first for k in tie[-6:] if k >= 0], False)
    return [_filled(x, columns) for x, columns in zip(limbs.frames, made, strict=True)]


def stiff_entries(limbs: Limbs) -> Iterator[tuple[int, int, int]]:
    """Frame, elastic coordinate, and how far below it, of the numbers in the stiffness and damping of bodies as bent."""
    for j, x in enumerate(limbs.frames):
        for k, own in enumerate(_near(limbs, x, (x.stiff, x.damped))):
            yield from ((j, k, i) for i in sorted({0} | own))


def _band(limbs: Limbs, x: Limb, first: int) -> np.ndarray:
    wide = x.band + 1
    made: np.ndarray = np.asarray(limbs.numbers, dtype=float)[first : first + x.elastic * wide].reshape(x.elastic, wide)
    return made


def _own(limbs: Limbs, x: Limb) -> list[set[int]]:
    """Places that a body has numbers in by itself."""
    n = len(limbs.twists)
    first, last = x.rigid + n * n, x.rigid + n * n + n * x.elastic
    coupled = np.asarray(limbs.numbers, dtype=float)[first:last].reshape(-1, n) != 0
    for bend in limbs.bends[x.bend : x.bend + x.bends]:
        if bend.to >= n * n:
            coupled.flat[bend.to - n * n] = True
    near = _near(limbs, x, (x.mass, x.stiff, x.damped))
    return [own | {1 + x.band + int(i) for i in np.flatnonzero(row)} for own, row in zip(near, coupled, strict=True)]


def _near(limbs: Limbs, x: Limb, matrices: Sequence[int]) -> list[set[int]]:
    """How far below the diagonal every column of a body's matrices has numbers, and what stretches couple."""
    places = sum((_band(limbs, x, first) != 0 for first in matrices), start=np.zeros((x.elastic, x.band + 1), dtype=bool))
    found = [{int(i) for i in np.flatnonzero(row) if i} for row in places]
    for at in limbs.windows[x.stretch : x.stretch + x.stretches]:
        for i, k in _bent_together(limbs, at):
            found[k].add(i - k)
    return found


def _bent_together(limbs: Limbs, at: Window) -> list[tuple[int, int]]:
    """Pairs of elastic coordinates, the later one first, that a stretch of a bent body couples."""
    n, numbers = at.wide, np.asarray(limbs.numbers, dtype=float)[at.numbers :]
    bends, pulled = numbers[: n * n].reshape(n, n).any(axis=0), numbers[n * n : n * n + 2 * n].reshape(2, n).any(axis=0)
    pairs = np.argwhere(np.tril(np.outer(bends, bends | pulled) | np.outer(pulled, bends), -1))
    return [(at.first + int(i), at.first + int(k)) for i, k in pairs]


def _add(columns: list[set[int]], x: Limb, mark: int, marked: int, others: list[int], together: bool) -> None:
    """Coordinates that move a place reach twist and forces there, and each other where something hangs on it."""
    for k in range(mark, mark + marked):
        columns[k] |= {1 + x.band + i for i in others}
        columns[k] |= set(range(1, mark + marked - k)) if together else set()


def _filled(x: Limb, columns: list[set[int]]) -> Columns:
    """Places after elimination in order: every neighbour gets what a column has beyond it."""
    if x.light >= 0:
        return []
    for k, own in enumerate(columns):
        own -= {i for i in own if i <= x.band and k + i >= x.elastic}
        far = {i for i in own if i > x.band}
        near = sorted(own - far)
        for i in near:
            columns[k + i] |= far | {other - i for other in near if other > i}
    return [sorted(own) for own in columns]
