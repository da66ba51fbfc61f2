"""Bodies: every shape integral against quadrature, stiffness against strain energy and known deflections."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from robots import build
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

from supple.model.equilibrium import equilibrium, linearise
from supple.model.posture import posture
from supple.robot.bodies.beam import BeamSpec, beam_body, beam_marker
from supple.robot.bodies.damping import damped
from supple.robot.bodies.record import Body, hat, moved, offset_marker
from supple.robot.bodies.section import CrossSection, cross_section, rectangle_torsion
from supple.robot.bodies.spring import spring_axes, spring_body, spring_marker, spring_problem
from supple.robot.description import Damping, JointDamping, Rayleigh, Section, Spring

SECTION = CrossSection(area=3e-4, Iy=2e-8, Iz=7e-9, J=5e-9, ky=0.7, kz=0.9)  # no two numbers alike
KINDS = list(product((1, 2, 3), ("2D", "3D"), ("euler_bernoulli", "timoshenko")))
NAMES = [f"{n}-{space}-{theory}" for n, space, theory in KINDS]


def beam(elements: int = 2, space: str = "3D", theory: str = "timoshenko", section: CrossSection = SECTION) -> BeamSpec:
    """A thick beam (shear numbers of order one), so that Timoshenko's terms weigh."""
    return BeamSpec(0.3, section, 70e9, 27e9, 2700.0, elements, space == "2D", theory == "timoshenko")


@pytest.fixture(params=KINDS, ids=NAMES)
def spec(request: pytest.FixtureRequest) -> BeamSpec:
    return beam(*request.param)


def numbers(x: Any) -> np.ndarray:
    return np.asarray(x).astype(float)


def gauss(spec: BeamSpec, points: int = 6) -> list[tuple[float, float]]:
    """Fractions of the beam's length and weights (m), exact for polynomials of degree 11 on every element."""
    x, w = np.polynomial.legendre.leggauss(points)
    n = spec.elements
    return [((k + (1 + s) / 2) / n, float(spec.length) * t / (2 * n)) for k in range(n) for s, t in zip(x, w, strict=True)]


def section_inertia(spec: BeamSpec) -> np.ndarray:
    """Second moments of area whose rotation has inertia: about x in space, about y and z in Timoshenko's theory."""
    s = spec.section
    about = np.array([s.Iy + s.Iz, s.Iy if spec.shear else 0, s.Iz if spec.shear else 0])
    return np.diag([0, 0, about[2]] if spec.planar else about)


def quadrature(spec: BeamSpec, R: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """The integrals of Briot & Khalil 2014 (appendix) over the line of mass, rotary inertia added where it belongs."""
    n = (3 if spec.planar else 6) * spec.elements
    made = {
        "MS_r": np.zeros(3), "I_rr": np.zeros((3, 3)), "MS_de": np.zeros((3, n)), "beta": np.zeros((3, n)),
        "lam": np.zeros((n, n, 3)), "I_re": np.zeros((n, 3, 3)), "I_ee": np.zeros((n, n, 3, 3)), "M_ee": np.zeros((n, n)),
    }  # fmt: skip
    turning = R @ section_inertia(spec) @ R.T
    for fraction, weight in gauss(spec):
        marker = beam_marker(spec, fraction)
        r, phi = p + R @ numbers(marker.position), R @ numbers(marker.Phi_d)
        dm, rotary, Phi_r = spec.rho * spec.section.area * weight, spec.rho * weight * turning, R @ numbers(marker.Phi_r)
        r_hat, hats = numbers(hat(r)), [numbers(hat(column)) for column in phi.T]
        made["MS_r"] += dm * r
        made["I_rr"] += dm * r_hat.T @ r_hat + rotary
        made["MS_de"] += dm * phi
        made["beta"] += dm * np.cross(r, phi.T).T + rotary @ Phi_r
        made["M_ee"] += dm * phi.T @ phi + Phi_r.T @ rotary @ Phi_r
        for i in range(n):
            made["I_re"][i] += dm * r_hat.T @ hats[i]
            for k in range(n):
                made["lam"][i, k] += dm * np.cross(phi[:, i], phi[:, k])
                made["I_ee"][i, k] += dm * hats[i].T @ hats[k]
    return made


def check_integrals(body: Body, expected: dict[str, np.ndarray]) -> None:
    for name, truth in expected.items():
        found = numbers(getattr(body, name))
        assert found.shape == truth.shape, name
        assert np.abs(found - truth).max() <= 1e-13 * max(np.abs(truth).max(), 1e-30), name


def test_shape_integrals(spec: BeamSpec) -> None:
    """Polynomial integrals of the code against Gauss quadrature of the section's displacement, exact for these degrees."""
    body = beam_body(spec)
    check_integrals(body, quadrature(spec, np.eye(3), np.zeros(3)))
    assert float(body.mass) == pytest.approx(spec.rho * spec.section.area * spec.length, rel=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_shape_integrals_of_a_moved_body(spec: BeamSpec, seed: int) -> None:
    """`moved` against quadrature of the displacement field turned by R and shifted by p."""
    rng = np.random.default_rng(seed)
    R, p = Rotation.random(random_state=seed).as_matrix(), rng.uniform(-0.5, 0.5, 3)
    check_integrals(moved(beam_body(spec), R.astype(object), p.astype(object)), quadrature(spec, R, p))


@pytest.mark.parametrize("theory", ["euler_bernoulli", "timoshenko"])
@pytest.mark.parametrize("space", ["2D", "3D"])
def test_rigid_beam(space: str, theory: str) -> None:
    """elements = 0: a bar of mass m with I = m L^2/3 about its end, and the rotary inertia rho L I of its sections."""
    rigid, bending = beam(0, space, theory), beam(1, space, theory)
    truth = quadrature(bending, np.eye(3), np.zeros(3))
    body = beam_body(rigid)
    assert not body.flexible
    check_integrals(body, {k: truth[k] for k in ("MS_r", "I_rr")})


def test_coordinates_are_the_displacements_of_the_nodes(spec: BeamSpec) -> None:
    """At node j the section moves and turns with the six (planar: three) coordinates of node j and no others."""
    kept = [0, 1, 5] if spec.planar else list(range(6))
    count = len(kept)
    for node in range(spec.elements + 1):
        marker = beam_marker(spec, Fraction(node, spec.elements))
        moves = np.vstack([numbers(marker.Phi_d), numbers(marker.Phi_r)])[kept]
        expected = np.zeros_like(moves)
        if node:
            expected[:, count * (node - 1) : count * node] = np.eye(count)
        assert moves == pytest.approx(expected, abs=1e-14)


def field_polynomials(spec: BeamSpec, element: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (degree 3 first) in x of displacement and rotation of every coordinate on one element, by fitting."""
    h = spec.length / spec.elements
    s = np.array([0.1, 0.35, 0.65, 0.9])
    markers = [beam_marker(spec, (element + float(x)) / spec.elements) for x in s]
    vandermonde = np.vander(s * h, 4)
    fits = []
    for name in ("Phi_d", "Phi_r"):
        samples = np.array([numbers(getattr(m, name)) for m in markers])
        fits.append(np.linalg.solve(vandermonde, samples.reshape(4, -1)).reshape(samples.shape))
    return fits[0], fits[1]


def derivative(c: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros_like(c[:1]), c[:-1] * np.array([3.0, 2.0, 1.0])[:, None, None]])


def test_stiffness_is_the_strain_energy_of_the_field(spec: BeamSpec) -> None:
    """K = int E A e^T e + E I k^T k + G J t^T t + k G A g^T g of the field that moves the markers; in Euler-Bernoulli's
    theory the section stays normal to the axis, so the shear g vanishes."""
    s, n = spec.section, (3 if spec.planar else 6) * spec.elements
    K, shear = np.zeros((n, n)), 0.0
    x, w = np.polynomial.legendre.leggauss(4)
    h = spec.length / spec.elements
    stiffness = (spec.E * s.area, spec.G * s.J, spec.E * s.Iy, spec.E * s.Iz, s.ky * spec.G * s.area, s.kz * spec.G * s.area)
    for element in range(spec.elements):
        u, turn = field_polynomials(spec, element)
        du, dturn = derivative(u), derivative(turn)
        strains = (du[:, 0], dturn[:, 0], dturn[:, 1], dturn[:, 2], du[:, 1] - turn[:, 2], du[:, 2] + turn[:, 1])
        for xi, weight in zip(x, w, strict=True):
            powers = ((1 + xi) / 2 * h) ** np.array([3, 2, 1, 0])
            rows = [powers @ strain for strain in strains]
            shear = max(shear, *(np.abs(row).max() * h for row in rows[4:]))
            for k, row in zip(stiffness if spec.shear else stiffness[:4], rows, strict=False):
                K += weight * h / 2 * k * np.outer(row, row)
    found = numbers(beam_body(spec).K_ee)
    scale = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    assert np.abs((found - K) / scale).max() < 1e-11
    assert (shear > 1e-3) if spec.shear else (shear < 1e-12)


def tip_compliance(spec: BeamSpec) -> np.ndarray:
    n = 3 if spec.planar else 6
    return np.linalg.inv(numbers(beam_body(spec).K_ee))[-n:, -n:]


def test_tip_compliance(spec: BeamSpec) -> None:
    """Textbook cantilever: L/EA, L/GJ, P L^3/3EI (+ P L/kGA in Timoshenko's theory), P L^2/2EI, L/EI, with Iz in the
    x-y plane and Iy in the x-z plane; exact for any number of elements."""
    s, L, E, G = spec.section, spec.length, spec.E, spec.G
    C = np.zeros((6, 6))
    C[0, 0], C[3, 3] = L / (E * s.area), L / (G * s.J)
    C[1, 1] = L**3 / (3 * E * s.Iz) + (L / (s.ky * G * s.area) if spec.shear else 0)
    C[2, 2] = L**3 / (3 * E * s.Iy) + (L / (s.kz * G * s.area) if spec.shear else 0)
    C[5, 5], C[4, 4] = L / (E * s.Iz), L / (E * s.Iy)
    C[1, 5] = C[5, 1] = L**2 / (2 * E * s.Iz)
    C[2, 4] = C[4, 2] = -(L**2) / (2 * E * s.Iy)
    if spec.planar:
        C = C[np.ix_([0, 1, 5], [0, 1, 5])]
    assert tip_compliance(spec) == pytest.approx(C, rel=1e-10, abs=1e-18)


def test_an_arm_on_a_section_moves_like_a_rigid_body() -> None:
    """offset_marker: displacement of the section plus rotation x arm."""
    section = beam_marker(beam(1), Fraction(1, 3))
    arm, q = np.array([0.1, -0.2, 0.3]), np.arange(1.0, 7.0)
    found = offset_marker(section, arm.astype(object), np.eye(3).astype(object))
    expected = numbers(section.Phi_d) @ q + np.cross(numbers(section.Phi_r) @ q, arm)
    assert numbers(found.Phi_d) @ q == pytest.approx(expected, rel=1e-14)


# Sections ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "k"), [(1, 0.1406), (1.5, 0.196), (2, 0.229), (3, 0.263), (5, 0.291), (10, 0.312)])
def test_torsion_of_a_rectangle(ratio: float, k: float) -> None:
    """Timoshenko & Goodier, Theory of Elasticity, section 109: J = k a^3 b with a the shorter side, b/a = ratio."""
    assert rectangle_torsion(ratio * 0.01, 0.01) == pytest.approx(k * ratio * 1e-8, abs=6e-4 * ratio * 1e-8)
    assert rectangle_torsion(0.01, ratio * 0.01) == rectangle_torsion(ratio * 0.01, 0.01)


def test_hollow_sections_are_differences_of_full_ones() -> None:
    """Area and second moments of a tube and a box: outer minus inner; a tube's J is its polar moment."""

    tube, full, core = made("tube", diameter=0.05, wall=0.004), made("circle", diameter=0.05), made("circle", diameter=0.042)
    box = made("box", y=0.04, z=0.06, wall=0.003)
    outer, inner = made("rectangle", y=0.04, z=0.06), made("rectangle", y=0.034, z=0.054)
    for hollow, big, small in ((tube, full, core), (box, outer, inner)):
        for key in ("area", "Iy", "Iz"):
            assert getattr(hollow, key) == pytest.approx(getattr(big, key) - getattr(small, key), rel=1e-12)
    assert abs(tube.J - (full.J - core.J)) < 1e-12 * tube.J
    assert outer.Iz == pytest.approx(0.06 * 0.04**3 / 12) and outer.Iy == pytest.approx(0.04 * 0.06**3 / 12)


def made(kind: str, **sizes: float) -> CrossSection:
    """The CrossSection of plain numbers, as the reader hands them on, for nu = 0.3."""
    part = Section.model_fields[kind].annotation.__args__[0]
    return cross_section(Section.model_construct(**{kind: part.model_construct(**sizes)}), 0.3)


def test_shear_factors() -> None:
    """Cowper, J. Appl. Mech. 33 (1966) 335-340, nu = 0.3: rectangle 0.850, circle 0.886, thin tube 0.531."""
    assert made("rectangle", y=0.02, z=0.01).ky == pytest.approx(0.850, abs=5e-4)
    assert made("circle", diameter=0.02).ky == pytest.approx(0.886, abs=5e-4)
    assert made("tube", diameter=0.02, wall=1e-6).ky == pytest.approx(0.531, abs=5e-4)


# Damping -------------------------------------------------------------------------------------------------------------


def test_rayleigh_damping() -> None:
    """D = alpha M + beta K."""
    body = beam_body(beam())
    D = damped(body, Damping.model_construct(rayleigh=Rayleigh.model_construct(alpha=3.0, beta=2e-4))).D_ee
    assert numbers(D) == pytest.approx(3.0 * numbers(body.M_ee) + 2e-4 * numbers(body.K_ee), rel=1e-14)


def test_modal_damping_gives_every_clamped_mode_its_ratio() -> None:
    """Poles of M s^2 + D s + K: every one has the damping ratio asked for."""
    body = damped(beam_body(beam()), Damping.model_construct(modal=0.03, rayleigh=None, structural=None))
    M, D, K = (numbers(x) for x in (body.M_ee, body.D_ee, body.K_ee))
    squares, shapes = eigh(K, M)
    modal = shapes.T @ D @ shapes
    assert np.abs(D - D.T).max() < 1e-12 * np.abs(D).max()
    assert np.diag(modal) == pytest.approx(2 * 0.03 * np.sqrt(squares), rel=1e-8)
    assert np.abs(modal - np.diag(np.diag(modal))).max() < 1e-8 * np.abs(modal).max()


def test_structural_damping_is_a_loss_stiffness() -> None:
    """K (1 + j eta): H = eta K, no viscous part."""
    body = beam_body(beam())
    lossy = damped(body, Damping.model_construct(structural=0.096, rayleigh=None, modal=None))
    assert numbers(lossy.H_ee) == pytest.approx(0.096 * numbers(body.K_ee), rel=1e-14)
    assert not numbers(lossy.D_ee).any()


# Springs -------------------------------------------------------------------------------------------------------------

AXES = ("x", "y", "z", "rx", "ry", "rz")


def spring(**given: Any) -> Spring:
    return Spring.model_construct(**{k: given.get(k) for k in (*AXES, "axes", "matrix")})


def test_spring_axes_and_marker() -> None:
    """One coordinate per compliant axis; the moving side follows exactly that axis."""
    body = spring_body(
        spring(z=5.0, rx=7.0), JointDamping.model_construct(**dict.fromkeys(AXES) | {"rx": 0.3, "matrix": None}), None
    )
    marker = spring_marker(body)
    assert body.coordinates == ("z", "rx") and body.units == ("m", "rad")
    assert numbers(body.K_ee).tolist() == [[5, 0], [0, 7]] and numbers(body.D_ee).tolist() == [[0, 0], [0, 0.3]]
    assert numbers(marker.Phi_d).tolist() == [[0, 0], [0, 0], [1, 0]]
    assert numbers(marker.Phi_r).tolist() == [[0, 1], [0, 0], [0, 0]]


def test_spring_matrix_is_refused_when_lopsided() -> None:
    assert spring_problem(spring(matrix=[[1, 2], [2, 3]], axes=["x", "rz"]), None, None) is None
    assert "symmetric" in str(spring_problem(spring(matrix=[[1, 2], [4, 3]], axes=["x", "rz"]), None, None))
    assert "2 x 2" in str(spring_problem(spring(matrix=[[1]], axes=["x", "rz"]), None, None))
    assert spring_axes(spring(matrix=np.eye(6).tolist()), None) == list(AXES)


def stiff_matrix() -> np.ndarray:
    """A full positive definite 6 x 6 stiffness, all entries different."""
    A = np.random.default_rng(5).uniform(-1, 1, (6, 6))
    return 1e5 * (A @ A.T + 2 * np.eye(6))


def test_full_six_by_six_spring_carries_a_body() -> None:
    """A rigid body on a full 6 x 6 spring: static displacement K^-1 w of a small wrench and frequencies of (K, M), with M
    written here from mass, centre and inertia."""
    K, m, c, own = stiff_matrix(), 3.0, np.array([0.1, 0.05, -0.08]), np.diag([0.02, 0.03, 0.04])
    model = build(f"""
space: spatial
bodies:
  load: {{rigid: {{mass: {m}, centre: {c.tolist()}, inertia: {{xx: 0.02, yy: 0.03, zz: 0.04}}}}}}
links:
  load: {{parent: base, at: [0.3, 0.1, 0], body: load, stiffness: {{matrix: {K.tolist()}}}}}
points:
  tip: {{link: load}}
""")
    w = 1e-3 * np.array([[1.0, -2, 3, 0.4, -0.5, 0.6]])
    rest = equilibrium(model, posture(model), w=w, tolerance=1e-14)
    assert rest.q == pytest.approx(np.linalg.solve(K, w[0]), rel=1e-6)  # rotations of 1e-8 rad: linear to this
    C = numbers(hat(c))
    M = np.block([[m * np.eye(3), -m * C], [m * C, own - m * C @ C]])
    linear = linearise(model, equilibrium(model, posture(model)))
    truth = eigh(K, M, eigvals_only=True)
    assert eigh(linear.K, linear.M, eigvals_only=True) == pytest.approx(truth, rel=1e-10)


def test_damping_matrix_of_a_spring_stands_in_the_equations() -> None:
    """f contains D v for a full damping matrix."""
    D = 0.01 * stiff_matrix()
    model = build(f"""
space: spatial
bodies:
  load: {{rigid: {{mass: 1, inertia: {{xx: 1, yy: 1, zz: 1}}}}}}
links:
  load: {{parent: base, body: load, stiffness: {{matrix: {stiff_matrix().tolist()}}}, damping: {{matrix: {D.tolist()}}}}}
""")
    assert model.damping(posture(model)) == pytest.approx(D, rel=1e-12)


def test_a_rigid_body_of_first_moments_is_the_same_as_one_of_a_centre() -> None:
    """Steiner: inertia at the origin = inertia at the centre + m (c.c 1 - c c^T)."""
    text = """
space: spatial
bodies:
  load: {{rigid: {body}}}
links:
  load: {{parent: base, joint: spherical, body: load}}
"""
    m, c = 2.0, np.array([0.1, -0.2, 0.3])
    about = m * (c @ c * np.eye(3) - np.outer(c, c)) + np.diag([0.1, 0.2, 0.3])
    entries = {a + b: float(about["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
    ways = [
        {"mass": m, "centre": c.tolist(), "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.3}},
        {"mass": m, "first_moments": (m * c).tolist(), "inertia_at_origin": entries},
        {"mass": m, "first_moments": (m * c).tolist(), "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.3}},
    ]
    bodies = [build(text.format(body=way)).mechanism.frames[0].body for way in ways]
    for body in bodies:
        assert numbers(body.I_rr) == pytest.approx(about, rel=1e-14)
        assert numbers(body.MS_r) == pytest.approx(m * c, rel=1e-14)
