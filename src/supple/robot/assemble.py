"""From a Description to a Mechanism: bodies built, frames placed, legs multiplied, loops listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

import numpy as np

from supple.errors import RobotFileError
from supple.robot import description as spec
from supple.robot.bodies.beam import BeamSpec, beam_body, beam_marker
from supple.robot.bodies.damping import damped
from supple.robot.bodies.record import (
    Array, Body, eye, fixed_marker, is_zero, moved, moved_marker, offset_marker, zeros,
)  # fmt: skip
from supple.robot.bodies.rigid import rigid_body
from supple.robot.bodies.section import cross_section
from supple.robot.bodies.spring import spring_body, spring_marker, spring_problem
from supple.robot.geometry import (
    beam_frame, direction, khalil_kleinfinger, point, quaternion, snapped, turns,
)  # fmt: skip
from supple.robot.mechanism import FORBIDDEN, Anchor, Closure, Coordinate, Frame, Mechanism
from supple.robot.reader import Description, leg_scope, resolve
from supple.robot.yaml_tree import Path_

_PLANES = {"xy": ("x", "y", "z"), "xz": ("x", "z", "-y"), "yz": ("y", "z", "x")}
_BASE = ("base", "0")


def assemble(description: Description, rigid: bool = False) -> Mechanism:
    """The Mechanism of a robot; `rigid` takes all flexibility out of it."""
    return _Assembly(description, rigid).mechanism()


@dataclass(frozen=True)
class _Entry:
    """A part of the file as it is used: template entries once per leg."""

    name: str
    part: Any
    path: Path_
    leg: str = ""
    template: str = ""


@dataclass(frozen=True)
class _Piece:
    """A stretch of a link's beam: its frame, its beam and where that lies in the link."""

    frame: int
    beam: BeamSpec
    R: Array
    p: Array


class _Problem(Exception):
    """Something wrong with the entry at hand; the rest of the file is still looked at."""


class _Assembly:
    def __init__(self, description: Description, rigid: bool) -> None:
        self.tree = description.tree
        self.robot = description.robot
        self.parameters = description.parameters
        self.rigid = rigid
        self.problems: list[str] = []
        self.planar = self.robot.space == "planar"
        self.frames: list[Frame] = []
        self.coordinates: list[Coordinate] = []
        self.nq = 0
        self.placed: dict[str, int] = {}  # link -> its frame
        self.pieces: dict[str, list[_Piece]] = {}  # beam links -> their stretches
        self.normals: list[Array] = []  # of the plane, in each frame
        self.used_bodies: set[str] = set()
        self.platform: int | None = None
        self.orientation: Array | None = None
        resolved = {
            key: resolve(getattr(self.robot, key), self.parameters, (key,), self.tree, [])
            for key in ("materials", "sections", "bodies", "gravity", "damping", "platform", "home", "assembly")
        }
        self.values: dict[str, Any] = resolved
        self.actuators: dict[str, spec.Actuator] = {}

    def mechanism(self) -> Mechanism:
        links = self.entries("links")
        for entry in self.entries("actuators"):
            self.actuators[entry.name] = entry.part
        if self.values["platform"] is not None:
            self.guarded(_Entry("platform", self.values["platform"], ("platform",)), self.place_platform)
        self.place_links(links)
        closures = []
        for entry in self.entries("closures"):
            closures += self.guarded(entry, self.closure) or []
        points: dict[str, Anchor] = {}
        for entry in self.entries("points"):
            anchor = self.guarded(entry, self.anchor)
            if anchor is not None:
                points[entry.name] = anchor
        self.check_whole(closures)
        start, home = self.guesses()
        if self.problems:
            raise RobotFileError(list(dict.fromkeys(self.problems)))
        return Mechanism(
            self.robot.name, self.robot.about, self.robot.source, self.planar, point(self.values["gravity"]),
            tuple(self.frames), tuple(closures), tuple(self.coordinates), points, self.nq, start, home,
            self.platform, self.orientation,
        )  # fmt: skip

    # Entries -----------------------------------------------------------------------------------------------------

    def entries(self, section: str) -> list[_Entry]:
        """Entries of a section outside the legs, then those of every leg, with numbers in place of quantities."""
        made = []
        for name, part in getattr(self.robot, section).items():
            path = (section, name)
            made.append(_Entry(name, resolve(part, self.parameters, path, self.tree, []), path))
        for template, leg in self.robot.legs.items():
            for index in range(leg.count):
                scope = leg_scope(self.robot, template, index, self.parameters, self.tree, [])
                prefix = f"{template}{index + 1}"
                for name, part in getattr(leg, section).items():
                    path = ("legs", template, section, name)
                    numbers = resolve(part, scope, path, self.tree, [])
                    made.append(_Entry(f"{prefix}/{name}", numbers, path, prefix, template))
        return made

    def guarded(self, entry: _Entry, make: Any) -> Any:
        """make(entry), with its problem noted instead of raised."""
        try:
            return make(entry)
        except _Problem as problem:
            self.problems.append(self.tree.problem(entry.path, str(problem)))
        except (ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
            self.problems.append(self.tree.problem(entry.path, str(error)))
        return None

    def find(self, name: str, entry: _Entry) -> str:
        """The full name of a link as seen from an entry: the same leg first, then the whole robot."""
        if name in _BASE:
            return "base"
        for candidate in ([f"{entry.leg}/{name}"] if entry.leg else []) + [name]:
            if candidate in self.placed:
                return candidate
        close = get_close_matches(name, [n.split("/")[-1] if entry.leg else n for n in self.placed], n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "; known: base, " + ", ".join(list(self.placed)[:12])
        raise _Problem(f"there is no link {name!r}{hint}")

    # Links -------------------------------------------------------------------------------------------------------

    def place_links(self, links: list[_Entry]) -> None:
        """Places links after their parents, whatever their order in the file."""
        waiting = list(links)
        every = {e.name for e in links} | {"platform"} | set(_BASE)
        while waiting:
            entry = next((e for e in waiting if self.parent_known(e)), None)
            if entry is None:
                break
            self.guarded(entry, self.place_link)
            self.placed.setdefault(entry.name, -2)
            waiting.remove(entry)
        for entry in waiting:
            parent = entry.part.a or entry.part.parent
            local = f"{entry.leg}/{parent}" if entry.leg else parent
            if parent in every or local in every:
                text = f"hangs on {parent!r}, which never reaches the base; start the chain with parent: base"
            else:
                close = get_close_matches(parent, [n.split("/")[-1] for n in every], n=1)
                text = f"parent {parent!r} does not exist" + (f"; did you mean {close[0]!r}?" if close else "")
            self.problems.append(self.tree.problem(entry.path, text))

    def parent_known(self, entry: _Entry) -> bool:
        parent = entry.part.a or entry.part.parent
        return parent in _BASE or parent in self.placed or f"{entry.leg}/{parent}" in self.placed

    def place_link(self, entry: _Entry) -> None:
        link = entry.part
        motion, axes, R, p = self.joint_of(link)
        parent = self.find(link.a or link.parent, entry)
        if parent != "base" and self.placed[parent] < 0:
            return  # its parent had a problem of its own
        anchor = self.attach(parent, p, R, link.on)
        if link.stiffness is not None and not self.rigid:
            anchor = self.spring(entry, anchor, link.stiffness, link.damping)
        friction = link.friction or spec.Friction.model_construct(viscous=0, coulomb=0, width=0)
        names = self.joint_names(entry, motion, len(axes))
        steps = list(zip(self.motions(motion, axes), names, strict=True)) or [(("fixed", direction("z")), None)]
        for (kind, axis), name in steps[:-1]:
            frame = self.add_frame(f"{entry.name}~{name}", anchor, kind, axis, Body(), entry, name, friction)
            anchor = Anchor(frame, fixed_marker(zeros(3), eye()))
        (kind, axis), name = steps[-1]
        normal = self.normal_at(anchor)
        pieces = self.body_pieces(link.body, normal, entry)
        frame = self.add_frame(entry.name, anchor, kind, axis, pieces[0][0], entry, name, friction)
        self.placed[entry.name] = frame
        self.add_pieces(entry, frame, pieces)

    def joint_of(self, link: spec.Link) -> tuple[str, list[Array], Array, Array]:
        """Joint type, axes, and the constant frame (rotation, position) of a link in its parent."""
        table = {k: getattr(link, k) for k in ("mu", "sigma", "gamma", "b", "alpha", "d", "theta", "r")}
        plain = {k: getattr(link, k) for k in ("at", "rotate", "joint", "axis")}
        if link.a is not None:
            mixed = [k for k, v in plain.items() if v is not None]
            if mixed:
                raise _Problem(f"a Khalil-Kleinfinger row (with a:) has no {mixed[0]!r}; use parent: for plain frames")
            if link.sigma is None:
                raise _Problem("needs sigma: 0 revolute, 1 prismatic or 2 fixed")
            zero = {k: v or 0 for k, v in table.items() if k not in ("mu", "sigma")}
            R, p = khalil_kleinfinger(**zero)
            return ("revolute", "prismatic", "fixed")[link.sigma], [direction("z")], R, p
        mixed = [k for k, v in table.items() if v is not None]
        if mixed:
            raise _Problem(f"{mixed[0]!r} belongs to a Khalil-Kleinfinger row; give the parent as a: instead of parent:")
        motion = link.joint or "fixed"
        given = link.axis if link.axis is not None else (["x", "y"] if motion == "universal" else "z")
        several = isinstance(given, list) and any(isinstance(a, (str, list)) for a in given)
        axes = [direction(a) for a in given] if several else [direction(given)]
        if motion == "universal" and len(axes) != 2:
            raise _Problem("a universal joint needs two axes, such as axis: [x, y]")
        if motion != "universal" and len(axes) != 1:
            raise _Problem(f"a {motion} joint needs one axis")
        return motion, axes, turns(link.rotate), point(link.at)

    def motions(self, motion: str, axes: list[Array]) -> list[tuple[str, Array]]:
        """A joint as a chain of elementary motions."""
        match motion:
            case "fixed":
                return []
            case "universal":
                return [("revolute", axes[0]), ("revolute", axes[1])]
            case "cylindrical":
                return [("prismatic", axes[0]), ("revolute", axes[0])]
        return [(motion, axes[0])]

    def joint_names(self, entry: _Entry, motion: str, axes: int) -> list[str]:
        count = {"fixed": 0, "universal": 2, "cylindrical": 2}.get(motion, 1)
        given = entry.part.q
        if count == 0:
            if given is not None:
                raise _Problem("a fixed joint has no coordinate q")
            return []
        bare = entry.name.split("/")[-1]
        if given is None:
            given = f"q_{bare}" if count == 1 else [f"q_{bare}_{k + 1}" for k in range(count)]
        listed = [given] if isinstance(given, str) else list(given)
        if len(listed) != count:
            raise _Problem(f"a {motion} joint needs {count} name{'s' if count > 1 else ''} in q")
        return [f"{entry.leg}/{n}" if entry.leg else n for n in listed]

    # Frames ------------------------------------------------------------------------------------------------------

    def add_frame(
        self, name: str, anchor: Anchor, motion: Any, axis: Array, body: Body, entry: _Entry,
        coordinate: str | None = None, friction: Any = None, kind: Any = None,
    ) -> int:  # fmt: skip
        """Appends a frame with its coordinates; returns its index."""
        index = len(self.frames)
        normal = self.normal_at(anchor)
        if self.planar:
            self.check_plane(name, motion, axis, normal)
        q, v = self.nq, len(self.coordinates)
        if coordinate is not None:
            self.add_joint_coordinates(index, motion, coordinate, friction, kind, entry)
        e, ev = self.nq, len(self.coordinates)
        for own, unit in zip(body.coordinates, body.units, strict=True):
            self.coordinates.append(Coordinate(f"{name}.{own}", "elastic", unit, index))
            self.nq += 1
        self.frames.append(
            Frame(
                name, anchor.frame, anchor.marker, motion, axis, body, slice(q, e), slice(v, ev),
                slice(e, self.nq), slice(ev, len(self.coordinates)), entry.leg, entry.template,
            )  # fmt: skip
        )
        self.normals.append(normal)
        return index

    def add_joint_coordinates(
        self, index: int, motion: str, name: str, friction: Any, kind: Any, entry: _Entry
    ) -> None:
        if any(c.name == name for c in self.coordinates):
            raise _Problem(f"the coordinate {name!r} exists already; choose another name in q")
        names = [f"{name}.{a}" for a in ("rx", "ry", "rz")] if motion == "spherical" else [name]
        if motion == "spherical" and kind == "platform":
            names = ["rx", "ry", "rz"]
        motor = self.actuators.get(name)
        declared = getattr(entry.part, "mu", None) == 1
        chosen = kind or ("active" if motor is not None or declared else "passive")
        if chosen == "active" and motion == "spherical":
            raise _Problem("a spherical joint cannot be driven; use a universal and a revolute joint")
        unit = "m" if motion == "prismatic" else "rad"
        loads = [x for x in (friction, motor) if x is not None]
        inertia = motor.inertia * motor.gear**2 if motor is not None else 0
        width = next((x.width for x in reversed(loads) if not is_zero(x.coulomb)), 0)
        for own in names:
            self.coordinates.append(
                Coordinate(
                    own, chosen, unit, index, inertia, sum(x.viscous for x in loads), sum(x.coulomb for x in loads), width
                )
            )
        self.nq += 4 if motion == "spherical" else 1

    def normal_at(self, anchor: Anchor) -> Array:
        """The plane's normal in the frame of an anchor."""
        if not self.planar:
            return zeros(3)
        parent = direction(_PLANES[self.robot.plane][2]) if anchor.frame < 0 else self.normals[anchor.frame]
        n = anchor.marker.rotation.T @ parent
        made = zeros(3)
        made[:] = [snapped(float(x)) for x in n]
        return made

    def check_plane(self, name: str, motion: str, axis: Array, normal: Array) -> None:
        along = abs(float(axis @ normal))
        if motion == "revolute" and along < 1 - 1e-9:
            raise _Problem(f"the axis of {name} leaves the plane {self.robot.plane}; a planar robot turns about its normal")
        if motion == "prismatic" and along > 1e-9:
            raise _Problem(f"{name} slides out of the plane {self.robot.plane}")
        if motion == "spherical":
            raise _Problem("a planar robot has no spherical joints; use revolute")

    def spring(self, entry: _Entry, anchor: Anchor, stiffness: spec.Spring, damping: Any) -> Anchor:
        """The far side of an elastic joint placed at an anchor."""
        axes = self.planar_axes(self.normal_at(anchor))
        problem = spring_problem(stiffness, damping, axes)
        if problem:
            raise _Problem(f"stiffness: {problem}")
        body = spring_body(stiffness, damping, axes)
        if damping is None:
            body = damped(body, self.values["damping"])
        frame = self.add_frame(f"{entry.name}.spring", anchor, "fixed", direction("z"), body, entry)
        return Anchor(frame, spring_marker(body))

    def planar_axes(self, normal: Array) -> tuple[str, ...] | None:
        if not self.planar:
            return None
        k = int(np.argmax([abs(float(x)) for x in normal]))
        if abs(float(normal[k])) < 1 - 1e-9:
            raise _Problem("the joint's axes must lie in or along the normal of the plane")
        return (*(a for i, a in enumerate("xyz") if i != k), "r" + "xyz"[k])

    # Bodies ------------------------------------------------------------------------------------------------------

    def body_pieces(self, given: Any, normal: Array, entry: _Entry) -> list[tuple[Body, BeamSpec | None, Array, Array]]:
        """The Bodies of a link: one, or one per segment of a segmented beam."""
        if given is None:
            return [(Body(), None, eye(), zeros(3))]
        if isinstance(given, str):
            if given not in self.values["bodies"]:
                close = get_close_matches(given, self.values["bodies"], n=1)
                hint = f"did you mean {close[0]!r}?" if close else "define it under bodies"
                raise _Problem(f"there is no body {given!r}; {hint}")
            self.used_bodies.add(given)
            given = self.values["bodies"][given]
        if given.rigid is not None:
            return [(rigid_body(given.rigid), None, eye(), zeros(3))]
        return self.beam_pieces(given.beam, normal)

    def beam_pieces(self, beam: spec.Beam, normal: Array) -> list[tuple[Body, BeamSpec | None, Array, Array]]:
        for kind, name in (("materials", beam.material), ("sections", beam.section)):
            if name not in self.values[kind]:
                close = get_close_matches(name, self.values[kind], n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"define it under {kind}"
                raise _Problem(f"beam: there is no {kind[:-1]} {name!r}; {hint}")
        material = self.values["materials"][beam.material]
        section = cross_section(self.values["sections"][beam.section], material.nu)
        G = material.G if material.G is not None else material.E / (2 * (1 + material.nu))
        x = direction(beam.axis)
        R = beam_frame(x, self.up(beam, x, normal))
        segments = 1 if self.rigid else int(beam.segments)
        length = beam.length if segments == 1 else beam.length * Fraction(1, segments)
        made = BeamSpec(
            length, section, material.E, G, material.rho, 0 if self.rigid else int(beam.elements), self.planar,
            beam.theory == "timoshenko",
        )  # fmt: skip
        body = damped(beam_body(made), beam.damping or self.values["damping"])
        start = point(beam.start)
        first = (moved(body, R, start), made, R, start)
        rest = (moved(body, R, zeros(3)), made, R, zeros(3))
        return [first] + [rest] * (segments - 1)

    def up(self, beam: spec.Beam, x: Array, normal: Array) -> Array:
        if self.planar:
            if abs(float(x @ normal)) > 1e-9:
                raise _Problem(f"the beam's axis leaves the plane {self.robot.plane}")
            return normal
        if beam.up is not None:
            return direction(beam.up)
        return direction("z" if abs(float(x[2])) < 1 - 1e-9 else "x")

    def add_pieces(self, entry: _Entry, frame: int, pieces: list[Any]) -> None:
        if pieces[0][1] is None:
            return
        _, beam, R, p = pieces[0]
        listed = [_Piece(frame, beam, R, p)]
        for number, (body, beam, R, p) in enumerate(pieces[1:], start=2):
            last = listed[-1]
            tip = moved_marker(beam_marker(last.beam, 1), last.R, last.p)
            anchor = Anchor(last.frame, replace(tip, rotation=eye()))
            frame = self.add_frame(f"{entry.name}#{number}", anchor, "fixed", direction("z"), body, entry)
            listed.append(_Piece(frame, beam, R, p))
        self.pieces[entry.name] = listed

    # Places on links ---------------------------------------------------------------------------------------------

    def attach(self, link: str, p: Array, R: Array, on: str | None) -> Anchor:
        """The anchor at position p and rotation R of a link's frame, carried by the nearest section of its beam."""
        if link == "base":
            return Anchor(-1, fixed_marker(p, R))
        frame = self.placed[link]
        if link not in self.pieces:
            if on is not None:
                raise _Problem(f"on: {on!r} needs a beam; link {link!r} carries none")
            return Anchor(frame, fixed_marker(p, R, len(self.frames[frame].body.coordinates)))
        pieces = self.pieces[link]
        count = len(pieces)
        origin, axis = pieces[0].p, pieces[0].R[:, 0]
        length = pieces[0].beam.length * count
        if on is None:
            fraction = self.fraction((p - origin) @ axis, length)
            offset = p - origin - axis * (fraction * length)
        else:
            if on not in ("start", "middle", "end"):
                raise _Problem(f"on: {on!r} must be start, middle or end of the beam")
            fraction = {"start": 0, "middle": Fraction(1, 2), "end": 1}[on]
            offset = p
        index = min(int(fraction * count), count - 1)
        piece = pieces[index]
        marker = moved_marker(beam_marker(piece.beam, fraction * count - index), piece.R, piece.p)
        offset = np.array([0 if isinstance(x, float) and abs(x) < 1e-12 else x for x in offset], dtype=object)
        return Anchor(piece.frame, offset_marker(replace(marker, rotation=eye()), offset, R))

    def fraction(self, x: Any, length: Any) -> Any:
        """x / length between 0 and 1; symbols are compared by their difference."""
        if is_zero(x):
            return 0
        if is_zero(x - length):
            return 1
        if not isinstance(x, (int, float, Fraction)) or not isinstance(length, (int, float, Fraction)):
            raise _Problem("where this sits on the beam depends on a kept parameter; say on: end, middle or start")
        value = Fraction(x) / Fraction(length) if not isinstance(x, float) else x / float(length)
        return 0 if value < 1e-9 else 1 if value > 1 - 1e-9 else value

    def anchor(self, entry: _Entry, part: Any = None) -> Anchor:
        part = part or entry.part
        link = self.find(part.link, entry)
        if link != "base" and self.placed[link] < 0:
            raise _Problem(f"link {link!r} has a problem of its own")
        return self.attach(link, point(part.at), turns(getattr(part, "rotate", None)), part.on)

    # Platform and closures ---------------------------------------------------------------------------------------

    def place_platform(self, entry: _Entry) -> None:
        letters = _PLANES[self.robot.plane][:2] if self.planar else ("x", "y", "z")
        anchor = Anchor(-1, fixed_marker(zeros(3), eye()))
        none = spec.Friction.model_construct(viscous=0, coulomb=0, width=0)
        for letter in letters:
            frame = self.add_frame(
                f"platform~{letter}", anchor, "prismatic", direction(letter), Body(), entry, letter, none, "platform"
            )
            anchor = Anchor(frame, fixed_marker(zeros(3), eye()))
        if self.planar:
            R = zeros(3, 3)
            for k, letter in enumerate(_PLANES[self.robot.plane]):
                R[:, k] = direction(letter)
            anchor = Anchor(anchor.frame, fixed_marker(zeros(3), R))
        pieces = self.body_pieces(entry.part.body, self.normal_at(anchor), entry)
        motion = "revolute" if self.planar else "spherical"
        self.platform = self.add_frame(
            "platform", anchor, motion, direction("z"), pieces[0][0], entry, "r", none, "platform"
        )
        self.placed["platform"] = self.platform
        self.add_pieces(entry, self.platform, pieces)
        if not self.planar:
            self.orientation = quaternion(turns(entry.part.rotate))

    def closure(self, entry: _Entry) -> list[Closure]:
        part = entry.part
        first, second = self.anchor(entry, part.first), self.anchor(entry, part.second)
        if part.stiffness is not None and not self.rigid:
            first = self.spring(entry, first, part.stiffness, part.damping)
        joint = part.joint
        if joint == "universal":
            none = spec.Friction.model_construct(viscous=0, coulomb=0, width=0)
            cross_frame = self.add_frame(
                f"{entry.name}~cross", first, "revolute", direction("x"), Body(), entry, f"q_{entry.name}", none
            )
            lay = turns([{"x": -np.pi / 2}])  # z of the laid frame is the cross's y axis
            first = Anchor(cross_frame, fixed_marker(zeros(3), lay))
            second = Anchor(second.frame, replace(second.marker, rotation=second.marker.rotation @ lay))
            joint = "revolute"
        forbidden = FORBIDDEN[joint]
        if self.planar:
            axes = self.planar_axes(self.normal_at(first))
            assert axes is not None
            kept = {("x", "y", "z", "rx", "ry", "rz").index(a) for a in axes}
            forbidden = tuple(k for k in forbidden if k in kept)
        return [Closure(entry.name, part.joint, first, second, forbidden)]

    # The whole ---------------------------------------------------------------------------------------------------

    def check_whole(self, closures: list[Closure]) -> None:
        for name in self.robot.bodies:
            if name not in self.used_bodies and not self.problems:
                self.problems.append(
                    self.tree.problem(("bodies", name), "is not connected: no link carries it; add a link or remove it")
                )
        if self.platform is not None and not self.problems:
            tied = {a.frame for c in closures for a in (c.first, c.second)}
            ancestors = set()
            for frame in tied:
                while frame >= 0:
                    ancestors.add(frame)
                    frame = self.frames[frame].parent
            if self.platform not in ancestors:
                self.problems.append(self.tree.problem(("platform",), "is not connected: add closures to its legs"))
        if not self.frames and not self.problems:
            self.problems.append(self.tree.problem(("links",), "there are no links; a robot needs at least one"))
        names = {c.name for c in self.coordinates if c.kind in ("active", "passive")}
        for entry in self.entries("actuators"):
            if entry.name not in names and not self.problems:
                close = get_close_matches(entry.name, names, n=1)
                hint = f"did you mean {close[0]!r}?" if close else "use the q of a joint"
                self.problems.append(self.tree.problem(entry.path, f"there is no joint coordinate {entry.name!r}; {hint}"))

    def guesses(self) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Assembly modes and the home pose, with leg/q written once for all legs."""
        given = self.values["platform"]
        placed: dict[str, Any] = {}
        if given is not None and self.platform is not None:
            at = point(given.at)
            placed = {c: at["xyz".index(c)] for c in ("x", "y", "z") if any(k.name == c for k in self.coordinates)}
            if self.planar:
                steps = [given.rotate] if isinstance(given.rotate, dict) else given.rotate or []
                placed["r"] = sum(angle for step in steps for angle in step.values())
        start = {}
        for mode, values in (self.values["assembly"] or {"default": {}}).items():
            start[mode] = placed | self.expanded(values, ("assembly", mode))
        return start, self.expanded(self.values["home"], ("home",))

    def expanded(self, values: dict[str, Any], path: Path_) -> dict[str, Any]:
        names = [c.name for c in self.coordinates]
        made = {}
        for key, value in values.items():
            template, _, own = key.partition("/")
            if template in self.robot.legs and own:
                matches = [n for n in names if n.startswith(template) and n.partition("/")[2] == own]
            else:
                matches = [key] if key in names else []
            if not matches and not self.problems:
                close = get_close_matches(key, names, n=1)
                hint = f"did you mean {close[0]!r}?" if close else "use the q of a joint"
                self.problems.append(self.tree.problem((*path, key), f"there is no coordinate {key!r}; {hint}"))
            made |= dict.fromkeys(matches, value)
        return made


