"""Plates: frequencies against a paper, textbooks and CalculiX; rigid motions; integrals against quadrature."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("skfem")

from supple.errors import SuppleError
from supple.robot.bodies.reduction import Basis, Selection, Structure, reduced_basis
from supple.robot.bodies.section import CrossSection
from supple.robot.finite_elements.model import FeModel, fe_body, hat_rows, rigid_inertia, site_marker
from supple.robot.plates.mesh import mesh_from_file, polygon_area, polygon_mesh
from supple.robot.plates.plate import Plate, PlateSpec, Rib, _space, plate, plate_model

HEXAGON = tuple((0.5 * np.cos(a), 0.5 * np.sin(a)) for a in np.arange(6) * np.pi / 3)
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
ELEMENTS = ("mindlin", "kirchhoff")
CALCULIX = json.loads((Path(__file__).parent / "data" / "calculix_plates.json").read_text())["frequencies"]


def spec(corners: Any, **given: Any) -> PlateSpec:
    points, triangles = polygon_mesh(np.array(corners, dtype=float))
    values: dict[str, Any] = {"thickness": 0.015, "E": 2e10, "nu": 0.3, "rho": 7500.0} | given
    values.setdefault("G", values["E"] / (2 * (1 + values["nu"])))
    return PlateSpec(tuple(map(tuple, points.tolist())), tuple(map(tuple, triangles.tolist())), **values)


def structure(model: FeModel, root: str | None = None) -> Structure:
    held = None if root is None else model.site(root)
    return Structure(
        model.M, model.stiffness, model.rigid, model.sites, held, model.outline_rows[:90].toarray(), model.free_modes
    )


def free(made: Plate, modes: int) -> Basis:
    return reduced_basis(structure(made.model), "free_free", Selection(modes=modes))


@cache
def hexagon(element: str) -> Plate:
    return plate(spec(HEXAGON, element=element))


def test_hexagon_of_long_khalil_martinet() -> None:
    """Natural frequencies of table 2 in Long, Khalil & Martinet (2014), MSC Nastran; nu = 0.3 is not in the paper. Their
    modes 14 to 16 (828, 1311 rad/s) are those of a coarse mesh: 753 and 1182 here and in CalculiX."""
    paper = np.array([188.7473, 188.7475, 315.7169, 401.0187, 474.7468, 709.5586, 709.5814])
    found = 2 * np.pi * np.array(hexagon("mindlin").meshes[-1][1])[:7]
    off = np.abs(found / paper - 1)
    assert off[:5].max() < 0.005
    assert off.max() < 0.012


@pytest.mark.parametrize("case", ["hexagon, free", "square, free"])
def test_mindlin_plates_agree_with_calculix(case: str) -> None:
    """CalculiX' shells S8R on a mesh of 24 elements per side (bench/plates_calculix.py)."""
    made = hexagon("mindlin") if case.startswith("hex") else plate(spec(SQUARE, thickness=0.01, rho=7800.0))
    assert np.array(made.meshes[-1][1])[:10] == pytest.approx(CALCULIX[case], rel=0.003)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("corners", [SQUARE, HEXAGON, ((0, 0), (0.6, 0.1), (0.5, 0.5), (0.1, 0.3))])
def test_a_free_plate_has_exactly_six_rigid_motions(element: str, corners: Any) -> None:
    """All eigenvalues of the whole stiffness, against the mass; no element may have hidden mechanisms."""
    from scipy.linalg import eigh

    given = spec(corners, element=element, thickness=0.1)  # thick: no fine layer of triangles along the edge
    model = plate_model(given, _space(given, 0 if element == "mindlin" else 1))
    assert model.stiffness.shape[0] < 1500
    shift = model.free_modes(1)[0][0]
    M = model.M.toarray()
    inverse = eigh(M, model.stiffness.toarray() + shift * M, eigvals_only=True)[::-1]
    squares = 1 / inverse[:8] - shift
    assert np.abs(squares[:6]).max() < 1e-6 * squares[6]
    assert np.abs(model.stiffness @ model.rigid).max() < 1e-9 * np.abs(model.stiffness).max()


@pytest.mark.parametrize("element", ELEMENTS)
def test_refined_until_nothing_changes_and_extrapolation_shown(element: str) -> None:
    made = hexagon(element)
    first, last = (np.array(f) for _, f in made.meshes[-2:])
    assert np.abs(first / last - 1).max() < 1e-3
    fixed = plate(spec(HEXAGON, element=element, refine=0))
    assert len(fixed.meshes) == 1 and fixed.meshes[0] == made.meshes[0]
    if len(made.meshes) > 2:
        assert (np.array(made.extrapolated) <= last).all()  # conforming elements come from above


@pytest.mark.parametrize("element", ELEMENTS)
def test_inertia_and_integrals_against_quadrature(element: str) -> None:
    """A second way to the record: shapes sampled at points of a fine grid of triangles, each a lump of mass."""
    made = plate(spec(HEXAGON, element=element, refine=0 if element == "mindlin" else 2))
    basis = free(made, 4)
    body = fe_body(made.model, basis.V, basis.names, basis.units)
    area = 3 * np.sqrt(3) / 2 * 0.25
    assert float(body.mass) == pytest.approx(7500 * 0.015 * area, rel=1e-9)
    polar = 7500 * 0.015 * 5 * np.sqrt(3) / 8 * 0.5**4
    inertia = [polar / 2 + body.mass * 0.015**2 / 12] * 2 + [polar]
    assert np.diag(body.I_rr.astype(float)) == pytest.approx(inertia, rel=1e-9)
    assert not np.any(body.MS_de) and not np.any(body.beta) and not np.any(body.lam)
    from skfem import MeshTri

    mesh = MeshTri(np.array(spec(HEXAGON).points).T, np.array(spec(HEXAGON).triangles).T).refined(4)
    middle = mesh.p[:, mesh.t].mean(axis=1).T
    weight = 7500 * 0.015 * area / len(middle)
    assert made.model.locate is not None
    values = made.model.locate.space.values(middle).value  # type: ignore[attr-defined]
    w = values @ basis.V[3 : 3 + values.shape[1]]
    M = weight * w.T @ w
    assert np.diag(M) == pytest.approx([1] * 4, abs=6e-3)
    assert [body.I_ee[k, k][0, 0] for k in range(4)] == pytest.approx(np.diag(M), abs=6e-3)
    J = weight * np.einsum("pa,pk->ka", middle, w)
    assert pytest.approx(np.zeros((4, 2)), abs=6e-3) == J


@pytest.mark.parametrize("element", ELEMENTS)
def test_places_move_with_the_plate(element: str) -> None:
    """Rigid motions of the model are rigid motions of every point; slopes are those of the deflection."""
    model = hexagon(element).model
    for p in ((0.1, 0.2, 0.0), (0.5, 0.0, 0.0), (-0.25, 0.4330127, 0.0)):
        assert model.locate is not None
        site = model.locate(np.array(p))
        assert site is not None
        assert site.rows @ model.rigid == pytest.approx(hat_rows(np.array(p)), abs=1e-8)
    basis = free(hexagon(element), 3)

    def at(x: float, y: float) -> Any:
        assert model.locate is not None
        return site_marker(model.locate(np.array([x, y, 0.0])), basis.V)

    h = 1e-4
    slope = (at(0.1 + h, 0.2).Phi_d[2] - at(0.1 - h, 0.2).Phi_d[2]) / (2 * h)
    turned = -at(0.1, 0.2).Phi_r[1]
    shear = 0.01 if element == "mindlin" else 1e-5  # Mindlin's normals lag behind the slope
    assert turned.astype(float) == pytest.approx(slope.astype(float), abs=shear * np.abs(slope.astype(float)).max())
    with pytest.raises(SuppleError, match="not on the plate"):
        at(0.6, 0.0)


@pytest.mark.parametrize("element", ELEMENTS)
def test_point_masses(element: str) -> None:
    """Mass, centre and inertia are sums; frequencies are those of the bare plate's modes with the mass added to them."""
    mass, at, inertia = 5.0, (0.2, 0.1, 0.03), np.diag([0.01, 0.02, 0.03])
    loaded = plate(spec(HEXAGON, element=element, masses=((mass, at, tuple(map(tuple, inertia))),), refine=0))
    bare = plate(spec(HEXAGON, element=element, refine=0))
    a, b = rigid_inertia(loaded.model), rigid_inertia(bare.model)
    assert a["mass"] == pytest.approx(b["mass"] + mass)
    assert a["MS_r"].astype(float) == pytest.approx(mass * np.array(at), abs=1e-9)
    p = np.array(at)
    parallel = mass * (p @ p * np.eye(3) - np.outer(p, p)) + inertia
    assert a["I_rr"].astype(float) == pytest.approx(b["I_rr"].astype(float) + parallel, abs=1e-9)
    values, shapes = bare.model.free_modes(40)
    assert bare.model.locate is not None
    foot = bare.model.locate(np.array([*at[:2], 0.0]))
    assert foot is not None
    rows = hat_rows(np.array([0, 0, at[2]])) @ foot.rows @ np.hstack([bare.model.rigid, shapes])
    lump = np.zeros((6, 6))
    lump[:3, :3], lump[3:, 3:] = mass * np.eye(3), inertia
    from scipy.linalg import eigh

    rigid = bare.model.rigid
    M = np.eye(46)
    M[:6, :6] = rigid.T @ (bare.model.M @ rigid)
    found = eigh(np.diag(np.r_[np.zeros(6), values]), M + rows.T @ lump @ rows, eigvals_only=True)[6:10]
    assert np.sqrt(found) / (2 * np.pi) == pytest.approx(np.array(loaded.meshes[0][1])[:4], rel=0.01)


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_stiffener_is_a_beam(element: str) -> None:
    """A narrow strip (nu = 0) with a rib is a beam with the sum of both: beta L = 4.730040745, 7.853204624 (free-free)."""
    E, rho, length, width, t = 7e10, 2700.0, 1.0, 0.04, 0.004
    rib = CrossSection(1e-4, 2e-9, 1e-9, 1e-12, 5 / 6, 5 / 6)
    corners = ((0, -width / 2), (length, -width / 2), (length, width / 2), (0, width / 2))
    given = Rib((0.0, 0.0), (length, 0.0), rib, E, E / 2, rho)
    made = plate(spec(corners, thickness=t, E=E, nu=0.0, rho=rho, element=element, ribs=(given,), modes=2))
    EI, line = E * (width * t**3 / 12 + rib.Iy), rho * (width * t + rib.area)
    wanted = np.array([4.730040745, 7.853204624]) ** 2 / (2 * np.pi) * np.sqrt(EI / line) / length**2
    assert np.array(made.meshes[-1][1])[:2] == pytest.approx(wanted, rel=0.004)
    assert rigid_inertia(made.model)["mass"] == pytest.approx(line * length)


def test_meshes_of_polygons_fill_them() -> None:
    for corners in (SQUARE, HEXAGON, ((0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)), ((0, 0), (5, 0), (5, 0.3), (0, 0.3))):
        points, triangles = polygon_mesh(np.array(corners, dtype=float))
        areas = [polygon_area(points[t]) for t in triangles]
        assert min(areas) > 0
        assert sum(areas) == pytest.approx(abs(polygon_area(np.array(corners, dtype=float))))


@pytest.mark.parametrize(
    ("corners", "words"),
    [
        (((0, 0), (1, 1), (1, 0), (0, 1)), "crosses"),
        (((0, 0), (1, 0), (2, 0)), "on a line"),
        (((0, 0), (1, 0), (1, 0), (0, 1)), "the same"),
        ((*SQUARE, *SQUARE), "corner 5 lies on edge 1"),  # twice around: its mass would count twice
        (((0, 0), (1, 0), (1, 1), (0.5, 0), (0, 1)), "corner 4 lies on edge 1"),
        (((0, 0), (1.5, 0), (1, 0), (1, 1), (0, 1)), "corner 3 lies on edge 1"),
    ],
)
def test_corners_that_make_no_plate(corners: Any, words: str) -> None:
    with pytest.raises(SuppleError, match=words):
        polygon_mesh(np.array(corners, dtype=float))


def test_plate_from_a_mesh_file(tmp_path: Path) -> None:
    """A mesh written by meshio is the same plate as the polygon it came from."""
    meshio = pytest.importorskip("meshio")
    points, triangles = polygon_mesh(np.array(HEXAGON))
    path = tmp_path / "plate.msh"
    meshio.write(
        path, meshio.Mesh(np.column_stack([points, np.zeros(len(points))]), [("triangle", triangles)]), file_format="gmsh"
    )
    read_points, read_triangles = mesh_from_file(path)
    assert sum(polygon_area(read_points[t]) for t in read_triangles) == pytest.approx(polygon_area(np.array(HEXAGON)))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(SuppleError, match=r"plate\.msh"):
        mesh_from_file(path)


@pytest.mark.parametrize(
    ("triangles", "words"),
    [
        ([[0, 1, 2], [0, 2, 3], [2, 3, 0]], "given twice"),
        ([[0, 1, 2], [0, 2, 3], [0, 1, 4]], "lie on others"),
        ([[0, 1, 2], [5, 6, 7]], "2 loose parts"),
        ([[0, 1, 2], [0, 2, 3], [2, 6, 7]], "meet at single nodes"),
        ([[0, 1, 2], [0, 8, 3], [8, 2, 3]], "share all nodes of a side"),
    ],
)
def test_meshes_whose_triangles_do_not_fit(tmp_path: Path, triangles: Any, words: str) -> None:
    meshio = pytest.importorskip("meshio")
    places = [*SQUARE, (0.4, 0.7), (3, 0), (4, 0), (4, 1), (0.5, 0.5)]
    path = tmp_path / "plate.vtk"
    meshio.write(path, meshio.Mesh(np.column_stack([np.array(places), np.zeros(len(places))]), [("triangle", triangles)]))
    with pytest.raises(SuppleError, match=words):
        mesh_from_file(path)


def test_as_many_frequencies_stand_still_as_are_asked_for() -> None:
    """The first Kirchhoff mesh of a square has fewer unknowns than modes that are asked for; all of them settle though."""
    made = plate(spec(SQUARE, element="kirchhoff", modes=60, tolerance=0.02))
    assert len(made.meshes[0][1]) < 61 == len(made.meshes[-1][1])
    finer = plate(spec(SQUARE, element="kirchhoff", modes=60, refine=len(made.meshes)))
    assert np.array(made.meshes[-1][1]) == pytest.approx(np.array(finer.meshes[-1][1]), rel=0.02)


def test_up_to_a_frequency_without_end_is_refused_at_once() -> None:
    """Weyl's law tells how many modes there are, without computing them."""
    with pytest.raises(SuppleError, match="more than 500 modes lie below"):
        plate(spec(HEXAGON, up_to=1e9))
    made = plate(spec(HEXAGON, element="kirchhoff", up_to=200.0, tolerance=0.01))
    assert made.meshes[-1][1][-2] < 200 < made.meshes[-1][1][-1]


def test_a_mass_that_turns_at_a_point_is_said_to_be_the_reason() -> None:
    """The compliance of a point against moments grows without end as the mesh gets finer."""
    mass = (5.0, (0.1, 0.1, 0.1), ((0.05, 0.0, 0.0), (0.0, 0.05, 0.0), (0.0, 0.0, 0.05)))
    with pytest.raises(SuppleError, match=r"still change by .* a mass at a point sinks in and turns"):
        plate(spec(HEXAGON, masses=(mass,), modes=4))


def test_rigid_motions_of_fine_kirchhoff_meshes_cost_nothing() -> None:
    """Strain energy of rigid motions against that of the first elastic mode, on a mesh of 5000 unknowns: rounding."""
    model = plate(spec(SQUARE, element="kirchhoff", refine=4, modes=1)).model
    R = model.rigid
    strain = np.diag(R.T @ (model.stiffness @ R)) / np.diag(R.T @ (model.M @ R))
    assert np.abs(strain).max() < 1e-9 * model.free_modes(1)[0][0]
