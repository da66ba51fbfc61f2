"""One body as a quadratic function of accelerations, its end nodes by their absolute accelerations.

Variables of body i: ("s", i, k) the acceleration of its frame (a_x a_y a_z alpha_x alpha_y alpha_z, own axes),
("e", k) the k-th coordinate of v (elastic, relative), ("p", port, k) the acceleration of a node in body axes. With
absolute node accelerations b, qdd = b - a - alpha x r - ..., the mass matrix of a beam's node stays constant and bodies
couple with their neighbours only. A planar body's terms are polynomials, like terms collected; a spatial node keeps
its rotation relative (k = 3, 4, 5), because its map to angular acceleration is not a polynomial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, add, mul
from supple.expr.vector import dot, is_zero
from supple.formulations.polynomial import Polynomial
from supple.formulations.quadratic import Id, Quadratic
from supple.robot.bodies.record import Body, Marker, hat

Ring = Any  # Polynomial or expression


@dataclass(frozen=True)
class Port:
    """A node of a body whose six (planar: three) coordinates give it every relative motion: rel = Gamma qdd."""

    key: int
    marker: Marker
    columns: tuple[int, ...]
    components: tuple[int, ...]  # of (a, alpha) in body axes that the coordinates move
    inverse: Array  # qdd = inverse @ rel, rows as columns, columns as components


def port_of(key: int, marker: Marker, taken: set[int], planar: bool) -> Port | None:
    """The Port of a marker, if its coordinates are its own and give it every motion."""
    Phi = np.concatenate([marker.Phi_d, marker.Phi_r])
    columns = tuple(k for k in range(Phi.shape[1]) if not is_zero(Phi[:, k]))
    components = tuple(k for k in range(6) if not is_zero(Phi[k]))
    if not columns or len(columns) != len(components) or len(columns) != (3 if planar else 6) or taken & set(columns):
        return None
    Gamma = Phi[np.ix_(components, columns)]
    if any(isinstance(x, Expr) for x in Gamma.ravel()):
        return None
    if not np.allclose((Gamma.T @ Gamma).astype(float), np.eye(len(columns)), atol=1e-12):
        return None
    return Port(key, marker, columns, components, Gamma.T)


@dataclass(frozen=True)
class Motion:
    """A body's state: spin of its frame, elastic coordinates and rates."""

    w: Array
    q: Array
    qd: Array


def body_quadratic(
    body: Body, index: int, first: int, now: Motion, ports: Sequence[Port], planar: bool, applied: Iterable[Scalar] = ()
) -> Quadratic:
    """Z of a body; `first` is the index in v of its first elastic coordinate, `applied` the forces on (a, alpha, qdd)."""
    owned = {c for p in ports for c in p.columns}
    ids: list[Id] = [("s", index, k) for k in range(6)]
    ids += [("e", first + k) for k in range(len(body.coordinates)) if k not in owned]
    ids += [("p", p.key, k) for p in ports for k in p.components]
    lift: Callable[[Scalar], Ring] = _lifted if planar else _same
    ring = Motion(*(np.array([lift(x) for x in part], dtype=object) for part in (now.w, now.q, now.qd)))
    rates = frozenset(_bare(x) for x in [*now.w, *now.qd] if isinstance(x, Expr))

    def shown(x: Ring) -> Scalar:
        return x.expression(rates) if isinstance(x, Polynomial) else x

    M, c = _inertia(body, ring)
    L, bias = _nodal_map(body, ids, ring, ports, owned, first, planar)
    elastic = [add(dot(body.K_ee[k], now.q), dot(body.D_ee[k], now.qd)) for k in range(len(now.q))]
    ML = [[_dot(M[i], L[:, b]) for b in range(len(ids))] for i in range(len(M))]
    load = [c[i] + _dot(M[i], bias) for i in range(len(M))]
    made = Quadratic()
    for a, i in enumerate(ids):
        made.add_linear(i, shown(_dot(L[:, a], load)))
        for k, force in enumerate(elastic):
            made.add_linear(i, mul(shown(L[6 + k, a]), force))
        for k, force in enumerate(applied):
            made.add_linear(i, mul(-1, mul(shown(L[k, a]), force)))
        for b in range(a, len(ids)):
            made.add(i, ids[b], shown(_dot(L[:, a], [row[b] for row in ML])))
    return made


def _same(x: Scalar) -> Scalar:
    return x


def _lifted(x: Scalar) -> Polynomial:
    """A quantity as a polynomial symbol, its sign taken out."""
    if not isinstance(x, Expr):
        return Polynomial.of(x)
    return Polynomial({(x.args[0],): -1}) if x.op == "neg" else Polynomial({(x,): 1})


def _bare(x: Expr) -> Expr:
    return x.args[0] if x.op == "neg" else x


def _inertia(body: Body, now: Motion) -> tuple[Array, Array]:
    """M over (a, alpha, qdd), and the forces of velocity."""
    n, Q, V, W = len(body.coordinates), now.q, now.qd, now.w
    MS = [body.MS_r[j] + _dot(body.MS_de[j], Q) for j in range(3)]
    inertia = body.I_rr
    MS_re = body.beta.copy()
    G = []
    for k in range(n):
        own = _symmetric(body.I_re[k])
        G_k = own
        for i in range(n):
            if not is_zero(body.I_ee[i, k]):
                G_k = G_k + _symmetric(body.I_ee[i, k]) * Q[i]
            if not is_zero(body.lam[i, k]):
                MS_re[:, k] = MS_re[:, k] + body.lam[i, k] * Q[i]
        inertia = inertia + (G_k + own) * Q[k]
        G.append(G_k)
    M = np.full((6 + n, 6 + n), 0, dtype=object)
    H = hat(MS)
    M[:3, 3:6], M[3:6, :3], M[3:6, 3:6] = H.T, H, inertia
    M[:3, 6:], M[6:, :3] = body.MS_de, body.MS_de.T
    M[3:6, 6:], M[6:, 3:6], M[6:, 6:] = MS_re, MS_re.T, body.M_ee
    for j in range(3):
        M[j, j] = body.mass
    c = np.full(6 + n, 0, dtype=object)
    drift = [_dot(body.MS_de[j], V) * 2 for j in range(3)]
    c[:3] = _cross(W, [x + y for x, y in zip(_cross(W, MS), drift, strict=True)])
    c[3:6] = _cross(W, [_dot(inertia[j], W) + _dot(MS_re[j], V) for j in range(3)])
    for k in range(n):
        Gw = [_dot(G[k][j], W) for j in range(3)]
        c[3:6] = [x + y * V[k] * 2 for x, y in zip(c[3:6], Gw, strict=True)]
        coriolis = [_dot([body.lam[i, k][j] for i in range(n)], V) for j in range(3)]
        c[6 + k] = _dot(coriolis, W) * 2 - _dot(Gw, W)
    return M, c


def _nodal_map(
    body: Body, ids: list[Id], now: Motion, ports: Sequence[Port], owned: set[int], first: int, planar: bool
) -> tuple[Array, list[Ring]]:
    """L and l of (a, alpha, qdd) = L ids + l."""
    n = len(body.coordinates)
    at = {x: i for i, x in enumerate(ids)}
    L = np.full((6 + n, len(ids)), 0, dtype=object)
    bias: list[Ring] = [0] * (6 + n)
    for k in range(6):
        L[k, k] = 1
    for k in range(n):
        if k not in owned:
            L[6 + k, at["e", first + k]] = 1
    for port in ports:
        r, swing = node_motion(port.marker, now)
        H = hat(r)
        for row, k in enumerate(port.columns):
            for col, component in enumerate(port.components):
                g = port.inverse[row, col]
                if is_zero(g):
                    continue
                L[6 + k, at["p", port.key, component]] += g
                if component < 3:
                    L[6 + k, component] -= g
                    L[6 + k, 3:6] = L[6 + k, 3:6] + H[component] * g  # -(alpha x r) = r x alpha
                    bias[6 + k] = bias[6 + k] - swing[component] * g
                elif planar:
                    L[6 + k, component] -= g
    return L, bias


def node_motion(marker: Marker, now: Motion) -> tuple[list[Ring], list[Ring]]:
    """Position of a node and its acceleration for resting accelerations: w x (w x r + 2 qd)."""
    r = [marker.position[j] + _dot(marker.Phi_d[j], now.q) for j in range(3)]
    rate = [_dot(marker.Phi_d[j], now.qd) for j in range(3)]
    return r, _cross(now.w, [x + y * 2 for x, y in zip(_cross(now.w, r), rate, strict=True)])


def _symmetric(A: Array) -> Array:
    made = A.copy()
    for i in range(3):
        for j in range(3):
            made[i, j] = A[i, j] if i == j else mul(Fraction(1, 2), add(A[i, j], A[j, i]))
    return made


def _none(x: Ring) -> bool:
    return not x.terms if isinstance(x, Polynomial) else is_zero(x)


def _dot(a: Iterable[Ring], b: Iterable[Ring]) -> Ring:
    total: Ring = 0
    for x, y in zip(a, b, strict=True):
        if not _none(x) and not _none(y):
            total = total + x * y
    return total


def _cross(a: Sequence[Ring] | Array, b: Sequence[Ring] | Array) -> list[Ring]:
    def minor(i: int, j: int) -> Ring:
        return _dot([a[i]], [b[j]]) - _dot([a[j]], [b[i]])

    return [minor(1, 2), minor(2, 0), minor(0, 1)]
