"""Axes of studies: units that people read, labels, lines of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.results.study import Column, Study

_SHOWN = {"m": ("mm", 1e3), "rad": ("deg", 180 / np.pi), "Pa": ("GPa", 1e-9)}  # how SI is shown


def shown_unit(unit: str) -> tuple[str, float]:
    """The unit that people read, and what SI is multiplied by."""
    return ("", 1.0) if unit == "1" else _SHOWN.get(unit, (unit, 1.0))


def axis_label(name: str, column: Column) -> str:
    unit = shown_unit(column.unit)[0]
    return f"{name} ({unit})" if unit else name


def scaled(column: Column) -> Any:
    """Values in the unit that people read."""
    return column.values * shown_unit(column.unit)[1]


def line_of(study: Study, axis: str) -> Any:
    """Values (SI) along an axis of the grid."""
    k = study.axes.index(axis)
    return np.moveaxis(study.chosen[axis].values.reshape(study.shape), k, 0).reshape(study.shape[k], -1)[:, 0]
