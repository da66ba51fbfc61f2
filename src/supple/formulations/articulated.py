"""Inverse and forward models in few operations: the mass matrix is never formed.

Gauss' principle: the accelerations minimise Z = sum over bodies of 1/2 u.M u + c.u. Bodies on fixed joints are merged;
a beam's end node is described by its absolute acceleration, so that a chain couples neighbours only; a loop is closed by
giving both sides of its joint the same variables. Each leg is minimised on its own down to what it shares with the
platform (or the first leg), so the cost grows linearly with legs and with elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.expr.function import Array, Function, function
from supple.expr.node import Scalar, add, mul, sub
from supple.expr.vector import cross, dot, matvec, minus, plus, scale, vector
from supple.formulations.affine import Affine, Unsupported, cofactor_inverse, combined, solve_rows
from supple.formulations.bodies import node_motion
from supple.formulations.folding import Folding
from supple.formulations.quadratic import Id, Massless, Quadratic, Solved
from supple.robot.mechanism import Closure, Mechanism


@dataclass
class Group:
    """What hangs on one base joint: its variables, those it shares, and how it was solved."""

    frames: list[int]
    Z: Quadratic = field(default_factory=Quadratic)
    solved: list[Solved] = field(default_factory=list)
    rows: dict[Id, tuple[dict[Id, Scalar], Scalar]] = field(default_factory=dict)  # of given accelerations, for tau


class Articulated(Folding):
    """Builds the inverse or forward model of a mechanism, leg by leg."""

    def __init__(self, mechanism: Mechanism, forward: bool) -> None:
        super().__init__(mechanism, forward)
        self.groups = self._groups()
        if self.m.platform is not None and self.m.frames[self.m.platform].body.flexible:
            raise Unsupported("a platform that bends")
        self.inner = [c for c in self.m.closures if self._inside(c)]
        self.outer = [c for c in self.m.closures if not self._inside(c)]
        for closure in self.inner:
            if max(closure.first.frame, closure.second.frame) in self.m.platform_chain():
                raise Unsupported(f"the closure {closure.name!r}, which ties the platform to the base")

    def _inside(self, closure: Closure) -> bool:
        """Whether a loop closes within one leg."""
        ends = (closure.first.frame, closure.second.frame)
        if min(ends) < 0:
            return True
        return self.root not in ends and self._top(ends[0]) == self._top(ends[1])

    def _top(self, j: int) -> int:
        while self.m.frames[j].parent >= 0:
            j = self.m.frames[j].parent
        return j

    def _groups(self) -> dict[int, Group]:
        found: dict[int, Group] = {}
        platform = self.m.platform_chain()
        for j in range(len(self.m.frames)):
            if j not in platform:
                found.setdefault(self._top(j), Group([])).frames.append(j)
        return found

    # Groups ---------------------------------------------------------------------------------------------------------

    def interface(self) -> dict[int, tuple[int, ...]]:
        """Frames that share slots with another group, and which."""
        shared: dict[int, tuple[int, ...]] = {}
        for closure in self.outer:
            for anchor in (closure.first, closure.second):
                if anchor.frame == self.root:
                    shared[anchor.frame] = self.alive[anchor.frame]
                elif anchor.frame >= 0:
                    shared[anchor.frame] = tuple(k for k in self._shared(closure, anchor) if k in self.alive[anchor.frame])
        return shared

    def reduce(self, group: Group) -> None:
        """A group's Z down to the slots it shares."""
        shared = self.interface()
        keep: set[Id] = {self.slot(j, k) for j, ks in shared.items() for k in ks}
        path = self._path_frames(shared)
        for j in group.frames:
            if self.planar and self._leaf(j) and j in self.ports:
                group.Z.include(self.leaf_in_node(j))
            else:
                group.Z.include(self.body(j))
        for closure in self.m.closures:
            self._closing_friction(closure, group.frames, group.Z)
        for j in reversed(group.frames):
            frame = self.m.frames[j]
            if j in self.ports:
                if j not in path:
                    own = [self.slot(j, k) for k in range(6)] + [("p", j, k) for k in range(6)]
                    group.solved += group.Z.minimise_all(own)
            elif self._movable(frame):
                elastic = [("e", k) for k in range(frame.ev.start, frame.ev.stop)]
                if j not in path:
                    group.solved += group.Z.minimise_all(elastic)
                self.fold(group.Z, j)
                k = frame.v.start
                if j not in path and frame.motion in ("revolute", "prismatic") and not self.given(k):
                    group.solved += group.Z.minimise_all([("w", k), ("v", k)])
            else:
                place = "between two nodes, on a node another joint has, or where a kept parameter puts it"
                raise Unsupported(f"the place of {frame.name.rstrip('^')!r} on a flexible body ({place})")
        for closure in self.inner:
            if max(closure.first.frame, closure.second.frame) in group.frames:
                self._close_inside(group, closure)
        keep |= self.close_rigid(group, shared)
        if not any(self._is_given(x) for x in keep):
            self._apply_given(group)
        group.solved += group.Z.minimise_all([x for x in group.Z.ids() if x not in keep])

    def _close_inside(self, group: Group, closure: Closure) -> None:
        """A loop within a leg: as many of its variables as the joint has equations follow from the others."""
        solved = solve_rows(self._loop_rows(closure), self._follows, self.sample())
        group.Z.substitute({x: form.form() for x, form in solved.items() if x in group.Z.rows})
        self.dependent |= solved

    def _follows(self, x: Any) -> bool:
        """Variables that a loop may determine."""
        return x[0] in ("e", "w", "s") or (x[0] == "v" and not self.given(x[1]))

    def close_rigid(self, group: Group, shared: dict[int, tuple[int, ...]]) -> set[Id]:
        """Variables of a rigid leg replaced by what it shares; returns what else must stay (the root's variables)."""
        stay: set[Id] = set()
        for j in group.frames:
            if j not in shared or j in self.ports:
                continue
            forms = self.chain_forms(j)
            if j == self.root:
                stay |= {x for k in shared[j] for x in forms[k].terms}
                continue
            rows = [forms[k] for k in shared[j]]
            chosen = self._dependent(rows, group.Z)
            J = np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object)
            inverse = cofactor_inverse(J)
            rest = [
                Affine(mul(-1, row.constant), {x: mul(-1, c) for x, c in row.terms.items() if x not in chosen})
                + Affine(0, {self.slot(j, k): 1})
                for k, row in zip(shared[j], rows, strict=True)
            ]
            solved = {x: combined(inverse[n], rest) for n, x in enumerate(chosen)}
            group.Z.substitute({x: form.form() for x, form in solved.items() if x in group.Z.rows})
            self.dependent |= solved
        return stay

    def _dependent(self, rows: list[Affine], Z: Quadratic) -> list[Id]:
        """The variables that follow from what a rigid leg shares: passive joints, then elastic ones, then actuators."""
        rank = {"passive": 0, "elastic": 1, "active": 2, "platform": 3}
        found = sorted(
            {x for row in rows for x in row.terms if not self._is_given(x)},
            key=lambda x: (rank[self.m.coordinates[x[1]].kind], x[1]),  # type: ignore[index]
        )
        if len(found) < len(rows) or len(rows) > 3:
            raise Unsupported("a rigid leg that cannot follow its closure freely")
        return found[: len(rows)]

    def _path_frames(self, shared: dict[int, tuple[int, ...]]) -> set[int]:
        path: set[int] = set()
        ends = [a.frame for c in self.inner for a in (c.first, c.second)]
        for j in [*shared, *ends]:
            while j >= 0:
                path.add(j)
                j = self.m.frames[j].parent
        return path

    def _apply_given(self, group: Group) -> None:
        """Known accelerations: into the linear terms of the others; their own rows are kept for tau."""
        given = [x for x in group.Z.ids() if self._is_given(x)]
        for x in given:
            group.rows[x] = (dict(group.Z.rows[x]), group.Z.linear[x])
            value = self.s.a[x[1]]  # type: ignore[index]
            for y, m in group.Z.rows[x].items():
                if y not in given:
                    group.Z.linear[y] = add(group.Z.linear[y], mul(m, value))
        group.Z.drop(given)

    def meet(self, Z: Quadratic, closure: Closure) -> None:
        """The shared slots of a leg -> slots of the root."""
        near, far = self.far_side(closure)
        r, j = near.frame, far.frame
        R = self.relative(j, r)
        shared = [k for k in self._shared(closure, far) if k in self.alive[j]]
        for part in (0, 3):
            if any(k in shared for k in range(part, part + 3)):
                Z.rotate([self.slot(j, part + k) for k in range(3)], [("c", closure.name, part + k) for k in range(3)], R)
        at = self._at_anchor(near, [Affine(0, {self.slot(r, k): 1}) if k in self.alive[r] else Affine() for k in range(6)])
        Z.substitute({("c", closure.name, k): at[k].form() for k in range(6) if ("c", closure.name, k) in Z.rows})

    def follow(self) -> Solution | None:
        """The inverse model of a rigid robot: all accelerations follow from the given ones, no equation of motion needed.

        None for a robot with joints that nothing drives."""
        total = Quadratic()
        if self.m.platform is not None:
            total.include(self.body(self.m.platform))
            for closure in self.m.closures:
                self._closing_friction(closure, [self.m.platform], total)
        for group in self.groups.values():
            for j in group.frames:
                group.Z.include(self.body(j))
            for closure in self.m.closures:
                self._closing_friction(closure, group.frames, group.Z)
            for j in reversed(group.frames):
                self.fold(group.Z, j)
            total.include(group.Z)
        rows = [row for closure in self.m.closures for row in self._loop_rows(closure)]
        self.dependent = solve_rows(rows, lambda x: not self._is_given(x), self.sample())
        total.substitute({x: form.form() for x, form in self.dependent.items() if x in total.rows})
        if any(not self._is_given(x) for x in total.ids()):
            return None
        whole = Group([], total)
        self._apply_given(whole)
        self.groups[-1] = whole
        return Solution(self, [])

    def name_of(self, x: Any) -> str:
        """A variable in the words of the robot file."""
        return repr(self.m.coordinates[x[1]].name if x[0] in "vwe" else self.m.frames[x[1]].name.rstrip("^"))

    def drives(self) -> list[int]:
        """Indices in v of the actuated coordinates."""
        return [k for k, c in enumerate(self.m.coordinates) if c.kind == "active"]

    # Solution -------------------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """All accelerations by minimising legs, then what they share."""
        for group in self.groups.values():
            self.reduce(group)
        total = Quadratic()
        if self.m.platform is not None:
            total.include(self.body(self.m.platform))
            for closure in self.m.closures:
                self._closing_friction(closure, [self.m.platform], total)
        for group in self.groups.values():
            for closure in self.outer:
                _, far = self.far_side(closure)
                if far.frame in group.frames:
                    self.meet(group.Z, closure)
            total.include(group.Z)
        if self.root is not None and self.root not in self.ports and self.root != self.m.platform:
            forms = self.chain_forms(self.root)
            total.substitute(
                {self.slot(self.root, k): forms[k].form() for k in range(6) if self.slot(self.root, k) in total.rows}
            )
            whole = Group([], total)
            self._apply_given(whole)
            self.groups[-1] = whole
        return Solution(self, total.minimise_all(total.ids()))


class Solution:
    """Values of accelerations, found when they are asked for."""

    def __init__(self, method: Articulated, solved: list[Solved]) -> None:
        self.method = method
        self.steps = {step.x: step for step in solved}
        for group in method.groups.values():
            self.steps |= {step.x: step for step in group.solved}
        self.values: dict[Id, Scalar] = {}

    def value(self, x: Id) -> Scalar:
        if x not in self.values:
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
                return combined(method.relative(j, near.frame)[k % 3], at[:3] if k < 3 else at[3:]).constant
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
        return found

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
        for group in self.method.groups.values():
            if ("v", k) in group.rows:
                row, linear = group.rows["v", k]
                total = linear
                for x, m in row.items():
                    total = add(total, mul(m, self.value(x)))
                return total
        raise Unsupported("an actuator outside the legs")


def inverse_model(mechanism: Mechanism) -> Function:
    """tau and the elastic accelerations from the state and the accelerations of the actuators."""
    return _model(mechanism, forward=False)


def forward_model(mechanism: Mechanism) -> Function:
    """Accelerations of the actuators and elastic coordinates from the state and tau."""
    return _model(mechanism, forward=True)


def _model(mechanism: Mechanism, forward: bool) -> Function:
    method = Articulated(mechanism, forward)
    rigid = not any(c.kind == "elastic" for c in mechanism.coordinates)
    driven = any(c.kind == "active" for c in mechanism.coordinates)
    try:
        solution = method.follow() if rigid and driven and not forward else None
        if solution is None:
            method = Articulated(mechanism, forward)
            solution = method.solve()
    except Massless as found:
        raise Unsupported(f"a motion that no mass resists: {method.name_of(found.x)}") from found
    names = {c.name: k for k, c in enumerate(method.m.coordinates)}
    elastic: dict[int, Scalar] = {}
    for j in range(len(method.m.frames)):
        elastic |= solution.elastic(j)
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    flexible = [c.name for c in mechanism.coordinates if c.kind == "elastic"]
    drives = method.inputs.a[[mechanism.names().index(n) for n in active]]
    outputs = {}
    frame_of = {f.v.start: j for j, f in enumerate(method.m.frames) if f.motion in ("revolute", "prismatic")}
    if forward:
        outputs["a_active"] = [solution.joint(frame_of[names[n]]) for n in active]
    else:
        outputs["tau"] = [solution.tau(names[n]) for n in active]
    outputs["a_elastic"] = [elastic[names[n]] for n in flexible]
    if not active:
        passive = [c.name for c in mechanism.coordinates if c.kind == "passive" and c.name in names]
        balls = {j for j, f in enumerate(method.m.frames) if f.motion == "spherical"}
        turns = {method.m.frames[j].v.start + n: x for j in balls for n, x in enumerate(solution.ball(j))}
        if passive:
            moves = [names[n] for n in passive]
            outputs["a_passive"] = [turns[k] if k in turns else solution.joint(frame_of[k]) for k in moves]
    inputs = {
        "q": method.inputs.q,
        "v": method.inputs.v,
        "tau" if forward else "a_active": drives,
        "g": method.inputs.g,
    }
    return function("forward" if forward else "inverse", inputs, outputs)
