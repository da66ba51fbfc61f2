"""What gauges tell of a robot while it moves: parameters that are not as believed, and the path that they ask for.

The inverse of the flexible robot is found once more for each parameter a little changed. That gives the change of the
actuators' path and forces, and, on the path as it was, of what gauges read. Readings off those foreseen are then a question
of least squares for the parameters, whose slopes are known before the run:

    share = P S y,    S = slopes / variance,    P = (prior + sum of slopes^2 / variance)^-1,

in which only sums of S y have to be kept on the way. Shares times changes are added to path and forces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.posture import posture
from supple.model.sensors import reading, single
from supple.motion.description import Learnt, Measured, Motion
from supple.motion.laws import MOST_SENSORS, Sensor
from supple.motion.paths import interpolated, linear
from supple.results import Simulation
from supple.simulation.states import states_of

_STEP = 0.02  # of a parameter's value
_SPREAD = 0.1  # of it, by which it may be off before anything was read
_FINEST = 0.02  # of what a parameter would change at most if it were twice as large: what else is in a reading


@dataclass(frozen=True)
class Foreseen:
    """A robot on the path that leads a point: the actuators' motion, what the flexible robot does, and its forces less those
    of the rigid one as the controller knows it."""

    robot: Machine
    led: Motion
    run: Simulation
    forces: Array


def learning(
    nominal: Foreseen,
    measured: Measured,
    sample: float,
    other: Callable[[Machine], Foreseen],
    again: Callable[[Machine, Motion], Simulation],
) -> Learnt:
    """How a controller learns; `other`: what is foreseen of another robot, `again`: another robot on the same path."""
    robot, times = nominal.robot, nominal.run.time
    first = states_of(robot, nominal.run)[0]
    sensors = single(robot.model(), first[0], measured.sensors)
    names = [n.removeprefix("tau ") for n in nominal.run.axes["actuator"]]
    rest = reading(robot.model(), sensors, first)
    slopes, paths, forces = [], [], []
    for name in measured.parameters:
        changed = robot.changed({name: _value(robot, name) * (1 + _STEP)})
        moved, same = other(changed), again(changed, nominal.led)
        slopes.append((reading(changed.model(), sensors, states_of(changed, same)[0]) - rest) / _STEP)
        paths.append((_places(moved, times, names) - _places(nominal, times, names)) / _STEP)
        forces.append((moved.forces - nominal.forces) / _STEP)
    S, P = _squares(np.array(slopes), sensors, times, sample, measured)
    listed = [f"{p} {n}" for p in measured.parameters for n in names]
    size = len(measured.parameters)
    return Learnt(
        measured.parameters, sensors, interpolated([s.name for s in sensors], times, rest),
        linear([f"{p} {s.name}" for p in measured.parameters for s in sensors], times, S),
        linear([f"{p} {r}" for p in measured.parameters for r in measured.parameters], times, P.reshape(-1, size * size)),
        interpolated(listed, times, np.hstack(paths)), linear(listed, times, np.hstack(forces)),
    )  # fmt: skip


def check_measured(robot: Machine, measured: Measured) -> None:
    """Whether the robot has these parameters and sensors, before anything is foreseen."""
    for name in measured.parameters:
        _value(robot, name)
    sensors = single(robot.model(), posture(robot.model(), {}), measured.sensors)
    joints = [s.of for s in sensors if s.of.startswith("q.")]
    if joints:
        raise SuppleError(f"measured: {joints[0]} is a joint, which the controller reads anyway; name gauges or points")
    if len(sensors) > MOST_SENSORS or len(set(measured.parameters)) < len(measured.parameters):
        raise SuppleError(f"measured: at most {MOST_SENSORS} sensors, and each parameter once")


def _value(robot: Machine, name: str) -> float:
    known = robot.description.parameters
    if name not in known:
        raise SuppleError(f"measured: {robot.name} has no parameter {name!r}; it has: {', '.join(known) or 'none'}")
    value = float(known[name].number)
    if value == 0:
        raise SuppleError(f"measured: {name} is zero, and shares of it tell nothing; choose another parameter")
    return value


def _places(seen: Foreseen, times: Array, names: list[str]) -> Array:
    path = seen.led.path
    assert path is not None
    made: Array = path.only(names)(times)[0]
    return made


def _squares(
    slopes: Array, sensors: tuple[Sensor, ...], times: Array, sample: float, measured: Measured
) -> tuple[Array, Array]:  # fmt: skip
    """Weighted slopes (times, parameters x sensors), and covariances (times, parameters, parameters) of what is known."""
    largest = np.abs(slopes).max(axis=(0, 1))
    silent = [p for p, s in zip(measured.parameters, slopes, strict=True) if not np.abs(s).max() > 1e-9 * largest.max()]
    if silent:
        raise SuppleError(f"measured: no sensor tells anything of {silent[0]}; choose others")
    floor = _FINEST * np.maximum(largest, 1e-6 * largest.max())
    variance = np.array([s.variance for s in sensors]) + floor**2
    told = np.einsum("pts,qts,s->tpq", slopes, slopes, 1 / variance)
    steps = np.diff(times, prepend=times[0])[:, None, None] / sample
    known = np.cumsum(told * steps, axis=0) + np.eye(len(slopes)) / _SPREAD**2
    S = (slopes / variance).transpose(1, 0, 2).reshape(len(times), -1)
    return S, np.asarray(np.linalg.inv(known), dtype=float)
