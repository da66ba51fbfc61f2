"""Rigid bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.robot.bodies.record import Body, hat, zeros
from supple.robot.description import Inertia, Rigid


def matrix(inertia: Inertia | None) -> Any:
    return zeros(3, 3) if inertia is None else inertia.matrix()


def rigid_body(spec: Rigid) -> Body:
    """The Body of a rigid link, about the link's origin."""
    S = zeros(3)
    if spec.centre is not None:
        c = np.array(spec.centre, dtype=object)
        S[:] = spec.mass * c
    elif spec.first_moments is not None:
        S[:] = spec.first_moments
        c = S / spec.mass if spec.inertia is not None else zeros(3)
    else:
        c = zeros(3)
    if spec.inertia_at_origin is not None:
        I_rr = matrix(spec.inertia_at_origin)
    else:
        I_rr = matrix(spec.inertia) + spec.mass * (hat(c).T @ hat(c))
    return Body(mass=spec.mass, MS_r=S, I_rr=I_rr)
