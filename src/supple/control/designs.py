"""Laws by name: lqg, poles, pd and pid, each from a plant in a pose to the part of a law made for that pose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from supple.control.filters import KEYS, filter_of, joint_law
from supple.control.optimal import Noise, held_out_noise, observed_law, placed_gain, quadratic_gain, slowest_sample, stated
from supple.control.plants import PosedPlant, SampledPlant, kept_modes, reduced, sampled
from supple.control.written import numbers_of
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.motion.laws import MOST_WAITING, LawPart

_TIMES = ("sample", "delay", "limit")
_FILTER = ("modes", "disturbance", "load", "drift")
_LAWS: Mapping[str, tuple[str, ...]] = {
    "lqg": ("effort", "deviation", "turn", *_FILTER, *_TIMES),
    "poles": ("damping", "bandwidth", *_FILTER, *_TIMES),
    "pd": ("kp", "kd", "lowpass", *_TIMES),
    "pid": ("kp", "kd", "ki", "lowpass", *_TIMES),
}


@dataclass(frozen=True)
class Wishes:
    """A law as asked for: its name, its numbers in SI, filters behind it, sampling time, delay and limit of every force."""

    text: str
    law: str
    numbers: Mapping[str, float]
    filters: tuple[str, ...]
    sample: float
    delay: float
    limit: float


def wishes_of(text: str, filters: Sequence[str]) -> Wishes:
    """The Wishes of a law written as LAW:key=value,..."""
    name = text.partition(":")[0]
    if name not in _LAWS:
        raise SuppleError(f"law {text}: there is no law {name!r}; choose {', '.join(_LAWS)}, or a file (.json)")
    _, x = numbers_of(text, "law", _LAWS[name])
    if not x.get("sample"):
        raise SuppleError(f"law {text}: needs a sample time, as in {name}:...,sample=1 ms")
    if x.get("delay", 0.0) > MOST_WAITING * x["sample"]:
        raise SuppleError(f"law {text}: the delay is more than {MOST_WAITING} samples")
    if filters and name in ("lqg", "poles"):
        raise SuppleError(f"filters stand behind pd and pid; {name} makes its own")
    if name in ("pd", "pid") and not x.get("kp") and not x.get("kd"):
        raise SuppleError(f"law {text}: give gains, as in {name}:kp=1e4,kd=200,sample=1 ms")
    if "limit" in x and not x["limit"]:
        raise SuppleError(f"law {text}: limit must be above zero")
    shown = text + "".join(f" + {f}" for f in filters)
    return Wishes(shown, name, x, tuple(filters), x["sample"], x.get("delay", 0.0), x.get("limit", float("inf")))


def designed(plant: PosedPlant, wishes: Wishes) -> LawPart:
    """The part of the law that is made for the pose of a plant."""
    if wishes.law in ("pd", "pid"):
        return _joints(plant, wishes)
    return _observed(plant, wishes)


def _joints(plant: PosedPlant, wishes: Wishes) -> LawPart:
    keys = tuple(dict.fromkeys(k for known in KEYS.values() for k in known))
    filters = [filter_of(*numbers_of(f, "filter", keys), wishes.sample) for f in wishes.filters]
    return joint_law(plant, wishes.numbers, filters, wishes.sample, wishes.numbers.get("lowpass"))


def _observed(plant: PosedPlant, wishes: Wishes) -> LawPart:
    """State feedback of a Kalman filter on the modes that are kept."""
    x = wishes.numbers
    count = x.get("modes")
    if count is not None and count != int(count):
        raise SuppleError(f"modes={count:g}: must be a whole number")
    kept = kept_modes(plant, None if count is None else int(count), wishes.sample)
    few = reduced(plant, kept)
    longest = slowest_sample(few)
    if wishes.sample > longest:
        raise SuppleError(
            f"sample={wishes.sample:g} s: a law on modes up to {few.frequencies_hz.max():.4g} Hz needs samples of at most "
            f"{longest:.3g} s; sample faster or keep fewer modes"
        )
    made = sampled(few, wishes.sample, wishes.delay)
    force = x.get("disturbance", 1.0)
    if not force > 0:
        raise SuppleError("disturbance must be above zero: a filter that expects none would not listen to its sensors")
    load = x.get("load", 0.0)
    rest = held_out_noise(plant, kept, wishes.sample, wishes.delay, force, load)
    noise = Noise(force, x.get("drift", 0.0), load, _sensor_noise(few), rest)
    part = observed_law(few, made, _GAINS[wishes.law](few, made, x), noise)
    return stated(sampled(plant, wishes.sample, wishes.delay), part, noise)


def _sensor_noise(plant: PosedPlant) -> Array:
    made = np.sqrt([s.variance for s in plant.ask.sensors])
    if not made.all():
        name = plant.ask.sensors[int(np.argmin(made))].name
        raise SuppleError(f"sensor {name}: a Kalman filter needs its noise or resolution, as in '{name},resolution=1e-6'")
    return np.asarray(made)


def _quadratic(plant: PosedPlant, made: SampledPlant, x: Mapping[str, float]) -> Array:
    deviation = x.get("deviation", 1e-4)
    sizes = {"m": deviation, "rad": x.get("turn", deviation)}
    effort = x.get("effort", 0.0)
    if not effort > 0 or not min(sizes.values()) > 0:
        raise SuppleError("lqg: give what a deviation is worth, as in lqg:effort=100,deviation=1e-4,sample=1 ms")
    return quadratic_gain(made, np.array([sizes[u] for u in plant.watched_units]), np.full(made.B.shape[1], effort))


def _placed(plant: PosedPlant, made: SampledPlant, x: Mapping[str, float]) -> Array:
    damping, bandwidth = x.get("damping", 0.0), x.get("bandwidth", 0.0)
    if not 0 < damping < 1 or not bandwidth > 0:
        raise SuppleError("poles: give damping below one and bandwidth, as in poles:damping=0.2,bandwidth=5,sample=1 ms")
    return placed_gain(plant, made, damping, bandwidth)


_GAINS: Mapping[str, Callable[[PosedPlant, SampledPlant, Mapping[str, float]], Array]] = {
    "lqg": _quadratic,
    "poles": _placed,
}
