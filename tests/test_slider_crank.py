"""Flexible slider-crank of the IVP Test Set ("crank", index-2 DAE of dimension 24), built as a robot and integrated in C.

B. Simeon, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Math. Modelling of Systems 2
(1996) 1-18; F. Mazzia and C. Magherini, Test Set for Initial Value Problem Solvers, problem "Slider crank", which prints the
data, the initial values and the solution at t = 0.1 s. The rod has two lateral sine modes and a quadratic bar of two nodes.
Its published longitudinal mass is rho A L [8 1; 1 2], without the 1/15 of the consistent bar; that matrix stands wherever
int phi_i . phi_k dm does: in the rod's elastic mass, its inertia and its centrifugal forces, so a Body record holds it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from robots import build

from supple.backends.stepping.settings import Settings
from supple.formulations.newton_euler import newton_euler
from supple.model.model import Model
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.results import Simulation
from supple.robot.bodies.record import Body, Marker, from_moments, zeros
from supple.robot.mechanism import Anchor, Coordinate, Mechanism
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Run, Simulator

M1, M2, M3, L1, L2, J1, J2 = 0.36, 0.151104, 0.075552, 0.15, 0.30, 0.002727, 0.0045339259
E, B, H, RHO, OMEGA, PI = 2e11, 0.008, 0.008, 7870.0, 150.0, 3.1415927  # pi of the published stiffness
ROBOT = f"""
space: planar
bodies:
  crank: {{rigid: {{mass: {M1}, first_moments: [{M1 * L1 / 2}, 0, 0], inertia_at_origin: {{zz: {J1}}}}}}}
  rod: {{rigid: {{mass: {M2}, first_moments: [{M2 * L2 / 2}, 0, 0], inertia_at_origin: {{zz: {J2}}}}}}}
  block: {{rigid: {{mass: {M3}}}}}
links:
  crank: {{parent: base, joint: revolute, q: phi1, body: crank}}
  rod: {{parent: crank, at: [{L1}, 0, 0], joint: revolute, q: turn, body: rod}}
  block: {{parent: base, joint: prismatic, axis: x, q: x3, body: block}}
closures:
  pin: {{joint: revolute, from: {{link: block}}, to: {{link: rod, at: [{L2}, 0, 0]}}}}
actuators:
  phi1: {{}}
points:
  pin: {{link: rod, at: [{L2}, 0, 0]}}
home: {{phi1: 0, turn: 0, x3: {L1 + L2}}}
"""
# at t = 0: x3, q1..q4 and the rates; at t = 0.1: phi2, x3, q1..q4
START = {"x3": 0.450016933, "q3": 0.103339863e-4, "q4": 0.169327969e-4}
RATES = {
    "phi1": 150.0, "phi2": -74.9957670, "x3": -0.268938672e-5, "q1": 0.444896105, "q2": 0.463434311e-2,
    "q3": -0.178591076e-5, "q4": -0.268938672e-5,
}  # fmt: skip
END = {
    "phi2": -0.3311734988256260, "x3": 0.1697373328427860, "q1": 1.893192899613509e-4, "q2": 2.375751249879174e-5,
    "q3": -5.323896770569702e-6, "q4": -8.363313279112129e-6,
}  # fmt: skip
SHAPES = ("q1", "q2", "q3", "q4")


def rod(longitudinal: float) -> Body:
    """The rod as printed: shapes sin(pi x), sin(2 pi x) across and 4 x (1 - x), x (2 x - 1) along, x = 0 ... 1.

    The longitudinal mass is rho A L [8 1; 1 2] times `longitudinal`: 1 as published, 1/15 as Ritz's method gives."""
    x, weight = np.polynomial.legendre.leggauss(30)
    x, m = 0.5 * (x + 1), 0.5 * weight * RHO * B * H * L2
    phi = np.zeros((4, x.size, 3))
    phi[0, :, 1], phi[1, :, 1] = np.sin(np.pi * x), np.sin(2 * np.pi * x)
    phi[2, :, 0], phi[3, :, 0] = 4 * x * (1 - x), x * (2 * x - 1)
    r = np.stack([L2 * x, 0 * x, 0 * x], axis=1)
    made = from_moments(
        M2, m @ r, np.einsum("p,pa,pb", m, r, r), np.einsum("p,kpa->ak", m, phi),
        np.einsum("p,pa,kpb->kab", m, r, phi), np.einsum("p,ipa,kpb->ikab", m, phi, phi),
    )  # fmt: skip
    made["I_rr"][2, 2] = J2  # rotary inertia of the section included
    bar = longitudinal * RHO * B * H * L2 * np.array([[8.0, 1.0], [1.0, 2.0]])
    made["M_ee"][2:, 2:] = made["I_ee"][2:, 2:, 2, 2] = bar
    K = np.zeros((4, 4))
    K[0, 0], K[1, 1] = PI**4 / 24 * (H / L2) ** 2, PI**4 * 2 / 3 * (H / L2) ** 2
    K[2:, 2:] = np.array([[16.0, -8.0], [-8.0, 7.0]]) / 3
    return Body(
        **made, K_ee=E * B * H / L2 * K, D_ee=np.zeros((4, 4)), H_ee=np.zeros((4, 4)), coordinates=SHAPES, units=("m",) * 4
    )


def bent(mechanism: Mechanism, frame: int, body: Body, end: np.ndarray) -> Mechanism:
    """The mechanism with a flexible body in a frame, whose anchors all move by `end` (3 x N)."""
    frames, coordinates, nq = [], [], 0
    for j, f in enumerate(mechanism.frames):
        own = body if j == frame else f.body
        joint, n, v = f.v.stop - f.v.start, len(own.coordinates), len(coordinates)
        coordinates += [*mechanism.coordinates[f.v], *(Coordinate(x, "elastic", "m", j) for x in own.coordinates)]
        places = {"q": slice(nq, nq + joint), "e": slice(nq + joint, nq + joint + n)}
        places |= {"v": slice(v, v + joint), "ev": slice(v + joint, v + joint + n)}
        frames.append(replace(f, body=own, **places))
        nq += joint + n

    def shaped(a: Anchor) -> Anchor:
        moved = Marker(a.marker.position, a.marker.rotation, end, zeros(*end.shape))
        return Anchor(a.frame, moved) if a.frame == frame else a

    closures = tuple(replace(c, first=shaped(c.first), second=shaped(c.second)) for c in mechanism.closures)
    points = {k: shaped(a) for k, a in mechanism.points.items()}
    return replace(mechanism, frames=tuple(frames), coordinates=tuple(coordinates), nq=nq, closures=closures, points=points)


@cache
def slider_crank(longitudinal: float = 1.0) -> Model:
    mechanism = build(ROBOT).mechanism
    end = zeros(3, 4)
    end[0, 3] = 1
    frame = next(j for j, f in enumerate(mechanism.frames) if f.name == "rod")
    return Model(newton_euler(bent(mechanism, frame, rod(longitudinal), end)))


def tree_state(model: Model, position: dict[str, float], rate: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the tree, whose rod turns on the crank, from the published coordinates, whose phi2 is absolute."""
    q, v = np.zeros(model.nv), np.zeros(model.nv)
    for x, given in ((q, position), (v, rate)):
        for name, value in given.items():
            x[model.index("turn" if name == "phi2" else name)] = value
        x[model.index("turn")] -= given.get("phi1", 0.0)
    return q, v


def run(settings: Settings, longitudinal: float = 1.0, duration: float = 0.1) -> Simulation:
    model = slider_crank(longitudinal)
    q, v = tree_state(model, START, RATES)
    path = Trajectory(("phi1",), np.array([0.0, 1.0]), np.array([[[0.0, OMEGA, 0, 0, 0, 0]]]), np.zeros(0))
    motion = Motion("spin", "", "joints", None, None, {}, {}, path, None, None, None, {"phi1": "prescribed"}, duration)
    made = Simulator(model, motion, path, None, (Run(lambda: model, (), q, v),), {}, False, None, None, False, None, {})
    return integrate(made, settings)


def last(found: Simulation) -> dict[str, float]:
    """The published coordinates at the end."""
    x = {n: float(found[f"position:{n}"][-1]) for n in ("phi1", "turn", "x3", *SHAPES)}
    return {**x, "phi2": x["phi1"] + x.pop("turn")}


# The published equations ----------------------------------------------------------------------------------------------


def published_accelerations(longitudinal: float, p: dict[str, float], u: dict[str, float]) -> np.ndarray:
    """Accelerations of phi2, x3, q1 ... q4 for a constant speed of the crank, from the equations as printed:
    M(p, q) a = f - G^T lambda and G a = gamma in phi1, phi2, x3, q1 ... q4 (the test set's mathematical description)."""
    A, q, qd = B * H * L2, np.array([p[k] for k in SHAPES]), np.array([u[k] for k in SHAPES])
    c1, c2 = A * np.array([0, 0, 2 / 3, 1 / 6]), A * np.array([2 / np.pi, 0, 0, 0])
    c12, c21 = A * L2 * np.array([0, 0, 1 / 3, 1 / 6]), A * L2 * np.array([1 / np.pi, -1 / (2 * np.pi), 0, 0])
    turning = np.zeros((4, 4))  # of lateral and longitudinal shapes
    turning[0, 2:], turning[1, 3] = A * np.array([-16 / np.pi**3, 8 / np.pi**3 - 1 / np.pi]), A / (2 * np.pi)
    turning -= turning.T
    Mq, Kq = np.zeros((4, 4)), np.zeros((4, 4))
    Mq[0, 0] = Mq[1, 1] = RHO * A / 2
    Mq[2:, 2:] = longitudinal * RHO * A * np.array([[8, 1], [1, 2]])
    Kq[0, 0], Kq[1, 1] = PI**4 / 24 * (H / L2) ** 2, PI**4 * 2 / 3 * (H / L2) ** 2
    Kq[2:, 2:] = np.array([[16, -8], [-8, 7]]) / 3
    Kq *= E * B * H / L2
    s1, k1, s2, k2 = np.sin(p["phi1"]), np.cos(p["phi1"]), np.sin(p["phi2"]), np.cos(p["phi2"])
    s, k, w1, w2 = np.sin(p["phi1"] - p["phi2"]), np.cos(p["phi1"] - p["phi2"]), u["phi1"], u["phi2"]
    M = np.zeros((7, 7))
    M[0, 0], M[1, 1], M[2, 2], M[3:, 3:] = J1 + M2 * L1**2, J2 + q @ Mq @ q + 2 * RHO * c12 @ q, M3, Mq
    M[0, 1] = M[1, 0] = 0.5 * L1 * L2 * M2 * k + RHO * L1 * (s * c2 @ q + k * c1 @ q)
    M[0, 3:] = M[3:, 0] = RHO * L1 * (k * c2 - s * c1)
    M[1, 3:] = M[3:, 1] = RHO * (c21 + q @ turning)
    f = np.zeros(7)
    f[0] = -0.5 * L1 * L2 * M2 * w2**2 * s
    f[0] += RHO * L1 * w2**2 * (k * c2 - s * c1) @ q - 2 * RHO * L1 * w2 * (k * c1 + s * c2) @ qd
    f[1] = 0.5 * L1 * L2 * M2 * w1**2 * s + RHO * L1 * w1**2 * (s * c1 - k * c2) @ q
    f[1] -= 2 * RHO * w2 * c12 @ qd + 2 * w2 * qd @ Mq @ q
    f[3:] = w2**2 * (Mq @ q + RHO * c12) + RHO * L1 * w1**2 * (k * c1 + s * c2) + 2 * RHO * w2 * turning @ qd - Kq @ q
    reach, ends = L2 + q[3], np.zeros((2, 4))
    ends[:, 3] = s2, -k2
    G = np.vstack([
        np.concatenate([[L1 * k1, reach * k2, 0], ends[0]]), np.concatenate([[L1 * s1, reach * s2, 1], ends[1]]),
        [1, 0, 0, 0, 0, 0, 0],
    ])  # fmt: skip
    gamma = np.array([
        L1 * s1 * w1**2 + reach * s2 * w2**2 - 2 * w2 * k2 * qd[3],
        -L1 * k1 * w1**2 - reach * k2 * w2**2 - 2 * w2 * s2 * qd[3], 0.0,
    ])  # fmt: skip
    whole = np.block([[M, G.T], [G, np.zeros((3, 3))]])
    return np.linalg.solve(whole, np.concatenate([f, gamma]))[1:7]


def published_states(count: int) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Random states that satisfy the published constraints, bent more than the rod ever is."""
    rng, made = np.random.default_rng(4), []
    for _ in range(count):
        q, qd = rng.uniform(-2e-3, 2e-3, 4), rng.uniform(-1, 1, 4)
        phi1, w1, reach = rng.uniform(-3, 3), rng.uniform(-150, 150), L2 + q[3]
        phi2 = np.arcsin(-L1 * np.sin(phi1) / reach)
        w2 = -(L1 * np.cos(phi1) * w1 + np.sin(phi2) * qd[3]) / (reach * np.cos(phi2))
        x3 = L1 * np.cos(phi1) + reach * np.cos(phi2)
        v3 = -L1 * np.sin(phi1) * w1 - reach * np.sin(phi2) * w2 + np.cos(phi2) * qd[3]
        p = {"phi1": phi1, "phi2": phi2, "x3": x3, **dict(zip(SHAPES, q, strict=True))}
        made.append((p, {"phi1": w1, "phi2": w2, "x3": v3, **dict(zip(SHAPES, qd, strict=True))}))
    return made


@pytest.mark.parametrize("longitudinal", [1.0, 1 / 15])
def test_the_robot_moves_by_the_published_equations(longitudinal: float) -> None:
    """Accelerations of the general equations of a flexible body equal those printed, whichever mass the bar has."""
    model = slider_crank(longitudinal)
    for p, u in published_states(20):
        q, v = tree_state(model, p, u)
        assert np.abs(model.residual(q)).max() < 1e-14
        assert np.abs(model.jacobian(q) @ v).max() < 1e-12
        a = model.inverse(q, v, np.zeros(1)).a
        found = [a[model.index(n)] for n in ("turn", "x3", *SHAPES)]
        wanted = published_accelerations(longitudinal, p, u)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


# Its motion -----------------------------------------------------------------------------------------------------------


def test_the_published_solution() -> None:
    """All positions at t = 0.1 s: the printed initial values leave the loop open by 2e-10 m, which index 2 keeps."""
    found = run(Settings(method="gauss", step=1e-5, tolerance=1e-12, every=0.01))
    x = last(found)
    assert found.outcome == "complete"
    assert abs(x["phi1"] - 15.0) < 1e-12
    for name, bound in (("phi2", 1e-11), ("x3", 1e-9), ("q1", 5e-11), ("q2", 2e-12), ("q3", 1e-12), ("q4", 1e-12)):
        assert abs(x[name] - END[name]) < bound, name
    assert found.summary["energy_balance_error"] < 1e-10
    assert found.summary["worst_closure"] < 1e-12


@pytest.mark.parametrize(
    "settings",
    [
        Settings("gauss", tolerance=1e-10, every=0.01),
        Settings("dormand_prince", tolerance=1e-9, every=0.01),
        Settings("generalised_alpha", tolerance=1e-8, step=1e-6, rho=1.0, every=0.01),
    ],
    ids=lambda s: s.method,
)
def test_every_method_reaches_the_published_solution(settings: Settings) -> None:
    x = last(run(settings))
    for name in END:
        assert abs(x[name] - END[name]) < (1e-7 if name in ("phi2", "x3") else 2e-9), name


def test_the_consistent_bar_is_another_rod() -> None:
    """With the 1/15 the bar rings elsewhere: the published numbers really test the published mass."""
    x = last(run(Settings("gauss", step=1e-5, tolerance=1e-12, every=0.01), 1 / 15))
    assert all(abs(x[n] - END[n]) > 1e-9 for n in END)
