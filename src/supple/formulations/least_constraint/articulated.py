"""Inverse and forward models in few operations: the mass matrix is never formed.

Gauss' principle: the accelerations minimise Z = sum over bodies of 1/2 u.M u + c.u. Bodies on fixed joints are merged;
a beam's end node is described by its absolute acceleration, so that a chain couples neighbours only; a loop is closed by
giving both sides of its joint the same variables. Each leg is minimised on its own down to what it shares with the
platform (or the first leg), so the cost grows linearly with legs and with elements.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.expr.function import Array, Function, function
from supple.expr.node import Scalar, add, mul
from supple.formulations.least_constraint.affine import Affine, cofactor_inverse, combined, solve_rows
from supple.formulations.least_constraint.closing import Closing
from supple.formulations.least_constraint.quadratic import Id, Massless, Quadratic, Solved
from supple.formulations.least_constraint.solution import Solution
from supple.formulations.record import Unsupported
from supple.robot.mechanism import Closure, Mechanism


@dataclass
class Group:
    """What hangs on one base joint: its variables, those it shares, and how it was solved."""

    frames: list[int]
    Z: Quadratic = field(default_factory=Quadratic)
    solved: list[Solved] = field(default_factory=list)
    rows: dict[Id, tuple[dict[Id, Scalar], Scalar]] = field(default_factory=dict)  # of given accelerations, for tau


class Stuck(Exception):
    """A rigid leg whose joints cannot follow its closure while the accelerations of these actuators are given."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(names)
        self.names = names


class Articulated(Closing):
    """Builds the inverse, forward or a mixed model of a mechanism, leg by leg."""

    def __init__(
        self,
        mechanism: Mechanism,
        forward: bool,
        prescribed: Collection[str] | None = None,
        held: Collection[str] = (),
        loads: bool = False,
        damped: bool = False,
    ) -> None:
        super().__init__(mechanism, forward, prescribed, held, loads, damped)
        self.groups = self._groups()
        self.inner = [c for c in self.m.closures if self._inside(c)]
        self.outer = [c for c in self.m.closures if not self._inside(c)]
        for closure in self.inner:
            ends = (closure.first.frame, closure.second.frame)
            if min(ends) < 0 and max(ends) in self.side:
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
                elif anchor.frame in self.side:
                    continue
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
                raise Unsupported(f"the place of {frame.link!r} on a flexible body ({place})")
        for closure in self.inner:
            if max(closure.first.frame, closure.second.frame) in group.frames:
                self._close_inside(group, closure)
        keep |= self.close_rigid(group, shared)
        if not any(self._is_given(x) for x in keep):
            self._apply_given(group)
        group.solved += group.Z.minimise_all([x for x in group.Z.ids() if x not in keep and not _is_force(x)])

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
        every: set[Any] = {x for row in rows for x in row.terms}
        found = sorted(
            {x for x in every if not self._is_given(x)}, key=lambda x: (rank[self.m.coordinates[x[1]].kind], x[1])
        )
        if len(every) < len(rows) or len(rows) > 3:
            raise Unsupported("a rigid leg that cannot follow its closure freely")
        if len(found) < len(rows):
            raise Stuck({self.m.coordinates[x[1]].name for x in every if self._is_given(x)})
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
        own = [Affine(0, {self.slot(r, k): 1}) if k in self.alive[r] else Affine() for k in range(6)]
        at = self._at_anchor(near, own if r == self.root else self.chain_forms(r))
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
        return repr(self.m.coordinates[x[1]].name if x[0] in "vwe" else self.m.frames[x[1]].link)

    def drives(self) -> list[int]:
        """Indices in v of the actuated coordinates."""
        return [k for k, c in enumerate(self.m.coordinates) if c.kind == "active"]

    # Solution -------------------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """All accelerations by minimising legs, then what they share."""
        stuck: set[str] = set()
        for group in self.groups.values():
            try:
                if group.frames[0] in self.side:
                    self.hang(group)
                else:
                    self.reduce(group)
            except Stuck as leg:
                stuck |= leg.names
        if stuck:
            raise Stuck(stuck)
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
        motions = [x for x in total.ids() if not _is_force(x)]
        return Solution(self, total.minimise_all(motions) + total.minimise_all(total.ids()))

    def hang(self, group: Group) -> None:
        """What hangs on the platform, in the platform's slots and its own variables."""
        for j in group.frames:
            group.Z.include(self.body(j))
        for closure in self.m.closures:
            self._closing_friction(closure, group.frames, group.Z)
        for j in reversed(group.frames):
            self.fold(group.Z, j)
        for closure in self.inner:
            if max(closure.first.frame, closure.second.frame) in group.frames:
                self._close_inside(group, closure)


def _is_force(x: Any) -> bool:
    return bool(x[0] == "t")


def inverse_model(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """tau and the elastic accelerations from the state and the accelerations of the actuators.

    With `loads` there is an input w: force and moment (base axes) at every named point; with `damped` an input x: forces of
    damping on the elastic coordinates, beside those of the bodies."""
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    method, solution = _solved(mechanism, active, loads, damped)
    outputs = {"tau": _forces(method, solution, active), "a_elastic": _elastic(method, solution)}
    inputs = {"a_active": _inputs(method, active)}
    return _model("inverse", method, solution, inputs, outputs)


def forward_model(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """Accelerations of the actuators and elastic coordinates from the state and tau; `loads` as in inverse_model."""
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    method, solution = _solved(mechanism, [], loads, damped)
    outputs = {"a_active": _joints(method, solution, active), "a_elastic": _elastic(method, solution)}
    return _model("forward", method, solution, {"tau": _inputs(method, active)}, outputs)


def hybrid_model(
    mechanism: Mechanism, prescribed: Collection[str], *, loads: bool = False, damped: bool = False
) -> Function:
    """tau of the prescribed actuators and the accelerations of all others, elastic ones included, from the state, the
    prescribed accelerations and the forces of the other actuators; `loads` as in inverse_model."""
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    driven, free = [n for n in active if n in prescribed], [n for n in active if n not in prescribed]
    if len(driven) != len(set(prescribed)):
        unknown = sorted(set(prescribed) - set(active))
        raise Unsupported(f"the prescribed {unknown[0]!r}, which is no actuator; there are: {', '.join(active)}")
    method, solution = _solved(mechanism, driven, loads, damped)
    outputs = {"tau": _forces(method, solution, driven), "a_active": _joints(method, solution, free)}
    outputs["a_elastic"] = _elastic(method, solution)
    inputs = {"a_prescribed": _inputs(method, driven), "tau_free": _inputs(method, free)}
    return _model("hybrid", method, solution, inputs, outputs)


def _solved(mechanism: Mechanism, prescribed: list[str], loads: bool, damped: bool) -> tuple[Articulated, Solution]:
    """The method and its solution; actuators that leave a rigid leg no freedom are held by forces instead."""
    forward = not prescribed
    rigid = not any(c.kind == "elastic" for c in mechanism.coordinates)
    held: set[str] = set()
    method = Articulated(mechanism, forward, prescribed, held, loads, damped)
    try:
        solution = method.follow() if rigid and prescribed else None
        while solution is None:
            method = Articulated(mechanism, forward, prescribed, held, loads, damped)
            try:
                solution = method.solve()
            except Stuck as leg:
                held |= leg.names
    except Massless as found:
        raise Unsupported(f"a motion that no mass resists: {method.name_of(found.x)}") from found
    return method, solution


def _inputs(method: Articulated, names: list[str]) -> Array:
    return method.inputs.a[[method.original.names().index(n) for n in names]]


def _forces(method: Articulated, solution: Solution, names: list[str]) -> list[Scalar]:
    return [solution.tau(method.m.names().index(n)) for n in names]


def _joints(method: Articulated, solution: Solution, names: list[str]) -> list[Scalar]:
    """Accelerations of revolute and prismatic joints."""
    frame_of = {f.v.start: j for j, f in enumerate(method.m.frames) if f.motion in ("revolute", "prismatic")}
    return [solution.joint(frame_of[method.m.names().index(n)]) for n in names]


def _elastic(method: Articulated, solution: Solution) -> list[Scalar]:
    found: dict[int, Scalar] = {}
    for j in range(len(method.m.frames)):
        found |= solution.elastic(j)
    names = method.m.names()
    return [found[names.index(c.name)] for c in method.original.coordinates if c.kind == "elastic"]


def _passive(method: Articulated, solution: Solution) -> list[Scalar]:
    """Accelerations of the joints that nothing drives, of a robot without loops or without actuators."""
    names = method.m.names()
    wanted = [c.name for c in method.original.coordinates if c.kind == "passive" and c.name in names]
    balls = {j for j, f in enumerate(method.m.frames) if f.motion == "spherical"}
    turns = {names[method.m.frames[j].v.start + n]: x for j in balls for n, x in enumerate(solution.ball(j))}
    return [turns[n] if n in turns else _joints(method, solution, [n])[0] for n in wanted]


def _model(
    name: str, method: Articulated, solution: Solution, drives: dict[str, Array], outputs: dict[str, list[Scalar]]
) -> Function:
    if not method.original.closures or not any(c.kind == "active" for c in method.original.coordinates):
        passive = _passive(method, solution)
        outputs |= {"a_passive": passive} if passive else {}
    inputs = {"q": method.inputs.q, "v": method.inputs.v, **drives, "g": method.inputs.g}
    if method.w is not None:
        inputs["w"] = method.w
    if method.x is not None:
        inputs["x"] = method.x
    return function(name, inputs, outputs)
