"""Ways from rest to rest of a motion, with what their actuators feel and what vibrations their ends leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from supple.machine import Machine
from supple.model.algebra import Array, eigh, one_thread
from supple.model.equilibrium import equilibrium, linearise
from supple.model.model import Model
from supple.model.ports import point_rows
from supple.model.posture import posture
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.simulation.quickest import NEAR, Left, Way

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

_PLACES = 25  # at which forces are asked for
_SHAKEN = 5  # at which vibrations are
_STILL = 1e-9  # of the largest speed


def spans(path: Trajectory) -> list[tuple[float, float]]:
    """Times between which a path moves, rests and stops in between left out."""
    t = np.unique(np.concatenate([path.knots, np.linspace(path.start, path.end, 4001)]))
    speeds = np.abs(path(t)[1]).max(axis=1)
    moving = speeds > _STILL * max(float(speeds.max(initial=0.0)), 1e-12)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], moving, [False]]).astype(int)))
    made = [(float(t[max(a - 1, 0)]), float(t[min(b, len(t) - 1)])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return [(a, b) for a, b in made if b - a > 1e-6]


@one_thread
def way_between(
    robot: Machine, motion: Motion, path: Trajectory, span: tuple[float, float], point: str | None, modes: int
) -> Way:
    """The way of a path of the actuators between two times at rest; `point`: whose vibration counts."""
    from scipy.interpolate import make_interp_spline

    t = np.linspace(*span, 2001)
    q = path(t)[0]
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])
    shares, first = np.unique(gone / gone[-1], return_index=True)
    s = np.linspace(0.0, 1.0, 61)
    curve = make_interp_spline(s, path(np.interp(s, shares, t[first]))[0], k=5)
    places = np.linspace(0.0, 1.0, _PLACES)
    rigid = robot.model(rigid=True)
    felt = [_felt(rigid, motion, path.names, *(curve.derivative(k)(x) if k else curve(x) for k in range(3))) for x in places]
    m, n, d, k = (np.array(x) for x in zip(*felt, strict=True))
    left = _left(robot.model(), motion, path.names, curve, point, modes)
    return Way(tuple(path.names), curve, places, m, n, d, k, left, span[1] - span[0])


def _felt(
    model: Model, motion: Motion, names: Sequence[str], q: Array, first: Array, second: Array
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Coefficients of s'', s'^2, s' and 1 in the forces of the named actuators."""
    own = [model.index(n) for n in names]
    where = posture(model, dict(zip(names, q.tolist(), strict=True)), motion.assembly)
    spread = model.expansion(where, own)
    v = spread @ first
    M, c = model.reduced(where, 0 * v, own)
    one, two, three = (model.reduced(where, k * v, own)[1] - c for k in (1, 2, 3))  # dry, viscous and quadratic in the speed
    quadratic = (three - 2 * two + one) / 2
    viscous = two - one - 3 * quadratic
    return M @ first, M @ second + quadratic, viscous, c + one - viscous - quadratic


def _left(
    model: Model, motion: Motion, names: Sequence[str], curve: BSpline, point: str | None, count: int
) -> tuple[Left, ...]:  # fmt: skip
    """The slowest vibrations at the end of a way, as a point and the actuators feel them when these are accelerated."""
    if not model.mechanism.indices("elastic"):
        return ()
    last = _shaken(model, motion, names, curve, 1.0, count)
    pulled, gripped = [], []
    for s in np.linspace(0.0, 1.0, _SHAKEN):
        here = _shaken(model, motion, names, curve, float(s), count)
        likeness = last.shapes.T @ last.M @ here.shapes
        own = np.abs(likeness).argmax(axis=1)
        sign = np.sign(likeness[np.arange(len(own)), own])[:, None]
        pulled.append(here.pulled[own] * sign)
        gripped.append(here.gripped[own] * sign)
    rows = None if point is None else point_rows(model, last.q, point)[:3]
    made = []
    for k, square in enumerate(last.squares):
        if square > 0:
            omega = float(np.sqrt(square))
            ratio = min(0.99, float(last.lost[k] / omega) / (2 * omega))
            turning = omega * np.sqrt(1 - ratio**2)
            size = 1.0 if rows is None else float(np.linalg.norm(rows @ last.shapes[:, k]))
            reach, grip, meter = np.array(pulled)[:, k] / turning, np.array(gripped)[:, k], last.M @ last.shapes[:, k] * size
            made += [Left(turning * near, ratio * omega, reach, grip, size, meter) for near in NEAR]
    return tuple(made)


@dataclass(frozen=True)
class _Shaken:
    """Modes at a place: posture, mass, squared frequencies, what damping takes (times frequency), shapes over all
    coordinates, what s'', s' and s'^2 on the way do to each (modes, 3), and the forces of the actuators for an acceleration
    of each (modes, actuators)."""

    q: Array
    M: Array
    squares: Array
    lost: Array
    shapes: Array
    pulled: Array
    gripped: Array


def _shaken(model: Model, motion: Motion, names: Sequence[str], curve: BSpline, s: float, count: int) -> _Shaken:
    rest = equilibrium(model, posture(model, dict(zip(names, curve(s).tolist(), strict=True)), motion.assembly))
    linear = linearise(model, rest)
    squares, V = eigh(0.5 * (linear.K + linear.K.T), linear.M, count)
    own, elastic = [model.index(n) for n in names], list(model.mechanism.indices("elastic"))
    every, first, second = [*own, *elastic], curve.derivative(1)(s), curve.derivative(2)(s)
    spread = model.expansion(rest.q, every)[:, : len(own)]
    still, one, two = (model.reduced(rest.q, k * (spread @ first), every)[1] for k in (0, 0.5, 1))
    by_square = 2 * (two - 2 * one + still)
    omega = np.sqrt(np.maximum(squares, 0.0))
    lost = np.einsum("ik,ij,jk->k", V, linear.D, V) * omega + np.einsum("ik,ij,jk->k", V, linear.H, V)
    shapes = linear.Z @ V
    pull, turn = shapes.T @ linear.M_tree @ spread @ first, shapes.T @ linear.M_tree @ spread @ second
    free = shapes[every].T
    pulled = np.column_stack([pull, free @ (two - still - by_square), free @ by_square + turn])
    return _Shaken(rest.q, linear.M_tree, squares, lost, shapes, pulled, shapes.T @ linear.M_tree @ spread)
