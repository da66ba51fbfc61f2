"""From a Description to a Mechanism: bodies built, frames placed, legs multiplied, loops listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from supple.errors import RobotFileError
from supple.robot import description as spec
from supple.robot.bodies.record import eye, fixed_marker, is_zero, zeros
from supple.robot.entries import Entry, EntryError, entries, resolved
from supple.robot.fields import AXES
from supple.robot.geometry import direction, point, quaternion_of, turns
from supple.robot.joint_units import unit_faults
from supple.robot.joints import joint_of
from supple.robot.link_bodies import LinkBodies
from supple.robot.mechanism import FORBIDDEN, Anchor, Closure, Mechanism
from supple.robot.quantity import Quantity, QuantityError, evaluate
from supple.robot.reader import Description
from supple.robot.references import BASE
from supple.robot.skeleton import PLANES, Skeleton
from supple.robot.values import check_dimension
from supple.robot.yaml_tree import Path_

T = TypeVar("T")


def assemble(description: Description, rigid: bool = False) -> Mechanism:
    """The Mechanism of a robot; `rigid` takes all flexibility out of it."""
    return _Assembly(description, rigid).mechanism()


class _Assembly:
    def __init__(self, description: Description, rigid: bool) -> None:
        self.description = description
        self.robot = description.robot
        self.tree = description.tree
        self.rigid = rigid
        self.problems: list[str] = []
        self.planar = self.robot.space == "planar"
        self.actuators = entries(description, "actuators")
        self.bodies = LinkBodies(description, rigid)
        self.skeleton = Skeleton(
            self.robot.plane if self.planar else None, {entry.name: entry.part for entry in self.actuators}
        )
        self.failed: set[str] = set()  # links with a problem of their own
        self.platform: int | None = None
        self.orientation: Any = None

    def mechanism(self) -> Mechanism:
        platform: spec.Platform | None = resolved(self.description, "platform")
        if platform is not None:
            entry = Entry("platform", platform, ("platform",))
            self.guarded(entry, self.place_platform)
        self.place_links(entries(self.description, "links"))
        closures = [c for e in entries(self.description, "closures") if (c := self.guarded(e, self.closure))]
        points = {e.name: self.guarded(e, self.point) for e in entries(self.description, "points")}
        if not self.problems:
            self.check_whole(closures)
        start, home = self.guesses(platform)
        if self.problems:
            raise RobotFileError(self.problems)
        robot, skeleton = self.robot, self.skeleton
        return Mechanism(
            name=robot.name,
            about=robot.about,
            source=robot.source,
            planar=self.planar,
            gravity=point(resolved(self.description, "gravity")),
            frames=tuple(skeleton.frames),
            closures=tuple(closures),
            coordinates=tuple(skeleton.coordinates),
            points={name: anchor for name, anchor in points.items() if anchor is not None},
            nq=skeleton.nq,
            start=start,
            home=home,
            platform=self.platform,
            orientation=self.orientation,
            normal=direction(PLANES[robot.plane][2]),
            pieces=skeleton.pieces,
        )

    def guarded(self, entry: Entry, make: Callable[[Entry], T]) -> T | None:
        """make(entry), with its problem noted instead of raised."""
        try:
            return make(entry)
        except _FollowsError:
            pass
        except np.linalg.LinAlgError:
            self.note(entry.path, "its mass and stiffness are too far apart to compute with; check sizes and units")
        except (EntryError, ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
            self.note(entry.path, str(error))
        self.failed.add(entry.name)
        return None

    def note(self, path: Path_, text: str) -> None:
        self.problems.append(self.tree.problem(path, text))

    def find(self, name: str, entry: Entry) -> str:
        """The full name of a link as seen from an entry: the same leg first, then the whole robot."""
        if name in BASE:
            return "base"
        for candidate in ([f"{entry.leg}/{name}"] if entry.leg else []) + [name]:
            if candidate in self.failed:
                raise _FollowsError
            if candidate in self.skeleton.placed:
                return candidate
        raise _FollowsError  # hangs on a link with a problem of its own

    # Links -------------------------------------------------------------------------------------------------

    def place_links(self, links: list[Entry]) -> None:
        """Places links after their parents, whatever their order in the file."""
        waiting = list(links)
        while waiting:
            known = {*BASE, *self.skeleton.placed, *self.failed}
            ready = [e for e in waiting if _parent(e) in known or f"{e.leg}/{_parent(e)}" in known]
            if not ready:
                break
            entry = ready[0]
            self.guarded(entry, self.place_link)
            waiting.remove(entry)

    def place_link(self, entry: Entry) -> None:
        link: spec.Link = entry.part
        if entry.name in self.skeleton.placed:
            raise EntryError(f"there are two links {entry.name!r}; rename one")
        joint = joint_of(entry)
        if link.limits is not None and len(joint.names) != 1:
            raise EntryError("limits are of a joint with one coordinate")
        skeleton = self.skeleton
        anchor = skeleton.attach(self.find(_parent(entry), entry), joint.p, joint.R, link.on, entry)
        if link.stiffness is not None and not self.rigid:
            anchor = skeleton.add_spring(entry, anchor, link.stiffness, link.damping, self.bodies.damping)
        friction = link.friction or spec.Friction.model_construct(viscous=0, coulomb=0, width=0)
        steps = list(zip(joint.steps, joint.names, strict=True))
        for (motion, axis), name in steps[:-1]:
            frame = skeleton.add_frame(
                f"{entry.name}~{name}", anchor, entry, motion, axis, coordinate=name, friction=friction, role="joint"
            )
            anchor = Anchor(frame, fixed_marker(zeros(3), eye()))
        pieces = self.bodies.pieces(link.body, skeleton.normal_at(anchor))
        if steps:
            (motion, axis), name = steps[-1]
            frame = skeleton.add_frame(entry.name, anchor, entry, motion, axis, pieces[0].body, name, friction)
        else:
            frame = skeleton.add_frame(entry.name, anchor, entry, body=pieces[0].body)
        skeleton.add_pieces(entry, frame, pieces)

    # Platform, closures, points ----------------------------------------------------------------------------

    def place_platform(self, entry: Entry) -> None:
        anchor = Anchor(-1, fixed_marker(zeros(3), eye()))
        for letter in PLANES[self.robot.plane][:2] if self.planar else "xyz":
            frame = self.skeleton.add_frame(
                f"platform~{letter}",
                anchor,
                entry,
                "prismatic",
                direction(letter),
                coordinate=letter,
                kind="platform",
                link="platform",
                role="slide",
            )
            anchor = Anchor(frame, fixed_marker(zeros(3), eye()))
        if not self.planar:
            self.orientation = quaternion_of(turns(entry.part.rotate))
        pieces = self.bodies.pieces(entry.part.body, self.skeleton.normal_at(anchor), floating=True)
        self.platform = self.skeleton.add_frame(
            "platform",
            anchor,
            entry,
            "revolute" if self.planar else "spherical",
            direction(PLANES[self.robot.plane][2]) if self.planar else None,
            body=pieces[0].body,
            coordinate="r",
            kind="platform",
            link="platform",
        )
        self.skeleton.add_pieces(entry, self.platform, pieces)

    def anchor(self, entry: Entry, part: spec.Anchor | spec.Point) -> Anchor:
        return self.skeleton.attach(self.find(part.link, entry), point(part.at), turns(part.rotate), part.on, entry)

    def point(self, entry: Entry) -> Anchor:
        return self.anchor(entry, entry.part)

    def closure(self, entry: Entry) -> Closure:
        part: spec.Closure = entry.part
        first, second = self.anchor(entry, part.first), self.anchor(entry, part.second)
        if part.stiffness is not None and not self.rigid:
            first = self.skeleton.add_spring(entry, first, part.stiffness, part.damping, self.bodies.damping)
        joint: str = part.joint
        if joint == "universal":
            cross = self.skeleton.add_frame(
                f"{entry.name}~cross",
                first,
                entry,
                "revolute",
                direction("x"),
                coordinate=f"q_{entry.name}",
                role="joint",
            )
            lay = turns([{"x": -np.pi / 2}])  # z of the laid frame is the cross's y axis
            first = Anchor(cross, fixed_marker(zeros(3), lay))
            second = Anchor(second.frame, replace(second.marker, rotation=second.marker.rotation @ lay))
            joint = "revolute"
        if self.planar and joint == "revolute":
            first, second = self.skeleton.upright(first), self.skeleton.upright(second)
        return Closure(entry.name, part.joint, first, second, self.forbidden(joint, first))

    def forbidden(self, joint: str, first: Anchor) -> tuple[int, ...]:
        """What a closing joint forbids of the relative motion that there is in space or in the plane."""
        axes = self.skeleton.planar_axes(self.skeleton.normal_at(first))
        if axes is None:
            return FORBIDDEN[joint]
        made = tuple(k for k in FORBIDDEN[joint] if AXES[k] in axes)
        if not made or (joint == "prismatic" and "z" not in axes):
            text = f"the z axis of this {joint} joint is the normal of the plane {self.robot.plane}; turn it into the plane"
            raise EntryError(f"{text} by rotate")
        return made

    # The whole ---------------------------------------------------------------------------------------------

    def check_whole(self, closures: list[Closure]) -> None:
        if not self.skeleton.coordinates:
            self.note(("links",), "nothing moves or bends; give a link a joint or a flexible body")
        if self.platform is not None:
            ancestors = set()
            for frame in {a.frame for c in closures for a in (c.first, c.second)}:
                while frame >= 0:
                    ancestors.add(frame)
                    frame = self.skeleton.frames[frame].parent
            if self.platform not in ancestors:
                self.note(("platform",), "is not connected: add closures to its legs")
        for path, text in unit_faults(self.description, {c.name: c.unit for c in self.skeleton.coordinates}):
            self.note(path, text)
        names = {c.name for c in self.skeleton.coordinates if c.kind in ("active", "passive")}
        for entry in self.actuators:
            if entry.name not in names:
                own = str(entry.path[-1])
                known = {n.rpartition("/")[2] for n in names if n.rpartition("/")[0] == entry.leg}
                self.note(entry.path, f"there is no joint coordinate {own!r}; {_hint(own, known)}")

    def guesses(self, platform: spec.Platform | None) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Assembly modes and the home pose, with leg/q written once for all legs."""
        placed: dict[str, Any] = {}
        if platform is not None and self.platform is not None:
            at = point(platform.at)
            letters = PLANES[self.robot.plane][:2] if self.planar else ("x", "y", "z")
            placed = {letter: at["xyz".index(letter)] for letter in letters}
            if self.planar:
                placed["r"] = self.planar_turn(platform)
                if not is_zero(at["xyz".index(PLANES[self.robot.plane][2][-1])]):
                    self.note(("platform", "at"), f"leaves the plane {self.robot.plane}; give 0 along its normal")
        modes: dict[str, Any] = self.robot.assembly or {"default": {}}
        start = {mode: placed | self.expanded(values, ("assembly", mode)) for mode, values in modes.items()}
        return start, self.expanded(self.robot.home, ("home",))

    def planar_turn(self, platform: spec.Platform) -> Any:
        """The platform's angle about the plane's normal."""
        normal = PLANES[self.robot.plane][2]
        steps = platform.rotate if isinstance(platform.rotate, list) else [platform.rotate or {}]
        turned: Any = 0
        for step in steps:
            for axis, angle in step.items():
                if axis != normal[-1]:
                    self.note(("platform", "rotate"), f"a planar robot turns about {normal[-1]} only")
                turned = turned + (-angle if normal[0] == "-" else angle)
        return turned

    def expanded(self, values: Mapping[str, Quantity], path: Path_) -> dict[str, Any]:
        """Coordinate -> number, for the names and leg/names of a pose."""
        units = {c.name: c.unit for c in self.skeleton.coordinates if c.kind != "elastic"}
        made: dict[str, Any] = {}
        for key, quantity in values.items():
            template, _, own = key.partition("/")
            matches = [key] if key in units else []
            if own and template in self.robot.legs:
                legs = {f"{template}{k + 1}" for k in range(self.robot.legs[template].count)}
                matches = [n for n in units if n.partition("/")[2] == own and n.partition("/")[0] in legs]
            if not matches:
                if not self.problems:
                    self.note((*path, key), f"there is no coordinate {key!r}; {_hint(key, units)}")
                continue
            value = evaluate(quantity, self.description.parameters)
            try:
                check_dimension(value, "length" if units[matches[0]] == "m" else "angle")
            except QuantityError as error:
                self.note((*path, key), str(error))
            made |= dict.fromkeys(matches, value.number)
        return made


class _FollowsError(Exception):
    """An entry that cannot be placed because another one has a problem, which is noted there."""


def _parent(entry: Entry) -> str:
    return str(entry.part.parent if entry.part.a is None else entry.part.a)


def _hint(name: str, known: Any) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known)[:12]) or 'none'}"
