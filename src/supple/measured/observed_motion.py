"""Forces of actuators and accelerations of sensors along a measured motion, as a fit compares them.

The robot follows the filtered positions, its bodies bending as they do. Measured and computed signals pass the same
low-pass, a third of the positions', and are thinned out until their noise is independent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from supple.errors import SuppleError
from supple.measured.base_parameters import lower_cutoff
from supple.measured.free import Free
from supple.measured.measured_run import EFFORT, MeasuredRun
from supple.measured.observations import Compared
from supple.measured.test import Channel
from supple.motion.filtering import low_passed
from supple.robot.bodies.record import Array

STEP = 2e-3  # of logarithms of factors: slopes are central differences of runs side by side


class Ran(Protocol):
    """A simulation: signals by name over time, and the entries of their axes."""

    @property
    def time(self) -> Array: ...

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]: ...

    def __getitem__(self, name: str) -> Array: ...


Simulated = Callable[[Array], Sequence[Ran]]  # of designs (rows of parameters)


@dataclass(frozen=True)
class MotionObserved:
    """What was measured along one motion."""

    run: MeasuredRun
    free: Free
    channels: tuple[Channel, ...]
    simulated: Simulated
    noise: tuple[float, float]  # standard deviations of samples of forces and accelerations; 0: as the data say
    counted: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.run.name

    @property
    def evaluations(self) -> int:
        return sum(self.counted)

    def compared(self, p: Array, gradient: bool = True) -> Compared:
        along = self.free.directions(p) if gradient else np.zeros((0, len(p)))
        designs = np.vstack([p, *(p + sign * STEP * dp for dp in along for sign in (1, -1))])
        found = self._computed(designs)
        measured, spread = self._measured(found.shape[1])
        low, every = lower_cutoff(self.run.rate, self.run.cutoff, found.shape[1])
        thin = np.array([low_passed(x, low / self.run.rate)[every:-every:every] for x in found]) / spread
        left = thin[0] - measured / spread
        slopes = (thin[1::2] - thin[2::2]) / (2 * STEP)
        return Compared(left.ravel(), slopes.reshape(len(along), left.size).T)

    def _computed(self, designs: Array) -> Array:
        """(designs, samples, columns): the measured columns as they would be."""
        self.counted.append(len(designs))
        runs = self.simulated(designs)
        count = min(len(next(iter(self.run.measured.values()))), *(len(r.time) for r in runs))
        columns = [[_column(r, name, self.channels)[:count] for name in self.run.measured] for r in runs]
        return np.array(columns).swapaxes(1, 2)

    def _measured(self, count: int) -> tuple[Array, Array]:
        """Measured columns after the low-pass, thinned out, and the standard deviation that their noise leaves there."""
        raw = np.column_stack([x[:count] for x in self.run.measured.values()])
        low, every = lower_cutoff(self.run.rate, self.run.cutoff, count)
        smooth = low_passed(raw, low / self.run.rate)
        blow = np.zeros((count, 1))
        blow[count // 2] = 1.0
        left = float((low_passed(blow, low / self.run.rate) ** 2).sum())  # of the variance of white noise
        seen = np.sqrt(((raw - smooth)[every:-every] ** 2).mean(axis=0) / (1 - left))
        given = np.array([self.noise[0 if name.startswith(EFFORT) else 1] for name in self.run.measured])
        size = np.maximum(np.where(given > 0, given, seen), 1e-9 * np.abs(raw).max(axis=0) + 1e-300)
        return smooth[every:-every:every], size * np.sqrt(left)

    def told(self, p: Array) -> list[dict[str, Any]]:
        found = self._computed(p[None])[0]
        made = []
        measured, spread = self._measured(len(found))
        low, every = lower_cutoff(self.run.rate, self.run.cutoff, len(found))
        thin = low_passed(found, low / self.run.rate)[every:-every:every]
        for k, name in enumerate(self.run.measured):
            size = float(np.sqrt((measured[:, k] ** 2).mean()))
            off = float(np.sqrt(((thin - measured)[:, k] ** 2).mean()))
            made.append({
                "pose": self.name, "what": f"{name} (RMS)", "unit": "N or N m" if name.startswith(EFFORT) else "m/s^2",
                "measured": size, "computed": float(np.sqrt((thin[:, k] ** 2).mean())), "deviation": float(spread[k]),
                "residual": off / float(spread[k]),
            })  # fmt: skip
        return made


def _column(run: Ran, name: str, channels: tuple[Channel, ...]) -> Array:
    """A measured column as a simulation has it."""
    if name.startswith(EFFORT):
        made: Array = run["tau"][:, run.axes["actuator"].index(name.removeprefix(EFFORT))]
        return made
    channel = next((c for c in channels if c.name == name), None)
    if channel is None:
        raise SuppleError(f"there is no channel {name!r} among the sensors")
    return accelerations(run, channel)


def accelerations(run: Ran, channel: Channel) -> Array:
    """What a channel of an accelerometer feels along a run, weight left out; in the axes of its link where it has these."""
    key = "point_acceleration_own" if channel.in_link else "point_acceleration"
    made: Array = run[key][:, run.axes["point"].index(channel.place)] @ channel.vector
    return made
