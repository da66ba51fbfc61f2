"""Which poles are physical: those that come back order after order, in clusters of frequency and damping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from supple.robot.bodies.record import Array

NEAR_FREQUENCY, NEAR_DAMPING = 0.01, 0.10  # relative changes from order to order of a stable pole
_APART = 0.005  # in frequency: clusters that are nearer are one
_MOST_DAMPING = 0.3


@dataclass(frozen=True)
class Stable:
    """Poles that are chosen, in how many of the orders they came back, and rows (order, Hz, ratio, stable) of all tried."""

    poles: Array
    shares: Array
    diagram: Array


def stable_poles(by_order: dict[int, Array], least_share: float = 0.4) -> Stable:
    """The Stable of poles by order."""
    rows: list[tuple[int, float, float, bool]] = []
    before = np.zeros(0, dtype=complex)
    for order in sorted(by_order):
        now = by_order[order]
        for pole in now:
            hz, ratio = _seen(pole)
            stable = bool(before.size) and ratio < _MOST_DAMPING and bool(_near(pole, before).any())
            rows.append((order, hz, ratio, stable))
        before = now
    diagram = np.array(rows, dtype=float).reshape(-1, 4)
    kept = diagram[diagram[:, 3] > 0]
    if len(kept) < 2:
        return Stable(np.zeros(0, dtype=complex), np.zeros(0), diagram)
    labels = fcluster(linkage(np.log(kept[:, 1:2]) / _APART, "average"), 1.0, "distance")
    orders = len(by_order)
    poles, shares = [], []
    for label in np.unique(labels):
        own = kept[labels == label]
        for part in _split(own):
            share = len(np.unique(part[:, 0])) / orders
            if share >= least_share:
                hz, ratio = np.median(part[:, 1]), np.median(part[:, 2])
                omega = 2 * np.pi * hz
                poles.append(complex(-ratio * omega, omega * np.sqrt(1 - ratio**2)))
                shares.append(share)
    rank = np.argsort(np.abs(poles))
    return Stable(np.array(poles, dtype=complex)[rank], np.array(shares)[rank], diagram)


def _seen(pole: complex) -> tuple[float, float]:
    return abs(pole) / (2 * np.pi), -pole.real / abs(pole)


def _near(pole: complex, others: Array) -> Array:
    hz, ratio = _seen(pole)
    f, z = np.abs(others) / (2 * np.pi), -others.real / np.abs(others)
    made: Array = (np.abs(f - hz) < NEAR_FREQUENCY * hz) & (np.abs(z - ratio) < NEAR_DAMPING * np.maximum(ratio, 0.002))
    return made


def _split(rows: Array) -> list[Array]:
    """A cluster in which orders hold two poles each is two modes of nearly the same frequency."""
    counts = np.array([np.sum(rows[:, 0] == order) for order in np.unique(rows[:, 0])])
    if np.median(counts) < 2 or len(rows) < 6:
        return [rows]
    middle = np.median(rows[:, 2])
    return [rows[rows[:, 2] <= middle], rows[rows[:, 2] > middle]]
