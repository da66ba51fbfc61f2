"""Laws, filters and sensors written in one line: NAME:key=value,... and NAME,quantity,noise=...,resolution=..."""

from __future__ import annotations

from collections.abc import Collection

from supple.errors import SuppleError
from supple.motion.laws import QUANTITIES, Sensor
from supple.robot.quantity import QuantityError, evaluate, parse


def numbers_of(text: str, what: str, known: Collection[str]) -> tuple[str, dict[str, float]]:
    """The name before the colon, and the numbers behind it in SI."""
    name, _, rest = text.partition(":")
    made: dict[str, float] = {}
    for item in filter(None, (x.strip() for x in rest.split(","))):
        key, equals, value = item.partition("=")
        if not equals or key not in known:
            raise SuppleError(f"{what} {text}: {item!r} is not one of {', '.join(f'{k}=' for k in known)}")
        if key in made:
            raise SuppleError(f"{what} {text}: {key} is given twice; give it once")
        made[key] = number(value, f"{what} {key}={value}")
    return name.strip(), made


def number(text: str, what: str) -> float:
    """A number of zero or more in SI."""
    try:
        made = float(evaluate(parse(text), {}).number)
    except (QuantityError, OverflowError) as error:
        raise SuppleError(f"{what}: {error}") from error
    if not 0 <= made < float("inf"):
        raise SuppleError(f"{what}: must be zero or more")
    return made


def sensor_of(text: str) -> Sensor:
    """A Sensor written as in 'P.x,acceleration,noise=0.01'."""
    words = _parts(text)
    quantity, numbers = "displacement", {"noise": 0.0, "resolution": 0.0}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if equals and key in numbers:
            numbers[key] = number(value, f"sensor {text}: {key}")
        elif not equals and word in QUANTITIES:
            quantity = word
        else:
            raise SuppleError(f"sensor {text}: {word!r} is not one of {', '.join(QUANTITIES)}, noise=, resolution=")
    return Sensor(words[0], quantity, **numbers)


def _parts(text: str) -> list[str]:
    """What commas outside brackets part."""
    made, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            made.append("")
        else:
            made[-1] += c
    return [x.strip() for x in made]
