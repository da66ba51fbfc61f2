"""How well a motion was made: vibration that it leaves, when that has died away, errors of tracking, work and saturation."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.model.algebra import Array
from supple.results import Signal
from supple.simulation.simulator import Simulator

SETTLED = 0.05  # of the range of a point's deformation while the robot moves
_STILL = 1e-9  # m or rad
_LIMITED = {"speed": "velocity", "acceleration": "acceleration", "force": "tau"}
_FULL = 1.0 - 1e-9  # of a limit: a force that is cut off


def performance(simulator: Simulator, time: Array, signals: dict[str, Signal]) -> dict[str, Any]:
    """Numbers that judge a motion, the worst of all runs; those that do not apply are left out."""
    made: dict[str, Any] = {}
    if "tau" not in signals:
        return made  # nothing drives the robot
    tau, velocity = _by_run(simulator, signals["tau"]), _by_run(simulator, signals["velocity"])
    power = sum((tau[..., k] * velocity[..., i] for k, i in enumerate(simulator.model.active)), np.zeros(tau.shape[:2]))
    if "power_lost" in signals:
        made["energy_lost_J"] = _worst(_integral(time, _by_run(simulator, signals["power_lost"])))
    made["work_J"] = _worst(_integral(time, np.maximum(power, 0.0)))
    end = _end_of_path(simulator, time)
    if end is not None and "point_deformation" in signals and len(time) - _after(time, end) > 2:
        deformation = _by_run(simulator, signals["point_deformation"])
        points = list(simulator.model.mechanism.points)
        made["rest_from_s"] = end
        made["residual_vibration_m"] = {p: _worst(residual(time, deformation[:, :, k], end)) for k, p in enumerate(points)}
        made["settling_time_s"] = {p: settling(time, deformation[:, :, k], end) for k, p in enumerate(points)}
        if "point_acceleration" in signals:
            felt = np.linalg.norm(_by_run(simulator, signals["point_acceleration"])[_after(time, end) :], axis=-1)
            made["residual_acceleration_m_s2"] = {p: _worst(felt[:, :, k]) for k, p in enumerate(points)}
    return made | _at_tools(simulator, signals) | _tracking(simulator, signals, tau) | limits_used(simulator, time, signals)


def _by_run(simulator: Simulator, signal: Signal) -> Array:
    """Values (time, run, ...), whether there is one run or many."""
    values: Array = signal.values if simulator.many > 1 else signal.values[:, None]
    return values


def _worst(values: Array) -> float:
    return float(np.fmax.reduce(values, axis=None, initial=0.0))


def _integral(time: Array, values: Array) -> Array:
    """Integrals (runs,) of values (time, runs) over time by trapezia, zero where they are no numbers."""
    step = np.zeros(len(time) + 1)
    np.subtract(time[1:], time[:-1], out=step[1:-1])
    weights = 0.5 * (step[1:] + step[:-1])
    made: Array = weights @ values
    return made if np.isfinite(made).all() else weights @ np.nan_to_num(values)


def _after(time: Array, end: float) -> int:
    """The first sample after a time."""
    return int(np.searchsorted(time, end, side="right"))


def _range(x: Array) -> Array:
    """The diagonal (runs,) of the box that holds a point's places (time, runs, 3)."""
    made: Array = np.linalg.norm(np.fmax.reduce(x, axis=0) - np.fmin.reduce(x, axis=0), axis=-1)
    return made


def _end_of_path(simulator: Simulator, time: Array) -> float | None:
    """When the path of the actuators has come to its last place, if it does so while the simulation goes on."""
    if simulator.path is None or not len(time):
        return None
    last = simulator.path.last if time[-1] >= simulator.path.end else simulator.path(time[-1:])[0]
    begin = end = min(_after(time, simulator.path.at_rest_from(_STILL)), len(time))
    while begin > 0:  # from there back, as few samples as it takes
        begin = max(0, end - 2 * (end - begin) - 64)
        away = np.flatnonzero((np.abs(simulator.path(time[begin:end])[0] - last) > _STILL).any(axis=1))
        if away.size:
            return float(time[begin + away[-1]]) if begin + away[-1] + 1 < len(time) else None
    return None


def residual(time: Array, deformation: Array, end: float) -> Array:
    """Amplitude (runs,) of a point's vibration after a time: half the diagonal of the box that holds its deformation."""
    return 0.5 * _range(deformation[_after(time, end) :])


def settling(time: Array, deformation: Array, end: float) -> float | None:
    """How long after a time a point's deformation stays near its last place; None if it does not come there.

    Near: within SETTLED of the range of its deformation until then; its last place: the mean of the last fifth."""
    first, tail = _after(time, end), end + 0.8 * (time[-1] - end)
    last = _mean(deformation[_after(time, tail) :])
    allowed = SETTLED * _range(deformation[:first])
    away = np.linalg.norm(deformation[first:] - last, axis=-1) > np.maximum(allowed, _STILL)
    far = first + np.flatnonzero(away.any(axis=1))
    if not far.size:
        return 0.0
    return float(time[far[-1]] - end) if time[far[-1]] < tail else None


def _at_tools(simulator: Simulator, signals: dict[str, Signal]) -> dict[str, Any]:
    """Errors of the named points; of prescribed actuators what the robot bends."""
    signal = signals.get("tool_error") or signals.get("point_deformation")
    if simulator.path is None or signal is None:
        return {}
    sizes = np.linalg.norm(_by_run(simulator, signal), axis=-1)
    points = simulator.model.mechanism.points
    made = {p: {"peak": _worst(sizes[:, :, k]), "rms": _rms(sizes[:, :, k])} for k, p in enumerate(points)}
    return {"tool_error_m": made}


def _rms(off: Array) -> float:
    return _worst(np.sqrt(_mean(off**2)))


def _mean(x: Array) -> Array:
    """The mean over time, what is no number left out."""
    made: Array = x.mean(axis=0)
    return made if np.isfinite(made).all() else np.nanmean(x, axis=0)


def _tracking(simulator: Simulator, signals: dict[str, Signal], tau: Array) -> dict[str, Any]:
    """Errors of actuators that a controller leads, and how long their forces are at a limit."""
    control = simulator.motion.controller
    if control is None or "desired" not in signals:
        return {}
    errors = _by_run(simulator, signals["desired"])
    errors = errors - _by_run(simulator, signals["position"])[..., simulator.model.active]
    actuators = [simulator.model.names[i] for i in simulator.model.active]
    made: dict[str, Any] = {"tracking_error": {}, "saturated_share": {}}
    for name in simulator.motion.driven("controlled"):
        off = errors[..., actuators.index(name)]
        made["tracking_error"][name] = {"peak": _worst(np.abs(off)), "rms": _rms(off), "unit": _unit(simulator, name)}
        if np.isfinite(limit := control.limit.get(name, np.inf)):
            full = np.abs(tau[..., actuators.index(name)]) >= _FULL * limit
            made["saturated_share"][name] = _worst(full.mean(axis=0))
    return {k: x for k, x in made.items() if x}


def limits_used(simulator: Simulator, time: Array, signals: dict[str, Signal]) -> dict[str, Any]:
    """What a motion asks of its actuators beside their limits: the limit, the largest share of it, and when that is."""
    motion, model = simulator.motion, simulator.model
    given = {key: dict(motion.limits.get(key, {})) for key in _LIMITED}
    control = motion.controller
    if control is not None:
        given["force"] = {n: x for n, x in control.limit.items() if np.isfinite(x)} | given["force"]
    made: dict[str, Any] = {}
    actuators = [model.names[i] for i in model.active]
    for key, signal in _LIMITED.items():
        values = _by_run(simulator, signals[signal])
        for name, most in given[key].items():
            column = actuators.index(name) if signal == "tau" else list(model.names).index(name)
            sizes = np.nanmax(np.abs(values[..., column]), axis=1, initial=0.0) / most
            when = int(np.argmax(sizes))
            told = {"most": most, "used": float(sizes[when]), "time_s": float(time[when])}
            made.setdefault(key, {})[name] = told
    return {"limits": made} if made else {}


def beyond_limits(told: dict[str, Any]) -> list[str]:
    """Sentences about actuators that a motion asks more of than they can."""
    return [
        f"{name} needs {100 * x['used']:.4g} % of its {key} at t = {x['time_s']:.4g} s; slow down, or shape longer"
        for key, each in told.get("limits", {}).items()
        for name, x in each.items()
        if x["used"] > 1 + 1e-6
    ]


def _unit(simulator: Simulator, name: str) -> str:
    return next(c.unit for c in simulator.model.mechanism.coordinates if c.name == name)
