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
from supple.expr.node import Expr, Scalar, add, div, mul, sign, sqrt, sub
from supple.expr.vector import (
    axis_rotation,
    cross,
    cross_matrix,
    dot,
    identity,
    is_zero,
    matmul,
    matvec,
    minus,
    plus,
    scale,
    vector,
    zeros,
)  # fmt: skip
from supple.formulations.bodies import Motion, Port, body_quadratic, node_motion, port_of
from supple.formulations.kinematics import Kinematics, State, state
from supple.formulations.quadratic import Id, Quadratic, Solved
from supple.robot.bodies.record import Body, Marker, fixed_marker, moved
from supple.robot.mechanism import Anchor, Closure, Coordinate, Frame, Mechanism
from supple.robot.simplify import regrouped, simplify


class Unsupported(Exception):
    """A mechanism this method does not take; the message says why."""


class Affine:
    """constant + sum of coefficient * variable."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: Scalar = 0, terms: dict[Id, Scalar] | None = None) -> None:
        self.constant, self.terms = constant, terms or {}

    def __add__(self, other: Any) -> Affine:
        if not isinstance(other, Affine):
            return Affine(add(self.constant, other), self.terms)
        made = dict(self.terms)
        for x, c in other.terms.items():
            total = add(made.get(x, 0), c)
            if is_zero(total):
                made.pop(x, None)
            else:
                made[x] = total
        return Affine(add(self.constant, other.constant), made)

    __radd__ = __add__

    def __mul__(self, k: Scalar) -> Affine:
        if is_zero(k):
            return Affine()
        return Affine(mul(k, self.constant), {x: mul(k, c) for x, c in self.terms.items()})

    __rmul__ = __mul__

    def form(self) -> tuple[dict[Id, Scalar], Scalar]:
        return self.terms, self.constant


def _affine_dot(a: Any, b: Any) -> Affine:
    total = Affine()
    for x, y in zip(a, b, strict=True):
        if not is_zero(x):
            total = total + y * x
    return total


def _turned(R: Array, a: list[Affine]) -> list[Affine]:
    """R a."""
    return [_affine_dot(row, a) for row in R]


def _across(alpha: list[Affine], r: Array) -> list[Affine]:
    """alpha x r."""
    return [
        alpha[1] * r[2] + alpha[2] * mul(-1, r[1]),
        alpha[2] * r[0] + alpha[0] * mul(-1, r[2]),
        alpha[0] * r[1] + alpha[1] * mul(-1, r[0]),
    ]


def _along(a: list[Affine], axis: Array, x: Id) -> list[Affine]:
    """a + axis x."""
    return [form if is_zero(axis[n]) else form + Affine(0, {x: axis[n]}) for n, form in enumerate(a)]


def _shifted(a: list[Affine], b: list[Affine] | Array) -> list[Affine]:
    return [x + y for x, y in zip(a, b, strict=True)]


# The mechanism prepared -----------------------------------------------------------------------------------------------


def opened(mechanism: Mechanism) -> Mechanism:
    """Frames inserted at every node of a flexible body that carries a moving joint or closes a loop."""
    frames = list(mechanism.frames)
    made: dict[tuple[int, int], int] = {}
    extra: list[Frame] = []

    def node(parent: int, marker: Marker, like: Frame) -> int:
        for (owner, _), index in made.items():
            if (
                owner == parent
                and is_zero(extra[index].marker.Phi_d - marker.Phi_d)
                and is_zero(extra[index].marker.position - marker.position)
            ):
                return index
        end = len(extra)
        extra.append(
            replace(like, name=f"{like.name}^", parent=parent, marker=marker, motion="fixed", body=Body(), q=slice(0, 0),
                    v=slice(0, 0), e=slice(0, 0), ev=slice(0, 0))
        )  # fmt: skip
        made[parent, end] = end
        return end

    pending: dict[int, int] = {}
    for index, frame in enumerate(frames):
        if frame.motion != "fixed" and frame.parent >= 0 and not is_zero(frame.marker.Phi_d):
            pending[index] = node(frame.parent, frame.marker, frame)
    closures = []
    moved_anchors: list[tuple[int, str, int]] = []
    for number, closure in enumerate(mechanism.closures):
        for side in ("first", "second"):
            anchor: Anchor = getattr(closure, side)
            if anchor.frame >= 0 and not is_zero(anchor.marker.Phi_d):
                bare = replace(anchor.marker, rotation=identity())
                moved_anchors.append((number, side, node(anchor.frame, bare, frames[anchor.frame])))
        closures.append(closure)
    # number the inserted frames right behind their parents, so that parents stay before children
    order: list[tuple[str, int]] = []
    for index in range(len(frames)):
        order.append(("old", index))
        order += [("new", k) for k, f in enumerate(extra) if f.parent == index]
    number_of = {key: i for i, key in enumerate(order)}

    def renumber(old: int) -> int:
        return -1 if old < 0 else number_of["old", old]

    result = []
    for kind, index in order:
        if kind == "new":
            result.append(replace(extra[index], parent=renumber(extra[index].parent)))
        elif index in pending:
            result.append(
                replace(frames[index], parent=number_of["new", pending[index]], marker=fixed_marker(zeros(3), identity()))
            )
        else:
            result.append(replace(frames[index], parent=renumber(frames[index].parent)))

    def anchored(anchor: Anchor) -> Anchor:
        return Anchor(renumber(anchor.frame), anchor.marker)

    closures = [replace(c, first=anchored(c.first), second=anchored(c.second)) for c in closures]
    for number, side, k in moved_anchors:
        old = getattr(mechanism.closures[number], side)
        at_node = Anchor(number_of["new", k], fixed_marker(zeros(3), old.marker.rotation))
        changed = {side: at_node}
        closures[number] = replace(closures[number], **changed)  # type: ignore[arg-type]
    return replace(
        mechanism,
        frames=tuple(result),
        closures=tuple(closures),
        coordinates=tuple(replace(c, frame=renumber(c.frame)) for c in mechanism.coordinates),
        points={k: anchored(a) for k, a in mechanism.points.items()},
        platform=None if mechanism.platform is None else renumber(mechanism.platform),
    )


# The method ------------------------------------------------------------------------------------------------------------


@dataclass
class Group:
    """What hangs on one base joint: its variables, those it shares, and how it was solved."""

    frames: list[int]
    Z: Quadratic = field(default_factory=Quadratic)
    solved: list[Solved] = field(default_factory=list)
    rows: dict[Id, tuple[dict[Id, Scalar], Scalar]] = field(default_factory=dict)  # of given accelerations, for tau


class Articulated:
    """Builds the inverse or forward model of a mechanism."""

    def __init__(self, mechanism: Mechanism, forward: bool) -> None:
        self.m = self._prepared(mechanism)
        self.forward = forward
        self.original = mechanism
        self.inputs = state(mechanism)
        self.s: State = _reordered(mechanism, self.m, self.inputs)
        self.kin = Kinematics(self.m, self.s)
        self.planar = self.m.planar
        self.tau = {k: None for k, c in enumerate(self.m.coordinates) if c.kind == "active"}
        self.c = [self._reference_point(j) for j in range(len(self.m.frames))]
        self.dependent: dict[Id, Affine] = {}  # variables of rigid legs, from what they share
        self.ports: dict[int, Port] = {}  # frame -> the port of its parent it sits on
        self._find_ports()
        self.alive = [self._alive(j) for j in range(len(self.m.frames))]
        self.root = self._root()
        self.groups = self._groups()

    def _prepared(self, mechanism: Mechanism) -> Mechanism:
        return opened(simplify(mechanism))

    # Structure ----------------------------------------------------------------------------------------------------

    def _reference_point(self, j: int) -> Array:
        """Where a frame's acceleration is taken: at the joint that closes its loop, if it has one."""
        if j == self.m.platform:
            return zeros(3)
        anchors = [a for c in self.m.closures for a in (c.first, c.second) if a.frame == j]
        return anchors[0].marker.position if len(anchors) == 1 else zeros(3)

    def _find_ports(self) -> None:
        taken: dict[int, set[int]] = {}
        for j, frame in enumerate(self.m.frames):
            if frame.motion != "fixed" or frame.parent < 0:
                continue
            port = port_of(j, frame.marker, taken.setdefault(frame.parent, set()))
            if port is not None:
                self.ports[j] = port
                taken[frame.parent] |= set(port.columns)

    def _alive(self, j: int) -> tuple[int, ...]:
        """Components of a frame's acceleration that are not identically zero."""
        if not self.planar:
            return (0, 1, 2, 3, 4, 5)
        k = self._normal_axis(j)
        return (*(i for i in range(3) if i != k), 3 + k)

    def _normal_axis(self, j: int) -> int:
        R = identity()
        frame: Frame | None = self.m.frames[j]
        while frame is not None:
            R = matmul(frame.marker.rotation, R)
            frame = self.m.frames[frame.parent] if frame.parent >= 0 else None
        n = np.abs((R.T @ self.m.normal).astype(float))
        if n.max() < 1 - 1e-9:
            raise Unsupported("a planar frame that is turned out of the axes of its plane")
        return int(n.argmax())

    def _root(self) -> int | None:
        if self.m.platform is not None:
            return self.m.platform
        return self.m.closures[0].first.frame if self.m.closures else None

    def _top(self, j: int) -> int:
        while self.m.frames[j].parent >= 0:
            j = self.m.frames[j].parent
        return j

    def _groups(self) -> dict[int, Group]:
        found: dict[int, Group] = {}
        platform = self._platform_chain()
        for j in range(len(self.m.frames)):
            if j not in platform:
                found.setdefault(self._top(j), Group([])).frames.append(j)
        return found

    def _platform_chain(self) -> set[int]:
        chain: set[int] = set()
        j = self.m.platform if self.m.platform is not None else -1
        while j >= 0:
            chain.add(j)
            j = self.m.frames[j].parent
        return chain

    # Bodies ---------------------------------------------------------------------------------------------------------

    def slot(self, j: int, k: int) -> Id:
        return ("s", j, k)

    def motion(self, j: int) -> Motion:
        now = self.kin.motions[j]
        return Motion(now.omega, now.qe, now.qde)

    def body(self, j: int) -> Quadratic:
        """Z of frame j's body in its own slots and those of the frames on its nodes."""
        frame = self.m.frames[j]
        record = moved(frame.body, identity(), scale(-1, self.c[j]))
        ports = [
            replace(p, marker=replace(p.marker, position=minus(p.marker.position, self.c[j])))
            for k, p in self.ports.items()
            if self.m.frames[k].parent == j
        ]
        Z = body_quadratic(record, j, frame.ev.start, self.motion(j), ports, self.planar)
        Z.drop([self.slot(j, k) for k in range(6) if k not in self.alive[j]])
        for port in ports:
            self._port_to_frame(Z, j, port)
        return Z

    def _leaf(self, j: int) -> bool:
        used = {a.frame for c in self.m.closures for a in (c.first, c.second)} | {f.parent for f in self.m.frames}
        return j not in used and not self.m.frames[j].body.flexible

    def _port_to_frame(self, Z: Quadratic, i: int, port: Port) -> None:
        """Node variables of body i -> slots of the frame that sits there (a leaf stays in the node's axes)."""
        j = port.key
        now = self.kin.motions[j]
        R = now.marker.R
        if self._leaf(j) and self.planar:
            return
        node = [("p", j, k) for k in range(6)]
        if not self.planar:
            self._spatial_spin(Z, i, j)
        local = [("n", j, k) for k in range(6)]
        Z.rotate(node[:3], local[:3], R)
        if self.planar:
            Z.rotate(node[3:], local[3:], R)
            Z.substitute({local[3 + k]: ({self.slot(j, 3 + k): 1}, 0) for k in range(3) if local[3 + k] in Z.rows})
        arm = scale(-1, self.c[j])
        spin = now.omega
        bias = cross(spin, cross(spin, arm))
        alpha = [Affine(0, {self.slot(j, 3 + k): 1}) if 3 + k in self.alive[j] else Affine() for k in range(3)]
        shift = _across(alpha, arm)
        forms: dict[Id, tuple[dict[Id, Scalar], Scalar]] = {}
        for k in range(3):
            if local[k] in Z.rows:
                if k not in self.alive[j]:
                    Z.drop([local[k]])
                else:
                    forms[local[k]] = (Affine(bias[k], {self.slot(j, k): 1}) + shift[k]).form()
        Z.substitute(forms)

    def _spatial_spin(self, Z: Quadratic, i: int, j: int) -> None:
        """psi = B^-1 (R alpha_j - alpha_i - w_i x w_e - bias): a node's relative rotation from absolute accelerations."""
        now = self.kin.motions[j]
        rest = plus(cross(self.kin.motions[i].omega, now.marker.omega_e), now.marker.bias)
        turned = _turned(now.marker.R, [Affine(0, {self.slot(j, 3 + k): 1}) for k in range(3)])
        relative = [t + Affine(mul(-1, rest[k]), {self.slot(i, 3 + k): -1}) for k, t in enumerate(turned)]
        relative = _turned(self.spin_inverse(i, j), relative)
        Z.substitute({("p", j, 3 + k): relative[k].form() for k in range(3) if ("p", j, 3 + k) in Z.rows})

    def spin_inverse(self, i: int, j: int) -> Array:
        """B^-1 = 1 - c^ + c c^T of the node frame j sits on, c half its rotation (Cayley)."""
        now = self.kin.motions[j]
        if now.marker.B is None:
            return identity()
        half = scale(0.5, matvec(now.marker.Phi_r, self.kin.motions[i].qe))
        inverse, H = identity(), cross_matrix(half)
        for a in range(3):
            for b in range(3):
                inverse[a, b] = sub(add(inverse[a, b], mul(half[a], half[b])), H[a, b])
        return inverse

    def leaf_in_node(self, j: int) -> Quadratic:
        """A planar leaf's Z in the axes of the node it sits on."""
        Z = self.body(j)
        R = self.kin.motions[j].marker.R
        node = [("p", j, k) for k in range(6)]
        Z.rotate([self.slot(j, k) for k in range(3)], node[:3], R.T)
        Z.rotate([self.slot(j, 3 + k) for k in range(3)], node[3:], R.T)
        keep = set(self.ports[j].components)
        Z.drop([x for k, x in enumerate(node) if k not in keep and x in Z.rows])
        return Z

    # Joints ---------------------------------------------------------------------------------------------------------

    def given(self, k: int) -> bool:
        return not self.forward and self.m.coordinates[k].kind == "active"

    def joint_force(self, k: int) -> Scalar:
        """Friction of a coordinate, less the actuator's force in the forward model."""
        c = self.m.coordinates[k]
        force = friction(c, self.s.v[k])
        if self.forward and c.kind == "active":
            force = sub(force, self.s.a[k])  # the input a of the forward model carries tau
        return force

    def frame_forms(self, j: int, parent: list[Affine] | None) -> list[Affine]:
        """The six slots of frame j as affine forms of its parent's slots (None: the base) and its joint's variable."""
        at, R = self._at_place(j, parent), self.kin.motions[j].R
        return self._from_joint(j, _turned(R.T, at[:3]), _turned(R.T, at[3:]), parent is None)

    def _at_place(self, j: int, parent: list[Affine] | None) -> list[Affine]:
        """Accelerations of the place frame j hangs on, in its parent's axes."""
        frame, now = self.m.frames[j], self.kin.motions[j]
        if parent is None:
            return [Affine(mul(-1, g)) for g in self.s.g] + [Affine() for _ in range(3)]
        i = frame.parent
        rho, w = minus(now.marker.r, self.c[i]), self.kin.motions[i].omega
        swing = cross(w, plus(cross(w, rho), scale(2, now.marker.v_e)))
        at = _shifted(_shifted(parent[:3], _across(parent[3:], rho)), swing)
        spin = parent[3:]
        if not self._rigid_place(frame):
            at, spin = self._bent(frame, at, spin)
        return at + spin

    def _from_joint(self, j: int, a: list[Affine], alpha: list[Affine], grounded: bool) -> list[Affine]:
        """Slots of frame j from the accelerations of its place, turned into its own axes."""
        frame, now = self.m.frames[j], self.kin.motions[j]
        w, k = now.omega, frame.v.start
        if frame.motion == "revolute":
            alpha = _shifted(alpha, cross(w, scale(self.s.v[k], frame.axis)))
            if self.given(k) or not (grounded or is_zero(self.m.coordinates[k].inertia)):
                alpha = _along(alpha, frame.axis, ("v", k))
            else:
                own = _affine_dot(frame.axis, alpha)
                alpha = _along([x + own * mul(-1, frame.axis[n]) for n, x in enumerate(alpha)], frame.axis, ("w", k))
        elif frame.motion == "prismatic":
            slide, rate = now.slide, scale(self.s.v[k], frame.axis)
            a = _shifted(_shifted(a, _across(alpha, slide)), cross(w, plus(cross(w, slide), scale(2, rate))))
            a = _along(a, frame.axis, ("v", k))
        elif frame.motion == "spherical":
            alpha = [Affine(0, {("w", k + n): 1}) for n in range(3)]
        c = self.c[j]
        return _shifted(_shifted(a, _across(alpha, c)), cross(w, cross(w, c))) + alpha

    def _bent(self, frame: Frame, a: list[Affine], alpha: list[Affine]) -> tuple[list[Affine], list[Affine]]:
        """Adds what the relative elastic coordinates of the parent's body do to a place on it."""
        i, m = frame.parent, self.kin.motions[self.m.frames.index(frame)].marker
        first = self.m.frames[i].ev.start
        qdd = [Affine(0, {("e", first + k): 1}) for k in range(m.Phi_d.shape[1])]
        a = [x + _affine_dot(m.Phi_d[n], qdd) for n, x in enumerate(a)]
        turn = [_affine_dot(m.Phi_r[n], qdd) for n in range(3)]
        rest = plus(cross(self.kin.motions[i].omega, m.omega_e), m.bias)
        alpha = [x + t + r for x, t, r in zip(alpha, turn if m.B is None else _turned(m.B, turn), rest, strict=True)]
        return a, alpha

    def _rigid_place(self, frame: Frame) -> bool:
        return is_zero(frame.marker.Phi_d) and is_zero(frame.marker.Phi_r)

    def _relative_place(self, frame: Frame) -> bool:
        """Whether all coordinates that move a frame's place are relative ones."""
        taken = {c for k, p in self.ports.items() if self.m.frames[k].parent == frame.parent for c in p.columns}
        Phi = np.concatenate([frame.marker.Phi_d, frame.marker.Phi_r])
        return not any(k in taken and not is_zero(Phi[:, k]) for k in range(Phi.shape[1]))

    def fold(self, Z: Quadratic, j: int) -> None:
        """Slots of a frame -> slots of its parent and its joint's variable, in small steps: shift, joint, turn, shift."""
        frame, now = self.m.frames[j], self.kin.motions[j]
        parent = None
        if frame.parent >= 0:
            alive = self.alive[frame.parent]
            parent = [Affine(0, {self.slot(frame.parent, k): 1}) if k in alive else Affine() for k in range(6)]
        if parent is None:
            forms = self.frame_forms(j, None)
            Z.substitute({self.slot(j, k): forms[k].form() for k in range(6) if self.slot(j, k) in Z.rows})
        else:
            inner = [Affine(0, {("o", j, k): 1}) for k in range(6)]
            forms = self._from_joint(j, inner[:3], inner[3:], False)
            Z.substitute({self.slot(j, k): forms[k].form() for k in range(6) if self.slot(j, k) in Z.rows})
            for part in (0, 3):
                Z.rotate([("o", j, part + k) for k in range(3)], [("m", j, part + k) for k in range(3)], now.R.T)
            at = self._at_place(j, parent)
            Z.substitute({("m", j, k): at[k].form() for k in range(6) if ("m", j, k) in Z.rows})
        if frame.motion in ("revolute", "prismatic"):
            self._add_joint(Z, j, parent)

    def _add_joint(self, Z: Quadratic, j: int, parent: list[Affine] | None) -> None:
        frame = self.m.frames[j]
        k = frame.v.start
        force, inertia = self.joint_force(k), self.m.coordinates[k].inertia
        absolute = ("w", k) in Z.rows
        x = ("w", k) if absolute else ("v", k)
        Z.add_linear(x, force)
        if not is_zero(inertia):
            Z.add(x, x, inertia)
        if absolute and parent is not None and not is_zero(force):
            axis = matvec(frame.marker.rotation, frame.axis)
            for n in range(3):
                if 3 + n in self.alive[frame.parent] and not is_zero(axis[n]):
                    Z.add_linear(self.slot(frame.parent, 3 + n), mul(-1, mul(force, axis[n])))

    # Groups ---------------------------------------------------------------------------------------------------------

    def interface(self) -> dict[int, tuple[int, ...]]:
        """Frames that share slots with another group, and which."""
        shared: dict[int, tuple[int, ...]] = {}
        for closure in self.m.closures:
            for anchor in (closure.first, closure.second):
                if anchor.frame == self.root:
                    shared[anchor.frame] = self.alive[anchor.frame]
                elif anchor.frame >= 0:
                    shared[anchor.frame] = tuple(k for k in self._shared(closure, anchor) if k in self.alive[anchor.frame])
        return shared

    def _shared(self, closure: Closure, anchor: Anchor) -> tuple[int, ...]:
        """Slots of an anchor's frame that its closure ties to the other side."""
        linear = [k for k in closure.forbidden if k < 3]
        turning = [k for k in closure.forbidden if k >= 3]
        wanted = 2 if self.planar else 3
        if len(linear) != wanted:
            raise Unsupported(f"the closure {closure.name!r} lets its ends slide")
        if turning and not (len(turning) == (1 if self.planar else 3)):
            raise Unsupported(f"the closure {closure.name!r} ties some rotations only")
        return (0, 1, 2) + ((3, 4, 5) if turning else ())

    def reduce(self, top: int, group: Group) -> None:
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
            self._closing_friction(closure, group)
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
                raise Unsupported(f"{frame.name!r} sits on a place of a flexible body that is not a node")
        keep |= self.close_rigid(group, shared)
        if not any(self._is_given(x) for x in keep):
            self._apply_given(group)
        group.solved += group.Z.minimise_all([x for x in group.Z.ids() if x not in keep])

    def chain_forms(self, j: int) -> list[Affine]:
        """Slots of a frame as forms of its group's variables."""
        if j in self.ports:
            return [Affine(0, {self.slot(j, k): 1}) if k in self.alive[j] else Affine() for k in range(6)]
        frame = self.m.frames[j]
        parent = None if frame.parent < 0 else self.chain_forms(frame.parent)
        return self.frame_forms(j, parent)

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
            inverse = _inverse(J)
            rest = [
                Affine(mul(-1, row.constant), {x: mul(-1, c) for x, c in row.terms.items() if x not in chosen})
                + Affine(0, {self.slot(j, k): 1})
                for k, row in zip(shared[j], rows, strict=True)
            ]
            solved = {x: _affine_dot(inverse[n], rest) for n, x in enumerate(chosen)}
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

    def _movable(self, frame: Frame) -> bool:
        return self._rigid_place(frame) or self._relative_place(frame)

    def _path_frames(self, shared: dict[int, tuple[int, ...]]) -> set[int]:
        path: set[int] = set()
        for j in shared:
            while j >= 0:
                path.add(j)
                j = self.m.frames[j].parent
        return path

    def _is_given(self, x: Id) -> bool:
        return isinstance(x, tuple) and x[0] == "v" and self.given(x[1])

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

    def _closing_friction(self, closure: Closure, group: Group) -> None:
        """Friction of a joint that a closure has taken over acts between the spins of its two links."""
        if closure.turning is None or closure.about is None or is_zero(closure.turning.viscous + closure.turning.coulomb):
            return
        first, second = closure.first.frame, closure.second.frame
        spin_first = self.kin.motions[first].omega if first >= 0 else zeros(3)
        R = self.relative(second, first) if first >= 0 else self.kin.world[second][0].T
        rate = dot(closure.about, minus(matvec(R, spin_first), self.kin.motions[second].omega))
        force = friction(closure.turning, rate)
        for j, axis, way in ((second, closure.about, -1), (first, matvec(R.T, closure.about), 1)):
            if j in group.frames:
                for n in range(3):
                    if 3 + n in self.alive[j] and not is_zero(axis[n]):
                        group.Z.add_linear(self.slot(j, 3 + n), mul(way, mul(force, axis[n])))

    # Loops ----------------------------------------------------------------------------------------------------------

    def far_side(self, closure: Closure) -> tuple[Anchor, Anchor]:
        """The anchor on the root and the one on the leg."""
        near, far = (closure.first, closure.second) if closure.first.frame == self.root else (closure.second, closure.first)
        if near.frame != self.root or far.frame < 0:
            raise Unsupported(f"the closure {closure.name!r} does not meet the platform or the first leg")
        if self.ports and not is_zero(minus(far.marker.position, self.c[far.frame])):
            raise Unsupported(f"the closure {closure.name!r} shares its link with another")
        return near, far

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

    def _at_anchor(self, anchor: Anchor, slots: list[Affine]) -> list[Affine]:
        """Accelerations at an anchor in its frame's axes, from the frame's slots."""
        rho, w = minus(anchor.marker.position, self.c[anchor.frame]), self.kin.motions[anchor.frame].omega
        return _shifted(_shifted(slots[:3], _across(slots[3:], rho)), cross(w, cross(w, rho))) + slots[3:]

    def relative(self, j: int, r: int) -> Array:
        """Rotation from frame r's axes to frame j's; planar angles are added before their sine is taken."""
        if self.planar:
            angle = sub(self._angle(r), self._angle(j))
            k = self._normal_axis(j)
            if k == self._normal_axis(r):
                axis = zeros(3)
                axis[k] = 1
                constant = matmul(self._constant(j).T, self._constant(r))
                if is_zero(minus(matvec(constant, axis), axis)):
                    return (
                        matmul(constant, axis_rotation(axis, angle))
                        if not is_zero(constant - identity())
                        else axis_rotation(axis, angle)
                    )
        return matmul(self.kin.world[j][0].T, self.kin.world[r][0])

    def _angle(self, j: int) -> Scalar:
        """Sum of the planar angles from the base to a frame, about its normal."""
        total: Scalar = 0
        while j >= 0:
            frame = self.m.frames[j]
            k = self._normal_axis(j)
            if frame.motion == "revolute":
                total = add(total, mul(frame.axis[k], self.s.q[frame.q.start]))
            if frame.parent >= 0 and not is_zero(frame.marker.Phi_r):
                phi = matvec(frame.marker.Phi_r, self.kin.motions[frame.parent].qe)
                total = add(
                    total, dot(matvec(frame.marker.rotation.T, phi), vector(*(1 if n == k else 0 for n in range(3))))
                )
            j = frame.parent
        return total

    def _constant(self, j: int) -> Array:
        R = identity()
        while j >= 0:
            R = matmul(self.m.frames[j].marker.rotation, R)
            j = self.m.frames[j].parent
        return R

    # Solution -------------------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """All accelerations by minimising legs, then what they share."""
        for top, group in self.groups.items():
            self.reduce(top, group)
        total = Quadratic()
        if self.m.platform is not None:
            total.include(self.body(self.m.platform))
        for group in self.groups.values():
            for closure in self.m.closures:
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
        raise Unsupported(f"no value for {x}")

    def _slot(self, j: int, k: int) -> Scalar:
        """Acceleration component k of a frame whose slots were replaced by others."""
        method, frame = self.method, self.method.m.frames[j]
        for closure in method.m.closures:
            near, far = method.far_side(closure)
            if far.frame == j and k in method._shared(closure, far):
                at = method._at_anchor(near, [Affine(x) for x in self.slots(near.frame)])
                return _affine_dot(method.relative(j, near.frame)[k % 3], at[:3] if k < 3 else at[3:]).constant
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
        return matvec(method.spin_inverse(i, j), minus(difference, rest))

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


def _inverse(J: Array) -> Array:
    """Inverse of a matrix of up to 3 x 3 by cofactors: no pivot that could vanish at some pose."""
    n = len(J)
    made = zeros(n, n)
    if n == 1:
        made[0, 0] = div(1, J[0, 0])
        return made
    if n == 2:
        d = div(1, sub(mul(J[0, 0], J[1, 1]), mul(J[0, 1], J[1, 0])))
        made[0, 0], made[1, 1] = mul(J[1, 1], d), mul(J[0, 0], d)
        made[0, 1], made[1, 0] = mul(-1, mul(J[0, 1], d)), mul(-1, mul(J[1, 0], d))
        return made
    rows = [cross(J[1], J[2]), cross(J[2], J[0]), cross(J[0], J[1])]
    d = div(1, dot(J[0], rows[0]))
    for i in range(3):
        made[:, i] = scale(d, rows[i])
    return made


def friction(c: Coordinate, v: Scalar) -> Scalar:
    """viscous * v + coulomb * smoothed sign of v."""
    total = mul(c.viscous, v)
    if not is_zero(c.coulomb):
        smooth = sign(v) if is_zero(c.width) else div(v, sqrt(add(mul(v, v), mul(c.width, c.width))))
        total = add(total, mul(c.coulomb, smooth))
    return total


def _reordered(old: Mechanism, new: Mechanism, given: State) -> State:
    """The symbols of the original mechanism in the order of the simplified one."""
    place = {c.name: k for k, c in enumerate(old.coordinates)}
    where_q: dict[str, int] = {}
    for frame in old.frames:
        for offset in range(frame.e.stop - frame.e.start):
            where_q[old.coordinates[frame.ev.start + offset].name] = frame.e.start + offset
        if frame.v.stop > frame.v.start:
            where_q[old.coordinates[frame.v.start].name] = frame.q.start
    q = zeros(new.nq)
    for frame in new.frames:
        for offset in range(frame.e.stop - frame.e.start):
            q[frame.e.start + offset] = given.q[where_q[new.coordinates[frame.ev.start + offset].name]]
        if frame.v.stop > frame.v.start:
            first = where_q[new.coordinates[frame.v.start].name]
            for n in range(frame.q.stop - frame.q.start):
                q[frame.q.start + n] = given.q[first + n]
    index = [place[c.name] for c in new.coordinates]
    return State(q, given.v[index], given.a[index], given.g)


def inverse_model(mechanism: Mechanism) -> Function:
    """tau and the elastic accelerations from the state and the accelerations of the actuators."""
    return _model(mechanism, forward=False)


def forward_model(mechanism: Mechanism) -> Function:
    """Accelerations of the actuators and elastic coordinates from the state and tau."""
    return _model(mechanism, forward=True)


def _model(mechanism: Mechanism, forward: bool) -> Function:
    method = Articulated(mechanism, forward)
    solution = method.solve()
    names = {c.name: k for k, c in enumerate(method.m.coordinates)}
    elastic: dict[int, Scalar] = {}
    for j in range(len(method.m.frames)):
        elastic |= solution.elastic(j)
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    flexible = [c.name for c in mechanism.coordinates if c.kind == "elastic"]
    drives = method.inputs.a[[mechanism.names().index(n) for n in active]]
    outputs = {}
    if forward:
        frame_of = {
            method.m.frames[j].v.start: j for j in range(len(method.m.frames)) if method.m.frames[j].motion != "fixed"
        }
        outputs["a_active"] = [solution.joint(frame_of[names[n]]) for n in active]
    else:
        outputs["tau"] = [solution.tau(names[n]) for n in active]
    outputs["a_elastic"] = [elastic[names[n]] for n in flexible]
    inputs = {
        "q": method.inputs.q,
        "v": method.inputs.v,
        "tau" if forward else "a_active": drives,
        "g": method.inputs.g,
    }
    return function("forward" if forward else "inverse", inputs, outputs)


class Composite(Articulated):
    """M and c in independent coordinates: composite inertias folded onto relative coordinates, loops solved by cofactors."""

    def __init__(self, mechanism: Mechanism, independent: list[str]) -> None:
        self.independent = set(independent)
        super().__init__(mechanism, forward=True)

    def _prepared(self, mechanism: Mechanism) -> Mechanism:
        return regrouped(simplify(mechanism))

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
        if self.m.platform is not None:
            raise Unsupported("a robot with a platform of its own")
        total = Quadratic()
        for group in self.groups.values():
            for j in group.frames:
                group.Z.include(self.body(j))
            for closure in self.m.closures:
                self._closing_friction(closure, group)
            for j in reversed(group.frames):
                self.fold(group.Z, j)
            total.include(group.Z)
        for closure in self.m.closures:
            self._solve_loop(total, closure)
        return total

    def _solve_loop(self, Z: Quadratic, closure: Closure) -> None:
        near, far = self.far_side(closure)
        if self.planar and not any(k >= 3 for k in closure.forbidden):
            rows = [x + y * -1 for x, y in zip(self._base_forms(far), self._base_forms(near), strict=True)]
            rows = [row for row in rows if row.terms]
        else:
            R = self.relative(far.frame, near.frame)
            root = self._at_anchor(near, self.chain_forms(near.frame))
            leg = self._at_anchor(far, self.chain_forms(far.frame))
            turned = _turned(R, root[:3]) + _turned(R, root[3:])
            rows = [leg[k] + turned[k] * -1 for k in self._shared(closure, far) if k in self.alive[far.frame]]
        chosen = [x for x in dict.fromkeys(x for row in rows for x in row.terms) if not self._independent(x)]
        if len(chosen) != len(rows) or len(rows) > 3:
            raise Unsupported("loops whose passive joints do not follow one by one")
        inverse = _inverse(np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object))
        rest = [
            Affine(mul(-1, row.constant), {x: mul(-1, c) for x, c in row.terms.items() if x not in chosen}) for row in rows
        ]
        Z.substitute({x: _affine_dot(inverse[n], rest).form() for n, x in enumerate(chosen)})

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
            if frame.parent >= 0 and not self._rigid_place(frame):
                first = self.m.frames[frame.parent].ev.start
                qdd = [Affine(0, {("e", first + k): 1}) for k in range(now.marker.Phi_d.shape[1])]
                a = _shifted(a, _turned(R, [_affine_dot(row, qdd) for row in now.marker.Phi_d]))
                alpha = _shifted(alpha, _turned(self._constant_normal(R), [_affine_dot(row, qdd) for row in now.marker.Phi_r]))
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
                a = _along(a, matvec(R, frame.axis), ("v", k))
        return self._swung(a, alpha, R, w, anchor.marker.position, zeros(3))

    def _swung(self, a: list[Affine], alpha: list[Affine], R: Array, w: Array, r: Array, rate: Array) -> list[Affine]:
        """a + alpha x R r + R (w x (w x r + 2 rate)), R from the frame's axes to the base."""
        bias = matvec(R, cross(w, plus(cross(w, r), scale(2, rate))))
        return _shifted(_shifted(a, _across(alpha, matvec(R, r))), bias)

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
        return self.m.coordinates[x[1]].name in self.independent


def mass_model(mechanism: Mechanism, independent: list[str]) -> Function:
    """M and c of the closed robot in independent coordinates: generalised forces = M a + c."""
    method = Composite(mechanism, independent)
    Z = method.matrix()
    names = {c.name: k for k, c in enumerate(method.m.coordinates)}
    ids = [("e" if method.m.coordinates[names[n]].kind == "elastic" else "v", names[n]) for n in independent]
    M = [[Z.get(i, j) for j in ids] for i in ids]
    inputs = {"q": method.inputs.q, "v": method.inputs.v, "g": method.inputs.g}
    return function("mass", inputs, {"M": M, "c": [Z.linear[i] for i in ids]})
