"""Joint controllers and filters as sampled laws: pd and pid, notch, lead, lag and low pass, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.linalg import block_diag

from supple.control.plants import PosedPlant
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.motion.laws import LawPart

KEYS = {
    "notch": ("frequency", "damping", "depth"),
    "lead": ("frequency", "factor"),
    "lag": ("frequency", "factor"),
    "lowpass": ("frequency", "damping"),
    "highpass": ("frequency",),
}
_USUAL = {"damping": 0.7, "depth": 0.1, "factor": 3.0}


@dataclass(frozen=True)
class System:
    """x+ = A x + B y, u = C x + D y."""

    A: Array
    B: Array
    C: Array
    D: Array


def static(D: Array) -> System:
    """u = D y."""
    r, m = D.shape
    return System(np.zeros((0, 0)), np.zeros((0, m)), np.zeros((r, 0)), D)


def series(first: System, second: System) -> System:
    """The second system behind the first."""
    n, k = len(first.A), len(second.A)
    A = np.block([[first.A, np.zeros((n, k))], [second.B @ first.C, second.A]])
    B = np.vstack([first.B, second.B @ first.D])
    return System(A, B, np.hstack([second.D @ first.C, second.C]), second.D @ first.D)


def beside(first: System, second: System) -> System:
    """Two systems that know nothing of each other."""
    return System(*(block_diag(getattr(first, k), getattr(second, k)) for k in "ABCD"))


def filter_of(name: str, numbers: Mapping[str, float], sample: float) -> System:
    """A filter of one signal, sampled by Tustin's rule so that its own frequency stays where it is."""
    if name not in KEYS:
        raise SuppleError(f"there is no filter {name!r}; choose {', '.join(KEYS)}")
    unknown = [k for k in numbers if k not in KEYS[name]]
    if unknown or "frequency" not in numbers:
        raise SuppleError(f"filter {name}: takes {', '.join(f'{k}=' for k in KEYS[name])}, frequency always")
    f = numbers["frequency"]
    if not 0 < f < 0.5 / sample:
        raise SuppleError(f"filter {name}: {f:g} Hz is not between zero and half the sampling rate, {0.5 / sample:g} Hz")
    x = {k: numbers.get(k, _USUAL.get(k, 0.0)) for k in KEYS[name]}
    if any(not v > 0 for v in x.values()):
        raise SuppleError(f"filter {name}: numbers must be above zero")
    return _tustin(*_analogue(name, x), 2 * np.pi * f, sample)


def _analogue(name: str, x: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """Numerator and denominator in s over the filter's own frequency, highest power first."""
    if name == "notch":
        return [1.0, 2 * x["damping"] * x["depth"], 1.0], [1.0, 2 * x["damping"], 1.0]
    if name == "lowpass":
        return [1.0], [1.0, 2 * x["damping"], 1.0]
    if name == "highpass":
        return [1.0, 0.0], [1.0, 1.0]
    root = np.sqrt(x["factor"])  # gain one at rest, most phase at the frequency
    return ([root, 1.0], [1 / root, 1.0]) if name == "lead" else ([1 / root, 1.0], [root, 1.0])


def _tustin(num: Sequence[float], den: Sequence[float], omega: float, sample: float) -> System:
    """s / omega = (z - 1) / (z + 1) / tan(omega T / 2), in observable form."""
    c, n = 1.0 / np.tan(0.5 * omega * sample), len(den) - 1

    def sampled(p: Sequence[float]) -> Array:
        whole = np.zeros(n + 1)
        for power, factor in enumerate(reversed(p)):
            term: Array = np.ones(1)
            for k in range(n):
                term = np.polymul(term, np.array([c, -c] if k < power else [1.0, 1.0]))
            whole += factor * term
        return whole

    b, a = sampled(num), sampled(den)
    return _of_polynomials(b / a[0], a / a[0])


def _of_polynomials(b: Array, a: Array) -> System:
    """b(z) / a(z), a monic and of the same length, in observable form."""
    n = len(a) - 1
    A = np.zeros((n, n))
    A[:, 0] = -a[1:]
    A[:-1, 1:] = np.eye(n - 1)
    B = (b[1:] - a[1:] * b[0])[:, None]
    return System(A, B, np.eye(n)[:1], np.array([[b[0]]]))


def joint_law(
    plant: PosedPlant, gains: Mapping[str, float], filters: Sequence[System], sample: float, lowpass: float | None
) -> LawPart:
    """u = -(kp y + kd y' + ki int y) through the filters, joint by joint. y' is read where there is a sensor of it, else the
    difference of two samples, smoothed below `lowpass` (Hz)."""
    sensors = [(s.of, s.quantity) for s in plant.ask.sensors]
    wired, systems = [], []
    for name in plant.ask.actuators:
        if (f"q.{name}", "displacement") not in sensors:
            raise SuppleError(f"a pd or pid needs the sensor q.{name}")
        place = sensors.index((f"q.{name}", "displacement"))
        own = (f"q.{name}", "velocity")
        rate = sensors.index(own) if own in sensors else None
        wired.append([place] if rate is None else [place, rate])
        systems.append(reduce(series, filters, _joint(gains, sample, rate is not None, lowpass)))
    whole = reduce(beside, systems)
    chosen = np.zeros((sum(len(w) for w in wired), len(sensors)))
    for k, place in enumerate(p for w in wired for p in w):
        chosen[k, place] = 1.0
    r = len(plant.ask.actuators) + len(plant.ask.pushes)
    C, D = (np.vstack([x, np.zeros((r - len(x), x.shape[1]))]) for x in (whole.C, whole.D @ chosen))
    return LawPart(plant.at, whole.A, whole.B @ chosen, np.zeros((len(whole.A), r)), C, D)


def _joint(gains: Mapping[str, float], sample: float, has_rate: bool, lowpass: float | None) -> System:
    """The force of one joint from its reading, or from reading and rate."""
    kp, kd, ki = (gains.get(k, 0.0) for k in ("kp", "kd", "ki"))
    made = static(np.array([[-kp, -kd] if has_rate else [-kp]]))
    if kd and not has_rate:
        a = np.exp(-2 * np.pi * lowpass * sample) if lowpass else 0.0
        rate = _of_polynomials(np.array([1.0, -1.0]) * (1 - a) / sample, np.array([1.0, -a]))
        made = _sum(made, series(rate, static(np.array([[-kd]]))))
    if ki:
        integral = System(np.eye(1), np.array([[sample, 0.0][: made.D.shape[1]]]), np.array([[-ki]]), 0 * made.D)
        made = _sum(made, integral)
    return made


def _sum(first: System, second: System) -> System:
    """Both systems on the same readings, their forces added."""
    return System(
        block_diag(first.A, second.A), np.vstack([first.B, second.B]), np.hstack([first.C, second.C]), first.D + second.D
    )
