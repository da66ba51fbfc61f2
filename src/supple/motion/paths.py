"""Paths of several channels at once: splines through waypoints, stops, and circles from rest to rest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import SuppleError
from supple.motion.profiles import quintic, straight
from supple.motion.sampling import Samples, distinct, sampled
from supple.motion.signals import MOST_KNOTS, PER_TURN
from supple.motion.trajectory import Trajectory
from supple.robot.bodies.record import Array

FEWEST = 4  # samples of an interpolated curve


def spline(names: Sequence[str], times: ArrayLike, x: ArrayLike) -> Trajectory:
    """The quintic spline through waypoints (times, channels), at rest and without acceleration at both ends."""
    from scipy.interpolate import make_interp_spline

    t, points = _checked(names, times, x, fewest=2)
    ends = [(1, np.zeros(len(names))), (2, np.zeros(len(names)))]
    return _pieces(names, make_interp_spline(t, points, k=5, bc_type=(ends, ends)), t)


def interpolated(names: Sequence[str], times: ArrayLike, x: ArrayLike) -> Trajectory:
    """The spline through samples (times, channels) whose ends are free: quintic, or cubic for fewer than six."""
    from scipy.interpolate import make_interp_spline

    t, points = _checked(names, times, x, fewest=FEWEST)
    return _pieces(names, make_interp_spline(t, points, k=5 if t.size >= 6 else 3), t)


def linear(names: Sequence[str], times: ArrayLike, x: ArrayLike) -> Trajectory:
    """Straight lines between samples (times, channels)."""
    t, points = _checked(names, times, x, fewest=2)
    c = np.zeros((t.size - 1, len(names), 6))
    c[:, :, 0], c[:, :, 1] = points[:-1], np.diff(points, axis=0) / np.diff(t)[:, None]
    return Trajectory(tuple(names), t, c, np.zeros(0))


def stops(names: Sequence[str], times: ArrayLike, x: ArrayLike) -> Trajectory:
    """Quintic moves from waypoint to waypoint (times, channels), at rest at each."""
    t, points = _checked(names, times, x, fewest=2)
    moves = [straight(names, points[k], points[k + 1], quintic(float(t[k + 1] - t[k]))) for k in range(t.size - 1)]
    return Trajectory.joined([moves[0].later(float(t[0])), *moves[1:]])


def circle(
    names: Sequence[str],
    centre: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    rate: float,
    turns: float = 1.0,
    start: float = 0.0,
    run_up: float | None = None,
    until: float | None = None,
) -> Trajectory:
    """centre + first cos(angle) + second sin(angle), from rest to rest, at the angular rate (rad/s) in between.

    The angle starts at `start` and makes `turns` turns in all; its rate rises by 3 u^2 - 2 u^3 within `run_up` seconds
    (default: a quarter turn at full rate) and falls alike. No more of it is made than the time `until` asks for."""
    law = _turning(abs(rate), 2 * math.pi * turns, run_up, start)
    c, e1, e2 = (np.asarray(v, dtype=float) for v in (centre, first, second))

    def exact(t: Array) -> Samples:
        p, w, wd = law(t)
        cos, sin = np.cos(p), np.sin(p)
        along = e2 * cos - e1 * sin
        across = e1 * cos + e2 * sin
        return c + across, w * along, wd * along - w**2 * across

    spans = [(a, b) for a, b in _spans(law.knots) if until is None or a <= until]
    inner = [_knots(a, b, 3 + int(PER_TURN * abs(rate) * (b - a) / 2 / math.pi), until) for a, b in spans]
    size = float(np.linalg.norm(e1) + np.linalg.norm(e2)) / 2 * rate**2
    return sampled(names, exact, distinct(np.concatenate(inner)), lambda t: np.full((t.size, len(names)), size))


def _knots(a: float, b: float, count: int, until: float | None) -> Array:
    """So many times from a to b, or those of them up to the second after `until`."""
    needed = count if until is None else min(count, int((until - a) / (b - a) * (count - 1)) + 3)
    if needed > MOST_KNOTS:
        raise SuppleError("the circle has too many turns to follow; take fewer turns, or a shorter duration")
    return np.linspace(a, b, count) if needed == count else a + (b - a) / (count - 1) * np.arange(needed)


def _turning(rate: float, whole: float, run_up: float | None, start: float) -> Trajectory:
    """The angle over time: run-up, constant rate, run-down, as exact polynomials."""
    if not rate > 0 or whole == 0:
        raise SuppleError("a circle needs a speed and a number of turns that are not zero")
    full = abs(whole) / rate  # s at full rate throughout
    ramp = min(math.pi / 2 / rate, full / 2) if run_up is None else run_up
    if not 0 < ramp <= full * (1 + 1e-12):
        raise SuppleError(f"run_up {ramp:g} s must be positive and at most {full:g} s, what the turns take at full speed")
    sign, way = math.copysign(1.0, whole), rate * ramp / 2
    times = [0.0, ramp, full, full + ramp]
    angle = start + sign * np.array([0.0, way, abs(whole) - way, abs(whole)])
    rates = sign * rate * np.array([0.0, 1.0, 1.0, 0.0])
    if full - ramp <= 1e-12 * full:
        times, angle, rates = [0.0, ramp, 2 * ramp], angle[[0, 1, 3]], rates[[0, 1, 3]]
    return Trajectory.hermite(("angle",), times, angle, rates, np.zeros(len(times)))


def _spans(knots: Array) -> list[tuple[float, float]]:
    return list(zip(knots[:-1].tolist(), knots[1:].tolist(), strict=True))


def _checked(names: Sequence[str], times: ArrayLike, x: ArrayLike, fewest: int) -> tuple[Array, Array]:
    t = np.asarray(times, dtype=float)
    points = np.asarray(x, dtype=float).reshape(t.size, len(names))
    if t.size < fewest:
        raise SuppleError(f"a path needs at least {fewest} points in time; has {t.size}")
    if not (np.isfinite(t).all() and np.isfinite(points).all()):
        raise SuppleError("a path must be finite: one of its values is not a number")
    late = np.flatnonzero(np.diff(t) <= 0)
    if late.size:
        k = int(late[0])
        raise SuppleError(f"times must increase; {t[k + 1]:g} s follows {t[k]:g} s")
    return t, points


def _pieces(names: Sequence[str], curve: object, t: Array) -> Trajectory:
    """A spline of degree five or less, piece by piece: a quintic is what its values and derivatives at the ends say."""
    knots = np.unique(curve.t[(curve.t >= t[0]) & (curve.t <= t[-1])])  # type: ignore[attr-defined]
    return Trajectory.hermite(names, knots, *(curve(knots, nu) for nu in range(3)))  # type: ignore[operator]
