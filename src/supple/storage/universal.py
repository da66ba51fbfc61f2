"""Universal files: functions at nodes (dataset 58) and the units of a file (dataset 164), written in SI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.delivery import written_whole
from supple.results import Array, Frf

TIME, AUTO, CROSS, RESPONSE, COHERENCE = 1, 2, 3, 4, 6
FORCE, STRAIN, ORDERS = 13, 3, {8: 0, 11: 1, 12: 2}
_SPECIFIC = {order: code for code, order in ORDERS.items()}
_LABELS = {STRAIN: "m/m", 8: "m", 11: "m/s", 12: "m/s^2", FORCE: "N"}
_TURNED = {8: "rad", 11: "rad/s", 12: "rad/s^2", FORCE: "Nm"}  # about an axis
_PARTS = {"x": 1, "y": 2, "z": 3, "rx": 4, "ry": 5, "rz": 6}
_FORCES = {"fx": 1, "fy": 2, "fz": 3, "mx": 4, "my": 5, "mz": 6}


@dataclass(frozen=True)
class Function58:
    """A function of time or frequency: `x` (s or Hz), `y`, its nodes and directions (1 to 6, negative against the axis).

    `order`: how often the response is differentiated (None: not a motion); `force`: whether it is a force itself."""

    kind: int
    x: Array
    y: Array
    node: int
    direction: int
    reference: int
    reference_direction: int
    order: int | None
    force: bool
    name: str = ""
    first: int = 0
    case: int = 0  # number of the blow or run
    strain: bool = False


def responses_of(found: Frf) -> list[Function58]:
    """Functions of frequency responses, one for every output and input; points have a node each, in order of appearance.

    What is not a number (at 0 Hz of a robot that nothing holds) is left out."""
    nodes: dict[str, int] = {}

    def place(name: str, parts: dict[str, int]) -> tuple[int, int]:
        head, _, part = name.rpartition(".")
        known = part in parts
        return nodes.setdefault(head if known else name, len(nodes) + 1), parts.get(part, 0)

    order = ("displacement", "velocity", "acceleration").index(found.quantity)
    kept = np.isfinite(found.values).all(axis=(1, 2))
    made = []
    for o, output in enumerate(found.outputs):
        for i, given in enumerate(found.inputs):
            force, strain = output.startswith(("force(", "joint(")), output.startswith("strain(")
            places = (*place(output, _PARTS), *place(given, _FORCES))
            made.append(Function58(
                RESPONSE, found.frequencies_hz[kept], found.values[kept, o, i], *places,
                None if force or strain else order, force, f"{output} / {given}", strain=strain,
            ))  # fmt: skip
    return made


def write_functions(path: Path, functions: Iterable[Function58], nodes: dict[int, Sequence[float]] | None = None) -> Path:
    """A universal file in SI: units, nodes if given, and functions as text of double precision."""
    return written_whole(path, lambda file: file.write_text(functions_text(functions, nodes), encoding="ascii"))


def functions_text(functions: Iterable[Function58], nodes: dict[int, Sequence[float]] | None = None) -> str:
    """The text of such a file."""
    lines = units_lines()
    if nodes:
        lines += ["    -1", "  2411"]
        for label, place in nodes.items():
            lines += [f"{label:10d}{1:10d}{1:10d}{11:10d}", "".join(f"{float(x):25.16E}" for x in place)]
        lines.append("    -1")
    for f in functions:
        lines += _written(f)
    return "\n".join(lines) + "\n"


def _written(f: Function58) -> list[str]:
    name = "".join(c if c.isascii() and c.isprintable() else "_" for c in f.name)[:70] or "NONE"
    complex_ = np.iscomplexobj(f.y)
    step = float(np.diff(f.x).mean())
    flat = np.column_stack([f.y.real, f.y.imag]).ravel() if complex_ else f.y
    rows = [
        "    -1", "    58", name, "NONE", "NONE", "NONE", f"STEP {step:.17g}",
        f"{f.kind:5d}{0:10d}{0:5d}{f.case:10d} {'NONE':<10}{f.node:10d}{f.direction:4d} {'NONE':<10}{f.reference:10d}"
        f"{f.reference_direction:4d}",
        f"{6 if complex_ else 4:10d}{len(f.x):10d}{1:10d}{float(f.x[0]):13.5E}{step:13.5E}{0.0:13.5E}", *_axes(f),
    ]  # fmt: skip
    rows += ["".join(f"{v:20.11E}" for v in flat[k : k + 4]) for k in range(0, len(flat), 4)]
    return [*rows, "    -1"]


def _axes(f: Function58) -> list[str]:
    """The lines of abscissa, ordinate, its denominator, and a third axis."""
    over = STRAIN if f.strain else FORCE if f.force else _SPECIFIC.get(f.order if f.order is not None else -1, 0)
    unit = _LABELS.get(over, "NONE")
    if abs(f.direction) > 3:
        unit = _TURNED.get(over, unit)
    push = "Nm" if abs(f.reference_direction) > 3 else "N"
    return [
        _axis(17, "Time", "s") if f.kind == TIME else _axis(18, "Frequency", "Hz"),
        _axis(over, "NONE", unit),
        _axis(FORCE, "NONE", push) if f.kind == RESPONSE else _axis(0, "NONE", "NONE"),
        _axis(0, "NONE", "NONE"),
    ]


def _axis(kind: int, name: str, unit: str) -> str:
    return f"{kind:10d}{0:5d}{0:5d}{0:5d} {name:<20} {unit:<20}"


def units_lines() -> list[str]:
    """A dataset 164 that says SI."""
    return [
        "    -1", "   164", f"{1:10d}{'SI: Meter (newton)':<20}{2:10d}",
        f"{1.0:25.17E}{1.0:25.17E}{1.0:25.17E}", f"{273.15:25.17E}", "    -1",
    ]  # fmt: skip
