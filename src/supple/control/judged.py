"""Closed loops judged: poles, damping and margins in a pose, and the curves that are drawn of it."""

from __future__ import annotations

import numpy as np

from supple.control.loops import loop_of, margins, nyquist
from supple.control.optimal import continuous
from supple.control.plants import PosedPlant
from supple.model.algebra import Array, one_thread
from supple.motion.laws import SampledLaw
from supple.results.control import Judged

_STEADY = 1e-9
_LOCUS = np.concatenate([np.linspace(0.0, 1.0, 41), np.linspace(1.0, 4.0, 61)[1:]])
_POINTS = 1500  # of a Nyquist curve
_BESIDE = np.concatenate([-np.geomspace(40, 0.05, 40), [0.0], np.geomspace(0.05, 40, 40)])  # in half widths of a resonance


@one_thread
def judged(plant: PosedPlant, law: SampledLaw) -> Judged:
    """The closed loop of a law on the whole robot in a pose."""
    z, shapes = np.linalg.eig(loop_of(plant, law).matrix())
    there = np.abs(z) > 1e-6  # forces in line are gone at once
    z, slow = z[there], _within(plant, shapes[:, there], law.sample)
    poles = continuous(z, law.sample)
    order = np.argsort(-poles.real)
    poles, slow = poles[order], slow[order]
    size = np.maximum(np.abs(poles), 1e-12)
    damping = -poles.real / size
    ringing = np.logical_and(np.abs(poles.imag) > 1e-6 * size, slow)
    chosen = int(np.argmin(np.where(ringing, damping, np.inf))) if ringing.any() else 0
    stable = bool(np.abs(z).max() < 1 + _STEADY)
    found = margins(plant, law) if stable else None
    return Judged(
        dict(plant.at), stable, poles, float(damping[chosen]), float(abs(poles[chosen].imag)) / (2 * np.pi),
        None if found is None else found.least_gain, None if found is None else found.most_gain,
        None if found is None else found.delay, np.linalg.eigvals(plant.A),
    )  # fmt: skip


@one_thread
def growth(plant: PosedPlant, law: SampledLaw) -> float:
    """How quickly the loop's motions grow (1/s); zero if they do not."""
    rate = float(np.log(np.abs(np.linalg.eigvals(loop_of(plant, law).matrix())).max())) / law.sample
    return rate if rate > _STEADY / law.sample else 0.0


def _within(plant: PosedPlant, shapes: Array, sample: float) -> Array:
    """Which motions are mostly of modes slower than half the sampling rate, or of the law; others are seen folded down."""
    n = plant.modes
    omega = 2 * np.pi * plant.frequencies_hz[:, None]
    energy = np.abs(omega * shapes[:n]) ** 2 + np.abs(shapes[n : 2 * n]) ** 2
    fast = plant.frequencies_hz > 0.5 / sample
    made: Array = energy[fast].sum(axis=0) <= energy[~fast].sum(axis=0)
    return made


@one_thread
def locus_of(plant: PosedPlant, law: SampledLaw) -> tuple[Array, Array]:
    """Gains, and poles (gains, n) in 1/s of the loop whose forces are multiplied by them."""
    loop = loop_of(plant, law)
    z = np.array([np.linalg.eigvals(loop.matrix(k)) for k in _LOCUS])
    return _LOCUS, continuous(np.where(np.abs(z) < 1e-9, 1e-9, z), law.sample)


@one_thread
def nyquist_of(plant: PosedPlant, law: SampledLaw) -> tuple[Array, Array]:
    """Frequencies (Hz), denser where the robot or its loop resonates, and open-loop responses there, force by force."""
    half, loop = 0.5 / law.sample, loop_of(plant, law)
    f = [np.geomspace(0.1, 0.999 * half, _POINTS)]
    for i in range(loop.plant.B.shape[1]):
        z = np.linalg.eigvals(loop.matrix(0.0, i))
        s = continuous(z[np.abs(z) > 1e-3], law.sample) / (2 * np.pi)
        sharp = s[np.abs(s.real) < 0.2 * np.abs(s.imag)]
        f += [abs(x.imag) + max(abs(x.real), 1e-6) * _BESIDE for x in sharp]
    every = np.unique(np.concatenate(f))
    every = every[(every > 0.1) & (every < 0.999 * half)]
    return every, nyquist(loop, every)
