"""The least time along a path under limits of speed, acceleration, force and residual vibration.

A law s(t) of the way from rest to rest is a piecewise linear acceleration on a grid of normalised time u = t / T. Of the
rigid robot on the path, tau = m s'' + n s'^2 + d s' + k with coefficients of s; what vibrates on the way, and pulls at the
actuators, and at the end is linear in s''.
So for a given T, and the speeds of the law before, the question is a linear program, exact in its rows: T is found by
halving, the law is renewed, until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.motion.trajectory import Trajectory
from supple.simulation.shaking import Shaking
from supple.simulation.way_laws import INTERVALS, Law, integrals, nodes

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

NEAR = (1.0, 0.985, 1.015)  # of frequencies, at all of which a law keeps to what it may leave
_SIDES = 24  # of the polygon that stands for a circle
_RENEWED = 6  # times that the speeds of the law before enter
_LONGEST = 200.0  # of the duration given
_CLOSE = 2e-3  # of the least time


@dataclass(frozen=True)
class Way:
    """A path from rest to rest: actuators over the share s of its length, coefficients of their forces at places s (places,
    actuators), and what vibrates along it, if anything."""

    names: tuple[str, ...]
    curve: BSpline
    places: Array
    inertia: Array
    speed2: Array
    speed1: Array
    still: Array
    shaking: Shaking | None
    duration: float

    def forces(self, s: Array, rate: Array, pull: Array) -> Array:
        """Forces (times, actuators) at shares s with their rates and accelerations."""
        m, n, d, k = (self.at(x, s) for x in (self.inertia, self.speed2, self.speed1, self.still))
        made: Array = m * pull[:, None] + n * rate[:, None] ** 2 + d * rate[:, None] + k
        return made

    def at(self, values: Array, s: Array) -> Array:
        return np.array([np.interp(s, self.places, column) for column in values.T]).T


@dataclass(frozen=True)
class Asked:
    """Most speed, acceleration and force of the actuators of a way (infinite: none), and of vibration left (m)."""

    speed: Array
    acceleration: Array
    force: Array
    residual: float


def quickest(way: Way, asked: Asked) -> Law:
    """The law of least time within what is asked."""
    u = nodes()
    law = Law(60 * u - 180 * u**2 + 120 * u**3, way.duration)
    for _ in range(_RENEWED):
        before = law.duration
        law = _least(way, asked, law)
        if abs(law.duration - before) < _CLOSE * before:
            break
    return _kept(way, asked, law)


def _least(way: Way, asked: Asked, law: Law) -> Law:
    """The least time for the speeds of a law, by halving."""
    high, found = law.duration, _program(way, asked, law, law.duration)
    while found is None:
        high *= 2
        if high > _LONGEST * way.duration:
            raise SuppleError(_refusal(way, asked))
        found = _program(way, asked, law, high)
    low = 0.0
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        better = _program(way, asked, law, middle)
        low, high, found = (low, middle, better) if better is not None else (middle, high, found)
    return Law(found, high)


def _program(way: Way, asked: Asked, law: Law, T: float) -> Array | None:
    """Accelerations at nodes that keep to all limits within T, with the least jump of the jerk, or None."""
    from scipy.optimize import linprog

    count, (integral, double) = INTERVALS + 1, integrals()
    s, rate, _ = law.state(nodes())
    first, second = way.curve.derivative(1)(s), way.curve.derivative(2)(s)
    forces, by_pull = way.forces(s, rate / T, 0 * rate), np.zeros((len(way.names), count, count))
    if way.shaking is not None:
        by_pull, by_speed = way.shaking.forces(law, T)
        forces = forces + by_speed
    m = way.at(way.inertia, s)
    rows, most = [], []
    for j in range(len(way.names)):
        for A, b, limit in (
            (first[:, j, None] * integral / T, 0 * rate, asked.speed[j]),
            (np.diag(first[:, j]) / T**2, second[:, j] * rate**2 / T**2, asked.acceleration[j]),
            (np.diag(m[:, j]) / T**2 + by_pull[j], forces[:, j], asked.force[j]),
        ):
            if np.isfinite(limit):
                rows += [A, -A]
                most += [limit - b, limit + b]
    rows.append(-integral)  # never back
    most.append(np.zeros(count))
    if np.isfinite(asked.residual) and way.shaking is not None:
        calm, little = _calm(way.shaking, asked.residual, law, T)
        rows.append(calm)
        most.append(little)
    ends = np.zeros((2, count))
    ends[0, 0] = ends[1, -1] = 1.0
    equal = np.vstack([integral[-1], double[-1], ends])
    jumps = np.diff(np.eye(count), n=2, axis=0)
    z = np.zeros((len(np.vstack(rows)), 1))
    A = np.vstack(
        [np.hstack([np.vstack(rows), z]), *(np.hstack([sign * jumps, -np.ones((len(jumps), 1))]) for sign in (1, -1))]
    )
    b = np.concatenate([*most, np.zeros(2 * len(jumps))])
    cost = np.append(np.zeros(count), 1.0)
    equal = np.hstack([equal, np.zeros((4, 1))])
    made = linprog(cost, A, b, equal, [0.0, 1.0, 0.0, 0.0], bounds=[(None, None)] * count + [(0, None)])
    return made.x[:-1] if made.success else None


def _calm(shaking: Shaking, residual: float, law: Law, T: float) -> tuple[Array, Array]:
    """Rows over accelerations at nodes and their bounds with which every vibration leaves no more than its share."""
    sides = np.exp(2j * np.pi * np.arange(_SIDES) / _SIDES)
    rows, most = [], []
    for near in NEAR:
        for row, by_speed in zip(*shaking.amplitudes(law, T, near), strict=True):
            share = residual / len(shaking.sizes)  # rows of 1, which solvers keep to their own tolerance
            rows.append((sides[:, None] * row).real / share)
            most.append(np.cos(np.pi / _SIDES) - (sides * by_speed).real / share)
    return np.vstack(rows), np.concatenate(most)


def struck(way: Way) -> float:
    """The vibration (m) that the way as it was given leaves if its largest acceleration ends at once."""
    if way.shaking is None:
        return 0.0
    squares = np.maximum(np.diagonal(way.shaking.stiffness[-1]), 1e-300)
    most = 10 / np.sqrt(3) / way.duration**2  # of a quintic from 0 to 1
    return float((way.shaking.sizes * np.abs(way.shaking.pulled[-1, :, 0]) / squares).sum() * most)


def residual_of(way: Way, law: Law) -> float:
    """The sum of the amplitudes that a law leaves (m)."""
    return float(np.abs(amplitudes(way, law)).sum())


def amplitudes(way: Way, law: Law) -> Array:
    """Complex amplitudes (modes,) of the point that a law leaves (m)."""
    if way.shaking is None:
        return np.zeros(0, complex)
    rows, there = way.shaking.amplitudes(law, law.duration)
    made: Array = rows @ law.pull + there
    return made


def _law_forces(way: Way, law: Law, u: Array) -> Array:
    """Forces (times, actuators) at shares u of the time."""
    s, v, a = law.state(u)
    made = way.forces(s, v / law.duration, a / law.duration**2)
    if way.shaking is None:
        return made
    by_pull, by_speed = way.shaking.forces(law, law.duration)
    shaking = (by_pull @ law.pull).T + by_speed
    felt: Array = np.array([np.interp(u, nodes(), column) for column in shaking.T]).T
    return made + felt


def used(way: Way, asked: Asked, law: Law) -> float:
    """The largest share of a limit of speed, acceleration or force that a law uses."""
    u = np.linspace(0.0, 1.0, 8 * INTERVALS + 1)
    forces = _law_forces(way, law, u)
    s, v, a = law.state(u)
    v, a = v / law.duration, a / law.duration**2
    first, second = way.curve.derivative(1)(s), way.curve.derivative(2)(s)
    values = (first * v[:, None], first * a[:, None] + second * v[:, None] ** 2, forces)
    shares = [np.abs(x) / most for x, most in zip(values, (asked.speed, asked.acceleration, asked.force), strict=True)]
    return float(max(x.max() for x in shares))


def _kept(way: Way, asked: Asked, law: Law) -> Law:
    """The law found anew with limits lowered by what its own speeds, not those before, ask for too much."""
    spare = 1.0
    for _ in range(12):
        share = used(way, asked, law)
        if share <= 1 + 1e-6:
            return law
        spare *= 0.999 / share
        law = _least(way, replace(asked, **{k: spare * getattr(asked, k) for k in ("speed", "acceleration", "force")}), law)
    raise SuppleError(_refusal(way, asked))


def _refusal(way: Way, asked: Asked) -> str:
    """Why no law keeps to the limits, in words."""
    holding = np.abs(way.still).max(axis=0)
    j = int(np.argmax(holding / asked.force))
    if holding[j] > asked.force[j]:
        return (
            f"limits cannot be met: {way.names[j]} needs {holding[j]:.4g} N or N m on the way however slow, its limit is "
            f"{asked.force[j]:.4g}; raise it"
        )
    return (
        f"limits cannot be met within {_LONGEST:g} times {way.duration:.4g} s: allow more speed, acceleration, force "
        "or residual vibration"
    )


def timed(way: Way, law: Law, count: int = 240) -> Trajectory:
    """The actuators' path by a law, from time 0."""
    u = np.linspace(0.0, 1.0, count + 1)
    s, v, a = law.state(u)
    v, a = v[:, None] / law.duration, a[:, None] / law.duration**2
    first, second = way.curve.derivative(1)(s), way.curve.derivative(2)(s)
    return Trajectory.hermite(way.names, u * law.duration, way.curve(s), first * v, first * a + second * v**2)
