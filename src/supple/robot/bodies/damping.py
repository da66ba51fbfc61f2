"""Damping of a flexible body: Rayleigh, modal, structural."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from supple.robot.bodies.record import Body
from supple.robot.description import Damping


def damped(body: Body, spec: Damping | None, unit: Callable[[], Body] | None = None) -> Body:
    """The body with the damping of `spec` added.

    unit: makes a body of numbers whose matrices are those of `body` but for a factor of K, one of M and one of every
    coordinate, block by block; modal damping of a body with symbols follows from it."""
    if spec is None or not body.flexible:
        return body
    if spec.rayleigh is not None:
        return replace(body, D_ee=body.D_ee + spec.rayleigh.alpha * body.M_ee + spec.rayleigh.beta * body.K_ee)
    if spec.structural is not None:
        return replace(body, H_ee=body.H_ee + spec.structural * body.K_ee)
    ratios = spec.modal if isinstance(spec.modal, list) else [0 if spec.modal is None else spec.modal]
    if all(_number(x) for x in [*body.M_ee.ravel(), *body.K_ee.ravel()]):
        return replace(body, D_ee=body.D_ee + _modal(body.M_ee.astype(float), body.K_ee.astype(float), ratios))
    if unit is None:
        raise TypeError("modal damping needs numbers")
    return replace(body, D_ee=body.D_ee + _scaled_modal(body, unit(), ratios))


def _number(x: Any) -> bool:
    return isinstance(x, (int, float, Fraction))


def _modal(M: Any, K: Any, ratios: Sequence[Any]) -> Any:
    """Momenta times 2 zeta omega times momenta; zero where there is no mass (an elastic joint has no modes of its own)."""
    if not np.any(M):
        return np.zeros_like(M).astype(object)
    from scipy.linalg import eigh

    squares, shapes = eigh(K, M)
    momentum = M @ shapes
    each = [ratios[min(k, len(ratios) - 1)] for k in range(len(squares))]  # the last one goes for the rest
    if not all(_number(x) for x in each):
        if len(ratios) > 1:
            raise TypeError("modal damping of several ratios needs numbers")
        return _modal(M, K, [1.0]) * ratios[0]
    D = momentum @ np.diag(2 * np.array([float(x) for x in each]) * np.sqrt(squares)) @ momentum.T
    size = np.sqrt(np.abs(np.diag(D)))
    D[np.abs(D) < 1e-12 * np.outer(size, size)] = 0
    return D.astype(object)


def _scaled_modal(body: Body, unit: Body, ratios: Sequence[Any]) -> Any:
    """With K = k s K1 s and M = m s M1 s, D is sqrt(k m) s D1 s; k m s^4 is what the diagonals of K and M say.

    Which mode comes first in a block may depend on the symbols, so all modes must have one ratio."""
    if len(ratios) > 1:
        raise TypeError("modal damping of several ratios needs numbers")
    K, M = unit.K_ee.astype(float), unit.M_ee.astype(float)
    D = _modal(M, K, ratios)
    grown = [body.K_ee[i, i] * body.M_ee[i, i] / (K[i, i] * M[i, i]) for i in range(len(K))]
    roots = [np.sqrt(np.sqrt(float(x))) if _number(x) else x.sqrt().sqrt() for x in grown]
    made = np.zeros_like(D)
    for i, j in zip(*np.nonzero(D), strict=True):
        made[i, j] = D[i, j] * roots[i] * roots[j]
    return made
