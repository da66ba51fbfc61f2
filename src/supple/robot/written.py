"""Quantities that a user writes outside robot files: text with a unit, or numbers in SI."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from supple.errors import SuppleError
from supple.robot.mechanism import Mechanism
from supple.robot.quantity import QuantityError, Value, evaluate, parse
from supple.robot.values import check_dimension

Written = str | float | Value
Band = str | tuple[float, float]  # frequencies in Hz, as in '1:600'
_MOST = 1_000_000  # values of one range


def si(written: Written, dimension: str, what: str) -> float:
    """A quantity of a dimension as a number in SI; numbers are taken as they are. `what` names it in complaints."""
    if isinstance(written, (int, float)):
        if not math.isfinite(written):
            raise SuppleError(f"{what}: must be finite")
        return float(written)
    try:
        found = written if isinstance(written, Value) else evaluate(parse(written), {})
        check_dimension(found, dimension)
    except (QuantityError, OverflowError) as error:
        raise SuppleError(f"{what}: {error}") from error
    return float(found.number)


def seconds(written: Written | None, what: str) -> float | None:
    """A time above zero in s, from a number or text such as '1 ms'; None stays None."""
    if written is None:
        return None
    found = si(written, "time", f"{what} {written}")
    if not found > 0:
        raise SuppleError(f"{what} {written}: must be above zero")
    return found


def band_of(written: Band) -> tuple[float, float]:
    """First and last frequency in Hz, from two numbers or text such as '1:600'."""
    try:
        first, last = (float(x) for x in (written.split(":") if isinstance(written, str) else written))
    except (TypeError, ValueError) as error:
        raise SuppleError(f"band {written}: must be FIRST:LAST, in Hz") from error
    if not 0 <= first < last < math.inf:
        raise SuppleError(f"band {first:g}:{last:g} Hz: must go from zero or more to a higher frequency")
    return first, last


def pose_of(mechanism: Mechanism, at: Mapping[str, Written] | None) -> dict[str, float]:
    """A pose in SI; a unit must fit its coordinate."""
    units = {c.name: "length" if c.unit == "m" else "angle" for c in mechanism.coordinates}
    return {name: si(x, units.get(name, "angle or length"), f"at {name}={x}") for name, x in (at or {}).items()}


def values_of(written: str | Sequence[float], dimension: str, what: str) -> tuple[float, ...]:
    """Values in SI from FIRST:LAST:COUNT, from a list separated by commas, or from numbers; units may be given."""
    if not isinstance(written, str):
        return tuple(si(float(x), dimension, what) for x in written)
    if ":" not in written:
        return tuple(si(x.strip(), dimension, f"{what}={written}") for x in written.split(","))
    try:
        first, last, count = written.split(":")
        n = int(count)
    except ValueError:
        raise SuppleError(f"{what}={written}: write FIRST:LAST:COUNT, or values separated by commas") from None
    if not 1 <= n <= _MOST:
        raise SuppleError(f"{what}={written}: the count must be 1 to {_MOST}")
    ends = [si(x.strip(), dimension, f"{what}={written}") for x in (first, last)]
    return tuple(ends[0] + (ends[1] - ends[0]) * k / max(1, n - 1) for k in range(n))
