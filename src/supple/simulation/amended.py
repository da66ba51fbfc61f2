"""Ways whose ends leave what simulations of the flexible robot leave: vibrations beyond those that are linear in the law.

They are added to the rows of the linear programs as they were found, so that the next law makes up for them: bodies that
turn while they swing, frequencies that change on the way, friction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.model.algebra import Array
from supple.results import Simulation
from supple.simulation.quickest import NEAR, Law, Left, Way, amplitudes

_WATCHED = 3.0  # periods of a vibration after a way
_SHORTEST = 0.5  # of it
_STEPS = 4.0  # samples in a period at least


def amended(way: Way, law: Law, run: Simulation, end: float, rest: float) -> Way:
    """A way with what a simulation left beyond its law; it ended at `end`, and a rest of this length (s) came after it."""
    told, middle = amplitudes(way, law), len(NEAR) // 2
    after = (run.time >= end) & (run.time <= end + rest)
    left: list[Left] = []
    for k in range(middle, len(way.left), len(NEAR)):
        z = _amplitude(way.left[k], run.time[after] - end, run["velocity"][after])
        more = 0.0 if z is None else z - told[k]
        left += [replace(x, beyond=x.beyond + more) for x in way.left[k - middle : k - middle + len(NEAR)]]
    return replace(way, left=tuple(left))


def _amplitude(one: Left, t: Array, rates: Array) -> complex | None:
    """What a vibration has at t = 0, by least squares over rates (times, coordinates); None where too little is seen."""
    period = 2 * np.pi / one.omega
    if len(t) < 3 or t[-1] < _SHORTEST * period or (t[1] - t[0]) * _STEPS > period:
        return None
    seen = t <= _WATCHED * period
    turning = (1j * one.omega - one.decay) * np.exp((1j * one.omega - one.decay) * t[seen])
    rows = -np.column_stack([turning.imag, turning.real])
    re, im = np.linalg.lstsq(rows, rates[seen] @ one.meter, rcond=None)[0]
    return complex(re, im)
