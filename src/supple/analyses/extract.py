"""Modes of measured frequency responses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.measured.extraction import extracted
from supple.measured.functions import read_functions
from supple.measured.mode_sets import NodalMode, write_modes
from supple.measurements import Extracted, Responses
from supple.robot.written import Band, band_of
from supple.storage.universal import RESPONSE

_AXES = {1: "x", 2: "y", 3: "z", 4: "rx", 5: "ry", 6: "rz"}


def extract(
    file: str | Path,
    *,
    band: Band | None = None,
    orders: int = 40,
    count: int | None = None,
    decay: float = 0.0,
    units: str | None = None,
    output: str | Path | None = None,
) -> Extracted:
    """Modes of the responses (datasets 58) of a universal file; options as of `api.Robot.extract`."""
    if not 4 <= orders <= 200:
        raise SuppleError(f"orders {orders}: must be 4 to 200")
    responses = replace(responses_of_file(Path(file), units), decay=decay)
    found = extracted(responses, None if band is None else band_of(band), orders=orders, count=count)
    if output is not None:
        _write(found, Path(output))
    return found


def responses_of_file(path: Path, units: str | None) -> Responses:
    """The responses of a universal file; channels are called by node and direction, as in 12:+x."""
    content = read_functions(path, units)
    functions = content.of_kind(RESPONSE)
    if not functions:
        raise SuppleError(f"{content.file}: holds no frequency responses (function type 4)")
    x = functions[0].x
    outputs = sorted({(f.node, f.direction) for f in functions})
    inputs = sorted({(f.reference, f.reference_direction) for f in functions})
    values = np.full((len(x), len(outputs), len(inputs)), np.nan, dtype=complex)
    orders = [2] * len(outputs)
    for f in functions:
        if len(f.x) != len(x) or np.abs(f.x - x).max() > 1e-4 * (x[1] - x[0]):
            raise SuppleError(f"{content.file}:{f.first}: its frequencies differ from those of the first response")
        o, i = outputs.index((f.node, f.direction)), inputs.index((f.reference, f.reference_direction))
        if not np.isnan(values[0, o, i]):
            raise SuppleError(f"{content.file}:{f.first}: the response of {_called(outputs[o])} is given twice")
        values[:, o, i] = f.y
        orders[o] = 2 if f.order is None else f.order
    missing = np.argwhere(np.isnan(values[0]))
    if missing.size:
        o, i = missing[0]
        raise SuppleError(f"{content.file}: the response of {_called(outputs[o])} to {_called(inputs[i])} is missing")
    return Responses(
        x, values, tuple(map(_called, outputs)), tuple(map(_called, inputs)), tuple(orders), notices=content.notices
    )  # fmt: skip


def _called(place: tuple[int, int]) -> str:
    node, direction = place
    return f"{node}:{'-' if direction < 0 else '+'}{_AXES.get(abs(direction), 's')}"


def _write(found: Extracted, path: Path) -> None:
    """The modes as complex modes of a universal file (dataset 55)."""
    modes = []
    for pole, shape in zip(found.modes.poles, found.modes.shapes.T, strict=True):
        nodes: dict[int, np.ndarray] = {}
        for name, value in zip(found.modes.outputs, shape, strict=True):
            node, _, way = name.partition(":")
            if way[1:] in ("x", "y", "z"):
                place = nodes.setdefault(int(node), np.zeros(3, dtype=complex))
                place["xyz".index(way[1:])] = -value if way[0] == "-" else value
        modes.append(NodalMode(complex(pole), nodes))
    write_modes(path, modes)
