"""Accelerations and forces of an articulated solution, found when they are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from supple.expr.function import Array
from supple.expr.node import Scalar, add, mul, sub
from supple.expr.vector import cross, dot, is_zero, matvec, minus, plus, scale, vector
from supple.formulations.least_constraint.affine import Affine, combined
from supple.formulations.least_constraint.bodies import Port, node_motion
from supple.formulations.least_constraint.quadratic import Id, Solved
from supple.formulations.record import Unsupported

if TYPE_CHECKING:
    from supple.formulations.least_constraint.articulated import Articulated


class Solution:
    """Values of accelerations, found when they are asked for."""

    def __init__(self, method: Articulated, solved: list[Solved]) -> None:
        self.method = method
        self.steps = {step.x: step for step in solved}
        for group in method.groups.values():
            self.steps |= {step.x: step for step in group.solved}
        self.values: dict[Id, Scalar] = {}
        self.sought: set[Id] = set()  # asked for and not yet found

    def value(self, x: Id) -> Scalar:
        if x not in self.values:
            if x in self.sought:  # loops within loops: each leg would have to be solved before the other
                raise Unsupported(f"loops that wait for each other at {self.method.name_of(x)}")
            self.sought.add(x)
            self.values[x] = self._value(x)
        return self.values[x]

    def _value(self, x: Any) -> Scalar:
        method = self.method
        if x in self.steps:
            total = self.steps[x].own
            for j, share in self.steps[x].shares.items():
                total = add(total, mul(share, self.value(j)))
            return mul(-1, total)
        if x in method.dependent:
            return self._evaluate(method.dependent[x])
        if x[0] == "v" and method.given(x[1]):
            return method.s.a[x[1]]
        if x[0] == "s":
            return self._slot(x[1], x[2])
        raise Unsupported(f"loops that leave no freedom for the acceleration of {method.name_of(x)}")

    def _slot(self, j: int, k: int) -> Scalar:
        """Acceleration component k of a frame whose slots were replaced by others."""
        method, frame = self.method, self.method.m.frames[j]
        for closure in method.outer:
            near, far = method.far_side(closure)
            if far.frame == j and k in method._shared(closure, far):
                at = method._at_anchor(near, [Affine(x) for x in self.slots(near.frame)])
                return self._evaluate(combined(method.relative(j, near.frame)[k % 3], at[:3] if k < 3 else at[3:]))
        if j in method.ports and method.planar and method._leaf(j):
            node = self.node(j)
            return dot(method.kin.motions[j].marker.R[:, k % 3], vector(*(node[:3] if k < 3 else node[3:])))
        parent = None if frame.parent < 0 else [Affine(x) for x in self.slots(frame.parent)]
        return self._evaluate(method.frame_forms(j, parent)[k])

    def _evaluate(self, form: Affine) -> Scalar:
        total = form.constant
        for x, c in form.terms.items():
            total = add(total, mul(c, self.value(x)))
        return total

    def slots(self, j: int) -> list[Scalar]:
        return [self.value(self.method.slot(j, k)) if k in self.method.alive[j] else 0 for k in range(6)]

    def node(self, j: int) -> list[Scalar]:
        """Absolute acceleration of the node frame j sits on, in the axes of the body that has the node."""
        method = self.method
        if method.planar and method._leaf(j):
            keep = method.ports[j].components
            return [self.value(("p", j, k)) if k in keep else 0 for k in range(6)]
        now, slots = method.kin.motions[j], self.slots(j)
        arm, w = scale(-1, method.c[j]), method.kin.motions[j].omega
        a = plus(vector(*slots[:3]), cross(vector(*slots[3:]), arm), cross(w, cross(w, arm)))
        return [*matvec(now.marker.R, a), *matvec(now.marker.R, vector(*slots[3:]))]

    def elastic(self, j: int) -> dict[int, Scalar]:
        """Accelerations of the elastic coordinates of frame j's body, by index in v."""
        method, frame = self.method, self.method.m.frames[j]
        found: dict[int, Scalar] = {}
        own = self.slots(j) if frame.body.flexible else []
        for key, port in method.ports.items():
            if method.m.frames[key].parent != j:
                continue
            marker = replace(port.marker, position=minus(port.marker.position, method.c[j]))
            r, swing = node_motion(marker, method.motion(j))
            node = self.node(key)
            linear = minus(
                minus(vector(*node[:3]), plus(vector(*own[:3]), cross(vector(*own[3:]), vector(*r)))), vector(*swing)
            )
            turning = minus(vector(*node[3:]), vector(*own[3:]))
            if not method.planar:
                turning = self._relative_turn(j, key, turning)
            both = [*linear, *turning]
            rel = vector(*(both[k] for k in port.components))
            for row, column in enumerate(port.columns):
                found[frame.ev.start + column] = dot(port.inverse[row], rel)
        for k in range(frame.ev.start, frame.ev.stop):
            if k not in found:
                found[k] = self.value(("e", k))
        for key, port in method.ports.items():
            if method.m.frames[key].parent == j and port.marker.shortening:
                self._stretch(j, port, found)
        return found

    def _stretch(self, j: int, port: Port, found: dict[int, Scalar]) -> None:
        """Adds to the stretch of a beam's node what bending takes off it: axis (g.qdd + qd.G qd)."""
        frame, now = self.method.m.frames[j], self.method.motion(j)
        for s in port.marker.shortening:
            g = matvec(s.G, now.q)
            back = dot(now.qd, matvec(s.G, now.qd))
            for k, x in enumerate(g):
                if not is_zero(x):
                    back = add(back, mul(x, found[frame.ev.start + k]))
            along = [0 if k >= 3 else s.axis[k] for k in port.components]
            for row, column in enumerate(port.columns):
                share = dot(port.inverse[row], vector(*along))
                found[frame.ev.start + column] = add(found[frame.ev.start + column], mul(share, back))

    def _relative_turn(self, i: int, j: int, difference: Array) -> Array:
        """Phi_r qdd from alpha_node - alpha_body."""
        method = self.method
        now = method.kin.motions[j]
        rest = plus(cross(method.kin.motions[i].omega, now.marker.omega_e), now.marker.bias)
        return matvec(method.spincofactor_inverse(i, j), minus(difference, rest))

    def joint(self, j: int) -> Scalar:
        """Acceleration of a revolute or prismatic joint's coordinate."""
        method, frame = self.method, self.method.m.frames[j]
        k = frame.v.start
        if ("w", k) in self.steps or ("w", k) in method.dependent:
            relative = self.value(("w", k))
            if frame.parent >= 0:
                axis = matvec(frame.marker.rotation, frame.axis)
                relative = sub(relative, dot(axis, vector(*self.slots(frame.parent)[3:])))
            return relative
        return self.value(("v", k))

    def ball(self, j: int) -> Array:
        """Accelerations of a spherical joint's rates."""
        frame, now = self.method.m.frames[j], self.method.kin.motions[j]
        own = minus(vector(*self.slots(j)[3:]), cross(now.omega, self.method.s.v[frame.v]))
        return own if frame.parent < 0 else minus(own, matvec(now.R.T, vector(*self.slots(frame.parent)[3:])))

    def tau(self, k: int) -> Scalar:
        """Force of an actuator whose acceleration is given."""
        if ("t", k) in self.steps:
            return self.value(("t", k))
        for group in self.method.groups.values():
            if ("v", k) in group.rows:
                row, linear = group.rows["v", k]
                total = linear
                for x, m in row.items():
                    total = add(total, mul(m, self.value(x)))
                return total
        raise Unsupported("an actuator outside the legs")
