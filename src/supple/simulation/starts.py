"""`Run`: the runs of a simulation, each with its robot and the state it starts from."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from supple.errors import RobotFileError, SuppleError
from supple.expr.function import Array
from supple.formulations.tree.undriven import outside_loops
from supple.machine import Kept, Machine
from supple.model.algebra import least_squares
from supple.model.equilibrium import equilibrium
from supple.model.follow import follow
from supple.model.model import Model
from supple.model.posture import posture, standing
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory

AT_ONCE = 8  # robots of runs that are there at the same time: those whose signals are told together


@dataclass(frozen=True)
class Run:
    """One of several runs: how its robot is made, the values of kept parameters, and the state it starts from."""

    make: Callable[[], Model]
    parameters: tuple[float, ...]
    q: Array
    v: Array

    @property
    def model(self) -> Model:
        """Its robot, made again if many others were asked for since."""
        return self.make()


@dataclass(frozen=True)
class Start:
    """What decides where runs begin: the motion, the path of the actuators and the pose it starts from, and how
    (`"equilibrium"`: bent by its weight, `"undeformed"`)."""

    motion: Motion
    path: Trajectory | None
    pose: Mapping[str, float]
    how: str


def started(
    robot: Machine, model: Model, begin: Start, vary: dict[str, Sequence[float]], rigid: bool
) -> tuple[tuple[Run, ...], Kept | None, Mapping[str, Sequence[float]]]:
    """The runs of an ensemble (one without `vary`), and the equations in which varied parameters are symbols."""
    lengths = {len(x) for x in vary.values()}
    if len(lengths) > 1 or 0 in lengths:
        raise SuppleError("varied values must be lists of the same length, one value for each run")
    count = lengths.pop() if lengths else 1
    names = [k for k in vary if k in robot.description.parameters]
    states = [k for k in vary if k not in names]
    _check_starts(model, begin.path, states)
    kept = _kept(robot, names, model.formulation, rigid) if names else None
    if names and begin.motion.space != "joints" and begin.path is not None:
        _check_path(robot, begin.motion, begin.path, {n: float(vary[n][-1]) for n in names})
    runs = []

    @lru_cache(maxsize=AT_ONCE)
    def made(own: tuple[float, ...]) -> Model:
        if not names:
            return model
        if made.cache_info().misses % AT_ONCE == 0:
            gc.collect()  # what was derived of earlier ones, which refer to themselves
        return robot.changed(dict(zip(names, own, strict=True))).model(model.formulation, rigid=rigid)

    for k in range(count):
        own = tuple(float(vary[n][k]) for n in names)
        its = made(own)
        pose = {**begin.pose, **{n: float(vary[n][k]) for n in states}}
        q = _start_posture(its, begin.motion, pose, begin.how)
        runs.append(Run(partial(made, own), own, q, _start_rates(its, begin.motion, begin.path, q)))
    return tuple(runs), kept, vary


def listed_values(name: str, values: str | Sequence[float]) -> Sequence[float]:
    """Values of `name`, one for each run: numbers, or text as A,B,C or FIRST:LAST:COUNT."""
    if not isinstance(values, str):
        return values
    try:
        if ":" in values:
            first, last, count = values.split(":")
            if not 2 <= int(count) <= 100_000:
                raise SuppleError(f"vary {name}={values}: the number of values must be 2 to 100000")
            step = (float(last) - float(first)) / (int(count) - 1)
            return [float(first) + k * step for k in range(int(count))]
        return [float(x) for x in values.split(",")]
    except ValueError as error:
        raise SuppleError(f"vary {name}={values} must be A,B,C or FIRST:LAST:COUNT, in SI units") from error


def _kept(robot: Machine, names: Sequence[str], formulation: str, rigid: bool) -> Kept:
    with _varied(names):
        kept = robot.keeping(names).kept(formulation, rigid=rigid)
    assert kept is not None
    if not all(isinstance(x, (int, float, Fraction)) for x in kept.equations.mechanism.gravity):
        raise SuppleError("gravity cannot be varied within one simulation; simulate once for each value")
    return kept


def _check_path(robot: Machine, motion: Motion, path: Trajectory, changed: Mapping[str, float]) -> None:
    """A path of the platform or a point asks other joint motions of a robot of other dimensions."""
    other = follow(robot.changed(changed).model(rigid=True), motion).trajectory
    times = np.linspace(path.start, path.end, 20)
    if other is None or not np.allclose(other(times)[0], path(times)[0], rtol=0.0, atol=1e-8):
        raise SuppleError(
            f"{' and '.join(changed)} changes how the actuators follow the path of {motion.name!r}; simulate once for each "
            "value, with --set"
        )


def _check_starts(model: Model, path: Trajectory | None, names: Sequence[str]) -> None:
    """Coordinates whose start may differ from run to run: those that nothing else determines."""
    kinds = {c.name: c.kind for c in model.mechanism.coordinates}
    for name in names:
        if name not in kinds:
            raise SuppleError(f"{model.mechanism.name} has neither a parameter nor a coordinate {name!r} to vary")
        if path is not None:
            raise SuppleError(f"the start of {name!r} cannot be varied: the path of the motion says where it begins")
        if kinds[name] == "elastic" or (kinds[name] == "passive" and len(model.active)):
            raise SuppleError(f"the start of {name!r} cannot be varied: it follows from the actuators")


@contextmanager
def _varied(names: Sequence[str]) -> Iterator[None]:
    """Problems of a robot file whose parameters are symbols, in words that say so."""
    try:
        yield
    except RobotFileError as problem:
        raise SuppleError(
            f"{' and '.join(names)} cannot be varied within one simulation; simulate once for each value, with --set. "
            f"The reason: {problem}"
        ) from problem


def _start_posture(model: Model, motion: Motion, pose: Mapping[str, float], start: str) -> Array:
    kinds = {c.name: c.kind for c in model.mechanism.coordinates}
    own = {*outside_loops(model.mechanism)} if any(kind == "active" for kind in kinds.values()) else set()
    joints = {n: x for n, x in pose.items() if kinds.get(n) == "active" or n in own}
    if motion.path is None or not joints:
        asked = {n: x for n, x in pose.items() if kinds.get(n, "elastic") != "elastic"}
        joints = asked if motion.path is None else joints
    q = posture(model, joints or None, motion.assembly)
    elastic = any(kind == "elastic" for kind in kinds.values())
    if elastic and start == "equilibrium":
        q = equilibrium(model, q, standing=standing(model, motion.start)).q
    return q


def _start_rates(model: Model, motion: Motion, path: Trajectory | None, q: Array) -> Array:
    """Rates that keep the loops closed: the motion's own at its start, those asked for, elastic ones zero."""
    wanted = dict(motion.rates)
    if path is not None:
        wanted |= {n: float(x) for n, x in zip(path.names, path(path.start)[1], strict=True)}
    if not any(wanted.values()):
        return np.zeros(model.nv)
    unknown = [n for n in wanted if n not in model.names]
    if unknown:
        raise SuppleError(f"{model.mechanism.name} has no coordinate {unknown[0]!r} to give a rate")
    still = set(model.mechanism.indices("elastic"))
    moving = [i for i in range(model.nv) if i not in still]
    held = [model.index(n) for n in wanted]
    rows = np.vstack([model.jacobian(q), model.held(held)])
    values = np.concatenate([np.zeros(len(rows) - len(held)), list(wanted.values())])
    v = np.zeros(model.nv)
    v[moving] = least_squares(rows[:, moving], values)
    worst = float(np.abs(rows @ v - values).max())
    if worst > 1e-6 * max(1.0, float(np.abs(values).max())):
        raise SuppleError(f"{model.mechanism.name}: the loops do not allow the rates {wanted} at the start")
    return np.asarray(v)
