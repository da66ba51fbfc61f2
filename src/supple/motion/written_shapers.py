"""A shaper written in one line, as in 'zvd:modes=1+2' or 'ei:frequencies=14 Hz+25 Hz,damping=0.01+0.02', put on a motion."""

from __future__ import annotations

import json
from dataclasses import replace

from supple.errors import SuppleError
from supple.motion.description import Motion, Shaper
from supple.motion.shapers import LAWS
from supple.robot.written import si

_KEYS = ("modes", "frequencies", "damping", "tolerance", "width", "length", "poses")


def shaped_by(motion: Motion, text: str) -> Motion:
    """The motion with a shaper written as LAW:key=value,... instead of its own; lists with + between their entries."""
    law, _, rest = text.partition(":")
    if law not in LAWS:
        raise SuppleError(f"shaper {text}: there is no law {law!r}; choose {', '.join(LAWS)}")
    given = _given(text, rest)
    frequencies = _listed(given, "frequencies", "frequency")
    damping = _listed(given, "damping", "number") or (0.0,) * len(frequencies)
    modes = () if frequencies else _modes(given.get("modes", "1"))
    if damping and len(damping) != len(frequencies or modes):
        raise SuppleError(f"shaper {text}: give as many damping ratios as {'frequencies' if frequencies else 'modes'}")
    if any(f <= 0 for f in frequencies) or any(not 0 <= z < 1 for z in damping):
        raise SuppleError(f"shaper {text}: frequencies must be above 0, damping ratios from 0 to below 1")
    tolerance, width = _share(given, "tolerance"), _share(given, "width")
    poses = given.get("poses", "along")
    if poses not in ("along", "start"):
        raise SuppleError(f"shaper {text}: poses={poses}: must be along or start")
    made = Shaper(law, modes, frequencies, damping, tolerance or 0.05, width, _length(given), poses == "along")
    return replace(motion, shaper=made)


def _given(text: str, rest: str) -> dict[str, str]:
    """The keys of a written shaper and what stands behind them."""
    given: dict[str, str] = {}
    for item in filter(None, (x.strip() for x in rest.split(","))):
        key, equals, value = item.partition("=")
        if not equals or key not in _KEYS or key in given:
            raise SuppleError(f"shaper {text}: {item!r} is not one of {', '.join(f'{k}=' for k in _KEYS)}, each given once")
        given[key] = value.strip()
    if "modes" in given and "frequencies" in given:
        raise SuppleError(f"shaper {text}: give modes or frequencies, not both")
    return given


def shaper_text(shaper: Shaper) -> str:
    """A shaper as a motion file has it: {"zvd": {"modes": [1, 2]}}."""
    usual = Shaper(shaper.law, ())
    keys = {k: list(getattr(shaper, k)) for k in ("modes", "frequencies", "damping") if getattr(shaper, k)}
    more = {k: getattr(shaper, k) for k in ("tolerance", "width", "length") if getattr(shaper, k) != getattr(usual, k)}
    return json.dumps({shaper.law: {**keys, **more, **({} if shaper.along else {"poses": "start"})}})


def _listed(given: dict[str, str], key: str, dimension: str) -> tuple[float, ...]:
    return tuple(si(x.strip(), dimension, f"shaper {key}") for x in given.get(key, "").split("+") if x.strip())


def _length(given: dict[str, str]) -> float:
    length = si(given.get("length", "1"), "number", "shaper length")
    if not 0 < length <= 10:
        raise SuppleError(f"shaper length={length:g}: must be above 0, at most 10 periods")
    return length


def _share(given: dict[str, str], key: str) -> float | None:
    if key not in given:
        return None
    value = si(given[key], "number", f"shaper {key}")
    if not 0 < value < 1:
        raise SuppleError(f"shaper {key}={value:g}: must be between 0 and 1")
    return value


def _modes(text: str) -> tuple[int, ...]:
    try:
        made = tuple(int(x) for x in text.split("+"))
    except ValueError as problem:
        raise SuppleError(f"shaper modes={text}: must be numbers of modes, as in modes=1+2") from problem
    if not made or any(not 1 <= k <= 1000 for k in made) or len(set(made)) < len(made):
        raise SuppleError(f"shaper modes={text}: modes are counted from 1, each given once")
    return made
