"""Closed loops: poles, damping, margins, root locus and Nyquist curves of a sampled law on the whole linear robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import schur

from supple.control.plants import PosedPlant, SampledPlant, sampled
from supple.model.algebra import Array, one_thread
from supple.motion.laws import SampledLaw

_MOST_GAIN = 100.0
_MOST_DELAY = 40  # samples
_STEADY = 1e-9  # below one: what rounding leaves of poles on the unit circle


@dataclass(frozen=True)
class Loop:
    """A law at a pose: u = F x + G y, x+ = A x + B y + E u, all parts together."""

    plant: SampledPlant
    A: Array
    B: Array
    E: Array
    F: Array
    G: Array

    def matrix(self, gain: float = 1.0, gained: int | None = None) -> Array:
        """z+, x+ from z, x; forces (of all actuators, or of one) are multiplied by `gain` before they act."""
        p = self.plant
        factor = np.full(p.B.shape[1], gain) if gained is None else np.ones(p.B.shape[1])
        if gained is not None:
            factor[gained] = gain
        by_z, by_x = self.G @ p.C, self.F
        acted = p.B * factor
        made: Array = np.block([
            [p.A + acted @ by_z, acted @ by_x],
            [self.B @ p.C + self.E @ by_z, self.A + self.E @ by_x],
        ])  # fmt: skip
        return made


def loop_of(posed: PosedPlant, law: SampledLaw, later: float = 0.0) -> Loop:
    """The Loop of a law on a robot in a pose, its forces `later` (s) than the law says."""
    names = list(posed.at)
    w = law.weights(names, np.array([[posed.at[n] for n in names]]))[0]
    parts = law.parts
    n, r, m = law.states, len(law.actuators) + len(law.pushes), len(law.sensors)
    A = np.zeros((n * len(parts), n * len(parts)))
    for k, part in enumerate(parts):
        A[k * n : (k + 1) * n, k * n : (k + 1) * n] = part.A
    B, E = (np.vstack([getattr(p, key).reshape(n, c) for p in parts]) for key, c in (("B", m), ("E", r)))
    F = np.hstack([x * p.C.reshape(r, n) for x, p in zip(w, parts, strict=True)])
    G = sum(x * p.D for x, p in zip(w, parts, strict=True))
    return Loop(sampled(posed, law.sample, law.delay + later), A, B, E, F, np.asarray(G))


def radius(matrix: Array) -> float:
    """The largest size of a pole: above one, motions grow."""
    return float(np.abs(np.linalg.eigvals(matrix)).max())


@dataclass(frozen=True)
class Margins:
    """Factors by which all forces may shrink and grow, and how much later (s) they may come, until motions grow; infinite or
    zero where nothing was found as far as was looked."""

    least_gain: float
    most_gain: float
    delay: float


@one_thread
def margins(posed: PosedPlant, law: SampledLaw) -> Margins:
    """The Margins of a stable loop, by its poles."""
    loop = loop_of(posed, law)

    def unsteady(gain: float) -> bool:
        return radius(loop.matrix(gain)) > 1 + _STEADY

    def late(later: float) -> bool:
        return radius(loop_of(posed, law, later).matrix()) > 1 + _STEADY

    up = _edge(unsteady, 1.0, np.geomspace(1.0, _MOST_GAIN, 60)[1:])
    down = _edge(unsteady, 1.0, np.geomspace(1.0, 1 / _MOST_GAIN, 60)[1:])
    delay = _edge(late, 0.0, law.sample * np.geomspace(0.05, _MOST_DELAY, 50))
    return Margins(0.0 if down is None else down, up or float("inf"), float("inf") if delay is None else delay)


def _edge(beyond: Callable[[float], bool], within: float, steps: Array) -> float | None:
    """Where `beyond` begins to hold: looked for from step to step, then by halving; None if nowhere."""
    for step in map(float, steps):
        if beyond(step):
            low, high = within, step
            for _ in range(30):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if beyond(middle) else (middle, high)
            return 0.5 * (low + high)
        within = step
    return None


@one_thread
def nyquist(loop: Loop, frequencies_hz: Array) -> Array:
    """Open-loop responses (frequencies, forces), each with the other loops closed: -1 must not be circled as it is not."""
    p = loop.plant
    made = np.zeros((len(frequencies_hz), p.B.shape[1]), dtype=complex)
    z = np.exp(2j * np.pi * np.asarray(frequencies_hz) * p.sample)
    whole = np.hstack([loop.G @ p.C, loop.F])
    for i in range(p.B.shape[1]):
        open_ = loop.matrix(0.0, i)
        b = np.concatenate([p.B[:, i], np.zeros(len(loop.A))])
        T, Q = schur(open_, output="complex")
        made[:, i] = -_triangular(T, Q.conj().T @ b, z) @ (whole[i] @ Q)
    return made


def _triangular(T: Array, b: Array, z: Array) -> Array:
    """(z I - T)^-1 b of every z, T upper triangular: (z, n)."""
    x = np.zeros((len(z), len(T)), dtype=complex)
    for k in reversed(range(len(T))):
        x[:, k] = (b[k] + x[:, k + 1 :] @ T[k, k + 1 :]) / (z - T[k, k])
    return x
