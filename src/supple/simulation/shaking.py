"""What vibrates along a way and at its end, linear in the accelerations of a law of the way once its speeds are known.

On a way frequencies change and modes mix: where two are alike, their shapes turn within a small part of it. So the modes of
the end are carried back along the way, each place's own turned to be as like those of the place after it as can be
(Procrustes). On them stiffness and damping are full matrices that change slowly,

    eta'' + C(s) eta' + K(s) eta = -(a(s) s'' + b(s) s' + c(s) s'^2),

and between two nodes of a law, where they are taken as constant, the solution is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.model.algebra import Array
from supple.simulation.way_laws import INTERVALS, Law, nodes, quadrature

_RADIANS = 8.0  # of a vibration within an interval, up to which Gauss' places see it whole
_SLOWEST = 1e-3  # rad/s
_DAMPED = 0.99  # most damping ratio


@dataclass(frozen=True)
class Shaking:
    """Modes of the end carried along a way. At equally spaced shares of it: stiffness and damping (shares, modes, modes),
    what s'', s' and s'^2 of 1 do to each (shares, modes, 3), forces of the actuators for an acceleration of 1 of each
    (shares, modes, actuators). At the end: what a point moves by each (m), shapes (coordinates, modes), rows (modes,
    coordinates) that tell motions of modes from those of the robot, and what simulations have of each beyond all this
    (complex, m); such rows of the beginning, and how it vibrates there already (2 modes: places and rates)."""

    stiffness: Array
    damping: Array
    pulled: Array
    gripped: Array
    sizes: Array
    shapes: Array
    meters: Array
    beyond: Array
    entry: Array
    start: Array

    @property
    def turning(self) -> Array:
        """i omega - decay of each mode at the end."""
        own = _Own.of(self.stiffness[-1:], self.damping[-1:])
        made: Array = 1j * own.omega[0] - own.decay[0]
        return made

    def amplitudes(self, law: Law, T: float, near: float = 1.0) -> tuple[Array, Array]:
        """Complex amplitudes at the end, in m of the point: of accelerations d2s/du2 of 1 at nodes (modes, nodes), and of
        speeds (modes,). `near`: of all frequencies."""
        flow = _flow(self, law, T, near)
        one = np.eye(len(self.sizes))
        z = 1j * near * self.turning.imag + self.turning.real
        row = self.sizes[:, None] * np.hstack([one * (z.real / z.imag - 1j)[:, None], -one / z.imag[:, None]])
        rows, there = np.zeros((len(one), INTERVALS + 1), complex), self.beyond.astype(complex)
        for k in reversed(range(INTERVALS)):
            rows[:, k : k + 2] += row @ flow.by_pull[k]
            there = there + row @ flow.by_speed[k]
            row = row @ flow.on[k]
        return rows, there + row @ self.start

    def after(self, amplitudes: Array, rest: float) -> tuple[Array, Array]:
        """Places and rates of the robot's coordinates a while after an end with these complex amplitudes (m)."""
        z = amplitudes / np.maximum(self.sizes, 1e-300) * np.exp(self.turning * rest)
        return self.shapes @ -z.imag, self.shapes @ -(self.turning * z).imag

    def begun(self, places: Array, rates: Array) -> Shaking:
        """The same of a robot that vibrates when the way begins."""
        return replace(self, start=np.concatenate([self.entry @ places, self.entry @ rates]))

    def forces(self, law: Law, T: float) -> tuple[Array, Array]:
        """Forces of the actuators that vibrations on the way ask for: for accelerations d2s/du2 of 1 at nodes (actuators,
        nodes, nodes), and for the speeds of the law (nodes, actuators)."""
        flow = _flow(self, law, T, 1.0)
        n, count = len(self.sizes), INTERVALS + 1
        x = np.zeros((count, 2 * n, count + 1))
        x[0, :, -1] = self.start
        for k in range(INTERVALS):
            x[k + 1] = flow.on[k] @ x[k]
            x[k + 1, :, k : k + 2] += flow.by_pull[k]
            x[k + 1, :, -1] += flow.by_speed[k]
        s, rate, _ = law.state(nodes())
        own = _Own.of(_over(self.stiffness, s), _over(self.damping, s))
        felt = own.felt(_over(self.pulled, s), T)
        asked = np.zeros((count, n, count + 1))
        asked[np.arange(count), :, np.arange(count)] = felt[..., 0] / T**2
        asked[..., -1] = felt[..., 1] * rate[:, None] / T + felt[..., 2] * rate[:, None] ** 2 / T**2
        swing = own.Q @ (own.accelerations(x) - asked)
        made = np.einsum("kma,kmj->akj", _over(self.gripped, s), swing)
        return made[..., :-1], made[..., -1].T


def _over(values: Array, s: Array) -> Array:
    """Values at equally spaced shares of the way, at shares s, straight in between."""
    at = np.clip(s, 0.0, 1.0) * (len(values) - 1)
    k = np.minimum(at.astype(int), len(values) - 2)
    share = (at - k).reshape(*s.shape, *(1,) * (values.ndim - 1))
    made: Array = (1 - share) * values[k] + share * values[k + 1]
    return made


@dataclass(frozen=True)
class _Own:
    """Vibrations of places by themselves: axes (places, modes, modes), damped frequencies, decay rates (places, modes)."""

    Q: Array
    omega: Array
    decay: Array

    @classmethod
    def of(cls, K: Array, C: Array) -> _Own:
        squares, Q = np.linalg.eigh(K)
        free = np.sqrt(np.maximum(squares, _SLOWEST**2))
        decay = np.clip(0.5 * np.einsum("kij,kil,klj->kj", Q, C, Q), 0.0, _DAMPED * free)
        return cls(Q, np.sqrt(free**2 - decay**2), decay)

    def felt(self, pulled: Array, T: float) -> Array:
        """What acts on modes (places, modes, ...), on these axes; nothing on modes too quick for a law's ramps."""
        made: Array = np.einsum("kij,ki...->kj...", self.Q, pulled)
        slow = self.omega * T / INTERVALS <= _RADIANS
        return made * slow.reshape(*slow.shape, *(1,) * (made.ndim - 2))

    def accelerations(self, x: Array) -> Array:
        """Of free vibrations with states x (places, 2 modes, ...), on these axes."""
        n = x.shape[1] // 2
        turn = np.swapaxes(self.Q, 1, 2)
        square = (self.omega**2 + self.decay**2)[..., None]
        return -square * (turn @ x[:, :n]) - 2 * self.decay[..., None] * (turn @ x[:, n:])

    def after(self, time: Array | float) -> tuple[Array, Array, Array, Array]:
        """Places and rates after a time, of a vibration with a place of 1, then with a rate of 1."""
        fade, c, s = (np.exp(-self.decay * time), np.cos(self.omega * time), np.sin(self.omega * time) / self.omega)
        square = self.omega**2 + self.decay**2
        return fade * (c + self.decay * s), -fade * square * s, fade * s, fade * (c - self.decay * s)


@dataclass(frozen=True)
class _Flow:
    """From node to node: states (places and rates) carried on (intervals, 2 modes, 2 modes), and what is added to them by
    accelerations of 1 at an interval's two nodes (intervals, 2 modes, 2) and by speeds (intervals, 2 modes)."""

    on: Array
    by_pull: Array
    by_speed: Array


def _flow(shaking: Shaking, law: Law, T: float, near: float) -> _Flow:
    u, w, hats = quadrature()
    middle, _, _ = law.state(nodes()[:-1] + 0.5 / INTERVALS)
    own = _Own.of(near**2 * _over(shaking.stiffness, middle), _over(shaking.damping, middle))
    Q, turn = own.Q, np.swapaxes(own.Q, 1, 2)
    a, b, c, d = (Q @ (x[..., None] * turn) for x in own.after(T / INTERVALS))
    s, rate, _ = law.state(u)
    pulled = np.moveaxis(_over(shaking.pulled, s), 1, -1)  # (intervals, modes, 3, places)
    felt = np.moveaxis(own.felt(pulled, T), -1, 0)
    by_pull, by_speed = np.zeros((2, *Q.shape[:2], 2)), np.zeros((2, *Q.shape[:2]))
    for g, weight in enumerate(w):
        f, v = felt[g], rate[:, g, None]
        _, _, *after = own.after(T * (nodes()[1:, None] - u[:, g, None]))
        for half, x in enumerate(after):
            by_pull[half] -= weight * ((x * f[..., 0])[..., None] * hats[g]) / T
            by_speed[half] -= weight * x * (f[..., 1] * v + f[..., 2] * v**2 / T)
    return _Flow(
        np.block([[a, c], [b, d]]), np.concatenate(Q @ by_pull, axis=1),
        np.concatenate((Q @ by_speed[..., None])[..., 0], axis=1),
    )  # fmt: skip
