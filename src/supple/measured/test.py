"""`Test`: a test file read, in numbers, its names checked against the robot: sensors, exciters, poses, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from supple.errors import RobotFileError
from supple.measured import test_file as spec
from supple.robot.bodies.record import Array
from supple.robot.geometry import direction, turns
from supple.robot.mechanism import Mechanism
from supple.robot.reader import Description
from supple.robot.structure import structure_problems
from supple.robot.values import Scope, resolve
from supple.robot.yaml_tree import FileTree, printable, read_text, read_tree

ORDERS = {"displacement": 0, "encoder": 0, "strain": 0, "force": 0, "velocity": 1, "accelerometer": 2}
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Channel:
    """One axis of a sensor, or an exciter: `vector` in base axes, or in the axes of its link; `code` is its direction in
    the measurement system, 1 to 3 for x, y, z (0: none); `order` how often displacement is differentiated."""

    name: str
    place: str  # of the sensor or exciter
    vector: Array
    in_link: bool
    node: int
    code: int
    order: int = 0
    joint: str | None = None
    gauge: float = 0.0  # length (m) of a strain gauge, from its place on along its vector
    force: bool = False  # in the spring whose coordinate `joint` is

    @property
    def end(self) -> str:
        """The other end of a strain gauge."""
        return f"end-of-{self.place}"


@dataclass(frozen=True)
class Pose:
    """A pose in SI, what was measured in it, and where."""

    name: str
    at: dict[str, float]
    assembly: str | None
    free: bool
    held_out: bool
    written: spec.Pose


@dataclass(frozen=True)
class Test:
    """A test of a robot."""

    __test__ = False  # no test of pytest's

    file: str
    folder: Path
    tree: FileTree
    written: spec.TestFile  # in numbers
    outputs: tuple[Channel, ...]
    inputs: tuple[Channel, ...]
    poses: tuple[Pose, ...]

    def problem(self, path: tuple[Any, ...], text: str) -> RobotFileError:
        """An error at a place of the test file."""
        return RobotFileError([self.tree.problem(path, text)])

    def pose(self, name: str) -> Pose:
        found = next((p for p in self.poses if p.name == name), None)
        if found is None:
            raise self.problem(("poses",), f"there is no pose {name!r}; there are: {', '.join(p.name for p in self.poses)}")
        return found

    @property
    def band(self) -> tuple[float, float]:
        first, last = (float(x) for x in self.written.band)
        return first, last


def read_test(path: Path, description: Description, mechanism: Mechanism) -> Test:
    """The Test of a file for a robot; every problem of it is told at once."""
    return parse_test(read_text(path), printable(str(path), most=1000), path.parent, description, mechanism)


def parse_test(text: str, file: str, folder: Path, description: Description, mechanism: Mechanism) -> Test:
    """The Test of a text."""
    tree = read_tree(text, file)
    if not isinstance(tree.value, dict):
        raise RobotFileError([f"{file}:1: must hold keys such as sensors, exciters and poses"])
    try:
        written = spec.TestFile.model_validate(tree.value)
    except ValidationError as error:
        raise RobotFileError([*tree.problems, *structure_problems(error, tree, spec.TestFile)]) from error
    scope = Scope(tree, list(tree.problems))
    numbers = resolve(written, description.parameters, (), scope)
    if not scope.problems:
        _Names(numbers, scope, description, mechanism).check()
    if scope.problems:
        raise RobotFileError(scope.problems)
    outputs = tuple(c for name, s in numbers.sensors.items() for c in _sensor(name, s))
    inputs = tuple(_exciter(name, e) for name, e in numbers.exciters.items())
    poses = tuple(
        Pose(name, {k: float(x) for k, x in p.at.items()}, p.assembly, p.actuators == "free", p.held_out, p)
        for name, p in numbers.poses.items()
    )
    return Test(file, folder, tree, numbers, outputs, inputs, poses)


def _sensor(name: str, sensor: spec.Sensor) -> list[Channel]:
    order, node = ORDERS[sensor.kind], sensor.node or 0
    if sensor.joint is not None:
        return [Channel(name, name, np.zeros(3), False, node, 0, 0, sensor.joint, force=sensor.kind == "force")]
    turned = turns(sensor.rotate).astype(float)
    if sensor.kind == "strain":
        axis = sensor.directions[0]
        along = turned @ direction(axis).astype(float)
        return [Channel(name, name, along, True, node, _code(axis), 0, None, float(sensor.gauge))]
    return [
        Channel(f"{name}.{axis}", name, turned @ direction(axis).astype(float), sensor.axes == "link", node,
                _code(axis), order)
        for axis in sensor.directions
    ]  # fmt: skip


def _exciter(name: str, exciter: spec.Exciter) -> Channel:
    along = direction(exciter.direction).astype(float)
    turned = turns(exciter.rotate).astype(float) @ along
    return Channel(name, name, turned, exciter.axes == "link", exciter.node or 0, _code(exciter.direction))


def _code(axis: Any) -> int:
    """The direction of a universal file: 1 to 3, negative against the axis; 0 for an oblique one."""
    if not isinstance(axis, str):
        return 0
    return (-1 if axis[0] == "-" else 1) * (1 + AXES.index(axis[-1]))


class _Names:
    """What the test file names, against what the robot has."""

    def __init__(self, written: Any, scope: Scope, description: Description, mechanism: Mechanism) -> None:
        self.written, self.scope, self.description, self.mechanism = written, scope, description, mechanism
        self.links = {"base", *(f.name for f in mechanism.frames if not set("~^#") & set(f.name))}

    def check(self) -> None:
        for section in ("sensors", "exciters"):
            for name, part in getattr(self.written, section).items():
                self.place((section, name), part)
        names = [*self.written.sensors, *self.written.exciters]
        for name in sorted({n for n in names if names.count(n) > 1}):
            self.scope.note(("exciters", name), "a sensor has the same name; rename one")
        self.codes()
        self.poses()
        for name, part in self.written.static.items():
            for key, known in (("sensor", self.written.sensors), ("exciter", self.written.exciters)):
                self.known(("static", name, key), getattr(part, key), known, key)
            if getattr(self.written.sensors.get(part.sensor), "joint", None) is not None:
                self.scope.note(("static", name, "sensor"), "is at a joint; displacements are those of a place")
            if getattr(self.written.sensors.get(part.sensor), "kind", None) == "strain":
                self.scope.note(("static", name, "sensor"), "is a strain gauge; displacements are those of a place")
        for name, run in self.written.motions.items():
            if run.motion is not None:
                self.known(("motions", name, "motion"), run.motion, self.description.robot.motions, "motion of the robot")
            if run.assembly is not None:
                self.known(("motions", name, "assembly"), run.assembly, self.mechanism.start, "assembly mode")
        for name in self.written.priors:
            self.known(("priors", name), name, self.description.parameters, "parameter of the robot")

    def known(self, path: tuple[Any, ...], name: str, names: Any, what: str) -> None:
        if name not in names:
            close = get_close_matches(name, list(names), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(names)[:20]) or 'none'}"
            self.scope.note(path, f"there is no {what} {printable(str(name))!r}; {hint}")

    def place(self, path: tuple[Any, ...], part: Any) -> None:
        if path[1] in self.mechanism.points:
            self.scope.note(path, "is called like a point of the robot; rename it")
        if part.point is not None:
            self.known((*path, "point"), part.point, self.mechanism.points, "point of the robot")
        if part.link is not None:
            self.known((*path, "link"), part.link, self.links, "link")
        if part.kind == "strain" and (part.link is None or part.at is None or len(part.directions) != 1):
            self.scope.note(path, "a strain gauge needs a link, at, and one of its directions, as directions: [x]")
        joint = getattr(part, "joint", None)
        if joint is not None:
            if part.kind == "force":
                self.known((*path, "joint"), joint, list(springs(self.mechanism)), "coordinate of a joint's spring")
                return
            joints = [c.name for c in self.mechanism.coordinates if c.kind != "elastic"]
            self.known((*path, "joint"), joint, joints, "joint")
            if part.kind != "encoder":
                self.scope.note((*path, "kind"), "a joint is watched by an encoder, its spring by a force sensor; write "
                                "kind: encoder or kind: force")  # fmt: skip
        elif part.kind in ("encoder", "force") and path[0] == "sensors":
            self.scope.note(
                path, f"needs a joint: {'what it turns with' if part.kind == 'encoder' else 'whose spring it is'}"
            )

    def codes(self) -> None:
        """A node and direction of the measurement system stand for one sensor."""
        seen: dict[tuple[int, int], str] = {}
        for name, sensor in self.written.sensors.items():
            axes = [abs(_code(a)) for a in sensor.directions] if sensor.joint is None else [0]
            if len(set(axes)) < len(axes):
                self.scope.note(("sensors", name, "directions"), "names an axis twice")
            for code in axes:
                if sensor.node is not None and (sensor.node, code) in seen:
                    self.scope.note(("sensors", name, "node"), f"{sensor.node} is the node of {seen[sensor.node, code]} too")
                elif sensor.node is not None:
                    seen[sensor.node, code] = name

    def poses(self) -> None:
        units = {c.name: c.unit for c in self.mechanism.coordinates if c.kind != "elastic"}
        for name, pose in self.written.poses.items():
            for key in pose.at:
                self.known(("poses", name, "at", key), key, units, "coordinate")
            if pose.assembly is not None:
                self.known(("poses", name, "assembly"), pose.assembly, self.mechanism.start, "assembly mode")
            given = pose.frequencies
            if pose.damping is not None and (given is None or len(given) != len(pose.damping)):
                self.scope.note(("poses", name, "damping"), "needs a ratio for each of the frequencies")
            if given is not None and pose.table is not None:
                self.scope.note(("poses", name, "table"), "says the same as frequencies; give one of them")
        if not (self.written.poses or self.written.static or self.written.motions):
            self.scope.note((), "holds nothing that is measured; add poses:, static: or motions: to it")
        if self.written.poses and all(p.held_out for p in self.written.poses.values()):
            self.scope.note(("poses",), "all are held out; nothing is left to fit")


def springs(mechanism: Mechanism) -> dict[str, tuple[int, int]]:
    """Coordinates of the springs in joints: their frame, and which of its body's elastic coordinates they are."""
    return {
        mechanism.coordinates[i].name: (k, i - frame.ev.start)
        for k, frame in enumerate(mechanism.frames) if frame.role == "spring" and frame.body.flexible
        for i in range(frame.ev.start, frame.ev.stop)
    }  # fmt: skip


def priors_of(test: Test) -> Mapping[str, spec.Prior]:
    return test.written.priors
