"""Which computed mode a measured one is: by shape where shapes are known, by frequency otherwise.

Computed modes of equal frequency have no shapes of their own, only a plane of them; a measured shape is compared with the
part of it that lies in that plane (MAC of a subspace)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy.optimize import linear_sum_assignment

from supple.robot.bodies.record import Array

Pairs = tuple[tuple[int, tuple[int, ...]], ...]
DOUBLE = 2e-3  # of a frequency: computed modes that are closer are one double mode
_SPREAD = 0.5  # of the logarithm of frequencies: how far apart modes of one shape may lie
_CLOSE = 0.03  # of measured frequencies: only closer ones may both belong to one double mode
_NEVER = 1e6
_LEAST = 0.2  # of MAC: below it shapes have nothing to do with each other


def mac(first: Array, second: Array) -> Array:
    """Modal assurance criteria of the columns of two sets of shapes."""
    cross = np.abs(first.conj().T @ second) ** 2
    own = np.outer((np.abs(first) ** 2).sum(0), (np.abs(second) ** 2).sum(0))
    made: Array = cross / np.maximum(own, 1e-300)
    return made


def subspace_mac(shape: Array, shapes: Array) -> float:
    """The part of a shape that lies in the plane of others, by its square."""
    U, sizes, _ = np.linalg.svd(shapes, full_matrices=False)
    inside = U[:, sizes > 1e-9 * max(sizes[0], 1e-300)].conj().T @ shape
    return float((np.abs(inside) ** 2).sum() / max(float((np.abs(shape) ** 2).sum()), 1e-300))


def groups_of(frequencies: Array, closeness: float = DOUBLE) -> list[tuple[int, ...]]:
    """Computed modes, those of equal frequency together."""
    made: list[list[int]] = []
    for k, f in enumerate(frequencies):
        if made and f - frequencies[made[-1][-1]] < closeness * f:
            made[-1].append(k)
        else:
            made.append([k])
    return [tuple(g) for g in made]


def pairs_by_shape(measured_hz: Array, computed_hz: Array, measured: Array, computed: Array) -> Pairs:
    """Pairs of (measured mode, computed mode or double mode) that are most alike in shape and not far off in frequency."""
    groups = groups_of(computed_hz)
    likeness = np.zeros((len(measured_hz), len(groups)))
    for j, group in enumerate(groups):
        away = np.log(np.mean(computed_hz[list(group)]) / measured_hz) / _SPREAD
        for k, shape in enumerate(measured.T):
            likeness[k, j] = subspace_mac(shape, computed[:, list(group)]) * np.exp(-0.5 * away[k] ** 2)
    return _assigned(-likeness, groups, -_LEAST)


def pairs_by_frequency(measured_hz: Array, computed_hz: Array, factor: float = 1.0) -> Pairs:
    """Pairs of modes that are nearest in frequency after computed ones are multiplied by a factor."""
    groups = groups_of(computed_hz)
    centres = np.array([np.mean(computed_hz[list(g)]) for g in groups])
    away = np.abs(np.log(measured_hz[:, None] / measured_hz[None])) + np.diag(np.full(len(measured_hz), np.inf))
    single = away.min(axis=1) > _CLOSE if len(measured_hz) > 1 else np.ones(1, dtype=bool)
    return _assigned(np.log(measured_hz[:, None] / (factor * centres[None])) ** 2, groups, _NEVER, single)


def _assigned(cost: Array, groups: list[tuple[int, ...]], most: float, single: Array | None = None) -> Pairs:
    """The assignment of least cost; a multiple mode may be taken as often as it counts, by those that are not single."""
    slots = [j for j, g in enumerate(groups) for _ in g]
    wide = cost[:, slots].copy()
    if single is not None:
        again = np.array([k > 0 and slots[k - 1] == j for k, j in enumerate(slots)])
        wide[np.ix_(single, again)] = 2 * _NEVER
    rows, columns = linear_sum_assignment(wide)
    made = [(int(k), groups[slots[c]]) for k, c in zip(rows, columns, strict=True) if wide[k, c] <= most]
    return tuple(sorted(made))


def projected(shape: Array, shapes: Array) -> Array:
    """The combination of shapes that comes closest to a shape."""
    weights, *_ = np.linalg.lstsq(shapes, shape, rcond=1e-9)
    made: Array = shapes @ weights
    return made


def co_mac(measured: Array, computed: Array) -> Array:
    """Coordinate MAC of every channel (row): how well its motions agree over pairs of modes (columns)."""
    cross = np.abs((measured.conj() * computed).sum(1)) ** 2
    own = (np.abs(measured) ** 2).sum(1) * (np.abs(computed) ** 2).sum(1)
    return np.where(own > 0, cross / np.where(own > 0, own, 1.0), 0.0)


@dataclass(frozen=True)
class Turned:
    """A sensor whose axes are swapped or reversed: what the others are measured as, and the mean MAC before and after."""

    sensor: str
    order: tuple[int, ...]
    signs: tuple[int, ...]
    before: float
    after: float


def turned_sensors(measured: Array, planes: list[Array], places: dict[str, list[int]]) -> list[Turned]:
    """Sensors without whose turn shapes agree clearly better, one after the other.

    measured: shapes (channels, pairs); planes: the computed shapes of every pair; places: rows of each sensor."""
    shapes = measured / np.maximum(np.linalg.norm(measured, axis=0), 1e-300)
    bases = [np.linalg.svd(plane, full_matrices=False)[0] for plane in planes]
    found: list[Turned] = []
    while len(found) < len(places):
        before = float(np.mean([np.sum(np.abs(U.conj().T @ m) ** 2) for U, m in zip(bases, shapes.T, strict=True)]))
        tried = [_best_turn(shapes, bases, name, rows, before) for name, rows in places.items()]
        better = [t for t in tried if t is not None and t.sensor not in {f.sensor for f in found}]
        if not better:
            break
        best = max(better, key=lambda t: t.after)
        rows = places[best.sensor]
        shapes[rows] = np.array(best.signs)[:, None] * shapes[rows][list(best.order)]
        found.append(best)
    return found


def _best_turn(shapes: Array, bases: list[Array], name: str, rows: list[int], before: float) -> Turned | None:
    """The signed permutation of a sensor's axes that raises MAC most; None if none does by what a turn is worth."""
    here = shapes[rows]
    rest = [U.conj().T @ m - U[rows].conj().T @ h for U, m, h in zip(bases, shapes.T, here.T, strict=True)]
    best = (before, tuple(range(len(rows))), (1,) * len(rows))
    for order in permutations(range(len(rows))):
        for signs in product((1, -1), repeat=len(rows)):
            turned = np.array(signs)[:, None] * here[list(order)]
            parts = (r + U[rows].conj().T @ h for r, U, h in zip(rest, bases, turned.T, strict=True))
            after = float(np.mean([np.sum(np.abs(x) ** 2) for x in parts]))
            if after > best[0] + 1e-9:
                best = (after, order, signs)
    worth = float(np.mean((np.abs(here) ** 2).sum(0)))  # the sensor's share of the motion
    gained = best[0] - before > max(0.5 * worth, 0.005)
    return Turned(name, best[1], best[2], before, best[0]) if gained else None
