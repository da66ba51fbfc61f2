"""The growing tree of frames: coordinates numbered, bodies hung, places on them found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.robot import description as spec
from supple.robot.bodies.beam_element import BeamSpec
from supple.robot.bodies.damping import damped
from supple.robot.bodies.record import (
    Array,
    Body,
    Marker,
    fixed_marker,
    is_zero,
    offset_marker,
    zeros,
)
from supple.robot.bodies.spring import spring_body, spring_marker, spring_problem
from supple.robot.entries import Entry, EntryError
from supple.robot.geometry import direction, snapped, turns
from supple.robot.link_bodies import Piece
from supple.robot.mechanism import Anchor, Coordinate, Frame, JointMotion, Kind, Role

if TYPE_CHECKING:
    from supple.robot.flexible_bodies import Shape

PLANES = {"xy": ("x", "y", "z"), "xz": ("x", "z", "-y"), "yz": ("y", "z", "x")}
NO_FRICTION = spec.Friction.model_construct(viscous=0, coulomb=0, width=0)
_MOST = 4000  # coordinates


class Skeleton:
    """Frames and coordinates as they are added, link by link."""

    def __init__(self, plane: str | None, actuators: Mapping[str, spec.Actuator]) -> None:
        self.plane = plane  # None: spatial
        self.actuators = actuators
        self.frames: list[Frame] = []
        self.coordinates: list[Coordinate] = []
        self.nq = 0
        self.placed: dict[str, int] = {}  # link -> its frame
        self.beams: dict[str, list[tuple[int, Piece]]] = {}  # beam links -> frame and piece of each stretch
        self.shapes: dict[str, Shape] = {}  # links with a finite-element body
        self.pieces: dict[int, Piece] = {}  # of frames, what their bodies are made of
        self.normals: list[Array] = []  # of the plane, in each frame

    # Frames ------------------------------------------------------------------------------------------------

    def add_frame(
        self,
        name: str,
        anchor: Anchor,
        entry: Entry,
        motion: JointMotion = "fixed",
        axis: Array | None = None,
        body: Body | None = None,
        coordinate: str | None = None,
        friction: spec.Friction = NO_FRICTION,
        kind: Kind | None = None,
        link: str = "",
        role: Role = "link",
    ) -> int:
        """Appends a frame with the coordinates of its joint and body; returns its index. The link is the entry's."""
        index = len(self.frames)
        axis = direction("z") if axis is None else axis
        body = Body() if body is None else body
        normal = self.normal_at(anchor)
        if self.plane is not None:
            self.check_plane(name, motion, axis, normal)
        q, v = self.nq, len(self.coordinates)
        if coordinate is not None:
            self.add_joint_coordinates(index, motion, coordinate, friction, kind, entry)
        e, ev = self.nq, len(self.coordinates)
        for own, unit in zip(body.coordinates, body.units, strict=True):
            self.coordinates.append(Coordinate(f"{name}.{own}", "elastic", unit, index))
            self.nq += 1
        if len(self.coordinates) > _MOST:
            raise EntryError(f"makes more than {_MOST} coordinates; use fewer elements or segments")
        joint = slice(q, e), slice(v, ev)
        elastic = slice(e, self.nq), slice(ev, len(self.coordinates))
        self.frames.append(
            Frame(
                name,
                anchor.frame,
                anchor.marker,
                motion,
                axis,
                body,
                *joint,
                *elastic,
                entry.leg,
                entry.template,
                link or entry.name,
                role,
            )
        )
        self.normals.append(normal)
        return index

    def add_joint_coordinates(
        self, index: int, motion: str, name: str, friction: spec.Friction, kind: Kind | None, entry: Entry
    ) -> None:
        names = _coordinate_names(motion, name, kind)
        if {name, *names} & {c.name for c in self.coordinates}:
            raise EntryError(f"the coordinate {name!r} exists already; choose another name in q")
        motor = self.actuators.get(name)
        driven = motor is not None or getattr(entry.part, "mu", None) == 1
        chosen: Kind = kind or ("active" if driven else "passive")
        if chosen == "active" and motion == "spherical":
            raise EntryError("a spherical joint cannot be driven; use a universal and a revolute joint")
        unit = "m" if motion == "prismatic" else "rad"
        loads = [x for x in (friction, motor) if x is not None]
        inertia = motor.inertia * motor.gear**2 if motor is not None else 0
        width = next((x.width for x in reversed(loads) if not is_zero(x.coulomb)), 0)
        servo = motor.stiffness if motor is not None else None
        viscous, coulomb = sum(x.viscous for x in loads), sum(x.coulomb for x in loads)
        written = getattr(entry.part, "limits", None)
        stroke = (written[0], written[1]) if written is not None else None
        for own in names:
            self.coordinates.append(Coordinate(own, chosen, unit, index, inertia, viscous, coulomb, width, servo, stroke))
        self.nq += 4 if motion == "spherical" else 1

    def add_pieces(self, entry: Entry, frame: int, pieces: list[Piece]) -> None:
        """Hangs the stretches of a beam behind its first, which `frame` carries."""
        self.placed[entry.name] = frame
        if pieces[0].shape is not None:
            self.shapes[entry.name] = pieces[0].shape
            self.pieces[frame] = pieces[0]
        if pieces[0].beam is None:
            return
        listed = [(frame, pieces[0])]
        for number, piece in enumerate(pieces[1:], start=2):
            last, before = listed[-1]
            anchor = Anchor(last, before.section(1))
            frame = self.add_frame(f"{entry.name}#{number}", anchor, entry, body=piece.body, role="segment")
            listed.append((frame, piece))
        self.beams[entry.name] = listed
        self.pieces |= dict(listed)

    def add_spring(
        self,
        entry: Entry,
        anchor: Anchor,
        stiffness: spec.Spring,
        damping: spec.JointDamping | None,
        otherwise: spec.Damping | None,
    ) -> Anchor:
        """The far side of an elastic joint placed at an anchor; `otherwise` damps it if nothing else does."""
        axes = self.planar_axes(self.normal_at(anchor))
        problem = spring_problem(stiffness, damping, axes)
        if problem:
            raise EntryError(f"stiffness: {problem}")
        body = spring_body(stiffness, damping, axes)
        if damping is None:
            body = damped(body, otherwise)
        frame = self.add_frame(f"{entry.name}.spring", anchor, entry, body=body, role="spring")
        return Anchor(frame, spring_marker(body))

    # The plane of planar robots ----------------------------------------------------------------------------

    def normal_at(self, anchor: Anchor) -> Array:
        """The plane's normal in the frame of an anchor; zero for spatial robots."""
        made = zeros(3)
        if self.plane is not None:
            parent = direction(PLANES[self.plane][2]) if anchor.frame < 0 else self.normals[anchor.frame]
            made[:] = [snapped(float(x)) for x in anchor.marker.rotation.T @ parent]
        return made

    def check_plane(self, name: str, motion: str, axis: Array, normal: Array) -> None:
        along = abs(float(axis @ normal))
        if motion == "revolute" and along < 1 - 1e-9:
            text = f"the axis of {name} leaves the plane {self.plane}; a planar robot turns about its normal"
            raise EntryError(text)
        if motion == "prismatic" and along > 1e-9:
            raise EntryError(f"{name} slides out of the plane {self.plane}; turn its axis into the plane")
        if motion == "spherical":
            raise EntryError("a planar robot has no spherical joints; use revolute")

    def planar_axes(self, normal: Array) -> tuple[str, ...] | None:
        """The axes a joint of a planar robot has: two in the plane, one about its normal."""
        if self.plane is None:
            return None
        k = int(np.argmax([abs(float(x)) for x in normal]))
        if abs(float(normal[k])) < 1 - 1e-9:
            raise EntryError("one of the joint's axes must point along the normal of the plane; change rotate")
        return (*(a for i, a in enumerate("xyz") if i != k), "r" + "xyz"[k])

    def upright(self, anchor: Anchor) -> Anchor:
        """An anchor of a planar robot with z along the plane's normal, about which alone it can turn."""
        x, y, _ = (float(n) for n in self.normal_at(anchor))
        if abs(x) < 1 - 1e-9 and abs(y) < 1 - 1e-9:
            return anchor
        turn = turns([{"y": x * np.pi / 2} if abs(x) > abs(y) else {"x": -y * np.pi / 2}])
        return Anchor(anchor.frame, replace(anchor.marker, rotation=anchor.marker.rotation @ turn))

    # Places on links ---------------------------------------------------------------------------------------

    def attach(self, link: str, p: Array, R: Array, on: str | None, entry: Entry) -> Anchor:
        """The anchor at p, R of a link's frame, carried by the nearest section of its beam."""
        if link in self.shapes:
            marker, offset = self.shapes[link].place(p, on)
            return self.held(link, self.placed[link], marker, offset, R, entry)
        if on is not None and link not in self.beams:
            raise EntryError(f"on: {on!r} needs a beam; link {link!r} carries none; give the place by at:")
        if link == "base":
            return Anchor(-1, fixed_marker(p, R))
        frame = self.placed[link]
        if link not in self.beams:
            return Anchor(frame, fixed_marker(p, R, len(self.frames[frame].body.coordinates)))
        pieces = self.beams[link]
        count, first = len(pieces), pieces[0][1]
        axis, length = first.R[:, 0], _beam(first).length * count
        if on is None:
            fraction = _fraction((p - first.p) @ axis, length)
            offset = p - first.p - axis * (fraction * length)
        else:
            if on not in ("start", "middle", "end"):
                raise EntryError(f"on: {on!r} must be start, middle or end of the beam")
            fraction = {"start": 0, "middle": Fraction(1, 2), "end": 1}[on]
            offset = p
        index = min(int(fraction * count), count - 1)
        frame, piece = pieces[index]
        offset = np.array([0 if isinstance(x, float) and abs(x) < 1e-12 else x for x in offset], dtype=object)
        return self.held(link, frame, piece.section(fraction * count - index), offset, R, entry)

    def held(self, link: str, frame: int, section: Marker, offset: Array, R: Array, entry: Entry) -> Anchor:
        """The anchor at the end of a rigid arm `offset` on a section of a body."""
        if is_zero(offset) or not self.frames[frame].body.flexible:
            return Anchor(frame, offset_marker(section, offset, R))
        # an arm turns with its section by the finite rotation: without it a load on the arm has no pendulum stiffness
        arms = sum(f.link == link and f.role == "arm" for f in self.frames)
        held = self.add_frame(f"{link}~arm{arms + 1}", Anchor(frame, section), entry, link=link, role="arm")
        return Anchor(held, fixed_marker(offset, R))


def _coordinate_names(motion: str, name: str, kind: Kind | None) -> list[str]:
    """The names of a joint's coordinates."""
    if motion != "spherical":
        return [name]
    return ["rx", "ry", "rz"] if kind == "platform" else [f"{name}.{a}" for a in ("rx", "ry", "rz")]


def _fraction(x: Any, length: Any) -> Any:
    """x / length between 0 and 1; symbols are compared by their difference."""
    if is_zero(x):
        return 0
    if is_zero(x - length):
        return 1
    if not isinstance(x, (int, float, Fraction)) or not isinstance(length, (int, float, Fraction)):
        raise EntryError("where this sits on the beam depends on a kept parameter; say on: end, middle or start")
    value = x / float(length) if isinstance(x, float) else Fraction(x) / Fraction(length)
    return 0 if value < 1e-9 else 1 if value > 1 - 1e-9 else value


def _beam(piece: Piece) -> BeamSpec:
    assert piece.beam is not None
    return piece.beam
