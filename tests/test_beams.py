"""Beams built as robots, against the numbers of textbooks and benchmarks."""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from robots import build, frequencies
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import ellipk, ellipkinc

from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import posture

STEEL = """
space: {space}
materials:
  steel: {{E: 210 GPa, rho: 7850, nu: 0.3}}
sections:
  strip: {{rectangle: {{y: 20 mm, z: 10 mm}}}}
bodies:
  beam: {{beam: {{length: 1, section: strip, material: steel, {mesh}}}}}
"""
CLAMPED = (
    STEEL
    + """
links:
  beam: {{parent: base, body: beam}}
points:
  tip: {{link: beam, on: end}}
"""
)
LINEAR_MASS = 7850 * 2e-4
EI = {"y": 210e9 * 10e-3 * 20e-3**3 / 12, "z": 210e9 * 20e-3 * 10e-3**3 / 12}  # bending along y and along z

CLAMPED_FREE = np.array([1.875104069, 4.694091133, 7.854757438, 10.99554073])
FREE_FREE = np.array([4.730040745, 7.853204624, 10.99560784])
CLAMPED_PINNED = np.array([3.926602312, 7.068582746, 10.21017612])


def in_hz(beta_l: np.ndarray, stiffness: float = EI["y"]) -> np.ndarray:
    """Frequencies of the steel strip of 1 m from beta L."""
    return np.asarray(beta_l) ** 2 * sqrt(stiffness / LINEAR_MASS) / (2 * pi)


def own_error(beta_l: np.ndarray, elements: int) -> np.ndarray:
    """Relative frequency error of Hermite elements with consistent mass, to leading order: (beta h)^4 / 1440."""
    return (beta_l / elements) ** 4 / 1440


# Euler-Bernoulli -----------------------------------------------------------------------------------------------------


def test_clamped_free() -> None:
    """beta L = 1.875104069, 4.694091133, 7.854757438, 10.99554073 (numbers.md; cos x cosh x = -1). What is left of the
    difference is the known error of Hermite elements, to a few per cent of itself."""
    found = frequencies(CLAMPED.format(space="planar", mesh="elements: 16"), count=4)
    error = found / in_hz(CLAMPED_FREE) - 1
    assert error == pytest.approx(own_error(CLAMPED_FREE, 16), rel=0.03)


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_frequency_error_falls_with_the_fourth_power_of_the_element_size(space: str) -> None:
    """Strang & Fix: eigenvalue error h^(2(k+1-m)) = h^4 for cubic elements of the fourth-order beam operator."""
    truth = in_hz(CLAMPED_FREE[:2])
    if space == "spatial":  # the strip bends first along its thin side
        truth = np.concatenate([in_hz(CLAMPED_FREE[:1], EI["z"]), in_hz(CLAMPED_FREE[:1], EI["y"])])
    counts = np.array([4, 6, 8, 12] if space == "planar" else [2, 3, 4, 6])
    errors = [frequencies(CLAMPED.format(space=space, mesh=f"elements: {n}"), count=2) / truth - 1 for n in counts]
    for mode in range(2):
        slope = -np.polyfit(np.log(counts), np.log([e[mode] for e in errors]), 1)[0]
        assert slope == pytest.approx(4, abs=0.2)


def test_free_free_in_the_plane() -> None:
    """beta L = 4.730040745, 7.853204624, 10.99560784 (numbers.md); a beam on passive slides and a passive hinge, which
    adds exactly three motions without stiffness."""
    text = (
        STEEL.format(space="planar", mesh="elements: 12")
        + """
links:
  x: {parent: base, joint: prismatic, axis: x}
  y: {parent: x, joint: prismatic, axis: y}
  beam: {parent: y, joint: revolute, body: beam}
"""
    )
    found = frequencies(text, count=6)
    assert np.abs(found[:3]).max() < 1e-4
    assert found[3:] / in_hz(FREE_FREE) - 1 == pytest.approx(own_error(FREE_FREE, 12), rel=0.1)


def test_free_free_in_space() -> None:
    """The same strip on three slides and a spherical joint: six motions without stiffness, then pairs of bending modes."""
    text = (
        STEEL.format(space="spatial", mesh="elements: 6")
        + """
links:
  x: {parent: base, joint: prismatic, axis: x}
  y: {parent: x, joint: prismatic, axis: y}
  z: {parent: y, joint: prismatic, axis: z}
  beam: {parent: z, joint: spherical, body: beam}
"""
    )
    found = frequencies(text, count=9)
    expected = [in_hz(FREE_FREE[0], EI["z"]), in_hz(FREE_FREE[0]), in_hz(FREE_FREE[1], EI["z"])]
    assert np.abs(found[:6]).max() < 1e-3
    which = np.array([FREE_FREE[0], FREE_FREE[0], FREE_FREE[1]])
    assert found[6:] / np.array(expected) - 1 == pytest.approx(own_error(which, 6), rel=0.2)


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_clamped_pinned(space: str) -> None:
    """beta L = 3.926602312, 7.068582746, 10.21017612 (numbers.md); the end slides on a line along the beam."""
    text = (
        CLAMPED.format(space=space, mesh="elements: 10")
        + """
closures:
  end: {joint: point_on_line, from: {link: base, at: [1, 0, 0], rotate: {y: 90 deg}}, to: {link: beam, on: end}}
"""
    )
    stiffness = EI["y" if space == "planar" else "z"]
    found = frequencies(text, count=6)
    for beta in CLAMPED_PINNED[: 3 if space == "planar" else 2]:
        error = np.abs(found / in_hz(beta, stiffness) - 1).min()
        assert error == pytest.approx(own_error(beta, 10), rel=0.1)


@pytest.mark.parametrize(("ratio", "beta_l"), [(0.1, [1.72274152, 4.39952282]), (1, [1.24791741, 4.03113944])])
def test_tip_mass(ratio: float, beta_l: list[float]) -> None:
    """Cantilever with a point mass M = ratio rho A L on its tip (numbers.md)."""
    text = CLAMPED.format(space="planar", mesh="elements: 16").replace(
        "links:", f"  tip: {{rigid: {{mass: {ratio * LINEAR_MASS}}}}}\nlinks:\n  tip: {{parent: beam, on: end, body: tip}}"
    )
    assert frequencies(text, count=2) == pytest.approx(in_hz(np.array(beta_l)), rel=1e-5)


# Timoshenko ----------------------------------------------------------------------------------------------------------


def extrapolated(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """The limit of two meshes, one twice as fine, whose error falls with h^2 (constant shear per element)."""
    return fine + (fine - coarse) / 3


def pinned(n: int, L: float, side: float, E: float, rho: float, k: float) -> float:
    """Closed form of a pinned Timoshenko beam: v = sin(n pi x/L), theta = cos(n pi x/L), in rad/s."""
    b, A, second, kG = n * pi / L, side**2, side**4 / 12, k * E / 2.6
    K = [[kG * A * b**2, -kG * A * b], [-kG * A * b, E * second * b**2 + kG * A]]
    return sqrt(eigh(K, np.diag([rho * A, rho * second]), eigvals_only=True)[0])


COWPER = 10 * 1.3 / (12 + 11 * 0.3)


def test_pinned_timoshenko_beam() -> None:
    """Nachbagauer et al. 2013 (numbers.md): L = 2, 0.4 x 0.4, E = 1e9, rho = 7850, nu = 0.3, axially free at one end:
    95.63398, 332.23451, 635.69629 rad/s in bending, 280.32063 axially."""
    text = """
space: planar
materials:
  m: {{E: 1e9, rho: 7850, nu: 0.3}}
sections:
  s: {{rectangle: {{y: 0.4, z: 0.4}}}}
bodies:
  beam: {{beam: {{length: 2, section: s, material: m, theory: timoshenko, elements: {n}}}}}
links:
  beam: {{parent: base, joint: revolute, body: beam}}
closures:
  end: {{joint: point_on_line, from: {{link: base, at: [2, 0, 0], rotate: {{y: 90 deg}}}}, to: {{link: beam, on: end}}}}
"""
    coarse, fine = (2 * pi * frequencies(text.format(n=n), count=4) for n in (12, 24))
    bending, axial = [0, 2, 3], 1
    limit = extrapolated(coarse, fine)
    assert limit[bending] == pytest.approx([95.63398, 332.23451, 635.69629], rel=1e-4)
    assert limit[bending[0]] == pytest.approx(95.63398, rel=1e-6)
    assert limit[axial] == pytest.approx(280.32063, rel=1e-6)
    assert np.all(np.log2((coarse - limit) / (fine - limit)) == pytest.approx(2, abs=0.01))


def test_nafems_fv5() -> None:
    """NAFEMS FV5, deep simply supported beam: 42.650 (x2), 125.00 axial, 148.15 (x2), 283.47 (x2) Hz (numbers.md), torsion
    71.20 and 213.61 Hz (caesarsystems.co.uk/NAFEMS_benchmarks/fv5.html). The closed form with Cowper's shear factor is
    42.645, 148.149, 283.468 Hz."""
    text = """
space: spatial
materials:
  m: {{E: 200 GPa, rho: 8000, nu: 0.3}}
sections:
  s: {{rectangle: {{y: 2, z: 2}}}}
bodies:
  beam: {{beam: {{length: 10, section: s, material: m, theory: timoshenko, elements: {n}}}}}
links:
  beam: {{parent: base, joint: universal, axis: [y, z], body: beam}}
closures:
  end: {{joint: point_on_line, from: {{link: base, at: [10, 0, 0], rotate: {{y: 90 deg}}}}, to: {{link: beam, on: end}}}}
"""
    coarse, fine = (frequencies(text.format(n=n), count=9) for n in (6, 12))
    found = extrapolated(coarse, fine)
    published = [42.650, 42.650, 71.20, 125.00, 148.15, 148.15, 213.61, 283.47, 283.47]
    assert found == pytest.approx(published, rel=2e-3)
    assert found[:5] == pytest.approx(published[:5], rel=2e-4)
    bending = [pinned(n, 10, 2, 200e9, 8000, COWPER) / (2 * pi) for n in (1, 2)]
    assert found[[0, 4]] == pytest.approx(bending, rel=1e-4)
    assert fine[[0, 4, 7]] == pytest.approx(fine[[1, 5, 8]], rel=1e-9)


# Frames of reference -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theory", ["euler_bernoulli", "timoshenko"])
@pytest.mark.parametrize("seed", range(3))
def test_orientation_does_not_matter(theory: str, seed: int) -> None:
    """A clamped beam with a tip body, laid in any direction by rotate, axis and up, has the same frequencies."""
    rng = np.random.default_rng(seed)
    text = """
space: spatial
materials:
  m: {{E: 70 GPa, rho: 2700, nu: 0.33}}
sections:
  s: {{rectangle: {{y: 30 mm, z: 20 mm}}}}
bodies:
  beam: {{beam: {{length: 0.5, section: s, material: m, elements: 2, theory: {theory}, axis: {axis}, up: {up},
                start: {start}}}}}
  tip: {{rigid: {{mass: 0.3}}}}
links:
  beam: {{parent: base, at: {at}, rotate: {rotate}, body: beam}}
  tip: {{parent: beam, on: end, body: tip}}
"""
    plain = {"axis": "x", "up": "z", "start": [0, 0, 0], "at": [0, 0, 0], "rotate": "{}"}
    angles = rng.uniform(-3, 3, 3)
    turned = {
        "axis": rng.uniform(-1, 1, 3).tolist(), "up": rng.uniform(-1, 1, 3).tolist(),
        "start": rng.uniform(-1, 1, 3).tolist(), "at": rng.uniform(-1, 1, 3).tolist(),
        "rotate": f"[{{z: {angles[0]}}}, {{x: {angles[1]}}}, {{y: {angles[2]}}}]",
    }  # fmt: skip
    expected = frequencies(text.format(theory=theory, **plain))
    assert frequencies(text.format(theory=theory, **turned)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("theory", ["euler_bernoulli", "timoshenko"])
@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_segments_are_elements_with_frames_of_their_own(space: str, theory: str) -> None:
    """About the straight beam, n segments of one element span the same displacements as n elements: same frequencies."""
    one, own = (
        frequencies(CLAMPED.format(space=space, mesh=f"{mesh}, theory: {theory}")) for mesh in ("elements: 4", "segments: 4")
    )
    mixed = frequencies(CLAMPED.format(space=space, mesh=f"elements: 2, segments: 2, theory: {theory}"))
    assert own == pytest.approx(one, rel=1e-9)
    assert mixed == pytest.approx(one, rel=1e-9)


# Statics -------------------------------------------------------------------------------------------------------------


def tip_at_rest(model: Model, wrench: Any) -> np.ndarray:
    """Position of the point `tip` in equilibrium under a wrench at it."""
    w = np.zeros((1, 6))
    w[0, : len(wrench)] = wrench
    return model.call("points", q=equilibrium(model, posture(model), w=w).q)["position"][0]


@pytest.mark.parametrize("mesh", ["elements: 1", "elements: 3"])
def test_static_tip_deflection(mesh: str) -> None:
    """P L^3 / 3 E I along y and z, P L / E A along x; bending draws the tip back by P^2 L^5 / 15 (E I)^2."""
    model = build(CLAMPED.format(space="spatial", mesh=mesh))
    assert tip_at_rest(model, [300.0, 0, 0]) - [1, 0, 0] == pytest.approx([300.0 / (210e9 * 2e-4), 0, 0], rel=1e-9)
    y, z = -20.0, 15.0
    back = (y / EI["y"]) ** 2 / 15 + (z / EI["z"]) ** 2 / 15
    expected = [-back, y / (3 * EI["y"]), z / (3 * EI["z"])]
    assert tip_at_rest(model, [0.0, y, z]) - [1, 0, 0] == pytest.approx(expected, rel=1e-9)


def test_tension_stiffens_a_cantilever() -> None:
    """A tip load P across and N along: P (k L - tanh k L) / N k with k^2 = N / E I."""
    model = build(CLAMPED.format(space="planar", mesh="elements: 6"))
    pull, load, k = 300.0, -2.0, sqrt(300.0 / EI["y"])
    assert tip_at_rest(model, [pull, load, 0.0])[1] == pytest.approx(load * (k - np.tanh(k)) / (pull * k), rel=1e-4)
    plain = build("stiffening: none\n" + CLAMPED.format(space="planar", mesh="elements: 6").lstrip())
    assert tip_at_rest(plain, [pull, load, 0.0])[1] == pytest.approx(load / (3 * EI["y"]), rel=1e-9)


def test_weight_bends_a_cantilever() -> None:
    """q L^4 / 8 E I under its own weight; consistent loads make the nodes exact."""
    model = build("gravity: [0, -9.81, 0]\n" + CLAMPED.format(space="planar", mesh="elements: 2").lstrip())
    sag = tip_at_rest(model, [0.0, 0.0, 0.0])[1]
    assert sag == pytest.approx(-LINEAR_MASS * 9.81 / (8 * EI["y"]), rel=1e-9)


HANGING = (
    STEEL
    + """
  load: {{rigid: {{mass: 30, inertia: {{zz: 0.01}}}}}}
gravity: [0, -9.81, 0]
links:
  beam: {{parent: base, body: beam}}
  {load}
"""
)


def test_a_load_on_an_arm_hangs_like_one_on_a_link() -> None:
    """A mass 0.5 m below the beam's end: whether the arm is the `at` of the load or a link of its own is a way of writing.
    The arm swings with the finite rotation of the section, and the weight pulls it back: m g l per radian."""
    arm = "load: {parent: beam, on: end, at: [0, -0.5, 0], body: load}"
    link = "clamp: {parent: beam, on: end}\n  load: {parent: clamp, at: [0, -0.5, 0], body: load}"
    by_arm, by_link = (frequencies(HANGING.format(space="planar", mesh="elements: 2", load=x)) for x in (arm, link))
    assert by_arm == pytest.approx(by_link, rel=1e-9)


def elastica_tip(load: float) -> tuple[float, float]:
    """Tip (x, y) of an inextensible cantilever of unit length under a transverse load P L^2 / E I = load
    (Bisshopp & Drucker, Q. Appl. Math. 3, 1945, 272-275)."""

    def length(p: float) -> float:
        return float(ellipk(p**2) - ellipkinc(np.arcsin(1 / (p * sqrt(2))), p**2)) - sqrt(load)

    p = brentq(length, sqrt(0.5) + 1e-12, 1 - 1e-12)
    slope = np.arcsin(2 * p**2 - 1)
    x = sqrt(2 * sin(slope) / load)
    # y = int sin / sqrt(2 load (sin slope - sin)); the substitution below takes the root out of the integrand
    u = np.linspace(0, 1, 20001)
    s = slope * (1 - u**2)
    with np.errstate(invalid="ignore"):
        f = np.sin(s) * 2 * slope * u / np.sqrt(2 * load * (sin(slope) - np.sin(s)))
    f[0] = sin(slope) * 2 * sqrt(slope) / sqrt(2 * load * cos(slope))
    return x, float(np.trapezoid(f, u))


def test_segments_follow_the_elastica() -> None:
    """P L^2 / E I = 1: the tip of the elastica drops by 0.30172 L and comes back by 0.05643 L. Segments with frames of
    their own converge to it with h^2 or better; elements in one frame give P L^3/3EI = 0.333 L, and a tip that comes back by
    1/2 int w'^2 = 1/15 L."""
    x, y = elastica_tip(1.0)
    assert (1 - x, y) == pytest.approx((0.05643, 0.30172), abs=1e-5)
    load = [0.0, EI["y"], 0.0]
    found = [tip_at_rest(build(CLAMPED.format(space="planar", mesh=f"segments: {n}")), load)[:2] for n in (4, 8)]
    errors = [np.linalg.norm(tip - [x, y]) for tip in found]
    assert errors[1] < 0.002
    assert errors[0] / errors[1] > 3.6
    straight = tip_at_rest(build(CLAMPED.format(space="planar", mesh="elements: 8")), load)[:2]
    assert straight == pytest.approx([1 - 1 / 15, 1 / 3], rel=1e-6)


# Rotating beam -------------------------------------------------------------------------------------------------------

SPIN = """
space: planar
materials:
  m: {{E: 2.8e7, G: 1e7, rho: 1.2}}
sections:
  s: {{properties: {{area: 1, Iz: 5e-4, ky: 1}}}}
bodies:
  beam: {{beam: {{length: 10, section: s, material: m, theory: timoshenko, {mesh}}}}}
links:
  beam: {{parent: base, joint: revolute, q: theta, body: beam}}
actuators:
  theta: {{}}
points:
  tip: {{link: beam, on: end}}
"""


def turning(model: Model, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the beam turning steadily: elastic forces hold the centrifugal ones."""
    q, v = np.zeros(model.nv), np.zeros(model.nv)
    v[0] = omega
    for _ in range(20):
        K = model.call("stiffness", q=q, v=v, direction=np.eye(model.nv))["f"].T
        step = np.linalg.solve(K[1:, 1:], -model.forces(q, v)[1:])
        q[1:] += step
        if np.abs(step).max() < 1e-13:
            return q, v
    raise AssertionError("no steady state")


def poles_turning(model: Model, omega: float) -> np.ndarray:
    """Poles of small motions about the steady turning, the slowest first."""
    q, v = turning(model, omega)
    K, D = (model.call(f, q=q, v=v, direction=np.eye(model.nv))["f"].T[1:, 1:] for f in ("stiffness", "damping"))
    M, n = model.mass(q)[1:, 1:], model.nv - 1
    system = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    roots = np.linalg.eigvals(system)
    return roots[np.argsort(np.abs(roots))]


def turning_frequency(omega: float, terms: int = 12) -> float:
    """First in-plane frequency (rad/s) of a turning Timoshenko cantilever by Rayleigh-Ritz, Coriolis terms left out:
    EI, shear and the tension rho A omega^2 (L^2 - x^2)/2 against the centrifugal softening rho A omega^2 v^2."""
    L, stiffness, m, turn, shear = 10.0, 1.4e4, 1.2, 6e-4, 1e7
    s, weight = np.polynomial.legendre.leggauss(40)
    x, weight = (s + 1) * L / 2, weight * L / 2
    p = np.polynomial.legendre.legvander(s, terms - 1)
    dp = np.stack([np.polynomial.Legendre.basis(i).deriv()(s) * 2 / L for i in range(terms)], axis=1)
    shape, slope, none = x[:, None] * p, p + x[:, None] * dp, np.zeros_like(p)
    v, dv, theta, dtheta = (np.hstack(b) for b in ((shape, none), (slope, none), (none, shape), (none, slope)))

    def product(a: np.ndarray, k: Any) -> np.ndarray:
        return a.T @ (a * (weight * k)[:, None])

    tension = m * omega**2 * (L**2 - x**2) / 2
    K = product(dtheta, stiffness) + product(dv - theta, shear) + product(dv, tension) - product(v, m * omega**2)
    return sqrt(eigh(K, product(v, m) + product(theta, turn), eigvals_only=True)[0])


@pytest.mark.parametrize("mesh", ["elements: 4", "segments: 4"])
def test_turning_beam_grows_longer(mesh: str) -> None:
    """rho A w^2 L^3 / 3 E A = 5.142857e-4 m at 6 rad/s (numbers.md), and 2/5 (k L)^2 = 6e-5 of it more because the stretched
    beam reaches further out: L (tan(k L)/(k L) - 1) with k^2 = rho w^2/E."""
    model = build(SPIN.format(mesh=mesh))
    q, _ = turning(model, 6.0)
    growth = model.call("points", q=q)["position"][0][0] - 10
    kl = 6.0 * 10 * sqrt(1.2 / 2.8e7)
    assert growth == pytest.approx(5.142857e-4, rel=1e-4)
    assert growth == pytest.approx(10 * (np.tan(kl) / kl - 1), rel=2e-6)


def test_segments_stiffen_when_turning() -> None:
    """In-plane frequency at 6 rad/s by Rayleigh-Ritz with centrifugal stiffening, with segments as with elements in one
    frame; the Coriolis terms that Ritz leaves out come to some 1e-4."""
    truth = turning_frequency(6.0)
    for mesh in ("segments: 16", "elements: 16", "segments: 4, elements: 4"):
        assert abs(poles_turning(build(SPIN.format(mesh=mesh)), 6.0)[0]) == pytest.approx(truth, rel=1e-3)


def test_without_stiffening_a_turning_beam_falls_away() -> None:
    """With stiffening: none w^2 = w0^2 - omega^2, w0 the frequency at rest: at 6 rad/s (w0 = 3.80) the beam falls away
    exponentially."""
    at_rest = turning_frequency(0.0)
    roots = poles_turning(build("stiffening: none\n" + SPIN.format(mesh="elements: 8").lstrip()), 6.0)
    assert at_rest < 6
    assert max(roots.real) == pytest.approx(sqrt(6.0**2 - at_rest**2), rel=1e-3)


def test_spin_up() -> None:
    """Kane's manoeuvre (Simo & Vu-Quoc 1986; numbers.md): peak tip lag -0.574 m at 6.76 s. Segments converge to it with
    h^2, so the lag is extrapolated from 6 and 12 of them."""
    coarse, fine = (lag_of_spin_up(build(SPIN.format(mesh=f"segments: {n}"))) for n in (6, 12))
    limit = fine[:, 1] + (fine[:, 1] - coarse[:, 1]) / 3
    peak = int(limit.argmin())
    assert limit[peak] == pytest.approx(-0.574, abs=0.001)
    assert fine[peak, 0] == pytest.approx(6.76, abs=0.1)


def test_spin_up_in_one_frame() -> None:
    """The same manoeuvre with 8 elements in one segment."""
    lag = lag_of_spin_up(build(SPIN.format(mesh="elements: 8")))
    peak = int(lag[:, 1].argmin())
    assert lag[peak, 1] == pytest.approx(-0.574, abs=0.006)
    assert lag[peak, 0] == pytest.approx(6.76, abs=0.1)


def spin_angle(t: float) -> tuple[float, float, float]:
    """theta(t) of the manoeuvre and its rates: 6/15 (t^2/2 + (15/2pi)^2 (cos(2 pi t/15) - 1))."""
    w = 2 * pi / 15
    return 0.4 * (t**2 / 2 + (cos(w * t) - 1) / w**2), 0.4 * (t - sin(w * t) / w), 0.4 * (1 - cos(w * t))


def lag_of_spin_up(model: Model, step: float = 0.05, until: float = 8.0) -> np.ndarray:
    """Times and tip lags with the angle prescribed; generalised-alpha of Chung & Hulbert with spectral radius 0.6."""
    radius, n = 0.6, model.nv
    am, af = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    g = 0.5 - am + af
    b, share = (0.5 + g) ** 2 / 4, (1 - af) / (1 - am)
    q, v, a, smooth = (np.zeros(n) for _ in range(4))
    made = []
    for t in step * np.arange(1, round(until / step) + 1):
        next_smooth = (af * a - am * smooth) / (1 - am)
        q = q + step * v + step**2 * ((0.5 - b) * smooth + b * next_smooth)
        v, a = v + step * ((1 - g) * smooth + g * next_smooth), np.zeros(n)
        q[0], v[0], a[0] = spin_angle(float(t))
        weights = {"inertia": 1.0, "damping": step * g * share, "stiffness": step**2 * b * share}
        tangents = (k * model.call(f, q=q, v=v, a=a, direction=np.eye(n))["f"].T[1:, 1:] for f, k in weights.items())
        tangent = np.linalg.inv(sum(tangents))
        for _ in range(10):
            change = -tangent @ model.forces(q, v, a)[1:]
            a[1:] += change
            v[1:] += weights["damping"] * change
            q[1:] += weights["stiffness"] * change
            next_smooth[1:] += share * change
            if np.abs(weights["stiffness"] * change).max() < 1e-9:
                break
        smooth = next_smooth
        x, y, _ = model.call("points", q=q)["position"][0]
        made.append((t, cos(q[0]) * y - sin(q[0]) * x))
    return np.array(made)
