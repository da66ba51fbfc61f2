"""Laws s(t) of the way from rest to rest: piecewise linear accelerations on a grid of normalised time u = t / T."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.model.algebra import Array

INTERVALS = 60  # of a law
GAUSS = 8  # places of an interval at which integrands are taken


@dataclass(frozen=True)
class Law:
    """Second derivatives of s by u at the nodes, and the duration (s)."""

    pull: Array
    duration: float

    def state(self, u: Array) -> tuple[Array, Array, Array]:
        """s, ds/du and its derivative at u, exactly."""
        h = 1.0 / INTERVALS
        slope = np.diff(self.pull) / h
        rates = np.concatenate([[0.0], np.cumsum(h * (self.pull[:-1] + self.pull[1:]) / 2)])
        steps = h * rates[:-1] + h * h * (2 * self.pull[:-1] + self.pull[1:]) / 6
        shares = np.concatenate([[0.0], np.cumsum(steps)])
        k = np.clip((u / h).astype(int), 0, INTERVALS - 1)
        x = u - nodes()[k]
        a = self.pull[k] + slope[k] * x
        v = rates[k] + x * (self.pull[k] + slope[k] * x / 2)
        s = shares[k] + x * (rates[k] + x * (self.pull[k] / 2 + slope[k] * x / 6))
        return s, v, a


def nodes() -> Array:
    return np.linspace(0.0, 1.0, INTERVALS + 1)


def integrals() -> tuple[Array, Array]:
    """Matrices of s' and s at nodes over accelerations at nodes, exact for piecewise linear ones."""
    made = [Law(row, 1.0).state(nodes()) for row in np.eye(INTERVALS + 1)]
    return np.array([x[1] for x in made]).T, np.array([x[0] for x in made]).T


def quadrature() -> tuple[Array, Array, Array]:
    """Gauss' places u (intervals, places), their weights, and there the hats of an interval's two nodes (places, 2)."""
    at, weights = np.polynomial.legendre.leggauss(GAUSS)
    share, h = (at + 1) / 2, 1.0 / INTERVALS
    return nodes()[:-1, None] + h * share, h * weights / 2, np.column_stack([1 - share, share])
