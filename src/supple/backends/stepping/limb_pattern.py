"""Where factors of limbs have numbers: columns of elastic coordinates reach few others, the rest of a band are zeros."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.backends.stepping.plant import Limb, Limbs

Columns = list[list[int]]


def factor_columns(limbs: Limbs) -> list[Columns]:
    """Of every frame and elastic coordinate, the places in its column of factors (after its pivot, 0) that are not zero:
    neighbours from 1 on, then six of the twist, then forces in loops. None where a frame moves no mass."""
    made: list[list[set[int]]] = [_own(limbs, x) for x in limbs.frames]
    for child in limbs.frames:
        if child.parent >= 0:
            on = limbs.frames[child.parent]
            forces = range(child.first - on.first, child.last - on.first)
            _add(made[child.parent], on, child.mark, child.marked, [*range(6), *(6 + k for k in forces)], True)
    for tie in limbs.ties:
        on = limbs.frames[tie.frame]
        if not tie.hosted:
            _add(made[tie.frame], on, tie.mark, tie.marked, [6 + k - on.first for k in tie[-6:] if k >= 0], False)
    return [_filled(x, columns) for x, columns in zip(limbs.frames, made, strict=True)]


def stiff_entries(limbs: Limbs) -> Iterator[tuple[int, int, float]]:
    """Places in v and values of the stiffness of bodies on and below the diagonal, column by column."""
    for x in limbs.frames:
        K = _band(limbs, x, x.stiff)
        for k, i in np.argwhere(K):
            yield x.e + int(k + i), x.e + int(k), float(K[k, i])


def _band(limbs: Limbs, x: Limb, first: int) -> np.ndarray:
    wide = x.band + 1
    made: np.ndarray = np.asarray(limbs.numbers, dtype=float)[first : first + x.elastic * wide].reshape(x.elastic, wide)
    return made


def _own(limbs: Limbs, x: Limb) -> list[set[int]]:
    """Places that a body has numbers in by itself."""
    near = sum((_band(limbs, x, first) != 0 for first in (x.mass, x.stiff, x.damped)), start=False)
    coupled = np.asarray(limbs.numbers, dtype=float)[x.rigid + 36 : x.rigid + 36 + 6 * x.elastic].reshape(-1, 6) != 0
    return [
        {int(i) for i in np.flatnonzero(near[k]) if i} | {1 + x.band + int(i) for i in np.flatnonzero(coupled[k])}
        for k in range(x.elastic)
    ]


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
