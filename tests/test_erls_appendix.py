"""The ERLS formulation as printed against the appendix of Rognant, Courteille & Maurine (2010), eqs. (35)-(50), summed over
the mass points of a Gauss quadrature: the operators one by one, no shape integrals, no Lagrange."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from supple.backends.interpreter import interpret
from supple.formulations.erls import erls
from supple.formulations.rigid_links.operators import operators
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.bodies.record import hat
from supple.robot.reader import describe_text

# A slider, a flexible arm of two elements, and on its end a flexible forearm: bending beams carry point masses.
LENGTHS, ELEMENTS, DENSITY = {"a": 0.4, "b": 0.3}, {"a": 2, "b": 1}, 2700 * 4e-4
GAUSS = 5
ROBOT = """
space: planar
gravity: [2, -9, 0]
materials: {{m: {{E: 3 GPa, rho: 2700}}}}
sections: {{s: {{rectangle: {{y: 10 mm, z: 40 mm}}}}}}
links:
  slider: {{parent: base, joint: prismatic, axis: [0.6, 0.8, 0], q: x}}
  a: {{parent: slider, joint: revolute, q: q1, body: {{beam: {{length: 0.4, section: s, material: m, elements: 2}}}}}}
  b: {{parent: a, on: end, joint: revolute, q: q2, body: {{beam: {{length: 0.3, section: s, material: m, elements: 1}}}}}}
actuators: {{x: {{}}, q1: {{}}, q2: {{}}}}
points:
{points}
"""


@cache
def quadrature() -> dict[str, tuple[str, float, float]]:
    """Name -> link, place along it, mass."""
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
    found = {}
    for link, L in LENGTHS.items():
        h = L / ELEMENTS[link]
        for element in range(ELEMENTS[link]):
            for k, (x, w) in enumerate(zip(nodes, weights, strict=True)):
                found[f"{link}{element}{k}"] = (link, h * (element + 0.5 * (x + 1)), 0.5 * w * h * DENSITY)
    return found


@cache
def model() -> Model:
    rows = "\n".join(f"  {n}: {{link: {link}, at: [{float(x)!r}, 0, 0]}}" for n, (link, x, _) in quadrature().items())
    return Model(erls(assemble(describe_text(ROBOT.format(points=rows), "arm.yaml")), printed=True))


def appendix(q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """M and the forces of eqs. (35) and (37)-(50), by sums over mass points."""
    mechanism = model().mechanism
    found = interpret(operators(mechanism))(q=q)
    joints = [i for i, c in enumerate(mechanism.coordinates) if c.kind != "elastic"]
    elastic = mechanism.indices("elastic")
    qd, u, ud = v[joints], q[elastic], v[elastic]
    g = np.append(-model().gravity, 0.0)  # the paper's potential energy is + int g.p dm
    n, m = len(joints), len(elastic)
    out = {k: np.zeros(s) for k, s in {"qq": (n, n), "qu": (n, m), "uu": (m, m)}.items()}
    out |= {k: np.zeros(n) for k in ("Frq", "Fuq", "Fvq", "Fgq")} | {k: np.zeros(m) for k in ("Fru", "Fuu", "Fvu", "Fgu")}
    for name, anchor in mechanism.points.items():
        dm, i = quadrature()[name][2], anchor.frame
        place, Phi = anchor.marker.position.astype(float), anchor.marker.Phi_d.astype(float)
        r = np.append(place, 1.0)
        N = np.vstack([np.hstack([np.eye(3), -hat(place).astype(float), Phi]), np.zeros((1, 6 + Phi.shape[1]))])
        T, U, V, A, L, W = (found[f"{k}{i}"] for k in ("T", "U", "V", "A", "Lambda", "Omega"))
        Td, Tdd = np.tensordot(qd, U, 1), np.einsum("klab,k,l->ab", V, qd, qd)
        Ad, Add = np.tensordot(qd, L, 1), np.einsum("klab,k,l->ab", W, qd, qd)
        Ur, UNAu, TNLu = U @ r, U @ (N @ A @ u), (T @ N) @ (L @ u).T  # per joint: columns of the last
        TNA = T @ N @ A
        out["qq"] += dm * (Ur @ Ur.T + Ur @ UNAu.T + UNAu @ Ur.T + Ur @ TNLu + (Ur @ TNLu).T)
        out["qu"] += dm * (Ur @ TNA + (TNLu.T + UNAu) @ TNA)
        out["uu"] += dm * TNA.T @ TNA
        bent = Tdd @ N @ A + 2 * Td @ N @ Ad + T @ N @ Add
        out["Frq"] += dm * Ur @ Tdd @ r
        out["Fru"] += dm * TNA.T @ Tdd @ r
        out["Fuq"] += dm * (Ur @ bent @ u + (UNAu + TNLu.T) @ Tdd @ r)
        out["Fuu"] += dm * TNA.T @ bent @ u
        out["Fvq"] += dm * 2 * Ur @ (Td @ N @ A + T @ N @ Ad) @ ud
        out["Fvu"] += dm * 2 * TNA.T @ (Td @ N @ A + T @ N @ Ad) @ ud
        out["Fgq"] += dm * (Ur + UNAu + TNLu.T) @ g
        out["Fgu"] += dm * TNA.T @ g
    return out


def state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng, mechanism = np.random.default_rng(seed), model().mechanism
    elastic = np.array([c.kind == "elastic" for c in mechanism.coordinates])
    return rng.uniform(-1, 1, model().nv) * np.where(elastic, 0.03, 1.0), rng.uniform(-3, 3, model().nv)


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_of_the_appendix(seed: int) -> None:
    """Eqs. (35), (37) and (38)."""
    q, v = state(seed)
    terms, mechanism = appendix(q, v), model().mechanism
    joints = [i for i, c in enumerate(mechanism.coordinates) if c.kind != "elastic"]
    elastic = mechanism.indices("elastic")
    M = model().call("inertia", q=q, direction=np.eye(model().nv))["f"]
    assert M[np.ix_(joints, joints)] == pytest.approx(terms["qq"], rel=1e-11, abs=1e-12)
    assert M[np.ix_(joints, elastic)] == pytest.approx(terms["qu"], rel=1e-11, abs=1e-12)
    assert M[np.ix_(elastic, elastic)] == pytest.approx(terms["uu"], rel=1e-11, abs=1e-12)
    assert np.abs(terms["qu"]).max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_forces_of_the_appendix(seed: int) -> None:
    """Eqs. (43)-(50), each of which weighs."""
    q, v = state(seed)
    terms, mechanism = appendix(q, v), model().mechanism
    joints = [i for i, c in enumerate(mechanism.coordinates) if c.kind != "elastic"]
    elastic = mechanism.indices("elastic")
    zero = np.zeros(model().nv)
    moving = model().forces(q, v, g=np.zeros(3)) - model().forces(q, zero, g=np.zeros(3))
    weight = model().forces(q, zero) - model().forces(q, zero, g=np.zeros(3))
    size = np.abs(moving).max()
    near = 1e-11 * size + 1e-14 * np.abs(model().forces(q)).max()  # stiff elastic forces cancel in the differences
    assert moving[joints] == pytest.approx(terms["Frq"] + terms["Fuq"] + terms["Fvq"], abs=near)
    assert moving[elastic] == pytest.approx(terms["Fru"] + terms["Fuu"] + terms["Fvu"], abs=near)
    assert weight[joints] == pytest.approx(terms["Fgq"], abs=near)
    assert weight[elastic] == pytest.approx(terms["Fgu"], abs=near)
    for name in ("Frq", "Fuq", "Fvq", "Fru", "Fuu", "Fvu"):
        assert np.abs(terms[name]).max() > 1e-4 * size, name


def test_operators_are_derivatives() -> None:
    """T' = sum U_k q'_k and T'' of eq. (26), by central differences along a straight motion of the joints."""
    q, v = state(0)
    mechanism = model().mechanism
    f = interpret(operators(mechanism))
    joints = [i for i, c in enumerate(mechanism.coordinates) if c.kind != "elastic"]
    move = np.zeros(model().nv)
    move[joints] = v[joints]
    h, i = 1e-4, len(mechanism.frames) - 1
    now, ahead, behind = f(q=q), f(q=q + h * move), f(q=q - h * move)
    for first, second, zeroth in (("U", "V", "T"), ("Lambda", "Omega", "A")):
        x, ahead_x, behind_x = (y[f"{zeroth}{i}"] for y in (now, ahead, behind))
        rate = np.tensordot(v[joints], now[f"{first}{i}"], 1)
        bend = np.einsum("klab,k,l->ab", now[f"{second}{i}"], v[joints], v[joints])
        assert rate == pytest.approx((ahead_x - behind_x) / (2 * h), abs=1e-5)
        assert bend == pytest.approx((ahead_x - 2 * x + behind_x) / h**2, abs=1e-4)
