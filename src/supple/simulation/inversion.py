"""Inverse dynamics of the flexible robot: actuators that lead a point or the platform along its path exactly.

Where a tip trembles behind a beam, the motors have to move before it does: the inverse is not causal. The robot's small
motions about the postures on the way (M, D, K in its independent coordinates, friction as the speeds of the moment have it)
are a time-varying linear system from the actuators' jerk to the output. Its stable inverse (`preview`) turns the error of
the whole motion into a correction of the whole actuator path,

    path <- path + inverse (wanted - seen),

where `seen` is the motion of the exact model. Repeated (corrections combined as by Anderson) until the error is gone: what
is found is the exact inverse of the exact model, whatever the linear one leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array, one_thread
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.ports import in_plane, point_rows
from supple.model.posture import posture, standing
from supple.motion.description import Motion
from supple.motion.paths import interpolated
from supple.motion.trajectory import Trajectory
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.inverse_motions import Led, led_along
from supple.simulation.preview import Preview
from supple.simulation.simulator import Simulator, simulator

METHODS = ("exact", "quasi-static", "rigid")
ACCURACY = 1e-8  # m or rad, of the output at samples
_MOST = 20  # corrections
_MEMORY = 5  # of them that are combined
_STALLED = 0.7  # of the least error so far: less gain than that in three corrections is none
_PERIODS = 3.0  # of the slowest vibration, before and after the motion
DOUBT = 0.05  # of the error before: more than that left is no inverse
_LIKE = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Inverted:
    """A motion of the actuators that leads the output along its path: how much later it is there, what is left of the error
    (m or rad) and what it was with the path of the rigid robot, and how many corrections it took."""

    motion: Motion
    lead: float
    error: float
    first_error: float
    corrections: int

    def sentence(self, of: str) -> str:
        """How well that is done, in words."""
        if np.isnan(self.error):
            return f"the actuators make up for up to {self.first_error:.2g} m or rad by which {of} bends without vibrating"
        said = f"{of} follows its path within {self.error:.2g} m or rad"
        said += f" ({self.first_error:.2g} with the rigid robot's actuators)"
        if self.lead > 0:
            said += f", {self.lead:g} s later: the actuators move before it"
        if self.error > DOUBT * self.first_error:
            said += "; corrections did not converge: give more samples (every) or a smoother path"
        return said


@dataclass(frozen=True)
class _Output:
    """What follows the path: a named point or the platform, by some of its six components."""

    name: str
    components: tuple[int, ...]

    def of(self, run: Simulation) -> tuple[Array, Array]:
        """Positions (times, 3) and rotation vectors (times, 3)."""
        if self.name == "platform":
            names = list(run.axes["coordinate"])
            whole = np.zeros((len(run.time), 6))
            for k, part in enumerate(_LIKE):
                if part in names:
                    whole[:, k] = run["position"][:, names.index(part)]
            return whole[:, :3], whole[:, 3:]
        k = list(run.axes["point"]).index(self.name)
        return run["point_position"][:, k], run["point_orientation"][:, k]

    def off(self, wanted: tuple[Array, Array], seen: tuple[Array, Array]) -> Array:
        """Errors (times, components): small turns in base axes."""
        from scipy.spatial.transform import Rotation

        turn = (Rotation.from_rotvec(wanted[1]) * Rotation.from_rotvec(seen[1]).inv()).as_rotvec()
        made: Array = np.hstack([wanted[0] - seen[0], turn])[:, list(self.components)]
        return made

    def rows(self, model: Model, q: Array) -> Array:
        """Rates of the components over the generalised velocities."""
        if self.name == "platform":
            return model.held([model.index(_LIKE[k]) for k in self.components])
        return point_rows(model, q, self.name)[list(self.components)]


@one_thread
def inverted(
    robot: Machine,
    motion: Motion,
    of: str,
    *,
    method: str = "exact",
    every: float = 1e-3,
    lead: float | None = None,
    structural: str = "viscous",
    progress: Callable[[float], None] | None = None,
) -> Inverted:
    """The motion with its actuators led so that `of` (a named point, or platform) of the flexible robot goes where it
    goes on the rigid robot. `lead`: time before and after the motion in which the actuators may move (s; None: some periods
    of the slowest vibration); `every`: s between samples; `structural` as of `simulator`."""
    model = robot.model()
    output = _output(model, of)
    still = replace(motion, controller=None, torques=None, drives=dict.fromkeys(motion.drives, "prescribed"))
    rigid = simulator(robot, still, rigid=True)
    path = rigid.path
    if path is None or rigid.stop is not None:
        raise SuppleError(rigid.stop or f"{motion.name!r} has no path to follow")
    if method == "rigid":
        return Inverted(motion, 0.0, np.nan, np.nan, 0)
    leading = led_along(model, path, motion.assembly, output.rows)
    ahead = _PERIODS / leading.slowest if lead is None else lead
    ahead = 0.0 if method == "quasi-static" else float(np.ceil(ahead / every - 1e-6) * every)
    later = None if motion.loads is None else motion.loads.later(ahead).lasting(rigid.motion.duration + 2 * ahead)
    first = replace(rigid.motion, path=path, space="joints", point=None, shaper=None, loads=later)
    return _Search(robot, first, output, leading, method, every, ahead, structural, path).found(progress)


def _output(model: Model, of: str) -> _Output:
    mechanism = model.mechanism
    own = [k for k, n in enumerate(_LIKE) if n in model.names]
    if of != "platform" and of not in mechanism.points:
        known = ", ".join([*mechanism.points, *(["platform"] if own else [])])
        raise SuppleError(f"{mechanism.name} has no point {of!r} to lead along a path; it has: {known or 'none'}")
    if of == "platform" and not own:
        raise SuppleError(f"{mechanism.name} has no platform with coordinates of its own; name a point")
    parts = own if of == "platform" else in_plane(model)
    count = len(model.active)
    places = [k for k in parts if k < 3]
    if count == len(places):
        return _Output(of, tuple(places))
    if count == len(parts):
        return _Output(of, tuple(parts))
    raise SuppleError(
        f"{mechanism.name}: {count} actuators cannot lead {of!r}, which has {len(places)} coordinates of place and "
        f"{len(parts)} with its orientation; their numbers must agree"
    )


@dataclass(frozen=True)
class _Search:
    """Corrections of a path until the output follows."""

    robot: Machine
    motion: Motion
    output: _Output
    leading: Led
    method: str
    every: float
    lead: float
    structural: str
    path: Trajectory

    def found(self, progress: Callable[[float], None] | None) -> Inverted:
        path = self.path
        steps = int(np.ceil((self.motion.duration + 2 * self.lead) / self.every - 1e-9))
        times = np.asarray(self.every * np.arange(steps + 1), dtype=float)
        places = path(times - self.lead)[0]
        rigid = self._rigid(path, times)
        wanted = self.output.of(rigid)
        model = simulator(self.robot, self._moved(path.names, times, places), structural=self.structural)
        inverse = self._inverse(rigid)
        slow = self.method == "quasi-static"
        renewed = bool(self.leading.friction) and not slow
        tried: list[tuple[Array, Array]] = []
        errors: list[float] = []
        best = (np.inf, places)
        while len(errors) <= _MOST:
            seen = self._seen(model, path.names, times, places)
            off = self.output.off(wanted, self.output.of(seen))
            errors.append(float(np.abs(off).max()))
            best = min(best, (errors[-1], places), key=lambda x: x[0])
            if progress is not None:
                progress(min(1.0, len(errors) / 8))
            if errors[-1] < ACCURACY or _stalled(errors):
                break
            if renewed:
                inverse = self._inverse(seen)
            tried.append((places, self._step(inverse, off)))
            places = _combined(tried[-1:] if renewed else tried[-_MEMORY:])
            if slow:  # a second correction would differentiate the first
                return Inverted(self._moved(path.names, times, places), 0.0, np.nan, errors[0], 1)
        return Inverted(self._moved(path.names, times, best[1]), self.lead, best[0], errors[0], len(errors) - 1)

    def _rigid(self, path: Trajectory, times: Array) -> Simulation:
        """The rigid robot on its way, whose output goes where it is wanted."""
        held = path.later(self.lead).lasting(float(times[-1]))
        still = replace(self.motion, path=held, duration=float(times[-1]))
        return integrate(simulator(self.robot, still, rigid=True), Settings(every=self.every))

    def _moved(self, names: tuple[str, ...], times: Array, places: Array) -> Motion:
        """The motion of the actuators through places at times."""
        start = dict(zip(names, places[0].tolist(), strict=True))
        made = replace(self.motion, start=start, path=interpolated(names, times, places), duration=float(times[-1]))
        return replace(made, wanted=self.path.later(self.lead).lasting(made.duration))

    def _seen(self, first: Simulator, names: tuple[str, ...], times: Array, places: Array) -> Simulation:
        """The flexible robot on its way."""
        motion, run = self._moved(names, times, places), first.runs[0]
        straight = posture(run.model, motion.start, motion.assembly)
        rest = equilibrium(run.model, straight, standing=standing(run.model, motion.start))
        now = replace(first, motion=motion, path=motion.path, runs=(replace(run, q=rest.q, v=0 * run.v),))
        slow = self.method == "quasi-static"
        settings = Settings("quasi_static", 0.0, self.every) if slow else Settings("radau", 1e-6)
        made = integrate(now, replace(settings, every=self.every), accept=True)
        if len(made.time) != len(times):
            raise SuppleError(f"{self.motion.name!r}: {made.outcome}")
        return made

    def _inverse(self, rigid: Simulation) -> Preview | Array:
        names = [n for n in self.robot.model().names if n in rigid.axes["coordinate"]]
        if self.method == "quasi-static":
            return self.leading.static(rigid.time - self.lead)
        speeds = rigid["velocity"][:, [list(rigid.axes["coordinate"]).index(n) for n in names]]
        return self.leading.preview(rigid.time - self.lead, dict(zip(names, speeds.T, strict=True)))

    def _step(self, inverse: Preview | Array, off: Array) -> Array:
        """The correction (times, actuators) of the path for errors of the output."""
        if isinstance(inverse, Preview):
            return self.leading.actuators(inverse.inputs(off, self.leading.resting(off[0]))[1])
        made: Array = np.einsum("tij,tj->ti", inverse, off)
        return made


def _stalled(errors: list[float]) -> bool:
    return len(errors) > 6 and min(errors[-3:]) > _STALLED * min(errors[:-3])


def _combined(tried: list[tuple[Array, Array]]) -> Array:
    """The next path: the last ones and their corrections mixed so that what is left is least (Anderson 1965)."""
    places, step = tried[-1]
    if len(tried) == 1:
        return places + step
    moved = np.array([(p - q).ravel() for (p, _), (q, _) in zip(tried[1:], tried[:-1], strict=True)]).T
    changed = np.array([(p - q).ravel() for (_, p), (_, q) in zip(tried[1:], tried[:-1], strict=True)]).T
    shares, *_ = np.linalg.lstsq(changed, step.ravel(), rcond=1e-8)
    mixed: Array = (places + step).ravel() - (moved + changed) @ shares
    return mixed.reshape(places.shape)
