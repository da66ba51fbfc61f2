"""Signals of one channel over a duration: constant, sine, sweep, step, ramp, impulse, square wave."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from supple.errors import SuppleError
from supple.motion.sampling import Samples, distinct, sampled
from supple.motion.trajectory import POWERS, Trajectory
from supple.robot.bodies.record import Array

PER_TURN = 48  # knots of a sine's period: its accelerations then err by 1.5e-7 of their peak
MOST_KNOTS = 2_000_000
CHANNEL = ("x",)


def constant(value: float, duration: float) -> Trajectory:
    """The same value throughout."""
    return Trajectory.held(CHANNEL, [value], duration)


def sine(
    amplitude: float, frequency: float, duration: float, phase: float = 0.0, offset: float = 0.0, fade: float = 0.0
) -> Trajectory:
    """offset + amplitude sin(2 pi frequency t + phase), swelling and dying away smoothly within `fade` seconds."""

    def angle(t: Array) -> Samples:
        w = 2 * math.pi * frequency
        return w * t + phase, np.full_like(t, w), np.zeros_like(t)

    times = _spaced(lambda u: np.asarray(u) * duration, frequency * duration)
    return _wave(amplitude, angle, times, duration, offset, fade)


def sweep(
    amplitude: float,
    first: float,
    last: float,
    duration: float,
    law: str = "linear",
    phase: float = 0.0,
    fade: float = 0.0,
) -> Trajectory:
    """A sine whose frequency runs from `first` to `last` (Hz), linearly or logarithmically in time."""
    if law not in ("linear", "log"):
        raise SuppleError(f"a sweep is linear or log, not {law!r}")
    growth = math.log(last / first)
    if law == "log" and abs(growth) > 1e-9:
        k = growth / duration

        def angle(t: Array) -> Samples:
            w = 2 * math.pi * first * np.exp(k * t)
            return (w - 2 * math.pi * first) / k + phase, w, w * k

        turns = (last - first) / k

        def at(u: Array) -> Array:
            return np.log1p(u * (last - first) / first) / k
    else:
        rise = (last - first) / duration

        def angle(t: Array) -> Samples:
            w = 2 * math.pi * (first + rise * t)
            return 2 * math.pi * t * (first + rise * t / 2) + phase, w, np.full_like(t, 2 * math.pi * rise)

        turns = (first + last) / 2 * duration

        def at(u: Array) -> Array:
            return 2 * turns * u / (first + np.sqrt(first**2 + 2 * rise * turns * u))

    return _wave(amplitude, angle, _spaced(at, turns), duration, 0.0, fade)


def step(height: float, at: float, duration: float) -> Trajectory:
    """Zero, then `height` from the time `at` on."""
    return _levels([(at, 0.0), (duration, height)])


def square(high: float, low: float, period: float, duration: float, duty: float = 0.5, at: float = 0.0) -> Trajectory:
    """`high` for the first `duty` of each period and `low` for the rest, zero before the time `at`."""
    if (duration - at) / period * 2 > MOST_KNOTS:
        raise SuppleError("the square wave has too many periods; make it slower or the motion shorter")
    levels, k = [(at, 0.0)], 0
    while levels[-1][0] < duration:
        levels += [(at + (k + duty) * period, high), (at + (k + 1) * period, low)]
        k += 1
    return _levels([(min(end, duration), level) for end, level in levels])


def ramp(first: float, last: float, begin: float, end: float, duration: float) -> Trajectory:
    """`first` until `begin`, then straight to `last` at `end`, held from there; breaks at its two corners."""
    if not end > begin:
        raise SuppleError("a ramp must end after it begins")
    whole = max(duration, end)
    knots = distinct([0.0, begin, end, whole])
    x = np.interp(knots, [begin, end], [first, last])
    c = np.zeros((knots.size - 1, 1, POWERS))
    c[:, 0, 0], c[:, 0, 1] = x[:-1], np.diff(x) / np.diff(knots)
    corners = [t for t in (begin, end) if 0 < t < duration]
    return Trajectory(CHANNEL, knots, c, np.array(corners)).cut(0.0, duration)


def impulse(area: float, width: float, at: float, duration: float) -> Trajectory:
    """A half-sine of this width from the time `at` on, whose integral over time is exactly `area`."""
    if at + width > duration * (1 + 1e-12):
        raise SuppleError(f"the impulse ends at {at + width:g} s, after the motion's {duration:g} s")
    w = math.pi / width
    t = np.linspace(0.0, width, PER_TURN // 2 + 1)
    x = np.sin(w * t)
    x[0] = x[-1] = 0.0
    wave = Trajectory.hermite(CHANNEL, t, x, w * np.cos(w * t), -(w**2) * x)
    parts = [Trajectory(CHANNEL, t, wave.coefficients * (area / integral(wave)[0]), np.array([0.0, width]))]
    rest = duration - at - width
    if at > 0:
        parts.insert(0, constant(0.0, at))
    if rest > 1e-12 * duration:
        parts.append(constant(0.0, rest))
    return Trajectory.joined(parts)


def integral(trajectory: Trajectory) -> Array:
    """The integral of each channel over the whole trajectory."""
    h = np.diff(trajectory.knots)[:, None, None]
    powers = np.arange(1, POWERS + 1)
    made: Array = np.sum(trajectory.coefficients * h**powers / powers, axis=(0, 2))
    return made


# Pieces ---------------------------------------------------------------------------------------------------------------


def _levels(levels: list[tuple[float, float]]) -> Trajectory:
    """Constant levels, each up to its time; the jumps between them are breaks."""
    knots, values = [0.0], []
    for end, level in levels:
        if end > knots[-1] * (1 + 1e-12):
            knots.append(end)
            values.append(level)
    c = np.zeros((len(values), 1, POWERS))
    c[:, 0, 0] = values
    jumps = [t for t, a, b in zip(knots[1:-1], values, values[1:], strict=False) if a != b]
    return Trajectory(CHANNEL, np.array(knots), c, np.array(jumps))


def _spaced(at: Callable[[Array], Array], turns: float) -> Array:
    """Times at equal steps of the phase; `at` turns a share of the whole phase into a time."""
    count = max(2, math.ceil(turns * PER_TURN))
    if count > MOST_KNOTS:
        raise SuppleError(f"the signal has {turns:.3g} periods, too many to follow; lower its frequency or duration")
    return at(np.linspace(0.0, 1.0, count + 1))


def _wave(
    amplitude: float, angle: Callable[[Array], Samples], times: Array, duration: float, offset: float, fade: float
) -> Trajectory:
    """offset + amplitude * envelope * sin(angle), exact in value, rate and second derivative at its knots."""
    if 2 * fade > duration * (1 + 1e-12):
        raise SuppleError(f"fade {fade:g} s must be at most half of the signal's {duration:g} s")
    times[0], times[-1] = 0.0, duration
    if fade > 0:
        times = distinct([*times, fade, duration - fade])

    def exact(t: Array) -> Samples:
        p, w, wd = angle(t)
        x, xd, xdd = np.sin(p), w * np.cos(p), wd * np.cos(p) - w * w * np.sin(p)
        e, ed, edd = _envelope(t, duration, fade)
        product = e * x, ed * x + e * xd, edd * x + 2 * ed * xd + e * xdd
        value, rate, second = (amplitude * f[:, None] for f in product)
        return offset + value, rate, second

    return sampled(CHANNEL, exact, times, lambda t: abs(amplitude) * angle(t)[1][:, None] ** 2)


def _envelope(t: Array, duration: float, fade: float) -> Samples:
    """Quintic rise from 0 to 1 within `fade` and the same fall at the end; 1 throughout without a fade."""
    if fade <= 0:
        return np.ones_like(t), np.zeros_like(t), np.zeros_like(t)
    late = t > duration / 2
    u = np.clip(np.where(late, duration - t, t) / fade, 0.0, 1.0)
    sign = np.where(late, -1.0, 1.0)
    e = u**3 * (10 - 15 * u + 6 * u**2)
    return e, sign * 30 * u**2 * (1 - u) ** 2 / fade, 60 * u * (1 - u) * (1 - 2 * u) / fade**2
