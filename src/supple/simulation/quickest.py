"""The least time along a path under limits of speed, acceleration, force and residual vibration.

A law s(t) of the way from rest to rest is a piecewise linear acceleration on a grid of normalised time u = t / T. Of the
rigid robot on the path, tau = m s'' + n s'^2 + d s' + k with coefficients of s; what vibrates at the end is linear in s''.
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

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

NEAR = (0.985, 1.0, 1.015)  # of a frequency, at all of which a law keeps to what it may leave
_NODES = 60  # intervals of a law
_SIDES = 24  # of the polygon that stands for a circle
_RENEWED = 6  # times that the speeds of the law before enter
_LONGEST = 200.0  # of the duration given
_CLOSE = 2e-3  # of the least time


@dataclass(frozen=True)
class Left:
    """A vibration: damped angular frequency, decay rate, and the amplitudes (m) of a point at the end for s'', s' and s'^2
    of 1 during one second, at equally spaced shares of the way (shares, 3), with sign."""

    omega: float
    decay: float
    reach: Array


@dataclass(frozen=True)
class Way:
    """A path from rest to rest: actuators over the share s of its length, coefficients of their forces at places s (places,
    actuators), and the vibrations that its end leaves."""

    names: tuple[str, ...]
    curve: BSpline
    places: Array
    inertia: Array
    speed2: Array
    speed1: Array
    still: Array
    left: tuple[Left, ...]
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


@dataclass(frozen=True)
class Law:
    """Second derivatives of s by u at the nodes, and the duration (s)."""

    pull: Array
    duration: float

    def state(self, u: Array) -> tuple[Array, Array, Array]:
        """s, ds/du and its derivative at u, exactly."""
        nodes = np.linspace(0.0, 1.0, _NODES + 1)
        h = nodes[1]
        slope = np.diff(self.pull) / h
        rates = np.concatenate([[0.0], np.cumsum(h * (self.pull[:-1] + self.pull[1:]) / 2)])
        steps = h * rates[:-1] + h * h * (2 * self.pull[:-1] + self.pull[1:]) / 6
        shares = np.concatenate([[0.0], np.cumsum(steps)])
        k = np.clip((u / h).astype(int), 0, _NODES - 1)
        x = u - nodes[k]
        a = self.pull[k] + slope[k] * x
        v = rates[k] + x * (self.pull[k] + slope[k] * x / 2)
        s = shares[k] + x * (rates[k] + x * (self.pull[k] / 2 + slope[k] * x / 6))
        return s, v, a


def quickest(way: Way, asked: Asked) -> Law:
    """The law of least time within what is asked."""
    nodes = np.linspace(0.0, 1.0, _NODES + 1)
    law = Law(60 * nodes - 180 * nodes**2 + 120 * nodes**3, way.duration)
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

    nodes = np.linspace(0.0, 1.0, _NODES + 1)
    integral, double = _integrals()
    s, rate, _ = law.state(nodes)
    first, second = way.curve.derivative(1)(s), way.curve.derivative(2)(s)
    forces = way.forces(s, rate / T, 0 * rate)
    m = way.at(way.inertia, s)
    rows, most = [], []
    for j in range(len(way.names)):
        for A, b, limit in (
            (first[:, j, None] * integral / T, 0 * rate, asked.speed[j]),
            (np.diag(first[:, j]) / T**2, second[:, j] * rate**2 / T**2, asked.acceleration[j]),
            (np.diag(m[:, j]) / T**2, forces[:, j], asked.force[j]),
        ):
            if np.isfinite(limit):
                rows += [A, -A]
                most += [limit - b, limit + b]
    rows.append(-integral)  # never back
    most.append(np.zeros(len(nodes)))
    if np.isfinite(asked.residual) and way.left:
        left, there = _vibrations(way.left, T, law)
        sides = np.exp(2j * np.pi * np.arange(_SIDES) / _SIDES)
        for choice, by_speed in zip(left, there, strict=True):  # each may leave its share
            rows.append((sides[:, None] * choice).real)
            most.append(asked.residual * len(NEAR) / len(left) * np.cos(np.pi / _SIDES) - (sides * by_speed).real)
    ends = np.zeros((2, len(nodes)))
    ends[0, 0] = ends[1, -1] = 1.0
    equal = np.vstack([integral[-1], double[-1], ends])
    jumps = np.diff(np.eye(len(nodes)), n=2, axis=0)
    z = np.zeros((len(np.vstack(rows)), 1))
    A = np.vstack(
        [np.hstack([np.vstack(rows), z]), *(np.hstack([sign * jumps, -np.ones((len(jumps), 1))]) for sign in (1, -1))]
    )
    b = np.concatenate([*most, np.zeros(2 * len(jumps))])
    cost = np.append(np.zeros(len(nodes)), 1.0)
    equal = np.hstack([equal, np.zeros((4, 1))])
    made = linprog(cost, A, b, equal, [0.0, 1.0, 0.0, 0.0], bounds=[(None, None)] * len(nodes) + [(0, None)])
    return made.x[:-1] if made.success else None


def _integrals() -> tuple[Array, Array]:
    """Matrices of s' and s at nodes over accelerations at nodes, exact for piecewise linear ones."""
    made = [Law(row, 1.0).state(np.linspace(0.0, 1.0, _NODES + 1)) for row in np.eye(_NODES + 1)]
    return np.array([x[1] for x in made]).T, np.array([x[0] for x in made]).T


def _vibrations(left: tuple[Left, ...], T: float, law: Law) -> tuple[Array, Array]:
    """Complex amplitudes (vibrations, nodes) that unit accelerations d2s/du2 at nodes leave at the end, and those
    (vibrations,) that speeds leave, both felt where the law is then."""
    nodes = np.linspace(0.0, 1.0, _NODES + 1)
    at, weights = np.polynomial.legendre.leggauss(8)
    h = nodes[1]
    u = (nodes[:-1, None] + h * (at + 1) / 2).ravel()
    w = np.tile(h * weights / 2, _NODES)
    hats = np.maximum(0.0, 1 - np.abs(u[:, None] - nodes) / h)
    s, rate, _ = law.state(u)
    rows, there = [], []
    for x in left:
        turning = w * np.exp((1j * x.omega - x.decay) * T * (1 - u))
        pull, one, two = (np.interp(s, np.linspace(0.0, 1.0, len(x.reach)), column) for column in x.reach.T)
        rows.append(((pull * turning)[:, None] * hats).sum(axis=0) / T)
        there.append(((one * rate + two * rate**2 / T) * turning).sum())
    return np.array(rows), np.array(there)


def residual_of(way: Way, law: Law) -> float:
    """The sum of the amplitudes that a law leaves (m), by the linear robot at its end."""
    if not way.left:
        return 0.0
    rows, there = _vibrations(way.left[len(NEAR) // 2 :: len(NEAR)], law.duration, law)
    return float(np.abs(rows @ law.pull + there).sum())


def used(way: Way, asked: Asked, law: Law) -> float:
    """The largest share of a limit of speed, acceleration or force that a law uses."""
    s, v, a = law.state(np.linspace(0.0, 1.0, 8 * _NODES + 1))
    v, a = v / law.duration, a / law.duration**2
    first, second = way.curve.derivative(1)(s), way.curve.derivative(2)(s)
    values = (first * v[:, None], first * a[:, None] + second * v[:, None] ** 2, way.forces(s, v, a))
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
