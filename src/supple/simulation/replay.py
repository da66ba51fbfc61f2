"""A law in state space run again over what a simulation recorded: readings, forces, what it knew, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.observe import postures_of
from supple.model.sensors import reading
from supple.motion.laws import SampledLaw
from supple.results import Simulation
from supple.simulation.simulator import Simulator

_WORDS = 2**64


@dataclass(frozen=True)
class Replayed:
    """Of every sample: time (s), readings off what they should be, forces as the law told them, states, and estimates of
    what the law watches off its rest (None if it watches nothing)."""

    time: Array
    readings: Array
    forces: Array
    states: Array
    estimates: Array | None


def _mixed(x: int) -> int:
    """splitmix64, twice."""
    for _ in range(2):
        x = (x + 0x9E3779B97F4A7C15) % _WORDS
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % _WORDS
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % _WORDS
        x ^= x >> 31
    return x


def chance(seed: int, tick: int, channel: int) -> float:
    """The normal number of a place in a run, as the integrators have it."""
    begin = seed * 0x9E3779B97F4A7C15 + tick * 0xD1342543DE82EF95
    a, b = (((_mixed((begin + 2 * channel + k + 1) % _WORDS) >> 11) + 0.5) / 2**53 for k in range(2))
    return float(np.sqrt(-2 * np.log(a)) * np.cos(6.283185307179586 * b))


def replayed(simulator: Simulator, run: Simulation) -> Replayed:
    """The law of a simulator (one run), over a result with a sample at every sample of the law."""
    law = None if simulator.motion.controller is None else simulator.motion.controller.own
    if law is None or simulator.rest is None:
        raise SuppleError("there is no law in state space to run again")
    time = np.asarray(run.time)
    if len(time) < 2 or abs(time[1] - time[0] - law.sample) > 1e-9 * law.sample:
        raise SuppleError(f"results must have a sample every {law.sample:g} s, as the law has; choose --every")
    q = postures_of(simulator.model, np.asarray(run["position"]))
    y = reading(simulator.model, law.sensors, q, np.asarray(run["velocity"]), np.asarray(run["acceleration"]))
    rest = simulator.rest.only([s.name for s in law.sensors])(time)[0]
    table = None if simulator.drive.law is None else simulator.drive.law.weights
    weights = np.ones((len(time), 1)) if table is None else table(time)
    return stepped(law, time, _rough(law, y) - rest, weights)


def _rough(law: SampledLaw, y: Array) -> Array:
    """Readings with noise and resolution."""
    made = y.copy()
    for k, s in enumerate(law.sensors):
        if s.noise > 0:
            made[:, k] += s.noise * np.array([chance(law.seed, tick, k) for tick in range(len(y))])
        if s.resolution > 0:
            made[:, k] = s.resolution * np.floor(made[:, k] / s.resolution + 0.5)
    return made


def stepped(law: SampledLaw, time: Array, y: Array, weights: Array) -> Replayed:
    """The law run over readings (samples, sensors) off what they should be, with weights (samples, parts)."""
    n, r = law.states, len(law.limit)
    x = np.zeros((len(law.parts), n))
    forces, states, estimates = np.zeros((len(y), r)), np.zeros((len(y), len(law.parts), n)), []
    limit = np.array(law.limit)
    for k, row in enumerate(y):
        states[k] = x
        told = sum(
            w * (part.C.reshape(r, n) @ x[p] + part.D @ row)
            for p, (w, part) in enumerate(zip(weights[k], law.parts, strict=True))
        )
        u = np.clip(np.asarray(told), -limit, limit)
        estimates.append(_estimated(law, x, row, weights[k]))
        x = np.array([part.A.reshape(n, n) @ x[p] + part.B @ row + part.E @ u for p, part in enumerate(law.parts)]).reshape(
            len(law.parts), n
        )
        forces[k] = u
    known = all(part.estimate is not None for part in law.parts)
    return Replayed(time, y, forces, states, np.array(estimates) if known else None)


def _estimated(law: SampledLaw, x: Array, row: Array, weights: Array) -> Array:
    made: Array = np.zeros(0)
    for p, part in enumerate(law.parts):
        if part.estimate is not None:
            own = weights[p] * (part.estimate.C @ x[p] + part.estimate.D @ row)
            made = own if not made.size else made + own
    return made
