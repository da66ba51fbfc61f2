"""`Drive`: what moves a plant over time, as the integrators in C see it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.expr.function import Array


class _Signals(ctypes.Structure):
    _fields_ = (
        ("pieces", ctypes.c_longlong), ("channels", ctypes.c_longlong),
        ("knots", ctypes.c_void_p), ("coefficients", ctypes.c_void_p),
    )  # fmt: skip


class _Drive(ctypes.Structure):
    _fields_ = (
        ("given", _Signals), ("reference", _Signals), ("torque", _Signals), ("load", _Signals),
        ("gravity", ctypes.c_void_p), ("breaks", ctypes.c_void_p), ("n_breaks", ctypes.c_longlong),
        ("gains", ctypes.c_void_p), ("sample", ctypes.c_double), ("delay", ctypes.c_double),
        ("control", ctypes.c_longlong),
    )  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Signals as piecewise quintic polynomials: knots (K + 1) and coefficients (K, channels, 6)."""

    knots: Array
    coefficients: Array


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
    sample: float = 0.0
    delay: float = 0.0
    control: int = 0  # 0 none, 1 PID, 2 computed torque

    @cached_property
    def structure(self) -> Any:
        made = _Drive()
        kept: list[Array] = []
        for name in ("given", "reference", "torque", "load"):
            table = getattr(self, name)
            if table is not None and table.coefficients.shape[1]:
                knots, coefficients = (np.ascontiguousarray(x, dtype=float) for x in (table.knots, table.coefficients))
                kept += [knots, coefficients]
                pieces, channels = coefficients.shape[:2]
                setattr(made, name, _Signals(pieces, channels, knots.ctypes.data, coefficients.ctypes.data))
        for name in ("gravity", "breaks", "gains"):
            array = np.ascontiguousarray(getattr(self, name) if getattr(self, name) is not None else [], dtype=float)
            kept.append(array)
            setattr(made, name, array.ctypes.data)
        made.n_breaks = 0 if self.breaks is None else len(self.breaks)
        made.sample, made.delay, made.control = self.sample, self.delay, self.control
        made.kept = kept  # arrays live as long as the structure points at them
        return made
