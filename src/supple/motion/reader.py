"""From a motion in a robot file, a file of its own or a CSV table to a `Motion`: every problem with its line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from supple.errors import RobotFileError, SuppleError
from supple.motion.channels import WRENCH, PointAtHome, Setting, hint
from supple.motion.controllers import controller_of
from supple.motion.description import Controller, DriveMode, Measured, Motion, Shaper, Space
from supple.motion.filtering import smoothed
from supple.motion.laws import Sensor, read_law
from supple.motion.paths import interpolated, linear
from supple.motion.table import Table, read_table
from supple.motion.trajectory import Trajectory
from supple.motion.written_limits import read_limits
from supple.motion.written_paths import Paths
from supple.motion.written_signals import signal
from supple.robot import motions as spec
from supple.robot.mechanism import Mechanism
from supple.robot.named_files import checked_file, files_below
from supple.robot.quantity import parse
from supple.robot.reader import Description
from supple.robot.skeleton import PLANES
from supple.robot.structure import structure_problems
from supple.robot.values import Scope, resolve
from supple.robot.yaml_tree import FileTree, Path_, printable, read_text, read_tree

STILL = 1e-4  # 1/s: a rate so small beside the travel is rounding of the table
WHAT = {"joints": "actuator", "platform": "platform coordinate", "point": "axis"}
GAINS = {
    "kp": ("translational stiffness", "rotational stiffness"),
    "kd": ("translational damping", "rotational damping"),
    "ki": ("translational stiffness per time", "power"),
    "limit": ("force", "torque"),
}
ERROR_GAINS = {"kp": "angular acceleration", "kd": "rate", "ki": "angular jerk"}  # of the computed torque's error


def read_motion(
    description: Description, motion: str | Path, mechanism: Mechanism, at_home: PointAtHome,
    duration: float | None = None, cutoff: float | None = None,
) -> Motion:  # fmt: skip
    """The Motion of a robot: by its name in the robot file, or from a motion file (.yaml) or table (.csv).

    `mechanism`: the robot's, whose joints and points move; it need not be flexible.
    `at_home` says where a point is at home: motions in the space of a point that do not say where they start need it.
    Of a circle no more is made than `duration` (s) asks for. Tables are filtered at `cutoff` (Hz), if it is given."""
    written = description.robot.motions
    if str(motion) in written:
        tree, path = description.tree, ("motions", str(motion))
        folder = description.folder or Path()
        named = _cut(written[str(motion)], cutoff, str(motion))
        return _read(description, mechanism, named, tree, path, str(motion), folder, at_home, duration)
    file = Path(motion)
    if file.suffix.lower() not in (".yaml", ".yml", ".csv"):
        known = ", ".join(written) or "none"
        close = hint(str(motion), written) if written else ""
        did = close if close.startswith("did") else f"it has: {known}; or give a file (.yaml, .csv)"
        raise SuppleError(f"{description.robot.name} has no motion {printable(str(motion))!r}; {did}")
    if not file.is_file():
        raise SuppleError(f"{printable(str(file), most=1000)}: there is no such motion file")
    if file.suffix.lower() == ".csv":
        return _table_motion(description, mechanism, file, cutoff)
    tree, made = _motion_file(description, file)
    return _read(description, mechanism, _cut(made, cutoff, file.name), tree, (), file.stem, file.parent, at_home, duration)


def _motion_file(description: Description, file: Path) -> tuple[FileTree, spec.Motion]:
    tree = read_tree(read_text(file), printable(str(file), most=1000))
    if not isinstance(tree.value, dict):
        raise RobotFileError([f"{tree.file}:1: must hold keys such as moves, start and duration"])
    try:
        made = spec.Motion.model_validate(tree.value)
    except ValidationError as error:
        raise RobotFileError([*tree.problems, *structure_problems(error, tree, spec.Motion)]) from error
    scope = Scope(tree, list(tree.problems))
    resolve(made, description.parameters, (), scope)
    if scope.problems:
        raise RobotFileError(scope.problems)
    return tree, made


def _cut(written: spec.Motion, cutoff: float | None, name: str) -> spec.Motion:
    """The motion with another cutoff of its table's filter."""
    if cutoff is None:
        return written
    if written.csv is None:
        raise SuppleError(f"filter: {printable(name)} has no table to filter")
    return written.model_copy(update={"filter": parse(Fraction(cutoff))})


def _table_motion(description: Description, mechanism: Mechanism, file: Path, cutoff: float | None = None) -> Motion:
    """A CSV table alone: a motion of the joints, or of the platform if its columns are the platform's coordinates."""
    file = file.resolve() if file.is_symlink() else file
    platform = {c.name for c in mechanism.coordinates if c.kind == "platform"}
    first = next((s for s in read_text_head(file).splitlines() if s.strip() and not s.startswith("#")), "")
    columns = {c.partition("[")[0].strip() for c in first.replace(";", ",").replace("\t", ",").split(",")}
    space: Any = "platform" if columns & platform else "joints"
    given = {
        "space": space,
        "csv": file.name,
        "assembly": _noted_assembly(file),
        "filter": None if cutoff is None else parse(Fraction(cutoff)),
    }
    written = spec.Motion.model_construct(**{**spec.Motion().__dict__, **given})
    return _read(description, mechanism, written, FileTree(printable(str(file), most=1000), {}), (), file.stem, file.parent)


def _noted_assembly(file: Path) -> str | None:
    """The assembly mode that a table of results has among its comments."""
    notes = (s.partition(":") for s in read_text_head(file).splitlines() if s.startswith("#"))
    return next((value.strip() or None for key, _, value in notes if key.lstrip("# ") == "assembly"), None)


def read_text_head(file: Path, most: int = 100_000) -> str:
    """The first characters of a text file; what is not text is replaced."""
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        return stream.read(most)


def _read(
    description: Description, mechanism: Mechanism, written: spec.Motion, tree: FileTree, path: Path_, name: str,
    folder: Path, at_home: PointAtHome | None = None, asked: float | None = None,
) -> Motion:  # fmt: skip
    robot = description.robot
    legs = {template: leg.count for template, leg in robot.legs.items()}
    scope = Scope(tree)
    setting = Setting(mechanism, robot.plane, description.parameters, scope, folder, legs, at_home)
    with files_below(folder, description.outside):
        made = _Reader(setting, written, path, name).motion(asked)
    if scope.problems or made is None:
        raise RobotFileError(scope.problems)
    return made


class _Reader:
    def __init__(self, setting: Setting, written: spec.Motion, path: Path_, name: str) -> None:
        self.setting = setting
        self.written = written
        self.path = path
        self.name = name
        self.actuators = setting.coordinates("active")
        self.replayed = False  # forces and path are those of a result
        self.notices: list[str] = []
        point = written.space.point if isinstance(written.space, spec.PointSpace) else None
        self.point = point
        self.space: Space = "point" if point is not None else written.space  # type: ignore[assignment]
        self.known = {
            "joints": self.actuators,
            "platform": setting.coordinates("platform"),
            "point": setting.axes(),
        }[self.space]

    def note(self, text: str, *path: Any) -> None:
        self.setting.note((*self.path, *path), text)

    def motion(self, asked: float | None = None) -> Motion | None:
        """The motion, or None with its problems noted; what follows after the time `asked` for may be left out."""
        self.check_names()
        start = self.given_start()
        duration = self.given_duration()
        paths = Paths(self.setting, self.known, WHAT[self.space], self.defaults() | start, self.path)
        once = self.setting.number(self.written.repeat, "number", (*self.path, "repeat")) == 1
        whole = self.written.loads or self.written.torques  # signals may last as long as the path
        ends = [t for t in (duration, asked if once and not whole else None) if t is not None]
        path = paths.read(self.written, duration, min(ends, default=None))
        table = self.table()
        if table is not None:
            path = self.columns(table, self.known, interpolated)
        if self.setting.scope.problems:
            return None
        if path is not None and self.space == "point":
            path = self.with_still_axes(path, start)
        duration = duration or (path.end if path is not None else table.times[-1] if table is not None else None)
        if duration is None:
            self.note("has no path and does not say how long it lasts: add duration: to it")
            return None
        torques, loads = self.torques(duration, table), self.loads(duration, table)
        if self.setting.scope.problems:
            return None
        every = [t if t is None else t.lasting(duration) for t in (path, torques, loads)]
        return self.finished(start, every, float(duration))

    def with_still_axes(self, path: Trajectory, start: dict[str, float]) -> Trajectory:
        """The path of a point along all its axes: it keeps its start along those that are not given."""
        still = [n for n in start if n not in path.names]
        if not still:
            return path
        held = Trajectory.held(still, [start[n] for n in still], path.end)
        return Trajectory.together([path, held]).only([n for n in self.known if n in {*path.names, *still}])

    def finished(self, start: dict[str, float], every: list[Trajectory | None], duration: float) -> Motion | None:
        path, torques, loads = every
        repeat = round(self.setting.number(self.written.repeat, "number", (*self.path, "repeat")))
        if repeat > 1 and path is not None:
            ends, begins = path(path.end)[0], path(path.start)[0]
            apart = [n for n, a, b in zip(path.names, ends, begins, strict=True) if abs(a - b) > 1e-9]
            if apart:
                self.note(f"a path that repeats must end where it begins; {', '.join(apart)} does not", "repeat")
        drives = self.drives(path, torques)
        controller = self.controller([n for n, d in drives.items() if d == "controlled"])
        if self.space != "point" and path is not None:
            home = {n: float(x) for n, x in self.setting.mechanism.home.items()}
            rest = {n: x for n, x in home.items() if self.space == "platform" and n in self.known}
            start = rest | start | dict(zip(path.names, path(path.start)[0].tolist(), strict=True))
        if self.setting.scope.problems:
            return None
        path, torques, loads = (t if t is None or repeat == 1 else Trajectory.joined([t] * repeat) for t in every)
        return Motion(
            name=self.name,
            about=self.written.about,
            space=self.space,
            point=self.point,
            assembly=self.written.assembly,
            start=start if self.space != "point" else {},
            rates=self.rates() or self.first_rates(path),
            path=path,
            torques=torques,
            loads=loads,
            controller=controller,
            drives=drives,
            duration=duration * repeat,
            notices=tuple(self.notices),
            shaper=self.shaper(),
            limits=read_limits(self.written.limits, self.setting, self.actuators, (*self.path, "limits")),
        )

    def shaper(self) -> Shaper | None:
        written = self.written.shaper
        if written is None:
            return None
        law = next(k for k in type(written).model_fields if getattr(written, k) is not None)
        own, path = getattr(written, law), (*self.path, "shaper", law)

        def numbers(key: str, dimension: str) -> tuple[float, ...]:
            listed = getattr(own, key) or ()
            return tuple(self.setting.number(x, dimension, (*path, key, k)) for k, x in enumerate(listed))

        frequencies = numbers("frequencies", "frequency")
        tolerance, length = (self.setting.number(getattr(own, k), "number", (*path, k)) for k in ("tolerance", "length"))
        width = None if own.width is None else self.setting.number(own.width, "number", (*path, "width"))
        return Shaper(
            law, () if frequencies else tuple(own.modes or (1,)), frequencies,
            numbers("damping", "number") or (0.0,) * len(frequencies), tolerance, width, length, own.poses == "along",
        )  # fmt: skip

    # Names and start -----------------------------------------------------------------------------------------------

    def check_names(self) -> None:
        mechanism = self.setting.mechanism
        if self.space == "platform" and not self.known:
            self.note(f"{mechanism.name} has no platform; use space: joints, or space: {{point: ...}}", "space")
        if self.point is not None and self.point not in mechanism.points:
            text = f"{mechanism.name} has no point {self.point!r}; {hint(self.point, mechanism.points)}"
            self.note(text, "space", "point")
        if self.written.assembly is not None and self.written.assembly not in mechanism.start:
            text = f"{mechanism.name} has no assembly mode {self.written.assembly!r}"
            self.note(f"{text}; {hint(self.written.assembly, mechanism.start)}", "assembly")

    def given_start(self) -> dict[str, float]:
        """What the motion says of its start: coordinates of joints or platform, or of the point that moves."""
        if self.space == "point":
            given = self.setting.pose(self.written.start, self.known, "axis", (*self.path, "start"))
            return self.point_at_home() | given
        known = self.setting.coordinates("active", "passive", "platform")
        return self.setting.pose(self.written.start, known, "coordinate", (*self.path, "start"))

    def rates(self) -> dict[str, float]:
        known = self.setting.coordinates("active", "passive", "platform")
        return self.setting.pose(self.written.rates, known, "coordinate", (*self.path, "rates"), order=1)

    def first_rates(self, path: Trajectory | None) -> dict[str, float]:
        """Rates with which the path of a result begins; of all other paths the simulation knows them."""
        if path is None or not self.replayed:
            return {}
        first = path(path.start)[1]
        return {n: float(x) for n, x in zip(path.names, first, strict=True) if abs(x) > STILL * np.ptp(path(path.knots)[0])}

    def defaults(self) -> dict[str, float]:
        """Where channels are without a start: home, else the assembly guess; unknown for joints of a platform's pose."""
        mechanism = self.setting.mechanism
        home = {n: float(x) for n, x in mechanism.home.items()}
        if self.space == "point":
            return {}
        posed = any(n in home for n in self.setting.coordinates("platform"))
        if self.space == "joints" and posed:
            return {n: home[n] for n in self.known if n in home}
        mode = self.written.assembly if self.written.assembly in mechanism.start else None
        guess = mechanism.start[mode or next(iter(mechanism.start))]
        turned = self.orientation() if self.space == "platform" else {}
        return {n: home.get(n, turned.get(n, float(guess.get(n, 0)))) for n in self.known}

    def point_at_home(self) -> dict[str, float]:
        """Where the point is at home, if its motion leaves that open and somebody knows."""
        ask, point, mechanism = self.setting.at_home, self.point, self.setting.mechanism
        told = {str(name) for name in self.written.start or {}}
        if ask is None or self.written.moves is None or point not in mechanism.points or told >= set(self.known):
            return {}
        if self.written.assembly is not None and self.written.assembly not in mechanism.start:
            return {}
        return {n: x for n, x in zip("xyz", ask(point, self.written.assembly), strict=True) if n in self.known}

    def orientation(self) -> dict[str, float]:
        """The platform's assembled orientation as a rotation vector."""
        mechanism = self.setting.mechanism
        if mechanism.orientation is None or mechanism.platform is None:
            return {}
        w, *v = (float(x) for x in mechanism.orientation)
        size = math.hypot(*v)
        factor = 2 * math.atan2(size, w) / size if size else 0.0
        names = self.setting.mechanism.names()[mechanism.frames[mechanism.platform].v]
        return {n: factor * x for n, x in zip(names, v, strict=True)}

    # Signals over time ---------------------------------------------------------------------------------------------

    def given_duration(self) -> float | None:
        if self.written.duration is None:
            return None
        return self.setting.number(self.written.duration, "time", (*self.path, "duration"))

    def table(self) -> Table | None:
        if self.written.csv is None:
            return None
        dimensions = {n: self.setting.dimension(n) for n in self.known}
        dimensions |= {f"tau {n}": self.setting.effort(n) for n in self.actuators}
        dimensions |= {f"{p}.{f}": WRENCH[f] for p in self.setting.mechanism.points for f in self.felt()}
        try:
            table = read_table(self.setting.folder / self.written.csv, dimensions, self.setting.mechanism.name)
            self.replayed = table.result
            cutoff = None if self.written.filter is None else self.setting.number(
                self.written.filter, "frequency", (*self.path, "filter")
            )  # fmt: skip
            table, self.notices = smoothed(table, [n for n in table.names if n in self.known], cutoff)
            return table
        except RobotFileError as error:
            self.setting.scope.problems.extend(error.problems)
            return None

    def columns(self, table: Table, known: list[str], made: Callable[..., Trajectory]) -> Trajectory | None:
        names = [n for n in table.names if n in known]
        if not names:
            return None
        try:
            return made(names, table.times, table.columns(names))
        except SuppleError as error:
            self.setting.scope.problems.append(f"{table.file}:1: {error}")
            return None

    def torques(self, duration: float, table: Table | None) -> Trajectory | None:
        parts = [self.columns(table, [f"tau {n}" for n in self.actuators], linear)] if table is not None else []
        for key, written in self.written.torques.items():
            path = (*self.path, "torques", key)
            for name in self.setting.expanded(key, self.actuators, "actuator", path):
                made = signal(written, self.setting.effort(name), duration, self.setting, path)
                parts.append(made.renamed({"x": f"tau {name}"}))
        return self.gathered([p for p in parts if p is not None])

    def felt(self) -> list[str]:
        """Components of a wrench that move the robot: all, or three of a planar one."""
        if not self.setting.mechanism.planar:
            return list(WRENCH)
        first, second, normal = PLANES[self.setting.plane]
        return [f"f{first}", f"f{second}", f"m{normal[-1]}"]

    def loads(self, duration: float, table: Table | None) -> Trajectory | None:
        points = list(self.setting.mechanism.points)
        columns = [f"{p}.{f}" for p in points for f in self.felt()]
        parts = [self.columns(table, columns, linear)] if table is not None else []
        for key, wrench in self.written.loads.items():
            names = self.setting.expanded(key, points, "point", (*self.path, "loads", key))
            for component, written in wrench.items():
                path = (*self.path, "loads", key, component)
                if component not in self.felt():
                    self.setting.note(path, f"a planar robot feels {', '.join(self.felt())} only")
                    continue
                made = signal(written, WRENCH[component], duration, self.setting, path)
                parts += [made.renamed({"x": f"{name}.{component}"}) for name in names]
        return self.gathered([p for p in parts if p is not None])

    def gathered(self, parts: list[Trajectory]) -> Trajectory | None:
        if not parts or self.setting.scope.problems:
            return None
        names = [n for p in parts for n in p.names]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            self.note(f"{', '.join(twice)} is given twice, in the table and in the motion; remove one")
            return None
        return Trajectory.together(parts)

    # Who drives what -----------------------------------------------------------------------------------------------

    def drives(self, path: Trajectory | None, torques: Trajectory | None) -> dict[str, DriveMode]:
        """How each actuator is driven: as written, else by torque if it has one, else controlled or prescribed."""
        pushed = {n.removeprefix("tau ") for n in torques.names} if torques is not None else set()
        moved = set(path.names) if path is not None and self.space == "joints" else set()
        chosen = self.written_drives(moved)
        for name in self.actuators:
            follows = "controlled" if self.written.controller is not None else "prescribed"
            idle = self.written.controller is None and (path is None or self.replayed)
            free: DriveMode = "torque" if idle or (name in pushed and name not in moved) else follows  # type: ignore[assignment]
            chosen.setdefault(name, free)
            if chosen[name] == "prescribed" and name in pushed:
                self.note(f"the motion of {name} is prescribed, so it cannot have a torque; remove one", "torques")
        return {name: chosen[name] for name in self.actuators}

    def written_drives(self, moved: set[str]) -> dict[str, DriveMode]:
        """Drives as the file names them."""
        chosen: dict[str, DriveMode] = {}
        for key, drive in self.written.drive.items():
            for name in self.setting.expanded(key, self.actuators, "actuator", (*self.path, "drive", key)):
                chosen[name] = drive
                if drive == "torque" and name in moved:
                    self.note(f"{name} has a path and is driven by torque; remove one", "drive", key)
                if drive == "controlled" and self.written.controller is None:
                    self.note("there is no controller; add controller: to the motion", "drive", key)
        return chosen

    def controller(self, controlled: list[str]) -> Controller | None:
        written = self.written.controller
        if written is None:
            return None
        law = next(k for k in type(written).model_fields if getattr(written, k) is not None)
        gains, path = getattr(written, law), (*self.path, "controller", law)
        if not controlled:
            self.note("controls no actuator: all are prescribed or driven by torque", "controller")
        if law == "file":
            return self.law_in_file(gains, controlled)
        if law == "pd" and gains.ki != type(gains).model_fields["ki"].default and "ki" in gains.model_fields_set:
            self.note("a pd controller has no ki; use pid", "controller", law, "ki")
        values = {key: self.gain(gains, law, key, controlled, (*path, key)) for key in GAINS}
        sample, delay = (self.setting.number(getattr(gains, k), "time", (*path, k)) for k in ("sample", "delay"))
        model, of, lead = (getattr(gains, k, None) for k in ("model", "of", "lead"))
        ahead = None if lead is None else self.setting.number(lead, "time", (*path, "lead"))
        read = self.measured(getattr(gains, "measured", None), (*path, "measured"))
        return Controller(
            law, **values, sample=sample, delay=delay, model=model or "rigid", of=of, lead=ahead, measured=read,  # type: ignore[arg-type]
        )  # fmt: skip

    def measured(self, written: Any, path: Path_) -> Measured | None:
        """Gauges of a flexible computed torque."""
        if written is None:
            return None
        noise, resolution = (self.setting.number(getattr(written, k), "number", (*path, k)) for k in ("noise", "resolution"))
        sensors = tuple(Sensor(x, "displacement", noise, resolution) for x in written.sensors)
        return Measured(tuple(written.parameters), sensors)

    def law_in_file(self, name: str, controlled: list[str]) -> Controller | None:
        """The controller that a file (.json) beside this one holds."""
        try:
            law = read_law(checked_file(self.setting.folder / name))
        except SuppleError as problem:
            self.note(str(problem), "controller", "file")
            return None
        missing = [n for n in law.actuators if n not in controlled]
        if missing:
            self.note(f"{name} moves {missing[0]}, which is not given to a controller here", "controller", "file")
        return controller_of(law)

    def gain(self, gains: Any, law: str, key: str, controlled: list[str], path: Path_) -> Mapping[str, float]:
        """One gain per controlled actuator; without a number, gains are 0 and limits infinite."""
        given, missing = getattr(gains, key), math.inf if key == "limit" else 0.0
        made = dict.fromkeys(controlled, missing)
        entries = given if isinstance(given, dict) else dict.fromkeys(controlled, given) if given is not None else {}
        for name, quantity in entries.items():
            here = (*path, name) if isinstance(given, dict) else path
            for actuator in self.setting.expanded(name, self.actuators, "actuator", here):
                turning = self.setting.effort(actuator) == "torque"
                own = ERROR_GAINS.get(key) if law == "computed_torque" else None
                made[actuator] = self.setting.number(quantity, own or GAINS[key][turning], here)
        return {n: made[n] for n in controlled}
