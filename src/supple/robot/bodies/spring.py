"""Elastic joints as massless bodies: one elastic coordinate per compliant axis (Rognant et al. 2010, eq. 24)."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.robot.bodies.record import Body, Marker, eye, zeros
from supple.robot.description import JointDamping, Spring
from supple.robot.fields import AXES


def spring_axes(spec: Spring, planar_axes: tuple[str, ...] | None) -> list[str]:
    """The compliant axes of a spring, in the order x y z rx ry rz."""
    if spec.matrix is not None:
        axes: list[str] = list(spec.axes) if spec.axes is not None else list(planar_axes or AXES)
    else:
        axes = [a for a in AXES if getattr(spec, a) is not None]
    return axes


def spring_problem(spec: Spring, damping: JointDamping | None, planar_axes: tuple[str, ...] | None) -> str | None:
    """What is wrong with a spring, if anything."""
    axes = spring_axes(spec, planar_axes)
    if not axes:
        return "needs a stiffness for at least one of x, y, z, rx, ry, rz"
    if planar_axes is not None and not set(axes) <= set(planar_axes):
        return f"a planar robot's joint has the axes {', '.join(planar_axes)} only"
    for matrix in (spec.matrix, damping.matrix if damping else None):
        if matrix is None:
            continue
        if [len(row) for row in matrix] != [len(axes)] * len(axes):
            return f"needs a {len(axes)} x {len(axes)} matrix for the axes {', '.join(axes)}"
        M = np.array(matrix, dtype=object)
        if any(M[i, j] is not M[j, i] and M[i, j] != M[j, i] for i in range(len(axes)) for j in range(i)):
            return "the matrix must be symmetric"
    if damping is not None and damping.matrix is None:
        stray = [a for a in AXES if getattr(damping, a) is not None and a not in axes]
        if stray:
            return f"damping along {stray[0]} needs a stiffness along {stray[0]}"
    return None


def spring_body(spec: Spring, damping: JointDamping | None, planar_axes: tuple[str, ...] | None) -> Body:
    """The massless Body of an elastic joint."""
    axes = spring_axes(spec, planar_axes)
    n = len(axes)
    K, D = zeros(n, n), zeros(n, n)
    if spec.matrix is not None:
        K[:] = np.array(spec.matrix, dtype=object)
    else:
        for i, a in enumerate(axes):
            K[i, i] = getattr(spec, a)
    if damping is not None and damping.matrix is not None:
        D[:] = np.array(damping.matrix, dtype=object)
    elif damping is not None:
        for i, a in enumerate(axes):
            own = getattr(damping, a)
            D[i, i] = 0 if own is None else own
    return Body(
        MS_de=zeros(3, n), beta=zeros(3, n), lam=zeros(n, n, 3), I_re=zeros(n, 3, 3), I_ee=zeros(n, n, 3, 3),
        M_ee=zeros(n, n), K_ee=K, D_ee=D, H_ee=zeros(n, n),
        coordinates=tuple(axes), units=tuple("m" if len(a) == 1 else "rad" for a in axes),
    )  # fmt: skip


def spring_marker(body: Body) -> Marker:
    """The moving side of the joint."""
    n = len(body.coordinates)
    Phi_d, Phi_r = zeros(3, n), zeros(3, n)
    for k, a in enumerate(body.coordinates):
        target: Any = Phi_d if len(a) == 1 else Phi_r
        target["xyz".index(a[-1]), k] = 1
    return Marker(zeros(3), eye(), Phi_d, Phi_r)
