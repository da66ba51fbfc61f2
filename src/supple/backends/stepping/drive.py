"""`Drive`: what moves a plant over time, as the integrators in C see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.backends.stepping.layout import CONTROLLERS, DRIVE, SIGNALS, ctypes_class
from supple.expr.function import Array


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
    sample_time: float = 0.0  # s, of the controller; 0: continuous
    delay: float = 0.0  # s
    controller: str = "no_controller"  # one of CONTROLLERS

    @cached_property
    def structure(self) -> Any:
        made: Any = ctypes_class(DRIVE)()
        kept: list[Array] = []
        for name in ("given", "reference", "torque", "load"):
            table = getattr(self, name)
            if table is not None and table.coefficients.shape[1]:
                knots, coefficients = (np.ascontiguousarray(x, dtype=float) for x in (table.knots, table.coefficients))
                kept += [knots, coefficients]
                pieces, channels = coefficients.shape[:2]
                setattr(made, name, ctypes_class(SIGNALS)(pieces, channels, knots.ctypes.data, coefficients.ctypes.data))
        for name in ("gravity", "breaks", "gains"):
            array = np.ascontiguousarray(getattr(self, name) if getattr(self, name) is not None else [], dtype=float)
            kept.append(array)
            setattr(made, name, array.ctypes.data)
        made.n_breaks = 0 if self.breaks is None else len(self.breaks)
        made.sample_time, made.delay = self.sample_time, self.delay
        made.controller = CONTROLLERS.index(self.controller)
        made.kept = kept  # arrays live as long as the structure points at them
        return made
