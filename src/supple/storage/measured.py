"""Results beside what was measured: differences of every signal that both have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.results import Array, Simulation
from supple.storage import columns


def beside(simulation: Simulation, measured: tuple[Array, dict[str, Array]]) -> Simulation:
    """The simulation with measured columns (times, name -> values), and with how far it is from them in its summary.

    Results less measurements, at the times of the measurements that the simulation reached; shares are relative to the
    largest measured value."""
    times, given = measured
    if "run" in simulation.axes:
        raise SuppleError("against: measurements are those of a single run; vary nothing")
    inside = (times >= simulation.time[0] - 1e-9) & (times <= simulation.time[-1] + 1e-9)
    if inside.sum() < 2 or len(simulation.time) < 2:
        first, last = simulation.time[0], simulation.time[-1]
        raise SuppleError(f"against: fewer than two measured samples lie within the result's {first:g} to {last:g} s")
    own = columns(simulation)
    told = {name: _apart(simulation.time, *own[name], times[inside], values[inside]) for name, values in given.items()}
    kept = {name: (times[inside], values[inside]) for name, values in given.items()}
    return replace(simulation, summary=simulation.summary | {"against": told}, measured=kept)


def _apart(time: Array, unit: str, computed: Array, at: Array, measured: Array) -> dict[str, Any]:
    from scipy.interpolate import CubicSpline

    error = CubicSpline(time, computed)(at) - measured
    rms, peak = float(np.sqrt((error**2).mean())), float(np.abs(error).max())
    size = float(np.abs(measured).max())
    return {
        "rms": rms, "peak": peak, "peak_time_s": float(at[np.abs(error).argmax()]), "unit": unit, "samples": len(at),
        "rms_share": rms / size if size else None, "peak_share": peak / size if size else None,
    }  # fmt: skip
