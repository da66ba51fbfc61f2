"""Frequency response functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.limits import notices
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.model.small_motions import QUANTITIES, SmallMotions, small_motions
from supple.results import Frf
from supple.results.resonances import near_poles, tops, undamped
from supple.robot.bodies.record import Array
from supple.robot.written import Band, Written, band_of, pose_of

_MOST = 1_000_000
_FEW = 50  # frequencies that tell responses from rounding
_TOLD = 6
_LOOSE = "at 0 Hz nothing resists a motion of the robot; its responses there are not a number"


def frf(
    robot: Machine,
    inputs: Sequence[str],
    outputs: Sequence[str],
    at: Mapping[str, Written] | None = None,
    *,
    band: Band = (0.0, 250.0),
    points: int = 1001,
    quantity: str = "acceleration",
    free: bool | None = None,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
) -> Frf:
    """Responses to unit harmonic inputs at a pose; options as of `api.Robot.frf`."""
    first, last = band_of(band)
    if not 2 <= points <= _MOST:
        raise SuppleError(f"{points} frequencies: must be 2 to {_MOST}")
    if quantity not in QUANTITIES:
        raise SuppleError(f"there is no quantity {quantity!r}; choose one of {', '.join(QUANTITIES)}")
    model = robot.model()
    loose = free if free is not None else any(name.partition(".")[0] == "tau" for name in inputs)
    straight = posture(model, pose_of(model.mechanism, at), assembly)
    made = small_motions(
        model, straight, list(inputs), list(outputs), free=loose, w=wrenches_of(model, loads or {})
    )  # fmt: skip
    order = QUANTITIES[quantity]
    f = np.linspace(first, last, points)
    suffix = ("", "/s", "/s^2")[order]
    poles = made.poles()
    values, between_hz, between = _responses(made, f, poles, order)
    return Frf(
        robot=model.mechanism.name,
        free=loose,
        quantity=quantity,
        frequencies_hz=f,
        values=values,
        inputs=made.inputs.names,
        outputs=made.outputs.names,
        input_units=made.inputs.units,
        output_units=tuple(unit + suffix for unit in made.outputs.units),
        notices=(
            *notices(model, made.q), *([_LOOSE] if made.loose and first == 0 else []),
            *_unbounded(undamped(poles, (first, last))),
        ),
        between_hz=between_hz,
        between=between,
    )  # fmt: skip


def _responses(made: SmallMotions, f: Array, poles: Array, order: int) -> tuple[Array, Array, Array]:
    """Responses at the frequencies asked for, and those between them that show resonances and tops; rounding is zero."""
    values, extra = made.response(f, order), near_poles(poles, f)
    between = made.response(extra, order)
    none = made.rounding(f[:: max(1, len(f) // _FEW)])
    values[:, none], between[:, none] = 0.0, 0.0
    rank = np.argsort(np.concatenate([f, extra]))
    sizes = np.abs(np.concatenate([values, between])).reshape(len(rank), -1)[rank]
    top = tops(
        np.concatenate([f, extra])[rank], sizes, lambda hz: np.abs(made.response(hz, order)).reshape(len(hz), -1)
    )  # fmt: skip
    top = np.setdiff1d(top, np.concatenate([f, extra]))
    summit = made.response(top, order)
    summit[:, none] = 0.0
    all_hz = np.concatenate([extra, top])
    rank = np.argsort(all_hz)
    return values, all_hz[rank], np.concatenate([between, summit])[rank]


def _unbounded(hz: Array) -> list[str]:
    if not len(hz):
        return []
    told = ", ".join(f"{x:.5g}" for x in hz[:_TOLD]) + (f" and {len(hz) - _TOLD} more" if len(hz) > _TOLD else "")
    return [f"nothing damps the modes at {told} Hz: responses have no bound there; peaks are the largest of the frequencies"]
