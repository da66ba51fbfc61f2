"""Input shapers: impulses with which a command is convolved so that it leaves a vibration at rest.

Times are in periods of the damped vibration, so a sequence serves every frequency (Singer & Seering 1990; Singhose, Seering
& Singer 1994). Amplitudes are positive and add up to one: a shaped command is nowhere faster than the command.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array

_GRID = 48  # places for impulses in a period, of shapers found by linear programming
_SIDES = 24  # of the polygon that stands for the circle of tolerated vibration
_LONGEST = 4.0  # periods
_NOTHING = 1e-6  # amplitudes below are rounding
_ROUNDED = 0.3  # of a smooth shaper's length over which it averages
_STEP = 0.02  # of the damping ratio, from one ei sequence to the next
_SOLVED = 1e-8  # of the equations of an ei sequence
_POOR = 0.5  # of a vibration: a shaper that leaves more is none
_SLOW = math.pi / 2  # radians that pass while a path as quick as it may be before its end passes a width of friction
_QUICK = (1.0, 1.4, 2.0, 4.0, 8.0, math.inf)  # times quicker than it may be, that a path before its end may be instead
WIDTHS = {"si": 0.2, "smooth": 0.02, "together": 0.02}  # of the frequencies served, where nothing is said


@dataclass(frozen=True)
class Impulses:
    """Amplitudes at times, in periods of the damped vibration; the first at 0. `rounded`: what they make is averaged over
    so many periods too, so that accelerations do not jump."""

    amplitudes: Array
    times: Array
    rounded: float = 0.0

    @property
    def length(self) -> float:
        return float(self.times[-1]) + self.rounded

    @property
    def behind(self) -> float:
        """Periods by which what is shaped is late on average."""
        return float(self.amplitudes @ self.times) + self.rounded / 2

    def vibration(self, ratio: Array | float, damping: float = 0.0) -> Array:
        """What is left of the vibration that one impulse leaves, for frequencies of `ratio` times the one shaped for."""
        r = np.atleast_1d(np.asarray(ratio, dtype=float))[:, None]
        phasors = _phasors(r, self.times, self.length, damping, self.rounded)
        made: Array = np.abs((self.amplitudes * phasors).sum(axis=1))
        return made


def _phasors(ratio: Array, times: Array, end: float, damping: float, rounded: float = 0.0) -> Array:
    """Vibrations of unit impulses at `times`, each spread over `rounded`, as they are at `end`, of a mode whose frequency
    is `ratio`."""
    decay = damping / math.sqrt(1 - damping**2)
    made: Array = np.exp(2 * np.pi * ratio * (1j * times - decay * (end - times)))
    if rounded > 0:
        turn = 2 * np.pi * ratio * (1j + decay) * rounded
        made = made * (np.exp(turn) - 1) / turn
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
    x = np.array([a, 1 - 2 * a, 0.5, 1.0, aside, 2 - aside])
    for z in np.linspace(0.0, damping, 1 + math.ceil(damping / _STEP)) if damping else (0.0,):  # from one to the next
        found = root(lambda x, z=z: _hump(x, float(z), tolerance), x, tol=1e-13)
        x = found.x
    made = _sequence(x)
    if np.abs(found.fun).max() > _SOLVED or (made.amplitudes <= 0).any():
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
    rows = _sides(_phasors(ratios, times, float(times[-1]), damping))
    bound = np.full(len(rows), tolerance * math.cos(math.pi / _SIDES))
    found = linprog(np.zeros(count + 1), rows, bound, np.ones((1, count + 1)), [1.0], bounds=(0, None))
    if not found.success:
        return None
    return _kept(found.x, times)


def average(damping: float = 0.0) -> Impulses:
    """The mean over a period: accelerations become ramps that last one (jerk-limited, timed to the period).

    It leaves nothing of an undamped vibration and of its multiples; of a damped one a share of about its damping ratio."""
    del damping
    return Impulses(np.ones(1), np.zeros(1), 1.0)


@dataclass(frozen=True)
class Band:
    """Frequencies from `low` to `high`, in those of the slowest vibration, with a damping ratio."""

    low: float
    high: float
    damping: float


@dataclass(frozen=True)
class Brake:
    """How a path comes to rest: speeds (places,) at equal steps over `span` periods before its end, from the end on; 1 is as
    quick as it may be when so much time is left. `worth`: the vibration that a path which stops at once leaves, as a share
    of that of the path unshaped."""

    span: float
    speeds: Array
    worth: float

    def row(self, times: Array) -> Array:
        """What an impulse at each time adds to the shaped path's speed, `span` before its end."""
        ahead = self.span - (times[-1] - times)
        made: Array = np.interp(ahead, np.linspace(0.0, self.span, len(self.speeds)), self.speeds) * (ahead > 0)
        return made

    def left(self, quick: float) -> float:
        """What a path so many times quicker than it may be leaves."""
        return self.worth / math.hypot(1.0, _SLOW / max(quick, 1.0))


def smooth(bands: Sequence[Band], length: float = 1.0) -> Impulses:
    """A sequence of this length that leaves least of all vibrations together, averaged so that accelerations do not jump;
    each counts by the cube of its period, as ramps of the acceleration excite it."""
    return _least("smooth", bands, length, _ROUNDED * length, 3, (), 0.7)


def together(bands: Sequence[Band], length: float = 1.0, brakes: Sequence[Brake] = ()) -> Impulses:
    """A sequence of this length that leaves least of all vibrations together, each counting by the square of its period, as
    steps of the acceleration excite it; brakes keep what it makes slow before its end where that is worth it."""
    return _least("together", bands, length, 0.0, 2, brakes, 0.6)


def _least(
    law: str, bands: Sequence[Band], length: float, rounded: float, power: int, brakes: Sequence[Brake], needed: float
) -> Impulses:  # fmt: skip
    """Linear programs over impulses on a fine grid: the largest of what is left within the bands becomes least, with as much
    braking as is worth it."""
    times = np.linspace(0.0, length - rounded, round(2 * _GRID * max(length, 0.5)) + 1)
    slowest = min(b.low + b.high for b in bands)
    weights = [(slowest / (b.low + b.high)) ** power for b in bands]
    rows = [w * _sides(_phasors(_within(b), times, length, b.damping, rounded)) for w, b in zip(weights, bands, strict=True)]
    left = np.vstack(rows)
    slow = np.array([x.row(times) for x in brakes]).reshape(-1, len(times))
    found = [_amplitudes(left, slow, quick) for quick in (_QUICK if brakes else _QUICK[-1:])]
    best = min((x for x in found if x is not None), key=lambda x: _whole(x, slow, brakes), default=None)
    if best is None or best[-1] > _POOR:
        raise SuppleError(
            f"a {law} shaper of {length:g} periods leaves {1 if best is None else best[-1]:.0%} of a vibration; "
            f"give it more length, at least {needed:g}"
        )
    return _kept(best[:-1], times, rounded)


def _amplitudes(left: Array, slow: Array, quick: float) -> Array | None:
    """Amplitudes and the vibration they leave, least of all of which no brake is more than so many times too quick."""
    from scipy.optimize import linprog

    n = left.shape[1]
    held = slow if np.isfinite(quick) else slow[:0]
    rows = np.block([[left, -np.ones((len(left), 1))], [held, np.zeros((len(held), 1))]])
    most = np.concatenate([np.zeros(len(left)), np.full(len(held), quick)])
    found = linprog(
        np.append(np.zeros(n), 1.0), rows, most, np.append(np.ones(n), 0.0)[None], [1.0], bounds=(0, None)
    )  # fmt: skip
    return found.x if found.success else None


def _whole(found: Array, slow: Array, brakes: Sequence[Brake]) -> float:
    """The vibration that amplitudes leave, brakes included."""
    quick = slow @ found[:-1]
    return float(found[-1]) + max((b.left(float(x)) for b, x in zip(brakes, quick, strict=True)), default=0.0)


def _within(band: Band) -> Array:
    """Frequencies of a band, as a column."""
    count = max(3, round(160 * (band.high - band.low) / (band.high + band.low)))
    return np.linspace(band.low, band.high, count)[:, None]


def _sides(phasors: Array) -> Array:
    """Rows whose products with amplitudes are below the size of what the phasors add up to (a polygon for the circle)."""
    sides = 2 * np.pi * np.arange(_SIDES) / _SIDES
    made: Array = (np.exp(-1j * sides)[:, None, None] * phasors).real.reshape(-1, phasors.shape[-1])
    return made


def _kept(amplitudes: Array, times: Array, rounded: float = 0.0) -> Impulses:
    """Those that are more than rounding, with the first and the last."""
    kept = amplitudes > _NOTHING
    kept[0] = kept[-1] = True
    return Impulses(amplitudes[kept] / amplitudes[kept].sum(), times[kept], rounded)


LAWS: dict[str, Callable[..., Impulses]] = {
    "zv": zv, "zvd": zvd, "zvdd": zvdd, "ei": ei, "si": si, "average": average, "smooth": smooth,
    "together": together,
}  # fmt: skip

AT_ONCE = ("smooth", "together")  # laws that serve all vibrations by one sequence


def impulses(law: str, damping: float, tolerance: float, width: float | None) -> Impulses:
    """The sequence of a law for one mode with this damping ratio."""
    if not 0 <= damping < 1:
        raise SuppleError(f"a shaper needs a vibration: a damping ratio of {damping:g} leaves none")
    near = WIDTHS.get(law, 0.0) if width is None else width
    if law == "ei":
        return ei(damping, tolerance)
    if law in AT_ONCE:
        return LAWS[law]([Band(1 - near, 1 + near, damping)])
    return si(damping, tolerance, near) if law == "si" else LAWS[law](damping)
