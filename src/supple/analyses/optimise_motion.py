"""The least time for the ways of a motion, under limits of its actuators and of the vibration that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.follow import follow
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.results import Simulation
from supple.robot.written import Written, seconds, si
from supple.simulation.amended import amended, arriving
from supple.simulation.integrate import integrate
from supple.simulation.quickest import Asked, Way, quickest, residual_of, struck, timed
from supple.simulation.simulator import simulator
from supple.simulation.way_laws import Law
from supple.simulation.ways_of import spans, way_between
from supple.storage import save

_ROUNDS = 5  # simulations, each of which the next law makes up for
_MET = 1.001  # of what is asked
_FAR, _NEARER = 2.0, 0.7  # what is so many times too much, and does not become less by this factor, stays
_TRUE = 1e-5  # of vibrations: what simulations are true to
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
    modes: int = 8,
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
    ways = [way_between(robot, read, path, span, point, modes) for span in found]
    _check_residual(ways, asked)
    result = _settled(robot, read, path, found, ways, known, asked, point, every, progress)
    result.summary["unmet"] = _unmet(result, path, asked, point)
    result.summary["notices"] += result.summary["unmet"]
    if output is not None:
        save(result, Path(output))
    return result


def _check_residual(ways: list[Way], asked: Asked) -> None:
    """Whether simulations could tell what is asked for."""
    least = _TRUE * max(struck(way) for way in ways)
    if asked.residual < least:
        raise SuppleError(
            f"limits cannot be met: a residual of {asked.residual:.3g} m is below the {least:.2g} m to which simulations of "
            "these ways are true; ask for that or more"
        )


def _unmet(result: Simulation, path: Trajectory, asked: Asked, point: str | None) -> list[str]:
    """What the flexible robot does beyond what was asked, in words, and what to do."""
    used, left = _used(result, path, asked, point)
    said = []
    if used.max(initial=0.0) > _MET:
        most = 100 * used.max()
        said.append(f"limits cannot be met: {path.names[int(used.argmax())]} needs {most:.4g} % of its force; raise it")
    if left > 1:
        size = 1e6 * left * asked.residual
        said.append(
            f"limits cannot be met: {point} moves by {size:.3g} µm after the last way, more than the "
            f"{1e6 * asked.residual:.3g} µm asked for: creep, friction and faster vibrations than --modes are not foreseen; "
            f"ask for --residual '{_above(size)} um', or shape the result"
        )
    return said


def _above(x: float) -> str:
    """A number a little larger, in two digits."""
    step = 10.0 ** (np.floor(np.log10(x)) - 1)
    return f"{np.ceil(1.05 * x / step) * step:.3g}"


def _simulated(
    robot: Machine, read: Motion, path: Trajectory, found: list[tuple[float, float]], made: list[tuple[Way, Law]],
    known: dict[str, dict[str, float]], point: str | None, every: Written,
) -> Simulation:  # fmt: skip
    """The flexible robot on the ways in their new times."""
    joined = _joined(path, found, made)
    said = tuple(_sentence(k, way, law, point) for k, (way, law) in enumerate(made, 1))
    new = replace(
        read, space="joints", point=None, path=joined, duration=joined.end, controller=None, shaper=None, limits=known,
        drives=dict.fromkeys(read.drives, "prescribed"), notices=(*read.notices, *said),
        start=dict(zip(path.names, path(path.start)[0].tolist(), strict=True)),
    )  # fmt: skip
    return integrate(simulator(robot, new), Settings("radau", every=seconds(every, "every") or 0.0), accept=True)


def _settled(
    robot: Machine, read: Motion, path: Trajectory, found: list[tuple[float, float]], ways: list[Way],
    known: dict[str, dict[str, float]], asked: Asked, point: str | None, every: Written,
    progress: Callable[[float], None] | None,
) -> Simulation:  # fmt: skip
    """The first simulation that keeps to all that is asked, or that which comes nearest to it; every law makes up for what
    the flexible robot does beyond the law before."""
    wanted = asked
    best: tuple[float, Simulation | None] = np.inf, None
    for k in range(_ROUNDS):
        try:
            made = _made(path, found, ways, wanted)
        except SuppleError:
            if best[1] is None:
                raise
            break
        result = _simulated(robot, read, path, found, made, known, point, every)
        used, left = _used(result, path, asked, point)
        before, best = best[0], min(best, (max(used.max(initial=0.0), left), result), key=lambda x: x[0])
        if progress is not None:
            progress((k + 1) / (_ROUNDS + 1))
        if best[0] <= _MET or (best[0] > _FAR and best[0] > _NEARER * before):
            break
        wanted = replace(wanted, force=wanted.force * np.minimum(1.0, 0.999 / used))
        ways = _amended(path, found, made, result)
    assert best[1] is not None
    return best[1]


def _made(path: Trajectory, found: list[tuple[float, float]], ways: list[Way], wanted: Asked) -> list[tuple[Way, Law]]:
    """Ways with their laws, each beginning with what the one before leaves."""
    made: list[tuple[Way, Law]] = []
    for k, way in enumerate(ways):
        begun = arriving(way, *made[-1], found[k][0] - found[k - 1][1]) if made else way
        made.append((begun, quickest(begun, wanted)))
    return made


def _used(result: Simulation, path: Trajectory, asked: Asked, point: str | None) -> tuple[Array, float]:
    """Shares of what is asked that the flexible robot uses: forces of the actuators, vibration after the last way."""
    told = result.summary["performance"]
    forces = told.get("limits", {}).get("force", {})
    used = np.array([forces[n]["used"] if n in forces else 1e-9 for n in path.names])
    return used, (told.get("residual_vibration_m") or {}).get(point, 0.0) / asked.residual


def _amended(
    path: Trajectory, found: list[tuple[float, float]], made: list[tuple[Way, Law]], result: Simulation
) -> list[Way]:  # fmt: skip
    """The ways with what the simulation left beyond them."""
    ways, end, at = [], path.start, path.start
    for k, ((first, last), (way, law)) in enumerate(zip(found, made, strict=True)):
        end += first - at + law.duration
        rest = (found[k + 1][0] if k + 1 < len(found) else path.end) - last
        ways.append(amended(way, law, result, end, rest))
        at = last
    return ways


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
    left = "" if point is None else f", {point} then vibrates by {1e6 * residual_of(way, law):.3g} µm, as foreseen"
    return f"way {k}: {law.duration:.4g} s instead of {way.duration:.4g} s{left}"
