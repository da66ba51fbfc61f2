"""Nastran's files: .op2 in every layout of words, .pch, bulk data with coordinate systems; real files of pyyeti's tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("skfem")

from nastran_writers import CYLINDER, deck, modal, op2, punch

from supple.errors import SuppleError
from supple.robot.finite_elements import nastran
from supple.robot.finite_elements.bulk_data import read_grids, read_solids
from supple.robot.finite_elements.files import FeFile, read_fe
from supple.robot.finite_elements.model import rigid_inertia
from supple.robot.finite_elements.nodal import NodalModel, fe_model


def compared(back: NodalModel, rel: float) -> None:
    model = modal()
    assert back.modes is not None and model.modes is not None and model.squares is not None
    order = np.lexsort((model.component, model.labels[model.node]))
    assert back.labels.tolist() == sorted(model.labels)
    assert np.abs(back.xyz - model.xyz[np.argsort(model.labels)]).max() < rel
    assert np.abs(back.modes - model.modes[order]).max() < rel * np.abs(model.modes).max()
    assert np.abs(np.asarray(back.squares) - model.squares).max() < rel * model.squares.max()


# .op2 -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [False, True])
@pytest.mark.parametrize(("order", "word"), [("<", 4), (">", 4), ("<", 8)])
def test_op2_in_every_layout(tmp_path: Path, order: str, word: int, version: bool) -> None:
    """Words of 4 and 8 bytes, both byte orders, with and without the version records of late: modes in a cylindrical
    system come back along the basic axes, whatever their modal mass."""
    compared(nastran.read_op2(op2(tmp_path / "bar.op2", order, word, version)), 1e-5)


def test_op2_with_the_deck_beside_it(tmp_path: Path) -> None:
    path = op2(tmp_path / "bar.op2", geometry=False)
    with pytest.raises(SuppleError, match=r"bar\.bdf: no such file"):
        nastran.read_op2(path)
    (tmp_path / "bar.dat").write_text("SOL 103\nINCLUDE 'alter.v9'\nCEND\nBEGIN BULK\n" + deck())
    compared(nastran.read_op2(path), 1e-5)


@pytest.mark.parametrize(
    ("parts", "words"),
    [({"code": 91}, "complex or buckling"), ({"code": 11}, "complex or buckling"), ({"lama": False}, "bar.op2")],
)
def test_op2_that_holds_something_else(tmp_path: Path, parts: dict[str, Any], words: str) -> None:
    path = op2(tmp_path / "bar.op2", **parts)
    if parts.get("lama", True):
        with pytest.raises(SuppleError, match=words):
            nastran.read_op2(path)
    else:  # mass-normalised is what is assumed; here that is wrong by 4
        assert rigid_inertia(fe_model(nastran.read_op2(path), []))["mass"] == pytest.approx(1.413 / 4, rel=1e-4)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(SuppleError, match=r"bar\.op2: .*cut off"):
        nastran.read_op2(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return op2(tmp_path_factory.mktemp("whole") / "bar.op2")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.floats(0, 1, exclude_max=True), junk=st.binary(max_size=9), cut=st.booleans())
def test_op2_broken_anywhere(whole: Path, part: float, junk: bytes, cut: bool) -> None:
    """Bytes overwritten or the rest cut off: read, or refused in words; never another exception."""
    data = whole.read_bytes()
    at = int(part * len(data))
    broken = whole.with_name("broken.op2")
    broken.write_bytes(data[:at] + junk + (b"" if cut else data[at + len(junk) :]))
    try:
        nastran.read_op2(broken)
    except SuppleError as error:
        assert "broken" in str(error)


def real(name: str) -> Path:
    pyyeti = pytest.importorskip("pyyeti")
    path = Path(pyyeti.__file__).parent / "tests" / name
    if not path.exists():
        pytest.skip("pyyeti came without its test files")
    return path


def test_a_free_frame_of_nastran() -> None:
    """full.op2 of pyyeti's own tests (a free frame of 49 nodes): six rigid modes, and inertia that all other modes
    respect; its first frequency as pyyeti reads it."""
    model = nastran.read_op2(real("nas2cam_extseout/full.op2"))
    assert model.squares is not None and model.modes is not None
    few = replace(model, modes=model.modes[:, :14], squares=model.squares[:14])
    made = fe_model(few, [])
    assert len(model.labels) == 49
    assert np.sqrt(made.free_modes(1)[0][0]) / (2 * np.pi) == pytest.approx(1.6988, rel=1e-4)
    assert rigid_inertia(made)["mass"] > 0


def test_mass_as_the_grid_point_weight_generator_says() -> None:
    """rdop2gpwg_1 of pyyeti's tests (Simcenter Nastran 2019): a free frame without GEOM1, its deck beside it. Mass, centre,
    inertia and frequencies are those of its .f06 (weights there, times WTMASS)."""
    model = nastran.read_op2(real("nastran_op2_data/rdop2gpwg_1.op2"))
    assert model.squares is not None
    made = rigid_inertia(fe_model(model, []))
    assert made["mass"] == pytest.approx(5.005019e01 * 0.00259, rel=1e-6)
    centre = np.array([3.420008, 9.999156e-02, 1.999163e-01])
    assert np.asarray(made["MS_r"], dtype=float) / made["mass"] == pytest.approx(centre, rel=1e-5)
    inertia = [
        [1.575266e02, -9.008967, -1.951159e01],
        [-9.008967, 1.109943e03, -2.751150e01],
        [-19.51159, -27.5115, 1122.445],
    ]
    assert np.asarray(made["I_rr"], dtype=float) == pytest.approx(np.array(inertia) * 0.00259, rel=1e-6)
    assert np.sqrt(model.squares[6:9]) / (2 * np.pi) == pytest.approx([22.27347, 24.67419, 27.88453], rel=1e-6)


def test_real_modes_are_turned_to_the_basic_system() -> None:
    """assemble.op2 of pyyeti's tests, where nodes 11 and 111 move along x, y, z of a system that is turned by 90 degrees
    twice: only when they are turned back are the rigid modes rigid."""
    model = nastran.read_op2(real("nas2cam_csuper/assemble.op2"))
    assert model.modes is not None
    rows = np.isin(model.labels[model.node], [3, 11, 19, 27, 103, 111]) & (model.component < 3)
    rigid, modes = model.rigid()[rows], model.modes[rows, :6]
    fitted = rigid @ np.linalg.lstsq(rigid, modes, rcond=None)[0]
    assert np.abs(fitted - modes).max() < 1e-6 * np.abs(modes).max()


# Bulk data --------------------------------------------------------------------------------------------------------------


def test_grids_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "grids.bdf"
    path.write_text("GRID,1,,1.,2.0-1,3.5+1\nGRID,2,,4.,5.,6.\n$ comment\nGRID*  3  \n")
    with pytest.raises(SuppleError, match=r"grids\.bdf:4"):
        read_grids(path)
    small = "".join(f"{x:<8}" for x in ("GRID", "1", "", "1.", "2.0-1", "3.5+1"))
    large = f"{'GRID*':<8}{3:16d}{'':16}{'-1.25D-02':>16}{'2.':>16}\n$ between\n{'*':<8}{'3.':>16}\n"
    (tmp_path / "more.inc").write_text(large + "grid\t4\t\t1.\t.5\t2.+1\n")
    path.write_text(
        f"SOL 103\nINCLUDE 'missing.v9'\nBEGIN BULK\n{small}\nGRID,2,,4.,5.,6.\ninclude 'more.inc'\nENDDATA 1f\nGRID,9"
    )
    found = read_grids(path)
    assert {n: found.place(n).tolist() for n in found.grids} == {
        1: [1.0, 0.2, 35.0], 2: [4.0, 5.0, 6.0], 3: [-0.0125, 2.0, 3.0], 4: [1.0, 0.5, 20.0],
    }  # fmt: skip
    path.write_text("BEGIN BULK\nINCLUDE 'no.inc'\n")
    with pytest.raises(SuppleError, match=r"grids\.bdf:2: the file to include is not there"):
        read_grids(path)


def test_places_and_axes_in_chains_of_systems(tmp_path: Path) -> None:
    """A spherical system whose points are given in a cylindrical one, and a system of three GRIDs: by hand."""
    path = tmp_path / "chain.bdf"
    path.write_text(
        f"{CYLINDER}CORD2S,8,7,1.,90.,0.,1.,90.,2.\n+,3.,90.,0.\nCORD1R,9,1,2,3\n"
        "GRID,1,7,2.,90.,3.\nGRID,2,7,2.,90.,4.\nGRID,3,7,5.,90.,3.\n"  # above each other, and further out
        "GRID,4,8,2.,90.,0.,8\nGRID,5,9,1.,2.,3.,9\nGRID,6,8,2.,0.,0.,7\n"
    )
    found = read_grids(path)
    assert found.place(1) == pytest.approx([0.1, 2.0, 3.0])
    assert found.place(4) == pytest.approx([0.1, 3.0, 0.0])  # r = 1 there, theta = 90: x of the sphere is basic y
    assert found.axes(4) == pytest.approx(np.array([[0, 0, -1], [1, 0, 0], [0, -1, 0]]))
    assert found.place(5) == pytest.approx([0.1 - 2.0, 3.0, 6.0])  # x is basic y, z is basic z, so y is basic -x
    assert found.axes(5) == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    assert found.place(6) == pytest.approx([0.1, 1.0, 2.0])
    assert found.axes(6) == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))


def test_axes_as_pyyeti_has_them(tmp_path: Path) -> None:
    """Rigid motions of GRIDs in their own systems, by pyyeti's uset tables."""
    pyyeti = pytest.importorskip("pyyeti.nastran")
    n2p = pytest.importorskip("pyyeti.nastran.n2p")
    path = tmp_path / "peer.bdf"
    lines = ["CORD2R,3,0,1.,2.,3.,1.5,2.5,9.", "+,7.,1.,2.", "CORD2C,4,3,-1.,0.,1.,2.,1.,0.", "+,0.,3.,1."]
    lines += ["CORD2S,5,4,1.,20.,1.,2.,70.,3.", "+,3.,140.,-1."]
    numbers = np.random.default_rng(3).uniform(0.5, 40, (12, 3)).round(3)
    lines += [f"GRID,{k + 1},{3 + k % 3},{a},{b},{c},{3 + k // 4}" for k, (a, b, c) in enumerate(numbers)]
    path.write_text("\n".join(lines) + "\n")
    found, uset = read_grids(path), pyyeti.bulk2uset(str(path))[0]
    theirs = n2p.rbgeom_uset(uset)
    for k in range(12):
        x, y, z = found.place(k + 1)
        cross = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
        ours = found.axes(k + 1).T @ np.hstack([np.eye(3), cross])
        assert ours == pytest.approx(theirs[6 * k : 6 * k + 3], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GRID,2,7,4.,5.,6.", "coordinate system 7 is not defined"),
        ("CORD2R,7,7,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nGRID,1,7,0.,0.,0.", "defined by itself"),
        ("CORD2R,7,,0.,0.,0.,0.,0.,1.\n,0.,0.,2.\nGRID,1,7,0.,0.,0.", "lie on a line"),
        ("GRID,1,,0.,0.,0.\nBEGIN SUPER=1\nGRID,2", r"d\.bdf:2: BEGIN SUPER"),
        ("GRID,1,,0.,zero,0.", r"d\.bdf:1: a number is broken"),
        ("GRID,one", "GRID needs a whole number"),
    ],
)
def test_bulk_data_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "d.bdf"
    path.write_text(text + "\n")
    with pytest.raises(SuppleError, match=words):
        found = read_grids(path)
        [found.place(n) for n in found.grids]


def test_solid_elements(tmp_path: Path) -> None:
    path = tmp_path / "mesh.bdf"
    path.write_text("CTETRA,1,1,1,2,3,4,5,6\n,7,8,9,10\nCHEXA   1       1       1       2       3       4       5       6\n"
                    "+       7       8\nCQUAD4,3,1,1,2,3,4\n")  # fmt: skip
    assert read_solids(path) == [("CTETRA", list(range(1, 11))), ("CHEXA", list(range(1, 9)))]


# .pch -------------------------------------------------------------------------------------------------------------------


def test_punch_files_as_nastran_lays_them_out(tmp_path: Path) -> None:
    """Local systems, scalar points, forces after the modes and loose nodes, as in real files."""
    back = read_fe(FeFile(punch(tmp_path / "bar.pch")))
    compared(back, 1e-5)
    assert set(back.component) == {0, 1, 2}  # nodes of a solid do not turn
    assert rigid_inertia(fe_model(back, []))["mass"] == pytest.approx(1.413, rel=1e-4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "REAL-IMAGINARY OUTPUT"}, r"bar\.pch:5: real-imaginary output; real normal modes"),
        ({"kind": "MAGNITUDE-PHASE OUTPUT"}, "real normal modes"),
        ({"subcase": 2}, "2 subcases"),
        ({"point": "$POINT ID =           1  IDENTIFIED BY TIME"}, "SORT2"),
        ({"scale": 0.0}, "NORM=MASS"),
    ],
)
def test_punch_files_that_hold_something_else(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(SuppleError, match=words):
        nastran.read_punch(punch(tmp_path / "bar.pch", **given), None)
