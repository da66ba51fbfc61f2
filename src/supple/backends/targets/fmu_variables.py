"""What an FMU is made of (`FmuParts`, filled by whoever knows the robot) and the table of its variables.

Names of variables are letters, digits and underscores: SIGNAL_LABEL with the label of the robot file, numbered where
two would be the same. The value reference of a variable is its place in the table, and in the array `value` of robot.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from supple.backends.c_source import Names
from supple.backends.stepping.plant import Plant
from supple.backends.targets.names import element_words, harmless
from supple.expr.function import Function

_NAME = 100  # characters of a variable's name
_AXES = ("x", "y", "z")
_RATE = {"m": "m/s", "rad": "rad/s"}
_ACCELERATION = {"m": "m/s2", "rad": "rad/s2"}


@dataclass(frozen=True)
class FmuQuantity:
    """A number with the name it has in the robot file, its unit, its value at the start, and what it may be."""

    label: str
    unit: str
    start: float
    sign: int = 0  # 0 any number, 1 not below zero, 2 above zero


@dataclass(frozen=True)
class FmuCoordinate:
    """A generalised velocity and its position: name, unit of the position, and what matters of both."""

    label: str
    unit: str  # m or rad
    nominal: float = 1.0  # a displacement that matters
    nominal_rate: float = 1.0
    start: float = 0.0


@dataclass(frozen=True)
class Observed:
    """A position number that is no state: its place in q, its name and unit."""

    label: str
    unit: str
    q: int


@dataclass(frozen=True)
class FmuParts:
    """A robot as an FMU needs it. q, v and a are those of the whole tree; p is in every Function."""

    robot: str
    about: str
    plant: Plant
    points: Function  # q v a g p -> position, velocity, acceleration (points x 3)
    energy: Function  # q v a g p -> kinetic, elastic
    free: tuple[FmuCoordinate, ...]  # in the order of the plant
    dependent: tuple[FmuCoordinate, ...]
    observed: tuple[Observed, ...]
    forces: tuple[FmuQuantity, ...]
    loads: tuple[int, ...]  # places, among forces and moments of all points, of those that act
    gravity: tuple[float, ...]
    parameters: tuple[FmuQuantity, ...]
    point_labels: tuple[str, ...]
    start: tuple[float, ...]  # q at rest, loops closed


@dataclass(frozen=True)
class Variable:
    """One variable of the model description."""

    name: str
    about: str
    unit: str
    causality: str
    variability: str = "continuous"
    initial: str | None = None
    start: float | None = None
    state: int | None = None  # value reference of the state it is the derivative of
    nominal: float | None = None


@dataclass(frozen=True)
class Variables:
    """All variables in the order of their value references, and where each group begins."""

    variables: tuple[Variable, ...]
    first: dict[str, int]

    def references(self, causality: str) -> list[int]:
        return [i for i, x in enumerate(self.variables) if x.causality == causality]

    def derivatives(self) -> list[int]:
        return [i for i, x in enumerate(self.variables) if x.state is not None]


def variables(parts: FmuParts) -> Variables:
    """The variables of an FMU: time, inputs, parameters, states, their derivatives, outputs."""
    names = Names(frozenset(), _NAME)
    made: list[Variable] = [Variable(names.unique("time"), "simulation time", "s", "independent")]
    first: dict[str, int] = {}
    groups: dict[str, Callable[[], Iterator[Variable]]] = {
        "INPUTS": lambda: _inputs(parts),
        "GRAVITY": lambda: _gravity(parts),
        "PARAMETERS": lambda: _parameters(parts),
        "METHOD": _method,
        "STATES": lambda: _states(parts),
        "DERIVATIVES": lambda: _derivatives(parts, first["STATES"]),
        "OUTPUTS": lambda: _outputs(parts),
    }
    for group, found in groups.items():
        first[group] = len(made)
        for x in found():
            made.append(Variable(_named(names, x, made), *[getattr(x, key) for key in _FIELDS]))
    first["VALUES"] = len(made)
    return Variables(tuple(made), first)


_FIELDS = ("about", "unit", "causality", "variability", "initial", "start", "state", "nominal")


def _named(names: Names, x: Variable, made: Sequence[Variable]) -> str:
    """A unique name; that of a derivative is der(STATE)."""
    return f"der({made[x.state].name})" if x.state is not None else names.unique(x.name)


def _words(signal: str, labels: Sequence[str]) -> list[str]:
    return element_words(signal, tuple(labels))


def _inputs(parts: FmuParts) -> Iterator[Variable]:
    for name, x in zip(_words("tau", [x.label for x in parts.forces]), parts.forces, strict=True):
        about = f"force of actuator {harmless(x.label)}"
        yield Variable(name, about, x.unit, "input", start=x.start)
    for place in parts.loads:
        kind, unit = ("force", "N") if place % 6 < 3 else ("moment", "N.m")
        point, axis = place // 6, _AXES[place % 3]
        about = f"{kind} on point {harmless(parts.point_labels[point])} along {axis} of the base"
        yield Variable(f"{_words(kind, parts.point_labels)[point]}_{axis}", about, unit, "input", start=0.0)


def _gravity(parts: FmuParts) -> Iterator[Variable]:
    for axis, value in zip(_AXES, parts.gravity, strict=True):
        yield Variable(f"gravity_{axis}", f"gravity along {axis}", "m/s2", "parameter", "tunable", "exact", value)


def _parameters(parts: FmuParts) -> Iterator[Variable]:
    for name, x in zip(_words("p", [x.label for x in parts.parameters]), parts.parameters, strict=True):
        about = f"parameter {harmless(x.label)}"
        yield Variable(name, about, harmless(x.unit, 24), "parameter", "tunable", "exact", x.start)


def _method() -> Iterator[Variable]:
    about = "integrator of co-simulation: 0 Radau, 1 Gauss, 2 Dormand-Prince, 3 generalised-alpha"
    yield Variable("method", about, "", "parameter", "fixed", "exact", 0.0)


def _states(parts: FmuParts) -> Iterator[Variable]:
    labels = [c.label for c in parts.free]
    for name, c in zip(_words("q", labels), parts.free, strict=True):
        about = f"coordinate {harmless(c.label)}"
        yield Variable(name, about, c.unit, "output", initial="exact", start=c.start, nominal=c.nominal)
    for name, c in zip(_words("v", labels), parts.free, strict=True):
        about = f"rate of {harmless(c.label)}"
        yield Variable(name, about, _RATE[c.unit], "output", initial="exact", start=0.0, nominal=c.nominal_rate)


def _derivatives(parts: FmuParts, states: int) -> Iterator[Variable]:
    n = len(parts.free)
    for i, c in enumerate(parts.free):
        yield Variable("", f"rate of {harmless(c.label)}", _RATE[c.unit], "local", initial="calculated", state=states + i)
    for i, c in enumerate(parts.free):
        about = f"acceleration of {harmless(c.label)}"
        yield Variable("", about, _ACCELERATION[c.unit], "local", initial="calculated", state=states + n + i)


def _outputs(parts: FmuParts) -> Iterator[Variable]:
    for name, x in zip(_words("q", [x.label for x in parts.observed]), parts.observed, strict=True):
        yield _output(name, f"dependent coordinate {harmless(x.label)}", x.unit)
    for name, c in zip(_words("v", [c.label for c in parts.dependent]), parts.dependent, strict=True):
        yield _output(name, f"rate of {harmless(c.label)}", _RATE[c.unit])
    for signal, unit in (("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s2")):
        for name, label in zip(_words(signal, parts.point_labels), parts.point_labels, strict=True):
            for axis in _AXES:
                yield _output(f"{name}_{axis}", f"{signal} of point {harmless(label)} along {axis}", unit)
    yield _output("kinetic_energy", "kinetic energy, motors included", "J")
    yield _output("elastic_energy", "elastic energy", "J")
    yield _output("closure_residual", "largest opening of a loop, m or rad", "")


def _output(name: str, about: str, unit: str) -> Variable:
    return Variable(name, about, unit, "output", initial="calculated")
