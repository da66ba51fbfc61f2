"""Where a robot comes to rest and joints stick: what vibrates then, and how quickly the joints were before.

A robot whose passive joints have dry friction is another one at rest than on its way. Friction smoothed over a width of
speed is a damper there, of coulomb / width, and a strong one: joints stick and frequencies rise. When their speeds pass
through that width, friction lets go of the bodies that it had bent: slowly, over half a period of what vibrates then, or at
once, and then it strikes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.machine import Machine
from supple.model.algebra import Array, one_thread
from supple.model.equilibrium import equilibrium, linearise
from supple.model.follow import follow
from supple.model.model import Model
from supple.model.posture import posture
from supple.motion.description import Motion
from supple.motion.shapers import Brake
from supple.motion.trajectory import Trajectory
from supple.simulation.ways_of import spans

_WIDTHS = 2.0  # of speed: joints this quick feel nine tenths of their friction
_PLACES = 65  # of a brake
_OSCILLATES = 0.7  # damping ratio above which nothing swings


@dataclass(frozen=True)
class Stop:
    """A rest at the end of a way: when, what vibrates with joints stuck (damped frequency in Hz and damping ratio, slowest
    first), and the speeds (joints, times) of these joints over half a period of the slowest before, from the end on, as
    shares of what they may be then."""

    time: float
    stuck: tuple[tuple[float, float], ...]
    speeds: Array

    def brakes(self, clock: float) -> list[Brake]:
        """One for every joint that is too quick, on a clock of so many periods in a second."""
        return [Brake(clock * self.span, row) for row in self.speeds if row.max() > 1]

    @property
    def span(self) -> float:
        return 0.5 / self.stuck[0][0]


@one_thread
def stops(robot: Machine, model: Model, motion: Motion) -> list[Stop]:
    """The rests of a motion; none of a robot whose passive joints have no dry friction."""
    rubbing = [c for c in model.mechanism.coordinates if c.kind == "passive" and float(c.coulomb) > 0 and float(c.width) > 0]
    path = follow(robot.model(rigid=True), motion).trajectory
    if not rubbing or path is None:
        return []
    names = [c.name for c in rubbing]
    forces, widths = np.array([[float(c.coulomb), float(c.width)] for c in rubbing]).T
    made = []
    for _, end in spans(path):
        at = dict(zip(path.names, path(end)[0].tolist(), strict=True))
        stuck = _stuck(model, posture(model, at, motion.assembly), names, forces / widths)
        if stuck:
            before = end - np.linspace(0.0, 0.5 / stuck[0][0], _PLACES)
            speeds = np.abs(_rates(robot.model(rigid=True), at, motion.assembly, names) @ _speeds(path, before, end).T)
            made.append(Stop(end, stuck, speeds / (_WIDTHS * widths[:, None])))
    return made


def _stuck(model: Model, q: Array, names: Sequence[str], slopes: Array) -> tuple[tuple[float, float], ...]:
    """Damped frequencies and damping ratios of what vibrates about rest, friction as at rest."""
    linear = linearise(model, equilibrium(model, q))
    rows = linear.Z[[model.index(n) for n in names]]
    D = linear.D + (rows.T * slopes) @ rows
    n = len(D)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(linear.M, np.hstack([linear.K, D]))]])
    poles = np.linalg.eigvals(A)
    poles = poles[(poles.imag > 0) & (-poles.real < _OSCILLATES * np.abs(poles))]
    poles = poles[np.argsort(np.abs(poles))]
    return tuple((float(p.imag / (2 * np.pi)), float(-p.real / abs(p))) for p in poles)


def _rates(rigid: Model, at: dict[str, float], assembly: str | None, names: Sequence[str]) -> Array:
    """Speeds of joints over those of the actuators of the rigid robot."""
    T = rigid.expansion(posture(rigid, at, assembly), [rigid.index(n) for n in at])
    return T[[rigid.index(n) for n in names]]


def _speeds(path: Trajectory, times: Array, end: float) -> Array:
    """Of the actuators up to a rest; those of another way before it are not counted."""
    made: Array = path(np.maximum(times, path.start))[1]
    made[times >= end] = 0.0
    return made
