"""Optimiser passes: same values, fewer operations, known minima."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import Expr, Scalar, cos, sin
from supple.expr.vector import (
    axis_rotation,
    cross,
    dot,
    identity,
    matmul,
    matvec,
    minus,
    plus,
    quaternion_rotation,
    scale,
    vector,
    zeros,
)

# -- realistic functions


def planar_chain(links: int = 4) -> Function:
    """Inverse dynamics of a planar chain, recursive Newton-Euler with everything kept in the base frame."""
    q, qd, qdd = (symbols(n, links) for n in ("q", "qd", "qdd"))
    m, l, r, inertia = (symbols(n, links) for n in ("m", "l", "r", "I"))  # noqa: E741
    angle: Scalar = 0
    w: Scalar = 0
    wd: Scalar = 0
    a = vector(0, 9.81)
    forces, moments, arms, centres = [], [], [], []
    for i in range(links):
        angle, w, wd = angle + q[i], w + qd[i], wd + qdd[i]
        along = vector(cos(angle), sin(angle))
        across = vector(-sin(angle), cos(angle))
        turning = plus(scale(wd, across), scale(-(w * w), along))
        forces.append(scale(m[i], plus(a, scale(r[i], turning))))
        moments.append(inertia[i] * wd)
        arms.append(scale(l[i], along))
        centres.append(scale(r[i], along))
        a = plus(a, scale(l[i], turning))
    tau = zeros(links)
    force, moment = vector(0, 0), 0
    for i in reversed(range(links)):
        carried = arms[i][0] * force[1] - arms[i][1] * force[0]
        own = centres[i][0] * forces[i][1] - centres[i][1] * forces[i][0]
        moment = moment + moments[i] + own + carried
        force = plus(force, forces[i])
        tau[i] = moment
    inputs = {"q": q, "qd": qd, "qdd": qdd, "m": m, "l": l, "r": r, "inertia": inertia}
    return function("planar_chain", inputs, {"tau": tau})


def spatial_chain(joints: int = 3, numeric: bool = False) -> Function:
    """Inverse dynamics of a spatial chain in link frames; numeric parameters fold, symbolic ones stay."""
    q, qd, qdd = (symbols(n, joints) for n in ("q", "qd", "qdd"))
    p = symbols("p", (joints, 10))
    parameters = np.array(p)
    if numeric:
        source = np.random.default_rng(5)
        for index in np.ndindex(p.shape):
            parameters[index] = Fraction(int(source.integers(1, 400)), 100)
    axes = [vector(0, 0, 1), vector(0, 1, 0), vector(1, 0, 0)]
    w, wd, a = zeros(3), zeros(3), vector(0, 0, 9.81)
    arm = vector(Fraction(3, 10), 0, Fraction(1, 5))
    kept = []
    for i in range(joints):
        axis = axes[i % 3]
        back = axis_rotation(axis, q[i]).T
        rate = scale(qd[i], axis)
        a = matvec(back, plus(a, cross(wd, arm), cross(w, cross(w, arm))))
        w_parent = matvec(back, w)
        wd = plus(matvec(back, wd), cross(w_parent, rate), scale(qdd[i], axis))
        w = plus(w_parent, rate)
        mass, first, inertia = _inertia(parameters[i])
        f = plus(scale(mass, a), cross(wd, first), cross(w, cross(w, first)))
        n = plus(matvec(inertia, wd), cross(w, matvec(inertia, w)), cross(first, a))
        kept.append((axis, back, f, n))
    tau = zeros(joints)
    force, moment = zeros(3), zeros(3)
    for i in reversed(range(joints)):
        axis, back, f, n = kept[i]
        force, moment = plus(force, f), plus(moment, n)
        tau[i] = dot(axis, moment)
        force, moment = matvec(back.T, force), matvec(back.T, moment)
        moment = plus(moment, cross(arm, force))
    inputs = {"q": q, "qd": qd, "qdd": qdd, "p": p}
    return function("spatial_chain", inputs, {"tau": tau})


def _inertia(p: Array) -> tuple[Scalar, Array, Array]:
    xx, yy, zz, xy, xz, yz = p[4:]
    return p[0], p[1:4], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)


def ldl_solve(n: int) -> Function:
    """x of A x = b, A symmetric positive definite, by LDL^T with shared reciprocals of the pivots."""
    A, b = symbols("A", (n, n)), symbols("b", n)
    low, inverse = identity(n), zeros(n)
    work = zeros(n, n)
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot = pivot - work[j, k] * low[j, k]
        inverse[j] = 1 / pivot
        for i in range(j + 1, n):
            value = A[i, j]
            for k in range(j):
                value = value - work[i, k] * low[j, k]
            work[i, j] = value
            low[i, j] = value * inverse[j]
    x = zeros(n)
    for i in range(n):
        x[i] = b[i] - dot(low[i, :i], x[:i])
    x = vector(*(x[i] * inverse[i] for i in range(n)))
    for i in reversed(range(n)):
        x[i] = x[i] - dot(low[i + 1 :, i], x[i + 1 :])
    return function(f"ldl_{n}", {"A": A, "b": b}, {"x": x})


def rotations() -> Function:
    """Products of rotations about three axes and of a quaternion, and a vector turned by them."""
    q, p, v = symbols("q", 3), symbols("p", 4), symbols("v", 3)
    R = identity()
    for axis, angle in zip((vector(0, 0, 1), vector(0, 1, 0), vector(1, 0, 0)), q, strict=True):
        R = matmul(R, axis_rotation(axis, angle))
    Q = quaternion_rotation(p)
    out = {"R": R, "RQ": matmul(R, Q), "turned": matvec(Q, minus(matvec(R, v), v))}
    return function("rotations", {"q": q, "p": p, "v": v}, out)


MACHINES = {
    "planar_chain": planar_chain,
    "spatial_chain": spatial_chain,
    "spatial_numeric": lambda: spatial_chain(numeric=True),
    "ldl_3": lambda: ldl_solve(3),
    "ldl_6": lambda: ldl_solve(6),
    "rotations": rotations,
}
