"""Functions at nodes of universal files (datasets 58 and 58b): time histories, responses, coherences; read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.measured.universal import (
    Dataset,
    Fault,
    Units,
    announced_size,
    datasets,
    floats,
    integers,
    numbers,
    units_of,
)
from supple.robot.bodies.record import Array
from supple.storage.universal import COHERENCE, FORCE, ORDERS, RESPONSE, STRAIN, Function58

_LABELS = {  # what one of a unit is in SI
    "m/s^2": 1.0, "m/s2": 1.0, "m/s**2": 1.0, "m/s": 1.0, "m": 1.0, "n": 1.0, "mm": 1e-3, "mm/s": 1e-3, "um": 1e-6,
    "g": 9.80665, "kn": 1e3, "lbf": 4.4482216152605, "in": 0.0254, "in/s": 0.0254, "in/s^2": 0.0254, "mm/s^2": 1e-3,
    "m/m": 1.0, "strain": 1.0, "um/m": 1e-6, "ue": 1e-6,
}  # fmt: skip
_MOST = 50_000_000  # values of one function


@dataclass(frozen=True)
class Measured:
    """Functions of a file in SI, and remarks about it."""

    file: str
    functions: tuple[Function58, ...]
    nodes: dict[int, tuple[float, ...]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def of_kind(self, kind: int) -> list[Function58]:
        return [f for f in self.functions if f.kind == kind]


def read_functions(path: Path, units: str | None = None) -> Measured:
    """The functions of a universal file in SI. units: "SI" if the file itself does not say."""
    said = Units(said=units == "SI")
    found: list[Function58] = []
    notices: list[str] = []
    nodes: dict[int, tuple[float, ...]] = {}
    for dataset in datasets(path):
        where = f"{path.name}:{dataset.first}: dataset {dataset.kind}"
        try:
            if dataset.kind == 164:
                said = units_of(dataset)
            elif dataset.kind in (15, 2411):
                nodes |= {n: tuple(said.length * x for x in place) for n, place in read_nodes(dataset).items()}
            elif dataset.kind == 58:
                found.append(_function(dataset, said))
                notices += [dataset.notice] if dataset.notice else []
        except Fault as error:
            raise SuppleError(f"{where}: {error}") from error
        except (IndexError, ValueError, OverflowError, ZeroDivisionError) as error:
            raise SuppleError(f"{where}: is broken or cut off: a number or a line is missing") from error
    if not found:
        raise SuppleError(f"{path.name}: holds no functions (dataset 58)")
    return Measured(path.name, tuple(found), nodes, tuple(dict.fromkeys(notices)))


def read_nodes(dataset: Dataset) -> dict[int, list[float]]:
    """Nodes of a dataset 15 or 2411 and their places, in the file's units."""
    made, lines = {}, [x for x in dataset.lines if x.strip()]
    if dataset.kind == 2411:
        for label, place in zip(lines[::2], lines[1::2], strict=True):
            made[integers(label)[0]] = floats(place)[:3]
    else:
        for line in lines:
            values = floats(line)
            made[int(values[0])] = values[4:7]
    if any(len(p) != 3 for p in made.values()):
        raise Fault("a node needs three coordinates")
    return made


def _function(dataset: Dataset, units: Units) -> Function58:
    lines = dataset.lines
    head = _heading(lines[5])
    kind, count, spacing = integers(lines[6])[:3]
    start, step = _spacing(lines[6], lines[4])
    if not 2 <= count <= _MOST:
        raise Fault(f"announces {count} values; 2 to {_MOST} are read")
    announced_size(lines)  # a type that is not known is refused
    x, y = _values(dataset, kind, count, spacing == 1, start, step)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise Fault("a value is not a number (NaN or infinite)")
    if not (np.diff(x) > 0).all():
        raise Fault("its abscissa does not increase")
    over, under = _motion(lines[8]), _motion(lines[9])
    scale, order = _scale(lines[8], lines[9], over, under, units, head[0])
    return Function58(
        head[0], x, y * scale, *head[1:5], order, over == FORCE, lines[0].strip()[:80], dataset.first, head[5],
        over == STRAIN,
    )  # fmt: skip


def _heading(line: str) -> tuple[int, int, int, int, int, int]:
    """Kind of function, node and direction of the response and of the reference, load case."""
    made = re.match(r"\s*(\d+)\s+-?\d+\s+-?\d+\s+(-?\d+)\s+\S+\s+(-?\d+)\s+(-?\d+)\s+(\S+)\s+(-?\d+)\s+(-?\d+)\s*$", line)
    if made is not None:
        return int(made[1]), int(made[3]), int(made[4]), int(made[6]), int(made[7]), int(made[2])
    wide = line.ljust(80)
    try:  # by columns: names may be blank or stand close to numbers
        cells = (wide[0:5], wide[41:51], wide[51:55], wide[66:76], wide[76:80], wide[20:30])
        found = [int(x) if x.strip() else 0 for x in cells]
    except ValueError as error:
        raise Fault("its sixth line does not say nodes and directions") from error
    return found[0], found[1], found[2], found[3], found[4], found[5]


def _spacing(line: str, title: str) -> tuple[float, float]:
    """Start and step of the abscissa; the step with the digits of an ID line, if it has one that rounds to the field's."""
    words = line.split()
    start, step = (float(x.replace("D", "E")) for x in words[3:5]) if len(words) >= 5 else floats(line[30:69])[:2]
    found = re.fullmatch(r"\s*STEP\s+([0-9.eE+-]+)\s*", title)
    if found is not None and re.fullmatch(r"\d+(\.\d*)?([eE][-+]?\d{1,3})?", found[1]):
        precise = float(found[1])
        step = precise if abs(precise - step) <= 1e-5 * abs(step) else step
    return start, step


def _values(dataset: Dataset, kind: int, count: int, even: bool, start: float, step: float) -> tuple[Array, Array]:
    complex_, double = kind in (5, 6), kind in (4, 6)
    per = (2 if complex_ else 1) + (0 if even else 1)
    if dataset.data is None:
        flat = numbers(dataset.lines[11:])
        if flat.size != count * per:
            raise Fault(f"announces {count} values; holds {flat.size // per}: it is cut short, or its header is wrong")
        table = flat.reshape(count, per)
    else:
        table = _table(dataset.data, count, complex_, double, even, "<" if dataset.little else ">")
    x = start + step * np.arange(count) if even else table[:, 0]
    if even and not step > 0:
        raise Fault("its step along the abscissa is not above zero")
    own = table if even else table[:, 1:]
    return x, own[:, 0] + 1j * own[:, 1] if complex_ else own[:, 0]


def _table(data: bytes, count: int, complex_: bool, double: bool, even: bool, order: str) -> Array:
    value = np.dtype(f"{order}f{8 if double else 4}")
    parts = ([] if even else [("x", np.dtype(f"{order}f4"))]) + [("a", value)] + ([("b", value)] if complex_ else [])
    rows = np.frombuffer(data, dtype=np.dtype(parts), count=count)
    return np.column_stack([rows[name].astype(float) for name, _ in parts])


def _motion(line: str) -> int:
    """The specific data type of an axis."""
    found = integers(line)
    return found[0] if found else 0


def _label(line: str) -> str:
    """The unit label of an axis: its last word, unless it is none."""
    words = line[25:].split() if len(line) > 25 else line.split()[4:]
    return words[-1].lower() if words and words[-1].upper() != "NONE" else ""


def _scale(above: str, below: str, over: int, under: int, units: Units, kind: int) -> tuple[float, int | None]:
    """What one of the ordinate is in SI, and how often its motion is differentiated."""
    order = 0 if over == STRAIN or (over == FORCE and kind == RESPONSE) else ORDERS.get(over)
    if kind == COHERENCE:
        return 1.0, order
    per_force = kind == RESPONSE and (under == FORCE or under == 0)
    if kind == RESPONSE and order is None and over != 0:
        raise Fault(
            f"a response of data type {over}; strain (3), displacement (8), velocity (11), acceleration (12) and force (13) "
            "are read"
        )
    names = (_LABELS.get(_label(above)), _LABELS.get(_label(below)))
    if names[0] is not None and (not per_force or names[1] is not None):
        return names[0] / (names[1] or 1.0) if per_force else names[0], order
    if not units.said:
        raise Fault(
            "neither a dataset 164 nor labels say its units; if they are SI, say --units SI to `extract`, or write "
            "units: SI to the pose in the test file"
        )
    size = units.force if over == FORCE else 1.0 if over == STRAIN else units.length
    return size / units.force if per_force else size, order
