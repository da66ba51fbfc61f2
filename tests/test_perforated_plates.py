"""Plates with holes, patches and eccentric ribs: exact annuli, composite beams, CalculiX, solids; meshes and messages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("skfem")

from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.special import iv, ivp, jv, jvp, kv, kvp, yv, yvp

from supple.errors import SuppleError
from supple.robot.bodies.reduction import Selection, Structure, reduced_basis
from supple.robot.bodies.section import CrossSection, rectangle_torsion
from supple.robot.finite_elements.model import FeModel, fe_body, hat_rows, rigid_inertia
from supple.robot.finite_elements.modes import factorised
from supple.robot.plates.delaunay import Border, triangulated
from supple.robot.plates.fields import Fields
from supple.robot.plates.figure import Circle, Figure, Polygon, figure_mesh, leaves_plate
from supple.robot.plates.matrices import Layers, by_forms, by_quadrature, moving
from supple.robot.plates.mesh import polygon_area, polygon_mesh
from supple.robot.plates.plate import PlateSpec, Rib, _space, plate, plate_model

ELEMENTS = ("mindlin", "kirchhoff")
PEERS = json.loads((Path(__file__).parent / "data" / "perforated_plates.json").read_text())["frequencies"]
STEEL = {"E": 2.1e11, "nu": 0.3, "rho": 7850.0}


def rectangle(length: float, width: float, low: float = 0.0) -> Polygon:
    return Polygon(np.array([(0.0, low), (length, low), (length, low + width), (0.0, low + width)]))


def disc(x: float, y: float, radius: float) -> Circle:
    return Circle(np.array([x, y]), radius)


def spec(figure: Figure, **given: Any) -> PlateSpec:
    made = figure_mesh(figure)
    values: dict[str, Any] = {"thickness": 0.01, **STEEL, "graded": True} | given
    values.setdefault("G", values["E"] / (2 * (1 + values["nu"])))
    return PlateSpec(
        tuple(map(tuple, made.points.tolist())), tuple(map(tuple, made.triangles.tolist())),
        patch=tuple(made.patches.tolist()), tracked=made.tracked, **values,
    )  # fmt: skip


def found(given: PlateSpec, count: int) -> np.ndarray:
    return np.array(plate(given).meshes[-1][1])[:count]


def held(model: FeModel, root: str, count: int) -> np.ndarray:
    seen = model.outline_rows[:90].toarray()
    structure = Structure(model.M, model.stiffness, model.rigid, model.sites, model.site(root), seen, model.free_modes)
    return np.array(reduced_basis(structure, "clamped_free", Selection(modes=count)).reduced.frequencies)


# Circles and annuli ---------------------------------------------------------------------------------------------------


def annulus(inner: float, edge: str, count: int, nu: float = 0.3) -> np.ndarray:
    """Exact lambda^2 = w a^2 sqrt(rho t/D) of thin annular plates with a free outer edge a = 1, each as often as it comes.

    w = (c1 J_n + c2 Y_n + c3 I_n + c4 K_n)(k r) cos(n phi). Free edge: M_r = 0 and Kirchhoff's shear force
    (lap w)' - (1 - nu) n^2/r^2 (w' - w/r) = 0; clamped: w = w' = 0 (Leissa, Vibration of Plates, NASA SP-160, ch. 2)."""
    waves = [(jv, jvp, -1), (iv, ivp, 1)] + ([(yv, yvp, -1), (kv, kvp, 1)] if inner else [])

    def free(n: int, k: float, r: float) -> list[list[float]]:
        moment, shear = [], []
        for f, df, sign in waves:
            w, slope = f(n, k * r), k * df(n, k * r)
            bent = sign * k**2 * w - slope / r + n**2 * w / r**2
            moment.append(bent + nu * (slope / r - n**2 * w / r**2))
            shear.append(sign * k**2 * slope - (1 - nu) * n**2 / r**2 * (slope - w / r))
        return [moment, shear]

    def determinant(k: float, n: int) -> float:
        rows = free(n, k, 1.0)
        if inner and edge == "free":
            rows += free(n, k, inner)
        elif inner:
            rows += [[f(n, k * inner) for f, _, _ in waves], [k * df(n, k * inner) for _, df, _ in waves]]
        A = np.array(rows)
        A = A / np.abs(A).max(axis=1)[:, None]
        return float(np.linalg.det(A / np.abs(A).max(axis=0)))

    values: list[float] = []
    for n in range(7):
        ks = np.linspace(0.3, 6.5, 700)
        signs = [determinant(k, n) for k in ks]
        for a, b, p, q in zip(ks, ks[1:], signs, signs[1:], strict=False):
            if p * q < 0:
                values += [brentq(determinant, a, b, args=(n,)) ** 2] * (2 if n else 1)
    return np.array(sorted(values)[:count])


def test_the_exact_values_are_the_published_ones() -> None:
    """Leissa (NASA SP-160), nu = 0.3: free circle 5.358, 9.003, 12.44; free annulus b/a = 0.5: 4.28, 9.31, 11.4
    (n = 2, 0, 3); clamped inside, b/a = 0.5: 13.0, 13.3, 14.7 (n = 0, 1, 2)."""
    assert annulus(0, "free", 5)[[0, 2, 3]] == pytest.approx([5.358, 9.003, 12.439], abs=1e-3)
    assert annulus(0.5, "free", 5)[[0, 2, 3]] == pytest.approx([4.28, 9.31, 11.4], rel=0.003)
    assert annulus(0.5, "clamped", 4)[[0, 1, 3]] == pytest.approx([13.0, 13.3, 14.7], rel=0.003)


THIN = 2e-4  # the exact values know no rotary inertia
UNIT = 2 * np.pi / np.sqrt(2.1e11 * THIN**2 / (12 * 7850 * (1 - 0.3**2)))


@pytest.mark.parametrize("inner", [0.0, 0.5])
def test_free_circles_and_annuli(inner: float) -> None:
    figure = Figure(disc(0, 0, 1), (disc(0, 0, inner),) if inner else ())
    made = UNIT * found(spec(figure, thickness=THIN, element="kirchhoff", modes=7), 7)
    assert made == pytest.approx(annulus(inner, "free", 7), rel=2e-4)


def test_circles_converge_with_the_mesh() -> None:
    """The polygons have the circle's area; the rest of their error falls at least with the square of the sides' length."""
    exact = annulus(0.5, "free", 7)
    figure = Figure(disc(0, 0, 1), (disc(0, 0, 0.5),))
    errors = []
    for level in (0, 1, 2):
        made = plate(spec(figure, thickness=THIN, element="kirchhoff", modes=7, refine=level))
        errors.append(float(np.abs(UNIT * np.array(made.meshes[-1][1])[:7] / exact - 1).max()))
        area = rigid_inertia(made.model)["mass"] / (7850 * THIN)
        assert area == pytest.approx(np.pi * 0.75, rel=1e-9)
    assert errors[0] > 4 * errors[1] > 16 * errors[2]
    assert errors[2] < 3e-5


def test_annulus_clamped_at_its_hole() -> None:
    figure = Figure(disc(0, 0, 1), (disc(0, 0, 0.5),))
    given = spec(figure, thickness=THIN, element="kirchhoff", rims=(("hub", (0.0, 0.0)),), refine=1)
    assert UNIT * held(plate(given).model, "hub", 7) == pytest.approx(annulus(0.5, "clamped", 7), rel=4e-4)
    given = spec(figure, thickness=0.005, rims=(("hub", (0.0, 0.0)),), refine=0)
    assert UNIT * THIN / 0.005 * held(plate(given).model, "hub", 3) == pytest.approx(annulus(0.5, "clamped", 3), rel=0.005)


# Stretching -----------------------------------------------------------------------------------------------------------


def free_timoshenko(EI: float, shear: float, line: float, rotary: float, length: float, count: int) -> np.ndarray:
    """Frequencies (Hz) of a free Timoshenko beam by its transfer matrix: state (w, phi, M, Q), M = Q = 0 at both ends."""

    def determinant(f: float) -> float:
        s = (2 * np.pi * f) ** 2
        A = np.array([[0, 1, 0, 1 / shear], [0, 0, 1 / EI, 0], [0, -rotary * s, 0, -1], [-line * s, 0, 0, 0]])
        T = expm(A * length)
        return float(T[2, 0] * T[3, 1] - T[2, 1] * T[3, 0])

    steps = np.linspace(20.0, 3000.0, 600)
    signs = [determinant(f) for f in steps]
    pairs = zip(steps, steps[1:], signs, signs[1:], strict=False)
    return np.array([brentq(determinant, a, b) for a, b, p, q in pairs if p * q < 0][:count])


def test_in_its_plane_a_strip_is_a_timoshenko_beam_and_a_rod() -> None:
    """nu = 0: bending in the plane as Timoshenko's beam (k = 5/6), longitudinal f = sqrt(E/rho)/(2 L)."""
    E, rho, length, w, t = 7e10, 2700.0, 1.0, 0.1, 0.05
    given = spec(Figure(rectangle(length, w)), E=E, nu=0.0, rho=rho, thickness=t, in_plane=True, refine=0, modes=12)
    made = plate(given)
    first = 2 * Fields(_space(given, 0), True).membrane.count
    values, shapes = made.model.free_modes(12)
    flat = np.linalg.norm(shapes[:first], axis=0) > 1e3 * np.linalg.norm(shapes[first:], axis=0)
    wanted = free_timoshenko(E * t * w**3 / 12, 5 / 6 * E / 2 * w * t, rho * w * t, rho * t * w**3 / 12, length, 3)
    rod = np.sqrt(E / rho) / (2 * length)
    assert (np.sqrt(values) / (2 * np.pi))[flat][:4] == pytest.approx([*wanted, rod], rel=1e-4)
    bending = found(replace(given, in_plane=False), 7)
    assert (np.sqrt(values) / (2 * np.pi))[~flat][:7] == pytest.approx(bending, rel=1e-6)


def t_beam(element: str) -> tuple[PlateSpec, CrossSection, float, float]:
    length, width, t, b, h = 1.0, 0.04, 0.004, 0.004, 0.02
    section = CrossSection(b * h, b * h**3 / 12, h * b**3 / 12, h * b**3 / 3, 5 / 6, 5 / 6)
    offset = (t + h) / 2
    rib = Rib((0.0, 0.0), (length, 0.0), section, 7e10, 3.5e10, 2700.0, offset)
    figure = Figure(rectangle(length, width, -width / 2), lines=((np.zeros(2), np.array([length, 0.0])),))
    values = {"E": 7e10, "nu": 0.0, "rho": 2700.0, "thickness": t}
    return spec(figure, **values, element=element, ribs=(rib,), in_plane=True, modes=2), section, offset, width * t


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_strip_with_an_eccentric_rib_is_a_t_beam(element: str) -> None:
    """Elementary beam theory of the composite section (Steiner): beta L = 4.730040745, free ends, nu = 0."""
    given, rib, e, area = t_beam(element)
    centre = rib.area * e / (rib.area + area)
    I = area * (given.thickness**2 / 12 + centre**2) + rib.Iy + rib.area * (e - centre) ** 2  # noqa: E741
    wanted = 4.730040745**2 / (2 * np.pi) * np.sqrt(7e10 * I / (2700 * (rib.area + area)))
    made = plate(given)
    assert made.meshes[-1][1][0] == pytest.approx(wanted, rel=0.004)
    middle = plate(replace(given, ribs=(replace(given.ribs[0], offset=0.0),)))
    assert middle.meshes[-1][1][0] < 0.6 * wanted
    inertia = rigid_inertia(made.model)
    assert inertia["MS_r"].astype(float) == pytest.approx(2700 * np.array([(area + rib.area) / 2, 0, rib.area * e]))
    across = area * (0.04**2 + 0.004**2) / 12 + rib.polar + rib.area * e**2
    assert float(inertia["I_rr"][0, 0]) == pytest.approx(2700 * across, rel=1e-9)
    assert float(inertia["I_rr"][2, 2]) == pytest.approx(
        2700 * ((area + rib.area) / 3 + area * 0.04**2 / 12 + rib.Iz), rel=1e-9
    )


# CalculiX and solids --------------------------------------------------------------------------------------------------


def rib_figure(offset: float, element: str) -> PlateSpec:
    """As in bench/perforated_plates.py: 0.8 m x 0.5 m x 8 mm, a blade of 40 mm x 8 mm along it at y = 0.1 m."""
    b, h, ends = 0.008, 0.04, ((0.0, 0.1), (0.8, 0.1))
    section = CrossSection(b * h, b * h**3 / 12, h * b**3 / 12, rectangle_torsion(b, h), 5 / 6, 5 / 6)
    figure = Figure(rectangle(0.8, 0.5, -0.25), lines=((np.array(ends[0]), np.array(ends[1])),))
    ribs = (Rib(*ends, section, 2.1e11, 2.1e11 / 2.6, 7850.0, offset),)
    return spec(figure, thickness=0.008, element=element, ribs=ribs, in_plane=True, modes=8, tolerance=2e-3)


def pocket_figure(offset: float, element: str) -> PlateSpec:
    """0.8 m x 0.5 m x 20 mm with a pocket of 0.5 m x 0.25 m, of which 8 mm are left."""
    pocket = Polygon(np.array([(0.1, 0.1), (0.6, 0.1), (0.6, 0.35), (0.1, 0.35)]))
    figure, many = Figure(rectangle(0.8, 0.5), patches=(pocket,)), {"modes": 8, "tolerance": 2e-3}
    return spec(figure, thickness=0.02, element=element, patches=((0.008, offset),), in_plane=offset != 0, **many)


def test_square_with_an_eccentric_hole_agrees_with_calculix() -> None:
    """Shells S8R of CalculiX, 12 x 12 elements on each side of the hole (bench/perforated_plates.py)."""
    figure = Figure(rectangle(1, 1), (disc(0.35, 0.4, 0.2),))
    assert found(spec(figure, tolerance=5e-3, modes=8), 8) == pytest.approx(PEERS["square with a hole"], rel=0.002)
    assert found(spec(figure, element="kirchhoff", modes=8), 8) == pytest.approx(PEERS["square with a hole"], rel=0.007)


def test_plate_with_an_eccentric_rib_agrees_with_calculix_and_solids() -> None:
    """S8R for the plate and a blade that stands on its middle plane, and quadratic hexahedra with the rib on the face, whose
    foot is 8 mm wide, not a line, which makes them stiffer. Without the offset the second frequency is 16 % too low."""
    assert found(rib_figure(0.02, "kirchhoff"), 7) == pytest.approx(PEERS["rib, shells"][:7], rel=0.011)
    assert found(rib_figure(0.024, "kirchhoff"), 8) == pytest.approx(PEERS["rib, solid"], rel=0.008)
    assert found(replace(rib_figure(0.02, "mindlin"), refine=0), 8) == pytest.approx(PEERS["rib, shells"], rel=0.004)
    flat = found(rib_figure(0.0, "kirchhoff"), 8)
    assert flat[1] < 0.85 * PEERS["rib, shells"][1]


def test_pockets_agree_with_calculix_and_solids() -> None:
    """Milled from both sides: shells S8R of two thicknesses, which still come down by 0.5 % from one mesh to the next.
    Milled from one side: quadratic hexahedra; the middle plane of the floor is 6 mm lower."""
    both = found(replace(pocket_figure(0.0, "mindlin"), refine=0), 8)
    assert both == pytest.approx(PEERS["pocket on both sides"], rel=0.008)
    one = found(replace(pocket_figure(-0.006, "mindlin"), refine=0), 8)
    assert one == pytest.approx(PEERS["pocket on one side"], rel=0.004)
    assert one[1] > 1.08 * both[1]


# Laws -----------------------------------------------------------------------------------------------------------------


FIGURES = {
    "hole": (Figure(rectangle(1, 0.8), (disc(0.4, 0.4, 0.15),)), {}),
    "polygons": (Figure(rectangle(1, 0.8), (Polygon(np.array([(0.2, 0.2), (0.5, 0.25), (0.3, 0.6)])),)), {}),
    "boss": (Figure(rectangle(1, 0.8), (disc(0.4, 0.4, 0.1),), (disc(0.4, 0.4, 0.2),)), {"patches": ((0.03, 0.01),)}),
    "rib": (
        Figure(rectangle(1, 0.8), lines=((np.array([0.1, 0.3]), np.array([0.9, 0.5])),)),
        {
            "ribs": (
                Rib((0.1, 0.3), (0.9, 0.5), CrossSection(1e-3, 2e-7, 1e-8, 1e-8, 5 / 6, 5 / 6), 2e11, 8e10, 7850.0, 0.05),
            )
        },
    ),
}


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", FIGURES)
def test_exactly_six_motions_without_strain(element: str, name: str) -> None:
    """Sylvester's law of inertia: K - s M has as many negative pivots as there are eigenvalues below s."""
    figure, more = FIGURES[name]
    given = spec(figure, element=element, thickness=0.05, in_plane=True, **more)
    model = plate_model(given, _space(given, 0))
    first = model.free_modes(1)[0][0]
    for square, below in ((0.5 * first, 6), (-1e-6 * first, 0)):
        factor = factorised(model.stiffness - square * model.M)
        assert (factor.perm_r == factor.perm_c).all()  # symmetric elimination, so pivots have the signs of the eigenvalues
        assert (factor.U.diagonal() < 0).sum() == below
    assert model.locate is not None
    site = model.locate(np.array([0.7, 0.5, 0.0]))
    assert site is not None
    assert site.rows @ model.rigid == pytest.approx(hat_rows(np.array([0.7, 0.5, 0.0])), abs=1e-8)


@pytest.mark.parametrize("element", ELEMENTS)
def test_forms_and_quadrature_give_the_same_matrices(element: str) -> None:
    """Two ways to the same plate: bilinear forms of scikit-fem, and rows of strains and displacements at points."""
    points, triangles = polygon_mesh(np.array([(0, 0), (0.6, 0.1), (0.5, 0.5), (0.1, 0.3)]))
    given = PlateSpec(
        tuple(map(tuple, points.tolist())), tuple(map(tuple, triangles.tolist())), 0.1, 2e11, 0.3, 8e10, 7850.0, element
    )
    fields, material = Fields(_space(given, 0), False), Layers(2e11, 0.3, 8e10, 7850.0, ((0.1, 0.0),))
    (K1, part1), (K2, part2) = by_forms(fields, material), by_quadrature(fields, material)
    assert abs(K1 - K2).max() < 1e-9 * abs(K1).max()
    mass = [T.T @ m @ T for m, T, _ in (moving([part1]), moving([part2]))]
    assert abs(mass[0] - mass[1]).max() < 1e-9 * abs(mass[0]).max()


def test_one_patch_over_all_is_another_plate() -> None:
    """A patch that covers everything, raised, is the plate with its thickness seen from a lower frame."""
    figure = Figure(rectangle(0.6, 0.4), patches=(rectangle(0.6, 0.4),))
    for element in ELEMENTS:
        raised = spec(figure, element=element, patches=((0.03, 0.02),), in_plane=True, refine=0, modes=5)
        plain = spec(Figure(rectangle(0.6, 0.4)), element=element, thickness=0.03, in_plane=True, refine=0, modes=5)
        a, b = plate(replace(raised, thickness=0.03)), plate(plain)
        assert a.meshes[-1][1][:5] == pytest.approx(b.meshes[-1][1][:5], rel=1e-6)
        assert rigid_inertia(a.model)["MS_r"][2] == pytest.approx(0.02 * float(rigid_inertia(b.model)["mass"]))


def test_kinetic_energy_of_a_raised_plate_is_that_of_its_points() -> None:
    """The record of a stretching plate against lumps of mass at heights: spin of the undeformed and deformed plate."""
    figure, more = FIGURES["boss"]
    made = plate(spec(figure, element="kirchhoff", in_plane=True, refine=0, modes=3, **more)).model
    _, shapes = made.free_modes(3)
    body = fe_body(made, shapes, ("a", "b", "c"), ("m",) * 3)
    U, R = made.T @ shapes, made.T @ made.rigid
    w, qd, q = np.array([0.3, -0.5, 0.7]), np.array([0.2, -0.1, 0.3]), np.array([0.04, 0.02, -0.03])
    v = R[:, 3:] @ w + U @ qd + sum(w[c] * (made.spin[c] @ (U @ q)) for c in range(3))
    energy = v @ (made.mass @ v) / 2
    I_re, I_ee, lam = (getattr(body, k).astype(float) for k in ("I_re", "I_ee", "lam"))
    I = body.I_rr.astype(float) + np.einsum("kcd,k->cd", I_re, q)  # noqa: E741
    I = I + np.einsum("kdc,k->cd", I_re, q) + np.einsum("ikcd,i,k->cd", I_ee, q, q)  # noqa: E741
    rates = body.beta.astype(float) + np.einsum("ikc,i->ck", lam, q)
    assert w @ I @ w / 2 + w @ rates @ qd + qd @ body.M_ee.astype(float) @ qd / 2 == pytest.approx(energy, rel=1e-9)


# Meshes ---------------------------------------------------------------------------------------------------------------


def test_meshes_fill_the_figure_without_sharp_angles() -> None:
    hexagon = Polygon(np.array([(0.5 * np.cos(a), 0.5 * np.sin(a)) for a in np.arange(6) * np.pi / 3]))
    bolts = tuple(disc(0.38 * np.cos(a), 0.38 * np.sin(a), 0.02) for a in np.arange(6) * np.pi / 3)
    slot = Polygon(np.array([(-0.05, 0.2), (0.05, 0.2), (0.05, 0.3), (-0.05, 0.3)]))
    lines = ((np.array([-0.3, 0.0]), np.array([0.3, 0.1])), (np.array([-0.2, -0.2]), np.array([0.2, 0.15])))
    figure = Figure(hexagon, (*bolts, slot), (disc(0, -0.2, 0.1),), lines)
    made = figure_mesh(figure)
    corners = made.points[made.triangles]
    areas = np.array([polygon_area(c) for c in corners])
    assert areas.min() > 0
    polygons = sum(polygon_area(made.points[list(t.points)]) for t in made.tracked[:6])
    assert areas.sum() == pytest.approx(hexagon.area - slot.area - polygons, rel=1e-12)
    assert areas[made.patches == 1].sum() == pytest.approx(
        polygon_area(made.points[list(made.tracked[6].points)]), rel=1e-12
    )
    edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    sine = 2 * areas * edges.min(axis=1) / edges.prod(axis=1)  # of the angle across the shortest side
    assert np.rad2deg(np.arcsin(sine.min())) > 15  # the lines cross at 19 degrees


def test_sharp_corners_do_not_split_each_other_without_end() -> None:
    wedge = Border(np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 0.15)]))
    made = triangulated(wedge, [], [], 0.4)
    assert len(made.triangles) < 60
    assert sum(polygon_area(made.points[t]) for t in made.triangles) == pytest.approx(0.075)


# Robot files ----------------------------------------------------------------------------------------------------------


def test_ribs_may_end_at_corners_and_edges() -> None:
    """Corners of turned polygons are off by rounding, to either side of the rib's end."""
    rng = np.random.default_rng(2)
    for sides in range(3, 30):
        turn = rng.uniform(0, 2 * np.pi) + np.arange(sides) * 2 * np.pi / sides
        corners = 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
        figure = Figure(Polygon(corners))
        for end in (*corners, *(corners + np.roll(corners, 1, axis=0)) / 2):
            assert not leaves_plate(0.1 * end, end, figure)


def test_a_narrow_web_between_a_hole_and_the_edge_does_not_fold() -> None:
    """Corners of a circle's polygon lie outside of it, by more than a narrow web if its sides were all alike."""
    plain = Figure(rectangle(0.6, 0.4), (disc(0.1, 0.2, 0.0999),))
    given = spec(plain, element="kirchhoff", refine=0, origin=(0.3, 0.2))
    mesh = _space(given, 1).mesh
    middles = mesh.p[:, mesh.t].mean(axis=1) * _space(given, 1).size + np.array([[0.3], [0.2]])
    assert (np.hypot(middles[0] - 0.1, middles[1] - 0.2) > 0.0998).all()
    assert (np.abs(mesh.p[0] * _space(given, 1).size) <= 0.3 + 1e-9).all()
    area = 0.6 * 0.4 - np.pi * 0.0999**2
    assert float(rigid_inertia(plate(given).model)["mass"]) == pytest.approx(7850 * 0.01 * area, rel=1e-9)
    with pytest.raises(SuppleError, match="so near to another edge"):
        _space(spec(Figure(rectangle(0.6, 0.4), (disc(0.1, 0.2, 0.09999),)), element="kirchhoff"), 0)
