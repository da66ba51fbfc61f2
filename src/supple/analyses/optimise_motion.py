"""The least time for the ways of a motion, under limits of its actuators and of the vibration that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.follow import follow
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.results import Simulation
from supple.robot.written import Written, seconds, si
from supple.simulation.integrate import integrate
from supple.simulation.quickest import Asked, Law, Way, quickest, residual_of, timed
from supple.simulation.simulator import simulator
from supple.simulation.ways_of import spans, way_between
from supple.storage import save

_DIMENSIONS = {
    "speed": {"m": "velocity", "rad": "rate"},
    "acceleration": {"m": "acceleration", "rad": "angular acceleration"},
    "force": {"m": "force", "rad": "torque"},
}


def optimise_motion(
    robot: Machine,
    motion: str | Path | Motion | None = None,
    *,
    limits: Mapping[str, Written] | None = None,
    residual: Written | None = None,
    of: str | None = None,
    modes: int = 4,
    every: Written = "1 ms",
    output: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """The simulation of a motion along the same paths in the least time. Options as of `api.Robot.optimise_motion`."""
    read = motion if isinstance(motion, Motion) else robot.motion(motion)
    followed = follow(robot.model(rigid=True), read)
    path = followed.trajectory
    if path is None or followed.stop is not None:
        raise SuppleError(followed.stop or f"{read.name!r} has no path of the actuators to be quicker on")
    if read.loads is not None or read.torques is not None:
        raise SuppleError(f"{read.name!r}: loads and torques belong to times of the motion; leave them out")
    known = _limits(robot, read, path, limits or {})
    asked = _asked(path, known, residual)
    found = spans(path)
    if not found:
        raise SuppleError(f"{read.name!r} does not move")
    point = _point(robot, read, of) if np.isfinite(asked.residual) else None
    made = []
    for k, span in enumerate(found):
        way = way_between(robot, read, path, span, point, modes)
        made.append((way, quickest(way, asked)))
        if progress is not None:
            progress((k + 1) / (len(found) + 1))
    joined = _joined(path, found, made)
    said = tuple(_sentence(k, way, law, point) for k, (way, law) in enumerate(made, 1))
    new = replace(
        read, space="joints", point=None, path=joined, duration=joined.end, controller=None, shaper=None, limits=known,
        drives=dict.fromkeys(read.drives, "prescribed"), notices=(*read.notices, *said),
        start=dict(zip(path.names, path(path.start)[0].tolist(), strict=True)),
    )  # fmt: skip
    result = integrate(simulator(robot, new), Settings("radau", every=seconds(every, "every") or 0.0), accept=True)
    left = (result.summary["performance"].get("residual_vibration_m") or {}).get(point, 0.0)
    if left > asked.residual:
        result.summary["notices"].append(
            f"{point} moves by {1e6 * left:.3g} µm after the last way, more than asked for: creep, friction and large "
            "motions are not in the linear robot; ask for less, or shape the result"
        )
    if output is not None:
        save(result, Path(output))
    return result


def _limits(
    robot: Machine, motion: Motion, path: Trajectory, given: Mapping[str, Written]
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Limits by kind and actuator: the motion's own, and those given for all actuators instead."""
    known = {key: dict(x) for key, x in motion.limits.items()}
    units = {c.name: c.unit for c in robot.model(rigid=True).mechanism.coordinates}
    for key, value in given.items():
        if key not in _DIMENSIONS:
            raise SuppleError(f"limit {key!r}: must be one of {', '.join(_DIMENSIONS)}")
        known[key] = {n: si(value, _DIMENSIONS[key][units[n]], f"limit {key}") for n in path.names}
        if min(known[key].values()) <= 0:
            raise SuppleError(f"limit {key}={value}: must be above zero")
    if not (known.get("acceleration") or known.get("force")):
        raise SuppleError("give a limit of acceleration or force (limits: of the motion, or --limit)")
    return known


def _asked(path: Trajectory, known: Mapping[str, Mapping[str, float]], residual: Written | None) -> Asked:
    each = {key: np.array([known.get(key, {}).get(n, np.inf) for n in path.names]) for key in _DIMENSIONS}
    left = np.inf if residual is None else si(residual, "length", "residual")
    if not left > 0:
        raise SuppleError(f"residual {residual}: must be above zero")
    return Asked(each["speed"], each["acceleration"], each["force"], left)


def _point(robot: Machine, motion: Motion, of: str | None) -> str:
    """The point whose vibration counts."""
    known = list(robot.model().mechanism.points)
    chosen = of or motion.point or next(iter(known), None)
    if chosen not in known:
        raise SuppleError(f"{robot.name} has no point {chosen!r} whose vibration could be limited, but {', '.join(known)}")
    return chosen


def _joined(path: Trajectory, found: list[tuple[float, float]], made: list[tuple[Way, Law]]) -> Trajectory:
    """The new path: ways in their new times, rests as long as before."""
    parts, at = [], path.start
    for (begin, end), (way, law) in zip(found, made, strict=True):
        if begin - at > 1e-9:
            parts.append(Trajectory.held(path.names, path(begin)[0], begin - at))
        parts.append(timed(way, law))
        at = end
    if path.end - at > 1e-9:
        parts.append(Trajectory.held(path.names, path(path.end)[0], path.end - at))
    return Trajectory.joined(parts)


def _sentence(k: int, way: Way, law: Law, point: str | None) -> str:
    left = "" if point is None else f", {point} then vibrates by {1e6 * residual_of(way, law):.3g} µm, if linear"
    return f"way {k}: {law.duration:.4g} s instead of {way.duration:.4g} s{left}"
