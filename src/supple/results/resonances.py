"""Where harmonic responses are largest: frequencies about poles, which a grid misses, and the tops themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_ABOUT = np.array([0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0])  # half-power half widths from a pole
_UNDAMPED = 1e-9  # of a pole's size: what decays less does not decay
_ROUNDS = 8


def undamped(poles: Array, band: tuple[float, float]) -> Array:
    """Frequencies (Hz) of poles of a band that nothing damps: responses have no bound there."""
    hz = poles.imag / (2 * np.pi)
    made: Array = np.sort(hz[(np.abs(poles.real) <= _UNDAMPED * np.abs(poles)) & (hz >= band[0]) & (hz <= band[1])])
    return made


def near_poles(poles: Array, grid_hz: Array) -> Array:
    """Frequencies between those of a grid that show its resonances; none about poles that nothing damps."""
    step = float(np.diff(grid_hz).max())
    inside = (poles.imag > 2 * np.pi * grid_hz[0]) & (poles.imag < 2 * np.pi * grid_hz[-1])
    own = poles[inside & (np.abs(poles.real) > _UNDAMPED * np.abs(poles))]
    away = np.concatenate([-_ABOUT[:0:-1], _ABOUT])[None] * np.abs(own.real)[:, None] / (2 * np.pi)
    hz = (own.imag[:, None] / (2 * np.pi) + away)[np.abs(away) < step]
    hz = np.unique(hz[(hz > grid_hz[0]) & (hz < grid_hz[-1])])
    return np.setdiff1d(hz, grid_hz)


def tops(grid_hz: Array, sizes: Array, response: Callable[[Array], Array]) -> Array:
    """Frequencies at which responses are largest, one for each channel whose top is inside of the grid.

    sizes: (frequencies, channels); response: sizes at other frequencies. About a resonance 1/size^2 is a parabola."""
    k = np.argmax(np.nan_to_num(sizes), axis=0)
    own = np.flatnonzero((k > 0) & (k < len(grid_hz) - 1) & (np.nan_to_num(sizes).max(axis=0) > 0))
    own = own[np.isfinite(sizes[[k[own] - 1, k[own] + 1], own]).all(axis=0)]
    if not own.size:
        return np.zeros(0)
    x = np.stack([grid_hz[k[own] + j] for j in (-1, 0, 1)])
    g = np.stack([_flat(sizes[k[own] + j, own]) for j in (-1, 0, 1)])
    for _ in range(_ROUNDS):
        new = _vertex(x, g)
        found = _flat(response(new)[np.arange(len(own)), own])
        x, g = _narrowed(x, g, new, found)
    return np.unique(x[1])


def _flat(size: Array) -> Array:
    made: Array = 1 / np.maximum(size, 1e-150) ** 2
    return made


def _vertex(x: Array, g: Array) -> Array:
    """The lowest place of the parabola through three points; the middle one where there is none between them."""
    left, right = x[1] - x[0], x[2] - x[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        down, up = (g[1] - g[0]) / left, (g[2] - g[1]) / right
        made = 0.5 * (x[0] + x[1]) - 0.5 * down * (x[2] - x[0]) / (up - down)
    made = np.where(np.isfinite(made) & (made > x[0]) & (made < x[2]), made, x[1])
    stuck = made == x[1]  # then a little to the longer side
    longer = np.where(right > left, x[1] + 1e-3 * right, x[1] - 1e-3 * left)
    result: Array = np.where(stuck, longer, made)
    return result


def _narrowed(x: Array, g: Array, new: Array, found: Array) -> tuple[Array, Array]:
    """The bracket with a new point in it."""
    points, sizes = np.vstack([x, new]), np.vstack([g, found])
    rank = np.argsort(points, axis=0)
    points, sizes = np.take_along_axis(points, rank, 0), np.take_along_axis(sizes, rank, 0)
    low = np.where(sizes[1] <= sizes[2], 1, 2)
    rows = np.stack([low - 1, low, low + 1])
    return np.take_along_axis(points, rows, 0), np.take_along_axis(sizes, rows, 0)
