"""Free parameters of a robot: what its equations have as their inputs p, and how those follow from the parameters' values.

Most parameters stay symbols from the robot file to the equations, and p are their values. Some bodies exist as numbers
only: plates, meshes, reductions, the torsion of a rectangle. Then the *records* of the mechanism become the inputs: all
numbers in it that the parameters change, computed by assembling the robot once for every set of values.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from supple.core.kept_records import kept_numbers, record_question
from supple.errors import RobotFileError, SuppleError
from supple.expr.function import Array as Symbols
from supple.expr.function import parameters
from supple.formulations import registry
from supple.formulations.record import Equations
from supple.machine import USUAL, Machine
from supple.model.algebra import Array
from supple.robot.mechanism import Mechanism

_PROBES = (1.0 + 2.0**-7, 1.0 - 2.0**-9)  # times its value: where a parameter is looked at for what it changes
_STEP = 2.0**-10  # of a parameter's value, for derivatives of records


class FreeParameters(Protocol):
    """Equations with inputs p, and p for values of the parameters."""

    @property
    def exact(self) -> bool: ...

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def equations(self) -> Equations: ...

    @property
    def symbols(self) -> Symbols: ...

    def inputs(self, values: Array) -> Array:
        """p (n, size) for values (n, parameters)."""
        ...

    def tangents(self, values: Array) -> Array:
        """d p / d parameter (parameters, size) at one set of values."""
        ...


def free_parameters(robot: Machine) -> FreeParameters:
    """The FreeParameters of the parameters that a robot keeps."""
    try:
        robot.mechanism()
        return _Symbolic(robot)
    except RobotFileError as reason:
        if not robot.keep:
            raise
        return _Records(robot, str(reason))


@dataclasses.dataclass(frozen=True)
class _Symbolic:
    robot: Machine
    exact: bool = True

    @property
    def mechanism(self) -> Mechanism:
        return self.robot.mechanism()

    @property
    def equations(self) -> Equations:
        return self.robot.equations()

    @property
    def symbols(self) -> Symbols:
        return self.robot.symbols

    def inputs(self, values: Array) -> Array:
        return values

    def tangents(self, values: Array) -> Array:
        return np.eye(values.size)


class _Records:
    exact = False

    def __init__(self, robot: Machine, reason: str) -> None:
        self.robot, self.reason = robot, reason
        self.plain = robot.keeping(())
        self._known: dict[bytes, Array] = {}
        self._question = record_question(robot)

    def _numbers_at(self, values: Array) -> Array:
        """All numbers of the mechanism for values of the parameters."""
        return _numbers(self.plain.changed(dict(zip(self.robot.keep, values.tolist(), strict=True))).mechanism())

    def _kept_numbers(self, values: Array) -> Array:
        return kept_numbers(self._question, "all", values, lambda: self._numbers_at(values))

    @cached_property
    def _leaves(self) -> list[Array]:
        """All numbers of the mechanism at home, and where every parameter is probed."""
        home = np.array(self.robot.values)
        made = [self._kept_numbers(home)]
        for k, name in enumerate(self.robot.keep):
            for probe in _PROBES:
                moved = home.copy()
                moved[k] = home[k] * probe if home[k] else probe - 1.0
                try:
                    found = self._kept_numbers(moved)
                except RobotFileError:
                    raise SuppleError(_structural(self.robot, name)) from None
                if found.shape != made[0].shape:
                    raise SuppleError(_structural(self.robot, name))
                made.append(found)
        return made

    @cached_property
    def _slots(self) -> tuple[Any, Any]:
        """For every number of the mechanism its place in p (-1: it does not change), and a number for every place."""
        table = np.array(self._leaves)
        changes = ~(table == table[:1]).all(axis=0)
        places = np.full(table.shape[1], -1)
        keys, first, inverse = np.unique(table[:, changes], axis=1, return_index=True, return_inverse=True)
        del keys
        places[changes] = inverse.ravel()
        return places, np.flatnonzero(changes)[first]

    @cached_property
    def symbols(self) -> Symbols:
        return parameters([f"record{k}" for k in range(len(self._slots[1]))])

    @cached_property
    def mechanism(self) -> Mechanism:
        places = iter(self._slots[0].tolist())
        made: Mechanism = _replaced(self.plain.mechanism(), places, self.symbols)
        return made

    @cached_property
    def equations(self) -> Equations:
        return registry.formulation(USUAL).derive(self.mechanism)

    def inputs(self, values: Array) -> Array:
        return np.array([self._row(row) for row in values])

    def _row(self, values: Array) -> Array:
        key = values.tobytes()
        if key not in self._known:
            slots = hashlib.sha256(self._slots[1].tobytes()).hexdigest()
            self._known[key] = kept_numbers(self._question, slots, values, lambda: self._chosen_at(values))
        return self._known[key]

    def _chosen_at(self, values: Array) -> Array:
        found = self._numbers_at(values)
        if found.shape != self._leaves[0].shape:
            raise SuppleError(_structural(self.robot, self.robot.keep[0]))
        return np.asarray(found[self._slots[1]])

    def tangents(self, values: Array) -> Array:
        made = []
        for k, x in enumerate(values):
            h = _STEP * (abs(float(x)) or 1.0)
            rows = []
            for times in (1, -1, 2, -2):
                moved = values.astype(float).copy()
                moved[k] += times * h
                rows.append(self._row(moved))
            made.append((8 * (rows[0] - rows[1]) - (rows[2] - rows[3])) / (12 * h))
        return np.array(made)


def _structural(robot: Machine, name: str) -> str:
    return f"{robot.name}: {name} changes what the robot is made of, not a number in it; use --set for each of its values"


# Numbers of a mechanism ------------------------------------------------------------------------------------------------

_PLAIN = (int, float, Fraction, np.floating, np.integer)
_WORDS = (str, bytes, bool, slice, type(None))
_DRAWN = ("outline", "pieces")  # fields that equations do not see; their lengths may change with a mesh


def _numbers(mechanism: Mechanism) -> Array:
    """All numbers of a mechanism, in a fixed order."""
    return np.array([float(x) for x in _walk(mechanism)])


def _walk(part: Any) -> Iterator[Any]:
    if isinstance(part, _WORDS):
        return
    if isinstance(part, _PLAIN):
        yield part
    elif isinstance(part, np.ndarray):
        if part.dtype.kind in "fO":
            for x in part.ravel():
                yield from _walk(x)
    elif isinstance(part, Mapping):
        for x in part.values():
            yield from _walk(x)
    elif isinstance(part, (tuple, list)):
        for x in part:
            yield from _walk(x)
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for f in _fields(part):
            yield from _walk(getattr(part, f))


def _replaced(part: Any, places: Iterator[int], symbols: Symbols) -> Any:
    """The same with symbols in place of the numbers that change."""
    if isinstance(part, _WORDS):
        return part
    if isinstance(part, _PLAIN):
        place = next(places)
        return part if place < 0 else symbols[place]
    if isinstance(part, np.ndarray):
        if part.dtype.kind not in "fO":
            return part
        flat = [_replaced(x, places, symbols) for x in part.ravel()]
        made = np.empty(len(flat), dtype=object)
        made[:] = flat
        return made.reshape(part.shape)
    if isinstance(part, Mapping):
        return {k: _replaced(x, places, symbols) for k, x in part.items()}
    if isinstance(part, (tuple, list)):
        listed = [_replaced(x, places, symbols) for x in part]
        if isinstance(part, tuple) and hasattr(part, "_fields"):
            return type(part)(*listed)
        return type(part)(listed)
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        return dataclasses.replace(part, **{f: _replaced(getattr(part, f), places, symbols) for f in _fields(part)})
    return part


def _fields(part: Any) -> list[str]:
    return [f.name for f in dataclasses.fields(part) if f.init and f.name not in _DRAWN]
