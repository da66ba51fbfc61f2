"""Paths convolved with the impulses of a shaper, on a clock that counts the periods of a vibration.

While a robot moves, its frequencies change. Of an oscillation whose frequency f(t) changes slowly, what matters is its
phase, phi(t) = integral of f. So impulses stand at phases, not at times: y(t) = sum_j A_j x(u_j(t)) with phi(u_j) = phi(t) -
phi_j. At a constant frequency this is the usual shaper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.motion.shapers import Impulses
from supple.motion.trajectory import Trajectory, quintic_coefficients
from supple.robot.bodies.record import Array

_ACCURACY = 1e-11  # of a path, relative to its travel
_DEEPEST = 12  # halvings of a piece
_SHORT = 1e-6  # s; shorter pieces are not halved
_CLOSE = 1e-9  # s; knots nearer to each other are one


class Phase:
    """Periods since time 0 of a vibration with frequencies (Hz) at some times, as they are before and after them too."""

    def __init__(self, times: Array, frequencies: Array) -> None:
        from scipy.interpolate import CubicSpline

        self._first, self._last, self._typical = float(times[0]), float(times[-1]), float(np.mean(frequencies))
        self._rate = CubicSpline(times, frequencies, bc_type="clamped")
        self._phase = self._rate.antiderivative()

    @classmethod
    def constant(cls, frequency: float) -> Phase:
        return cls(np.array([0.0, 1.0]), np.array([frequency, frequency]))

    def rate(self, t: Array) -> tuple[Array, Array]:
        """Frequency and its derivative."""
        inside = np.clip(t, self._first, self._last)
        return self._rate(inside), np.where(inside == t, self._rate(inside, 1), 0.0)

    def at(self, t: Array) -> Array:
        inside = np.clip(t, self._first, self._last)
        return np.asarray(self._phase(inside) + (t - inside) * self._rate(inside))

    def time(self, phase: Array) -> Array:
        """When a phase is reached (Newton's method; the phase rises everywhere)."""
        t = np.asarray(phase) / self._typical
        for _ in range(60):
            step = (self.at(t) - phase) / self.rate(t)[0]
            t = t - step
            if np.abs(step).max(initial=0.0) < 1e-14 * max(1.0, float(np.abs(t).max(initial=0.0))):
                break
        return t


def shaped(path: Trajectory, impulses: Impulses, phase: Phase) -> Trajectory:
    """The path convolved with impulses that stand at phases of a vibration; it lasts longer by the shaper's length."""
    if impulses.rounded > 0:
        path = averaged(path, impulses.rounded, phase)
    if len(impulses.times) == 1:
        return path
    edges = [path.start, path.end] if _edges_move(path) else []
    images = phase.at(path.knots)[:, None] + impulses.times
    knots = _apart(phase.time(images.ravel()))
    breaks = phase.time((phase.at(np.concatenate([path.breaks, edges]))[:, None] + impulses.times).ravel())
    made = _Shaped(path, impulses, phase)
    knots, coefficients = made.pieces(np.concatenate([[path.start], knots[knots > path.start + _CLOSE]]))
    return Trajectory(path.names, knots, coefficients, breaks)


def averaged(path: Trajectory, width: float, phase: Phase) -> Trajectory:
    """The mean of the path over the last `width` periods of a vibration: its accelerations do not jump where its speeds
    do not. y' = f(t) (x(t) - x(u)) / width with u so many periods before t; y by Gauss' quadrature of y'."""

    def rates(t: Array) -> tuple[Array, Array]:
        f, slope = (z[:, None] for z in phase.rate(t))
        u = phase.time(phase.at(t) - width)
        (x, xd, _), (x_u, xd_u, _) = path(t), path(u)
        ud = f / phase.rate(u)[0][:, None]
        return f * (x - x_u) / width, (slope * (x - x_u) + f * (xd - xd_u * ud)) / width

    travel = max(float(np.ptp(path(path.knots)[0], axis=0).max(initial=0.0)), 1e-12)
    knots = _apart(phase.time((phase.at(path.knots)[:, None] + np.array([0.0, width])).ravel()))
    knots = np.concatenate([[path.start], knots[knots > path.start + _CLOSE]])
    for _ in range(_DEEPEST):
        made = _integrated(path, knots, rates)
        middle = (knots[1:] + knots[:-1]) / 2
        off = np.abs(made(middle)[1] - rates(middle)[0]).max(axis=1) * np.diff(knots)
        poor = (off > _ACCURACY * travel) & (np.diff(knots) > _SHORT)
        if not poor.any():
            break
        knots = np.sort(np.concatenate([knots, middle[poor]]))
    return made


def _integrated(path: Trajectory, knots: Array, rates: Callable[[Array], tuple[Array, Array]]) -> Trajectory:
    """The quintics with these rates and accelerations at knots, values by integration from the path's first."""
    at, weights = np.polynomial.legendre.leggauss(6)
    half = np.diff(knots) / 2
    inner = (knots[:-1] + half)[:, None] + half[:, None] * at
    steps = half[:, None] * (rates(inner.ravel())[0].reshape(*inner.shape, -1) * weights[:, None]).sum(axis=1)
    first = path(path.start)[0]
    return Trajectory.hermite(path.names, knots, np.vstack([first, first + steps.cumsum(axis=0)]), *rates(knots))


def _edges_move(path: Trajectory) -> bool:
    """Whether the path begins or ends with an acceleration."""
    most = np.abs(path(path.knots)[2]).max(initial=0.0)
    return bool(np.abs(path([path.start, path.end])[2]).max(initial=0.0) > 1e-9 * most)


def _apart(times: Array) -> Array:
    found = np.unique(times)
    made: Array = found[np.concatenate([[True], np.diff(found) > _CLOSE])]
    return made


@dataclass(frozen=True)
class _Shaped:
    """y(t) and its derivatives, piece by piece of the path that each impulse reads."""

    path: Trajectory
    impulses: Impulses
    phase: Phase

    def pieces(self, knots: Array) -> tuple[Array, Array]:
        """Knots, halved until quintics between them are as accurate as asked for, and their coefficients."""
        travel = max(float(np.ptp(self.path(self.path.knots)[0], axis=0).max(initial=0.0)), 1e-12)
        for _ in range(_DEEPEST):
            coefficients = self.quintics(knots)
            width = np.diff(knots)
            middle = knots[:-1] + width / 2
            there = self.state(middle, middle)[0]
            here = (coefficients * (width[:, None, None] / 2) ** np.arange(6)).sum(axis=-1)
            poor = (np.abs(here - there).max(axis=1) > _ACCURACY * travel) & (width > _SHORT)
            if not poor.any():
                break
            knots = np.sort(np.concatenate([knots, middle[poor]]))
        return knots, self.quintics(knots)

    def quintics(self, knots: Array) -> Array:
        middle = (knots[:-1] + knots[1:]) / 2
        return quintic_coefficients(
            self.state(knots[:-1], middle), self.state(knots[1:], middle), np.diff(knots)[:, None]
        )  # fmt: skip

    def state(self, t: Array, inside: Array) -> tuple[Array, Array, Array]:
        """Values, rates and accelerations at t (times, channels), as the pieces have them that are read at `inside`."""
        f, slope = self.phase.rate(t)
        x = xd = xdd = np.zeros((len(t), len(self.path.names)))
        for amplitude, behind in zip(self.impulses.amplitudes, self.impulses.times, strict=True):
            u = self.phase.time(self.phase.at(t) - behind)
            at = self.phase.time(self.phase.at(inside) - behind)
            f_u, slope_u = self.phase.rate(u)
            ud = f / f_u
            udd = (slope - ud**2 * slope_u) / f_u
            p, v, a = _piece(self.path, u, at)
            x, xd = x + amplitude * p, xd + amplitude * v * ud[:, None]
            xdd = xdd + amplitude * (a * ud[:, None] ** 2 + v * udd[:, None])
        return x, xd, xdd


def _piece(path: Trajectory, t: Array, inside: Array) -> tuple[Array, Array, Array]:
    """Values, rates and accelerations of the path at t by the pieces that hold the times `inside`; held beyond its ends."""
    k = np.clip(np.searchsorted(path.knots, inside, side="right") - 1, 0, path.knots.size - 2)
    s = (t - path.knots[k])[:, None]
    c = path.coefficients[k]
    powers = np.arange(6)
    x = (c * s[..., None] ** powers).sum(axis=-1)
    xd = (c[..., 1:] * powers[1:] * s[..., None] ** powers[:-1]).sum(axis=-1)
    xdd = (c[..., 2:] * (powers[2:] * powers[1:-1]) * s[..., None] ** powers[:-2]).sum(axis=-1)
    held = (inside < path.start) | (inside > path.end)
    ends = path(np.clip(inside, path.start, path.end))[0]
    still = np.zeros_like(x)
    return tuple(np.where(held[:, None], a, b) for a, b in ((ends, x), (still, xd), (still, xdd)))  # type: ignore[return-value]
