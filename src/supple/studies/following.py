"""Modes of a grid or a line of cases followed from neighbour to neighbour by their shapes, not by their order.

Two neighbours a and b are compared by the modal assurance of their shapes in the metric of mass, (Xa^T Mb Xb) (Xa^T Ma Xb):
one for the same shape, zero for another mode. From a start, cases are taken in the order of how well their shapes agree
with a neighbour that is known (Prim's way through a graph), so that the way leads around cases in which modes mix. Modes
with the same frequency in a case are one subspace, turned there as the neighbour's shapes lie.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.core.gradients import subspaces
from supple.model.algebra import Array, assigned

_LOST = 0.05  # MAC below which a mode is not among those that were computed
SURE = 0.5  # MAC below which following is not certain
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Tracks:
    """Modes of n cases, lowest first: squares (n, K) of angular frequencies, shapes and momenta M x (n, m, K) on the
    independent motions; not numbers where there is no answer."""

    squares: Array
    shapes: Array
    momenta: Array

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.squares).all(axis=1))

    @property
    def hz(self) -> Array:
        made: Array = np.sign(self.squares) * np.sqrt(np.abs(self.squares)) / (2 * np.pi)
        return made

    def products(self, a: Any, b: Any) -> tuple[Array, Array]:
        """Xa^T Mb Xb and Xa^T Ma Xb (n, K, K) of pairs of cases."""
        turned = np.swapaxes(self.shapes[a], 1, 2)
        return turned @ self.momenta[b], np.swapaxes(self.momenta[a], 1, 2) @ self.shapes[b]


@dataclass(frozen=True)
class Followed:
    """Where in the order of case n the mode is that has number k at the start (n, K), -1 where it is lost; how well its
    shape agrees with that of the neighbour it was followed from (n, K); and pairs of neighbours (seams) between which what
    was followed along different ways disagrees."""

    start: int
    order: Places
    certainty: Array
    seams: tuple[tuple[int, int], ...]

    def values(self, hz: Array, k: int) -> Array:
        """(n,) frequencies of mode k."""
        own = self.order[:, k]
        made = np.where(own >= 0, hz[np.arange(len(hz)), np.maximum(own, 0)], np.nan)
        return made


def neighbours(shape: Sequence[int]) -> Places:
    """(pairs, 2) cases beside each other along an axis of a grid."""
    rows = np.arange(int(np.prod(shape))).reshape(shape)
    pairs = []
    for axis in range(len(shape)):
        along = np.moveaxis(rows, axis, 0)
        pairs.append(np.column_stack([along[:-1].ravel(), along[1:].ravel()]))
    return np.concatenate(pairs)


def follow(tracks: Tracks, shape: Sequence[int], asked: Sequence[int], near: Array) -> Followed | None:
    """Modes followed from the case that is nearest (`near`, least first) with no repeated modes among those asked for;
    None where there is no answer at all."""
    if not tracks.known.any():
        return None
    return _Way(tracks, shape, asked, _start(tracks, asked, near)).followed()


def _start(tracks: Tracks, asked: Sequence[int], near: Array) -> int:
    def repeated(row: int) -> bool:
        return any(own.stop - own.start > 1 and own.start <= max(asked) for own in subspaces(tracks.squares[row]))

    rows = [int(r) for r in np.argsort(near, kind="stable") if tracks.known[r]]
    return next((r for r in rows if not repeated(r)), rows[0])


@dataclass
class _Way:
    tracks: Tracks
    shape: Sequence[int]
    asked: Sequence[int]
    start: int
    turns: dict[int, Array] = field(default_factory=dict)  # of repeated modes, case -> (K, K)

    def __post_init__(self) -> None:
        known, (count, modes) = self.tracks.known, self.tracks.squares.shape
        pairs = neighbours(self.shape)
        self.pairs = pairs[known[pairs].all(axis=1)]
        self.first, self.second = self.tracks.products(self.pairs[:, 0], self.pairs[:, 1])
        self.beside: dict[int, list[tuple[int, int]]] = {}
        for k, (a, b) in enumerate(self.pairs.tolist()):
            self.beside.setdefault(a, []).append((b, k))
            self.beside.setdefault(b, []).append((a, k))
        self.order = np.full((count, modes), -1, dtype=np.intp)
        self.certainty = np.full((count, modes), np.nan)

    def followed(self) -> Followed:
        for begin in self._begins():
            self._spread(begin)
        return Followed(self.start, self.order, self.certainty, tuple(self._seams()))

    def _begins(self) -> Iterator[int]:
        """The start; then a case of every region that no neighbours lead to, where modes are numbered by order."""
        yield self.start
        for row in np.flatnonzero(self.tracks.known).tolist():
            if self.order[row, 0] < 0 and (self.order[row] < 0).all():
                yield row

    def _spread(self, begin: int) -> None:
        self.order[begin] = np.arange(self.order.shape[1])
        self.certainty[begin] = 1.0
        queue: list[tuple[float, int, int, Any]] = []
        taken = {begin}
        self._offer(queue, begin, taken)
        while queue:
            _, row, a, (to, agree, turn) = heapq.heappop(queue)
            if row in taken:
                continue
            taken.add(row)
            if turn is not None:
                self.turns[row] = turn
            old = self.order[a]
            sure = np.where(old >= 0, agree[np.maximum(old, 0)], 0.0)
            self.order[row] = np.where(sure > _LOST, to[np.maximum(old, 0)], -1)
            self.certainty[row] = np.where(self.order[row] >= 0, sure, np.nan)
            self._offer(queue, row, taken)

    def _offer(self, queue: list[tuple[float, int, int, Any]], a: int, taken: set[int]) -> None:
        for b, pair in self.beside.get(a, ()):
            if b not in taken:
                step = self._step(a, b, pair)
                own = self.order[a, list(self.asked)]
                least = float(step[1][own[own >= 0]].min(initial=1.0))
                heapq.heappush(queue, (-least, b, a, step))

    def _step(self, a: int, b: int, pair: int) -> tuple[Places, Array, Array | None]:
        """For every mode of a its place in b, how well the shapes agree, and how b's repeated modes are turned."""
        one, two = self.first[pair], self.second[pair]
        if self.pairs[pair, 0] != a:
            one, two = two.T, one.T
        if a in self.turns:
            one, two = self.turns[a].T @ one, self.turns[a].T @ two
        turn = self.turns.get(b)
        if turn is None:
            turn = _turned(one, two, self.tracks.squares[b])
        if turn is not None:
            one, two = one @ turn, two @ turn
        to, agree = _matched(np.clip(one * two, 0.0, 1.0))
        return to, agree, turn

    def _seams(self) -> Iterator[tuple[int, int]]:
        asked = list(self.asked)
        for k, (a, b) in enumerate(self.pairs.tolist()):
            here, there = self.order[a, asked], self.order[b, asked]
            to, agree, _ = self._step(a, b, k)
            if (((here >= 0) & (there >= 0)) & (to[here] != there) & (agree[here] > SURE)).any():
                yield a, b


def _turned(one: Array, two: Array, squares: Array) -> Array | None:
    """A turn (K, K) of repeated modes within their subspaces that brings them nearest to a neighbour's shapes."""
    groups = [own for own in subspaces(squares) if own.stop - own.start > 1]
    if not groups:
        return None
    made, free = np.eye(len(squares)), np.ones(len(squares), dtype=bool)
    for own in groups:
        share = np.where(free, (one[:, own] * two[:, own]).sum(axis=1), -np.inf)
        rows = np.sort(np.argsort(-share, kind="stable")[: own.stop - own.start])
        free[rows] = False
        left, _, right = np.linalg.svd(one[rows, own])
        made[own, own] = (left @ right).T
    return made


def _matched(mac: Array) -> tuple[Places, Array]:
    """The partner of every row, all different, with the largest sum; and its MAC."""
    best = mac.argmax(axis=1)
    if len(set(best.tolist())) < len(best):
        best = assigned(-mac)[1]
    return best, mac[np.arange(len(best)), best]
