"""A controller written in one line, as in 'pd:kp=1e4,kd=200,sample=1 ms', or kept in a file, put to work on a motion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from supple.errors import SuppleError
from supple.motion.description import Controller, Motion
from supple.motion.laws import SampledLaw, read_law
from supple.robot.quantity import QuantityError, evaluate, parse
from supple.robot.written import seconds

LAWS = ("pd", "pid", "computed_torque")
_WORDS = ("model", "of", "lead")
_GAINS = ("kp", "kd", "ki", "limit")


def controlled(motion: Motion, text: str | SampledLaw) -> Motion:
    """The motion with all actuators that have a path given to a controller written as LAW:key=value,..., or to a law in
    state space, itself or in a file (.json).

    Forces that a result brings along with its path are fed forward."""
    if isinstance(text, SampledLaw) or text.endswith(".json"):
        return under_law(motion, text if isinstance(text, SampledLaw) else read_law(Path(text)))
    law, numbers, words = _law_of(text)
    if motion.path is None:
        raise SuppleError(f"controller: {motion.name!r} has no path for a controller to follow")
    path = motion.path.names if motion.space == "joints" else ()
    actuators = [n for n, drive in motion.drives.items() if drive != "torque" or n in path]

    def each(key: str, usual: float = 0.0) -> dict[str, float]:
        return dict.fromkeys(actuators, numbers.get(key, usual))

    lead = seconds(words.get("lead"), "controller lead")
    made: Controller = Controller(
        law, each("kp"), each("kd"), each("ki"), each("limit", float("inf")), numbers.get("sample", 0.0),  # type: ignore[arg-type]
        numbers.get("delay", 0.0), None, words.get("model", "rigid"), words.get("of"), lead,
    )  # fmt: skip
    drives: Any = {n: "controlled" if n in actuators else "torque" for n in motion.drives}
    return replace(motion, controller=made, drives=drives)


def controller_text(control: Controller) -> str:
    """A joint controller as a motion file has it: {"pd": {"kp": 10000.0, "kd": 200.0}}."""
    made: dict[str, Any] = {key: _short(getattr(control, key)) for key in _GAINS}
    made |= {key: getattr(control, key) or None for key in ("sample", "delay", "of", "lead")}
    made["model"] = control.model if control.model != "rigid" else None
    return json.dumps({control.law: {key: x for key, x in made.items() if x is not None}})


def _short(given: Mapping[str, float]) -> float | dict[str, float] | None:
    """One number if all are alike, None if none is given."""
    told = {n: x for n, x in given.items() if math.isfinite(x) and x != 0}
    alike = len(told) == len(given) and len(set(told.values())) == 1
    return next(iter(told.values())) if alike else told or None


def controller_of(law: SampledLaw) -> Controller:
    """The Controller that is a law in state space."""
    nothing = dict.fromkeys(law.actuators, 0.0)
    limit = dict(zip(law.actuators, law.limit, strict=False))
    return Controller("state_space", nothing, nothing, nothing, limit, law.sample, law.delay, law)


def under_law(motion: Motion, law: SampledLaw) -> Motion:
    """The motion with the actuators of a law given to it; they stay where they are if there is no path."""
    drives: Any = {n: "controlled" if n in law.actuators else drive for n, drive in motion.drives.items()}
    return replace(motion, controller=controller_of(law), drives=drives)


def gains_of(text: str) -> tuple[str, dict[str, float]]:
    """The law of a controller written as LAW:key=value,... and its numbers in SI."""
    law, numbers, words = _law_of(text)
    if words.get("model") == "flexible":
        raise SuppleError(f"controller {text}: a flexible computed_torque foresees a motion; only simulate knows one")
    return law, numbers


def _law_of(text: str) -> tuple[str, dict[str, float], dict[str, str]]:
    """Law, numbers in SI, and the words model, of and lead."""
    law, _, rest = text.partition(":")
    if law not in LAWS:
        raise SuppleError(
            f"controller {text}: there is no law {law!r}; choose pd, pid, computed_torque or a controller file (.json)"
        )
    items = [x.strip() for x in rest.split(",") if x.strip()]
    words = {key: value for key, equals, value in (x.partition("=") for x in items) if equals and key in _WORDS}
    if words and law != "computed_torque":
        raise SuppleError(f"controller {text}: only computed_torque has a model, and leads a point or the platform")
    if words.get("model", "rigid") not in ("rigid", "flexible"):
        raise SuppleError(f"controller {text}: model={words['model']}: must be rigid or flexible")
    if len(words) > ("model" in words) and words.get("model") != "flexible":
        raise SuppleError(f"controller {text}: of= and lead= need model=flexible, which leads a point along its path")
    rest = ",".join(x for x in items if x.partition("=")[0] not in words)
    return law, _gains(text, rest), words


def _gains(text: str, rest: str) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for item in filter(None, (x.strip() for x in rest.split(","))):
        key, equals, value = item.partition("=")
        if key in numbers:
            raise SuppleError(f"controller {text}: {key} is given twice; give it once")
        if not equals or key not in (*_GAINS, "sample", "delay"):
            raise SuppleError(f"controller {text}: {item!r} is not one of kp=, kd=, ki=, limit=, sample=, delay=")
        try:
            numbers[key] = float(evaluate(parse(value), {}).number)
        except (QuantityError, OverflowError) as error:
            raise SuppleError(f"controller {key}={value}: {error}") from error
        if not 0 <= numbers[key] < float("inf") or (key == "limit" and numbers[key] == 0):
            raise SuppleError(f"controller {key}={value}: must be {'above zero' if key == 'limit' else 'zero or more'}")
    if not numbers.get("kp") and not numbers.get("kd"):
        raise SuppleError(f"controller {text}: give gains, as in pd:kp=1e4,kd=200")
    return numbers
