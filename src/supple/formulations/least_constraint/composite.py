"""M and c in independent coordinates: composite inertias folded onto relative coordinates, loops solved by cofactors."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.expr.function import Array, Function, function
from supple.expr.node import Expr, Scalar, add, mul
from supple.expr.vector import axis_rotation, cross, dot, identity, is_zero, matmul, matvec, plus, scale, vector, zeros
from supple.formulations.least_constraint.affine import Affine, across, along, cofactor_inverse, combined, shifted, turned
from supple.formulations.least_constraint.closing import Closing
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.record import Unsupported
from supple.formulations.tree.friction import friction
from supple.robot.mechanism import Anchor, Closure, Mechanism
from supple.robot.nodes import opened
from supple.robot.simplify import regrouped, simplify


class Composite(Closing):
    """M and c in independent coordinates: composite inertias folded onto relative coordinates, loops solved by cofactors."""

    def __init__(self, mechanism: Mechanism, independent: list[str]) -> None:
        self.independent = set(independent)
        super().__init__(mechanism, forward=True)

    def _prepared(self, mechanism: Mechanism) -> Mechanism:
        return regrouped(opened(simplify(mechanism)))

    def _reference_point(self, j: int) -> Array:
        return zeros(3)

    def _find_ports(self) -> None:
        """No absolute nodes: every elastic coordinate is a variable."""

    def joint_force(self, k: int) -> Scalar:
        return friction(self.m.coordinates[k], self.s.v[k])

    def given(self, k: int) -> bool:
        """Coordinates that are wanted as variables are relative ones."""
        return self.m.coordinates[k].name in self.independent

    def matrix(self) -> Quadratic:
        """Z of the closed robot in its independent accelerations."""
        total = Quadratic()
        every = list(range(len(self.m.frames)))
        chain = self.m.platform_chain()
        for j in every:
            total.include(self.body(j))
        for closure in self.m.closures:
            self._closing_friction(closure, every, total)
        for j in reversed(every):
            if j not in chain:
                self.fold(total, j)
        for closure in self.m.closures:
            self._solve_loop(total, closure)
        if chain:
            self._platform_coordinates(total, chain)
        return total

    def _platform_coordinates(self, Z: Quadratic, chain: list[int]) -> None:
        """The platform's slots -> accelerations of its own coordinates: a = R^T (xdd - g)."""
        p = chain[-1]
        R = self._base_rotation(p) if self.planar else self.kin.world[p][0]
        forms: dict[Any, Any] = {}
        for k in range(3):
            form = Affine(mul(-1, dot(R[:, k], self.s.g)))
            for j in chain[:-1]:
                frame = self.m.frames[j]
                form = form + Affine(0, {("v", frame.v.start): 1}) * dot(R[:, k], frame.axis)
            forms[self.slot(p, k)] = form.form()
        own = self.m.frames[p]
        for n, k in enumerate(x for x in range(3, 6) if x in self.alive[p]):
            forms[self.slot(p, k)] = ({("v", own.v.start + n): 1 if not self.planar else own.axis[k - 3]}, 0)
        Z.substitute({x: form for x, form in forms.items() if x in Z.rows})

    def _solve_loop(self, Z: Quadratic, closure: Closure) -> None:
        near, far = self.far_side(closure)
        self._shared(closure, far)  # joints that slide are not for this method
        if self.m.platform is not None:
            rows = self._loop_rows(closure)
        elif self.planar and not any(k >= 3 for k in closure.forbidden):
            rows = [x + y * -1 for x, y in zip(self._base_forms(far), self._base_forms(near), strict=True)]
            rows = [row for row in rows if row.terms]
        else:
            R = self.relative(far.frame, near.frame)
            root = self._at_anchor(near, self.chain_forms(near.frame))
            leg = self._at_anchor(far, self.chain_forms(far.frame))
            facing = turned(R, root[:3]) + turned(R, root[3:])
            rows = [leg[k] + facing[k] * -1 for k in self._shared(closure, far) if k in self.alive[far.frame]]
        chosen = [x for x in dict.fromkeys(x for row in rows for x in row.terms) if not self._independent(x)]
        if len(chosen) != len(rows) or len(rows) > 3 or any(x not in Z.rows for x in chosen):
            raise Unsupported("loops whose passive joints do not follow one by one")
        inverse = cofactor_inverse(np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object))
        rest = [
            Affine(mul(-1, row.constant), {x: mul(-1, c) for x, c in row.terms.items() if x not in chosen}) for row in rows
        ]
        Z.substitute({x: combined(inverse[n], rest).form() for n, x in enumerate(chosen)})

    def _base_forms(self, anchor: Anchor) -> list[Affine]:
        """A planar anchor's acceleration (less gravity's) in base axes: joints near the base have constant columns."""
        path, j = [], anchor.frame
        while j >= 0:
            path.append(j)
            j = self.m.frames[j].parent
        a = [Affine() for _ in range(3)]
        alpha: list[Affine] = [Affine() for _ in range(3)]
        R, w = identity(), zeros(3)
        for j in reversed(path):
            frame, now = self.m.frames[j], self.kin.motions[j]
            a = self._swung(a, alpha, R, w, now.marker.r, now.marker.v_e)
            if frame.parent >= 0 and not self._rigid_place(frame.marker):
                a = shifted(a, matvec(R, now.marker.inward))
                first = self.m.frames[frame.parent].ev.start
                qdd = [Affine(0, {("e", first + k): 1}) for k in range(now.marker.Phi_d.shape[1])]
                a = shifted(a, turned(R, [combined(row, qdd) for row in now.marker.Phi_d]))
                alpha = shifted(alpha, turned(self._constant_normal(R), [combined(row, qdd) for row in now.marker.Phi_r]))
            R, w, k = self._base_rotation(j), now.omega, frame.v.start
            if frame.motion == "revolute":
                axis = matvec(self._constant_normal(R), frame.axis)
                own = Affine(0, {("v" if self.given(k) else "w", k): 1})
                alpha = [
                    (x if self.given(k) else Affine()) + own * axis[n] if not is_zero(axis[n]) else x
                    for n, x in enumerate(alpha)
                ]
            elif frame.motion == "prismatic":
                slide, rate = now.slide, scale(self.s.v[k], frame.axis)
                a = self._swung(a, alpha, R, w, slide, rate)
                a = along(a, matvec(R, frame.axis), ("v", k))
        return self._swung(a, alpha, R, w, anchor.marker.position, zeros(3))

    def _swung(self, a: list[Affine], alpha: list[Affine], R: Array, w: Array, r: Array, rate: Array) -> list[Affine]:
        """a + alpha x R r + R (w x (w x r + 2 rate)), R from the frame's axes to the base."""
        bias = matvec(R, cross(w, plus(cross(w, r), scale(2, rate))))
        return shifted(shifted(a, across(alpha, matvec(R, r))), bias)

    def _base_rotation(self, j: int) -> Array:
        k = self._normal_axis(j)
        axis = zeros(3)
        axis[k] = 1
        return matmul(self._constant(j), axis_rotation(axis, self._angle(j)))

    def _constant_normal(self, R: Array) -> Array:
        """R with the entries that a planar rotation varies set to zero: it only maps vectors along the normal."""
        made = zeros(3, 3)
        for i in range(3):
            for j in range(3):
                if not isinstance(R[i, j], Expr):
                    made[i, j] = R[i, j]
        return made

    def _independent(self, x: Any) -> bool:
        return x[0] == "s" or self.m.coordinates[x[1]].name in self.independent


def independent_names(mechanism: Mechanism) -> list[str]:
    """Coordinates of the mass model: active and elastic ones; with a platform of its own, all but the last of each leg
    (Briot & Khalil 2014, section 4.1)."""
    if mechanism.platform is None:
        return [c.name for c in mechanism.coordinates if c.kind in ("active", "elastic")]
    m = opened(simplify(mechanism))
    dependent: set[str] = set()
    for closure in m.closures:
        far = closure.second if closure.first.frame == m.platform else closure.first
        found = _node_names(m, far.frame, any(k >= 3 for k in closure.forbidden))
        if not found:
            leg = m.frames[far.frame].leg
            rank = {"passive": 0, "elastic": 1, "active": 2}
            own = [c for c in m.coordinates if m.frames[c.frame].leg == leg and c.kind in rank]
            found = [c.name for c in sorted(own, key=lambda c: rank[c.kind])][: len(closure.forbidden)]
        dependent |= set(found)
    names = {c.name for c in m.coordinates}
    return [c.name for c in mechanism.coordinates if c.name in names and c.name not in dependent]


def _node_names(m: Mechanism, j: int, turning: bool) -> list[str]:
    """Elastic coordinates that move the node frame j sits on: its displacements, and its rotations if they are tied."""
    frame = m.frames[j]
    if frame.parent < 0:
        return []
    first = m.frames[frame.parent].ev.start
    found = []
    for k in range(frame.marker.Phi_d.shape[1]):
        if not is_zero(frame.marker.Phi_d[:, k]) or (turning and not is_zero(frame.marker.Phi_r[:, k])):
            found.append(m.coordinates[first + k].name)
    return found


def mass_model(mechanism: Mechanism, independent: list[str]) -> Function:
    """M and c of the closed robot in independent coordinates: generalised forces = M a + c."""
    method = Composite(mechanism, independent)
    Z = method.matrix()
    names = {c.name: k for k, c in enumerate(method.m.coordinates)}
    ids = [("e" if method.m.coordinates[names[n]].kind == "elastic" else "v", names[n]) for n in independent]
    if any(Z.rows[x] or not is_zero(Z.linear[x]) for x in Z.ids() if x not in ids):
        raise Unsupported("joints that neither a loop nor an actuator moves")
    M = [[Z.get(i, j) for j in ids] for i in ids]
    inputs = {"q": method.inputs.q, "v": method.inputs.v, "g": method.inputs.g}
    return function("mass", inputs, {"M": M, "c": [Z.linear[i] for i in ids]})


class Rates(Composite):
    """Velocities of passive joints from those of the others: the loops of a planar robot, at velocity level."""

    def given(self, k: int) -> bool:
        """All variables are the joints' own."""
        return True

    def solved(self) -> dict[str, Scalar]:
        """Passive coordinate -> its velocity as an expression of the others'."""
        if self.m.platform is not None or not self.planar:
            raise Unsupported("a robot in space or with a platform of its own")
        found: dict[str, Scalar] = {}
        for closure in self.m.closures:
            near, far = self.far_side(closure)
            self._shared(closure, far)  # joints that slide are not for this method
            rows = [x + y * -1 for x, y in zip(self._base_forms(far), self._base_forms(near), strict=True)]
            rows = [row for row in rows if row.terms]
            chosen: list[Any] = list(dict.fromkeys(x for row in rows for x in row.terms if not self._independent(x)))
            again = any(self.m.coordinates[x[1]].name in found for x in chosen)
            if len(chosen) != len(rows) or len(rows) > 3 or again:
                raise Unsupported("loops whose passive joints do not follow one by one")
            inverse = cofactor_inverse(np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object))
            speed = [self._speed(row, chosen) for row in rows]
            for n, x in enumerate(chosen):
                found[self.m.coordinates[x[1]].name] = mul(-1, dot(inverse[n], vector(*speed)))
        return found

    def _speed(self, row: Affine, chosen: list[Any]) -> Scalar:
        total: Scalar = 0
        for x, c in row.terms.items():
            if x not in chosen:
                total = add(total, mul(c, self.s.v[x[1]]))  # type: ignore[index]
        return total


def rates_model(mechanism: Mechanism, independent: list[str]) -> Function:
    """v with the rates of passive joints replaced by those that keep the loops closed."""
    method = Rates(mechanism, independent)
    solved = method.solved()
    v = [solved.get(c.name, x) for c, x in zip(mechanism.coordinates, method.inputs.v, strict=True)]
    return function("rates", {"q": method.inputs.q, "v": method.inputs.v}, {"v": v})
