"""A quadratic function of accelerations, Z = 1/2 u.M u + c.u, as expressions: Gauss' principle of least constraint.

Joints and loops are substitutions of variables, solving is minimising one variable after the other. Only what is not
zero is stored, and each off-diagonal entry once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from supple.expr.function import Array
from supple.expr.node import Expr, Scalar, add, div, mul, sub
from supple.expr.vector import is_zero
from supple.formulations.least_constraint.unknowns import Unknown

Row = dict[Unknown, Scalar]


class Massless(Exception):
    """Nothing resists a variable that is to be minimised."""

    def __init__(self, x: Unknown) -> None:
        super().__init__(x)
        self.x = x


@dataclass(frozen=True)
class Solved:
    """x = -(c / pivot + sum_j share_j u_j), found when x was minimised out."""

    x: Unknown
    own: Scalar
    shares: Row


@dataclass
class Quadratic:
    rows: dict[Unknown, Row] = field(default_factory=dict)
    linear: dict[Unknown, Scalar] = field(default_factory=dict)

    def ids(self) -> list[Unknown]:
        return list(self.rows)

    def get(self, i: Unknown, j: Unknown) -> Scalar:
        return self.rows.get(i, {}).get(j, 0)

    def add(self, i: Unknown, j: Unknown, value: Scalar) -> None:
        """Adds to an entry of M (and to its mirror image)."""
        self._touch(i)
        self._touch(j)
        if is_zero(value):
            return
        total = add(self.rows[i].get(j, 0), value)
        self._set(i, j, total)

    def add_linear(self, i: Unknown, value: Scalar) -> None:
        self._touch(i)
        self.linear[i] = add(self.linear[i], value)

    def _touch(self, i: Unknown) -> None:
        self.rows.setdefault(i, {})
        self.linear.setdefault(i, 0)

    def _set(self, i: Unknown, j: Unknown, value: Scalar) -> None:
        if is_zero(value):
            self.rows[i].pop(j, None)
            self.rows[j].pop(i, None)
        else:
            self.rows[i][j] = value
            self.rows[j][i] = value

    def include(self, other: Quadratic) -> None:
        """Adds another function of accelerations."""
        for i in other.rows:
            self._touch(i)
            self.linear[i] = add(self.linear[i], other.linear[i])
        done: set[Unknown] = set()
        for i, row in other.rows.items():
            done.add(i)
            for j, value in row.items():
                if j == i or j not in done:
                    self.add(i, j, value)

    def drop(self, ids: Iterable[Unknown]) -> None:
        """Forgets variables that are identically zero."""
        for x in ids:
            for j in list(self.rows.pop(x, {})):
                if j != x:
                    self.rows[j].pop(x, None)
            self.linear.pop(x, None)

    # Substitutions -----------------------------------------------------------------------------------------------

    def substitute(self, forms: Mapping[Unknown, tuple[Mapping[Unknown, Scalar], Scalar]]) -> None:
        """Replaces variables by affine forms of others: x = sum coefficient * y + constant."""
        old = [x for x in forms if x in self.rows]
        inner = {x: {y: m for y, m in self.rows[x].items() if y in forms} for x in old}
        outer = {x: {y: m for y, m in self.rows[x].items() if y not in forms} for x in old}
        linear = self._constants(inner, outer, {x: forms[x][1] for x in old})
        self.drop(old)
        for x in old:
            for n, coefficient in forms[x][0].items():
                self.add_linear(n, mul(coefficient, linear[x]))
        if all(set(row) <= {x} for x, row in inner.items()):
            for x in old:
                self._replace(forms[x][0], inner[x].get(x, 0), outer[x])
            return
        for x in old:
            for n, coefficient in forms[x][0].items():
                for y, m in outer[x].items():
                    self.add(n, y, mul(mul(2, coefficient) if n == y else coefficient, m))
        self._congruence(old, inner, forms)

    def _constants(self, inner: dict[Unknown, Row], outer: dict[Unknown, Row], constants: Row) -> Row:
        """Linear terms of replaced variables with what the constants of their forms add to them; others get theirs."""
        linear = {x: self.linear[x] for x in constants}
        for x, constant in constants.items():
            for y, m in inner[x].items():
                linear[y] = add(linear[y], mul(m, constant))
            for y, m in outer[x].items():
                self.linear[y] = add(self.linear[y], mul(m, constant))
        return linear

    def _replace(self, T: Mapping[Unknown, Scalar], own: Scalar, outer: Row) -> None:
        """M + T p^T + m T^T for one variable, p = m + own T: two multiplications an entry, one on the diagonal."""
        p = {n: add(outer.get(n, 0), mul(own, c)) for n, c in T.items()}
        ids = list(dict.fromkeys([*T, *outer]))
        for a, n in enumerate(ids):
            for k in ids[a:]:
                if n == k:
                    if n in T:
                        self.add(n, n, mul(T[n], add(p[n], outer.get(n, 0))))
                    continue
                first = mul(T[n], p[k] if k in p else outer.get(k, 0)) if n in T else 0
                second = mul(outer.get(n, 0), T[k]) if k in T else 0
                self.add(n, k, add(first, second))

    def _congruence(
        self, old: list[Unknown], inner: dict[Unknown, Row], forms: Mapping[Unknown, tuple[Mapping[Unknown, Scalar], Scalar]]
    ) -> None:
        """Adds T^T M T of the replaced block, each entry once."""
        weighted: dict[Unknown, Row] = {}
        for x in old:
            row: Row = {}
            for y, m in inner[x].items():
                for n, coefficient in forms[y][0].items():
                    row[n] = add(row.get(n, 0), mul(m, coefficient))
            weighted[x] = row
        new = list(dict.fromkeys(n for x in old for n in forms[x][0]))
        for a, n in enumerate(new):
            for k in new[a:]:
                total: Scalar = 0
                for x in old:
                    if n in forms[x][0] and k in weighted[x]:
                        total = add(total, mul(forms[x][0][n], weighted[x][k]))
                self.add(n, k, total)

    def rotate(self, old: Sequence[Unknown], new: Sequence[Unknown], R: Array) -> None:
        """Replaces the components `old` = R `new` of a vector; rotations about an axis take the short way."""
        plane = _plane_of(R)
        if plane is None or any(n in self.rows for n in new):
            forms = {o: ({n: R[i, j] for j, n in enumerate(new) if not is_zero(R[i, j])}, 0) for i, o in enumerate(old)}
            self.substitute(forms)
            return
        k, i, j = plane
        if old[k] in self.rows:
            self.substitute({old[k]: ({new[k]: 1}, 0)})
        x, y = old[i], old[j]
        if x not in self.rows and y not in self.rows:
            return
        self._touch(x)
        self._touch(y)
        c, s = R[i, i], R[j, i]  # old_i = c new_i - s new_j, old_j = s new_i + c new_j
        A, B, C = self.get(x, x), self.get(x, y), self.get(y, y)
        lx, ly = self.linear[x], self.linear[y]
        rows_x = {o: m for o, m in self.rows[x].items() if o not in (x, y)}
        rows_y = {o: m for o, m in self.rows[y].items() if o not in (x, y)}
        self.drop([x, y])
        turn = sub(mul(c, mul(2, B)), mul(s, sub(A, C)))
        lift = mul(s, turn)
        self.add(new[i], new[i], add(A, lift))
        self.add(new[j], new[j], sub(C, lift))
        self.add(new[i], new[j], sub(mul(c, turn), B))
        self.add_linear(new[i], add(mul(c, lx), mul(s, ly)))
        self.add_linear(new[j], sub(mul(c, ly), mul(s, lx)))
        for o in dict.fromkeys([*rows_x, *rows_y]):
            mx, my = rows_x.get(o, 0), rows_y.get(o, 0)
            self.add(new[i], o, add(mul(c, mx), mul(s, my)))
            self.add(new[j], o, sub(mul(c, my), mul(s, mx)))

    # Solving -----------------------------------------------------------------------------------------------------

    def minimise(self, x: Unknown) -> Solved:
        """Takes x out at its minimum."""
        row = self.rows[x]
        if x not in row:
            raise Massless(x)
        inverse = div(1, row[x])
        own = mul(self.linear[x], inverse)
        others = [j for j in row if j != x]
        entries = {j: row[j] for j in others}
        own_linear = self.linear[x]
        self.drop([x])
        shares = {j: mul(entries[j], inverse) for j in others}
        for a, j in enumerate(others):
            self.linear[j] = sub(self.linear[j], mul(shares[j], own_linear))
            for k in others[a:]:
                self._set(j, k, sub(self.get(j, k), mul(shares[j], entries[k])))
        return Solved(x, own, shares)

    def minimise_all(self, ids: Iterable[Unknown]) -> list[Solved]:
        """Takes all these variables out, those with the fewest neighbours first."""
        waiting = [x for x in ids if x in self.rows]
        solved = []
        while waiting:
            x = min(waiting, key=lambda v: (len(self.rows[v]), isinstance(self.rows[v].get(v, 0), Expr)))
            waiting.remove(x)
            solved.append(self.minimise(x))
        return solved


def _plane_of(R: Array) -> tuple[int, int, int] | None:
    """(axis, i, j) if R turns about a coordinate axis: R[i, i] = R[j, j] = c, R[j, i] = -R[i, j] = s."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        alone = all(is_zero(R[k, m]) and is_zero(R[m, k]) for m in (i, j))
        if alone and R[k, k] is not None and not isinstance(R[k, k], Expr) and R[k, k] == 1:
            opposite = add(R[i, j], R[j, i])
            equal = sub(R[i, i], R[j, j])
            if is_zero(opposite) and is_zero(equal):
                return k, i, j
    return None
