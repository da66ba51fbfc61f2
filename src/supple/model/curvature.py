"""How fast the equations of loops can turn: bounds on their second and third derivatives, from the lengths of their chains.

Place d of the end of a chain, joint i before joint j: d2 d / dq_i dq_j = z_i x (z_j x u_j), with u_j the lever from joint
j to the end, so its length is at most that of the later joint's own column. So with third derivatives. Entries of a
product of rotations have derivatives of length one at most. Ball joints turn by rotation vectors, R exp(theta), for which
both hold with |u_j| in place of |z_j x u_j|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Indices
from supple.expr.node import Expr, sqrt
from supple.expr.vector import dot
from supple.model.algebra import Array
from supple.robot.bodies.record import Marker
from supple.robot.mechanism import Anchor, Closure, Mechanism

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class JointRow:
    """Joints in a row, from where a place is seen to the place; k coordinates that turn or slide it."""

    coordinates: Indices  # (k,) in v
    turns: npt.NDArray[np.bool_]  # (k,) or slides
    order: Indices  # (k,) those of a ball joint share a number
    after: Array  # (k,) length of all links after the joint, slides at zero; may be expressions of parameters
    slides: Indices  # (s,) positions in q of the sliding joints
    beyond: Array  # (k, s) one where a sliding joint comes after the turning one
    ball: Indices  # (k,) number of a ball joint, or -1


@dataclass(frozen=True)
class SeenPlace:
    """Rows of an equation about a place: its chains, and which rows speak of positions and which of turns."""

    positions: Indices  # rows
    turns: Indices  # rows
    chains: tuple[JointRow, ...]
    whole: bool  # the rows of positions hold all components that can change


class Curvature:
    """Bounds of all places of a robot at once: chains side by side in arrays (c, k), padded with what never moves.

    What it is asked about may have leading axes, postures of a crowd; they are left out of the shapes below."""

    def __init__(self, places: Sequence[SeenPlace], moving: Sequence[int], nq: int) -> None:
        chains = [(p, chain) for p, place in enumerate(places) for chain in place.chains]
        k = max((len(c.coordinates) for _, c in chains), default=0)
        s = max((len(c.slides) for _, c in chains), default=0)
        self.size, shape = len(moving), (len(chains), k)
        where = {i: n for n, i in enumerate(moving)}
        self.columns = np.full(shape, self.size)
        self.turns, self.after = np.zeros(shape, dtype=bool), np.zeros(shape)
        order, self.ball = np.full(shape, -1), np.full(shape, -1)
        self.slides, self.sliding = np.full((len(chains), s), nq), np.full((len(chains), s), self.size)
        self.beyond = np.zeros((*shape, s))
        for n, (_, c) in enumerate(chains):
            own = slice(0, len(c.coordinates))
            self.columns[n, own] = [where[i] for i in c.coordinates]
            self.turns[n, own], order[n, own], self.after[n, own], self.ball[n, own] = c.turns, c.order, c.after, c.ball
            self.slides[n, : len(c.slides)] = c.slides
            self.sliding[n, : len(c.slides)] = [where[i] for i in c.coordinates[~c.turns]]
            self.beyond[n, own, : len(c.slides)] = c.beyond
        self.both = (self.turns[:, :, None] & self.turns[:, None, :]).astype(float)
        rows = np.broadcast_to(np.arange(k)[:, None], (k, k))
        later = np.where(order[:, :, None] >= order[:, None, :], rows, rows.T)
        self.later = (later + k * np.arange(len(chains))[:, None, None]).astype(int)
        slid = ~self.turns & (order >= 0)
        carried = (order[:, :, None] < order[:, None, :]) & self.turns[:, :, None] & slid[:, None, :]
        self.carried = (carried | carried.transpose(0, 2, 1)).astype(float)
        self._join(places, [p for p, _ in chains])

    def _join(self, places: Sequence[SeenPlace], owner: list[int]) -> None:
        rows = 1 + max((int(r.max()) for p in places for r in (p.positions, p.turns) if r.size), default=-1)
        self.count, self.owner = len(places), np.array(owner, dtype=int)
        self.flat = (self.columns + (self.size + 1) * self.owner[:, None]).ravel()
        self.whole = np.array([places[p].whole for p in owner], dtype=bool)
        self.positions, self.angles = np.zeros((self.count, rows)), np.zeros((self.count, rows))
        self.turning = np.zeros((self.count, self.size + 1))
        for p, place in enumerate(places):
            self.positions[p, place.positions], self.angles[p, place.turns] = 1.0, 1.0
        for n, p in enumerate(owner):
            if places[p].turns.size:
                self.turning[p, self.columns[n][self.turns[n]]] = 1.0
        balls = {(n, int(b)) for n, row in enumerate(self.ball) for b in row if b >= 0}
        self.balls = [(n, np.flatnonzero(self.ball[n] == b)) for n, b in sorted(balls)]

    def levers(self, J: Array) -> Array:
        """(c, k) how far each joint moves the end of its chain per radian; infinite where the rows do not say."""
        squares = self.positions @ _padded(J) ** 2
        found = squares[..., self.owner[:, None], self.columns]
        for n, own in self.balls:
            found[..., n, own] = 0.5 * found[..., n, own].sum(axis=-1, keepdims=True)
        return np.where(self.whole[:, None], np.sqrt(found), np.inf)

    def weights(self, A: Array) -> tuple[Array, Array]:
        """(r, places) lengths of the rows of A on the positions and on the turns of every place."""
        return np.sqrt(A**2 @ self.positions.T), np.sqrt(A**2 @ self.angles.T)

    def within(self, q: Array, levers: Array, box: Array) -> Array:
        """(c, k) levers at most, anywhere in a box about q of these half-widths (moving,)."""
        wide = _padded(box)
        stretch = np.abs(_padded(q)[..., self.slides]) + wide[..., self.sliding]
        reach = self.after + np.einsum("cks,...cs->...ck", self.beyond, stretch)
        return np.asarray(np.minimum(np.minimum(levers, reach) + self._bent(reach, wide[..., self.columns]), reach))

    def second(self, levers: Array, weights: tuple[Array, Array], step: Array) -> Array:
        """(r, moving) bounds on the second derivative of A F by a step of this size, with these levers at most."""
        wide = _padded(step)
        return self._joined(self._bent(levers, wide[..., self.columns]), wide @ self.turning.T, weights)

    def third(self, levers: Array, weights: tuple[Array, Array], step: Array) -> Array:
        """(r, moving) bounds on the third derivative of A F by a step of this size twice."""
        wide = _padded(step)
        width = wide[..., self.columns]
        longest = np.maximum.accumulate(levers[..., ::-1], axis=-1)[..., ::-1]
        turn = np.where(self.turns, width, 0.0).sum(axis=-1, keepdims=True)
        return self._joined(self._bent(longest, width, 2.0) * turn, (wide @ self.turning.T) ** 2, weights)

    def _joined(self, bent: Array, turned: Array, weights: tuple[Array, Array]) -> Array:
        lead, count = bent.shape[:-2], self.count * (self.size + 1)
        crowd = int(np.prod(lead))
        where = self.flat + count * np.arange(crowd)[:, None]
        places = np.bincount(where.ravel(), bent.ravel(), crowd * count).reshape(*lead, self.count, -1)
        G = weights[0] @ places + weights[1] @ (self.turning * turned[..., None])
        return np.asarray(G[..., : self.size])

    def _bent(self, lever: Array, width: Array, carried: float = 1.0) -> Array:
        long = lever.reshape(*lever.shape[:-2], -1)[..., self.later]
        return np.asarray(((self.both * long + carried * self.carried) @ width[..., None])[..., 0])


def _padded(x: Array) -> Array:
    """x with a column of zeros, for joints that chains do not have."""
    return np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)


def place_of_closure(mechanism: Mechanism, closure: Closure, row: int) -> SeenPlace:
    """The Place of a closure whose first row is `row`: its second anchor, seen from the first along both chains."""
    rows = np.arange(row, row + len(closure.forbidden))
    kinds = np.array(closure.forbidden)
    first, second = _branches(mechanism, closure.first, closure.second)
    up = [(j, _size(mechanism.frames[j].marker)) for j in reversed(first)]  # back to the frame both hang on
    if up:
        next_place = mechanism.frames[second[0]].marker if second else closure.second.marker
        up[-1] = (up[-1][0], up[-1][1] + _size(next_place))
    chain = _chain(mechanism, up + _links(mechanism, second, closure.second.marker))
    return SeenPlace(rows[kinds < 3], rows[kinds >= 3], (chain,), not closure.slides)


def place_of_point(mechanism: Mechanism, anchor: Anchor, rows: Sequence[int], whole: bool) -> SeenPlace:
    """The Place of a point whose position along some axes of the base is given."""
    _, frames = _branches(mechanism, Anchor(-1, anchor.marker), anchor)
    chain = _chain(mechanism, _links(mechanism, frames, anchor.marker))
    return SeenPlace(np.array(rows, dtype=int), np.zeros(0, dtype=int), (chain,), whole)


def _branches(mechanism: Mechanism, first: Anchor, second: Anchor) -> tuple[list[int], list[int]]:
    """Frames from the last common one (left out) to each anchor."""

    def line(frame: int) -> list[int]:
        found = []
        while frame >= 0:
            found.append(frame)
            frame = mechanism.frames[frame].parent
        return found[::-1]

    one, two = line(first.frame), line(second.frame)
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] == two[shared]:
        shared += 1
    return one[shared:], two[shared:]


def _size(marker: Marker) -> Any:
    """How far a marker is from its frame: a number, or an expression of parameters."""
    position = np.asarray(marker.position)
    if any(isinstance(x, Expr) for x in position):
        return sqrt(dot(position, position))
    return float(np.linalg.norm(position.astype(float)))


def _links(mechanism: Mechanism, frames: list[int], end: Marker) -> list[tuple[int, Any]]:
    """Frames of a chain, each with the distance from its origin to the next one."""
    sizes = [_size(mechanism.frames[j].marker) for j in frames[1:]] + [_size(end)] * bool(frames)
    return list(zip(frames, sizes, strict=True))


def _chain(mechanism: Mechanism, links: list[tuple[int, Any]]) -> JointRow:
    coordinates, turns, order, ball, after, slides, place = [], [], [], [], [], [], []
    lengths = [length for _, length in links]
    for k, (j, _) in enumerate(links):
        frame = mechanism.frames[j]
        for i in range(frame.v.start, frame.v.stop) if frame.motion != "fixed" else ():
            coordinates.append(i)
            turns.append(frame.motion != "prismatic")
            order.append(k)
            ball.append(j if frame.motion == "spherical" else -1)
            after.append(sum(lengths[k:]))
        if frame.motion == "prismatic":
            slides.append(frame.q.start)
            place.append(k)
    numbers = np.array(order, dtype=int)
    beyond = (np.array(place, dtype=int)[None, :] > numbers[:, None]).astype(float).reshape(len(order), len(place))
    return JointRow(
        np.array(coordinates, dtype=int), np.array(turns, dtype=bool), numbers, np.array(after),
        np.array(slides, dtype=int), beyond, np.array(ball, dtype=int),
    )  # fmt: skip
