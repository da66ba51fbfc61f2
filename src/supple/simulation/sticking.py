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
from supple.model.equilibrium import Linear, equilibrium, linearise
from supple.model.follow import follow
from supple.model.model import Model
from supple.model.ports import point_rows
from supple.model.posture import posture
from supple.motion.description import Motion
from supple.motion.shapers import Brake
from supple.motion.trajectory import Trajectory
from supple.simulation.ways_of import spans

_WIDTHS = 2.0  # of speed: joints this quick feel nine tenths of their friction
_PLACES = 65  # of a brake
_PULLS = 501  # times on a way at which its acceleration is looked at
_OSCILLATES = 0.7  # damping ratio above which nothing swings


@dataclass(frozen=True)
class Stop:
    """A rest at the end of a way: when, what vibrates with joints stuck (damped frequency in Hz and damping ratio, slowest
    first), the speeds (joints, times) of these joints over half a period of the slowest before, from the end on, as
    shares of what they may be then, and the vibration that friction leaves if it lets go at once, as a share of that which
    the way's largest acceleration leaves if it ends at once."""

    time: float
    stuck: tuple[tuple[float, float], ...]
    speeds: Array
    struck: float

    def brakes(self, clock: float) -> list[Brake]:
        """One for every joint that is too quick, on a clock of so many periods in a second."""
        return [Brake(clock * self.span, row, self.struck) for row in self.speeds if row.max() > 1]

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
    for begin, end in spans(path):
        at = dict(zip(path.names, path(end)[0].tolist(), strict=True))
        rest = equilibrium(model, posture(model, at, motion.assembly))
        linear = linearise(model, rest)
        rows = linear.Z[[model.index(n) for n in names]]
        stuck = _swinging(linear, (rows.T * (forces / widths)) @ rows)
        if len(stuck.poles):
            before = end - np.linspace(0.0, np.pi / stuck.poles[0].imag, _PLACES)
            speeds = _rates(robot.model(rigid=True), at, motion.assembly, names) @ _speeds(path, before, end).T
            seen = _seen(model, rest.q) @ linear.Z
            pulls = _pulled(model, rest.q, linear, path.names) @ path(np.linspace(begin, end, _PULLS))[2].T
            by_pull = _swinging(linear, np.zeros_like(linear.D)).left(seen, pulls)
            by_friction = stuck.left(seen, rows.T @ (forces * np.sign(speeds[:, 1]))[:, None])
            shares = np.abs(speeds) / (_WIDTHS * widths[:, None])
            made.append(Stop(end, stuck.told(), shares, by_friction / max(by_pull, 1e-300)))
    return made


@dataclass(frozen=True)
class _Swinging:
    """Vibrations, slowest first: poles (k,), shapes (coordinates, k), and what a unit force has of each (k, coordinates)."""

    poles: Array
    shapes: Array
    felt: Array

    def told(self) -> tuple[tuple[float, float], ...]:
        """Damped frequencies (Hz) and damping ratios."""
        return tuple((float(p.imag / (2 * np.pi)), float(-p.real / abs(p))) for p in self.poles)

    def left(self, seen: Array, forces: Array) -> float:
        """The most that forces (columns) leave of all vibrations together when they end at once, where it is `seen`."""
        sizes = 2 * np.linalg.norm(seen @ self.shapes, axis=0) / np.abs(self.poles)
        return float((sizes @ np.abs(self.felt @ forces)).max())


def _swinging(linear: Linear, dampers: Array) -> _Swinging:
    """What vibrates about rest with dampers added."""
    n = len(dampers)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(linear.M, np.hstack([linear.K, linear.D + dampers]))]])
    poles, shapes = np.linalg.eig(A)
    felt = np.linalg.inv(shapes)[:, n:] @ np.linalg.inv(linear.M)
    kept = np.flatnonzero((poles.imag > 0) & (-poles.real < _OSCILLATES * np.abs(poles)))
    kept = kept[np.argsort(np.abs(poles[kept]))]
    return _Swinging(poles[kept], shapes[:n, kept], felt[kept])


def _seen(model: Model, q: Array) -> Array:
    """Rows of the places of all named points; of all coordinates where none is named."""
    made = [point_rows(model, q, point)[:3] for point in model.mechanism.points]
    return np.vstack(made) if made else np.eye(len(q))


def _pulled(model: Model, q: Array, linear: Linear, names: Sequence[str]) -> Array:
    """Forces on what vibrates for unit accelerations of the actuators."""
    own = [model.index(n) for n in names]
    spread = model.expansion(q, [*own, *model.mechanism.indices("elastic")])[:, : len(own)]
    made: Array = linear.Z.T @ linear.M_tree @ spread
    return made


def _rates(rigid: Model, at: dict[str, float], assembly: str | None, names: Sequence[str]) -> Array:
    """Speeds of joints over those of the actuators of the rigid robot."""
    T = rigid.expansion(posture(rigid, at, assembly), [rigid.index(n) for n in at])
    return T[[rigid.index(n) for n in names]]


def _speeds(path: Trajectory, times: Array, end: float) -> Array:
    """Of the actuators up to a rest; those of another way before it are not counted."""
    made: Array = path(np.maximum(times, path.start))[1]
    made[times >= end] = 0.0
    return made
