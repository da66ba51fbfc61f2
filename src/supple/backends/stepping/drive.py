"""`Drive`: what moves a plant over time, as the integrators in C see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.backends.stepping.layout import CONTROLLERS, DRIVE, LAW, LEARNT, SIGNALS, ctypes_class
from supple.backends.tape import Tape
from supple.errors import BackendError
from supple.expr.function import Array


@dataclass(frozen=True)
class Table:
    """Signals as piecewise quintic polynomials: knots (K + 1) and coefficients (K, channels, 6)."""

    knots: Array
    coefficients: Array

    def __call__(self, times: Array) -> Array:
        """Values (times, channels), held at both ends."""
        inside = np.clip(times, self.knots[0], self.knots[-1])
        piece = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.knots) - 2)
        u = (inside - self.knots[piece])[:, None, None]
        made: Array = (self.coefficients[piece] * u ** np.arange(6)).sum(axis=-1)
        return made


@dataclass(frozen=True)
class LawTables:
    """A controller in state space: how many parts, states of each, sensors and pushes; A, B, E, C, D of every part, one
    after the other; weights of the parts (None: there is one) and readings that sensors should have; noise and resolution of
    the sensors, then noise of the forces; limits of pushes; wrenches of unit pushes; seed; readings from q, v, a, g."""

    parts: int
    states: int
    sensors: int
    pushes: int
    matrices: Array
    weights: Table | None
    rest: Table
    rough: Array
    most: Array
    pushed: Array
    seed: int
    sense: Tape


@dataclass(frozen=True)
class LearntTables:
    """What a computed torque learns: how many parameters, and its tables as of `Learnt` in C."""

    parameters: int
    slopes: Table
    trust: Table
    path: Table
    forces: Table


def _signals(table: Table, kept: list[Any]) -> Any:
    """A table as C has it; its arrays are added to `kept`."""
    knots, coefficients = (np.ascontiguousarray(x, dtype=float) for x in (table.knots, table.coefficients))
    kept += [knots, coefficients]
    pieces, channels = coefficients.shape[:2]
    return ctypes_class(SIGNALS)(pieces, channels, knots.ctypes.data, coefficients.ctypes.data)


def _law(law: LawTables, kept: list[Any]) -> Any:
    """A controller in state space as C has it."""
    made: Any = ctypes_class(LAW)()
    made.parts, made.states, made.sensors, made.pushes = law.parts, law.states, law.sensors, law.pushes
    for name in ("matrices", "rough", "most", "pushed"):
        array = np.ascontiguousarray(getattr(law, name), dtype=float)
        kept.append(array)
        setattr(made, name, array.ctypes.data)
    for name in ("weights", "rest"):
        table = getattr(law, name)
        if table is not None:
            setattr(made, name, _signals(table, kept))
    made.seed = law.seed
    machine = law.sense.machine()
    if machine is None:
        raise BackendError(
            "a controller with sensors needs a C compiler: install gcc or clang, or `pip install 'supple[cc]'`"
        )
    made.sense, made.tape = machine
    kept.append(law.sense)
    return made


@dataclass(frozen=True)
class Drive:
    """What moves the plant: tables of its channels in the plant's order (None: no such signals), and a controller."""

    gravity: Array
    given: Table | None = None
    reference: Table | None = None
    torque: Table | None = None
    load: Table | None = None
    breaks: Array | None = None
    gains: Array | None = None  # kp, kd, ki, limit (0: none) of each torque-driven actuator
    sample_time: float = 0.0  # s, of the controller; 0: continuous
    delay: float = 0.0  # s
    controller: str = "no_controller"  # one of CONTROLLERS
    law: LawTables | None = None  # of the controller state_space; of computed_torque its sensors
    learnt: LearntTables | None = None  # of computed_torque

    @cached_property
    def structure(self) -> Any:
        made: Any = ctypes_class(DRIVE)()
        kept: list[Any] = []
        for name in ("given", "reference", "torque", "load"):
            table = getattr(self, name)
            if table is not None and table.coefficients.shape[1]:
                setattr(made, name, _signals(table, kept))
        for name in ("gravity", "breaks", "gains"):
            array = np.ascontiguousarray(getattr(self, name) if getattr(self, name) is not None else [], dtype=float)
            kept.append(array)
            setattr(made, name, array.ctypes.data)
        made.n_breaks = 0 if self.breaks is None else len(self.breaks)
        made.sample_time, made.delay = self.sample_time, self.delay
        made.controller = CONTROLLERS.index(self.controller)
        if self.law is not None:
            made.law = _law(self.law, kept)
        if self.learnt is not None:
            tables = (_signals(getattr(self.learnt, k), kept) for k in ("slopes", "trust", "path", "forces"))
            made.learnt = ctypes_class(LEARNT)(self.learnt.parameters, *tables)
        made.kept = kept  # arrays live as long as the structure points at them
        return made
