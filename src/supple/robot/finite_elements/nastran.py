"""Nastran: modes of punch files (.pch) and of binary results (.op2), with nodes of bulk data (.bdf)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements import output2
from supple.robot.finite_elements.bulk_data import nastran_number, read_grids
from supple.robot.finite_elements.coordinate_systems import Systems
from supple.robot.finite_elements.nodal import NodalModel, check_model, without_still_nodes
from supple.robot.named_files import checked_file

_EIGENVALUE = re.compile(r"\$EIGENVALUE\s*=\s*(\S+)\s+MODE\s*=\s*(\d+)")
_DECKS = (".bdf", ".dat", ".nas")


def read_punch(path: Path, nodes: Path | None) -> NodalModel:
    """Mass-normalised modes of a punch file; nodes from a .bdf (same name if not given)."""
    checked_file(path)
    grids = read_grids(nodes or _deck(path))
    squares, modes = _Punch(path).modes()
    labels = np.array(sorted(modes[0]))
    for k, mode in enumerate(modes, start=1):
        if sorted(mode) != labels.tolist():
            raise SuppleError(f"{path.name}: mode {k} has other nodes than mode 1; the file is cut off or broken")
    shapes = np.array([[mode[int(n)] for n in labels] for mode in modes])  # modes x N x 6
    shapes = shapes.transpose(1, 2, 0)
    _check_scale(shapes, path.name)
    return _model(labels, shapes, np.array(squares), grids, False, path.name)


def _check_scale(shapes: Array, file: str) -> None:
    """Modes (N x 6 x modes) given without generalised masses must be normalised by them."""
    if (np.abs(np.abs(shapes).max(axis=(0, 1)) - 1) < 1e-6).all():
        raise SuppleError(
            f"{file}: every mode's largest displacement is 1, so the modes do not tell the mass; "
            "use EIGRL with NORM=MASS, or the .op2 file with its LAMA table"
        )


def _deck(path: Path) -> Path:
    """The bulk data of the same name."""
    found = [path.with_suffix(s) for s in _DECKS if path.with_suffix(s).is_file()]
    return found[0] if found else path.with_suffix(_DECKS[0])


def _model(labels: Array, shapes: Array, squares: Array, grids: Systems, basic: bool, file: str) -> NodalModel:
    """The model of shapes (N x 6 x modes) at GRIDs, turned to the basic system; fluid and still points left out."""
    missing = [int(n) for n in labels if int(n) not in grids.grids]
    if missing:
        raise SuppleError(f"{grids.file}: has no GRID {missing[0]}, at which {file} gives modes")
    if not np.isfinite(shapes).all():
        raise SuppleError(f"{file}: a mode holds entries that are no finite numbers")
    solid = np.array([grids.grids[int(n)].moves >= 0 for n in labels], dtype=bool)
    labels, shapes = labels[solid], shapes[solid].astype(float)
    if not len(labels):
        raise SuppleError(f"{file}: gives modes at no GRID of a structure")
    xyz = np.array([grids.place(int(n)) for n in labels])
    for a, n in enumerate(labels):
        if not basic and grids.grids[int(n)].moves:
            R = grids.axes(int(n))
            shapes[a, :3], shapes[a, 3:] = R @ shapes[a, :3], R @ shapes[a, 3:]
    node, component = np.repeat(np.arange(len(labels)), 6), np.tile(np.arange(6), len(labels))
    turns = np.abs(shapes[:, 3:]).max(axis=(1, 2)) > 0  # nodes of solids do not
    keep = (component < 3) | turns[node]
    modes = shapes.reshape(6 * len(labels), -1)
    made = NodalModel(labels, xyz, node[keep], component[keep], None, None, modes[keep], squares)
    return without_still_nodes(check_model(made, file))


class _Punch:
    """The eigenvectors of a punch file, block by block."""

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.lines = [line[:72].rstrip() for line in path.read_text(encoding="latin-1").split("\n")]
        self.squares: list[float] = []
        self.shapes: list[dict[int, list[float]]] = []
        self.subcases: set[str] = set()

    def modes(self) -> tuple[list[float], list[dict[int, list[float]]]]:
        """Eigenvalues, and the shapes as node -> six displacements."""
        inside, at = False, 0
        while at < len(self.lines):
            line = self.lines[at]
            at += 1
            if line.startswith("$"):
                inside = self._heading(line, inside, at)
            elif inside and line:
                at = self._row(at)
        if not self.shapes or not self.shapes[0]:
            raise SuppleError(
                f"{self.file}: holds no eigenvectors; ask for them by DISPLACEMENT(PUNCH)=ALL in a SOL 103 run"
            )
        if len(self.subcases) > 1:
            raise SuppleError(f"{self.file}: holds modes of {len(self.subcases)} subcases; run the free body alone")
        return self.squares, self.shapes

    def _heading(self, line: str, inside: bool, at: int) -> bool:
        """Whether eigenvectors follow this line."""
        name, _, value = line[1:].partition("=")
        name = name.strip()
        if name == "TITLE":
            return False
        if not value and not name.endswith("OUTPUT"):
            return name == "EIGENVECTOR"
        if not inside:
            return False
        if name.endswith("OUTPUT") and name != "REAL OUTPUT":
            raise SuppleError(f"{self.file}:{at}: {name.lower()}; real normal modes (SOL 103) are needed")
        if name == "POINT ID":
            raise SuppleError(f"{self.file}:{at}: is sorted by nodes (SORT2); ask for DISPLACEMENT(SORT1, PUNCH)")
        if name == "SUBCASE ID":
            self.subcases.add(value.strip())
        if name == "EIGENVALUE":
            found = _EIGENVALUE.match(line)
            if found is None:
                raise SuppleError(f"{self.file}:{at}: is no eigenvalue of a normal mode")
            self.squares.append(nastran_number(found[1], f"{self.file}:{at}"))
            self.shapes.append({})
        return True

    def _row(self, at: int) -> int:
        """Reads the node of line `at` and its rotations; the number of lines read so far."""
        line = self.lines[at - 1]
        node, kind = line[:10].strip(), line[10:18].strip()
        if not node.isdigit() or kind not in ("G", "S"):
            raise SuppleError(f"{self.file}:{at}: is no node with its displacement")
        if not self.shapes:
            raise SuppleError(f"{self.file}:{at}: node {node} comes before any $EIGENVALUE")
        if at >= len(self.lines) or not self.lines[at].startswith("-CONT-"):
            raise SuppleError(f"{self.file}:{at}: node {node} lacks its rotations (-CONT-); the file is cut off or broken")
        parts = [
            (text[18 + 18 * k : 36 + 18 * k], n) for n in (at, at + 1) for text in (self.lines[n - 1],) for k in range(3)
        ]
        if kind == "G":
            self.shapes[-1][int(node)] = [nastran_number(text, f"{self.file}:{n}") for text, n in parts]
        return at + 1


def read_op2(path: Path, nodes: Path | None = None) -> NodalModel:
    """Modes of an .op2 file of a free body; nodes from its GEOM1 table, or from a .bdf."""
    modes: list[output2.ModeTable] = []
    other: list[str] = []
    values: list[dict[int, tuple[float, float]]] = []
    places: list[Systems] = []
    for table in output2.read_tables(path):
        if re.match(r"B?O(UG|PHIG)", table.name):
            kind = output2.mode_kind(table)
            modes += [output2.mode_table(table, path.name)] if kind == "real" else []
            other += [table.name] if kind == "other" else []
        elif re.fullmatch(r"LAMA[S1]?", table.name):
            values.append(output2.generalised_masses(table, path.name))
        elif re.fullmatch(r"GEOM1[SN]?", table.name):
            places.append(output2.geometry(table, path.name))
    if not modes and other:
        raise SuppleError(
            f"{path.name}: table {other[0]} holds complex or buckling modes; normal modes (SOL 103) are needed"
        )
    if not modes:
        raise SuppleError(
            f"{path.name}: holds no modes (OUGV1); ask for DISPLACEMENT(PLOT)=ALL and PARAM,POST,-1 in SOL 103"
        )
    modes = [m for m in modes if not m.basic] or modes
    if len(modes) > 1:
        raise SuppleError(f"{path.name}: has {len(modes)} tables of modes; run one subcase without superelements")
    inside = places and nodes is None
    grids = _holding(places, modes[0].grids, path) if inside else read_grids(nodes or _deck(path))
    return _from_tables(modes[0], values, grids, path.name)


def _holding(places: list[Systems], labels: Array, path: Path) -> Systems:
    """The GRIDs among which all labels are; superelements have a table each."""
    fitting = [p for p in places if set(labels.tolist()) <= set(p.grids)]
    if not fitting:
        raise SuppleError(f"{path.name}: has modes at nodes that no table GEOM1 places; give the .bdf as nodes:")
    return fitting[-1]


def _from_tables(
    modes: output2.ModeTable, values: list[dict[int, tuple[float, float]]], grids: Systems, file: str
) -> NodalModel:
    given = np.array(modes.squares)
    if not values:
        _check_scale(modes.shapes, file)
        values = [{n: (square, 1.0) for n, square in zip(modes.numbers, modes.squares, strict=True)}]
    tables = [np.array([v[n] for n in modes.numbers]).T for v in values if set(modes.numbers) <= set(v)]
    size = np.abs(given).max()  # LAMA of superelements may come first
    fitting = [t for t in tables if np.abs(t[0] - given).max() <= 1e-5 * size]
    if not fitting:
        raise SuppleError(f"{file}: the eigenvalues (LAMA) do not belong to the modes of table {modes.name}")
    squares, masses = fitting[-1]
    if not (masses > 0).all():
        raise SuppleError(f"{file}: a mode has no generalised mass")
    order = np.argsort(modes.grids, kind="stable")
    return _model(modes.grids[order], modes.shapes[order] / np.sqrt(masses), squares, grids, modes.basic, file)
