"""Designs of a study: values of parameters on a grid, in a Latin hypercube, or scattered about their means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.results.study import Column
from supple.robot.quantity import Value
from supple.robot.units import DIMENSIONS
from supple.robot.written import Written, si, values_of
from supple.studies.places import Places, Range, checked_count
from supple.studies.question import Cases

_UNITS = {
    "number": "1", "length": "m", "area": "m^2", "second moment of area": "m^4", "mass": "kg", "inertia": "kg m^2",
    "density": "kg/m^3", "pressure": "Pa", "acceleration": "m/s^2", "force": "N", "torque": "N m", "time": "s",
    "rate": "1/s", "frequency": "Hz", "velocity": "m/s", "translational stiffness": "N/m", "translational damping": "N s/m",
    "rotational damping": "N m s",
}  # fmt: skip


@dataclass(frozen=True)
class Designs:
    """Values of parameters, by name; in the order of a grid of `shape`, or (scattered) of a list."""

    values: Mapping[str, Array]
    shape: tuple[int, ...]
    scattered: bool = False


def dimension_of(robot: Machine, name: str) -> str:
    """The dimension of a parameter."""
    known: Mapping[str, Value] = robot.description.parameters
    if name not in known:
        raise SuppleError(f"{robot.name} has no parameter {name!r}; it has: {', '.join(known) or 'none'}")
    own = known[name].dimension
    return next((word for word, dims in DIMENSIONS.items() if dims == own), "number") if own is not None else "number"


def unit_of(robot: Machine, name: str) -> str:
    """The SI unit of a parameter."""
    return _UNITS.get(dimension_of(robot, name), "SI")


def grid(robot: Machine, vary: Mapping[str, Range]) -> Designs:
    """All combinations of values, as of FIRST:LAST:COUNT or A,B,C."""
    axes = {n: np.array(values_of(text, dimension_of(robot, n), f"--vary {n}")) for n, text in vary.items()}
    shape = tuple(len(x) for x in axes.values())
    checked_count(shape)
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    return Designs({name: x.ravel() for name, x in zip(axes, mesh, strict=True)}, shape)


def limits(robot: Machine, name: str, written: Range, option: str) -> tuple[float, float]:
    """Least and largest value of FIRST:LAST, or of two numbers."""
    ends = written.split(":") if isinstance(written, str) else list(written)
    if len(ends) != 2:
        raise SuppleError(f"{option} {name}={written}: write FIRST:LAST")
    low, high = (si(_bare(x), dimension_of(robot, name), f"{option} {name}={written}") for x in ends)
    if not low < high:
        raise SuppleError(f"{option} {name}={written}: must go from a value to a larger one")
    return low, high


def _bare(x: str | float) -> Written:
    return x.strip() if isinstance(x, str) else float(x)


def scattered(
    robot: Machine, ranges: Mapping[str, Range], normal: Mapping[str, str], count: int, seed: int
) -> Designs:  # fmt: skip
    """A Latin hypercube of `count` designs: even over the ranges, normally distributed about the means."""
    from scipy.stats import norm, qmc

    if not 2 <= count <= 1_000_000:
        raise SuppleError(f"{count} designs: must be 2 to 1000000")
    both = set(ranges) & set(normal)
    if both:
        raise SuppleError(f"{min(both)} is both varied over a range and normally distributed; give it once")
    shares = qmc.LatinHypercube(d=len(ranges) + len(normal), seed=seed).random(count)
    made = {}
    for k, (name, written) in enumerate(ranges.items()):
        low, high = limits(robot, name, written, "--vary")
        made[name] = low + (high - low) * shares[:, k]
    for k, (name, text) in enumerate(normal.items(), start=len(ranges)):
        mean, deviation = _normal(robot, name, text)
        made[name] = mean + deviation * norm.ppf(shares[:, k])
    return Designs(made, (count,), scattered=True)


def _normal(robot: Machine, name: str, text: str) -> tuple[float, float]:
    """Mean and standard deviation of MEAN:DEVIATION, where the deviation may be in per cent."""
    dimension, what = dimension_of(robot, name), f"--normal {name}={text}"
    parts = text.split(":")
    if len(parts) != 2:
        raise SuppleError(f"{what}: write MEAN:DEVIATION, as in 70GPa:3% or 70GPa:2GPa")
    mean = si(parts[0].strip(), dimension, what)
    wide = parts[1].strip()
    deviation = abs(mean) * si(wide[:-1].strip(), "number", what) / 100 if wide.endswith("%") else si(wide, dimension, what)
    if not deviation > 0:
        raise SuppleError(f"{what}: the deviation must be above zero")
    return mean, deviation


@dataclass(frozen=True)
class Plan:
    """Every design in every pose: cases, what was chosen in them, and the axes of their grid."""

    cases: Cases
    chosen: Mapping[str, Column]
    shape: tuple[int, ...]
    axes: tuple[str, ...]


def plan(robot: Machine, designs: Designs, where: Places) -> Plan:
    """The Plan of designs in poses; poses in a list are numbered by `pose`, designs in a list are no axis."""
    poses, count = where.table, len(next(iter(designs.values.values())))
    checked_count((count, len(poses)))
    units = {c.name: c.unit for c in robot.mechanism().coordinates}
    chosen = {n: Column(unit_of(robot, n), np.repeat(x, len(poses))) for n, x in designs.values.items()}
    axes, shape = tuple(designs.values), designs.shape
    if designs.scattered:
        axes = ("design",)
        chosen = {"design": Column("1", np.repeat(np.arange(1.0, count + 1), len(poses))), **chosen}
    if len(poses) > 1:
        shape, axes = (*shape, *where.shape), (*axes, *(where.axes or ("pose",)))
        if not where.axes:
            chosen["pose"] = Column("1", np.tile(np.arange(1.0, len(poses) + 1), count))
    for name, x in where.chosen.items():
        chosen[name] = Column(units[name], np.tile(x, count))
    p = np.column_stack([np.repeat(x, len(poses)) for x in designs.values.values()])
    return Plan(Cases(np.tile(poses, (count, 1)), p), chosen, shape, axes)
