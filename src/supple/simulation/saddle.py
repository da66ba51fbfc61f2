"""`saddle`: accelerations of any mechanism in closed form, by elimination of M a + J^T m = f, J a = b in a fixed order.

    [ M  J^T ] [ a ]   [ f ]
    [ J   0  ] [ m ] = [ b ]

Coordinates are eliminated before the forces in loops that they share, each time the one that fills the matrix least: M is
positive definite, and what it leaves of the loops' zeros is negative definite, so that no pivots need be chosen. Coordinates
without mass, and of the loops' forces those that hold on to nothing else, come last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.backends.stepping.plant import plant_function
from supple.expr.derivative import jacobian
from supple.expr.function import Array, Function, symbols
from supple.expr.node import Expr, Scalar, add, div, mul, sub
from supple.expr.substitution import substituted
from supple.expr.vector import dot, zeros
from supple.formulations.record import Equations
from supple.simulation.partition import Partition

_WEIGHTY = 0.05  # of what all of its coordinates make of it: a pivot of a force in a loop is not to be smaller


def saddle(equations: Equations, parts: Partition, M: Array, J: Array, damped: bool) -> Function | None:
    """Accelerations of the free coordinates and forces of the given ones; None where no order of elimination is safe.

    M, J: of the tree and of all closure equations, at a posture; `damped`: with forces x on the elastic coordinates."""
    f, mechanism = equations.forces, equations.mechanism
    own, rows = sorted({*parts.free, *parts.dependent}), list(parts.rows)
    others = [i for i in mechanism.indices("active") if i not in parts.given]
    given, effort = symbols("given", len(parts.given)), symbols("effort", len(others))
    x = symbols("x", len(mechanism.indices("elastic")) if damped else 0)
    whole_M, whole_J, c, b = _matrices(equations)
    A, values = (_bordered(m[np.ix_(own, own)], j[np.ix_(rows, own)]) for m, j in ((whole_M, whole_J), (M, J)))
    order = saddle_order(_filled(A), values.astype(float), len(own))
    if order is None:
        return None
    force = -c
    for i, k in enumerate(others):
        force[k] = add(force[k], effort[i])
    for i, k in enumerate(mechanism.indices("elastic") if damped else ()):
        force[k] = sub(force[k], x[i])
    pulled = [sub(force[k], dot(whole_M[k, list(parts.given)], given)) for k in own]
    pulled += [sub(-b[r], dot(whole_J[r, list(parts.given)], given)) for r in rows]
    found = saddle_solution(A, pulled, order)
    a, m = zeros(mechanism.nv), np.array(found[len(own) :], dtype=object)
    a[own], a[list(parts.given)] = found[: len(own)], given
    tau = [sub(add(dot(whole_M[k], a), dot(whole_J[rows, k], m)), force[k]) for k in parts.given]
    inputs = {"q": f.inputs["q"], "v": f.inputs["v"], "given": given, "effort": effort, "g": f.inputs["g"]}
    inputs |= {"w": f.inputs["w"].ravel()} | ({"x": x} if damped else {})
    return plant_function("model_accelerations", inputs, {"f": a[list(parts.free)], "tau_given": tau})


def _matrices(equations: Equations) -> tuple[Array, Array, Array, Array]:
    """M and J of all coordinates, and what is there without accelerations: forces c, and b of J a + b."""
    f, column, motion = equations.forces, equations.inertia, equations.closure_motion
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["a"].ravel(), 0)
    c = substituted(f.outputs["f"] + f.outputs["coulomb"], still)
    M = jacobian(column.outputs["f"], column.inputs["direction"])
    M = substituted(M, dict.fromkeys(column.inputs["lam"].ravel(), 0))
    weightless = dict.fromkeys(motion.inputs["g"], 0) if "g" in motion.inputs else {}
    b = substituted(motion.outputs["acceleration"], dict.fromkeys(motion.inputs["a"], 0) | weightless)
    J = jacobian(motion.outputs["velocity"], motion.inputs["v"])
    inputs: dict[Expr, Expr] = {}
    for other in (column, motion):
        for name in ("q", "v"):
            if name in other.inputs:
                inputs |= dict(zip(other.inputs[name].ravel(), f.inputs[name].ravel(), strict=True))
    return substituted(M, inputs), substituted(J, inputs), c, substituted(b, inputs)


def _bordered(M: Array, J: Array) -> Array:
    n = len(M)
    A = np.zeros((n + len(J), n + len(J)), dtype=object)
    A[:n, :n], A[n:, :n], A[:n, n:] = M, J, J.T
    return A


def _filled(A: Array) -> Array:
    return np.array([[_is_there(x) for x in row] for row in A], dtype=bool)


def saddle_order(filled: Array, values: Array, coordinates: int) -> list[int] | None:
    """An order of a symmetric matrix in which every pivot is safe, given where it is filled and numbers of one posture: the
    first are coordinates, the others equations of loops. None: there is none."""
    filled, left = filled.copy(), values.astype(float).copy()
    n = len(filled)
    whole = _weights(values, coordinates)
    rest, made = list(range(n)), list[int]()
    while rest:
        safe = [k for k in rest if _is_safe(left, whole, k, coordinates)]
        if not safe:
            return None
        k = min(safe, key=lambda j: (_filling(filled, rest, j), int(filled[j, rest].sum()), j))
        rest.remove(k)
        made.append(k)
        on = [j for j in rest if filled[k, j]]
        filled[np.ix_(on, on)] = True
        left[np.ix_(on, on)] -= np.outer(left[on, k], left[k, on]) / left[k, k]
    return made


def _filling(filled: Array, rest: Sequence[int], k: int) -> int:
    """How many entries the elimination of one fills."""
    on = [j for j in rest if filled[k, j] and j != k]
    return int((~filled[np.ix_(on, on)]).sum())


def _weights(values: Array, coordinates: int) -> Array:
    """Sizes of pivots: masses, and what loops yield to their forces if every coordinate moved by itself."""
    M, J = np.diag(values)[:coordinates], values[coordinates:, :coordinates]
    yields = np.where(M > 0.0, 1.0 / np.where(M > 0.0, M, 1.0), 0.0)
    return np.concatenate([M, J**2 @ yields])


def _is_safe(left: Array, whole: Array, k: int, coordinates: int) -> bool:
    if k < coordinates:
        return bool(left[k, k] > _WEIGHTY**2 * whole[k] > 0.0)
    return bool(-left[k, k] > _WEIGHTY * whole[k] > 0.0)


def saddle_solution(A: Array, right: Sequence[Scalar], order: Sequence[int]) -> list[Scalar]:
    """x of A x = right for a symmetric matrix of expressions."""
    A, y, x = A.copy(), list(right), list(right)
    place = {k: n for n, k in enumerate(order)}
    steps: list[tuple[int, list[int], Scalar]] = []
    for k in order:
        on = [j for j in range(len(A)) if place[j] > place[k] and _is_there(A[k, j])]
        inverse = div(1, A[k, k])
        for i in on:
            share = mul(A[k, i], inverse)
            y[i] = sub(y[i], mul(share, y[k]))
            for j in (j for j in on if place[j] >= place[i]):
                A[i, j] = A[j, i] = sub(A[i, j], mul(share, A[k, j]))
        steps.append((k, on, inverse))
    for k, on, inverse in reversed(steps):
        rest = y[k]
        for j in on:
            rest = sub(rest, mul(A[k, j], x[j]))
        x[k] = mul(rest, inverse)
    return x


def _is_there(x: Scalar) -> bool:
    return isinstance(x, Expr) or x != 0
