"""Files of finite-element bodies: round trips, peers' readers, and files that are broken at any place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bars
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("skfem")

from supple.errors import SuppleError
from supple.robot.bodies.body_files import body_from, modes_of, read_body, write_body, write_body_file
from supple.robot.bodies.record import Body, Marker
from supple.robot.bodies.reduction import Selection, Structure, reduced_basis
from supple.robot.finite_elements import bulk_data, calculix, nodal, universal
from supple.robot.finite_elements.files import FeFile, modal_model, read_fe
from supple.robot.finite_elements.matrix_files import from_arrays, read_arrays, read_node_table, to_arrays, write_model
from supple.robot.finite_elements.model import fe_body, rigid_inertia, site_marker, weighed
from supple.robot.finite_elements.nodal import Attachment, NodalModel, chosen_nodes, fe_model
from supple.robot.finite_elements.solid import solid


@cache
def bar() -> NodalModel:
    return solid(*bars.hexahedra(4), bars.E, bars.NU, bars.RHO)


@cache
def modal() -> NodalModel:
    return modal_model(bar(), 6)


def reduced(model: NodalModel, modes: int = 4) -> tuple[Body, dict[str, Marker]]:
    ends = [("one", 0.0), ("two", 1.0)]
    made = fe_model(
        model, [Attachment(n, chosen_nodes(model, {"plane": {"x": x}}), np.array([x, 0.0, 0.0]), False) for n, x in ends]
    )
    seen = made.outline_rows[:60].toarray()
    basis = reduced_basis(
        Structure(made.M, made.stiffness, made.rigid, made.sites, None, seen), "free_free", Selection(modes=modes)
    )
    return fe_body(made, basis.V, basis.names, basis.units), {s.name: site_marker(s, basis.V) for s in made.sites}


def same(a: Any, b: Any, rel: float = 1e-9) -> None:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape
    assert np.abs(a - b).max(initial=0.0) <= rel * max(np.abs(a).max(initial=0.0), 1e-300)


# Round trips ------------------------------------------------------------------------------------------------------------


def test_npz_of_a_model(tmp_path: Path) -> None:
    back = read_fe(FeFile(write_model(bar(), tmp_path / "bar.npz")))
    for name in ("labels", "xyz", "node", "component"):
        same(getattr(back, name), getattr(bar(), name))
    for name in ("M", "K"):
        same(getattr(back, name).toarray(), getattr(bar(), name).toarray())


def test_npz_of_a_body(tmp_path: Path) -> None:
    body, markers = reduced(bar())
    back, places = read_body(write_body(body, markers, tmp_path / "body.npz"))
    for name in ("MS_r", "I_rr", "MS_de", "beta", "lam", "I_re", "I_ee", "M_ee", "K_ee", "D_ee", "H_ee"):
        same(getattr(body, name), getattr(back, name))
    assert (back.mass, back.coordinates, back.units) == (body.mass, body.coordinates, body.units)
    assert set(places) == {"one", "two"}
    for name, marker in markers.items():
        for field in ("position", "rotation", "Phi_d", "Phi_r"):
            same(getattr(marker, field), getattr(places[name], field))


def test_universal_files(tmp_path: Path) -> None:
    path = universal.write_universal(modal(), tmp_path / "bar.uff", "bar")
    back = read_fe(FeFile(path))
    assert modal().modes is not None and back.modes is not None
    same(back.xyz, modal().xyz)
    same(back.squares, modal().squares)
    order = np.lexsort((modal().component, modal().node))  # the file goes node by node
    same(back.modes, modal().modes[order])
    body, again = reduced(modal())[0], reduced(back)[0]
    same(again.K_ee, body.K_ee)
    same(again.I_rr, body.I_rr, 1e-8)


def test_pyuff_reads_what_is_written(tmp_path: Path) -> None:
    """An independent reader of the same format."""
    pyuff = pytest.importorskip("pyuff")
    path = universal.write_universal(modal(), tmp_path / "bar.uff", "bar")
    file = pyuff.UFF(str(path))
    kinds = [int(k) for k in file.get_set_types()]
    assert kinds[:2] == [164, 2411] and kinds[2:] == [2414] * 12
    nodes = file.read_sets(1)
    same(np.column_stack([nodes["x"], nodes["y"], nodes["z"]]), modal().xyz)
    mode = file.read_sets(2 + 8)
    assert modal().modes is not None
    same(mode["data_at_node"], modal().modes[:, 8].reshape(3, -1).T)
    assert mode["record12_field2"] == pytest.approx(np.sqrt(modal().squares[8]) / (2 * np.pi), rel=1e-5)


def test_datasets_15_and_55_of_pyuff(tmp_path: Path) -> None:
    """Nodes and modes as pyuff writes them, with six digits."""
    pyuff = pytest.importorskip("pyuff")
    model = modal()
    assert model.modes is not None and model.squares is not None
    path = tmp_path / "old.uff"
    file = pyuff.UFF(str(path))
    n = len(model.xyz)
    zero = [0] * n
    x, y, z = model.xyz.T
    nodes = {"type": 15, "node_nums": model.labels + 1, "x": x, "y": y, "z": z}
    file.write_sets(nodes | dict.fromkeys(("def_cs", "disp_cs", "color"), zero), "add")
    for k, square in enumerate(model.squares):
        shape = [model.modes[model.component == c][:, k] for c in range(3)]
        file.write_sets(
            {
                "type": 55, "id1": "NONE", "id2": "NONE", "id3": "NONE", "id4": "NONE", "id5": "NONE",
                "analysis_type": 2, "data_ch": 2, "spec_data_type": 8, "data_type": 2, "n_data_per_node": 3,
                "r1": shape[0], "r2": shape[1], "r3": shape[2], "node_nums": model.labels + 1,
                "load_case": 1, "mode_n": k + 1, "freq": np.sqrt(square) / (2 * np.pi), "modal_m": 1.0,
                "modal_damp_vis": 0.0, "modal_damp_his": 0.0, "model_type": 1,
            },
            "add",
        )  # fmt: skip
    back = universal.read_universal(path)
    assert back.modes is not None
    same(back.squares, model.squares, 2e-5)
    same(back.modes, model.modes[np.lexsort((model.component, model.node))], 2e-5)


def test_a_floating_body_as_modes(tmp_path: Path) -> None:
    """A reduced body written as a universal file is the same body when it is read: mass, inertia, frequencies."""
    body, markers = reduced(bar())
    path = write_body_file(body, markers, tmp_path / "body.uff")
    again = reduced(universal.read_universal(path))[0]
    assert float(again.mass) == pytest.approx(float(body.mass), rel=1e-9)
    same(again.I_rr, body.I_rr, 1e-8)
    same(np.diag(again.K_ee.astype(float)), np.diag(body.K_ee.astype(float)), 1e-9)
    with pytest.raises(SuppleError, match="floating"):
        modes_of(replace(body, M_ee=2 * body.M_ee), markers)


def test_matrix_market_and_matlab(tmp_path: Path) -> None:
    """Matrices node by node, as most programs export them."""
    from scipy.io import mmwrite, savemat

    order = np.lexsort((bar().component, bar().node))
    K, M = (A[order][:, order] for A in (bar().K.tocsr(), bar().M.tocsr()))
    mmwrite(tmp_path / "K.mtx", K)
    mmwrite(tmp_path / "M.mtx", M)
    np.savetxt(tmp_path / "nodes.csv", np.column_stack([bar().labels, bar().xyz]), delimiter=",", fmt="%.17g")
    savemat(tmp_path / "bar.mat", {"K": K, "M": M, "nodes": np.column_stack([bar().labels, bar().xyz])})
    market = read_fe(FeFile(tmp_path / "K.mtx", tmp_path / "nodes.csv", tmp_path / "M.mtx"))
    matlab = read_fe(FeFile(tmp_path / "bar.mat"))
    wanted = fe_model(bar(), []).free_modes(3)[0]
    for model in (market, matlab):
        same(fe_model(model, []).free_modes(3)[0], wanted, 1e-7)
    with pytest.raises(SuppleError, match="another order or unit"):
        fe_model(replace(market, xyz=market.xyz[::-1].copy()), [])
    with pytest.raises(SuppleError, match="needs mass:"):
        read_fe(FeFile(tmp_path / "K.mtx"))


def test_millimetres_and_tonnes(tmp_path: Path) -> None:
    """The same bar in mm, t, N, MPa: matrices and modes."""
    small = solid(bars.hexahedra(4)[0] * 1e3, bars.hexahedra(4)[1], bars.E * 1e-6, bars.NU, bars.RHO * 1e-12)
    for model in (small, modal_model(small, 6)):
        back = read_fe(FeFile(write_model(model, tmp_path / "mm.npz"), millimetres=True))
        inertia = rigid_inertia(fe_model(back, []))
        wanted = rigid_inertia(fe_model(bar(), []))
        assert inertia["mass"] == pytest.approx(wanted["mass"], rel=1e-8)
        same(inertia["I_rr"], wanted["I_rr"], 1e-7)
        same(fe_model(back, []).free_modes(3)[0], fe_model(bar(), []).free_modes(3)[0], 1e-6)


def test_modes_at_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where more nodes have modes than get a fitted mass, what is known stays exact."""
    wanted = rigid_inertia(fe_model(bar(), []))
    monkeypatch.setattr(nodal, "_MASSES", 40)
    made = fe_model(modal(), [])
    assert (made.mass.diagonal() > 0).sum() <= 3 * 40
    assert rigid_inertia(made)["mass"] == pytest.approx(wanted["mass"], rel=1e-8)
    same(rigid_inertia(made)["I_rr"], wanted["I_rr"], 1e-8)


def test_modes_at_nodes_on_a_line() -> None:
    """A straight shaft: only rotations tell how it turns about itself."""
    x = np.linspace(0, 1, 5)
    node, component = np.repeat(np.arange(5), 6), np.tile(np.arange(6), 5)
    empty = NodalModel(np.arange(1, 6), np.outer(x, [1, 0, 0]), node, component, None, None)
    M6 = np.diag([2.0, 2, 2, 0.01, 2 / 3, 2 / 3])
    M6[1, 5] = M6[5, 1] = 1.0
    M6[2, 4] = M6[4, 2] = -1.0
    rigid = np.linalg.solve(np.linalg.cholesky(M6), empty.rigid().T).T
    bent = np.where(component == 2, np.cos(2 * np.pi * x[node]), 0.0)
    squares = np.r_[np.zeros(6), 1e4]
    model = replace(empty, modes=np.column_stack([rigid, bent]), squares=squares)
    made = rigid_inertia(fe_model(model, []))
    assert made["mass"] == pytest.approx(2.0)
    same(made["I_rr"], np.diag([0.01, 2 / 3, 2 / 3]), 1e-9)
    flat = component < 3
    assert model.modes is not None
    without = replace(model, node=node[flat], component=component[flat], modes=model.modes[flat])
    with pytest.raises(SuppleError, match="nodes on a line need rotations"):
        fe_model(without, [])


# CalculiX ---------------------------------------------------------------------------------------------------------------


def test_calculix_files_that_hold_something_else(whole: Path, tmp_path: Path) -> None:
    """Matrices of shells, whose expanded nodes have their parent's number, and binary results."""
    for name in ("bar.sti", "bar.mas", "bar.inp", "barm.dat", "barm.frd"):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    text = (tmp_path / "barm.frd").read_text()
    heading = next(line for line in text.splitlines() if line.startswith("    2C"))
    (tmp_path / "barm.frd").write_text(text.replace(heading, heading[:-1] + "3"))
    with pytest.raises(SuppleError, match=r"barm\.frd:\d+: is binary"):
        calculix.read_results(tmp_path / "barm.frd")
    lines = (whole / "bar.dof").read_text().splitlines()
    (tmp_path / "bar.dof").write_text("\n".join([*lines[:-1], lines[0]]) + "\n")
    with pytest.raises(SuppleError, match="solids of shells and beams"):
        calculix.read_matrices(tmp_path / "bar.sti", None)
    extra = (tmp_path / "barm.dat").read_text()
    (tmp_path / "barm.frd").write_text(text.replace("\n 9999", text[text.index("\n  100CL") :].rstrip()))
    (tmp_path / "barm.dat").write_text(extra * 2)
    with pytest.raises(SuppleError, match=r"one \*FREQUENCY step"):
        calculix.read_results(tmp_path / "barm.frd")


# Nastran ----------------------------------------------------------------------------------------------------------------


def punch(model: NodalModel, folder: Path) -> Path:
    """A punch file and its bulk data as the Nastran guides lay them out."""
    assert model.modes is not None and model.squares is not None
    lines = []
    for k, square in enumerate(model.squares):
        lines += ["$TITLE   = BAR", "$EIGENVECTOR", "$REAL OUTPUT", f"$EIGENVALUE = {square: 14.7E}  MODE = {k + 1:5d}"]
        for a, label in enumerate(model.labels):
            x, y, z = (float(model.modes[(model.node == a) & (model.component == c), k][0]) for c in range(3))
            lines.append(f"{label + 1:10d}       G{x:18.6E}{y:18.6E}{z:18.6E}{1:8d}")
            lines.append(f"-CONT-            {0.0:18.6E}{0.0:18.6E}{0.0:18.6E}{2:8d}")
    path = folder / "bar.pch"
    path.write_text("\n".join(lines) + "\n")
    grids = [
        f"GRID*   {label + 1:16d}{'':16}{x:16.9f}{y:16.9f}\n*       {z:16.9f}"
        for label, (x, y, z) in zip(model.labels, model.xyz, strict=True)
    ]
    (folder / "bar.bdf").write_text("\n".join(["BEGIN BULK", *grids, "ENDDATA"]) + "\n")
    return path


def test_punch_files(tmp_path: Path) -> None:
    back = read_fe(FeFile(punch(modal(), tmp_path)))
    assert modal().squares is not None
    same(back.squares, modal().squares, 1e-6)
    assert set(back.component) == {0, 1, 2}  # nodes of a solid do not turn
    same(reduced(back)[0].I_rr, reduced(bar())[0].I_rr, 1e-4)


# Broken files -------------------------------------------------------------------------------------------------------------


def writers() -> dict[str, tuple[str, Callable[[Path], Any]]]:
    return {
        "npz": ("bar.npz", lambda p: read_fe(FeFile(p))),
        "body": ("body.npz", read_body),
        "uff": ("bar.uff", lambda p: read_fe(FeFile(p))),
        "pch": ("bar.pch", lambda p: read_fe(FeFile(p))),
        "bdf": ("bar.bdf", bulk_data.read_grids),
        "sti": ("bar.sti", lambda p: read_fe(FeFile(p))),
        "frd": ("barm.frd", lambda p: read_fe(FeFile(p))),
        "mat": ("bar.mat", lambda p: read_fe(FeFile(p))),
        "csv": ("nodes.csv", read_node_table),
        "vtk": ("hexa.vtk", lambda p: read_fe(FeFile(p, elastic=(bars.E, bars.NU, bars.RHO)))),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from scipy.io import savemat

    folder = tmp_path_factory.mktemp("whole")
    bars.unpacked(folder)
    write_model(bar(), folder / "bar.npz")
    write_body(*reduced(bar()), folder / "body.npz")
    universal.write_universal(modal(), folder / "bar.uff")
    punch(modal(), folder)
    savemat(folder / "bar.mat", {"K": bar().K, "M": bar().M, "nodes": bar().xyz})
    np.savetxt(folder / "nodes.csv", bar().xyz, delimiter=",")
    bars.meshes(folder)
    return folder


@pytest.mark.parametrize("kind", sorted(writers()))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.floats(0, 1, exclude_max=True))
def test_truncated_anywhere(whole: Path, kind: str, part: float) -> None:
    """A file that ends too early gives an error that names it, or, cut between two records, a model of what is left."""
    name, read = writers()[kind]
    path = whole / name
    data = path.read_bytes()
    try:
        path.write_bytes(data[: int(part * len(data))])
        try:
            read(path)
        except SuppleError as error:
            assert path.stem in str(error)
    finally:
        path.write_bytes(data)


@pytest.mark.parametrize("kind", sorted(writers()))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.floats(0, 1, exclude_max=True), junk=st.binary(min_size=1, max_size=6))
def test_junk_anywhere(whole: Path, kind: str, part: float, junk: bytes) -> None:
    """Bytes overwritten somewhere: read, or refused in words; never another exception."""
    name, read = writers()[kind]
    path = whole / name
    data = path.read_bytes()
    at = int(part * len(data))
    try:
        path.write_bytes(data[:at] + junk + data[at + len(junk) :])
        try:
            read(path)
        except SuppleError as error:
            assert str(error)
    finally:
        path.write_bytes(data)


def test_messages_name_the_record(whole: Path, tmp_path: Path) -> None:
    text = (whole / "bar.uff").read_text().splitlines()
    path = tmp_path / "x.uff"
    path.write_text("\n".join(text[:-3]))
    with pytest.raises(SuppleError, match="dataset 2414 has no end"):
        universal.read_universal(path)
    path.write_text("\n".join(["hello", *text]))
    with pytest.raises(SuppleError, match=r"x\.uff:1: a dataset must begin with -1"):
        universal.read_universal(path)
    for name in ("bar.sti", "bar.mas", "bar.dof", "bar.inp"):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    lines = (tmp_path / "bar.sti").read_text().splitlines(keepends=True)
    (tmp_path / "bar.sti").write_text("".join([*lines[:40], "4 5\n", *lines[41:]]))
    with pytest.raises(SuppleError, match=r"bar\.sti:41: is no entry"):
        calculix.read_matrices(tmp_path / "bar.sti", None)
    (tmp_path / "bar.sti").write_text("".join(lines))
    coordinates = (tmp_path / "bar.dof").read_text().splitlines()
    swapped = [coordinates[3], *coordinates[1:3], coordinates[0], *coordinates[4:]]
    (tmp_path / "bar.dof").write_text("\n".join(swapped))
    with pytest.raises(SuppleError, match="another order or unit"):
        fe_model(calculix.read_matrices(tmp_path / "bar.sti", None), [])


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, K=np.array([print], dtype=object))
    with pytest.raises(SuppleError, match=r"evil\.npz"):
        read_arrays(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"component": -a["component"]}, "one of its six motions"),
        (lambda a: {"component": 0 * a["component"]}, "the same motion twice"),
        (lambda a: {"node": a["node"][:, None]}, "node must be a list of whole numbers"),
        (lambda a: {"labels": np.full(len(a["labels"]), np.nan)}, "labels must be a list of whole numbers"),
        (lambda a: {"K_value": a["K_value"] * (1 + 0.01j)}, "K is complex"),
        (lambda a: {"xyz": a["xyz"] * (1 + 0.01j)}, "xyz is complex"),
        (lambda a: {"labels": a["labels"] + 2.0**60}, "labels must be a list of whole numbers"),
        (lambda a: {"M_row": a["M_row"] + 0.5}, "M_row must be a list of whole numbers"),
        (lambda a: {"K_value": a["K_value"] * 1e200}, "K holds an entry of .*, which no body has"),
        (lambda a: {"xyz": a["xyz"] * 1e12}, "a place of .*, beyond what is computed with"),
        (lambda a: {"M_value": -a["M_value"]}, "negative masses"),
        (lambda a: {"modes": np.zeros((len(a["node"]), 8)), "squares": np.full(8, np.nan)}, "squares must be"),
        (lambda a: {"modes": np.zeros((len(a["node"]), 8)), "squares": np.zeros((1, 8))}, "squares must be"),
    ],
)
def test_arrays_that_make_no_model(change: Callable[[Any], Any], words: str) -> None:
    arrays = to_arrays(bar())
    with pytest.raises(SuppleError, match=words):
        from_arrays(arrays | change(arrays), "bar.npz")


@pytest.mark.parametrize(
    ("along", "to", "words"),
    [
        ((0, 0), 2.0, r"the mass matrix weighs .* kg along x, y, z, which must agree"),
        ((0, 0), -9.0, "gives the body no mass"),
        ((5, 5), -2.0, r"its principal moments .* which no body has; the mass matrix is broken"),
        ((4, 4), 9.0, r"its principal moments .* which no body has; the mass matrix is broken"),
    ],
)
def test_mass_matrices_of_no_body(along: tuple[int, int], to: float, words: str) -> None:
    """An inertia is changed by a dyad of M R, so that R^T M R changes in one entry: mass along x, or a moment."""
    from scipy import sparse

    model = fe_model(bar(), [])
    assert weighed(model) is model
    R = model.rigid
    dual = R @ np.linalg.inv(R.T @ R)[:, along[0]]
    M6 = R.T @ (model.M @ R)
    change = (to - 1) * M6[along] * np.outer(dual, dual)
    with pytest.raises(SuppleError, match=words):
        weighed(replace(model, mass=sparse.csr_matrix(model.mass.toarray() + change)))


@pytest.mark.parametrize(
    ("K", "nodes", "words"),
    [
        (np.eye(6), np.zeros((0, 3)), "nodes must have"),
        (np.array(3.0), np.zeros((2, 3)), "K must be a square matrix"),
        (np.eye(6)[0], np.zeros((2, 3)), "K must be a square matrix"),
        (np.eye(6)[:, :5], np.zeros((2, 3)), "K is 6 x 5"),
    ],
)
def test_short_arrays_that_make_no_model(K: Any, nodes: Any, words: str) -> None:
    with pytest.raises(SuppleError, match=words):
        from_arrays({"K": K, "M": np.eye(6), "nodes": nodes}, "bar.npz")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"K_ee": -a["K_ee"]}, "K_ee has negative energies"),
        (lambda a: {"I_rr": -a["I_rr"]}, "mass matrix has negative energies"),
        (lambda a: {"M_ee": a["M_ee"] + np.triu(np.ones_like(a["M_ee"]), 1)}, "M_ee is not symmetric"),
        (lambda a: {"I_rr": a["I_rr"] + np.diag([9.0, 0, 0])}, "its principal moments .*, which no body has"),
        (lambda a: {"Phi_d": a["Phi_d"] * 1j}, "Phi_d is complex"),
        (lambda a: {"rotations": 2 * a["rotations"]}, "no rotation matrices"),
        (lambda a: {"names": np.array(["one", "one"])}, "names must differ"),
        (lambda a: {"coordinates": np.array(["a */ b", *a["coordinates"][1:]])}, "coordinates must differ, and be made of"),
        (lambda a: {"units": np.array(["ell"] * len(a["units"]))}, "units must be m or rad"),
    ],
)
def test_arrays_that_make_no_body(tmp_path: Path, change: Callable[[Any], Any], words: str) -> None:
    arrays = read_arrays(write_body(*reduced(bar()), tmp_path / "body.npz"))
    with pytest.raises(SuppleError, match=words):
        body_from(arrays | change(arrays), "body.npz")
