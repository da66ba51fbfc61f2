"""Laws from rest to rest: a share of the way, 0 to 1, over time, as exact piecewise polynomials.

A law serves all channels of a straight move at once, so that they start and stop together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import SuppleError
from supple.motion.trajectory import POWERS, Trajectory

INFINITY = math.inf
QUINTIC_SPEED = 15 / 8  # largest speed of the quintic for a unit way in unit time
QUINTIC_ACCELERATION = 10 / math.sqrt(3)
QUINTIC_JERK = 60.0


@dataclass(frozen=True)
class Bounds:
    """Most speed, acceleration and jerk of the share of the way (1/s, 1/s^2, 1/s^3)."""

    speed: float = INFINITY
    acceleration: float = INFINITY
    jerk: float = INFINITY


def quintic(duration: float | None = None, bounds: Bounds | None = None) -> Trajectory:
    """10 u^3 - 15 u^4 + 6 u^5 of u = t / duration: starts and ends without acceleration."""
    if duration is None:
        b = _some(bounds, "quintic", "speed", "acceleration", "jerk")
        duration = max(
            QUINTIC_SPEED / b.speed, math.sqrt(QUINTIC_ACCELERATION / b.acceleration), math.cbrt(QUINTIC_JERK / b.jerk)
        )
    _positive("duration", duration)
    c = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]) / duration ** np.arange(POWERS)
    return Trajectory(("s",), np.array([0.0, duration]), c[None, None], np.zeros(0))


def trapezoidal(
    duration: float | None = None, bounds: Bounds | None = None, acceleration_time: float | None = None
) -> Trajectory:
    """Constant acceleration, constant speed, constant deceleration; the acceleration jumps at the four corners.

    Without an acceleration time it is a third of the duration."""
    if duration is None:
        b = _needed(bounds, "trapezoidal", "speed", "acceleration")
        ramp = min(b.speed / b.acceleration, math.sqrt(1 / b.acceleration))
        duration = ramp + max(1 / b.speed, ramp)
    else:
        _positive("duration", duration)
        ramp = duration / 3 if acceleration_time is None else acceleration_time
    _ramp("acceleration_time", ramp, duration)
    speed = 1 / (duration - ramp)
    return _phases([(ramp, speed / ramp, 0.0), (duration - 2 * ramp, 0.0, 0.0), (ramp, -speed / ramp, 0.0)])


def s_curve(
    duration: float | None = None,
    bounds: Bounds | None = None,
    acceleration_time: float | None = None,
    jerk_time: float | None = None,
) -> Trajectory:
    """A trapezoidal speed with rounded corners: the jerk is constant in each of up to seven phases.

    Acceleration lasts acceleration_time (default: a third of the duration), of which jerk_time (default: half) to
    rise and as much to fall."""
    if duration is None:
        jerk_time, ramp, duration = _jerk_limited(_needed(bounds, "s_curve", "speed", "acceleration", "jerk"))
    else:
        _positive("duration", duration)
        ramp = duration / 3 if acceleration_time is None else acceleration_time
        jerk_time = ramp / 2 if jerk_time is None else jerk_time
    _ramp("acceleration_time", ramp, duration)
    _ramp("jerk_time", jerk_time, ramp)
    a = 1 / (duration - ramp) / (ramp - jerk_time)
    j, flat = a / jerk_time, ramp - 2 * jerk_time
    up = [(jerk_time, 0.0, j), (flat, a, 0.0), (jerk_time, a, -j)]
    down = [(jerk_time, 0.0, -j), (flat, -a, 0.0), (jerk_time, -a, j)]
    return _phases([*up, (duration - 2 * ramp, 0.0, 0.0), *down])


PROFILES = {"quintic": quintic, "trapezoidal": trapezoidal, "s_curve": s_curve}


def straight(names: Sequence[str], first: ArrayLike, last: ArrayLike, law: Trajectory) -> Trajectory:
    """Channels that run from `first` to `last` together, by a law of the share of the way."""
    x0, x1 = (np.asarray(x, dtype=float) for x in (first, last))
    c = (x1 - x0)[None, :, None] * law.coefficients
    c[:, :, 0] += x0
    breaks = law.breaks if np.any(x1 != x0) else np.zeros(0)
    return Trajectory(tuple(names), law.knots, c, breaks)


def _jerk_limited(b: Bounds) -> tuple[float, float, float]:
    """Jerk time, acceleration time and duration of the quickest rest-to-rest law of a unit way within bounds."""
    jerk_time = min(b.acceleration / b.jerk, math.sqrt(b.speed / b.jerk))
    ramp = jerk_time + b.speed / min(b.acceleration, b.jerk * jerk_time)
    if b.speed * ramp > 1:  # the full speed is never reached
        jerk_time = b.acceleration / b.jerk
        ramp = jerk_time / 2 + math.sqrt(jerk_time**2 / 4 + 1 / b.acceleration)
        if ramp < 2 * jerk_time:  # nor the full acceleration
            jerk_time = math.cbrt(1 / (2 * b.jerk))
            ramp = 2 * jerk_time
        return jerk_time, ramp, 2 * ramp
    return jerk_time, ramp, ramp + 1 / b.speed


def _phases(phases: list[tuple[float, float, float]]) -> Trajectory:
    """Phases (duration, acceleration at its start, jerk) in a row from rest; what is shorter than rounding is left out."""
    whole = sum(p[0] for p in phases)
    kept = [p for p in phases if p[0] > 1e-12 * whole]
    knots, coefficients, breaks = [0.0], [], []
    x = v = a = 0.0
    for duration, acceleration, jerk in kept:
        if abs(acceleration - a) > 1e-9 * max(abs(a), abs(acceleration), abs(jerk) * duration):
            breaks.append(knots[-1])
        coefficients.append([x, v, acceleration / 2, jerk / 6, 0.0, 0.0])
        x += duration * (v + duration * (acceleration / 2 + duration * jerk / 6))
        v += duration * (acceleration + duration * jerk / 2)
        a = acceleration + duration * jerk
        knots.append(knots[-1] + duration)
    if abs(a) > 1e-9 * max(abs(p[1]) for p in kept):
        breaks.append(knots[-1])
    return Trajectory(("s",), np.array(knots), np.array(coefficients)[:, None], np.array(breaks))


def _some(bounds: Bounds | None, profile: str, *which: str) -> Bounds:
    if bounds is None or all(math.isinf(getattr(bounds, w)) for w in which):
        raise SuppleError(f"a {profile} move needs a duration, or limits of {' or '.join(which)}")
    return bounds


def _needed(bounds: Bounds | None, profile: str, *which: str) -> Bounds:
    lacking = [w for w in which if bounds is None or math.isinf(getattr(bounds, w))]
    if bounds is None or lacking:
        raise SuppleError(f"a {profile} move needs a duration, or limits of {' and '.join(which)}")
    return bounds


def _positive(what: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise SuppleError(f"{what} must be positive")


def _ramp(what: str, part: float, whole: float) -> None:
    if not 0 < part <= whole / 2 * (1 + 1e-12):
        other = "the move's duration" if what == "acceleration_time" else "acceleration_time"
        raise SuppleError(f"{what} {part:g} s must be positive and at most half of {other}, {whole:g} s")
