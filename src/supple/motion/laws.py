"""`SampledLaw`: a sampled controller in state space, and the files that hold one.

At every sample, y being what sensors read off what they should read, u forces of actuators and pushes, after their limits:

    u = sum_p w_p (C_p x_p + D_p y),    x_p <- A_p x_p + B_p y + E_p u

Each part p is a law for one pose; between poses they are weighted by how near each is (`weights`), every part being told
what was done in fact.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.yaml_tree import printable

FORM = "supple controller 1"
QUANTITIES = ("displacement", "velocity", "acceleration")
_BYTES = 20_000_000  # of a file
MOST_STATES, MOST_SENSORS, MOST_PUSHES = 512, 64, 8
MOST_WAITING = 60  # samples of a delay
_MATRICES = ("A", "B", "E", "C", "D")


@dataclass(frozen=True)
class Sensor:
    """What is read: an output as of `supple linear` and its derivative, with normal noise (standard deviation) and the step
    of what is told (0: none), both in SI."""

    of: str
    quantity: str = "displacement"
    noise: float = 0.0
    resolution: float = 0.0

    @property
    def name(self) -> str:
        return self.of if self.quantity == "displacement" else f"{self.quantity} of {self.of}"

    @property
    def variance(self) -> float:
        """Of noise, and of rounding: noise of half a step shakes it evenly across the step; else its error stays while
        nothing moves, so it counts as a whole step."""
        shaken = self.noise >= 0.5 * self.resolution
        return self.noise**2 + self.resolution**2 / (12 if shaken else 1)


@dataclass(frozen=True)
class Estimate:
    """What the law knows: C x + D y after a sample's readings are estimates of the named outputs, with this covariance by
    the noise that the design was told."""

    names: tuple[str, ...]
    C: Array
    D: Array
    covariance: Array

    @property
    def sigma(self) -> Array:
        """Standard deviations."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))


@dataclass(frozen=True)
class LawPart:
    """Matrices of one part, and the pose (actuators) it was made for."""

    at: Mapping[str, float]
    A: Array
    B: Array
    E: Array
    C: Array
    D: Array
    estimate: Estimate | None = None

    def scaled(self, gain: float) -> LawPart:
        """Forces times `gain`, of which the part itself is not told."""
        return replace(self, C=gain * self.C, D=gain * self.D, E=self.E / gain)


@dataclass(frozen=True)
class SampledLaw:
    """A law with its sensors, actuators and pushes (loads at points), sampling time and delay (s).

    limit, noise: of every actuator and push, the largest force (inf: none) and the standard deviation of forces that nobody
    asked for. hold: forces that hold the robot still along the path are added. seed: of all noise."""

    robot: str
    about: str
    sensors: tuple[Sensor, ...]
    actuators: tuple[str, ...]
    pushes: tuple[str, ...]
    sample: float
    delay: float
    parts: tuple[LawPart, ...]
    limit: tuple[float, ...]
    noise: tuple[float, ...]
    hold: bool = True
    seed: int = 1

    @property
    def states(self) -> int:
        """Of each part."""
        return len(self.parts[0].A)

    def scaled(self, gain: float) -> SampledLaw:
        """The law with forces times `gain`, of which its observers are not told."""
        return replace(self, parts=tuple(part.scaled(gain) for part in self.parts))

    def weights(self, names: Sequence[str], values: Array) -> Array:
        """Weights (n, parts) of the parts at poses (n, names) of the actuators: one over the squared distance to the pose of
        each, distances by the spread of these poses; together one."""
        if len(self.parts) == 1:
            return np.ones((len(values), 1))
        known = [n for n in self.parts[0].at if n in names]
        places = np.array([[part.at[n] for n in known] for part in self.parts])
        spread = np.ptp(places, axis=0)
        own, places = values[:, [list(names).index(n) for n in known]][:, spread > 0], places[:, spread > 0]
        far = (((own[:, None] - places[None]) / spread[spread > 0]) ** 2).sum(axis=2)
        near = 1.0 / np.maximum(far, 1e-12)
        made: Array = near / near.sum(axis=1, keepdims=True)
        return made


# Files -----------------------------------------------------------------------------------------------------------------


def law_text(law: SampledLaw) -> str:
    """The law as JSON."""
    parts = []
    for part in law.parts:
        own: dict[str, Any] = {"at": dict(part.at), **{k: getattr(part, k).tolist() for k in _MATRICES}}
        e = part.estimate
        if e is not None:
            own["estimate"] = {"names": e.names, "C": e.C.tolist(), "D": e.D.tolist(), "covariance": e.covariance.tolist()}
        parts.append(own)
    made = {
        "form": FORM, "robot": law.robot, "about": law.about, "sample": law.sample, "delay": law.delay, "hold": law.hold,
        "seed": law.seed, "actuators": law.actuators, "pushes": law.pushes,
        "limit": [x if math.isfinite(x) else None for x in law.limit], "noise": law.noise,
        "sensors": [vars(s) for s in law.sensors], "parts": parts,
    }  # fmt: skip
    return json.dumps(made, indent=1)


def read_law(file: Path) -> SampledLaw:
    """The law that a file holds; complaints name the file and what is wrong."""
    try:
        if not file.is_file():
            raise SuppleError(f"controller {file}: there is no such file")
        if file.stat().st_size > _BYTES:
            raise SuppleError(f"controller {file}: is larger than {_BYTES // 1_000_000} MB")
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise SuppleError(f"controller {file}: cannot be read: {printable(str(problem), 200)}") from problem
    if not isinstance(data, dict) or data.get("form") != FORM:
        raise SuppleError(f"controller {file}: is not a controller written by supple control")
    try:
        return checked(_law(data))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        told = f"{type(problem).__name__} {printable(str(problem), 200)}"
        raise SuppleError(f"controller {file}: is damaged: {told}") from problem
    except SuppleError as problem:
        raise SuppleError(f"controller {file}: {printable(str(problem), 300)}") from problem


def _law(data: dict[str, Any]) -> SampledLaw:
    def words(key: str) -> tuple[str, ...]:
        found = data[key]
        if not isinstance(found, list) or not all(isinstance(x, str) for x in found):
            raise SuppleError(f"{key} must be names")
        return tuple(found)

    sensors = tuple(
        Sensor(str(s["of"]), str(s["quantity"]), float(s["noise"]), float(s["resolution"])) for s in data["sensors"]
    )
    limit = tuple(math.inf if x is None else float(x) for x in data["limit"])
    return SampledLaw(
        str(data["robot"]), str(data["about"]), sensors, words("actuators"), words("pushes"), float(data["sample"]),
        float(data["delay"]), tuple(_part(x) for x in data["parts"]), limit, tuple(float(x) for x in data["noise"]),
        bool(data["hold"]), int(data["seed"]),
    )  # fmt: skip


def _part(data: dict[str, Any]) -> LawPart:
    matrices = {k: _matrix(data[k]) for k in _MATRICES}
    at = {str(k): float(x) for k, x in data["at"].items()}
    e = data.get("estimate")
    found = None
    if e is not None:
        names = tuple(str(x) for x in e["names"])
        found = Estimate(names, _matrix(e["C"]), _matrix(e["D"]), _matrix(e["covariance"]))
    return LawPart(at, **matrices, estimate=found)


def _matrix(rows: Any) -> Array:
    made = np.array(rows, dtype=float)
    if made.ndim != 2 and made.size:
        raise ValueError("a matrix is rows of numbers")
    return made if made.ndim == 2 else np.zeros((len(made), 0))


def checked(law: SampledLaw) -> SampledLaw:
    """The law, if its parts fit together and its numbers are finite."""
    if not law.parts:
        raise SuppleError("there is no part in it")
    n, m, r = law.states, len(law.sensors), len(law.actuators) + len(law.pushes)
    for part in law.parts:
        _check_part(part, n, m, r)
        if part.at.keys() != law.parts[0].at.keys():
            raise SuppleError("the poses of its parts must be finite numbers of the same names")
    if len({*law.actuators, *law.pushes}) != r or not 0 <= law.seed < 2**63:
        raise SuppleError("an actuator or push stands twice in it, or its seed is out of range")
    if not 0 < law.sample < math.inf or not 0 <= law.delay < math.inf:
        raise SuppleError("the sample time must be above zero and the delay not below")
    if len(law.limit) != r or len(law.noise) != r or not all(_fits(*x) for x in zip(law.limit, law.noise, strict=True)):
        raise SuppleError("every actuator and push needs a limit above zero and a noise not below")
    for s in law.sensors:
        if s.quantity not in QUANTITIES or not (0 <= s.noise < math.inf and 0 <= s.resolution < math.inf):
            raise SuppleError(f"sensor {s.of}: quantity, noise or resolution is wrong")
    counts = (n * len(law.parts), m, len(law.pushes))
    if any(x > most for x, most in zip(counts, (MOST_STATES, MOST_SENSORS, MOST_PUSHES), strict=True)) or m < 1:
        raise SuppleError(
            f"{n} states in {len(law.parts)} parts, {m} sensors, {len(law.pushes)} pushes: there may be {MOST_STATES} "
            f"states in all, 1 to {MOST_SENSORS} sensors, {MOST_PUSHES} pushes; keep fewer modes or poses"
        )
    return law


def _check_part(part: LawPart, n: int, m: int, r: int) -> None:
    _check_shapes(part, {"A": (n, n), "B": (n, m), "E": (n, r), "C": (r, n), "D": (r, m)})
    if part.estimate is not None:
        _check_shapes(part.estimate, {"C": (k := len(part.estimate.names), n), "D": (k, m), "covariance": (k, k)})
    if not all(map(math.isfinite, part.at.values())):
        raise SuppleError("the poses of its parts must be finite numbers of the same names")


def _fits(limit: float, noise: float) -> bool:
    return limit > 0 and 0 <= noise < math.inf


def _check_shapes(part: LawPart | Estimate, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for key, shape in shapes.items():
        own = getattr(part, key)
        if not (own.size == 0 and 0 in shape) and (own.shape != shape or not np.isfinite(own).all()):
            raise SuppleError(f"{key} must be {' x '.join(map(str, shape))} finite numbers")
