"""Universal files (UFF): nodes of datasets 15 and 2411, modes of datasets 55 and 2414; models' modes written to them.

Shapes and places are written with 17 digits, as readers that split at blanks take them, and so are frequencies, in the last
ID line; the 13-character fields of other writers are read too. Units are SI unless a dataset 164 says otherwise. Shapes are
along global axes by definition (data characteristics 2 and 3); places of dataset 15 are in systems of dataset 18.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.nodal import NodalModel, check_model, without_still_nodes
from supple.robot.named_files import checked_file

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")
_MARK = re.compile(r"^[ \t]*-1[ \t\r]*$", re.MULTILINE)
_AFTER_BYTES = re.compile(r"\s*-1[ \t\r]*$", re.MULTILINE)
_NORMAL_MODE, _DISPLACEMENT = 2, (0, 8)
_BEAMS = (11, 21, 22, 23, 24)  # descriptors of elements with a line of their own for orientations
_ANALYSES = {1: "static", 3: "complex", 4: "transient", 5: "frequency response", 6: "buckling", 7: "complex"}


@dataclass(frozen=True)
class _Dataset:
    kind: int
    lines: list[str]
    first: int  # line of the file on which lines[0] stands


@dataclass(frozen=True)
class _Mode:
    square: float
    mass: float
    values: dict[int, list[float]]  # node -> 3 or 6 components


class _Fault(ValueError):
    """What is wrong with a dataset, in words that hold nothing of the file."""


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, _Fault) else "a number or a line is missing"


def read_universal(path: Path) -> NodalModel:
    """Modes and nodes of a universal file."""
    checked_file(path)
    nodes: dict[int, list[float]] = {}
    modes: list[_Mode] = []
    turned: set[int] = set()  # systems of dataset 18 that are not the global one
    other: set[str] = set()
    length = force = 1.0
    for dataset in _datasets(path.read_bytes().decode("latin-1"), path.name):
        where = f"{path.name}: dataset {dataset.kind} from line {dataset.first}"
        try:
            if dataset.kind == 164:
                factors = _floats(dataset.lines[1])
                length, force = 1 / factors[0], 1 / factors[1]
                if not (1e-6 < length < 1e6 and 1e-9 < force < 1e9):
                    raise _Fault("no factors of length and force")
            elif dataset.kind == 18:
                turned |= _systems_18(dataset)
            elif dataset.kind == 15:
                nodes |= _nodes_15(dataset, turned)
            elif dataset.kind == 2411:
                nodes |= _nodes_2411(dataset)
            elif dataset.kind == 2412:
                other.add("a mesh, which needs a material:")
            elif dataset.kind in (55, 2414):
                header = _header(dataset)
                if header.other:
                    other.add(header.other)
                else:
                    modes.append(_mode(dataset, header))
        except (IndexError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise SuppleError(f"{where}: is broken or cut off: {_words(error)}") from error
    if nodes and not modes and other:
        raise SuppleError(
            f"{path.name}: holds no normal modes at nodes (dataset 55 or 2414), only {', '.join(sorted(other))}"
        )
    model = _model(nodes, modes, path.name)
    return model if length == force == 1.0 else model.in_units(length, length * force)


def read_elements(path: Path) -> tuple[dict[int, list[float]], list[tuple[int, list[int]]]]:
    """Nodes, and elements (dataset 2412) as descriptors and nodes."""
    checked_file(path)
    nodes: dict[int, list[float]] = {}
    elements: list[tuple[int, list[int]]] = []
    length = 1.0
    for dataset in _datasets(path.read_bytes().decode("latin-1"), path.name):
        try:
            if dataset.kind == 164:
                length = 1 / _floats(dataset.lines[1])[0]
            elif dataset.kind == 15:
                nodes |= _nodes_15(dataset, set())
            elif dataset.kind == 2411:
                nodes |= _nodes_2411(dataset)
            elif dataset.kind == 2412:
                elements += _elements_2412(dataset)
        except (IndexError, ValueError, ZeroDivisionError, OverflowError) as error:
            where = f"{path.name}: dataset {dataset.kind} from line {dataset.first}"
            raise SuppleError(f"{where}: is broken or cut off: {_words(error)}") from error
    if not nodes or not elements:
        raise SuppleError(f"{path.name}: holds neither normal modes (dataset 55 or 2414) nor a mesh (2411 and 2412)")
    return {n: [length * x for x in place] for n, place in nodes.items()}, elements


def _elements_2412(dataset: _Dataset) -> list[tuple[int, list[int]]]:
    made, at, lines = [], 0, dataset.lines
    while at < len(lines):
        _, descriptor, _, _, _, count = (int(x) for x in lines[at].split())
        at += 2 if descriptor in _BEAMS else 1
        found: list[int] = []
        while len(found) < count:
            found += [int(x) for x in lines[at].split()]
            at += 1
        made.append((descriptor, found))
    return made


def _model(nodes: dict[int, list[float]], modes: list[_Mode], file: str) -> NodalModel:
    if not nodes:
        raise SuppleError(f"{file}: holds no nodes (dataset 15 or 2411)")
    if not modes:
        raise SuppleError(f"{file}: holds no normal modes (dataset 55 or 2414)")
    labels = np.array(sorted(modes[0].values))
    for number, mode in enumerate(modes, start=1):
        if sorted(mode.values) != labels.tolist():
            raise SuppleError(f"{file}: mode {number} is given at other nodes than mode 1")
        if not mode.mass > 0:
            raise SuppleError(f"{file}: mode {number} has no modal mass; it says how the shape is scaled")
    stray = [int(n) for n in labels if int(n) not in nodes]
    if stray:
        raise SuppleError(f"{file}: modes are given at node {stray[0]}, which no dataset 15 or 2411 places")
    per = {len(v) for mode in modes for v in mode.values.values()}
    if per not in ({3}, {6}):
        raise SuppleError(f"{file}: modes must have 3 or 6 components at every node")
    count = per.pop()
    shapes = np.column_stack([np.concatenate([m.values[int(n)] for n in labels]) / np.sqrt(m.mass) for m in modes])
    xyz = np.array([nodes[int(n)] for n in labels])
    node, component = np.repeat(np.arange(len(labels)), count), np.tile(np.arange(count), len(labels))
    if not np.isfinite(shapes).all():
        raise SuppleError(f"{file}: a mode holds entries that are no finite numbers")
    squares = np.array([m.square for m in modes])
    return without_still_nodes(check_model(NodalModel(labels, xyz, node, component, None, None, shapes, squares), file))


def _datasets(text: str, file: str) -> Iterator[_Dataset]:
    """The datasets of a file in text form; those in binary form (58b) are passed over."""
    at, line = 0, 1
    while (begin := _MARK.search(text, at)) is not None:
        before = text[at : begin.start()]
        if before.strip():
            raise SuppleError(f"{file}:{line}: a dataset must begin with -1")
        line += before.count("\n") + 1
        head, _, _ = text[begin.end() + 1 : begin.end() + 200].partition("\n")
        number = re.match(r"\s*(\d+)\s*(b?)", head)
        if number is None:
            raise SuppleError(f"{file}:{line}: the number of a dataset is missing; the file is cut off or broken")
        start = begin.end() + len(head) + 2
        bytes_end = _binary_end(text, start, head, f"{file}:{line}") if number[2] else start
        end = (_AFTER_BYTES.match(text, bytes_end) if number[2] else None) or _MARK.search(text, bytes_end)
        if end is None:
            raise SuppleError(f"{file}:{line}: dataset {number[1]} has no end (-1); the file is cut off")
        if not number[2]:
            yield _Dataset(int(number[1]), [x.rstrip() for x in text[start : end.start()].rstrip().split("\n")], line + 1)
        line += text.count("\n", begin.end() + 1, end.end()) + 1
        at = end.end() + 1
    if text[at:].strip():
        raise SuppleError(f"{file}:{line}: a dataset must begin with -1")


def _binary_end(text: str, start: int, head: str, where: str) -> int:
    """Where the bytes of a binary dataset end: its head says how many lines of text and how many bytes there are."""
    numbers = [int(x) for x in re.findall(r"\d+", head)]
    if len(numbers) < 5:
        raise SuppleError(f"{where}: a binary dataset that does not say how long it is; write the file as text")
    for _ in range(numbers[3]):
        start = text.find("\n", start) + 1
    return start + numbers[4]


def _floats(line: str) -> list[float]:
    return [float(x.replace("D", "E").replace("d", "e")) for x in _NUMBER.findall(line)]


def _systems_18(dataset: _Dataset) -> set[int]:
    """Numbers of the coordinate systems that are not the global one."""
    made = set()
    for k in range(0, len(dataset.lines) - 3, 4):
        number, kind, *_ = _floats(dataset.lines[k])
        origin, x, xz = np.array(_floats(dataset.lines[k + 2]) + _floats(dataset.lines[k + 3])).reshape(3, 3)
        aligned = np.abs((x - origin)[1:]).max() + abs((xz - origin)[1]) < 1e-9 and (x - origin)[0] > 0 < (xz - origin)[2]
        if kind != 0 or np.abs(origin).max() > 0 or not aligned:
            made.add(int(number))
    return made


def _nodes_15(dataset: _Dataset, turned: set[int]) -> dict[int, list[float]]:
    made = {}
    for line in dataset.lines:
        values = _floats(line)
        if len(values) != 7:
            raise _Fault("is no node (number, three codes, x, y, z)")
        if int(values[1]) in turned:
            raise _Fault(f"node {int(values[0])} is placed in coordinate system {int(values[1])}; use the global one")
        made[int(values[0])] = values[4:]
    return made


def _nodes_2411(dataset: _Dataset) -> dict[int, list[float]]:
    made = {}
    if len(dataset.lines) % 2:
        raise _Fault("a node of two lines lacks its second")
    for head, place in zip(dataset.lines[::2], dataset.lines[1::2], strict=True):
        values = _floats(place)
        if len(values) != 3 or len(_floats(head)) != 4:
            raise _Fault("is no node (number and codes, then x, y, z)")
        made[int(head.split()[0])] = values
    return made


@dataclass(frozen=True)
class _Header:
    """What the head of a dataset 55 or 2414 says; `other` names what it holds instead of a normal mode."""

    other: str
    complex: bool
    per: int  # components at a node
    frequency: float
    mass: float
    start: int  # line of the first node


def _header(dataset: _Dataset) -> _Header:
    lines = dataset.lines
    codes = [int(x) for x in _floats(lines[5 if dataset.kind == 55 else 8])]
    _, analysis, characteristic, data, kind, per = codes
    at_nodes = dataset.kind == 55 or int(_floats(lines[2])[0]) == 1
    other = ""
    if not at_nodes:
        other = "data at elements"
    elif analysis != _NORMAL_MODE:
        other = f"{_ANALYSES.get(analysis, 'other')} results"
    elif characteristic not in (0, 2, 3) or data not in _DISPLACEMENT:
        other = "data of modes that are no displacements"
    elif kind not in (2, 4, 5, 6):
        raise _Fault(f"data of type {kind}")
    if other:
        return _Header(other, False, per, 0.0, 0.0, 0)
    if dataset.kind == 55:
        real = _floats(lines[7])
        return _Header("", kind > 4, per, real[0], real[1], 8)
    real = _floats(lines[11])
    return _Header("", kind > 4, per, _precise(lines[7], real[1]), real[3], 13)


def _mode(dataset: _Dataset, header: _Header) -> _Mode:
    """A normal mode at nodes."""
    lines = dataset.lines
    values: dict[int, list[float]] = {}
    at, count = header.start, header.per * (2 if header.complex else 1)
    while at < len(lines):
        label = lines[at].split()
        if len(label) != 1:
            raise _Fault("is no node number")
        at += 1
        found: list[float] = []
        while len(found) < count:
            found += _floats(lines[at])
            at += 1
        if len(found) != count:
            raise _Fault(f"node {label[0]!a:.30} has {len(found)} values instead of {count}")
        values[int(label[0])] = found
    if not values:
        raise _Fault("no node has values")
    if header.complex:  # some write real modes so
        size = max(abs(x) for v in values.values() for x in v)
        if max(abs(x) for v in values.values() for x in v[1::2]) > 1e-6 * size:
            raise _Fault("a complex shape; real normal modes are needed")
        values = {n: v[::2] for n, v in values.items()}
    return _Mode((2 * np.pi * header.frequency) ** 2, header.mass, values)


def _precise(title: str, frequency: float) -> float:
    """The frequency with the digits of an ID line, if it has one that rounds to the field's six."""
    found = re.search(r"FREQUENCY\s+(\S+)", title)
    if found is None or not _NUMBER.fullmatch(found[1]):
        return frequency
    return float(found[1]) if abs(float(found[1]) - frequency) <= 1e-5 * abs(frequency) else frequency


# Writing ----------------------------------------------------------------------------------------------------------------


def write_universal(model: NodalModel, path: Path, name: str = "body") -> Path:
    """A universal file of a model's modes, the rigid ones included: datasets 164, 2411 and 2414."""
    if model.modes is None or model.squares is None:
        raise SuppleError("a universal file holds modes; compute them first (modal_model)")
    per = 6 if (model.component >= 3).any() else 3
    title = "".join(c if c.isascii() and c.isprintable() else "_" for c in name)[:70] or "body"
    lines = [*_units(), "    -1", "  2411"]
    for label, place in zip(model.labels, model.xyz, strict=True):
        lines += [f"{int(label):10d}{1:10d}{1:10d}{11:10d}", _row(place)]
    lines.append("    -1")
    table = np.zeros((len(model.xyz), per, model.modes.shape[1]))
    table[model.node, model.component] = model.modes
    for k, square in enumerate(model.squares):
        frequency = float(np.sqrt(max(square, 0.0)) / (2 * np.pi))
        lines += [
            "    -1",
            "  2414",
            f"{k + 1:10d}",
            "mode",
            f"{1:10d}",
            title,
            "NONE",
            "NONE",
            "NONE",
            f"MODE {k + 1} FREQUENCY {frequency:.17g}",
        ]
        lines.append(f"{1:10d}{2:10d}{3 if per == 6 else 2:10d}{8:10d}{4:10d}{per:10d}")
        lines += [f"{0:10d}" * 5 + f"{k + 1:10d}" + f"{0:10d}" * 2, f"{0:10d}" * 2]
        lines += ["".join(f"{x:13.5E}" for x in row) for row in ((0.0, frequency, 0.0, 1.0, 0.0, 0.0), (0.0,) * 6)]
        for a, label in enumerate(model.labels):
            lines += [f"{int(label):10d}", _row(table[a, :, k])]
        lines.append("    -1")
    return written_whole(path, lambda file: file.write_text("\n".join(lines) + "\n", encoding="ascii"))


def _units() -> list[str]:
    return [
        "    -1", "   164", f"{1:10d}{'SI: Meter (newton)':<20}{2:10d}",
        f"{1.0:25.17E}{1.0:25.17E}{1.0:25.17E}", f"{273.15:25.17E}", "    -1",
    ]  # fmt: skip


def _row(values: Array | list[float]) -> str:
    return "".join(f"{float(v):25.16E}" for v in values)
