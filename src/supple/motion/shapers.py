"""Input shapers: impulses with which a command is convolved so that it leaves a vibration at rest.

Times are in periods of the damped vibration, so a sequence serves every frequency (Singer & Seering 1990; Singhose, Seering
& Singer 1994). Amplitudes are positive and add up to one: a shaped command is nowhere faster than the command.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array

_GRID = 48  # places for impulses in a period, of shapers found by linear programming
_SIDES = 24  # of the polygon that stands for the circle of tolerated vibration
_LONGEST = 4.0  # periods
_NOTHING = 1e-6  # amplitudes below are rounding


@dataclass(frozen=True)
class Impulses:
    """Amplitudes at times, in periods of the damped vibration; the first at 0."""

    amplitudes: Array
    times: Array

    @property
    def length(self) -> float:
        return float(self.times[-1])

    def vibration(self, ratio: Array | float, damping: float = 0.0) -> Array:
        """What is left of the vibration that one impulse leaves, for frequencies of `ratio` times the one shaped for."""
        r = np.atleast_1d(np.asarray(ratio, dtype=float))[:, None]
        made: Array = np.abs((self.amplitudes * _phasors(r, self.times, self.length, damping)).sum(axis=1))
        return made


def _phasors(ratio: Array, times: Array, end: float, damping: float) -> Array:
    """Vibrations of unit impulses at `times` as they are at `end`, of a mode whose frequency is `ratio`."""
    decay = damping / math.sqrt(1 - damping**2)
    made: Array = np.exp(2 * np.pi * ratio * (1j * times - decay * (end - times)))
    return made


def zv(damping: float = 0.0) -> Impulses:
    """Two impulses half a period apart: no vibration at the frequency shaped for."""
    k = math.exp(-math.pi * damping / math.sqrt(1 - damping**2))
    return Impulses(np.array([1.0, k]) / (1 + k), np.array([0.0, 0.5]))


def zvd(damping: float = 0.0) -> Impulses:
    """Three impulses: its derivative by the frequency vanishes too."""
    return convolved(zv(damping), zv(damping))


def zvdd(damping: float = 0.0) -> Impulses:
    """Four impulses: the second derivative vanishes too."""
    return convolved(zvd(damping), zv(damping))


def convolved(first: Impulses, second: Impulses) -> Impulses:
    """One sequence after the other, impulses at the same time added up."""
    times = np.add.outer(first.times, second.times).ravel()
    amplitudes = np.multiply.outer(first.amplitudes, second.amplitudes).ravel()
    kept, where = np.unique(np.round(times, 12), return_inverse=True)
    return Impulses(np.bincount(where.ravel(), weights=amplitudes), kept)


def ei(damping: float = 0.0, tolerance: float = 0.05) -> Impulses:
    """Three impulses, extra insensitive: `tolerance` of the vibration stays at the frequency itself, none on either side.

    Unknown are two amplitudes, two times and the two frequencies without vibration; of a mode without damping they are
    known and the solution starts from them."""
    from scipy.optimize import root

    a = (1 + tolerance) / 4
    aside = math.acos((tolerance - 1) / (1 + tolerance)) / math.pi  # without damping: cos(pi r) = -(1 - V) / (1 + V)
    found = root(
        lambda x: _hump(x, damping, tolerance), [a, 1 - 2 * a, 0.5, 1.0, aside, 2 - aside], tol=1e-13
    )  # fmt: skip
    made = _sequence(found.x)
    if not found.success or (made.amplitudes <= 0).any():
        raise SuppleError(f"there is no ei shaper for a damping ratio of {damping:g} and a tolerance of {tolerance:g}")
    return made


def _sequence(x: Array) -> Impulses:
    return Impulses(np.array([x[0], x[1], 1 - x[0] - x[1]]), np.array([0.0, x[2], x[3]]))


def _hump(x: Array, damping: float, tolerance: float) -> list[float]:
    """What is wrong with an ei sequence: vibration at two frequencies, height and slope of the hump between them."""
    made = _sequence(x)

    def left(ratio: float) -> complex:
        return complex((made.amplitudes * _phasors(np.array([[ratio]]), made.times, made.length, damping)).sum())

    one, two = left(x[4]), left(x[5])
    h = 1e-5
    slope = (abs(left(1 + h)) - abs(left(1 - h))) / (2 * h)
    return [one.real, one.imag, two.real, two.imag, abs(left(1.0)) - tolerance, slope]


def si(damping: float = 0.0, tolerance: float = 0.05, width: float = 0.2) -> Impulses:
    """The shortest sequence that leaves at most `tolerance` for all frequencies within +- `width` (specified
    insensitivity), by linear programs over impulses on a fine grid."""
    low, high = 1, round(_LONGEST * _GRID)
    best = _program(high, damping, tolerance, width)
    if best is None:
        raise SuppleError(
            f"no si shaper of {_LONGEST:g} periods leaves at most {tolerance:.0%} within +-{width:.0%}; ask for less"
        )
    while high - low > 1:
        middle = (low + high) // 2
        found = _program(middle, damping, tolerance, width)
        low, high, best = (low, middle, found) if found is not None else (middle, high, best)
    return best


def _program(count: int, damping: float, tolerance: float, width: float) -> Impulses | None:
    """Impulses on `count` steps of the grid that keep to the tolerance, or None."""
    from scipy.optimize import linprog

    times = np.arange(count + 1) / _GRID
    ratios = np.linspace(1 - width, 1 + width, max(9, round(160 * width)))[:, None]
    phasors = _phasors(ratios, times, float(times[-1]), damping)
    sides = 2 * np.pi * np.arange(_SIDES) / _SIDES
    rows = (np.exp(-1j * sides)[:, None, None] * phasors).real.reshape(-1, count + 1)
    bound = np.full(len(rows), tolerance * math.cos(math.pi / _SIDES))
    found = linprog(np.zeros(count + 1), rows, bound, np.ones((1, count + 1)), [1.0], bounds=(0, None))
    if not found.success:
        return None
    kept = found.x > _NOTHING
    kept[0] = kept[-1] = True
    return Impulses(found.x[kept] / found.x[kept].sum(), times[kept])


LAWS: dict[str, Callable[..., Impulses]] = {"zv": zv, "zvd": zvd, "zvdd": zvdd, "ei": ei, "si": si}


def impulses(law: str, damping: float, tolerance: float, width: float) -> Impulses:
    """The sequence of a law for a mode with this damping ratio."""
    if not 0 <= damping < 1:
        raise SuppleError(f"a shaper needs a vibration: a damping ratio of {damping:g} leaves none")
    if law == "ei":
        return ei(damping, tolerance)
    return si(damping, tolerance, width) if law == "si" else LAWS[law](damping)
