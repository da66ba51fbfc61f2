"""Matrices of MatrixMarket files, read strictly: what is cut off, misspelt or of another size than it says is refused."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.nodal import MOST_COORDINATES
from supple.robot.named_files import checked_file

_BANNER = ("%%matrixmarket", "matrix")
_LAYOUTS = ("coordinate", "array")
_FIELDS = ("real", "double", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric")
_WHOLE = re.compile(rb"\d{1,10}")
_NUMBER = {
    "integer": re.compile(rb"[-+]?\d{1,300}"),
    "real": re.compile(rb"[-+]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eEdD][-+]?\d{1,4})?"),
}
_MOST_ENTRIES = 20_000_000
_MOST_DENSE = 5_000  # rows of a matrix written with its zeros
_SHORTEST = {"coordinate": 4, "array": 2}  # bytes of a line: "1 1\n", "1\n"


@dataclass(frozen=True)
class _Kind:
    layout: str
    number: re.Pattern[bytes] | None  # None: a pattern, whose entries are 1
    symmetric: bool


class _Lines:
    """Lines with something on them, by number; comments are passed over."""

    def __init__(self, data: bytes, file: str) -> None:
        self.file, self.number = file, 0
        if not data.endswith(b"\n"):
            raise SuppleError(f"{file}: ends within a line; the file is cut off (a whole one ends with a line break)")
        self.rest = io.BytesIO(data)

    def fault(self, text: str) -> SuppleError:
        return SuppleError(f"{self.file}:{self.number}: {text}")

    def __iter__(self) -> Iterator[list[bytes]]:
        for line in self.rest:
            self.number += 1
            if line.strip() and not line.startswith(b"%"):
                yield line.split()


def read_market(path: Path) -> Any:
    """The square sparse matrix of a MatrixMarket file."""
    data = checked_file(path).read_bytes()
    lines = _Lines(data, path.name)
    kind = _kind(next(lines.rest), path.name)
    lines.number = 1
    every = iter(lines)
    rows, entries = _sizes(next(every, []), kind, lines)
    if entries > _MOST_ENTRIES:
        raise lines.fault(f"says {entries} entries; at most {_MOST_ENTRIES} are read")
    if entries * _SHORTEST[kind.layout] > len(data):
        raise lines.fault(f"says {entries} entries, more than the file holds; it is cut off or broken")
    if kind.layout == "array":
        return _array(every, rows, entries, kind, lines)
    return _coordinate(every, rows, entries, kind, lines)


def _kind(line: bytes, file: str) -> _Kind:
    words = line.decode("latin-1").lower().split()
    if len(words) != 5 or tuple(words[:2]) != _BANNER:
        raise SuppleError(f"{file}:1: must begin with a line such as %%MatrixMarket matrix coordinate real symmetric")
    layout, field, symmetry = words[2:]
    for word, allowed in ((layout, _LAYOUTS), (field, _FIELDS), (symmetry, _SYMMETRIES)):
        if word not in allowed:
            raise SuppleError(f"{file}:1: must be one of {', '.join(allowed)}: word {words.index(word) + 1} is not")
    if field == "pattern" and layout == "array":
        raise SuppleError(f"{file}:1: a pattern has places and no values, so it cannot be an array")
    number = None if field == "pattern" else _NUMBER["integer" if field == "integer" else "real"]
    return _Kind(layout, number, symmetry == "symmetric")


def _sizes(words: list[bytes], kind: _Kind, lines: _Lines) -> tuple[int, int]:
    """Rows and written entries of the matrix, from its line of sizes."""
    wanted = 3 if kind.layout == "coordinate" else 2
    if len(words) != wanted or not all(_WHOLE.fullmatch(w) for w in words):
        raise lines.fault(f"must give the sizes, {wanted} whole numbers")
    rows, columns = int(words[0]), int(words[1])
    most = MOST_COORDINATES if kind.layout == "coordinate" else _MOST_DENSE
    if not 0 < rows <= most or rows != columns:
        raise lines.fault(f"is {rows} x {columns}; a square matrix of at most {most} rows is needed")
    full = rows * (rows + 1) // 2 if kind.symmetric else rows * rows
    return rows, int(words[2]) if kind.layout == "coordinate" else full


def _value(word: bytes, kind: _Kind, lines: _Lines) -> float:
    assert kind.number is not None
    if not kind.number.fullmatch(word):
        raise lines.fault("its value is no whole number" if kind.number is _NUMBER["integer"] else "its value is no number")
    value = float(word.replace(b"d", b"e").replace(b"D", b"E"))
    if not np.isfinite(value):
        raise lines.fault("its value is too large")
    return value


def _coordinate(every: Iterator[list[bytes]], rows: int, entries: int, kind: _Kind, lines: _Lines) -> Any:
    places, values = np.zeros((entries, 2), dtype=np.int32), np.ones(entries)
    wanted = 2 if kind.number is None else 3
    for k in range(entries):
        words = next(every, None)
        if words is None:
            raise lines.fault(f"the file ends after {k} of {entries} entries; it is cut off")
        if len(words) != wanted or not (_WHOLE.fullmatch(words[0]) and _WHOLE.fullmatch(words[1])):
            raise lines.fault("must be a row, a column" + (" and a value" if wanted == 3 else ""))
        place = int(words[0]), int(words[1])
        if not 1 <= min(place) <= max(place) <= rows:
            raise lines.fault(f"its entry lies outside {rows} x {rows}")
        places[k] = place
        if wanted == 3:
            values[k] = _value(words[2], kind, lines)
    _check_end(every, entries, lines)
    row, column = places.T - 1
    if kind.symmetric:
        if (row > column).any() and (row < column).any():
            raise SuppleError(f"{lines.file}: is symmetric, but has entries on both sides of the diagonal")
        off = row != column
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        values = np.concatenate([values, values[off]])
    return sparse.csr_matrix((values, (row, column)), (rows, rows))


def _array(every: Iterator[list[bytes]], rows: int, entries: int, kind: _Kind, lines: _Lines) -> Any:
    """Values by columns; of a symmetric matrix those from the diagonal down."""
    values: Array = np.zeros(entries)
    for k in range(entries):
        words = next(every, None)
        if words is None:
            raise lines.fault(f"the file ends after {k} of {entries} values; it is cut off")
        if len(words) != 1:
            raise lines.fault("must be a single value")
        values[k] = _value(words[0], kind, lines)
    _check_end(every, entries, lines)
    if not kind.symmetric:
        return sparse.csr_matrix(values.reshape(rows, rows).T)
    made = np.zeros((rows, rows))
    made[np.triu_indices(rows)] = values  # the lower triangle by columns is the upper one by rows
    return sparse.csr_matrix(made + np.triu(made, 1).T)


def _check_end(every: Iterator[list[bytes]], entries: int, lines: _Lines) -> None:
    if next(every, None) is not None:
        raise lines.fault(f"holds more than the {entries} entries that its sizes say")
