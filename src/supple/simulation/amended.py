"""Ways whose ends leave what simulations of the flexible robot leave: vibrations beyond those that are linear in the law.

They are added to the rows of the linear programs as they were found, so that the next law makes up for them: bodies that
turn while they swing, frequencies that change on the way, friction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.model.algebra import Array
from supple.results import Simulation
from supple.simulation.quickest import Way, amplitudes
from supple.simulation.way_laws import Law

_WATCHED = 3.0  # periods of a vibration after a way
_SHORTEST = 0.5  # of it
_STEPS = 4.0  # samples in a period at least


def amended(way: Way, law: Law, run: Simulation, end: float, rest: float) -> Way:
    """A way with what a simulation left beyond its law; it ended at `end`, and a rest of this length (s) came after it."""
    shaking = way.shaking
    if shaking is None:
        return way
    told = amplitudes(way, law)
    after = (run.time >= end) & (run.time <= end + rest)
    t, rates = run.time[after] - end, run["velocity"][after] @ shaking.meters.T
    found = [_amplitude(z, t, rates[:, k]) for k, z in enumerate(shaking.turning)]
    more = np.array([0.0 if x is None else size * x - one for x, size, one in zip(found, shaking.sizes, told, strict=True)])
    return replace(way, shaking=replace(shaking, beyond=shaking.beyond + more))


def arriving(way: Way, before: Way, law: Law, rest: float) -> Way:
    """A way that begins with what the way before leaves by its law, so much (s) after its end."""
    if way.shaking is None or before.shaking is None:
        return way
    left = before.shaking.after(amplitudes(before, law), rest)
    return replace(way, shaking=way.shaking.begun(*left))


def _amplitude(turn: complex, t: Array, rates: Array) -> complex | None:
    """What a vibration has at t = 0, by least squares over its rates; None where too little is seen."""
    period = 2 * np.pi / turn.imag
    if len(t) < 3 or t[-1] < _SHORTEST * period or (t[1] - t[0]) * _STEPS > period:
        return None
    seen = t <= _WATCHED * period
    turning = turn * np.exp(turn * t[seen])
    rows = -np.column_stack([turning.imag, turning.real])
    re, im = np.linalg.lstsq(rows, rates[seen], rcond=None)[0]
    return complex(re, im)
