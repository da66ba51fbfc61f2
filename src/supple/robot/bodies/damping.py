"""Damping of a flexible body: Rayleigh, modal, structural."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.linalg import eigh

from supple.robot.bodies.record import Body
from supple.robot.description import Damping


def damped(body: Body, spec: Damping | None) -> Body:
    """The body with the damping of `spec` added."""
    if spec is None or not body.flexible:
        return body
    if spec.rayleigh is not None:
        return replace(body, D_ee=body.D_ee + spec.rayleigh.alpha * body.M_ee + spec.rayleigh.beta * body.K_ee)
    if spec.structural is not None:
        return replace(body, H_ee=body.H_ee + spec.structural * body.K_ee)
    if not all(isinstance(x, (int, float, Fraction)) for x in [*body.M_ee.ravel(), *body.K_ee.ravel()]):
        raise TypeError("modal damping needs numbers")
    M, K = body.M_ee.astype(float), body.K_ee.astype(float)
    if not np.any(M):  # an elastic joint has no mass and so no modes of its own
        return body
    squares, shapes = eigh(K, M)
    momentum = M @ shapes
    ratios = [float(x) for x in (spec.modal if isinstance(spec.modal, list) else [spec.modal or 0])]
    each = np.array([ratios[min(k, len(ratios) - 1)] for k in range(len(squares))])  # the last one goes for the rest
    D = momentum @ np.diag(2 * each * np.sqrt(squares)) @ momentum.T
    size = np.sqrt(np.abs(np.diag(D)))
    D[np.abs(D) < 1e-12 * np.outer(size, size)] = 0
    return replace(body, D_ee=body.D_ee + D.astype(object))
