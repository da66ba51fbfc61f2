"""Universal files (UFF): nodes of datasets 15 and 2411, modes of datasets 55 and 2414; models' modes written to them.

Shapes and places are written with 17 digits, as readers that split at blanks take them, and so are frequencies, in the last
ID line; the 13-character fields of other writers are read too. Units are SI unless a dataset 164 says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.mesh_files import checked_file
from supple.robot.bodies.nodal import NodalModel, check_model
from supple.robot.bodies.record import Array

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


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


def read_universal(path: Path) -> NodalModel:
    """Modes and nodes of a universal file."""
    checked_file(path)
    nodes: dict[int, list[float]] = {}
    modes: list[_Mode] = []
    length = force = 1.0
    for dataset in _datasets(path.read_text(encoding="latin-1"), path.name):
        where = f"{path.name}: dataset {dataset.kind} from line {dataset.first}"
        try:
            if dataset.kind == 164:
                factors = _floats(dataset.lines[1])
                length, force = 1 / factors[0], 1 / factors[1]
                if not (1e-6 < length < 1e6 and 1e-9 < force < 1e9):
                    raise ValueError("no factors of length and force")
            elif dataset.kind == 15:
                nodes |= _nodes_15(dataset)
            elif dataset.kind == 2411:
                nodes |= _nodes_2411(dataset)
            elif dataset.kind in (55, 2414):
                modes.append(_mode(dataset))
        except (IndexError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise SuppleError(f"{where}: is broken or cut off: {error}") from error
    model = _model(nodes, modes, path.name)
    return model if length == force == 1.0 else model.in_units(length, length * force)


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
    return check_model(NodalModel(labels, xyz, node, component, None, None, shapes, squares), file)


def _datasets(text: str, file: str) -> Iterator[_Dataset]:
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if lines[at].strip() != "-1":
            if lines[at].strip():
                raise SuppleError(f"{file}:{at + 1}: a dataset must begin with -1, not {lines[at].strip()[:30]!r}")
            at += 1
            continue
        if at + 1 >= len(lines) or not lines[at + 1].strip().split("b")[0].strip().isdigit():
            raise SuppleError(f"{file}:{at + 2}: the number of a dataset is missing; the file is cut off or broken")
        if "b" in lines[at + 1]:
            raise SuppleError(f"{file}:{at + 2}: a binary dataset; write the file as text")
        end = at + 2
        while end < len(lines) and lines[end].strip() != "-1":
            end += 1
        if end >= len(lines):
            raise SuppleError(f"{file}:{at + 2}: dataset {lines[at + 1].strip()} has no end (-1); the file is cut off")
        yield _Dataset(int(lines[at + 1]), lines[at + 2 : end], at + 3)
        at = end + 1


def _floats(line: str) -> list[float]:
    return [float(x.replace("D", "E").replace("d", "e")) for x in _NUMBER.findall(line)]


def _nodes_15(dataset: _Dataset) -> dict[int, list[float]]:
    made = {}
    for line in dataset.lines:
        values = _floats(line)
        if len(values) != 7:
            raise ValueError(f"{line.strip()[:40]!r} is no node (number, three codes, x, y, z)")
        made[int(values[0])] = values[4:]
    return made


def _nodes_2411(dataset: _Dataset) -> dict[int, list[float]]:
    made = {}
    if len(dataset.lines) % 2:
        raise ValueError("a node of two lines lacks its second")
    for head, place in zip(dataset.lines[::2], dataset.lines[1::2], strict=True):
        values = _floats(place)
        if len(values) != 3 or len(_floats(head)) != 4:
            raise ValueError(f"{head.strip()[:40]!r} / {place.strip()[:40]!r} is no node")
        made[int(head.split()[0])] = values
    return made


def _mode(dataset: _Dataset) -> _Mode:
    """A normal mode at nodes."""
    lines = dataset.lines
    if dataset.kind == 55:
        codes = [int(x) for x in _floats(lines[5])]
        analysis, kind, per = codes[1], codes[4], codes[5]
        real = _floats(lines[7])
        frequency, mass, start = real[0], real[1], 8
    else:
        codes = [int(x) for x in _floats(lines[8])]
        analysis, kind, per = codes[1], codes[4], codes[5]
        if int(_floats(lines[2])[0]) != 1:
            raise ValueError("data that are not at nodes")
        real = _floats(lines[11])
        frequency, mass, start = _precise(lines[7], real[1]), real[3], 13
    if analysis != 2:
        raise ValueError("analysis data that are no normal mode")
    if kind not in (2, 4):
        raise ValueError("complex shapes; real normal modes are needed")
    values: dict[int, list[float]] = {}
    at = start
    while at < len(lines):
        label = lines[at].split()
        if len(label) != 1:
            raise ValueError(f"{lines[at].strip()[:40]!r} is no node number")
        at += 1
        found: list[float] = []
        while len(found) < per:
            found += _floats(lines[at])
            at += 1
        if len(found) != per:
            raise ValueError(f"node {label[0]} has {len(found)} values instead of {per}")
        values[int(label[0])] = found
    if not values:
        raise ValueError("no node has values")
    return _Mode((2 * np.pi * frequency) ** 2, mass, values)


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
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def _units() -> list[str]:
    return [
        "    -1", "   164", f"{1:10d}{'SI: Meter (newton)':<20}{2:10d}",
        f"{1.0:25.17E}{1.0:25.17E}{1.0:25.17E}", f"{273.15:25.17E}", "    -1",
    ]  # fmt: skip


def _row(values: Array | list[float]) -> str:
    return "".join(f"{float(v):25.16E}" for v in values)
