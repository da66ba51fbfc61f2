"""Elastic forces and energies of a body, whose beams are shortened by bending.

K and D of a body act on its strain coordinates x. Most are the elastic coordinates q themselves; the stretch of a bent
beam's node is its displacement and what bending takes off the length before it (`Stretch`):

    x = q + 1/2 sum_t a_t (q.G_t q),    T = dx/dq = 1 + sum_t a_t (G_t q)^T
    energy 1/2 x.K x,    losses x'.D x',    forces T^T (K x + D x')

N_t = a_t.(K x + D x') is the axial force in the element t, and N_t G_t its geometric stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.expr.function import Array
from supple.expr.node import HALF, Scalar, add, mul
from supple.expr.vector import dot, identity, is_zero, matmul, matvec, plus, zeros
from supple.robot.bodies.record import Body, Stretch


@dataclass(frozen=True)
class Strain:
    """Strain coordinates of a body, their rates, and G_t q of every stretch."""

    x: Array
    rate: Array
    slopes: list[Array]


def strain(body: Body, q: Array, qd: Array) -> Strain:
    """The Strain of a body with elastic coordinates q and rates qd."""
    taken, taking = zeros(len(q)), zeros(len(q))
    slopes = [_slope(t, q) for t in body.stretches]
    for t, g in zip(body.stretches, slopes, strict=True):
        off, rate = mul(HALF, dot(q, g)), dot(qd, g)
        for k in t.coordinates:  # sums in the order of the elements, so that neighbours share them
            taken[k], taking[k] = add(taken[k], off), add(taking[k], rate)
    return Strain(plus(q, taken), plus(qd, taking), slopes)


def _slope(t: Stretch, q: Array) -> Array:
    """G q."""
    made = zeros(len(q))
    for i, columns in t.filled:
        made[i] = dot(t.G[i, columns], q[columns])
    return made


def elastic_forces(body: Body, q: Array, qd: Array) -> Array:
    """What the elastic coordinates resist with: T^T (K x + D x')."""
    s = strain(body, q, qd)
    forces = plus(matvec(body.K_ee, s.x), matvec(body.D_ee, s.rate))
    made = forces.copy()
    for t, g in zip(body.stretches, s.slopes, strict=True):
        N: Scalar = 0
        for k in reversed(t.coordinates):
            N = add(N, forces[k])
        for i, _ in t.filled:
            made[i] = add(made[i], mul(N, g[i]))
    return made


def elastic_tangents(body: Body, q: Array) -> tuple[Array, Array]:
    """How the elastic forces change with q and with its rates, at rest: T^T K T + sum_t N_t G_t, and T^T D T."""
    s, n = strain(body, q, zeros(len(q))), len(q)
    forces, T = matvec(body.K_ee, s.x), identity(n)
    K, D = body.K_ee, body.D_ee
    for t, g in zip(body.stretches, s.slopes, strict=True):
        for k in t.coordinates:
            T[k] = plus(T[k], g)
    if body.stretches:
        K, D = (A if is_zero(A) else matmul(T.T, matmul(A, T)) for A in (K, D))
    for t in body.stretches:
        N: Scalar = 0
        for k in reversed(t.coordinates):
            N = add(N, forces[k])
        K = np.array([[add(K[i, j], mul(N, t.G[i, j])) for j in range(n)] for i in range(n)], dtype=object)
    return K, D


def elastic_energy(body: Body, q: Array) -> Scalar:
    """1/2 x.K x."""
    x = strain(body, q, zeros(len(q))).x
    return mul(HALF, dot(x, matvec(body.K_ee, x)))


def lost_power(body: Body, q: Array, qd: Array) -> Scalar:
    """x'.D x'."""
    if is_zero(body.D_ee):
        return 0
    rate = strain(body, q, qd).rate
    return dot(rate, matvec(body.D_ee, rate))
