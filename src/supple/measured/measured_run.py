"""A measured motion: positions and forces of the actuators and accelerations of sensors over time, and the motion that the
positions make once filtered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.measured.test import Test
from supple.motion.description import Motion
from supple.motion.filtering import even_samples, filtered
from supple.motion.paths import interpolated
from supple.motion.table import read_table
from supple.robot.bodies.record import Array
from supple.robot.mechanism import Mechanism
from supple.robot.named_files import files_below, is_outside_allowed

EFFORT = "tau "
_EFFORT = {"m": ("length", "force"), "rad": ("angle", "torque")}


@dataclass(frozen=True)
class MeasuredRun:
    """The motion of the actuators after the filter, what was measured beside it by column (samples), and the sampling."""

    name: str
    motion: Motion
    measured: dict[str, Array]  # "tau q1": forces of an actuator; "tip.x": a channel of an accelerometer
    rate: float
    cutoff: float

    @property
    def tau(self) -> Array:
        """Forces (samples, actuators), where they are known."""
        return np.column_stack([x for name, x in self.measured.items() if name.startswith(EFFORT)])


def read_run(test: Test, name: str, mechanism: Mechanism, *, forces: bool = True) -> MeasuredRun:
    """The MeasuredRun of an entry `motions:` of a test file, whose table has columns t, every actuator, and tau of each
    (`forces`: of all of them), and channels of accelerometers."""
    entry = test.written.motions[name]
    if entry.table is None:
        raise test.problem(("motions", name), "names no table of what was measured; add table:")
    active = [c for c in mechanism.coordinates if c.kind == "active"]
    names = [c.name for c in active]
    places = {c.name: _EFFORT[c.unit][0] for c in active}
    efforts = {f"{EFFORT}{c.name}": _EFFORT[c.unit][1] for c in active}
    shaken = {c.name: "acceleration" for c in test.outputs if c.order == 2}
    with files_below(test.folder, is_outside_allowed()):
        table = read_table(test.folder / entry.table, places | efforts | shaken, mechanism.name)
    missing = [n for n in (*places, *(efforts if forces else ())) if n not in table.names]
    if missing:
        raise SuppleError(f"{table.file}: has no column {', '.join(missing[:6])}; it needs all actuators and their forces")
    told = [n for n in (*efforts, *shaken) if n in table.names]
    if not told:
        raise SuppleError(f"{table.file}: has neither forces (tau ...) nor accelerations of sensors to compare with")
    cutoff = float(entry.filter)
    smooth, words = filtered(table, cutoff)
    times, raw = even_samples(table.times, table.columns(told))
    path = interpolated(names, smooth.times - smooth.times[0], smooth.columns(names))
    start = dict(zip(names, path(0.0)[0].tolist(), strict=True))
    motion = Motion(
        name, "", "joints", None, entry.assembly, start, {}, path, None, None, None, dict.fromkeys(names, "prescribed"),
        path.end, (f"{table.file}: {words}",),
    )  # fmt: skip
    rate = (len(times) - 1) / float(times[-1] - times[0])
    return MeasuredRun(name, motion, dict(zip(told, raw.T, strict=True)), rate, cutoff)


def noisy_run(positions: Array, tau: Array, entry: object, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions and forces with the noise of a rehearsed entry."""
    noise = (float(getattr(entry, key)) for key in ("position_noise", "force_noise"))
    first, second = (x + s * rng.standard_normal(x.shape) for x, s in zip((positions, tau), noise, strict=True))
    return first, second
