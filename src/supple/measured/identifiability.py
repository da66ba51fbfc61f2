"""What data hold of parameters: deviations, known combinations, parameters that only appear together, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.measured.free import Free
from supple.robot.bodies.record import Array

KNOWN = 0.1  # relative deviation: combinations below it are known
_SPOKEN = 0.25  # of a combination's weights: smaller ones are not named
_NOTHING = 1e-9  # of the largest singular value: below it nothing is known


@dataclass(frozen=True)
class Identifiability:
    """Covariance of the logarithms of the factors (priors included), deviations and weights of combinations that data alone
    hold (best first), singular values, how many are known, and words."""

    covariance: Array
    combinations: tuple[tuple[float, Array], ...]
    spectrum: Array
    known: int
    words: tuple[str, ...]


def identifiability(slopes: Array, free: Free, inflation: float = 1.0) -> Identifiability:
    """The Identifiability of slopes by logarithms (rows of data, groups). inflation: of deviations, where data fit badly."""
    _, sizes, Vt = np.linalg.svd(slopes, full_matrices=True) if len(slopes) < len(free.groups) else _thin(slopes)
    spectrum = np.concatenate([sizes, np.zeros(len(free.groups) - len(sizes))])
    with np.errstate(divide="ignore"):
        spread = np.where(spectrum > _NOTHING * spectrum.max(initial=0.0), inflation / spectrum, np.inf)
    combinations = tuple((float(s), _signed(v)) for s, v in zip(spread, Vt, strict=True))
    told = np.isfinite(free.prior)
    precision = slopes.T @ slopes / inflation**2 + np.diag(np.where(told, 1 / np.where(told, free.prior, 1.0) ** 2, 0.0))
    covariance = _inverse(precision)
    known = int(np.sum(spread < KNOWN))
    words = _words(free, combinations, known, covariance, slopes.T @ slopes / inflation**2)
    return Identifiability(covariance, combinations, spectrum, known, tuple(words))


def _thin(slopes: Array) -> tuple[Array, Array, Array]:
    R = np.linalg.qr(slopes, mode="r")
    return np.linalg.svd(R)


def _inverse(precision: Array) -> Array:
    """The covariance; infinite on the diagonal where nothing is known."""
    sizes, axes = np.linalg.eigh(precision)
    dead = sizes <= _NOTHING**2 * max(sizes.max(initial=0.0), 1e-300)
    made: Array = (axes[:, ~dead] / sizes[~dead]) @ axes[:, ~dead].T
    lost = (axes[:, dead] ** 2).sum(1) > 1e-6
    made[lost, lost] = np.inf
    return made


def _signed(weights: Array) -> Array:
    made: Array = weights * (np.sign(weights[np.abs(weights).argmax()]) or 1.0)
    return made


def correlation_of(covariance: Array) -> Array:
    """Correlations; zero with what is not known at all."""
    spread = np.sqrt(np.diag(covariance))
    safe = np.where(np.isfinite(spread) & (spread > 0), spread, np.inf)
    made = np.where(np.isfinite(covariance), covariance, 0.0) / safe[:, None] / safe[None]
    np.fill_diagonal(made, 1.0)
    return made


def _words(free: Free, combinations: Sequence[tuple[float, Array]], known: int, covariance: Array, data: Array) -> list[str]:
    labels, n = free.labels, len(free.groups)
    what = f"{n} free parameters" if n > 1 else "the free parameter"
    words = [f"these data hold {known} combination{'s' if known != 1 else ''} of {what} to better than {100 * KNOWN:.0f} %"]
    for spread, weights in combinations[:known]:
        words.append(f"{product(labels, weights)} to {_percent(spread / float(np.abs(weights).max()))}")
    alone = np.sqrt(np.diag(_inverse(data)))
    single = [labels[k] for k in range(n) if alone[k] < KNOWN]
    if single and len(single) < n:
        words.append(f"known each on its own: {', '.join(single)}")
    words += _together(labels, data, alone)
    silent = [labels[k] for k in range(n) if data[k, k] < 1.0]  # a factor of e moves the data by less than their deviation
    if silent:
        words.append(f"these data say nothing of {', '.join(silent)}: no change of them shows")
    rest = [labels[k] for k in range(n) if alone[k] >= KNOWN and labels[k] not in silent]
    by_prior = [x for x in rest if np.isfinite(free.prior[labels.index(x)])]
    if by_prior:
        words.append(f"held by their priors as much as by data: {', '.join(by_prior)}")
    return words


def _together(labels: Sequence[str], data: Array, alone: Array) -> list[str]:
    """Pairs that are known together and not apart, all others being as uncertain as they are."""
    words = []
    cov = _inverse(data + 1e-12 * np.eye(len(labels)) * max(float(np.trace(data)), 1e-300))
    loose = [k for k in range(len(labels)) if not alone[k] < KNOWN and data[k, k] >= 1.0]
    for a, i in enumerate(loose):
        for j in loose[:a]:
            part = cov[np.ix_([j, i], [j, i])]
            sizes, axes = np.linalg.eigh(part)
            weights = axes[:, 0] * np.sign(axes[np.abs(axes[:, 0]).argmax(), 0])
            spread = float(np.sqrt(max(sizes[0], 0.0)) / np.abs(weights).max())
            if spread < KNOWN and np.abs(weights).min() > _SPOKEN:
                pair = (labels[j], labels[i])
                how = "as a ratio" if weights.min() < 0 else "together"
                words.append(f"{pair[0]} and {pair[1]} only {how}: {product(pair, weights)} to {_percent(spread)}")
    return words


def product(labels: Sequence[str], weights: Array) -> str:
    """A combination of logarithms as a product of powers, the largest first and to the power of one."""
    powers = weights / weights[np.abs(weights).argmax()]
    order = [k for k in np.argsort(-np.abs(powers)) if abs(powers[k]) > _SPOKEN][:6]
    parts = [labels[k] if abs(powers[k] - 1) < 0.005 else f"{labels[k]}^{powers[k]:.2f}" for k in order]
    more = " ..." if float((weights[order] ** 2).sum()) < 0.8 else ""
    return " ".join(parts) + more


def _percent(spread: float) -> str:
    return f"{100 * spread:.2g} %"
