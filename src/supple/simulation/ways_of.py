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
from supple.simulation.quickest import Way
from supple.simulation.shaking import Shaking

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

_PLACES = 25  # at which forces are asked for
_SHAKEN = 9  # at which vibrations are
_MODES = 60  # of a place, slowest first, that are looked at
_NOTHING = 1e-6  # of what the strongest leaves
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
    shaking = _shaking(robot.model(), motion, path.names, curve, point, modes)
    return Way(tuple(path.names), curve, places, m, n, d, k, shaking, span[1] - span[0])


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


def _shaking(
    model: Model, motion: Motion, names: Sequence[str], curve: BSpline, point: str | None, count: int
) -> Shaking | None:  # fmt: skip
    """The vibrations that the end of a way leaves most of, carried back along it, as a point and the actuators feel them."""
    if not model.mechanism.indices("elastic"):
        return None
    places = [_shaken(model, motion, names, curve, float(s)) for s in np.linspace(1.0, 0.0, _SHAKEN)]
    last = places[0]
    moved = last.gripped.T if point is None else point_rows(model, last.q, point)[:3] @ last.shapes
    sizes = np.linalg.norm(moved, axis=0)
    kept = _strongest(last, sizes, count)
    if not len(kept):
        return None
    own, axes, found = kept, np.eye(len(kept)), []
    for before, here in zip([last, *places], places, strict=False):
        likeness = axes @ before.shapes[:, own].T @ before.M @ here.shapes
        own = np.sort(np.argsort(-np.linalg.norm(likeness, axis=0), kind="stable")[: len(kept)])
        U, _, W = np.linalg.svd(likeness[:, own])
        axes = U @ W  # the place's own modes, turned to be most like those of the place before
        damping = axes @ here.damping[np.ix_(own, own)] @ axes.T
        found.append((axes * here.squares[own] @ axes.T, damping, axes @ here.pulled[own], axes @ here.gripped[own]))
    stiffness, damping, pulled, gripped = (np.array(x[::-1]) for x in zip(*found, strict=True))
    shapes, entry = last.shapes[:, kept], axes @ places[-1].shapes[:, own].T @ places[-1].M
    return Shaking(
        stiffness, damping, pulled, gripped, sizes[kept], shapes, shapes.T @ last.M, np.zeros(len(kept), complex), entry,
        np.zeros(2 * len(kept)),
    )  # fmt: skip


def _strongest(last: _Shaken, sizes: Array, count: int) -> Array:
    """The modes of an end that leave most when the way's acceleration ends at once, slowest first."""
    left = np.where(last.squares > 0, sizes * np.abs(last.pulled[:, 0]) / np.maximum(last.squares, 1e-300), 0.0)
    chosen = np.argsort(-left, kind="stable")[:count]
    return np.sort(chosen[left[chosen] > _NOTHING * left.max()])


@dataclass(frozen=True)
class _Shaken:
    """Modes at a place: posture, mass, squared frequencies, damping (modes, modes), shapes over all coordinates, what s'',
    s' and s'^2 on the way do to each (modes, 3), and the forces of the actuators for an acceleration of each (modes,
    actuators)."""

    q: Array
    M: Array
    squares: Array
    damping: Array
    shapes: Array
    pulled: Array
    gripped: Array


def _shaken(model: Model, motion: Motion, names: Sequence[str], curve: BSpline, s: float) -> _Shaken:
    rest = equilibrium(model, posture(model, dict(zip(names, curve(s).tolist(), strict=True)), motion.assembly))
    linear = linearise(model, rest)
    squares, V = eigh(0.5 * (linear.K + linear.K.T), linear.M, _MODES)
    own, elastic = [model.index(n) for n in names], list(model.mechanism.indices("elastic"))
    every, first, second = [*own, *elastic], curve.derivative(1)(s), curve.derivative(2)(s)
    spread = model.expansion(rest.q, every)[:, : len(own)]
    still, one, two = (model.reduced(rest.q, k * (spread @ first), every)[1] for k in (0, 0.5, 1))
    by_square = 2 * (two - 2 * one + still)
    root = np.maximum(squares, 1.0) ** 0.25
    damping = V.T @ linear.D @ V + V.T @ linear.H @ V / np.outer(root, root)
    shapes = linear.Z @ V
    pull, turn = shapes.T @ linear.M_tree @ spread @ first, shapes.T @ linear.M_tree @ spread @ second
    free = shapes[every].T
    pulled = np.column_stack([pull, free @ (two - still - by_square), free @ by_square + turn])
    return _Shaken(rest.q, linear.M_tree, squares, damping, shapes, pulled, shapes.T @ linear.M_tree @ spread)
