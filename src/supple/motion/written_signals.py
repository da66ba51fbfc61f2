"""Signals as a file writes them, made into trajectories of one channel in SI."""

from __future__ import annotations

import math
from typing import Any

from supple.errors import SuppleError
from supple.motion import signals
from supple.motion.channels import Setting
from supple.motion.trajectory import Trajectory
from supple.robot import motions as spec
from supple.robot.yaml_tree import Path_

SMOOTH = ("constant", "sine", "sweep")  # what a position can follow


def signal(
    written: Any, dimension: str, duration: float, setting: Setting, path: Path_, position: bool = False
) -> Trajectory:
    """A written signal (or plain number) over a duration; its values have the dimension of its channel."""
    if not isinstance(written, spec.Signal):
        return signals.constant(setting.number(written, dimension, path), duration)
    kind = next(k for k in type(written).model_fields if getattr(written, k) is not None)
    part, here = getattr(written, kind), (*path, kind)
    if position and kind not in SMOOTH:
        setting.note(here, f"a position cannot jump or kink; use moves, or one of {', '.join(SMOOTH)}")
        return signals.constant(0.0, duration)
    if kind == "constant":
        return signals.constant(setting.number(part, dimension, here), duration)

    def value(key: str, unit: str = dimension) -> float:
        return setting.number(getattr(part, key), unit, (*here, key))

    try:
        return _made(part, value, dimension, duration)
    except SuppleError as error:
        setting.note(here, str(error))
        return signals.constant(0.0, duration)


def _made(part: Any, value: Any, dimension: str, duration: float) -> Trajectory:
    match part:
        case spec.Sine():
            phase, fade = value("phase", "angle"), value("fade", "time")
            return signals.sine(value("amplitude"), value("frequency", "frequency"), duration, phase, value("offset"), fade)
        case spec.Sweep():
            first, last = value("first", "frequency"), value("last", "frequency")
            return signals.sweep(
                value("amplitude"), first, last, duration, part.law, value("phase", "angle"), value("fade", "time")
            )
        case spec.Step():
            return signals.step(value("height"), value("at", "time"), duration)
        case spec.Ramp():
            return signals.ramp(value("first"), value("last"), value("begin", "time"), value("end", "time"), duration)
        case spec.Impulse():
            width = value("duration", "time")
            unit = {"force": "impulse", "torque": "angular impulse"}.get(dimension, "any")
            area = value("area", unit) if part.area is not None else value("peak") * width * 2 / math.pi
            return signals.impulse(area, width, value("at", "time"), duration)
        case spec.Square():
            return signals.square(
                value("high"), value("low"), value("period", "time"), duration, value("duty", "number"), value("at", "time")
            )
    raise AssertionError(part)
