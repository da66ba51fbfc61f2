"""Nastran's binary results (.op2): tables as lists of records, and the modes, eigenvalues and GRIDs in them.

A file is a row of Fortran records; a record of one integer, the key, says what follows: n > 0 words of data, the end of
a logical record (negative), or the end of a table (0). Words have 4 or 8 bytes, of either byte order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.coordinate_systems import Definition, Grid, Systems
from supple.robot.named_files import checked_file

_REAL_MODES, _EIGENVECTORS = 2, 7  # approach and table codes
_LARGEST = 5 * 10**8  # number of a node or system; reals from 1e-19 on look larger
_GRID, _CORD1, _CORD2 = 4501, {1801: "R", 1701: "C", 1901: "S"}, {2101: "R", 2001: "C", 2201: "S"}


@dataclass(frozen=True)
class Output2Table:
    """A table of the file: its records as bytes, and how words are stored."""

    name: str
    records: list[bytes]
    order: str  # < or >
    word: int  # bytes

    def whole(self, record: bytes) -> Array:
        return np.frombuffer(record[: len(record) // self.word * self.word], f"{self.order}i{self.word}")

    def real(self, record: bytes) -> Array:
        values = np.frombuffer(record[: len(record) // self.word * self.word], f"{self.order}f{self.word}")
        with np.errstate(invalid="ignore"):  # words that are integers
            return values.astype(float)


@dataclass(frozen=True)
class ModeTable:
    """Modes of an OUG table: numbers, eigenvalues, GRIDs, and shapes (N x 6 x modes)."""

    name: str
    numbers: list[int]
    squares: list[float]
    grids: Array
    shapes: Array
    basic: bool  # displacements are along the basic system's axes already


# Tables -------------------------------------------------------------------------------------------------------------------


class _Cursor:
    """The Fortran records of a file, one after the other."""

    def __init__(self, path: Path) -> None:
        self.data, self.file, self.at = path.read_bytes(), path.name, 0
        first = self.data[:4]
        found = [(o, w) for o in "<>" for w in (4, 8) if first == np.array([w], f"{o}i4").tobytes()]
        if not found:
            raise SuppleError(f"{self.file}: is no .op2 file; it must begin with a record of 4 or 8 bytes")
        self.order, self.word = found[0]

    def record(self) -> bytes:
        size = int.from_bytes(self.data[self.at : self.at + 4], "little" if self.order == "<" else "big")
        end = self.at + 4 + size
        if end + 4 > len(self.data) or self.data[end : end + 4] != self.data[self.at : self.at + 4]:
            raise SuppleError(f"{self.file}: the record at byte {self.at} has no end; the file is cut off or broken")
        body = self.data[self.at + 4 : end]
        self.at = end + 4
        return body

    def key(self) -> int:
        start = self.at
        body = self.record()
        if len(body) != self.word:
            raise SuppleError(f"{self.file}: a key is missing at byte {start}; the file is broken")
        return int(np.frombuffer(body, f"{self.order}i{self.word}")[0])


def read_tables(path: Path) -> Iterator[Output2Table]:
    """The tables and matrices of an .op2 file."""
    cursor = _Cursor(checked_file(path))
    key = cursor.key()
    if key == 3:  # PARAM,POST,-1: date, title, label and, of late, the version first
        while key > 0:
            cursor.record()
            key = cursor.key()
    else:
        cursor.at = 0
    while cursor.at < len(cursor.data):
        key = cursor.key()
        if key == 0:
            continue
        if key != 2:
            raise SuppleError(f"{cursor.file}: no table begins at byte {cursor.at}; the file is broken")
        raw = cursor.record()
        name = raw[:8] if cursor.word == 4 else raw[:4] + raw[8:12]
        while cursor.key() > 0:  # the version, in files of late
            cursor.record()
        cursor.key(), cursor.record(), cursor.key()  # 7, trailer, -2
        yield Output2Table(name.decode("latin-1").strip(), list(_records(cursor)), cursor.order, cursor.word)


def _records(cursor: _Cursor) -> Iterator[bytes]:
    while True:
        if cursor.key() == 0:
            return
        cursor.record()  # 0 of a table, or the type of a matrix' column
        key = cursor.key()
        if key == 0:
            return
        parts = []
        while key > 0:
            parts.append(cursor.record())
            key = cursor.key()
        yield b"".join(parts)


# What is in them ----------------------------------------------------------------------------------------------------------


def mode_kind(table: Output2Table) -> str:
    """'real' for normal modes, 'other' for complex and buckling modes, '' for what are no modes."""
    idents = [table.whole(r) for r in table.records[1::2]]
    if not idents or len(idents[0]) < 10 or idents[0][1] % 1000 != _EIGENVECTORS:
        return ""
    real = all(len(i) >= 10 and i[0] // 10 == _REAL_MODES and i[1] // 1000 % 2 == 0 and i[8] == 1 for i in idents)
    return "real" if real else "other"


def mode_table(table: Output2Table, file: str) -> ModeTable:
    """The normal modes of an OUG table of kind 'real'."""
    idents = [table.whole(r) for r in table.records[1::2]]
    if any(i[1] // 1000 for i in idents):
        raise SuppleError(f"{file}: table {table.name} is sorted by nodes (SORT2); ask for DISPLACEMENT(SORT1)")
    if len({int(i[3]) for i in idents}) > 1:
        raise SuppleError(f"{file}: holds modes of several subcases; run the free body alone")
    if any(i[9] != 8 for i in idents) or len(table.records) != 1 + 2 * len(idents):
        raise SuppleError(f"{file}: table {table.name} is cut off, or not laid out as modes are")
    rows = [table.whole(r).reshape(-1, 8) if len(r) % (8 * table.word) == 0 else None for r in table.records[2::2]]
    first = rows[0]
    if first is None or any(r is None or not np.array_equal(r[:, :2], first[:, :2]) for r in rows):
        raise SuppleError(f"{file}: table {table.name} gives its modes at different nodes; it is cut off or broken")
    is_grid = first[:, 1] == 1  # others are scalar points
    values = [table.real(r).reshape(-1, 8)[is_grid, 2:] for r in table.records[2::2]]
    squares = [float(table.real(r)[5]) for r in table.records[1::2]]
    grids = first[is_grid, 0] // 10
    return ModeTable(
        table.name, [int(i[4]) for i in idents], squares, grids.astype(int), np.stack(values, axis=-1),
        table.name.startswith("B") or table.name.endswith("PAT"),
    )  # fmt: skip


def generalised_masses(table: Output2Table, file: str) -> dict[int, tuple[float, float]]:
    """Mode number -> eigenvalue and generalised mass, of a LAMA table."""
    if len(table.records) != 3:
        raise SuppleError(f"{file}: table {table.name} holds eigenvalues of several subcases; run the free body alone")
    whole, real = (f(table.records[2]) for f in (table.whole, table.real))
    if not len(whole) or len(whole) % 7:
        raise SuppleError(f"{file}: table {table.name} is cut off or broken")
    return {int(n[0]): (float(x[2]), float(x[5])) for n, x in zip(whole.reshape(-1, 7), real.reshape(-1, 7), strict=True)}


def geometry(table: Output2Table, file: str) -> Systems:
    """The GRIDs and coordinate systems of a GEOM1 table."""
    grids: dict[int, Grid] = {}
    definitions: dict[int, Definition] = {}
    for record in table.records[1:]:
        if len(record) < 3 * table.word:
            raise SuppleError(f"{file}: table {table.name} has a record without its three codes; the file is broken")
        head, body = int(table.whole(record)[0]), record[3 * table.word :]
        if head == _GRID:
            for row in _rows(table, body, "iirrriii", file):
                grids[int(row[0])] = Grid(int(row[1]), (row[2], row[3], row[4]), int(row[5]))
        elif head in _CORD1:
            for row in _rows(table, body, "iiiiii", file):
                definitions[int(row[0])] = Definition(_CORD1[head], 0, (), (int(row[3]), int(row[4]), int(row[5])))
        elif head in _CORD2:
            for row in _rows(table, body, "iiii" + 9 * "r", file):
                points = (tuple(row[4:7]), tuple(row[7:10]), tuple(row[10:13]))
                definitions[int(row[0])] = Definition(_CORD2[head], int(row[3]), points)
    return Systems(definitions, grids, file)


def _rows(table: Output2Table, body: bytes, layout: str, file: str) -> list[tuple[float, ...]]:
    """Rows of integers and reals; newer versions store the reals of GEOM1 with twice as many bytes."""
    for real in (table.word, 2 * table.word):
        if real > 8:
            continue
        kinds = [(f"f{k}", f"{table.order}{'i' if c == 'i' else 'f'}{table.word if c == 'i' else real}")
                 for k, c in enumerate(layout)]  # fmt: skip
        size = np.dtype(kinds).itemsize
        if len(body) % size:
            continue
        rows = [tuple(row.tolist()) for row in np.frombuffer(body, np.dtype(kinds))]
        if table.word == 8 or all(_sensible(row, layout) for row in rows):
            return rows
    raise SuppleError(f"{file}: table {table.name} is laid out in a way that is not known; give the .bdf as nodes:")


def _sensible(row: tuple[float, ...], layout: str) -> bool:
    """Whether numbers of nodes and systems are positive: integers read across reals are not."""
    whole = [x for x, c in zip(row, layout, strict=True) if c == "i"]
    real = [x for x, c in zip(row, layout, strict=True) if c == "r"]
    return whole[0] > 0 and all(-1 <= x < _LARGEST for x in whole[:3]) and bool(np.isfinite(real).all())
