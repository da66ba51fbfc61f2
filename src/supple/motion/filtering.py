"""Noise of measured tables: a low-pass without lag, and tables that need one.

The samples x that minimise sum (x - y)^2 + r sum (third differences of x)^2 (Whittaker 1923): what is 1/(1 + (f/cutoff)^6)
inside, as of Butterworth's filter of order 3 run forwards and backwards: nothing is delayed, at the cutoff an amplitude is
halved; at the ends nothing is made up. Derivatives are those of the quintic spline through the filtered samples."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np

from supple.errors import RobotFileError, SuppleError
from supple.motion.table import Table
from supple.robot.bodies.record import Array

ORDER = 3
_UNEVEN = 1e-2  # of a step: samples so far off an even rhythm are put on one
_LOWEST = 5e-3  # of the sampling rate: rounding spoils what is filtered below
_FEWEST = 16
_WHITE = -0.3  # correlation of neighbouring second differences: -2/3 for white noise, positive for motions
_LOUD = 0.02  # of the largest acceleration: noise above is told


def smoothed(table: Table, paths: list[str], cutoff: float | None) -> tuple[Table, list[str]]:
    """The table without noise and what was done in words; without a cutoff (Hz) the table itself, and a word about noise in
    the columns of `paths`."""
    if cutoff is None:
        loud = ", ".join(noisy(table, paths)[:6])
        advice = "filter them: a cutoff in Hz as filter: in the motion file, or --filter"
        return table, [f"{table.file}: accelerations of {loud} are mostly noise of the samples; {advice}"] if loud else []
    try:
        made, told = filtered(table, cutoff)
    except SuppleError as error:
        raise RobotFileError([f"{table.file}:1: {error}"]) from error
    return made, [f"{table.file}: {told}"]


def filtered(table: Table, cutoff: float) -> tuple[Table, str]:
    """The table without what is above a cutoff (Hz), and what was done to it in words."""
    times, values = even_samples(table.times, table.values)
    if len(times) < _FEWEST:
        raise SuppleError(f"has {len(times)} samples; a filter needs at least {_FEWEST}")
    rate = 1.0 / (times[1] - times[0])
    if not _LOWEST * rate <= cutoff < rate / 2:
        span = f"{_LOWEST * rate:g} to {rate / 2:g} Hz, half the sampling rate"
        raise SuppleError(f"the filter's cutoff {cutoff:g} Hz must lie within {span}")
    smooth = low_passed(values, cutoff / rate)
    gone = np.sqrt(((values - smooth) ** 2).mean(axis=0))
    each = ", ".join(f"{name} {x:.3g}" for name, x in zip(table.names[:8], gone, strict=False))
    told = (
        f"filtered: zero-phase low-pass at {cutoff:g} Hz (1/(1 + (f/cutoff)^{2 * ORDER}), no lag), samples at "
        f"{rate:.6g} Hz; taken out (RMS, SI): {each}"
    )
    return replace(table, times=times, values=smooth), told


def low_passed(values: Array, cutoff: float) -> Array:
    """Columns of even samples without what is above a cutoff, relative to the sampling rate."""
    from scipy.linalg import solveh_banded

    n = len(values)
    rough = (2 * np.sin(np.pi * cutoff)) ** (-2 * ORDER)
    taps = np.array([(-1) ** k * comb(ORDER, k) for k in range(ORDER + 1)], dtype=float)
    bands = np.zeros((ORDER + 1, n))
    for i, a in enumerate(taps):
        for j, b in enumerate(taps[i:], i):  # D'D of the differences, its upper diagonals
            bands[ORDER - (j - i), j : n - ORDER + j] += rough * a * b
    bands[ORDER] += 1.0
    middle = values.mean(axis=0)
    made: Array = middle + solveh_banded(bands, values - middle)
    return made


def even_samples(times: Array, values: Array) -> tuple[Array, Array]:
    """Samples in an even rhythm, by a cubic spline where they are not."""
    from scipy.interpolate import CubicSpline

    n = len(times)
    even = np.linspace(times[0], times[-1], n)
    if n < _FEWEST or np.abs(times - even).max() <= _UNEVEN * (even[1] - even[0]):
        return (times, values) if n < _FEWEST else (even, values)
    return even, CubicSpline(times, values, axis=0)(even)


def noisy(table: Table, names: list[str]) -> list[str]:
    """Columns whose accelerations are noise rather than motion."""
    if not names or len(table.times) < 4 * _FEWEST:
        return []
    step = np.diff(table.times)[:, None]
    rates = np.diff(table.columns(names), axis=0) / step
    second = np.diff(rates, axis=0) / step[1:]
    wide = np.ones(25) / 25
    slow = np.stack([np.convolve(x, wide, "valid") for x in second.T], axis=1)
    largest = np.sqrt((slow**2).mean(axis=0)).max()
    power = np.maximum((second**2).mean(axis=0), 1e-300)
    correlation = (second[1:] * second[:-1]).mean(axis=0) / power
    loud = np.sqrt(np.maximum(power - (slow**2).mean(axis=0), 0.0)) > _LOUD * largest
    return [n for n, c, x in zip(names, correlation, loud, strict=True) if c < _WHITE and x]
