"""Values that are allowed but that no robot has: most often a number whose unit was left out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Usual:
    """Where the values of a kind lie (SI), what they are called, and units that a bare number may have been meant in."""

    least: float
    most: float
    called: str
    unit: str
    meant: tuple[tuple[str, float], ...]  # unit, its size in SI
    common: tuple[float, float]  # where a guess should come to lie


# Wide enough for soft rubber, diamond and a study of a nearly rigid robot; a wrong unit misses by a factor of 1000 or more
USUAL_RANGES = {
    "pressure": Usual(1e6, 1e15, "elastic moduli", "Pa", (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)), (1e8, 1e12)),
    "density": Usual(10.0, 3e4, "densities", "kg/m^3", (("g/cm^3", 1e3), ("t/mm^3", 1e12), ("kg/mm^3", 1e9)), (500, 2.5e4)),
    "length": Usual(1e-6, 100.0, "lengths", "m", (("mm", 1e-3), ("um", 1e-6), ("km", 1e3)), (1e-3, 10.0)),
    "acceleration": Usual(1e-3, 100.0, "accelerations of gravity", "m/s^2", (("mm/s^2", 1e-3),), (1.0, 30.0)),
    "angle": Usual(1e-9, 20.0, "angles", "rad", (("deg", 3.141592653589793 / 180),), (1e-3, 7.0)),
    "angle or length": Usual(0.0, 10.0, "joint values", "rad or m", (("deg or mm", 3.141592653589793 / 180),), (1e-3, 20.0)),
    "damping ratio": Usual(1e-9, 1.0, "damping ratios and loss factors", "", (("%", 0.01),), (1e-4, 1.0)),
}


def unusual(number: float, kind: str) -> str | None:
    """What to say of a value that no robot has; None where it is usual, zero, or of a kind that has no usual size."""
    usual = USUAL_RANGES.get(kind)
    size = abs(number)
    if usual is None or size == 0 or usual.least <= size <= usual.most:
        return None
    unit = f" {usual.unit}" if usual.unit else ""
    text = f"is {number:g}{unit}, where {usual.called} lie between {usual.least:g} and {usual.most:g}{unit}"
    low, high = usual.common
    for name, factor in usual.meant:
        if low <= size * factor <= high:
            written = f"{number:g} %, that is {number * factor:g}" if name == "%" else f"{number:g} {name}"
            return f"{text}; did you mean {written}?"
    return f"{text}; is the unit right?"
