"""A motion whose path leaves the robot's vibrations at rest: the frequencies of its poses, and the path shaped by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.machine import Machine
from supple.model.algebra import Array, assigned, eigh, one_thread
from supple.model.equilibrium import equilibrium, linearise
from supple.model.follow import follow
from supple.model.model import Model
from supple.model.posture import posture
from supple.motion.description import Motion, Shaper
from supple.motion.shapers import AT_ONCE, WIDTHS, Band, Impulses, impulses, smooth, together
from supple.motion.shaping import Phase, shaped
from supple.motion.trajectory import Trajectory
from supple.simulation.sticking import Stop, stops

_POSES = 33  # at which modes are asked for, at most
_MOVED = 0.02  # m or rad between two of them
_SPARE = 6  # further modes among which one is looked for
_LOST = 0.5  # likeness of shapes below which a mode is not the same any more


@dataclass(frozen=True)
class Vibration:
    """A mode along a path: damped frequencies (Hz) at times, and its mean damping ratio."""

    times: Array
    frequencies: Array
    damping: float


def without_vibration(robot: Machine, model: Model, motion: Motion, lasting: bool) -> Motion:
    """The motion with its path shaped as it asks for; if `lasting`, it goes on until the shaped path has ended."""
    shaper, path = motion.shaper, motion.path
    if shaper is None:
        return motion
    if path is None:
        raise SuppleError(f"{motion.name!r} has no path to shape; leave shaper out")
    added = 0.0
    found = _vibrations(robot, model, motion, shaper)
    stuck = stops(robot, model, motion) if shaper.law == "together" and not shaper.frequencies else []
    sequences = _sequences(shaper, found, stuck)
    _check_length(motion, shaper, sequences, path.duration)
    for made, vibration in sequences:
        path, more = _shaped(path, made, vibration)
        added += more
    duration = motion.duration + added if lasting else motion.duration
    return replace(motion, path=path.lasting(duration), duration=duration)


def _check_length(
    motion: Motion, shaper: Shaper, sequences: Sequence[tuple[Impulses, Vibration]], duration: float
) -> None:  # fmt: skip
    """Whether all sequences one after the other last no longer than the motion."""
    slowest = [float(vibration.frequencies.min()) for _, vibration in sequences]
    length = sum(made.length / f for (made, _), f in zip(sequences, slowest, strict=True))
    if length > duration:
        raise SuppleError(
            f"{motion.name!r}: a {shaper.law} shaper for {', '.join(f'{f:.4g}' for f in slowest)} Hz lasts {length:.4g} s, "
            f"longer than the motion's {duration:.4g} s; shape for fewer or faster modes, or choose a shorter shaper"
        )


def _sequences(shaper: Shaper, found: list[Vibration], stops: Sequence[Stop]) -> list[tuple[Impulses, Vibration]]:
    """A sequence for every vibration, or one for all of them on the clock of the slowest."""
    if shaper.law not in AT_ONCE:
        return [(impulses(shaper.law, v.damping, shaper.tolerance, shaper.width), v) for v in found]
    slowest = min(found, key=lambda v: float(v.frequencies.mean()))
    near = WIDTHS[shaper.law] if shaper.width is None else shaper.width
    ratios = [v.frequencies / slowest.frequencies for v in found]
    bands = [Band((1 - near) * r.min(), (1 + near) * r.max(), v.damping) for r, v in zip(ratios, found, strict=True)]
    if shaper.law == "smooth":
        return [(smooth(bands, shaper.length), slowest)]
    clock = [float(np.interp(s.time, slowest.times, slowest.frequencies)) for s in stops]
    highest = max(b.high for b in bands)
    for f, s in zip(clock, stops, strict=True):
        own = [(x / f, z) for k, (x, z) in enumerate(s.stuck) if k == 0 or x / f <= highest]
        bands += [Band((1 - near) * r, (1 + near) * r, z) for r, z in own]
    brakes = [brake for f, s in zip(clock, stops, strict=True) for brake in s.brakes(f)]
    return [(together(bands, shaper.length, brakes), slowest)]


def _shaped(path: Trajectory, made: Impulses, vibration: Vibration) -> tuple[Trajectory, float]:
    """The path shaped for a vibration, and how much longer it is. The robot is, on average, behind the unshaped path."""
    behind = made.behind / float(vibration.frequencies[0])
    if len(vibration.times) < 2:
        found = shaped(path, made, Phase.constant(float(vibration.frequencies[0])))
    else:
        found = shaped(path, made, Phase(vibration.times + behind, vibration.frequencies))
    return found, found.end - path.end


def _vibrations(robot: Machine, model: Model, motion: Motion, shaper: Shaper) -> list[Vibration]:
    if shaper.frequencies:
        start = np.zeros(1)
        return [
            Vibration(start, np.array([f * np.sqrt(1 - z * z)]), z)
            for f, z in zip(shaper.frequencies, shaper.damping, strict=True)
        ]
    if not any(c.kind == "elastic" for c in model.mechanism.coordinates):
        raise SuppleError(f"{model.mechanism.name} does not bend; give the shaper frequencies, or a flexible robot")
    trajectory = follow(robot.model(rigid=True), motion).trajectory
    if trajectory is None:
        raise SuppleError(f"{motion.name!r}: no actuator follows the path, so no mode belongs to it; give frequencies")
    times = _poses(trajectory) if shaper.along else np.array([trajectory.start])
    found = _Modes(model, motion, trajectory, max(shaper.modes)).at(times)
    made = [_vibration(motion, times, found, k - 1) for k in shaper.modes]
    # Dry friction damps vibrations and leaves their frequencies alone, so damping that is given does, too
    return [replace(v, damping=z) for v, z in zip(made, shaper.damping or [v.damping for v in made], strict=True)]


def _vibration(motion: Motion, times: Array, found: tuple[Array, Array], k: int) -> Vibration:
    squares, ratios = found[0][:, k], found[1][:, k]
    if (squares <= 0).any():
        where = times[int(np.argmin(squares))]
        raise SuppleError(
            f"{motion.name!r}: mode {k + 1} does not vibrate at t = {where:.4g} s and cannot be shaped for; choose another"
        )
    damping = float(ratios.mean())
    if damping >= 1:
        raise SuppleError(f"{motion.name!r}: mode {k + 1} is overdamped; it leaves no vibration to shape for")
    return Vibration(times, np.sqrt(squares * (1 - ratios**2)) / (2 * np.pi), damping)


def _poses(trajectory: Trajectory) -> Array:
    """Times at which the actuators have moved on, first and last included, no more than are worth their modes."""
    times = np.linspace(trajectory.start, trajectory.end, 2001)
    gone = np.concatenate([[0.0], np.abs(np.diff(trajectory(times)[0], axis=0)).sum(axis=1).cumsum()])
    count = int(np.clip(np.ceil(gone[-1] / _MOVED) + 1, 2, _POSES))
    first = np.searchsorted(gone, np.linspace(0.0, gone[-1], count) - 1e-12)
    last = np.searchsorted(gone, np.linspace(0.0, gone[-1], count) + 1e-12, side="right") - 1
    made: Array = times[np.unique(np.concatenate([first, last]))]
    return made


@dataclass(frozen=True)
class _Modes:
    """Modes of a robot along the path of its actuators, which are held, each followed by its shape."""

    model: Model
    motion: Motion
    trajectory: Trajectory
    most: int

    @one_thread
    def at(self, times: Array) -> tuple[Array, Array]:
        """Squared angular frequencies and damping ratios (times, modes), numbered as at the first time."""
        squares, ratios = [], []
        before: tuple[Array, Array] | None = None
        known: dict[bytes, tuple[Array, ...]] = {}
        for t in times:
            where = self.trajectory(t)[0]
            found = known.setdefault(np.round(where, 9).tobytes(), self._modes(where, t))
            order = np.arange(self.most) if before is None else self._order(before, found, t)
            squares.append(found[0][order])
            ratios.append(found[1][order])
            before = found[2][:, order], found[3]
        return np.array(squares), np.array(ratios)

    def _order(self, before: tuple[Array, Array], found: tuple[Array, ...], t: float) -> Array:
        """Which of the modes found is which of those before."""
        likeness = np.abs(before[0].T @ before[1] @ found[2])
        rows, columns = assigned(-likeness)
        if likeness[rows, columns].min() < _LOST:
            k = int(likeness[rows, columns].argmin())
            raise SuppleError(
                f"{self.motion.name!r}: mode {k + 1} cannot be followed past t = {t:.4g} s, where it mixes with others; "
                "shape for the modes at the start (poses: start), or give frequencies"
            )
        return np.asarray(columns)

    def _modes(self, where: Array, t: float) -> tuple[Array, ...]:
        """Squares, ratios, shapes and mass matrix of the lowest modes at a place of the actuators."""
        model = self.model
        at = dict(zip(self.trajectory.names, where.tolist(), strict=True))
        try:
            rest = equilibrium(model, posture(model, at, self.motion.assembly))
        except PoseError as problem:
            raise SuppleError(f"{self.motion.name!r}: at t = {t:.4g} s: {problem}") from problem
        linear = linearise(model, rest)
        count = len(linear.M)
        if self.most > count:
            raise SuppleError(
                f"{model.mechanism.name} has {count} modes with its actuators held, not {self.most}; choose lower ones"
            )
        squares, V = eigh(0.5 * (linear.K + linear.K.T), linear.M, self.most + _SPARE)
        omega = np.sqrt(np.maximum(squares, 1e-300))
        lost = np.einsum("ik,ij,jk->k", V, linear.D, V) / (2 * omega)
        lost = lost + np.einsum("ik,ij,jk->k", V, linear.H, V) / (2 * omega**2)
        return squares, lost, linear.Z @ V, linear.M_tree
