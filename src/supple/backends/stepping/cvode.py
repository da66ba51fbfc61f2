"""SUNDIALS' CVODE on a compiled plant: a second opinion on the integrators in C, from the extra `sundials`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from supple.backends.stepping.drive import Drive
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.state import State
from supple.backends.stepping.stepper import Stepper
from supple.errors import SuppleError
from supple.expr.function import Array


def integrate(stepper: Stepper, state: State, drive: Drive, settings: Settings, end: float) -> tuple[str, Array]:
    """How it ended, and samples (count, 1, row) from the state's time to `end`; events are landed on."""
    try:
        from sksundae.cvode import CVODE
    except ImportError as missing:
        raise SuppleError("the method cvode needs the extra: pip install 'supple[sundials]'") from missing
    if drive.sample_time:
        raise SuppleError("the method cvode knows no sampled controllers; choose another method")
    n = len(stepper.plant.free)
    every = settings.every or (end - state.t) / 1000
    breaks = [] if drive.breaks is None else [float(b) for b in drive.breaks if state.t < b < end - 1e-9]
    rows: list[Array] = []
    counter = round(state.t / every) + 1
    for stop in [*breaks, end]:
        last = int(np.floor(stop / every + 1e-9))
        inner = [k * every for k in range(counter, last + 1) if k * every < stop - 1e-9 * every]
        landing = last >= counter and abs(last * every - stop) <= 1e-9 * every
        counter = last + 1
        anchored = State(stepper.layout, state.data)  # displacements are counted from here

        problems: list[str] = []
        rhs = _derivatives(stepper, anchored, drive, stop, problems)
        size = float(settings.scale)
        solver = CVODE(rhs, method="BDF", rtol=settings.tolerance, atol=settings.tolerance * 1e-2 * min(1.0, size))
        y0 = np.concatenate([np.zeros(n), state.lanes("now.v")[0][[p.v for p in stepper.plant.free]]])
        found = solver.solve(np.array([state.t, *inner, stop]), y0)
        if problems or not found.success:
            for t, row in _before_failure(stepper, anchored, drive, stop, found):
                rows.append(row)
                state["t"] = t
            return (problems or ["diverged"])[0], np.array(rows).reshape(-1, 1, stepper.row)
        for t, y in zip([*inner, stop], found.y[1:], strict=True):
            moved = State(stepper.layout, anchored.data)
            stepper.move(moved, drive, t, y)
            if t != stop or landing:
                rows.append(moved.row()[0])
        state["t"] = stop
        stepper.move(state, drive, stop, found.y[-1])
        state["steps"] += found.nfev // 2
        state["evaluations"] += found.nfev
        state["jacobians"] += found.njev
    return "done", np.array(rows).reshape(-1, 1, stepper.row)


def _before_failure(
    stepper: Stepper, anchored: State, drive: Drive, stop: float, found: Any
) -> Iterator[tuple[float, Array]]:
    """Times and samples before the moment at which CVODE or the plant gave up."""
    for t, y in zip(found.t[1:], found.y[1:], strict=True):
        moved = State(stepper.layout, anchored.data)
        if t >= stop or stepper.move(moved, drive, t, y) != "fine":
            return
        yield t, moved.row()[0]


def _derivatives(stepper: Stepper, anchored: State, drive: Drive, stop: float, problems: list[str]) -> Any:
    """The right-hand side as CVODE calls it; what goes wrong is noted in `problems`."""

    def rhs(t: float, y: Array, yd: Array) -> None:
        outcome, yd[:] = stepper.derivatives(anchored, drive, min(t, stop - 1e-10), y)
        if outcome != "fine":
            problems.append(outcome)

    return rhs
