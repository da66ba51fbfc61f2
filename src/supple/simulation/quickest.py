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

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

NEAR = (0.985, 1.0, 1.015)  # of a frequency, at all of which a law keeps to what it may leave
_NODES = 60  # intervals of a law
_GAUSS = 8  # places of an interval at which integrands are taken
_RADIANS = 8.0  # of a vibration within an interval, up to which they see it whole
_SIDES = 24  # of the polygon that stands for a circle
_RENEWED = 6  # times that the speeds of the law before enter
_LONGEST = 200.0  # of the duration given
_CLOSE = 2e-3  # of the least time


@dataclass(frozen=True)
class Left:
    """A vibration: damped angular frequency, decay rate, the amplitudes at the end for s'', s' and s'^2 of 1 during one
    second, at equally spaced shares of the way (shares, 3), with sign; the forces of the actuators for an acceleration of 1
    of the vibration (shares, actuators); and what a point moves by it (m). `meter` tells the point's
    speed (m/s) from rates; `beyond`: what simulations have at the end beyond all this (m)."""

    omega: float
    decay: float
    reach: Array
    grip: Array
    size: float
    meter: Array
    beyond: complex = 0.0


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
    by_pull, by_speed = _shaking(way, T, law)
    forces = way.forces(s, rate / T, 0 * rate) + by_speed
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
    u, w, hats = _quadrature()
    s, rate, _ = law.state(u)
    rows, there = [], []
    for x in left:
        turning = x.size * w * np.exp((1j * x.omega - x.decay) * T * (1 - u)) * (not _too_quick(x, T))
        pull, one, two = _over_way(x.reach, s)
        rows.append(((pull * turning)[:, None] * hats).sum(axis=0) / T)
        there.append(((one * rate + two * rate**2 / T) * turning).sum() + x.beyond)
    return np.array(rows), np.array(there)


def _too_quick(x: Left, T: float) -> bool:
    """Whether a vibration is so quick that it follows the ramps of a law and leaves nothing that counts."""
    return x.omega * T / _NODES > _RADIANS


def _quadrature() -> tuple[Array, Array, Array]:
    """Gauss' places u in all intervals, their weights, and the hats of all nodes there (places, nodes)."""
    nodes = np.linspace(0.0, 1.0, _NODES + 1)
    at, weights = np.polynomial.legendre.leggauss(_GAUSS)
    h = nodes[1]
    u = (nodes[:-1, None] + h * (at + 1) / 2).ravel()
    return u, np.tile(h * weights / 2, _NODES), np.maximum(0.0, 1 - np.abs(u[:, None] - nodes) / h)


def _over_way(values: Array, s: Array) -> Array:
    """Columns of values at equally spaced shares of the way, at shares s."""
    return np.array([np.interp(s, np.linspace(0.0, 1.0, len(values)), column) for column in values.T])


def _shaking(way: Way, T: float, law: Law) -> tuple[Array, Array]:
    """Forces of the actuators that vibrations on the way ask for: for unit accelerations d2s/du2 at nodes (actuators, nodes,
    nodes), and for the speeds of the law (nodes, actuators)."""
    nodes = np.linspace(0.0, 1.0, _NODES + 1)
    u, w, hats = _quadrature()
    s, rate, _ = law.state(u)
    here, now, _ = law.state(nodes)
    by_pull = np.zeros((len(way.names), len(nodes), len(nodes)))
    by_speed = np.zeros((len(nodes), len(way.names)))
    for x in way.left[len(NEAR) // 2 :: len(NEAR)]:
        if _too_quick(x, T):
            continue
        turn = 1j * x.omega - x.decay
        ahead = np.exp(turn * T * (nodes[np.arange(_NODES) + 1].repeat(_GAUSS) - u)) * w
        pull, one, two = _over_way(x.reach, s)
        parts = np.column_stack([(pull * ahead)[:, None] * hats / T, (one * rate + two * rate**2 / T) * ahead])
        z = np.zeros((len(nodes), len(nodes) + 1), complex)
        for k, more in enumerate(parts.reshape(_NODES, _GAUSS, -1).sum(axis=1)):
            z[k + 1] = z[k] * np.exp(turn * T * nodes[1]) + more
        pull, one, two = _over_way(x.reach, here)
        felt = np.column_stack([np.diag(pull) / T**2, one * now / T + two * now**2 / T**2])
        swing = -(turn**2 * z).imag - x.omega * felt  # eta'' of eta = -Im z
        grip = _over_way(x.grip, here)
        by_pull += grip[:, :, None] * swing[None, :, :-1]
        by_speed += (grip * swing[:, -1]).T
    return by_pull, by_speed


def residual_of(way: Way, law: Law) -> float:
    """The sum of the amplitudes that a law leaves (m)."""
    return float(np.abs(amplitudes(way, law)[len(NEAR) // 2 :: len(NEAR)]).sum())


def amplitudes(way: Way, law: Law) -> Array:
    """Complex amplitudes (vibrations,) of the point that a law leaves (m)."""
    if not way.left:
        return np.zeros(0, complex)
    rows, there = _vibrations(way.left, law.duration, law)
    made: Array = rows @ law.pull + there
    return made


def _law_forces(way: Way, law: Law, u: Array) -> Array:
    """Forces (times, actuators) at shares u of the time."""
    s, v, a = law.state(u)
    by_pull, by_speed = _shaking(way, law.duration, law)
    shaking = (by_pull @ law.pull).T + by_speed
    return way.forces(s, v / law.duration, a / law.duration**2) + _over_way(shaking, u).T


def used(way: Way, asked: Asked, law: Law) -> float:
    """The largest share of a limit of speed, acceleration or force that a law uses."""
    u = np.linspace(0.0, 1.0, 8 * _NODES + 1)
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
