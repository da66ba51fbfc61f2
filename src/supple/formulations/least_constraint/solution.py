"""Accelerations and forces of an articulated solution, found when they are asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from supple.expr.function import Array
from supple.expr.node import Scalar, add, mul, sub
from supple.expr.vector import cross, dot, is_zero, matvec, minus, plus, scale, vector
from supple.formulations.least_constraint.affine import Affine, combined
from supple.formulations.least_constraint.bodies import Port, node_motion
from supple.formulations.least_constraint.closing import at_anchor, far_side, relative, tied
from supple.formulations.least_constraint.folding import frame_forms
from supple.formulations.least_constraint.legs import Legs
from supple.formulations.least_constraint.nodes import body_motion, is_leaf, spin_inverse
from supple.formulations.least_constraint.quadratic import Row, Solved
from supple.formulations.least_constraint.tree import Tree
from supple.formulations.least_constraint.unknowns import Coordinate, Elastic, Holding, Joint, Met, Node, Slot, Spin, Unknown
from supple.formulations.record import Unsupported


class Solution:
    """Values of accelerations, found when they are asked for."""

    def __init__(self, legs: Legs, solved: list[Solved]) -> None:
        self.legs, self.tree = legs, legs.tree
        self.steps = {step.x: step for step in solved}
        for group in legs.groups.values():
            self.steps |= {step.x: step for step in group.solved}
        self.values: dict[Unknown, Scalar] = {}
        self.sought: set[Unknown] = set()  # asked for and not yet found

    def value(self, x: Unknown) -> Scalar:
        if x not in self.values:
            if x in self.sought:  # loops within loops: each leg would have to be solved before the other
                raise Unsupported(f"loops that wait for each other at {name_of(self.tree, x)}")
            self.sought.add(x)
            self.values[x] = self._value(x)
        return self.values[x]

    def _value(self, x: Unknown) -> Scalar:
        tree = self.tree
        if x in self.steps:
            total = self.steps[x].own
            for j, share in self.steps[x].shares.items():
                total = add(total, mul(share, self.value(j)))
            return mul(-1, total)
        if x in self.legs.dependent:
            return self._evaluate(self.legs.dependent[x])
        if isinstance(x, Joint) and tree.given(x.velocity):
            acceleration: Scalar = tree.s.a[x.velocity]
            return acceleration
        if isinstance(x, Slot):
            return self._slot(x.frame, x.component)
        raise Unsupported(f"loops that leave no freedom for the acceleration of {name_of(self.tree, x)}")

    def _slot(self, j: int, k: int) -> Scalar:
        """Acceleration component k of a frame whose slots were replaced by others."""
        tree, frame = self.tree, self.tree.m.frames[j]
        for closure in self.legs.outer:
            near, far = far_side(tree, closure)
            if far.frame == j and k in tied(tree, closure):
                at = at_anchor(tree, near, [Affine(x) for x in self.slots(near.frame)])
                return self._evaluate(combined(relative(tree, j, near.frame)[k % 3], at[:3] if k < 3 else at[3:]))
        if j in tree.ports and tree.planar and is_leaf(tree, j):
            node = self.node(j)
            return dot(tree.kin.motions[j].marker.R[:, k % 3], vector(*(node[:3] if k < 3 else node[3:])))
        parent = None if frame.parent < 0 else [Affine(x) for x in self.slots(frame.parent)]
        return self._evaluate(frame_forms(tree, j, parent)[k])

    def _evaluate(self, form: Affine) -> Scalar:
        total = form.constant
        for x, c in form.terms.items():
            total = add(total, mul(c, self.value(x)))
        return total

    def slots(self, j: int) -> list[Scalar]:
        return [self.value(Slot(j, k)) if k in self.tree.alive[j] else 0 for k in range(6)]

    def node(self, j: int) -> list[Scalar]:
        """Absolute acceleration of the node frame j sits on, in the axes of the body that has the node."""
        tree = self.tree
        if tree.planar and is_leaf(tree, j):
            keep = tree.ports[j].components
            return [self.value(Node(j, k)) if k in keep else 0 for k in range(6)]
        now, slots = tree.kin.motions[j], self.slots(j)
        arm, w = scale(-1, tree.c[j]), tree.kin.motions[j].omega
        a = plus(vector(*slots[:3]), cross(vector(*slots[3:]), arm), cross(w, cross(w, arm)))
        return [*matvec(now.marker.R, a), *matvec(now.marker.R, vector(*slots[3:]))]

    def elastic(self, j: int) -> dict[int, Scalar]:
        """Accelerations of the elastic coordinates of frame j's body, by index in v."""
        tree, frame = self.tree, self.tree.m.frames[j]
        found: dict[int, Scalar] = {}
        own = self.slots(j) if frame.body.flexible else []
        for key, port in tree.ports.items():
            if tree.m.frames[key].parent != j:
                continue
            marker = replace(port.marker, position=minus(port.marker.position, tree.c[j]))
            r, swing = node_motion(marker, body_motion(tree, j))
            node = self.node(key)
            linear = minus(
                minus(vector(*node[:3]), plus(vector(*own[:3]), cross(vector(*own[3:]), vector(*r)))), vector(*swing)
            )
            turning = minus(vector(*node[3:]), vector(*own[3:]))
            if not tree.planar:
                turning = self._relative_turn(j, key, turning)
            both = [*linear, *turning]
            rel = vector(*(both[k] for k in port.components))
            for row, column in enumerate(port.columns):
                found[frame.ev.start + column] = dot(port.inverse[row], rel)
        for k in range(frame.ev.start, frame.ev.stop):
            if k not in found:
                found[k] = self.value(Elastic(k))
        for key, port in tree.ports.items():
            if tree.m.frames[key].parent == j and port.marker.shortening:
                self._stretch(j, port, found)
        return found

    def _stretch(self, j: int, port: Port, found: dict[int, Scalar]) -> None:
        """Adds to the stretch of a beam's node what bending takes off it: axis (g.qdd + qd.G qd)."""
        frame, now = self.tree.m.frames[j], body_motion(self.tree, j)
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
        tree = self.tree
        now = tree.kin.motions[j]
        rest = plus(cross(tree.kin.motions[i].omega, now.marker.omega_e), now.marker.bias)
        return matvec(spin_inverse(tree, i, j), minus(difference, rest))

    def joint(self, j: int) -> Scalar:
        """Acceleration of a revolute or prismatic joint's coordinate."""
        frame = self.tree.m.frames[j]
        k = frame.v.start
        if Spin(k) in self.steps or Spin(k) in self.legs.dependent:
            relative = self.value(Spin(k))
            if frame.parent >= 0:
                axis = matvec(frame.marker.rotation, frame.axis)
                relative = sub(relative, dot(axis, vector(*self.slots(frame.parent)[3:])))
            return relative
        return self.value(Joint(k))

    def ball(self, j: int) -> Array:
        """Accelerations of a spherical joint's rates."""
        frame, now = self.tree.m.frames[j], self.tree.kin.motions[j]
        own = minus(vector(*self.slots(j)[3:]), cross(now.omega, self.tree.s.v[frame.v]))
        return own if frame.parent < 0 else minus(own, matvec(now.R.T, vector(*self.slots(frame.parent)[3:])))

    def tau(self, k: int) -> Scalar:
        """Force of an actuator whose acceleration is given."""
        if Holding(k) in self.steps:
            return self.value(Holding(k))
        felt = []
        for group in self.legs.groups.values():
            for x, row in group.rows.items():
                share = 1 if x == Joint(k) else group.shares.get(x, {}).get(Joint(k), 0)
                felt += [] if is_zero(share) else [mul(share, self._felt(*row))]
        if not felt:
            raise Unsupported("an actuator outside the legs")
        return reduce(add, felt)

    def _felt(self, row: Row, linear: Scalar) -> Scalar:
        """The force along a known acceleration."""
        for x, m in row.items():
            linear = add(linear, mul(m, self.value(x)))
        return linear


def name_of(tree: Tree, x: Unknown) -> str:
    """An unknown in the words of the robot file."""
    if isinstance(x, Met):
        return repr(x.closure)
    return repr(tree.m.coordinates[x.velocity].name if isinstance(x, Coordinate) else tree.m.frames[x.frame].link)
