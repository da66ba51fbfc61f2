"""Units of friction, motors and matrices of springs against the joint they belong to: a slider has N s/m, a hinge N m s.

Their fields take the units of both kinds of joint, so that this can only be judged once the joint is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from supple.robot import description as spec
from supple.robot.entries import Entry, entries
from supple.robot.fields import AXES
from supple.robot.joints import joint_of
from supple.robot.quantity import Quantity, QuantityError, Value, evaluate
from supple.robot.reader import Description
from supple.robot.units import DIMENSIONS, NONE
from supple.robot.values import Scope, check_dimension, leg_scope
from supple.robot.yaml_tree import Path_

Fault = tuple[Path_, str]
FRICTION = {
    "rad": {"viscous": "rotational damping", "coulomb": "torque", "width": "rate"},
    "m": {"viscous": "translational damping", "coulomb": "force", "width": "velocity"},
}
SERVO = {"rad": {"stiffness": "rotational stiffness"}, "m": {"stiffness": "translational stiffness"}}
# entries of a spring's matrices: both axes along, one along and one about, both about
MATRICES = {
    "stiffness": ("translational stiffness", "force", "rotational stiffness"),
    "damping": ("translational damping", "impulse", "rotational damping"),
}


def unit_faults(description: Description, units: Mapping[str, str]) -> Iterator[Fault]:
    """Values whose units do not fit their joint, each with its path; `units` of the coordinates are m or rad."""
    for entry in _once(entries(description, "actuators")):
        if entry.name in units:
            yield from _motor(description, entry, units[entry.name])
    for entry in _once(entries(description, "links")):
        written = _written(description, entry)
        kinds = {"m" if motion == "prismatic" else "rad" for motion, _ in joint_of(entry).steps}
        if written.friction is not None and len(kinds) == 1:
            yield from _misfits(description, entry, written.friction, FRICTION[next(iter(kinds))], "friction")
        for k, end in enumerate(written.limits or () if len(kinds) == 1 else ()):
            dimension = "length" if kinds == {"m"} else "angle"
            yield from _misfit(end, dimension, _known(description, entry), (*entry.path, "limits", k))
        yield from _matrices(description, entry, written)
    for entry in _once(entries(description, "closures")):
        yield from _matrices(description, entry, _written(description, entry))


def _once(found: list[Entry]) -> list[Entry]:
    """Entries, those of legs of the first leg only."""
    return list({entry.path: entry for entry in reversed(found)}.values())


def _written(description: Description, entry: Entry) -> Any:
    """The entry with its quantities as the file has them."""
    holder: Any = description.robot.legs[entry.template] if entry.template else description.robot
    return getattr(holder, str(entry.path[-2]))[entry.path[-1]]


def _known(description: Description, entry: Entry) -> Mapping[str, Value]:
    if not entry.template:
        return description.parameters
    return leg_scope(description.robot, entry.template, 0, description.parameters, Scope(description.tree))


def _misfits(description: Description, entry: Entry, part: Any, wanted: Mapping[str, str], *path: str) -> Iterator[Fault]:
    known = _known(description, entry)
    for key, dimension in wanted.items():
        yield from _misfit(getattr(part, key), dimension, known, (*entry.path, *path, key))


def _misfit(quantity: Any, dimension: str, known: Mapping[str, Value], path: Path_) -> Iterator[Fault]:
    if isinstance(quantity, Quantity):
        try:
            check_dimension(evaluate(quantity, known), dimension)
        except QuantityError as problem:
            yield path, str(problem)


def _motor(description: Description, entry: Entry, unit: str) -> Iterator[Fault]:
    """Friction of the motor, and inertia * gear^2, which must make a mass at a slider and an inertia at a hinge."""
    motor: spec.Actuator = _written(description, entry)
    yield from _misfits(description, entry, motor, FRICTION[unit])
    yield from _misfits(description, entry, motor, SERVO[unit])
    known = _known(description, entry)
    inertia, gear = (evaluate(x, known) for x in (motor.inertia, motor.gear))
    unwritten = gear.dimension is None and gear.number != 1  # a bare gear may be any number of rad/m
    if inertia.dimension is None or unwritten:
        return
    made = tuple(x + 2 * y for x, y in zip(inertia.dimension, gear.dimension or NONE, strict=True))
    wanted = "mass" if unit == "m" else "inertia"
    if made != DIMENSIONS[wanted]:
        what = "along which it slides" if unit == "m" else "about which it turns"
        article = "a mass" if unit == "m" else "an inertia"
        yield (*entry.path, "inertia"), f"must make {article} with gear^2, for the joint has an axis {what}"


def _matrices(description: Description, entry: Entry, written: Any) -> Iterator[Fault]:
    """Entries of the matrices of an elastic joint whose axes are known from the file."""
    spring = written.stiffness
    if spring is None or (spring.axes is None and description.robot.space == "planar"):
        return
    axes, known = spring.axes or AXES, _known(description, entry)
    for key, kinds in MATRICES.items():
        part = getattr(written, key)
        for i, row in enumerate(part.matrix if part is not None and part.matrix is not None else ()):
            for j, quantity in enumerate(row):
                kind = kinds[(len(axes[i]) > 1) + (len(axes[j]) > 1)]
                yield from _misfit(quantity, kind, known, (*entry.path, key, "matrix", i, j))
