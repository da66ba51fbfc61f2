"""Signals over time as piecewise quintic polynomials, with their exact first and second derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import SuppleError
from supple.robot.bodies.record import Array

POWERS = 6
SHORTEST = 1e-9  # s; a rest shorter than that at the end is rounding
TIME_TOLERANCE = 1e-12  # s, relative to the duration


@dataclass(frozen=True)
class Trajectory:
    """Signals over time as piecewise quintic polynomials: what integrators in C read."""

    names: tuple[str, ...]  # channels: coordinate names ("q11") or loads ("tau q11", "P.fx")
    knots: Array  # (K + 1,) increasing, s
    coefficients: Array  # (K, channels, 6): powers 0..5 of (t - knots[k])
    breaks: Array  # times at which a second derivative jumps (integrators land there and start anew)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        knots, coefficients, breaks = (
            np.ascontiguousarray(x, dtype=float) for x in (self.knots, self.coefficients, self.breaks)
        )
        if len(set(names)) != len(names):
            raise SuppleError(f"a trajectory has two channels of one name: {', '.join(names)}")
        if knots.ndim != 1 or knots.size < 2:
            raise SuppleError("a trajectory needs at least two knots")
        if coefficients.shape != (knots.size - 1, len(names), POWERS):
            wanted = (knots.size - 1, len(names), POWERS)
            raise SuppleError(f"coefficients of the trajectory have the shape {coefficients.shape}, not {wanted}")
        if breaks.ndim != 1 or not all(np.isfinite(x).all() for x in (knots, coefficients, breaks)):
            raise SuppleError("a trajectory must be finite: a knot, coefficient or break is not a number")
        if not (np.diff(knots) > 0).all():
            raise SuppleError("the knots of a trajectory must increase")
        for field, value in (("names", names), ("knots", knots), ("coefficients", coefficients)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "breaks", np.array(sorted(set(breaks.tolist())), dtype=float))
        for array in (self.knots, self.coefficients, self.breaks):
            array.setflags(write=False)

    @property
    def start(self) -> float:
        return float(self.knots[0])

    @property
    def end(self) -> float:
        return float(self.knots[-1])

    @property
    def duration(self) -> float:
        return self.end - self.start

    @cached_property
    def last(self) -> Array:
        """Values at the end, and after it."""
        return self(self.end)[0]

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Values, rates and second derivatives at t, each of t's shape + (channels,).

        Held at the first value before the start and at the last value after the end, with zero rates; at a
        knot the piece that begins there counts (the last piece at the very end)."""
        time = np.asarray(t, dtype=float)
        inside = (time >= self.start) & (time <= self.end)
        piece = np.clip(np.searchsorted(self.knots, time, side="right") - 1, 0, self.knots.size - 2)
        s = (np.clip(time, self.start, self.end) - self.knots[piece])[..., None]
        c = self.coefficients[piece]
        x = np.zeros((*s.shape[:-1], len(self.names)))
        xd, xdd = np.zeros_like(x), np.zeros_like(x)
        for power in range(POWERS - 1, -1, -1):
            xdd = xdd * s + 2 * xd
            xd = xd * s + x
            x = x * s + c[..., power]
        return x, np.where(inside[..., None], xd, 0.0), np.where(inside[..., None], xdd, 0.0)

    def at_rest_from(self, near: float) -> float:
        """A time from which all channels stay that near to their last values."""
        if near not in self._rests:
            self._rests[near] = self._rest(near)
        return self._rests[near]

    @cached_property
    def _rests(self) -> dict[float, float]:
        return {}

    def _rest(self, near: float) -> float:
        width = np.diff(self.knots)[:, None] ** np.arange(POWERS)
        moved = np.abs(self.coefficients[:, :, 1:]) @ width[:, 1:, None]
        off = np.abs(self.coefficients[:, :, 0] - self.last) + moved[..., 0]
        moving = np.flatnonzero((off > near).any(axis=1))
        return float(self.knots[moving[-1] + 1]) if moving.size else self.start

    def only(self, names: Sequence[str]) -> Trajectory:
        """The channels of these names, in this order."""
        return Trajectory(tuple(names), self.knots, self.coefficients[:, [self.names.index(n) for n in names]], self.breaks)

    def later(self, delay: float) -> Trajectory:
        """The same signals, delayed by so many seconds."""
        return Trajectory(self.names, self.knots + delay, self.coefficients, self.breaks + delay)

    def renamed(self, names: Mapping[str, str]) -> Trajectory:
        return Trajectory(tuple(names.get(n, n) for n in self.names), self.knots, self.coefficients, self.breaks)

    def cut(self, start: float, end: float) -> Trajectory:
        """The part between two times; it still begins at `start` on the clock."""
        inner = self.knots[(self.knots > start) & (self.knots < end)]
        return self.refined(np.concatenate([[start], inner, [end]]))

    def lasting(self, duration: float) -> Trajectory:
        """The same signals from 0 to `duration`: cut, or held at their ends."""
        parts = [self.cut(max(self.start, 0.0), min(self.end, duration))] if self.start < duration else []
        if self.start > SHORTEST:
            parts.insert(0, Trajectory.held(self.names, self(self.start)[0], min(self.start, duration)))
        rest = duration - self.end
        if rest > SHORTEST:
            parts.append(Trajectory.held(self.names, self(self.end)[0], rest))
        joined = Trajectory.joined(parts)
        return Trajectory(joined.names, np.append(joined.knots[:-1], duration), joined.coefficients, joined.breaks)

    def refined(self, knots: Array) -> Trajectory:
        """The same signals over other knots, which must include this one's knots inside their span."""
        knots = np.asarray(knots, dtype=float)
        middle = (knots[1:] + knots[:-1]) / 2
        piece = np.clip(np.searchsorted(self.knots, middle, side="right") - 1, 0, self.knots.size - 2)
        shifted = _shifted(self.coefficients[piece], (knots[:-1] - self.knots[piece])[:, None])
        before, after = middle < self.start, middle > self.end
        for outside, time in ((before, self.start), (after, self.end)):
            if outside.any():
                shifted[outside] = 0.0
                shifted[outside, :, 0] = self(time)[0]
        kept = self.breaks[(self.breaks >= knots[0]) & (self.breaks <= knots[-1])]
        return Trajectory(self.names, knots, shifted, kept)

    @classmethod
    def hermite(
        cls,
        names: Sequence[str],
        times: ArrayLike,
        x: ArrayLike,
        xd: ArrayLike,
        xdd: ArrayLike,
        breaks: ArrayLike = (),
    ) -> Trajectory:
        """The quintic through values, rates and second derivatives (each (times, channels)) at the given times."""
        t = np.asarray(times, dtype=float)
        shape = (t.size, len(names))
        p, v, a = (np.asarray(w, dtype=float).reshape(shape) for w in (x, xd, xdd))
        if t.size > 1 and not (np.diff(t) > 0).all():
            raise SuppleError("the times of a trajectory must increase")
        pieces = quintic_coefficients((p[:-1], v[:-1], a[:-1]), (p[1:], v[1:], a[1:]), np.diff(t)[:, None])
        return cls(tuple(names), t, pieces, np.asarray(breaks, dtype=float))

    @classmethod
    def held(cls, names: Sequence[str], values: ArrayLike, duration: float) -> Trajectory:
        """Constant values from 0 to `duration`."""
        coefficients = np.zeros((1, len(names), POWERS))
        coefficients[0, :, 0] = values
        return cls(tuple(names), np.array([0.0, duration]), coefficients, np.zeros(0))

    @classmethod
    def joined(cls, parts: Iterable[Trajectory]) -> Trajectory:
        """Parts of the same channels one after the other, each moved to begin where the one before ends.

        Joints at which a value, rate or second derivative jumps become breaks."""
        pieces = list(parts)
        if not pieces or any(p.names != pieces[0].names for p in pieces):
            raise SuppleError("trajectories that are joined must have the same channels")
        placed = [pieces[0]]
        for part in pieces[1:]:
            placed.append(part.later(placed[-1].end - part.start))
        breaks = [p.breaks for p in placed]
        for first, second in pairwise(placed):
            if _jumps(first(first.end), second(second.start)):
                breaks.append(np.array([first.end]))
        knots = np.concatenate([placed[0].knots, *(p.knots[1:] for p in placed[1:])])
        return cls(pieces[0].names, knots, np.concatenate([p.coefficients for p in placed]), np.concatenate(breaks))

    @classmethod
    def together(cls, parts: Iterable[Trajectory]) -> Trajectory:
        """The channels of all parts side by side over one clock; shorter ones hold their last value.

        A part that ends (or starts) while moving jumps there to rest, which becomes a break."""
        pieces = list(parts)
        if not pieces:
            raise SuppleError("no trajectories to put together")
        start, end = min(p.start for p in pieces), max(p.end for p in pieces)
        slack = TIME_TOLERANCE * max(end - start, 1.0)
        knots = np.unique(np.concatenate([p.knots for p in pieces]))
        knots = knots[np.concatenate([[True], np.diff(knots) > slack])]
        breaks = [p.breaks for p in pieces]
        for p in pieces:
            edges = [(p.end, p.end < end - slack), (p.start, p.start > start + slack)]
            breaks += [np.array([at]) for at, open_ in edges if open_ and _moving(p(at))]
        spread = [_snapped(p, knots, slack).refined(knots) for p in pieces]
        names = tuple(n for p in pieces for n in p.names)
        return cls(names, knots, np.concatenate([p.coefficients for p in spread], axis=1), np.concatenate(breaks))


def quintic_coefficients(first: tuple[Array, Array, Array], last: tuple[Array, Array, Array], duration: ArrayLike) -> Array:
    """Coefficients (..., 6) of the quintic with given values, rates and accelerations at both ends."""
    (x0, v0, a0), (x1, v1, a1) = first, last
    h = np.asarray(duration, dtype=float)
    x, v, a = x1 - (x0 + h * (v0 + h * a0 / 2)), h * (v1 - v0 - h * a0), h * h * (a1 - a0)
    c3, c4, c5 = 10 * x - 4 * v + a / 2, -15 * x + 7 * v - a, 6 * x - 3 * v + a / 2
    return np.stack(np.broadcast_arrays(x0, v0, a0 / 2, c3 / h**3, c4 / h**4, c5 / h**5), axis=-1)


def _shifted(c: Array, by: Array) -> Array:
    """Coefficients about another origin: p(s + by) as powers of s (Horner's synthetic division)."""
    made = np.array(c, dtype=float)
    for low in range(POWERS - 1):
        for power in range(POWERS - 2, low - 1, -1):
            made[..., power] += by * made[..., power + 1]
    return made


def _jumps(left: tuple[Array, Array, Array], right: tuple[Array, Array, Array]) -> bool:
    return any(not np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(left, right, strict=True))


def _moving(state: tuple[Array, Array, Array]) -> bool:
    return bool(np.abs(state[1]).max(initial=0.0) > 1e-12 or np.abs(state[2]).max(initial=0.0) > 1e-12)


def _snapped(part: Trajectory, knots: Array, slack: float) -> Trajectory:
    """The part with knots that differ from common ones only by rounding moved onto them; pieces in between go."""
    nearest = knots[np.clip(np.searchsorted(knots, part.knots - slack), 0, knots.size - 1)]
    own = np.where(np.abs(nearest - part.knots) <= slack, nearest, part.knots)
    longer = np.diff(own) > 0
    return Trajectory(part.names, own[np.concatenate([[True], longer])], part.coefficients[longer], part.breaks)
