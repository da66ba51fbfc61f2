"""One body as a quadratic function of accelerations, its end nodes by their absolute accelerations.

Unknowns of a body: the `Slot`s of its frame, `Elastic` coordinates that no node owns, and `Node`s. With
absolute node accelerations b, qdd = b - a - alpha x r - ..., the mass matrix of a beam's node stays constant and bodies
couple with their neighbours only. A planar body's terms are polynomials, like terms collected; a spatial node keeps
its rotation relative (k = 3, 4, 5), because its map to angular acceleration is not a polynomial.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, add, mul
from supple.expr.vector import dot, is_zero, matvec, zeros
from supple.formulations.least_constraint.polynomial import Polynomial
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.unknowns import Elastic, Node, Slot, Unknown
from supple.formulations.tree.strain import elastic_forces
from supple.robot.bodies.record import Body, Marker, Shortened, Shortening, axial, eye, hat

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
    if not all(_stretches(s, Gamma, columns, components) for s in marker.shortening):
        return None
    return Port(key, marker, columns, components, Gamma.T)


def _stretches(s: Shortening, Gamma: Array, columns: tuple[int, ...], components: tuple[int, ...]) -> bool:
    """Whether a node is drawn back along the one coordinate of its own that shortens nothing: a beam's stretch."""
    axis = np.concatenate([s.axis, zeros(3)])[list(components)]
    along = (Gamma.T @ axis).astype(float)
    k = int(np.abs(along).argmax())
    return abs(abs(along[k]) - 1) < 1e-12 and is_zero(s.G[columns[k]])


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
    ids = _unknowns(body, index, first, ports)
    lift: Callable[[Scalar], Ring] = _lifted if planar else _same
    ring = Motion(*(np.array([lift(x) for x in part], dtype=object) for part in (now.w, now.q, now.qd)))
    rates = frozenset(_bare(x) for x in [*now.w, *now.qd] if isinstance(x, Expr))

    def shown(x: Ring) -> Scalar:
        return x.expression(rates) if isinstance(x, Polynomial) else x

    M, c = _inertia(body, ring, [_shortened(t, now, lift) for t in body.shortened])
    places = [node_place(p.marker, ring, [_drawn_back(s, now, lift) for s in p.marker.shortening]) for p in ports]
    L, bias = _nodal_map(body, ids, places, ports, first, planar)
    elastic = elastic_forces(body, now.q, now.qd)
    rows, columns = [_filled(row) for row in M], [_filled(L[:, a]) for a in range(len(ids))]
    ML = _product(rows, columns)
    meeting = _by_place(ML)
    load = [c[i] + _dot(M[i], bias) for i in range(len(M))]
    made, forces = Quadratic(), list(applied)
    for i in ids:
        made.add_linear(i, 0)
    for a, i in enumerate(ids):
        made.add_linear(i, shown(_dot(L[:, a], load)))
        for pull in _pulls({k: shown(x) for k, x in columns[a].items()}, elastic, forces):
            made.add_linear(i, pull)
        for b in sorted({b for k in columns[a] for b in meeting[k] if b >= a}):
            made.add(i, ids[b], shown(_few(columns[a], ML[b])))
    return made


def _pulls(column: Mapping[int, Scalar], elastic: Array, forces: Sequence[Scalar]) -> Iterator[Scalar]:
    """What elastic and applied forces add to one unknown's entry of c, by its column of L."""
    for k in (k for k in column if k >= 6):
        yield mul(column[k], elastic[k - 6])
    for k in (k for k in column if k < len(forces)):
        yield mul(-1, mul(column[k], forces[k]))


def _unknowns(body: Body, index: int, first: int, ports: Sequence[Port]) -> list[Unknown]:
    """Slots of a body's frame, elastic coordinates that no node owns, and nodes."""
    owned = {c for p in ports for c in p.columns}
    ids: list[Unknown] = [Slot(index, k) for k in range(6)]
    ids += [Elastic(first + k) for k in range(len(body.coordinates)) if k not in owned]
    return ids + [Node(p.key, k) for p in ports for k in p.components]


def _same(x: Scalar) -> Scalar:
    return x


def _lifted(x: Scalar) -> Polynomial:
    """A quantity as a polynomial symbol, its sign taken out."""
    if not isinstance(x, Expr):
        return Polynomial.of(x)
    return Polynomial({(x.args[0],): -1}) if x.op == "neg" else Polynomial({(x,): 1})


def _bare(x: Expr) -> Expr:
    return x.args[0] if x.op == "neg" else x


@dataclass(frozen=True)
class Back:
    """What a matrix G of shortening comes to: G q, half of q.G q, and qd.G qd, each a symbol of its own."""

    g: Array
    half: Ring
    squared: Ring

    def rate(self, qd: Array) -> Ring:
        return _dot(self.g, qd)


def _back(G: Array, now: Motion, lift: Callable[[Scalar], Ring]) -> Back:
    g = matvec(G, now.q)
    half, squared = mul(Fraction(1, 2), dot(now.q, g)), dot(now.qd, matvec(G, now.qd))
    return Back(np.array([lift(x) for x in g], dtype=object), lift(half), lift(squared))


def _drawn_back(s: Shortening, now: Motion, lift: Callable[[Scalar], Ring]) -> tuple[Shortening, Back]:
    return s, _back(s.G, now, lift)


def _shortened(t: Shortened, now: Motion, lift: Callable[[Scalar], Ring]) -> tuple[Shortened, Back]:
    return t, _back(t.G, now, lift)


def _inertia(body: Body, now: Motion, second: Sequence[tuple[Shortened, Back]] = ()) -> tuple[Array, Array]:
    """M over (a, alpha, qdd), and the forces of velocity."""
    n, Q, V, W = len(body.coordinates), now.q, now.qd, now.w
    MS = [body.MS_r[j] + _dot(body.MS_de[j], Q) for j in range(3)]
    inertia = body.I_rr
    MS_de, MS_re, M_ee = body.MS_de.copy(), body.beta.copy(), body.M_ee.copy()
    G = []
    for k in range(n):
        own = _symmetric(body.I_re[k])
        G_k = own
        for i in np.flatnonzero(body.turning[:, k]).tolist():
            G_k = G_k + _symmetric(body.I_ee[i, k]) * Q[i]
        for i in np.flatnonzero(body.drifting[:, k]).tolist():
            MS_re[:, k] = MS_re[:, k] + body.lam[i, k] * Q[i]
        inertia = inertia + (G_k + own) * Q[k]
        G.append(G_k)
    c = np.full(6 + n, 0, dtype=object)
    for t, back in second:
        S, arm = _symmetric(np.trace(t.dyad) * eye() - t.dyad), axial(t.dyad)
        inertia = inertia - S * (back.half * 2)
        for j in range(3):
            MS[j] = MS[j] - _dot([t.first[j]], [back.half])
            c[j] = c[j] - _dot([t.first[j]], [back.squared])
            c[3 + j] = c[3 + j] - _dot([arm[j]], [back.squared])
        for k in range(n):
            c[6 + k] = c[6 + k] - _dot([t.shape[k]], [back.squared])
            if not _none(back.g[k]):
                for i in range(n):
                    if not is_zero(t.shape[i]):
                        M_ee[i, k] = M_ee[i, k] - back.g[k] * t.shape[i]
                        M_ee[k, i] = M_ee[k, i] - back.g[k] * t.shape[i]
                G[k] = G[k] - S * back.g[k]
                MS_de[:, k] = MS_de[:, k] - t.first * back.g[k]
                MS_re[:, k] = MS_re[:, k] - arm * back.g[k]
    M = _assembled(body.mass, MS, inertia, MS_de, MS_re, M_ee)
    drift = [_dot(MS_de[j], V) * 2 for j in range(3)]
    c[:3] = c[:3] + _array(_cross(W, [x + y for x, y in zip(_cross(W, MS), drift, strict=True)]))
    c[3:6] = c[3:6] + _array(_cross(W, [_dot(inertia[j], W) + _dot(MS_re[j], V) for j in range(3)]))
    for k in range(n):
        Gw = [_dot(G[k][j], W) for j in range(3)]
        c[3:6] = [x + y * V[k] * 2 for x, y in zip(c[3:6], Gw, strict=True)]
        at = np.flatnonzero(body.drifting[:, k])
        coriolis = [_dot(body.lam[at, k, j], V[at]) for j in range(3)]
        c[6 + k] = c[6 + k] + (_dot(coriolis, W) * 2 - _dot(Gw, W))
    return M, c


def _assembled(mass: Scalar, MS: Sequence[Ring], inertia: Array, MS_de: Array, MS_re: Array, M_ee: Array) -> Array:
    """M over (a, alpha, qdd) from its parts."""
    n = len(M_ee)
    M = np.full((6 + n, 6 + n), 0, dtype=object)
    H = hat(MS)
    M[:3, 3:6], M[3:6, :3], M[3:6, 3:6] = H.T, H, inertia
    M[:3, 6:], M[6:, :3] = MS_de, MS_de.T
    M[3:6, 6:], M[6:, 3:6], M[6:, 6:] = MS_re, MS_re.T, M_ee
    for j in range(3):
        M[j, j] = mass
    return M


def _array(x: Sequence[Ring]) -> Array:
    made = np.empty(len(x), dtype=object)
    made[:] = x
    return made


def _nodal_map(
    body: Body, ids: list[Unknown], places: Sequence[tuple[list[Ring], list[Ring]]], ports: Sequence[Port], first: int,
    planar: bool,
) -> tuple[Array, list[Ring]]:  # fmt: skip
    """L and l of (a, alpha, qdd) = L ids + l; nodes as if bending did not draw them back (see `nodes.body`)."""
    n = len(body.coordinates)
    at = {x: i for i, x in enumerate(ids)}
    L = np.full((6 + n, len(ids)), 0, dtype=object)
    bias: list[Ring] = [0] * (6 + n)
    for k in range(6):
        L[k, k] = 1
    for k in range(n):
        if Elastic(first + k) in at:
            L[6 + k, at[Elastic(first + k)]] = 1
    for port, (r, swing) in zip(ports, places, strict=True):
        H = hat(r)
        for row, k in enumerate(port.columns):
            for col, component in enumerate(port.components):
                g = port.inverse[row, col]
                if is_zero(g):
                    continue
                L[6 + k, at[Node(port.key, component)]] += g
                if component < 3:
                    L[6 + k, component] -= g
                    L[6 + k, 3:6] = L[6 + k, 3:6] + H[component] * g  # -(alpha x r) = r x alpha
                    bias[6 + k] = bias[6 + k] - swing[component] * g
                elif planar:
                    L[6 + k, component] -= g
    return L, bias


def node_motion(marker: Marker, now: Motion) -> tuple[list[Ring], list[Ring]]:
    """Position of a node and its acceleration for resting accelerations: w x (w x r + 2 qd)."""
    return node_place(marker, now, [_drawn_back(s, now, _same) for s in marker.shortening])


def node_place(marker: Marker, now: Motion, second: Sequence[tuple[Shortening, Back]]) -> tuple[list[Ring], list[Ring]]:
    """node_motion with the shortening given in symbols of its own."""
    r = [marker.position[j] + _dot(marker.Phi_d[j], now.q) for j in range(3)]
    rate = [_dot(marker.Phi_d[j], now.qd) for j in range(3)]
    for s, back in second:
        r = [x - _dot([y], [back.half]) for x, y in zip(r, s.axis, strict=True)]
        rate = [x - _dot([y], [back.rate(now.qd)]) for x, y in zip(rate, s.axis, strict=True)]
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


def _filled(row: Array) -> dict[int, Ring]:
    """What is not zero in a row, by places: matrices of many elements are zero nearly everywhere."""
    return {i: x for i in np.flatnonzero(row != 0).tolist() if not _none(x := row[i])}


def _product(rows: Sequence[Mapping[int, Ring]], columns: Sequence[Mapping[int, Ring]]) -> list[dict[int, Ring]]:
    """What is not zero in the columns of a product."""
    reading = _by_place(rows)
    made = []
    for column in columns:
        near = sorted({k for i in column for k in reading[i]})
        made.append({k: x for k in near if not _none(x := _few(rows[k], column))})
    return made


def _by_place(rows: Sequence[Mapping[int, Ring]]) -> Mapping[int, list[int]]:
    """Which rows have something at each place."""
    made = defaultdict[int, list[int]](list)
    for k, row in enumerate(rows):
        for i in row:
            made[i].append(k)
    return made


def _few(a: Mapping[int, Ring], b: Mapping[int, Ring]) -> Ring:
    """_dot of what is not zero, in the same order."""
    total: Ring = 0
    for i in a if len(a) <= len(b) else b:
        if i in a and i in b:
            total = total + a[i] * b[i]
    return total


def _cross(a: Sequence[Ring] | Array, b: Sequence[Ring] | Array) -> list[Ring]:
    def minor(i: int, j: int) -> Ring:
        return _dot([a[i]], [b[j]]) - _dot([a[j]], [b[i]])

    return [minor(1, 2), minor(2, 0), minor(0, 1)]
