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
    half = 0.5 / law.sample
    resonant = plant.frequencies_hz[(plant.frequencies_hz > 1e-3) & (plant.frequencies_hz < half)]
    near = [f * (1 + np.concatenate([-np.geomspace(0.3, 1e-5, 25), np.geomspace(1e-5, 0.3, 25)])) for f in resonant]
    f = np.unique(np.concatenate([np.geomspace(0.1, 0.999 * half, _POINTS), *near]))
    f = f[f < 0.999 * half]
    return f, nyquist(loop_of(plant, law), f)
