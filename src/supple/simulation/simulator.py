"""`Simulator`: a robot, a motion and an integrator made ready to run.

robot, motion --follow--> actuator trajectories --split--> Plant --compile--> Stepper, with the state it starts from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from supple.backends.compiler import find_compiler
from supple.backends.stepping.drive import Drive, LawTables, Table
from supple.backends.stepping.plant import Ball, Plant
from supple.backends.stepping.sealed import stepper_of
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.stepper import Stepper
from supple.errors import SuppleError
from supple.expr.function import Array
from supple.formulations import registry
from supple.formulations.record import Way
from supple.formulations.registry import USUAL
from supple.machine import Kept, Machine
from supple.model.follow import follow
from supple.model.model import Model
from supple.model.posture import posture
from supple.model.structural import viscous_equivalent
from supple.motion.description import Controller, Motion
from supple.motion.trajectory import Trajectory
from supple.simulation.law_tables import added, along_path, checked_law, gauges, law_tables, learnt_tables
from supple.simulation.partition import Partition, ball_joints, coordinate_places, partition
from supple.simulation.plants import plant
from supple.simulation.possible import check_controller, check_friction, check_speeds
from supple.simulation.shaped import without_vibration
from supple.simulation.starts import AT_ONCE, Run, Start, started
from supple.simulation.ways import INDEPENDENT, way_of

_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
_LAWS = {"pd": "pid", "pid": "pid", "computed_torque": "computed_torque", "state_space": "state_space"}
_TYPICAL = 0.9  # of the time accelerations of a path are smaller than those that errors are relative to
_CORNER = 1e-2  # jump of the third derivative, relative to its peak, at which a step ends


@dataclass(frozen=True)
class Simulator:
    """Everything a simulation needs. `stop`: why the motion ends before its duration, if it does."""

    model: Model
    motion: Motion
    path: Trajectory | None  # of the actuators
    stop: str | None
    runs: tuple[Run, ...]
    varied: Mapping[str, Sequence[float]]
    loads: bool
    rigid: Model | None
    kept: Kept | None
    dense: bool
    way: Way | None  # how loops are solved if all coordinates are integrated; None: independent ones are
    provenance: Mapping[str, str]
    structural: str | None = None  # what became of structural damping, in words; None if there is none
    also: tuple[str, ...] = ()  # signals on demand
    ensemble: int = 0  # runs of the ensemble that these are some of
    rest: Trajectory | None = None  # what sensors of a law in state space should read
    compiled: dict[tuple[int, bool], Stepper] = field(default_factory=dict, compare=False, repr=False)

    @property
    def duration(self) -> float:
        end = self.motion.duration
        return end if self.path is None or self.stop is None else min(end, self.path.end)

    @property
    def prescribed(self) -> list[str]:
        return self.motion.driven("prescribed")

    @property
    def many(self) -> int:
        """Runs of the whole ensemble."""
        return max(len(self.runs), self.ensemble)

    def stepper(self, lanes: int = 1, dense: bool = False) -> Stepper:
        """The compiled integrators."""
        key = (lanes, dense or self.dense)
        if key not in self.compiled:
            self.compiled[key] = self._compile(*key)
        return self.compiled[key]

    def _compile(self, lanes: int, dense: bool) -> Stepper:
        if find_compiler() is None:
            raise SuppleError("simulation needs a C compiler: install gcc or clang, or `pip install 'supple[cc]'`")
        given, more = self._plant(dense)
        return stepper_of(_question(*given, **more), lambda: plant(*given, **more), lanes)

    def plant(self) -> Plant:
        """What the integrators need to know of the robot."""
        given, more = self._plant(self.dense)
        return plant(*given, **more)

    def _plant(self, dense: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a plant is made of."""
        rigid_q = None if self.rigid is None else posture(self.rigid, self._pose(self.rigid), self.motion.assembly)
        given = (self.model, self.runs[0].q, self.prescribed)
        more: dict[str, Any] = {
            "loads": self.loads, "rigid": self.rigid, "rigid_q": rigid_q, "controlled": self.motion.driven("controlled"),
            "kept": self.kept, "dense": dense, "way": self.way,
            "often": self.motion.controller is not None and self.motion.controller.sample > 0,
        }  # fmt: skip
        return given, more

    def _pose(self, model: Model) -> Mapping[str, float]:
        known = set(model.names)
        return {k: x for k, x in self.motion.start.items() if k in known}

    @cached_property
    def drive(self) -> Drive:
        """Signals, controller and events in the order of the plant's coordinates."""
        motion, mechanism = self.motion, self.model.mechanism
        active = [mechanism.coordinates[i].name for i in mechanism.indices("active")]
        given, others = [n for n in active if n in self.prescribed], [n for n in active if n not in self.prescribed]
        wrench = [f"{point}.{part}" for point in mechanism.points for part in _WRENCH]
        drive = Drive(
            self.model.gravity,
            given=_table(self.path, given) if given else None,
            torque=_table(motion.torques, [f"tau {n}" for n in others]) if motion.torques is not None else None,
            load=_table(motion.loads, wrench) if motion.loads is not None else None,
            breaks=_breaks([x for x in (self.path, motion.torques, motion.loads) if x is not None]),
        )
        return drive if motion.controller is None else self._controlled(drive, motion.controller, others)

    def _controlled(self, drive: Drive, control: Controller, others: Sequence[str]) -> Drive:
        """A Drive with the controller of the other actuators."""
        return replace(
            drive,
            reference=_table(self.path, others),
            gains=_gains(control, others),
            sample_time=control.sample,
            delay=control.delay,
            controller=_LAWS[control.law],
            law=self._law(control, others),
            learnt=None if control.learnt is None else learnt_tables(control.learnt, others),
        )

    def _law(self, control: Controller, others: Sequence[str]) -> LawTables | None:
        if control.learnt is not None:
            return gauges(self.model, control.learnt)
        if control.own is None or self.rest is None or self.path is None:
            return None
        return law_tables(self.model, control.own, self.rest, self.path, others)

    def loads_at(self, times: Array) -> Array | None:
        """Wrenches (times, points, 6) at the named points, or None."""
        table = self.motion.loads
        if table is None:
            return None
        found = table(times)[0]
        w = np.zeros((len(times), len(self.model.mechanism.points), 6))
        for i, point in enumerate(self.model.mechanism.points):
            for k, part in enumerate(_WRENCH):
                if f"{point}.{part}" in table.names:
                    w[:, i, k] = found[:, table.names.index(f"{point}.{part}")]
        return w

    def scaled(self, settings: Settings) -> Settings:
        """Settings whose errors are relative to the peak acceleration of the path, with a tolerance that suits them."""
        settings = settings.suited(self._free_joints)
        return settings if self._typical is None else replace(settings, scale=max(settings.scale, self._typical))

    @cached_property
    def _free_joints(self) -> bool:
        """Whether joints are among the free coordinates."""
        free = partition(self.model, self.runs[0].q, self.prescribed).free
        return any(self.model.mechanism.coordinates[i].kind != "elastic" for i in free)

    @cached_property
    def _typical(self) -> float | None:
        """A large acceleration of the path."""
        if self.path is None or not self.path.names:
            return None
        times = np.linspace(self.path.start, min(self.path.end, self.duration), 1001)
        sizes = np.abs(self.path(times)[2]).max(axis=1)
        return float(np.quantile(sizes, _TYPICAL))  # not the peak, which has no bound where the workspace ends

    def split(self, q: Array) -> tuple[Partition, tuple[Any, ...], tuple[Any, ...], tuple[Ball, ...]]:
        """The free and dependent coordinates that suit a posture best."""
        found = partition(self.model, q, self.prescribed, pivoted=True)
        places = coordinate_places(self.model.mechanism)
        return (
            found,
            tuple(places[i] for i in found.free),
            tuple(places[i] for i in found.dependent),
            ball_joints(self.model.mechanism, found.free, found.dependent),
        )


def _question(*given: Any, **more: Any) -> tuple[str, ...]:
    """All that a plant depends on, in words; none if that cannot be said."""
    words = []
    for x in (*given, *more.values()):
        if isinstance(x, Model):
            if not x.memory.question:
                return ()
            words += [*x.memory.question, _digest(x.viscous)]
        elif isinstance(x, np.ndarray):
            words.append(_digest(x))
        elif isinstance(x, Kept):
            return ()
        else:
            words.append(repr(x))
    return tuple(words)


def _digest(x: Array | None) -> str:
    return "" if x is None else hashlib.sha256(str(x.shape).encode() + np.ascontiguousarray(x).tobytes()).hexdigest()


def _breaks(tables: Sequence[Trajectory]) -> Array:
    """Times at which a step ends."""
    return np.unique(np.concatenate([np.zeros(0), *(x.breaks for x in tables), *(corners(x) for x in tables)]))


def _gains(control: Controller, names: Sequence[str]) -> Array:
    """A row (kp, kd, ki, limit) per actuator; a limit of 0 is none."""
    finite = {n: x if np.isfinite(x) else 0.0 for n, x in control.limit.items()}
    return np.array([[c.get(n, 0.0) for c in (control.kp, control.kd, control.ki, finite)] for n in names])


def simulator(
    robot: Machine,
    motion: str | Path | Motion,
    *,
    formulation: str = USUAL,
    rigid: bool = False,
    duration: float | None = None,
    start: str = "equilibrium",
    vary: Mapping[str, Sequence[float]] | None = None,
    dense: bool = False,
    loops: str | None = None,
    structural: str = "viscous",
) -> Simulator:
    """The Simulator of a robot and one of its motions (a name, a file, or a Motion).

    `start`: "equilibrium" (bent by its weight, actuators held) or "undeformed"; `vary`: lists of values, of equal length,
    of parameters or start coordinates, one for each of several runs; `dense`: matrices instead of the closed form;
    `loops`: one of the formulation's ways to keep its loops closed (None: its usual one); `structural`: "viscous" (loss
    factors as the viscous damping of every mode) or "none".
    """
    way = way_of(formulation, loops)
    model = robot.model(formulation, rigid=rigid)
    if not isinstance(motion, Motion):
        motion = robot.motion(motion, duration)
    if duration is not None:
        motion = replace(motion, duration=duration)
    if motion.controller is not None and motion.controller.model == "flexible":
        raise SuppleError(
            f"{motion.name!r}: a flexible computed_torque is foreseen by simulate; run it by that, or take model: rigid"
        )
    motion = without_vibration(robot, model, motion, duration is None)
    check_controller(motion)
    check_friction(model)
    path, stop, begin = _followed(robot, model, motion)
    if motion.path is not None:
        check_speeds(motion.path, motion)
    needs_rigid = motion.controller is not None and motion.controller.law == "computed_torque"
    motion, rest = _under_law(model, motion, path, vary)
    runs, kept, varied = started(robot, model, Start(motion, path, begin, start), dict(vary or {}), rigid)
    model, runs, said = _structural(model, runs, motion, structural)
    made = {
        "robot": model.mechanism.name,
        "robot_file_sha256": robot.source.sha256,
        "motion": motion.name,
        "motion_about": motion.about,
        "assembly": motion.assembly or "",
        "duration_s": repr(motion.duration),
        "drives": json.dumps(dict(motion.drives), sort_keys=True),
        "controller": json.dumps(
            None if motion.controller is None else asdict(motion.controller), sort_keys=True, default=_plain
        ),
        "signals_sha256": _signature(path, motion.torques, motion.loads),
        "varied": json.dumps({k: [float(y) for y in x] for k, x in (vary or {}).items()}),
        "settings": json.dumps({k: str(x) for k, x in robot.settings.items()}, sort_keys=True),
        "formulation": formulation,
        "loops": INDEPENDENT if way is None else way.about,
        "rigid": str(rigid),
        "start": start,
        "structural": structural,
    }
    return Simulator(
        model, motion, path, stop, runs, varied, loads=motion.loads is not None or _pushes(motion), rest=rest,
        rigid=(model if rigid else robot.model(rigid=True)) if needs_rigid else None, kept=kept,
        dense=dense, way=way, provenance=made, structural=said,
    )  # fmt: skip


def _under_law(
    model: Model, motion: Motion, path: Trajectory | None, vary: Mapping[str, Sequence[float]] | None
) -> tuple[Motion, Trajectory | None]:
    """The motion with forces added that hold the robot along its path, and what the sensors of its law should read."""
    law = None if motion.controller is None else motion.controller.own
    if motion.controller is None or (law is None and motion.controller.learnt is None):
        return motion, None
    if motion.controller.learnt is not None and any(n not in model.names for n in vary or ()):
        raise SuppleError("vary: parameters cannot differ from run to run under a controller that measures deformation")
    if law is None:
        return motion, None
    if path is None:
        raise SuppleError(f"controller: {motion.name!r} leaves it no actuator to move")
    outside = [s.name for s in law.sensors if not s.of.startswith("q.")]
    if outside and any(n not in model.names for n in vary or ()):
        raise SuppleError(f"vary: parameters cannot differ from run to run under a controller that reads {outside[0]!r}")
    law = checked_law(model, motion, law, posture(model, motion.start if motion.path is None else {}, motion.assembly))
    found = along_path(model, motion, path, law)
    made = replace(motion, controller=replace(motion.controller, own=law), torques=added(motion.torques, found.hold))
    return made, found.rest


def _pushes(motion: Motion) -> bool:
    return motion.controller is not None and motion.controller.own is not None and bool(motion.controller.own.pushes)


def _plain(x: Any) -> Any:
    """Mappings as JSON has them, arrays by their content."""
    return _digest(x) if isinstance(x, np.ndarray) else dict(x)


def _structural(
    model: Model, runs: tuple[Run, ...], motion: Motion, wanted: str
) -> tuple[Model, tuple[Run, ...], str | None]:
    """The robot and its runs with structural damping as asked for, and words for it; all runs have that of the first."""
    if not runs[0].model.loss_stiffness(runs[0].q).any():
        return model, runs, None
    if wanted == "none":
        return model, runs, "left out"
    if registry.formulation(model.formulation).in_time == "closed forms only":
        return model, runs, f"left out: {model.formulation} has no place for damping between bodies"
    held = motion.driven("prescribed", "controlled")
    found = viscous_equivalent(runs[0].model, runs[0].q, held)
    if found is None:
        return model, runs, None

    @lru_cache(maxsize=AT_ONCE)
    def damped(make: Callable[[], Model]) -> Model:
        return make().damped(found.D)

    made = tuple(replace(run, make=partial(damped, run.make)) for run in runs)
    how = "" if not len(model.active) else ", actuators held" if held else ", actuators free"
    return model.damped(found.D), made, found.sentence() + how


def _signature(*signals: Trajectory | None) -> str:
    """What tells two sets of signals apart."""
    made = hashlib.sha256()
    for x in signals:
        made.update(b"none" if x is None else x.knots.tobytes() + x.coefficients.tobytes() + x.breaks.tobytes())
    return made.hexdigest()


def _followed(robot: Machine, model: Model, motion: Motion) -> tuple[Trajectory | None, str | None, Mapping[str, float]]:
    """The path of the actuators, why it ends early, and the pose it starts from; without a path those that are not driven
    by torque stay where they start."""
    if not motion.driven("prescribed", "controlled"):
        return None, None, motion.start
    flexible = any(c.kind == "elastic" for c in model.mechanism.coordinates)
    found = follow(robot.model(rigid=True) if flexible else model, motion)
    if found.trajectory is None:
        raise SuppleError(found.stop or f"{model.mechanism.name} cannot follow {motion.name!r}")
    return found.trajectory, found.stop, motion.start if motion.path is None else {**found.posture}


def corners(trajectory: Trajectory) -> Array:
    """Knots at which the third derivative jumps."""
    c, knots = trajectory.coefficients, trajectory.knots
    width = np.diff(knots)[:, None]
    ends = 6 * c[..., 3] + 24 * c[..., 4] * width + 60 * c[..., 5] * width**2
    begins = 6 * c[..., 3]
    before = np.vstack([np.zeros((1, c.shape[1])), ends])
    after = np.vstack([begins, np.zeros((1, c.shape[1]))])
    peak = max(float(np.abs(ends).max(initial=0.0)), float(np.abs(begins).max(initial=0.0)), 1e-30)
    made: Array = knots[np.abs(after - before).max(axis=1, initial=0.0) > _CORNER * peak]
    return made


def _table(trajectory: Trajectory | None, channels: Sequence[str]) -> Table | None:
    """A trajectory's channels in this order, zero for those it has not."""
    if trajectory is None:
        return None
    made = np.zeros((len(trajectory.knots) - 1, len(channels), 6))
    for i, name in enumerate(channels):
        if name in trajectory.names:
            made[:, i] = trajectory.coefficients[:, trajectory.names.index(name)]
    return Table(trajectory.knots, made)
