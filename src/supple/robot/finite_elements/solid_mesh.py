"""Meshes of solids: tetrahedra or hexahedra with the numbers of their nodes, from decks of other programs or by meshio.

Decks (.inp of Abaqus and CalculiX, .bdf of Nastran, .unv) are read here, because meshio drops the numbers of nodes and
Nastran's coordinate systems. Lines and surfaces, which meshers write beside the solid, are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements import bulk_data, calculix, universal
from supple.robot.finite_elements.mesh_files import read_mesh
from supple.robot.named_files import checked_file

_ABAQUS = {"C3D4": "tetra", "C3D10": "tetra10", "C3D8": "hexahedron", "C3D20": "hexahedron20"}
_UNIVERSAL = {111: "tetra", 118: "tetra10", 115: "hexahedron", 116: "hexahedron20"}
_NASTRAN = {("CTETRA", 4): "tetra", ("CTETRA", 10): "tetra10", ("CHEXA", 8): "hexahedron", ("CHEXA", 20): "hexahedron20"}
_COUNT = {"tetra": 4, "tetra10": 10, "hexahedron": 8, "hexahedron20": 20, "hexahedron27": 27}
_OTHER_SOLIDS = ("wedge", "pyramid", "tetra", "hexahedron", "polyhedron")
_TETRA_OF_UNIVERSAL = (0, 2, 4, 9, 1, 3, 5, 6, 7, 8)  # corners and nodes between them take turns
_HEXA_OF_UNIVERSAL = (0, 2, 4, 6, 12, 14, 16, 18, 1, 3, 5, 7, 13, 15, 17, 19, 8, 9, 10, 11)
_HEXA_OF_NASTRAN = (*range(12), 16, 17, 18, 19, 12, 13, 14, 15)  # upright edges before those on top


@dataclass(frozen=True)
class Group:
    """Nodes of a named group, and edges (E x 2) of its cells, between which further nodes may come to lie."""

    nodes: Array
    edges: Array


@dataclass(frozen=True)
class SolidMesh:
    """Nodes with their numbers in the file, and cells of 4, 8, 10 or 20 indices of nodes, in the order of VTK."""

    points: Array  # P x 3
    numbers: Array  # P
    cells: Array
    groups: Mapping[str, Group] = field(default_factory=dict)  # gmsh's physical groups and others


def read_solid(path: Path) -> SolidMesh:
    """The tetrahedra or hexahedra of a file."""
    suffix = checked_file(path).suffix.lower()
    if suffix == ".inp":
        nodes, cells = calculix.read_nodes(path), _abaqus(path)
    elif suffix in (".bdf", ".nas", ".dat", ".fem"):
        nodes, cells = _nastran(path)
    elif suffix in (".unv", ".uff"):
        nodes, cells = _universal(path)
    else:
        return _by_meshio(path)
    return _numbered(nodes, cells, path.name)


def _numbered(nodes: Mapping[int, list[float]], cells: Iterable[tuple[str, list[int]]], file: str) -> SolidMesh:
    kinds: dict[str, list[list[int]]] = {}
    for kind, corners in cells:
        if kind in _COUNT and len(corners) != _COUNT[kind]:
            raise SuppleError(f"{file}: a {kind} cell has {len(corners)} nodes instead of {_COUNT[kind]}")
        kinds.setdefault(kind, []).append(corners)
    numbers = np.array(sorted(nodes))
    made = {kind: np.array(rows) if kind in _COUNT else np.zeros((0, 0), dtype=int) for kind, rows in kinds.items()}
    for kind, rows in made.items():
        stray = np.setdiff1d(rows, numbers)
        if len(stray):
            raise SuppleError(f"{file}: a {kind} cell names node {int(stray[0])}, which does not exist")
    points = np.array([nodes[int(n)] for n in numbers], dtype=float)
    if not np.isfinite(points).all():
        raise SuppleError(
            f"{file}: node {numbers[~np.isfinite(points).all(axis=1)][0]} has a coordinate that is no finite number"
        )
    return SolidMesh(points, numbers, _one_kind({k: np.searchsorted(numbers, r) for k, r in made.items()}, file))


def _one_kind(kinds: Mapping[str, Array], file: str) -> Array:
    """Cells as rows of 4, 8, 10 or 20 nodes."""
    names = ", ".join(sorted(kinds)) or "no solid cells"
    odd = sorted(k for k in kinds if k.startswith(_OTHER_SOLIDS) and k not in _COUNT)
    tetra, hexa = ([kinds[k] for k in sorted(kinds) if k in _COUNT and k.startswith(s)] for s in ("tetra", "hexa"))
    if odd or bool(tetra) == bool(hexa):
        raise SuppleError(f"{file}: needs tetrahedra or hexahedra, one of the two and nothing else solid; it has {names}")
    cells = [c[:, :20] for c in hexa] or tetra  # 27 nodes: those in faces and within are left out
    fewest = min(c.shape[1] for c in cells)
    return np.vstack([c[:, :fewest] for c in cells])


def _by_meshio(path: Path) -> SolidMesh:
    mesh = read_mesh(path)
    kinds: dict[str, list[Array]] = {}
    for block in mesh.cells:
        kinds.setdefault(block.type, []).append(np.asarray(block.data))
    points = np.asarray(mesh.points, dtype=float)
    solid = {k: np.vstack(v) for k, v in kinds.items() if k.startswith(_OTHER_SOLIDS)}
    flat = {k: np.zeros((0, 0)) for k in kinds if k not in solid}
    return SolidMesh(points[:, :3], np.arange(len(points)), _one_kind(solid | flat, path.name), _groups(mesh))


def _groups(mesh: Any) -> dict[str, Group]:
    """Nodes of named groups: physical groups of gmsh, sets of cells and of nodes of others."""
    made: dict[str, list[Array]] = {}
    tags = mesh.cell_data.get("gmsh:physical", [])
    names = {(int(tag), int(dimension)): str(name) for name, (tag, dimension) in mesh.field_data.items()}
    for block, own in zip(mesh.cells, tags, strict=False):
        for tag in np.unique(own):
            name = names.get((int(tag), int(block.dim)), f"{int(tag)}")
            made.setdefault(name, []).append(np.asarray(block.data)[np.asarray(own) == tag])
    for name, rows in mesh.cell_sets.items() if not tags else ():
        for block, own in zip(mesh.cells, rows, strict=False):
            if own is not None and len(own):
                made.setdefault(str(name), []).append(np.asarray(block.data)[np.asarray(own, dtype=int)])
    for name, rows in mesh.point_sets.items():
        made.setdefault(str(name), []).append(np.asarray(rows, dtype=int).reshape(-1, 1))
    return {name: _group(parts) for name, parts in made.items()}


def _group(parts: list[Array]) -> Group:
    edges = [np.zeros((0, 2), dtype=int)]
    for cells in parts:
        corners = cells[:, : 3 if cells.shape[1] in (3, 6) else 4]
        count = corners.shape[1]
        edges += [np.sort(corners[:, [a, b]], axis=1) for a in range(count) for b in range(a)]
    return Group(np.unique(np.concatenate([c.ravel() for c in parts])), np.unique(np.vstack(edges), axis=0))


def _abaqus(path: Path) -> list[tuple[str, list[int]]]:
    """The solid elements of an input deck."""
    made: list[tuple[str, list[int]]] = []
    kind, row = "", list[int]()
    for text, where in calculix.deck_lines(path):
        if text.startswith("*"):
            words = [w.strip().upper() for w in text.split(",")]
            given = next((w.partition("=")[2].strip() for w in words if w.startswith("TYPE")), "")
            kind, row = (_abaqus_kind(given) if words[0] == "*ELEMENT" else ""), []
        elif kind:
            try:
                row += [int(x) for x in text.split(",") if x.strip()]
            except ValueError as error:
                raise SuppleError(f"{where}: is no element (number and nodes)") from error
            if len(row) > _COUNT.get(kind, 0):
                made.append((kind, row[1 : 1 + _COUNT[kind]] if kind in _COUNT else row[1:]))
                row = []
    return made


def _abaqus_kind(name: str) -> str:
    """C3D10M -> tetra10; other solids by their name, '' for lines and surfaces."""
    if not name.startswith("C3D"):
        return ""
    digits = "".join(c for c in name[3:] if c.isdigit())
    return _ABAQUS.get(f"C3D{digits}", "wedge" if digits in ("6", "15") else "pyramid")


def _nastran(path: Path) -> tuple[dict[int, list[float]], list[tuple[str, list[int]]]]:
    systems, elements = bulk_data.read_grids(path), bulk_data.read_solids(path)
    nodes = {n: systems.place(n).tolist() for n in systems.grids}
    kinds = {"CPENTA": "wedge", "CPYRAM": "pyramid", "CPYRA": "pyramid"}
    cells = []
    for name, corners in elements:
        kind = kinds.get(name) or _NASTRAN.get((name, len(corners)))
        if kind is None:
            kind, corners = ("tetra", corners[:4]) if name == "CTETRA" else ("hexahedron", corners[:8])
        elif kind == "hexahedron20":
            corners = [corners[k] for k in _HEXA_OF_NASTRAN]
        cells.append((kind, corners))
    return nodes, cells


def _universal(path: Path) -> tuple[dict[int, list[float]], list[tuple[str, list[int]]]]:
    nodes, elements = universal.read_elements(path)
    cells = []
    for descriptor, given in elements:
        kind = _UNIVERSAL.get(descriptor, "wedge" if descriptor in (112, 113, 114) else "")
        if kind == "tetra10":
            given = [given[k] for k in _TETRA_OF_UNIVERSAL]
        elif kind == "hexahedron20":
            given = [given[k] for k in _HEXA_OF_UNIVERSAL]
        if kind:
            cells.append((kind, given))
    return nodes, cells
