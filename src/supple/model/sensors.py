"""What sensors read of a robot in motion: one Function of q, v, a for simulations, rows for its linear models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.backends.tape import Tape
from supple.errors import SuppleError
from supple.expr.function import Function, function
from supple.expr.node import Scalar, add, mul
from supple.expr.vector import matvec, zeros
from supple.formulations.tree.strain import strain
from supple.model.algebra import Array
from supple.model.model import Model
from supple.model.ports import MOVED, PUSHED, inputs_of, outputs_of
from supple.motion.laws import QUANTITIES, Sensor
from supple.robot.mechanism import Frame

_OWN = re.compile(r"^body\((.+?)\)\.(\w+)$")
_GAUGE = re.compile(r"^(?:strain|force)\((.+?)\)\.\w+$")
_PAIR = re.compile(r"^pair\(([^,()]+),([^,()]+)\)\.(\w+)$")
_POINT_OUTPUTS = ("position", "velocity", "acceleration")


def single(model: Model, q: Array, sensors: Sequence[Sensor]) -> tuple[Sensor, ...]:
    """Sensors of one number each: a name that stands for several is as many sensors."""
    made = []
    for s in sensors:
        for name in outputs_of(model, q, [s.of]).names:
            _check(model, name, s.quantity)
            made.append(Sensor(name, s.quantity, s.noise, s.resolution))
    names = [s.name for s in made]
    for name in names:
        if names.count(name) > 1:
            raise SuppleError(f"sensor {name!r} is given twice; give it once")
    return tuple(made)


def _check(model: Model, name: str, quantity: str) -> None:
    if quantity not in QUANTITIES:
        raise SuppleError(f"sensor {name}: there is no quantity {quantity!r}; choose {', '.join(QUANTITIES)}")
    if name.startswith("q.") or _GAUGE.match(name):
        if quantity != "displacement" and not name.startswith("q."):
            raise SuppleError(f"sensor {name}: gauges tell strains and forces, not their rates")
        return
    turns = name.rpartition(".")[2] in MOVED[3:]
    if turns and quantity != "velocity":
        raise SuppleError(f"sensor {name}: rotation of a point is measured as its velocity (a gyroscope)")
    if _OWN.match(name) and quantity == "displacement":
        raise SuppleError(f"sensor {name}: own axes are for velocities and accelerations; leave body() out")


def sensed(model: Model, sensors: Sequence[Sensor]) -> Tape:
    """y of the sensors from q, v, a and g; accelerations are those of motion, gravity taken off."""
    what = "|".join(f"{s.quantity} {s.of}" for s in sensors)
    return model.own(f"sensed {what}", lambda: _function(model, sensors))


def _function(model: Model, sensors: Sequence[Sensor]) -> Function:
    points = model.equations.points
    inputs = {k: points.inputs[k] for k in ("q", "v", "a", "g")}
    return function("sensed", inputs, {"y": [_reading(model, points, s) for s in sensors]})


def _reading(model: Model, points: Function, s: Sensor) -> Scalar:
    """One sensor's reading as an expression."""
    order = QUANTITIES.index(s.quantity)
    if s.of.startswith("q."):
        i = model.index(s.of.removeprefix("q."))
        made: Scalar = points.inputs[("q", "v", "a")[order]][_place(model, i) if order == 0 else i]
        return made
    gauge = _GAUGE.match(s.of)
    if gauge:
        return _gauge(model, points.inputs["q"], s.of, gauge[1])
    own = _OWN.match(s.of)
    point, part = (own[1], own[2]) if own else tuple(s.of.rsplit(".", 1))
    k, axis = list(model.mechanism.points).index(point), MOVED.index(part)
    vector = points.outputs["spin" if axis > 2 else _POINT_OUTPUTS[order]][k]
    if own:
        vector = matvec(points.outputs["rotation"][k].T, vector)
    found: Scalar = vector[axis % 3]
    return found


def _frame_of(model: Model, i: int) -> Frame:
    return next(f for f in model.mechanism.frames if f.v.start <= i < f.v.stop)


def _place(model: Model, i: int) -> int:
    """Where the i-th coordinate of v, a simple joint's, is in q."""
    frame = _frame_of(model, i)
    return int(frame.q.start + i - frame.v.start)


def _gauge(model: Model, q: Array, name: str, link: str) -> Scalar:
    """A gauge is linear in the strain coordinates of its beam, whose row is that of the straight beam."""
    frame = next(f for f in model.mechanism.frames if f.link == link and f.body.fibres is not None)
    straight = np.zeros(model.mechanism.nq)
    for f in model.mechanism.frames:
        if f.motion == "spherical":
            straight[f.q] = (1.0, 0.0, 0.0, 0.0)
    row = outputs_of(model, straight, [name]).rows[0][frame.ev]
    own: Any = q[frame.e]
    x = strain(frame.body, own, zeros(len(own))).x
    total: Scalar = 0
    for k, factor in enumerate(row):
        if factor:
            total = add(total, mul(float(factor), x[k]))
    return total


def reading(model: Model, sensors: Sequence[Sensor], q: Array, v: Array | None = None, a: Array | None = None) -> Array:
    """What the sensors read, without noise; leading axes as of q."""
    still = np.zeros((*q.shape[:-1], model.nv))
    found = sensed(model, sensors)(
        q=q, v=still if v is None else v, a=still if a is None else a, g=model.gravity,
    )["y"]  # fmt: skip
    return found


def forces_of(model: Model, q: Array, actuators: Sequence[str], pushes: Sequence[str]) -> tuple[tuple[str, ...], Array]:
    """Units and columns (nv, n) of actuators and pushes: loads at points, and pair(A,B).mz, which pushes B one way and A the
    other."""
    units: list[str] = []
    columns = []
    for name in actuators:
        found = inputs_of(model, q, [f"tau.{name}"])
        units.append(found.units[0])
        columns.append(found.rows[0])
    for name in pushes:
        total = np.zeros(model.nv)
        unit = ""
        for sign, load in _loads(name):
            found = inputs_of(model, q, [load])
            if len(found.names) != 1:
                raise SuppleError(f"push {name!r}: name one component, as in {load}.fx")
            unit, total = found.units[0], total + sign * found.rows[0]
        units.append(unit)
        columns.append(total)
    return tuple(units), np.array(columns).T


def pushed_wrenches(model: Model, pushes: Sequence[str]) -> Array:
    """Wrenches at the named points (6 times points, pushes) of unit pushes."""
    names = list(model.mechanism.points)
    made = np.zeros((6 * len(names), len(pushes)))
    for k, name in enumerate(pushes):
        for sign, load in _loads(name):
            point, part = load.rsplit(".", 1)
            made[6 * names.index(point) + PUSHED.index(part), k] += sign
    return made


def _loads(name: str) -> list[tuple[float, str]]:
    """The loads that a push is made of."""
    pair = _PAIR.match(name)
    if pair:
        return [(1.0, f"{pair[2].strip()}.{pair[3]}"), (-1.0, f"{pair[1].strip()}.{pair[3]}")]
    if name.rpartition(".")[2] not in PUSHED or "(" in name:
        raise SuppleError(f"push {name!r}: write POINT.fx ... POINT.mz, or pair(POINT,POINT).mz")
    return [(1.0, name)]
