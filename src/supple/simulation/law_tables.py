"""A sampled law put to work along a path: what its sensors should read, forces that hold the robot, weights of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from supple.backends.stepping.drive import LawTables, LearntTables, Table
from supple.errors import SuppleError
from supple.model import observe
from supple.model.algebra import Array, one_thread
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import postures
from supple.model.sensors import pushed_wrenches, reading, sensed, single
from supple.motion.description import Learnt, Motion
from supple.motion.laws import QUANTITIES, SampledLaw, Sensor
from supple.motion.trajectory import Trajectory
from supple.robot.mechanism import Mechanism

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

_POSES = 81  # along a path
_STILL = 1e-9  # m or rad


@dataclass(frozen=True)
class AlongPath:
    """What a law follows: readings that its sensors should have, and forces that hold the robot still (None: there is no
    weight to hold)."""

    rest: Trajectory
    hold: Trajectory | None


@one_thread
def along_path(model: Model, motion: Motion, path: Trajectory, law: SampledLaw) -> AlongPath:
    """What the sensors of a law read on a robot that goes along the path without vibrating, bent by its weight, and the
    forces that hold it there."""
    times = _times(path)
    places = path(times)[0]
    names = [*path.names]
    found = postures(model, names, places, motion.assembly)
    failed = [x for x in found if isinstance(x, Exception)]
    if failed:
        raise failed[0]
    rests = [equilibrium(model, np.asarray(q)) for q in found]
    q = np.array([r.q for r in rests])
    channels = [
        _joint(path, s) if s.of.startswith("q.") else _spline([s.name], times, _readings(model, s, times, q), path.end)
        for s in law.sensors
    ]
    tau = np.array([r.tau for r in rests])
    active = [model.names[i] for i in model.active]
    hold = None
    if law.hold and np.abs(tau).max() > 1e-9:
        hold = _spline([f"tau {n}" for n in active], times, tau, path.end)
    return AlongPath(Trajectory.together(channels), hold)


def _joint(path: Trajectory, sensor: Sensor) -> Trajectory:
    """What the sensor of a joint should read: the path, or its derivative."""
    name = sensor.of.removeprefix("q.")
    own = path.only([name])
    c = own.coefficients
    for _ in range(QUANTITIES.index(sensor.quantity)):
        c = np.concatenate([c[..., 1:] * np.arange(1, c.shape[-1]), np.zeros_like(c[..., :1])], axis=-1)
    return Trajectory((sensor.name,), own.knots, c, own.breaks)


def _times(path: Trajectory) -> Array:
    """Two moments of a path that stays where it is; many of one that moves."""
    grid = np.linspace(path.start, path.end, 501)
    return grid[[0, -1]] if np.ptp(path(grid)[0], axis=0).max() < _STILL else np.linspace(path.start, path.end, _POSES)


def _readings(model: Model, s: Sensor, times: Array, q: Array) -> Array:
    """One sensor's readings along postures q, rates and accelerations by differentiating where things are."""
    still = np.zeros((len(q), model.nv))
    if s.quantity == "displacement":
        return reading(model, [s], q)[:, 0]
    if len(times) < 4:
        return np.zeros(len(times))
    own = s.of.startswith("body(")
    point, _, part = (s.of[5:].replace(")", "", 1) if own else s.of).rpartition(".")
    here = observe.points(model, q, still, still)
    at = list(model.mechanism.points).index(point)
    position, R = here["position"][:, at], here["rotation"][:, at]
    if part.startswith("r"):
        rate = _curve(times, R)(times, 1) @ R.transpose(0, 2, 1)
        vector = np.stack([rate[:, 2, 1], rate[:, 0, 2], rate[:, 1, 0]], axis=1)
    else:
        vector = _curve(times, position)(times, 2 if s.quantity == "acceleration" else 1)
    if own:
        vector = np.einsum("tij,ti->tj", R, vector)
    made: Array = vector[:, "xyz".index(part[-1])]
    return made


def _spline(names: Sequence[str], times: Array, x: Array, end: float) -> Trajectory:
    x = x.reshape(len(times), -1)
    if len(times) < 4:
        return Trajectory.held(names, x[0], end)
    s = _curve(times, x)
    return Trajectory.hermite(names, times, x, s(times, 1), s(times, 2))


def _curve(times: Array, x: Array) -> CubicSpline:
    from scipy.interpolate import CubicSpline  # takes longer to import than most motions to integrate

    return CubicSpline(times, x)


def added(first: Trajectory | None, second: Trajectory | None) -> Trajectory | None:
    """The sum of two sets of signals, channel by channel."""
    if first is None or second is None:
        return first if second is None else second
    names = tuple(dict.fromkeys((*first.names, *second.names)))
    both = Trajectory.together([first.renamed({n: f"1 {n}" for n in first.names}), second])
    c = np.zeros((len(both.knots) - 1, len(names), both.coefficients.shape[2]))
    for k, name in enumerate(both.names):
        c[:, names.index(name.removeprefix("1 ") if k < len(first.names) else name)] += both.coefficients[:, k]
    return Trajectory(names, both.knots, c, both.breaks)


def checked_law(model: Model, motion: Motion, law: SampledLaw, q: Array) -> SampledLaw:
    """The law, if the robot has its sensors and forces and gives its actuators to it."""
    active = [model.names[i] for i in model.active]
    for name in law.actuators:
        if name not in active:
            raise SuppleError(f"the controller moves {name!r}, which is no actuator of {model.mechanism.name}")
    prescribed = [n for n in law.actuators if motion.drives.get(n) == "prescribed"]
    if prescribed:
        raise SuppleError(f"the controller moves {prescribed[0]!r}, which the motion prescribes; remove one")
    found = single(model, q, law.sensors)
    if [s.of for s in found] != [s.of for s in law.sensors]:
        raise SuppleError("the controller's sensors are not of this robot; design it anew with supple control")
    _ = [pushed_wrenches(model, [x]) for x in law.pushes if _known(model.mechanism, x)]
    return replace(law, sensors=found)


def _known(mechanism: Mechanism, push: str) -> bool:
    inner = push.removeprefix("pair(").partition(")")[0] if push.startswith("pair(") else push.rpartition(".")[0]
    for point in (x.strip() for x in inner.split(",")):
        if point not in mechanism.points:
            raise SuppleError(f"push {push!r}: {mechanism.name} has no point {point!r}")
    return True


def law_tables(model: Model, law: SampledLaw, rest: Trajectory, path: Trajectory, torque: Sequence[str]) -> LawTables:
    """The law for the integrators: forces in the order of the actuators that are not prescribed, then pushes."""
    where = [torque.index(n) for n in law.actuators]
    efforts, r = len(torque) + len(law.pushes), len(law.actuators)
    rows = [*where, *(len(torque) + k for k in range(len(law.pushes)))]
    n, m = law.states, len(law.sensors)
    parts = []
    for part in law.parts:
        E, C, D = np.zeros((n, efforts)), np.zeros((efforts, n)), np.zeros((efforts, m))
        E[:, rows], C[rows], D[rows] = part.E.reshape(n, len(rows)), part.C.reshape(len(rows), n), part.D
        parts.append(np.concatenate([x.ravel() for x in (part.A, part.B, E, C, D)]))
    noise = np.zeros(efforts)
    noise[rows] = law.noise
    most = [x if np.isfinite(x) else 0.0 for x in law.limit[r:]]
    rest = rest.only([s.name for s in law.sensors])
    return LawTables(
        len(law.parts), n, m, len(law.pushes), np.concatenate(parts), _weights(law, path),
        _table(rest),
        np.concatenate([np.array([[s.noise, s.resolution] for s in law.sensors]).ravel(), noise]), np.array(most),
        pushed_wrenches(model, law.pushes), law.seed, sensed(model, law.sensors),
    )  # fmt: skip


def gauges(model: Model, learnt: Learnt) -> LawTables:
    """The sensors of a computed torque that learns, as a law without states; noise as of a law with the first seed."""
    rough = np.array([[s.noise, s.resolution] for s in learnt.sensors]).ravel()
    none = np.zeros(0)
    sense = sensed(model, learnt.sensors)
    return LawTables(0, 0, len(learnt.sensors), 0, none, None, _table(learnt.rest), rough, none, none, 1, sense)


def learnt_tables(learnt: Learnt, torque: Sequence[str]) -> LearntTables:
    """What is learnt for the integrators: actuators in the order of those that are not prescribed."""
    moved = [f"{p} {n}" for p in learnt.parameters for n in torque]
    path, forces = (_table(x.only(moved)) for x in (learnt.path, learnt.forces))
    return LearntTables(len(learnt.parameters), _table(learnt.slopes), _table(learnt.trust), path, forces)


def _table(signals: Trajectory) -> Table:
    return Table(signals.knots, signals.coefficients)


def _weights(law: SampledLaw, path: Trajectory) -> Table | None:
    """Weights of the parts along a path; None: there is one."""
    if len(law.parts) == 1:
        return None
    times = np.linspace(path.start, path.end, 4 * _POSES)
    w = law.weights(path.names, path(times)[0])
    slope = np.diff(w, axis=0) / np.diff(times)[:, None]
    c = np.zeros((len(times) - 1, w.shape[1], 6))
    c[..., 0], c[..., 1] = w[:-1], slope
    return Table(times, c)
