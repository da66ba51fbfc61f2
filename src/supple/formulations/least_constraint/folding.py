"""A mechanism's accelerations on few variables: bodies as quadratic functions, joints and places as substitutions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from supple.expr.function import Array, symbols
from supple.expr.node import Expr, Scalar, add, mul, sub
from supple.expr.vector import (
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
)
from supple.formulations.least_constraint.affine import Affine, across, along, combined, shifted, turned
from supple.formulations.least_constraint.bodies import Motion, Port, body_quadratic, node_motion, port_of
from supple.formulations.least_constraint.quadratic import Id, Quadratic
from supple.formulations.record import Unsupported
from supple.formulations.tree.friction import friction
from supple.formulations.tree.kinematics import Kinematics, MarkerMotion, State, state
from supple.robot.bodies.record import Marker, moved
from supple.robot.mechanism import Frame, Mechanism
from supple.robot.nodes import opened
from supple.robot.simplify import simplify


class Folding:
    """Variables: ("s", j, k) slots of frame j (a, alpha in own axes at its reference point), ("v", k) a joint's own
    acceleration, ("w", k) the absolute angular acceleration about a joint's axis, ("e", k) elastic, ("p", j, k) a node,
    ("t", k) the force that holds an actuator to its given acceleration.

    The accelerations of the actuators in `prescribed` are given (all of them in an inverse model), those in `held` by a
    force that is a variable; `loads` adds an input w, the wrenches at the named points, `damped` an input x, forces of
    damping on the elastic coordinates."""

    def __init__(
        self,
        mechanism: Mechanism,
        forward: bool,
        prescribed: Collection[str] | None = None,
        held: Collection[str] = (),
        loads: bool = False,
        damped: bool = False,
    ) -> None:
        self.m = self._prepared(mechanism)
        self.forward = forward
        every = () if forward else [c.name for c in mechanism.coordinates if c.kind == "active"]
        self.prescribed = frozenset(every if prescribed is None else prescribed)
        self.held = frozenset(held)
        self.w = symbols("w", (len(mechanism.points), 6)) if loads else None
        elastic = [c.name for c in mechanism.coordinates if c.kind == "elastic"]
        self.x = symbols("x", len(elastic)) if damped else None
        self.damping = dict(zip(elastic, self.x, strict=True)) if self.x is not None else {}
        self.original = mechanism
        self.inputs = state(mechanism)
        self.s: State = reordered(mechanism, self.m, self.inputs)
        self.kin = Kinematics(self.m, self.s)
        self.planar = self.m.planar
        self.side = self.m.platform_side()
        self.c = [self._reference_point(j) for j in range(len(self.m.frames))]
        self.dependent: dict[Id, Affine] = {}  # variables of rigid legs, from what they share
        self.ports: dict[int, Port] = {}  # frame -> the port of its parent it sits on
        self._find_ports()
        self.alive = [self._alive(j) for j in range(len(self.m.frames))]
        self.root = self._root()

    def _prepared(self, mechanism: Mechanism) -> Mechanism:
        return opened(simplify(mechanism))

    def sample(self) -> dict[Expr, float]:
        """A typical state: the assembly guess at rest, for choosing pivots."""
        guess = next(iter(self.m.start.values()))
        made: dict[Expr, float] = {}
        for frame in self.m.frames:
            for k in range(frame.q.start, frame.q.stop):
                made[self.s.q[k]] = 1.0 if frame.motion == "spherical" and k == frame.q.start else 0.0
            if frame.motion in ("revolute", "prismatic"):
                made[self.s.q[frame.q.start]] = float(guess.get(self.m.coordinates[frame.v.start].name, 0.0))
        return made

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
            if frame.motion != "fixed" or frame.parent < 0 or frame.parent in self.side:
                continue
            port = port_of(j, frame.marker, taken.setdefault(frame.parent, set()), self.planar)
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
        meeting = [c.first.frame for c in self.m.closures if min(c.first.frame, c.second.frame) >= 0]
        return meeting[0] if meeting else None

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
        Z = body_quadratic(record, j, frame.ev.start, self.motion(j), ports, self.planar, self._applied(j))
        Z.drop([self.slot(j, k) for k in range(6) if k not in self.alive[j]])
        self._draw_back(Z, j, ports)
        for port in ports:
            self._port_to_frame(Z, j, port)
        return Z

    def _draw_back(self, Z: Quadratic, i: int, ports: list[Port]) -> None:
        """Nodes as if bending did not draw them back -> true ones: p = b + axis (g.qdd + qd.G qd) with g = G q."""
        if not any(p.marker.shortening for p in ports):
            return
        now, qdd = self.motion(i), self._elastic_forms(i, ports)
        forms: dict[Id, Affine] = {("p", p.key, k): Affine(0, {("p", p.key, k): 1}) for p in ports for k in range(3)}
        for port in ports:
            for s in port.marker.shortening:
                back = combined(matvec(s.G, now.q), qdd) + dot(now.qd, matvec(s.G, now.qd))
                for k in range(3):
                    if not is_zero(s.axis[k]):
                        forms["p", port.key, k] += back * s.axis[k]
        changed = {x: form.form() for x, form in forms.items() if x in Z.rows and len(form.terms) > 1}
        Z.substitute(changed)

    def _elastic_forms(self, i: int, ports: list[Port]) -> list[Affine]:
        """Accelerations of the elastic coordinates of frame i's body that shorten it, from those of its nodes."""
        frame, now = self.m.frames[i], self.motion(i)
        own = [Affine(0, {self.slot(i, k): 1}) if k in self.alive[i] else Affine() for k in range(6)]
        qdd = [Affine(0, {("e", k): 1}) for k in range(frame.ev.start, frame.ev.stop)]
        for port in ports:
            r, swing = node_motion(port.marker, now)
            node = [Affine(0, {("p", port.key, k): 1}) for k in range(6)]
            carried = shifted(shifted(own[:3], across(own[3:], vector(*r))), swing)
            turned_by = own[3:] if self.planar else [Affine()] * 3  # a spatial node keeps its rotation relative
            relative = [x + y * -1 for x, y in zip(node, carried + turned_by, strict=True)]
            for row, column in enumerate(port.columns):
                qdd[column] = combined(port.inverse[row], [relative[k] for k in port.components])
        return qdd

    def _applied(self, j: int) -> Array:
        """Forces of loads and further damping on (a, alpha, qdd) of frame j's body."""
        if self.w is None and self.x is None:
            return zeros(0)
        force, moment, elastic = zeros(3), zeros(3), zeros(len(self.m.frames[j].body.coordinates))
        if self.damping and len(elastic):
            elastic = scale(-1, vector(*(self.damping[c.name] for c in self.m.coordinates[self.m.frames[j].ev])))
        for anchor, wrench in zip(self.m.points.values(), self.w, strict=True) if self.w is not None else ():
            if anchor.frame != j:
                continue
            m, T = self.kin.marker(anchor), self.kin.world[j][0].T
            f, n = matvec(T, wrench[:3]), matvec(T, wrench[3:])
            force, moment = plus(force, f), plus(moment, n, cross(minus(m.r, self.c[j]), f))
            elastic = plus(elastic, matvec(m.Phi_d.T, f), m.couple(n))
        return np.concatenate([force, moment, elastic])

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
        shift = across(alpha, arm)
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
        node = turned(now.marker.R, [Affine(0, {self.slot(j, 3 + k): 1}) for k in range(3)])
        relative = [t + Affine(mul(-1, rest[k]), {self.slot(i, 3 + k): -1}) for k, t in enumerate(node)]
        relative = turned(self.spincofactor_inverse(i, j), relative)
        Z.substitute({("p", j, 3 + k): relative[k].form() for k in range(3) if ("p", j, 3 + k) in Z.rows})

    def spincofactor_inverse(self, i: int, j: int) -> Array:
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
        """Whether an acceleration is known beforehand."""
        return self.m.coordinates[k].name in self.prescribed - self.held

    def joint_force(self, k: int) -> Scalar:
        """Friction of a coordinate, less the actuator's force where that is given."""
        c = self.m.coordinates[k]
        force = friction(c, self.s.v[k])
        if c.kind == "active" and c.name not in self.prescribed:
            force = sub(force, self.s.a[k])  # the input a of such an actuator carries tau
        return force

    def frame_forms(self, j: int, parent: list[Affine] | None) -> list[Affine]:
        """The six slots of frame j as affine forms of its parent's slots (None: the base) and its joint's variable."""
        at, R = self._at_place(j, parent), self.kin.motions[j].R
        return self._from_joint(j, turned(R.T, at[:3]), turned(R.T, at[3:]), parent is None)

    def _at_place(self, j: int, parent: list[Affine] | None) -> list[Affine]:
        """Accelerations of the place frame j hangs on, in its parent's axes."""
        frame, now = self.m.frames[j], self.kin.motions[j]
        if parent is None:
            return [Affine(mul(-1, g)) for g in self.s.g] + [Affine() for _ in range(3)]
        i = frame.parent
        rho, w = minus(now.marker.r, self.c[i]), self.kin.motions[i].omega
        swing = cross(w, plus(cross(w, rho), scale(2, now.marker.v_e)))
        at = shifted(shifted(parent[:3], across(parent[3:], rho)), plus(swing, now.marker.inward))
        spin = parent[3:]
        if not self._rigid_place(frame.marker):
            at, spin = self._bent(i, now.marker, at, spin)
        return at + spin

    def _from_joint(self, j: int, a: list[Affine], alpha: list[Affine], grounded: bool) -> list[Affine]:
        """Slots of frame j from the accelerations of its place, turned into its own axes."""
        frame, now = self.m.frames[j], self.kin.motions[j]
        w, k = now.omega, frame.v.start
        if frame.motion == "revolute":
            alpha = shifted(alpha, cross(w, scale(self.s.v[k], frame.axis)))
            motor = self.m.coordinates[k]
            if self.given(k) or motor.name in self.held or not (grounded or is_zero(motor.inertia)):
                alpha = along(alpha, frame.axis, ("v", k))
            else:
                own = combined(frame.axis, alpha)
                alpha = along([x + own * mul(-1, frame.axis[n]) for n, x in enumerate(alpha)], frame.axis, ("w", k))
        elif frame.motion == "prismatic":
            slide, rate = now.slide, scale(self.s.v[k], frame.axis)
            a = shifted(shifted(a, across(alpha, slide)), cross(w, plus(cross(w, slide), scale(2, rate))))
            a = along(a, frame.axis, ("v", k))
        elif frame.motion == "spherical":
            alpha = [Affine(0, {("w", k + n): 1}) for n in range(3)]
        c = self.c[j]
        return shifted(shifted(a, across(alpha, c)), cross(w, cross(w, c))) + alpha

    def _bent(self, i: int, m: MarkerMotion, a: list[Affine], alpha: list[Affine]) -> tuple[list[Affine], list[Affine]]:
        """Adds what the relative elastic coordinates of frame i's body do to a place on it."""
        first = self.m.frames[i].ev.start
        qdd = [Affine(0, {("e", first + k): 1}) for k in range(m.Phi_d.shape[1])]
        a = [x + combined(m.Phi_d[n], qdd) for n, x in enumerate(a)]
        turn = [combined(m.Phi_r[n], qdd) for n in range(3)]
        rest = plus(cross(self.kin.motions[i].omega, m.omega_e), m.bias)
        alpha = [x + t + r for x, t, r in zip(alpha, turn if m.B is None else turned(m.B, turn), rest, strict=True)]
        return a, alpha

    def _rigid_place(self, marker: Marker) -> bool:
        return is_zero(marker.Phi_d) and is_zero(marker.Phi_r)

    def _relative_place(self, frame: Frame) -> bool:
        """Whether all coordinates that move a frame's place are relative ones."""
        taken = {c for k, p in self.ports.items() if self.m.frames[k].parent == frame.parent for c in p.columns}
        moving = [frame.marker.Phi_d, frame.marker.Phi_r, *(s.G for s in frame.marker.shortening)]
        return not any(k in taken and not is_zero(part[:, k]) for part in moving for k in range(part.shape[1]))

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
        elif frame.motion == "spherical":
            self._add_ball(Z, j)

    def _add_joint(self, Z: Quadratic, j: int, parent: list[Affine] | None) -> None:
        frame = self.m.frames[j]
        k = frame.v.start
        force, inertia = self.joint_force(k), self.m.coordinates[k].inertia
        absolute = ("w", k) in Z.rows
        x = ("w", k) if absolute else ("v", k)
        Z.add_linear(x, force)
        if not is_zero(inertia):
            Z.add(x, x, inertia)
        if self.m.coordinates[k].name in self.held:
            Z.add(x, ("t", k), -1)
            Z.add_linear(("t", k), self.s.a[k])
        if absolute and parent is not None and not is_zero(force):
            axis = matvec(frame.marker.rotation, frame.axis)
            for n in range(3):
                if 3 + n in self.alive[frame.parent] and not is_zero(axis[n]):
                    Z.add_linear(self.slot(frame.parent, 3 + n), mul(-1, mul(force, axis[n])))

    def _add_ball(self, Z: Quadratic, j: int) -> None:
        """Friction of a spherical joint, between the spins of its two links."""
        frame = self.m.frames[j]
        force = vector(*(self.joint_force(k) for k in range(frame.v.start, frame.v.stop)))
        if is_zero(force):
            return
        for n in range(3):
            Z.add_linear(("w", frame.v.start + n), force[n])
        if frame.parent >= 0:
            back = matvec(self.kin.motions[j].R, force)
            for n in range(3):
                Z.add_linear(self.slot(frame.parent, 3 + n), mul(-1, back[n]))

    def _movable(self, frame: Frame) -> bool:
        return self._rigid_place(frame.marker) or self._relative_place(frame)

    def chain_forms(self, j: int) -> list[Affine]:
        """Slots of a frame as forms of its group's variables."""
        if j in self.ports or j == self.m.platform:
            return [Affine(0, {self.slot(j, k): 1}) if k in self.alive[j] else Affine() for k in range(6)]
        frame = self.m.frames[j]
        parent = None if frame.parent < 0 else self.chain_forms(frame.parent)
        return self.frame_forms(j, parent)

    def _is_given(self, x: Id) -> bool:
        return isinstance(x, tuple) and x[0] == "v" and self.given(x[1])


def reordered(old: Mechanism, new: Mechanism, given: State) -> State:
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
