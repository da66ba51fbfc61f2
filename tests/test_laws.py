"""Laws of mechanics, obeyed by every robot of the gallery and by every closing joint, at random closed states."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, get_args

import numpy as np
import pytest
from closed_states import State, along, closed_state, kept_closed, rate, second_along, sizes
from robots import build
from scipy.linalg import eigh

from supple.analyses.modes import modes
from supple.formulations import registry
from supple.machine import Machine, gallery, locate
from supple.model.algebra import least_squares, null_space
from supple.model.equilibrium import Equilibrium, Linear, equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import posture
from supple.results import Modes
from supple.robot.description import ClosureType

GALLERY = (
    "3prr", "3rrr", "bricard", "cantilever", "delta", "dualemps", "five_bar", "five_bar_bob", "five_bar_elastic",
    "gough_stewart", "gough_stewart_flexible", "gough_stewart_plate", "hexa", "pacdrive", "serial_arm", "surgiscope",
    "triglide",
)  # fmt: skip
CLOSING = get_args(ClosureType)
PLANAR_CLOSING = ("fixed", "revolute", "prismatic", "point_on_line")
ROBOTS = (*GALLERY, *(f"closing {j}" for j in CLOSING), *(f"planar closing {j}" for j in PLANAR_CLOSING))
# every other formulation is under the same laws, on robots with loops and joints of every kind that it takes
MIXED = ("bricard", "dualemps", "five_bar", "hexa", "closing universal", "planar closing prismatic")
DERIVED_AGAIN = {
    "lagrange": MIXED, "lagrange_dalembert": MIXED, "scdd": MIXED, "erls": MIXED, "erls_compatible": MIXED,
    "virtual_power": ("dualemps", "hexa"),
    "platform_eliminated": ("gough_stewart_plate",),  # takes rigid legs that end on a platform
}  # fmt: skip
STATES = [(name, seed) for name in ROBOTS for seed in range(1 if name == "surgiscope" else 3)]
STATES += [(f"{name} by {method}", 0) for method, names in DERIVED_AGAIN.items() for name in names]

# A driven flexible crank and a flexible body adrift, joined at their ends by the closing joint under test.
CLOSING_ROBOT = """
space: spatial
gravity: [1, -9, 3]
materials:
  m: {{E: 5 GPa, rho: 2000}}
sections:
  s: {{rectangle: {{y: 20 mm, z: 30 mm}}}}
damping: {{rayleigh: {{alpha: 0.5, beta: 1e-4}}}}
bodies:
  crank: {{beam: {{length: 0.4, section: s, material: m, theory: timoshenko}}}}
  adrift: {{beam: {{length: 0.5, section: s, material: m, elements: 1, axis: [1, 0.5, -0.2]}}}}
links:
  crank: {{parent: base, joint: revolute, q: q1, body: crank}}
  x: {{parent: base, joint: prismatic, axis: x, q: x}}
  y: {{parent: x, joint: prismatic, axis: y, q: y}}
  z: {{parent: y, joint: prismatic, axis: z, q: z}}
  adrift: {{parent: z, joint: spherical, q: turn, body: adrift, friction: {{viscous: 0.1}}}}
actuators:
  q1: {{inertia: 0.01, viscous: 0.2, coulomb: 0.3}}
closures:
  end:
    joint: {joint}
    from: {{link: crank, on: end, at: [0.02, 0.05, 0.01], rotate: [{{x: 0.3}}, {{y: 0.4}}]}}
    to: {{link: adrift, on: end, at: [0.01, -0.03, 0.02], rotate: [{{x: 0.3}}, {{y: 0.4}}]}}
points:
  end: {{link: adrift, on: middle, at: [0, 0.1, 0]}}
"""
PLANAR_CLOSING_ROBOT = """
space: planar
gravity: [1, -9, 0]
materials:
  m: {{E: 5 GPa, rho: 2000}}
sections:
  s: {{rectangle: {{y: 20 mm, z: 30 mm}}}}
bodies:
  crank: {{beam: {{length: 0.4, section: s, material: m, theory: timoshenko}}}}
  adrift: {{beam: {{length: 0.5, section: s, material: m, elements: 2, axis: [1, 0.5, 0]}}}}
links:
  crank: {{parent: base, joint: revolute, q: q1, body: crank}}
  x: {{parent: base, joint: prismatic, axis: x, q: x}}
  y: {{parent: x, joint: prismatic, axis: y, q: y}}
  adrift: {{parent: y, joint: revolute, q: turn, body: adrift, friction: {{viscous: 0.1}}}}
actuators:
  q1: {{inertia: 0.01, viscous: 0.2, coulomb: 0.3}}
closures:
  end:
    joint: {joint}
    from: {{link: crank, on: end, at: [0.02, 0.05, 0], rotate: {{{lay}}}}}
    to: {{link: adrift, on: end, at: [0.01, -0.03, 0], rotate: {{{lay}}}}}
points:
  end: {{link: adrift, on: middle, at: [0, 0.1, 0]}}
"""


@lru_cache(maxsize=2)
def robot(name: str) -> Model:
    name, _, method = name.partition(" by ")
    if method:
        return Model(registry.formulation(method).derive(robot(name).mechanism))
    kind, _, joint = name.rpartition("closing ")
    if not kind and joint == name:
        return Machine.read(name).model()
    if kind:
        return build(PLANAR_CLOSING_ROBOT.format(joint=joint, lay="y: 90 deg" if "p" in joint else ""))
    return build(CLOSING_ROBOT.format(joint=joint))


@pytest.fixture(scope="module", params=STATES, ids=lambda s: f"{s[0].replace(' ', '-')}-{s[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Model, State, np.random.Generator]:
    name, seed = request.param
    model = robot(name)
    return model, closed_state(model, seed), np.random.default_rng(1000 + seed)


def test_the_list_of_robots_is_complete() -> None:
    """A robot added to the gallery, or a closing joint to the file format, is under these laws or this test fails."""
    assert list(GALLERY) == gallery()
    assert list(GALLERY) == sorted(p.stem for p in locate("dualemps").parent.glob("*.yaml"))
    assert {n.removeprefix("closing ") for n in ROBOTS if n.startswith("closing ")} == set(CLOSING)
    assert set(RIGID_LIMIT) == set(GALLERY)
    assert {"newton_euler", *DERIVED_AGAIN} == set(registry.names())


def accelerations(model: Model, rng: np.random.Generator) -> np.ndarray:
    return sizes(model, {"m": 5, "rad": 20}, {"m": 3, "rad": 10}) * rng.uniform(-1, 1, model.nv)


# State by state ------------------------------------------------------------------------------------------------------


def test_states_are_closed(case: Any) -> None:
    """The states of these laws close every loop, with velocities that keep it closed, and are not the home pose."""
    model, state, _ = case
    assert np.abs(model.residual(state.q)).max(initial=0) < 1e-12
    assert np.abs(model.jacobian(state.q) @ state.v).max(initial=0) < 1e-12
    assert np.abs(state.q - posture(model)).max() > 1e-3
    assert np.abs(state.v).max() > 0.01


def test_mass_matrix(case: Any) -> None:
    """M from the equations of motion is symmetric, is the kinetic energy's, and positive on the motions of the robot."""
    model, state, _ = case
    M = model.call("inertia", q=state.q, direction=np.eye(model.nv))["f"]
    assert np.abs(M - M.T).max() < 1e-14 * np.abs(M).max()
    energy = model.energy(state.q, state.v)
    assert 0.5 * state.v @ M @ state.v == pytest.approx(float(energy["kinetic"].sum() + energy["motors"]), rel=1e-12)
    Z, _, _ = null_space(model.jacobian(state.q))
    reduced = Z.T @ M @ Z
    size = np.sqrt(np.diag(reduced))
    assert np.linalg.eigvalsh(reduced / np.outer(size, size))[0] > 1e-6


def test_closure_jacobian(case: Any) -> None:
    """J, the relative twist of the anchors, is the derivative of the residual on the closed manifold."""
    model, state, _ = case
    if not model.mechanism.closures:
        pytest.skip("no loops")
    J = model.jacobian(state.q)
    h = 1e-30
    q = np.array([state.q + 1j * h * rate(model, state.q, e) for e in np.eye(model.nv)])
    by_complex_step = model.call("closure", q=q)["residual"].imag.T / h
    by_expression = model.call("closure_gradient", q=state.q, direction=np.eye(model.nv))["residual"].T
    assert np.abs(by_complex_step - J).max() < 1e-12
    assert np.abs(by_expression - J).max() < 1e-12


def test_closure_acceleration(case: Any) -> None:
    """J a + b is the second time derivative of the residual along any curve that leaves the state with v and a."""
    model, state, rng = case
    if not model.mechanism.closures:
        pytest.skip("no loops")
    a = accelerations(model, rng)
    found = model.call("closure_motion", q=state.q, v=state.v, a=a)["acceleration"]
    truth = second_along(model, "closure", state, a, "residual")
    assert np.abs(found - model.jacobian(state.q) @ a - model.closure_bias(state.q, state.v)).max() < 1e-11
    assert np.abs(found - truth).max() < 1e-11 * max(1.0, np.abs(truth).max())
    assert np.abs(model.closure_bias(state.q, state.v)).max() > 1e-3


def test_reactions_are_conjugate_to_the_loops(case: Any) -> None:
    """Reactions lam enter the equations as -J^T lam, with the J of the velocities."""
    model, state, rng = case
    if not model.mechanism.closures:
        pytest.skip("no loops")
    lam = rng.uniform(-10, 10, model.mechanism.equations)
    change = model.forces(state.q, lam=lam) - model.forces(state.q)
    assert np.abs(change + model.jacobian(state.q).T @ lam).max() < 1e-13 * np.abs(model.forces(state.q)).max() + 1e-11


def test_power_balance(case: Any) -> None:
    """d/dt (kinetic + elastic + gravity + motors) + losses = tau . v_active + loads, on the motion of forward()."""
    model, state, rng = case
    tau = rng.uniform(-10, 10, len(model.active))
    w = rng.uniform(-5, 5, (len(model.mechanism.points), 6))
    a = model.forward(state.q, state.v, tau, w=w).a
    growth = along(model, "energy", state, a)
    points = model.call("points", q=state.q, v=state.v)
    terms = [float(growth[k].sum()) for k in ("kinetic", "elastic", "gravity", "motors")]
    terms += [
        float(model.energy(state.q, state.v)["dissipation"]), -float(tau @ state.v[model.active]),
        -float((w[:, :3] * points["velocity"]).sum() + (w[:, 3:] * points["spin"]).sum()),
    ]  # fmt: skip
    gap = abs(sum(terms))
    assert gap < 1e-10 * max(map(abs, terms))
    assert all(abs(x) > 1e3 * gap for x in terms if x != 0)  # every term weighs


def test_forward_and_inverse_undo_each_other(case: Any) -> None:
    """inverse(forward(tau)) = tau and forward(inverse(a)) = a; both solve M a + c = tau + J^T lam with J a + b = 0."""
    model, state, rng = case
    q, v = state.q, state.v
    tau = rng.uniform(-10, 10, len(model.active))
    w = rng.uniform(-5, 5, (len(model.mechanism.points), 6))
    there = model.forward(q, v, tau, w=w)
    back = model.inverse(q, v, there.a[model.active], w=w)
    size = np.abs(model.forces(q, v, w=w)).max()
    assert np.abs(back.tau - tau).max(initial=0) < 1e-11 * size
    assert np.abs(back.a - there.a).max() < 1e-9 * np.abs(there.a).max()
    wanted = rng.uniform(-5, 5, len(model.active))
    driven = model.inverse(q, v, wanted, w=w)
    again = model.forward(q, v, driven.tau, w=w)
    assert np.abs(driven.a[model.active] - wanted).max(initial=0) < 1e-11 * max(1.0, np.abs(driven.a).max())
    assert np.abs(again.a - driven.a).max() < 1e-9 * np.abs(driven.a).max()
    for solved, forces in ((there, tau), (driven, driven.tau)):
        applied = np.zeros(model.nv)
        applied[model.active] = forces
        balance = model.forces(q, v, solved.a, lam=solved.reactions, w=w) - applied
        assert np.abs(balance).max() < 1e-10 * size
        if model.mechanism.closures:
            loops = model.call("closure_motion", q=q, v=v, a=solved.a)["acceleration"]
            assert np.abs(loops).max() < 1e-11 * max(1.0, np.abs(solved.a).max())


def test_tangents_are_derivatives_of_the_forces(case: Any) -> None:
    """inertia, damping and stiffness along a direction d: complex steps of f in a, v and q, reactions and loads acting."""
    model, state, rng = case
    given = {
        "q": state.q, "v": state.v, "a": accelerations(model, rng), "g": rng.uniform(-10, 10, 3),
        "lam": rng.uniform(-10, 10, model.mechanism.equations), "w": rng.uniform(-5, 5, (len(model.mechanism.points), 6)),
    }  # fmt: skip
    d, h = rng.uniform(-1, 1, model.nv), 1e-30
    moves = {"inertia": ("a", d), "damping": ("v", d), "stiffness": ("q", rate(model, state.q, d))}
    for name, (key, move) in moves.items():
        truth = model.call("forces", **given | {key: given[key] + 1j * h * move})["f"].imag / h
        found = model.call(name, direction=d, **given)["f"]
        assert np.abs(found - truth).max() <= 1e-12 * np.abs(truth).max(), name


def test_weight_is_the_gradient_of_the_gravity_energy(case: Any) -> None:
    """f(g) - f(0) = d E_gravity / d q for gravity in any direction, on all coordinates of the tree."""
    model, state, rng = case
    g = rng.uniform(-10, 10, 3)
    h = 1e-30
    q = np.array([state.q + 1j * h * rate(model, state.q, e) for e in np.eye(model.nv)])
    gradient = model.call("energy", q=q, g=g)["gravity"].sum(axis=-1).imag / h
    weight = model.forces(state.q, g=g) - model.forces(state.q, g=np.zeros(3))
    rounding = 1e-14 * np.abs(model.forces(state.q, g=np.zeros(3))).max()
    assert np.abs(weight - gradient).max() < 1e-12 * np.abs(gradient).max() + rounding


def test_a_load_does_the_work_of_its_point(case: Any) -> None:
    """-v . (f(w) - f(0)) = F . velocity + M . spin at the named point, for any velocity of the tree."""
    model, state, rng = case
    w = rng.uniform(-10, 10, (len(model.mechanism.points), 6))
    velocities = rng.uniform(-1, 1, (5, model.nv))
    pull = model.forces(state.q) - model.forces(state.q, w=w)
    points = model.call("points", q=state.q, v=velocities)
    power = np.einsum("pk,bpk->b", w, np.concatenate([points["velocity"], points["spin"]], axis=-1))
    rounding = 1e-13 * np.abs(model.forces(state.q)).max()
    assert np.abs(velocities @ pull - power).max() < 1e-12 * np.abs(power).max() + rounding


def test_points_move_as_they_say(case: Any) -> None:
    """velocity, spin and acceleration of named points are the derivatives of their position and rotation."""
    model, state, rng = case
    a = accelerations(model, rng)
    found = model.call("points", q=state.q, v=state.v, a=a)
    moving = along(model, "points", state, a)
    assert found["velocity"] == pytest.approx(moving["position"], abs=1e-13)
    for R, dR, spin in zip(found["rotation"], moving["rotation"], found["spin"], strict=True):
        S = dR @ R.T
        assert spin == pytest.approx([S[2, 1], S[0, 2], S[1, 0]], abs=1e-13)
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14
    assert found["acceleration"] == pytest.approx(moving["velocity"], abs=1e-11)


# Rigid limit ---------------------------------------------------------------------------------------------------------

SOFT = ("gough_stewart_plate",)  # its legs are nearly parallel: sideways it is held by the bending of its plate alone
SURGISCOPE_JOINTS = tuple(f"k{way}{joint}" for joint in range(1, 8) for way in "rat")
RIGID_LIMIT = {
    "3prr": ("E",), "five_bar_bob": (),
    "3rrr": ("E",), "bricard": (), "cantilever": ("E",), "delta": ("E_arm", "E_rod"), "dualemps": ("E",),
    "five_bar": ("E",), "five_bar_elastic": ("k",), "gough_stewart": ("k",), "gough_stewart_plate": ("E",), "hexa": ("k",),
    "gough_stewart_flexible": ("k", "E_rod", "E_plate"),
    "pacdrive": ("E",), "serial_arm": ("E", "k"), "surgiscope": ("E", "E_steel", *SURGISCOPE_JOINTS), "triglide": ("k",),
}  # fmt: skip


def carried(model: Model, v_active: np.ndarray, a_active: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Actuator forces and points of a robot whose bodies are bent just as much as the motion asks and do not vibrate."""
    q, n = posture(model), model.mechanism.equations
    hold = model.held(model.active)
    # weights that leave the elastic coordinates at rest wherever the joints can follow by themselves
    light = np.where([c.kind == "elastic" for c in model.mechanism.coordinates], 1e-8, 1.0)
    for _ in range(5):  # no test for an end: what is left of a step times a huge stiffness is still a force
        A = np.vstack([model.jacobian(q), hold])
        v = light * least_squares(A * light, np.concatenate([np.zeros(n), v_active]))
        b = model.closure_bias(q, v) if n else np.zeros(0)
        a = light * least_squares(A * light, np.concatenate([-b, a_active]))
        f = model.forces(q, v, a, g=g)
        forces = least_squares(A.T, f)
        gap = model.residual(q) if n else np.zeros(0)
        step = least_squares(A, -np.concatenate([gap, np.zeros(len(hold))]))
        Z, _, _ = null_space(A)
        if Z.shape[1]:
            given = {"q": q, "v": v, "a": a, "g": g, "lam": forces[:n]}
            K = model.call("stiffness", direction=np.eye(model.nv), **given)["f"].T
            step = step - Z @ np.linalg.solve(Z.T @ K @ Z, Z.T @ (f + K @ step))
        q = model.retract(q, step)
    return forces[n:], model.call("points", q=q)["position"]


@pytest.mark.parametrize("name", [name for name, stiff in RIGID_LIMIT.items() if stiff])
def test_rigid_limit(name: str) -> None:
    """The stiffer the bodies and joints (x 1e2, x 1e4, more if soft), the nearer is the flexible robot to the rigid one of
    load(..., rigid=True) in the same motion: actuator forces and points differ by a term in 1/E."""
    rng = np.random.default_rng(3)
    model = robot(name)
    v, a = rng.uniform(-1, 1, len(model.active)), rng.uniform(-5, 5, len(model.active))
    motion = v, a, np.array([3.0, -4.0, -8.0])
    if name == "cantilever":  # nothing of it moves when rigid
        tau, points = np.zeros(0), model.call("points", q=posture(model))["position"]
    else:
        tau, points = carried(Machine.read(name).model(rigid=True), *motion)
    own = Machine.read(name).description.parameters
    gaps = []
    for factor in (1e5, 1e7) if name in SOFT else (1e2, 1e4):
        stiff = Machine.read(name, {k: factor * float(own[k].number) for k in RIGID_LIMIT[name]}).model()
        stiff_tau, stiff_points = carried(stiff, *motion)
        gaps.append((np.linalg.norm(stiff_tau - tau), np.linalg.norm(stiff_points - points)))
    (tau_gap, point_gap), (smaller_tau_gap, smaller_point_gap) = gaps
    assert point_gap / smaller_point_gap == pytest.approx(100, rel=0.01)
    assert smaller_point_gap < 2e-6
    if len(tau):
        assert tau_gap / smaller_tau_gap == pytest.approx(100, rel=0.02)
        assert smaller_tau_gap < 1e-4 * np.linalg.norm(tau)


def test_a_robot_without_flexible_parts_is_its_own_rigid_limit() -> None:
    """bricard has no elastic coordinates, so `rigid` changes nothing."""
    assert Machine.read("bricard").model(rigid=True).names == Machine.read("bricard").model().names
    assert "elastic" not in {c.kind for c in Machine.read("bricard").model().mechanism.coordinates}


# Symmetry ------------------------------------------------------------------------------------------------------------

SYMMETRIC = ("3rrr", "delta", "surgiscope")


def next_leg(name: str) -> str:
    """leg1/arm -> leg2/arm -> leg3/arm -> leg1/arm."""
    return re.sub(r"leg(\d)/", lambda found: f"leg{int(found[1]) % 3 + 1}/", name)


def turned_round(model: Model, x: np.ndarray, of: str) -> np.ndarray:
    """A state (of = "q") or velocity (of = "v") of a robot with three equal legs, turned by 120 degrees about z: every
    leg does what its predecessor did."""
    c, s = -0.5, np.sqrt(0.75)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    frames = {f.name: f for f in model.mechanism.frames}
    joint, elastic = ("q", "e") if of == "q" else ("v", "ev")
    made = np.array(x)
    for frame in frames.values():
        target = frames[next_leg(frame.name)]
        made[getattr(target, joint)] = x[getattr(frame, joint)]
        made[getattr(target, elastic)] = x[getattr(frame, elastic)]
    along_x, along_y = (getattr(frames[f"platform~{k}"], joint) for k in "xy")
    place = R @ [x[along_x][0], x[along_y][0], 0]
    made[along_x], made[along_y] = place[0], place[1]
    platform = frames["platform"]
    if platform.motion == "spherical":
        own = getattr(platform, joint)
        made[own.stop - 3 : own.stop] = R @ x[own.stop - 3 : own.stop]
    return made


@pytest.mark.parametrize("name", SYMMETRIC)
def test_equal_legs_in_turned_states(name: str) -> None:
    """Turning a state by 120 degrees turns the robot onto itself: loops stay closed and actuator forces change legs."""
    model = robot(name)
    state, rng = closed_state(model, 7), np.random.default_rng(8)
    a = np.zeros(model.nv)
    a[model.active] = rng.uniform(-5, 5, 3)
    q, v, turned_a = turned_round(model, state.q, "q"), turned_round(model, state.v, "v"), turned_round(model, a, "v")
    assert np.abs(model.residual(q)).max() < 1e-12
    tau = model.inverse(state.q, state.v, a[model.active]).tau
    turned_tau = model.inverse(q, v, turned_a[model.active]).tau
    size = np.abs(model.forces(state.q, state.v)).max()
    assert np.abs(turned_tau - np.roll(tau, 1)).max() < 1e-11 * size
    assert np.ptp(tau) > 1e-3 * np.abs(tau).max()


@pytest.mark.parametrize("name", SYMMETRIC)
def test_modes_of_a_symmetric_pose_come_singly_or_in_pairs(name: str) -> None:
    """C3 symmetry at home: what is the same after a turn by 120 degrees vibrates by itself, everything else has each
    frequency twice; and equal legs are held by equal actuator forces."""
    model = robot(name)
    rest, linear = linear_at(model)
    turn = np.array([turned_round(model, e, "v") for e in np.eye(model.nv)]).T
    P = linear.Z.T @ turn @ linear.Z
    assert np.abs(P @ P @ P - np.eye(len(P))).max() < 1e-9
    kept, basis = np.linalg.eigh((np.eye(len(P)) + P + P @ P) / 3)  # projector on what a turn leaves alone
    assert np.minimum(np.abs(kept), np.abs(kept - 1)).max() < 1e-9
    changing = basis[:, kept < 0.5]
    pairs = eigh(changing.T @ linear.K @ changing, changing.T @ linear.M @ changing, eigvals_only=True)
    assert pairs[0::2] == pytest.approx(pairs[1::2], rel=1e-7)
    found = (2 * np.pi * modes(model, count=12).frequencies_hz) ** 2
    assert sum(np.abs(found / x - 1).min() < 1e-6 for x in pairs[:8]) == 8
    assert np.ptp(rest.tau) < 1e-8 * max(1.0, np.abs(rest.tau).max())


# Modes ---------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def linear_at(model: Model) -> tuple[Equilibrium, Linear]:
    """The home pose at rest and the linear model about it."""
    rest = equilibrium(model, posture(model))
    return rest, linearise(model, rest)


@lru_cache(maxsize=2)
def modes_of(name: str) -> Modes:
    return modes(robot(name), count=40 if name == "surgiscope" else None)


VIBRATING = [name for name in GALLERY if name != "bricard"]  # whose only motion is no vibration about its home


@pytest.mark.parametrize("name", VIBRATING)
def test_mode_shapes(name: str) -> None:
    """J phi = 0, actuators at rest, Phi^T M Phi = 1, Phi^T K Phi = omega^2; K is symmetric on the motions of the robot."""
    model = robot(name)
    rest, linear = linear_at(model)
    found = modes_of(name)
    shapes = found.shapes
    scale = np.abs(shapes).max(axis=0)
    if model.mechanism.closures:
        assert np.abs(model.jacobian(rest.q) @ shapes / scale).max() < 1e-8
    assert np.abs(shapes[model.active]).max(initial=0) < 1e-9 * scale.max()
    assert shapes.T @ linear.M_tree @ shapes == pytest.approx(np.eye(shapes.shape[1]), abs=1e-8)
    squares = (2 * np.pi * found.frequencies_hz) ** 2
    stiffness = shapes.T @ linear.K_tree @ shapes
    size = np.sqrt(np.outer(squares, squares))
    assert np.abs(stiffness - np.diag(squares)).max() < 1e-8 * squares.max()
    assert np.abs((np.diag(stiffness) - squares) / np.diag(size))[:6].max() < 1e-6
    assert np.abs(linear.K - linear.K.T).max() < 1e-9 * np.abs(linear.K).max()
    assert found.kinetic.sum(axis=0) == pytest.approx(np.ones(len(squares)))
    assert found.elastic.sum(axis=0) == pytest.approx(np.ones(len(squares)))


@pytest.mark.parametrize("name", VIBRATING)
def test_linear_stiffness_is_the_curvature_of_the_potential(name: str) -> None:
    """At rest under weight, v^T K v is the second derivative of elastic and gravity energy along any curve that leaves with
    v and keeps loops closed and actuators held; the reactions' share of K bends the curve."""
    model, rng = robot(name), np.random.default_rng(4)
    g = np.array([3.0, -4.0, -8.0]) * (1 if name in SOFT else 10)
    rest = equilibrium(model, posture(model), g=g)
    linear = linearise(model, rest, g=g)
    A = np.vstack([model.jacobian(rest.q), model.held(model.active)])
    soft = eigh(0.5 * (linear.K + linear.K.T), linear.M)[1][:, :6]  # where weight is not lost in the elastic part
    for y in (soft @ rng.uniform(-1, 1, (soft.shape[1], 3))).T:
        v = linear.Z @ (y / np.abs(linear.Z @ y).max())
        bias = model.closure_bias(rest.q, v) if model.mechanism.closures else np.zeros(0)
        a = least_squares(A, -np.concatenate([bias, np.zeros(len(model.active))]))
        energies = [second_along(model, "energy", State(rest.q, v), a, k, g=g).sum() for k in ("elastic", "gravity")]
        assert v @ linear.K_tree @ v == pytest.approx(sum(energies), rel=1e-7)


@pytest.mark.parametrize("name", VIBRATING)
def test_effective_masses_stay_below_the_total(name: str) -> None:
    """Shaking the base: modal masses are positive and add up to at most the mass of the robot."""
    found = modes_of(name)
    for axis in "xyz":
        masses = found.effective_mass[axis]
        assert np.all(masses >= 0)
        assert masses.sum() < found.total_mass * (1 + 1e-9)
    assert max(found.effective_mass[axis].sum() for axis in "xyz") > 1e-3 * found.total_mass


def test_effective_masses_of_a_cantilever_add_up_to_its_mass() -> None:
    """All modes together carry everything but what the clamped node holds, which falls with the size of the element; the
    first bending mode carries 0.6131 of the mass, the second 0.1883 (Clough & Penzien)."""
    missing = []
    for elements in (2, 4, 8):
        found = modes(Machine.read("cantilever", {"elements": elements, "gravity": 0}).model())
        missing.append([1 - found.effective_mass[axis].sum() / found.total_mass for axis in "xyz"])
    assert np.all(np.array(missing) > 0)
    assert np.log2(np.array(missing[:-1]) / np.array(missing[1:])) == pytest.approx(np.ones((2, 3)), abs=0.1)
    assert found.total_mass == pytest.approx(7850 * 2e-4)
    along_z = np.sort(found.effective_mass["z"] / found.total_mass)[::-1]
    assert along_z[:2] == pytest.approx([0.6131, 0.1883], abs=2e-4)


POSES = {
    "delta": ({"x": 0, "y": 0, "z": -0.6}, {"x": 0.12, "y": -0.08, "z": -0.68}),
    "surgiscope": ({"x": 0, "y": 0, "z": -1.1}, {"x": 0.19, "y": -0.33, "z": -0.9}),
}


@pytest.mark.parametrize(("name", "pose"), [(name, pose) for name, poses in POSES.items() for pose in range(2)])
def test_free_actuators_give_as_many_motions_without_stiffness(name: str, pose: int) -> None:
    """Weightless, with actuators free, a robot drifts in as many ways as it has actuators; held, in none. Poses of the
    Surgiscope: Rognant et al. 2010, table IV."""
    model = Machine.read(name, {"gravity": 0}).model()
    at = POSES[name][pose]
    held = modes(model, at, count=5).frequencies_hz
    free = modes(model, at, free=True, count=8).frequencies_hz
    assert held[0] > 1
    assert np.abs(free[: len(model.active)]).max() < 1e-3
    assert free[len(model.active)] > 1


def test_velocities_of_a_closed_state_are_really_projected() -> None:
    """The helper of this file does what it says: a velocity already in the null space is left alone."""
    model = robot("five_bar")
    state = closed_state(model, 0)
    assert kept_closed(model, state.q, state.v) == pytest.approx(state.v, abs=1e-14)


def test_a_pendulum_written_as_a_loop() -> None:
    """A body adrift in the plane, tied to the base by a hinge as closing joint: its weight has no stiffness in x, y, r, so
    the frequency sqrt(m g l/(I + m l^2)) of the compound pendulum comes from the reactions alone."""
    model = build("""
space: planar
gravity: [0, -9.81, 0]
bodies:
  bob: {rigid: {mass: 2, inertia: {zz: 0.03}}}
links:
  x: {parent: base, joint: prismatic, axis: x}
  y: {parent: x, joint: prismatic, axis: y}
  bob: {parent: y, joint: revolute, body: bob}
closures:
  hinge: {joint: revolute, from: {link: base, at: [0, 0.4, 0]}, to: {link: bob, at: [0, 0.4, 0]}}
""")
    assert modes(model).frequencies_hz == pytest.approx(
        [np.sqrt(2 * 9.81 * 0.4 / (0.03 + 2 * 0.4**2)) / (2 * np.pi)], rel=1e-9
    )
