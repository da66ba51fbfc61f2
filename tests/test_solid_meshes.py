"""Meshes of solids as meshers write them: numbers of nodes, curved edges, and what is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bars
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh

pytest.importorskip("skfem")

from supple.errors import SuppleError
from supple.robot.finite_elements.files import FeFile, read_fe
from supple.robot.finite_elements.model import rigid_inertia
from supple.robot.finite_elements.nodal import NodalModel, chosen_nodes, fe_model
from supple.robot.finite_elements.solid import solid
from supple.robot.finite_elements.solid_mesh import read_solid

STEEL = (bars.E, bars.NU, bars.RHO)
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))  # of VTK's tetrahedra, nodes 4 to 9
BEND = 0.1  # z grows by BEND x^2
THICK = 8.0  # a stout bar, so that few tetrahedra do


def quadratic(points: Any, cells: Any) -> tuple[Any, Any]:
    """The tetrahedra with a node in the middle of every edge."""
    places, rows, found = [list(p) for p in points], [], dict[tuple[int, int], int]()
    for cell in cells:
        row = [int(n) for n in cell]
        for a, b in EDGES:
            key = (min(row[a], row[b]), max(row[a], row[b]))
            if key not in found:
                found[key] = len(places)
                places.append(list((points[key[0]] + points[key[1]]) / 2))
            row.append(found[key])
        rows.append(row)
    return np.array(places), np.array(rows)


@cache
def arch() -> tuple[Any, Any]:
    """The bar, bent to a parabola: edges along x are curved, and quadratic tetrahedra follow them exactly."""
    points, cells = quadratic(*bars.tetrahedra(6, 2))
    points = points * [1, THICK, THICK]
    return points + np.outer(BEND * points[:, 0] ** 2, [0, 0, 1]), cells


def numbers(count: int) -> list[int]:
    """Numbers with gaps, not in order."""
    return [3000 - 3 * k for k in range(count)]


def abaqus(path: Path) -> Path:
    points, cells = arch()
    n = numbers(len(points))
    lines = [
        "*HEADING",
        " arch",
        "*NODE, NSET=Nall",
        *(f"{i}, {x:.15g}, {y:.15g}, {z:.15g}" for i, (x, y, z) in zip(n, points, strict=True)),
    ]
    lines += ["*ELEMENT, TYPE=T3D3, ELSET=Line1", f"9001, {n[0]}, {n[1]}, {n[2]}", "*Element, type = C3D10 , elset=Eall"]
    for k, cell in enumerate(cells):
        row = [k + 1, *(n[i] for i in cell)]
        lines += [", ".join(map(str, row[:7])) + ",", ", ".join(map(str, row[7:]))]  # over two lines
    path.write_text("\n".join(lines) + "\n")
    return path


def nastran(path: Path) -> Path:
    """Places in a system that is shifted and turned about z by 90 degrees."""
    points, cells = arch()
    n = numbers(len(points))
    lines = ["CORD2R,5,,1.,2.,3.,1.,2.,4.", ",1.,3.,3."]
    for i, (x, y, z) in zip(n, points, strict=True):
        lines += [f"{'GRID*':<8}{i:16d}{5:16d}{y - 2:16.11f}{1 - x:16.11f}", f"{'*':<8}{z - 3:16.11f}"]
    for k, cell in enumerate(cells):
        row = [f"{n[i]:<8d}" for i in cell]
        lines += [f"{'CTETRA':<8}{k + 1:<8d}{1:<8d}" + "".join(row[:6]), "+       " + "".join(row[6:])]
    path.write_text("\n".join(lines) + "\n")
    return path


def universal(path: Path, length: float = 1.0) -> Path:
    points, cells = arch()
    n = numbers(len(points))
    lines = [
        "    -1",
        "   164",
        f"{5:10d}{'mm (milli-newton)':<20}{2:10d}",
        f"{length:25.17E}" * 3,
        f"{273.15:25.17E}",
        "    -1",
    ]
    lines += ["    -1", "  2411"]
    for i, place in zip(n, points * length, strict=True):
        lines += [f"{i:10d}{1:10d}{1:10d}{11:10d}", "".join(f"{x:25.16E}" for x in place).replace("E", "D")]
    lines += ["    -1", "    -1", "  2412", f"{1:10d}{21:10d}{2:10d}{1:10d}{7:10d}{2:10d}", f"{0:10d}{1:10d}{1:10d}"]
    lines += [f"{n[0]:10d}{n[1]:10d}"]
    for k, cell in enumerate(cells):
        row = [f"{n[cell[i]]:10d}" for i in (0, 4, 1, 5, 2, 6, 7, 8, 9, 3)]  # as FreeCAD's tetra10_mesh.unv has them
        lines += [f"{k + 2:10d}{118:10d}{1:10d}{1:10d}{7:10d}{10:10d}", "".join(row[:8]), "".join(row[8:])]
    path.write_text("\n".join([*lines, "    -1"]) + "\n")
    return path


def vtk(path: Path) -> Path:
    meshio = pytest.importorskip("meshio")
    meshio.write_points_cells(path, arch()[0], [("tetra10", arch()[1])])
    return path


def test_curved_edges_are_followed() -> None:
    """The parabola keeps the volume (its map has determinant 1); its centre is higher by BEND / 3. Straight edges are not
    there: their centre is off by BEND h^2 / 6."""
    curved, straight = (solid(arch()[0], arch()[1][:, :k], *STEEL) for k in (10, 4))
    size = bars.RHO * bars.LENGTH * bars.Y * bars.Z * THICK**2
    for model, height in ((curved, BEND / 3), (straight, BEND / 3 + BEND / 6 / 36)):
        made = rigid_inertia(fe_model(model, []))
        assert made["mass"] == pytest.approx(size, rel=1e-10)
        assert float(made["MS_r"][2]) / size == pytest.approx(height, rel=1e-6)


@pytest.mark.parametrize(
    ("write", "name"), [(abaqus, "a.inp"), (nastran, "a.bdf"), (nastran, "a.fem"), (universal, "a.unv"), (vtk, "a.vtk")]
)
def test_one_mesh_in_every_format(tmp_path: Path, write: Any, name: str) -> None:
    """The same matrices from every file, and the file's own numbers on the nodes (vtk has none: from 0)."""
    model = read_fe(FeFile(write(tmp_path / name), elastic=STEEL))
    wanted = solid(*arch(), *STEEL)
    squares = [fe_model(m, []).free_modes(4)[0] for m in (model, wanted)]
    assert squares[0] == pytest.approx(squares[1], rel=1e-6)
    at = 5
    label = at if name.endswith("vtk") else numbers(len(arch()[0]))[at]
    (index,) = chosen_nodes(model, {"nodes": [label]})
    assert model.xyz[index] == pytest.approx(arch()[0][at], abs=1e-9)


def test_a_deck_in_two_files(tmp_path: Path) -> None:
    text = abaqus(tmp_path / "whole.inp").read_text()
    at = text.index("*Element")
    (tmp_path / "cells.inp").write_text(text[at:])
    (tmp_path / "a.inp").write_text(text[:at] + "*include, input = cells.inp\n** done\n")
    whole, parts = read_solid(tmp_path / "whole.inp"), read_solid(tmp_path / "a.inp")
    assert np.array_equal(whole.cells, parts.cells) and np.array_equal(whole.numbers, parts.numbers)


def bricks(path: Path) -> Path:
    """The arch of hexahedra of 20 nodes, in the order of the format."""
    points, cells = bars.hexahedra(3)
    edges = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
    middle = [[(points[c[a]] + points[c[b]]) / 2 for a, b in edges] for c in cells]
    every = np.vstack([points, np.reshape(middle, (-1, 3))]).round(12)
    every, number = np.unique(every, axis=0, return_inverse=True)
    rows = np.hstack([cells, len(points) + np.arange(12 * len(cells)).reshape(-1, 12)])
    rows = number.ravel()[rows] + 1
    every = every + np.outer(BEND * every[:, 0] ** 2, [0, 0, 1])
    if path.suffix == ".inp":
        nodes = [f"{k + 1}, {x}, {y}, {z}" for k, (x, y, z) in enumerate(every)]
        lines = [
            f"{k + 1}, " + ", ".join(map(str, r[:10])) + ",\n" + ", ".join(map(str, r[10:])) for k, r in enumerate(rows)
        ]
        path.write_text("\n".join(["*NODE", *nodes, "*ELEMENT, TYPE=C3D20R", *lines]) + "\n")
    elif path.suffix == ".bdf":
        nodes = [f"GRID,{k + 1},,{x},{y},{z}" for k, (x, y, z) in enumerate(every)]
        order = [*range(12), 16, 17, 18, 19, 12, 13, 14, 15]  # G13 to G16 are on the upright edges
        lines = []
        for k, r in enumerate(rows[:, order]):
            text = [str(n) for n in (k + 1, 1, *r)]
            lines += ["CHEXA," + ",".join(text[:8]), "+," + ",".join(text[8:16]), "+," + ",".join(text[16:])]
        path.write_text("\n".join([*nodes, *lines]) + "\n")
    else:
        nodes = [f"{k + 1:10d}{1:10d}{1:10d}{11:10d}\n" + "".join(f"{v:25.16E}" for v in p) for k, p in enumerate(every)]
        order = [0, 8, 1, 9, 2, 10, 3, 11, 16, 17, 18, 19, 4, 12, 5, 13, 6, 14, 7, 15]  # rings of corners and edges
        lines = []
        for k, r in enumerate(rows[:, order]):
            lines += [f"{k + 1:10d}{116:10d}{1:10d}{1:10d}{7:10d}{20:10d}"]
            lines += ["".join(f"{n:10d}" for n in r[i : i + 8]) for i in (0, 8, 16)]
        path.write_text("\n".join(["    -1", "  2411", *nodes, "    -1", "    -1", "  2412", *lines, "    -1"]) + "\n")
    return path


@pytest.mark.parametrize("name", ["h.inp", "h.bdf", "h.unv"])
def test_hexahedra_of_twenty_nodes(tmp_path: Path, name: str) -> None:
    """Volume and centre of the parabola, exact only if every node is where the format has it."""
    made = rigid_inertia(fe_model(read_fe(FeFile(bricks(tmp_path / name), elastic=STEEL)), []))
    size = bars.RHO * bars.LENGTH * bars.Y * bars.Z
    assert made["mass"] == pytest.approx(size, rel=1e-9)
    assert float(made["MS_r"][2]) / size == pytest.approx(BEND / 3, rel=1e-8)


def test_units_of_universal_meshes(tmp_path: Path) -> None:
    """Dataset 164 says by what lengths are to be divided."""
    assert read_solid(universal(tmp_path / "mm.unv", 1000.0)).points.max() == pytest.approx(1.0)


def test_solids_that_are_not_read_are_not_lost(tmp_path: Path) -> None:
    """A wedge beside hexahedra would be missing in the mass."""
    meshio = pytest.importorskip("meshio")
    points, cells = bars.hexahedra(2)
    points = np.vstack([points, [[1.1, 0, -bars.Z / 2], [1.1, 0, bars.Z / 2]]])
    n = len(points)
    wedge = [[n - 6, n - 4, n - 2, n - 5, n - 3, n - 1]]
    meshio.write_points_cells(tmp_path / "w.vtk", points, [("hexahedron", cells), ("wedge", np.array(wedge))])
    nodes = "".join(f"{k + 1}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(points))
    hexa = "".join(f"{k + 1}, " + ", ".join(str(i + 1) for i in c) + "\n" for k, c in enumerate(cells))
    text = f"*NODE\n{nodes}*ELEMENT,TYPE=C3D8\n{hexa}*ELEMENT,TYPE=C3D6\n9, " + ",\n".join(str(i + 1) for i in wedge[0])
    (tmp_path / "w.inp").write_text(text + "\n")
    for name in ("w.vtk", "w.inp"):
        with pytest.raises(SuppleError, match=rf"{name[0]}\.\w+: needs tetrahedra or hexahedra.* it has hexahedron, wedge"):
            read_solid(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n", "names node 2, which does not exist"),
        ("*NODE\n1, 0, 0, 0\n*INCLUDE, INPUT=mesh.inp\n", r"m\.inp:3: .*names no file that can be included"),
        ("*NODE\n1, 0, 0, 0\n1, 1, 0, 0\n", r"m\.inp:3: node 1 is given twice"),
        ("*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=S4\n1, 1, 1, 1, 1\n", "it has no solid cells"),
        ("*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n1, 1, a, 3, 4\n", r"m\.inp:4: is no element"),
    ],
)
def test_decks_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "m.inp").write_text(text)
    with pytest.raises(SuppleError, match=words):
        read_solid(tmp_path / "m.inp")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    abaqus(folder / "a.inp"), nastran(folder / "a.bdf"), universal(folder / "a.unv")
    return folder


@pytest.mark.parametrize("name", ["a.inp", "a.bdf", "a.unv"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.floats(0, 1, exclude_max=True), junk=st.binary(max_size=6), cut=st.booleans())
def test_decks_broken_anywhere(whole: Path, name: str, part: float, junk: bytes, cut: bool) -> None:
    """Bytes overwritten or the rest cut off: read, or refused in words; never another exception."""
    data = (whole / name).read_bytes()
    at = int(part * len(data))
    broken = whole / f"broken.{name}"
    broken.write_bytes(data[:at] + junk + (b"" if cut else data[at + len(junk) :]))
    try:
        read_solid(broken)
    except SuppleError as error:
        assert "broken" in str(error)


def test_nodes_between_corners_in_a_wrong_order() -> None:
    points, cells = arch()
    with pytest.raises(SuppleError, match=r"folds|no volume"):
        solid(points, cells[:, [0, 1, 2, 3, 9, 8, 7, 6, 5, 4]], *STEEL)


def test_coordinates_without_mass() -> None:
    """CalculiX integrates the mass of C3D10 with so few points that it is singular. Here some nodes have no mass at all;
    their coordinates can be eliminated exactly."""
    model = solid(*bars.hexahedra(2), *STEEL)
    assert model.K is not None and model.M is not None
    heavy = model.node % 2 == 0
    M = np.diag(np.where(heavy, 0.1 + 0.01 * (model.node % 7), 0.0))
    K = model.K.toarray()
    values = fe_model(replace(model, M=sparse.csr_matrix(M)), []).free_modes(3)[0]
    part = np.linalg.solve(K[np.ix_(~heavy, ~heavy)], K[np.ix_(~heavy, heavy)])
    wanted = eigh(K[np.ix_(heavy, heavy)] - K[np.ix_(heavy, ~heavy)] @ part, M[np.ix_(heavy, heavy)], eigvals_only=True)
    assert values == pytest.approx(wanted[6:9], rel=1e-6)


def test_coordinates_without_mass_and_stiffness() -> None:
    """Rows of zeros, as programs write them for rotations that nothing resists: in words, for small and large models."""
    for cells in (2, 12):
        model = solid(*bars.hexahedra(cells), *STEEL)
        node, component = np.r_[model.node, 0], np.r_[model.component, 3]
        M, K = (sparse.block_diag([A, [[0.0]]], format="csr") for A in (model.M, model.K))
        with pytest.raises(SuppleError, match=r"singular|not positive"):
            fe_model(replace(model, node=node, component=component, M=M, K=K), []).free_modes(3)


@pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX is not installed")
def test_curved_tetrahedra_against_calculix(tmp_path: Path) -> None:
    """Quadratic tetrahedra of the same mesh, by CalculiX (C3D10)."""
    deck = abaqus(tmp_path / "a.inp")
    material = "*MATERIAL,NAME=S\n*ELASTIC\n2.1e11,0.3\n*DENSITY\n7850.\n*SOLID SECTION,ELSET=Eall,MATERIAL=S\n"
    text = deck.read_text().replace("*ELEMENT, TYPE=T3D3, ELSET=Line1\n9001, 3000, 2997, 2994\n", "")
    (tmp_path / "run.inp").write_text(text + material)
    theirs: NodalModel = read_fe(FeFile(tmp_path / "run.inp", run=True))
    ours = read_fe(FeFile(deck, elastic=STEEL))
    a, b = (fe_model(m, []).free_modes(6)[0] for m in (theirs, ours))
    assert np.sqrt(b) == pytest.approx(np.sqrt(a), rel=5e-3)
    assert rigid_inertia(fe_model(theirs, []))["mass"] == pytest.approx(rigid_inertia(fe_model(ours, []))["mass"], rel=1e-6)
