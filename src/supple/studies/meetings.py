"""Where two modes of a study meet: they cross, or they veer away from each other and exchange their shapes.

Along every line of a grid the gap between neighbours in frequency has a least value where they meet. It is sought between
the cases with the compiled core: square of the gap = g0^2 + s^2 (x - x0)^2 near there, and g0 is zero for a crossing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from supple.model.algebra import Array
from supple.results.study import Meeting
from supple.studies.following import Followed, Tracks

MOST = 400  # meetings that are sought between the cases
_POINTS, _ROUNDS = 17, 3
_CROSS = 0.05  # of the gap at the points beside the least one: less counts as none

Squares = Callable[[Array, int], Array]  # places (n, 3: case, case, share of the way) and modes -> (n, modes) squares


@dataclass(frozen=True)
class Candidate:
    """Two modes by their numbers, their place in the order (the lower one), and the cases that they meet between."""

    modes: tuple[int, int]
    place: int
    cases: tuple[int, ...]  # two or three


def candidates(tracks: Tracks, followed: Followed, shape: Sequence[int], asked: Sequence[int]) -> Iterator[Candidate]:
    """Pairs that change their order between neighbours, and pairs that exchange shapes where they are nearest."""
    rows = np.arange(int(np.prod(shape))).reshape(shape)
    for axis in range(len(shape)):
        for line in np.moveaxis(rows, axis, -1).reshape(-1, shape[axis]):
            for place in range(tracks.squares.shape[1] - 1):
                yield from _on_line(tracks, followed, line.tolist(), place, set(asked))


def _on_line(
    tracks: Tracks, followed: Followed, line: list[int], place: int, asked: set[int]
) -> Iterator[Candidate]:  # fmt: skip
    gap = tracks.hz[line, place + 1] - tracks.hz[line, place]
    named = [_numbers(followed, row, place) for row in line]
    swapped: set[int] = set()
    for k in range(len(line) - 1):
        here, there = named[k], named[k + 1]
        if here is not None and there is not None and here == there[::-1] and asked & {*here}:
            swapped |= {k, k + 1}
            yield Candidate(here, place, (line[k], line[k + 1]))
    for k in range(1, len(line) - 1):
        own = named[k]
        if k in swapped or own is None or not asked & {*own} or not gap[k - 1] >= gap[k] < gap[k + 1]:
            continue
        left, right = _apart(gap, k, -1), _apart(gap, k, +1)
        one, two = tracks.products([line[left]], [line[right]])
        mac = (one * two)[0][place : place + 2, place : place + 2]
        if mac[0, 1] + mac[1, 0] > mac[0, 0] + mac[1, 1]:
            yield Candidate(own, place, (line[k - 1], line[k], line[k + 1]))


def _numbers(followed: Followed, row: int, place: int) -> tuple[int, int] | None:
    """Numbers of the modes at a place and above it, if both are known."""
    found = [np.flatnonzero(followed.order[row] == place + k) for k in (0, 1)]
    return (int(found[0][0]), int(found[1][0])) if all(len(x) for x in found) else None


def _apart(gap: Array, k: int, step: int) -> int:
    """The nearest case on one side where the gap has doubled, or the last one before the end or a hole."""
    j = k
    while 0 <= j + step < len(gap) and np.isfinite(gap[j + step]) and gap[j] < 2 * gap[k] + 1e-12:
        j += step
    return j


def refined(found: Sequence[Candidate], squares: Squares, at: Callable[[Array], list[dict[str, float]]]) -> list[Meeting]:
    """The Meetings of candidates: where between the cases, at which frequency, how near, and of which kind."""
    if not found:
        return []
    ends = np.array([len(c.cases) - 1 for c in found], dtype=float)
    low, high = np.zeros(len(found)), ends.copy()
    modes = max(c.place for c in found) + 2
    for _ in range(_ROUNDS):
        x = np.linspace(low, high, _POINTS, axis=1)
        hz = _hz(squares(_places(found, x), modes)).reshape(len(found), _POINTS, modes)
        pair = np.array([hz[k][:, c.place : c.place + 2] for k, c in enumerate(found)])
        gap = pair[:, :, 1] - pair[:, :, 0]
        best = np.clip(np.where(np.isfinite(gap), gap, np.inf).argmin(axis=1), 1, _POINTS - 2)
        rows = np.arange(len(found))
        before = gap[rows, best - 1], gap[rows, best], gap[rows, best + 1]
        width = x[:, 1] - x[:, 0]
        middle, mean = x[rows, best], pair[rows, best].mean(axis=1)
        low, high = middle - width, middle + width
    shift, least, rest = _parabola(*before)
    where = at(_places(found, (middle + shift * width)[:, None]))
    return [
        Meeting((f"f{c.modes[0] + 1}", f"f{c.modes[1] + 1}"), (c.cases[0], c.cases[-1]), where[k], float(mean[k]),
                float(least[k]), "cross" if least[k] <= _CROSS * rest[k] else "veer")
        for k, c in enumerate(found)
    ]  # fmt: skip


def _parabola(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Of gaps at -1, 0, 1: where their square is least, the least gap, and the gap a step beside it."""
    bend = 0.5 * (a**2 + c**2) - b**2
    shift = np.clip(np.where(bend > 0, (a**2 - c**2) / (4 * np.where(bend > 0, bend, 1.0)), 0.0), -1.0, 1.0)
    least = np.sqrt(np.maximum(b**2 - bend * shift**2, 0.0))
    return shift, least, np.sqrt(np.maximum(0.5 * (a**2 + c**2), b**2))


def _places(found: Sequence[Candidate], x: Array) -> Array:
    """(n, 3) first case, second case and share of the way between them, for steps x (candidates, points) along the cases."""
    made = []
    for c, steps in zip(found, x, strict=True):
        first = np.clip(np.floor(steps), 0, len(c.cases) - 2).astype(int)
        cases = np.array(c.cases)
        made.append(np.column_stack([cases[first], cases[first + 1], steps - first]))
    return np.concatenate(made)


def _hz(squares: Array) -> Array:
    made: Array = np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi)
    return made
