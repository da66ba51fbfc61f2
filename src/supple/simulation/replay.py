"""A law in state space run again over what a simulation recorded: readings, forces, what it knew, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supple.backends.stepping.layout import CONSTANTS
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.observe import postures_of
from supple.model.sensors import reading
from supple.motion.laws import SampledLaw
from supple.results import Simulation
from supple.simulation.simulator import Simulator

Words = npt.NDArray[np.uint64]
_WORDS = 2**64
_FORCES = CONSTANTS["MOST_SENSORS"][0] * CONSTANTS["MOST_LANES"][0]  # the first channel of noise of forces


@dataclass(frozen=True)
class Replayed:
    """Of every sample: time (s), readings off what they should be, forces as the law told them, states, and estimates of
    what the law watches off its rest (None if it watches nothing)."""

    time: Array
    readings: Array
    forces: Array
    states: Array
    estimates: Array | None


def _mixed(x: Words) -> Words:
    """splitmix64, twice."""
    for _ in range(2):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return x


def chance(seed: int, ticks: int, channel: int) -> Array:
    """The normal numbers of the first samples of a run, as the integrators have them."""
    first = (seed * 0x9E3779B97F4A7C15 + 2 * channel + 1) % _WORDS
    begin = np.arange(ticks, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95) + np.uint64(first)
    a, b = (((_mixed(begin + np.uint64(k)) >> np.uint64(11)).astype(float) + 0.5) / 2**53 for k in range(2))
    made: Array = np.sqrt(-2 * np.log(a)) * np.cos(6.283185307179586 * b)
    return made


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
    return stepped(law, time, _rough(law, y) - rest, weights, _done(simulator, law, run))


def _done(simulator: Simulator, law: SampledLaw, run: Simulation) -> Array:
    """What the law did at every sample (samples, actuators), by the forces recorded once it acted; not a number where that
    was later than the record, or is not recorded (pushes)."""
    time = np.asarray(run.time)
    made = np.full((len(time), len(law.limit)), np.nan)
    late = int(np.floor(law.delay / law.sample + 1e-9)) + 1
    table = simulator.motion.torques
    for i, name in enumerate(law.actuators):
        own = np.asarray(run[f"tau:{name}"])
        if table is not None and f"tau {name}" in table.names:
            own = own - table(time)[0][:, table.names.index(f"tau {name}")]
        made[:-late, i] = own[late:]
        if law.noise[i] > 0:  # which the law does not know of
            made[:, i] -= law.noise[i] * chance(law.seed, len(time), i + _FORCES)
    return made


def _rough(law: SampledLaw, y: Array) -> Array:
    """Readings with noise and resolution."""
    made = y.copy()
    for k, s in enumerate(law.sensors):
        if s.noise > 0:
            made[:, k] += s.noise * chance(law.seed, len(y), k)
        if s.resolution > 0:
            made[:, k] = s.resolution * np.floor(made[:, k] / s.resolution + 0.5)
    return made


def stepped(law: SampledLaw, time: Array, y: Array, weights: Array, done: Array | None = None) -> Replayed:
    """The law run over readings (samples, sensors) off what they should be, with weights (samples, parts). Parts are told
    what was `done`, where that is known: a law that is not stable by itself would not stay with a record otherwise."""
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
        forces[k] = np.clip(np.asarray(told), -limit, limit)
        u = forces[k] if done is None else np.where(np.isnan(done[k]), forces[k], done[k])
        estimates.append(_estimated(law, x, row, weights[k]))
        x = np.array([part.A.reshape(n, n) @ x[p] + part.B @ row + part.E @ u for p, part in enumerate(law.parts)]).reshape(
            len(law.parts), n
        )
    known = all(part.estimate is not None for part in law.parts)
    return Replayed(time, y, forces, states, np.array(estimates) if known else None)


def _estimated(law: SampledLaw, x: Array, row: Array, weights: Array) -> Array:
    made: Array = np.zeros(0)
    for p, part in enumerate(law.parts):
        if part.estimate is not None:
            own = weights[p] * (part.estimate.C @ x[p] + part.estimate.D @ row)
            made = own if not made.size else made + own
    return made
