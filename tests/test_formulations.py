"""Formulations against each other: derived in different ways, they give the same equations on every robot they take.

Truth here is newton_euler, which shares with the others the kinematics and the body's integrals, not the derivation of
forces; laws that do not need a second derivation are in test_laws.py, for every formulation too."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from closed_states import State, closed_state, kept_closed, sizes
from robots import build

from supple import models
from supple.backends.interpreter import interpret
from supple.errors import SuppleError
from supple.expr.function import Function
from supple.formulations import registry
from supple.formulations.lagrange_dalembert import reduced_model, reduced_names
from supple.machine import Machine, gallery
from supple.model.chain_lanes import chain_lanes
from supple.model.closing import close
from supple.model.model import Model
from supple.model.parallel_jacobian import parallel_jacobian
from supple.model.posture import start

SAME = ("lagrange", "lagrange_dalembert", "scdd")  # the same mathematics as newton_euler: equal on every robot
# formulations that are compared in a file of their own, and why they are not in SAME
ELSEWHERE = {
    "virtual_power": "sums over Jacobians of all links, which grow fast: small robots in test_virtual_power.py",
    "platform_eliminated": "takes platforms on rigid legs only: test_platform_eliminated.py",
    "erls": "its small rotations are linear, so it differs with the deformation: test_erls.py",
    "erls_compatible": "its small rotations are linear, so it differs with the deformation: test_erls.py",
}
# compared once where all in SAME are alike, for time
LARGE = ("delta", "gough_stewart_flexible", "gough_stewart_plate", "pacdrive", "surgiscope")
COUPLING = {"lagrange": "multipliers", "lagrange_dalembert": "independent", "scdd": "chains"}
# more than the 120 coordinates of models whose linear systems are solved in the expression graph
NOT_GENERATED = ("surgiscope",)


def test_the_list_of_formulations_is_complete() -> None:
    """A formulation added to the registry is compared with newton_euler here, or this test asks why not."""
    assert {"newton_euler", *SAME, *ELSEWHERE} == set(registry.names())
    for name in registry.names():
        method = registry.formulation(name)
        assert method.name == name and {"inverse", "forward"} <= set(method.models)


PAIRS = [(name, method) for name in gallery() for method in SAME]


@lru_cache(maxsize=2)
def truth(name: str, rigid: bool = False) -> tuple[Model, State]:
    model = Machine.read(name).model(rigid=rigid)
    return model, closed_state(model, 1)


@lru_cache(maxsize=3)
def other(method: str, name: str, rigid: bool = False) -> Model:
    """A robot by another formulation. One function derives the tree's forces of all in SAME. It takes long for large robots:
    there the second and third take over the forces of the first and differ, as they do anyway, in the coupling."""
    if name in LARGE and method != SAME[0]:
        first = other(SAME[0], name, rigid)
        return Model(replace(first.equations, coupling=COUPLING[method]), first.memory)
    return Model(registry.formulation(method).derive(truth(name, rigid)[0].mechanism))


def close_to(found: np.ndarray, true: np.ndarray, tolerance: float) -> None:
    assert np.abs(found - true).max(initial=0) <= tolerance * np.abs(true).max(initial=1e-3)


def moved(model: Model, rng: np.random.Generator) -> np.ndarray:
    return sizes(model, {"m": 5, "rad": 20}, {"m": 3, "rad": 10}) * rng.uniform(-1, 1, model.nv)


# The same equations --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=PAIRS, ids=lambda p: f"{p[0]}-{p[1]}")
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A robot and a formulation; module scope, so that all tests of a robot run before the next is loaded."""
    found: tuple[str, str] = request.param
    return found


def test_mass_and_forces_are_those_of_newton_euler(pair: tuple[str, str]) -> None:
    """M, and f with accelerations, gravity in any direction, elasticity, damping, friction, reactions and loads."""
    name, method = pair
    if name in LARGE and method != SAME[0]:
        pytest.skip("a large robot; its forces are those of lagrange")
    (model, state), again, rng = truth(name), other(method, name), np.random.default_rng(5)
    given = {
        "g": rng.uniform(-10, 10, 3), "lam": rng.uniform(-10, 10, model.mechanism.equations),
        "w": rng.uniform(-5, 5, (len(model.mechanism.points), 6)),
    }  # fmt: skip
    a = moved(model, rng)
    close_to(again.mass(state.q), model.mass(state.q), 1e-12)
    close_to(again.forces(state.q, state.v, a, **given), model.forces(state.q, state.v, a, **given), 1e-12)
    for tangent in ("stiffness", "damping"):
        directions = {"direction": rng.uniform(-1, 1, (2, model.nv)), "q": state.q, "v": state.v, **given}
        close_to(again.call(tangent, **directions)["f"], model.call(tangent, **directions)["f"], 1e-12)


def test_inverse_and_forward_are_those_of_newton_euler(pair: tuple[str, str]) -> None:
    """Loops solved by multipliers, by independent coordinates, and chain by chain, against projection on free motions."""
    name, method = pair
    (model, state), again, rng = truth(name), other(method, name), np.random.default_rng(6)
    assert again.equations.coupling == COUPLING[method] != model.equations.coupling
    tau, a = rng.uniform(-10, 10, len(model.active)), rng.uniform(-5, 5, len(model.active))
    w = rng.uniform(-5, 5, (len(model.mechanism.points), 6))
    for found, true in (
        (again.forward(state.q, state.v, tau, w=w), model.forward(state.q, state.v, tau, w=w)),
        (again.inverse(state.q, state.v, a, w=w), model.inverse(state.q, state.v, a, w=w)),
    ):
        close_to(found.a, true.a, 1e-9)
        close_to(found.tau, true.tau, 1e-9)
        close_to(found.reactions, true.reactions, 1e-8 if name == "surgiscope" else 1e-9)


@pytest.mark.parametrize(("name", "method"), [p for p in PAIRS if p[0] not in ("bricard", "cantilever")])
def test_rigid_robots_agree(name: str, method: str) -> None:
    """Robots loaded as rigid: M, f and both models (bricard is rigid already, of a rigid cantilever nothing is left)."""
    (model, state), again, rng = truth(name, rigid=True), other(method, name, rigid=True), np.random.default_rng(7)
    close_to(again.mass(state.q), model.mass(state.q), 1e-12)
    a = moved(model, rng)
    close_to(again.forces(state.q, state.v, a), model.forces(state.q, state.v, a), 1e-12)
    tau = rng.uniform(-10, 10, len(model.active))
    found, true = again.forward(state.q, state.v, tau), model.forward(state.q, state.v, tau)
    close_to(found.a, true.a, 1e-9)
    back = again.inverse(state.q, state.v, true.a[model.active])
    close_to(back.tau, tau, 1e-9)


# Generated models ----------------------------------------------------------------------------------------------------


def evaluated(f: Function, model: Model, state: State, **given: np.ndarray) -> dict[str, np.ndarray]:
    known = {"q": state.q, "v": state.v, "g": model.gravity, **given}
    return interpret(f)(**{k: known[k] for k in f.inputs})


def test_generated_models(pair: tuple[str, str]) -> None:
    """forward and inverse, linear systems eliminated in the graph, against the numeric solution of newton_euler."""
    name, method = pair
    if name in NOT_GENERATED or (name in LARGE and method == "scdd"):
        pytest.skip("too large for dense models, or for time: in the graph scdd is the elimination of lagrange")
    (model, state), rng = truth(name), np.random.default_rng(8)
    tau, a = rng.uniform(-10, 10, len(model.active)), rng.uniform(-5, 5, len(model.active))
    w = rng.uniform(-5, 5, (len(model.mechanism.points), 6))
    elastic, mechanism = model.mechanism.indices("elastic"), model.mechanism
    found = evaluated(models.builder("forward", method)(mechanism, loads=True), model, state, tau=tau, w=w)
    true = model.forward(state.q, state.v, tau, w=w)
    for kind in ("active", "elastic") if len(tau) else ("elastic", "passive"):
        if not mechanism.indices(kind):
            continue
        assert np.abs(found[f"a_{kind}"] - true.a[mechanism.indices(kind)]).max(initial=0) < 1e-9 * np.abs(true.a).max()
    if not len(tau) or (name in LARGE and method == "lagrange_dalembert"):  # dense: only forward, for time
        return
    back = evaluated(models.builder("inverse", method)(mechanism, loads=True), model, state, a_active=a, w=w)
    true = model.inverse(state.q, state.v, a, w=w)
    close_to(back["tau"], true.tau, 1e-9)
    assert np.abs(back["a_elastic"] - true.a[elastic]).max(initial=0) < 1e-9 * np.abs(true.a).max()


@pytest.mark.parametrize("method", SAME)
def test_kept_parameters_stay_inputs(method: str) -> None:
    """Lengths kept as symbols: pivots are chosen without their values, and any value gives the robot that has it."""
    lengths = {"crank": 0.31, "coupler": 0.42}
    mechanism = Machine.read("five_bar_elastic").keeping(list(lengths)).mechanism()
    f = models.builder("forward", method)(mechanism)
    model = Machine.read("five_bar_elastic", lengths).model()
    state, tau = closed_state(model, 2), np.array([1.0, -2.0])
    found = evaluated(f, model, state, tau=tau, p=np.array(list(lengths.values())))
    true = model.forward(state.q, state.v, tau)
    close_to(found["a_active"], true.a[model.active], 1e-9)
    close_to(found["a_elastic"], true.a[model.mechanism.indices("elastic")], 1e-9)


@pytest.mark.parametrize("name", ["3rrr", "dualemps", "five_bar_elastic", "hexa", "triglide"])
def test_mass_models(name: str) -> None:
    """lagrange: the tree's M, c, J, b; scdd: the same chain by chain; lagrange_dalembert: W^T M W and W^T (M b + c), whose
    parts C_c v, eta_c, K_c q and D_c v add up to c_c again (eqs. 20-25 of Stachera & Schumacher)."""
    model, state = truth(name)
    mechanism, q, v = model.mechanism, state.q, state.v
    tree = evaluated(models.builder("mass", "lagrange")(mechanism), model, state)
    close_to(tree["M"], model.mass(q), 1e-12)
    close_to(tree["c"], model.forces(q, v), 1e-12)
    close_to(tree["J"], model.jacobian(q), 1e-12)
    close_to(tree["b"], model.closure_bias(q, v), 1e-11)
    reduced = evaluated(models.builder("mass", "lagrange_dalembert")(mechanism), model, state)
    names = reduced_names(mechanism)
    M, c = model.reduced(q, v, [model.index(n) for n in names])
    assert names == [x.name for x in mechanism.coordinates if x.kind in ("active", "elastic")]
    close_to(reduced["M"], M, 1e-11)
    close_to(reduced["c"], c, 1e-10)
    chains = evaluated(models.builder("mass", "scdd")(mechanism), model, state)
    count = sum(k.startswith("M_") for k in chains)
    assert sum(len(chains[f"M_{n + 1}"]) for n in range(count)) == model.nv
    assert np.abs(sum(np.trace(chains[f"M_{n + 1}"]) for n in range(count)) - np.trace(tree["M"])) < 1e-12 * np.trace(
        tree["M"]
    )


@pytest.mark.parametrize("name", ["3rrr", "five_bar_elastic", "hexa"])
def test_the_reduced_matrices_add_up(name: str) -> None:
    """M_c a + C_c v + eta_c + W^T (K q + D v) + stretch_c is W^T of the tree's forces, each part its own (eqs. 20-25)."""
    model, state = truth(name)
    found = evaluated(reduced_model(model.mechanism), model, state)
    names = reduced_names(model.mechanism)
    independent = [model.index(n) for n in names]
    W = found["W"]
    _, c = model.reduced(state.q, state.v, independent)
    elastic = np.zeros(model.nv)
    for frame in model.mechanism.frames:
        elastic[frame.ev] = state.q[frame.e]
    K = np.zeros((model.nv, model.nv))
    for frame in model.mechanism.frames:
        K[frame.ev, frame.ev] = frame.body.K_ee.astype(float)
    total = found["C_c_v"] + found["eta_c"] + W.T @ (K @ elastic) + found["D_c"] @ state.v[independent]
    total = total + found["stretch_c"]
    close_to(total, c, 1e-10)
    close_to(found["K_c"], W.T @ K @ W, 1e-12)
    still = model.call("forces", q=state.q, g=np.zeros(3))["f"]
    weight = W.T @ (model.call("forces", q=state.q)["f"] - still)
    close_to(found["eta_c"], weight, 1e-9)


def test_robots_too_large_for_dense_models_are_refused_in_words() -> None:
    """384 coordinates eliminated in the graph would be millions of operations."""
    mechanism = Machine.read("surgiscope").mechanism()
    for method in SAME:
        for name in ("mass", "inverse", "forward"):
            with pytest.raises(SuppleError, match="384 coordinates are more than the 120 it takes; use newton_euler"):
                models.builder(name, method)(mechanism)
    with pytest.raises(SuppleError, match="there is no formulation 'newton'"):
        models.builder("mass", "newton")
    with pytest.raises(SuppleError, match="there is no model 'tree'; choose one of mass, inverse, forward"):
        models.builder("tree", "lagrange")


@pytest.mark.parametrize("name", ["3rrr", "delta", "gough_stewart", "hexa", "triglide"])
def test_legs_in_lanes(name: str) -> None:
    """One kernel for all identical legs, in the lanes of a compiled batch, then the small system of loop forces."""
    (model, state), rng = truth(name), np.random.default_rng(9)
    tau = rng.uniform(-10, 10, len(model.active))
    a, reactions = chain_lanes(model.mechanism).forward(state.q, state.v, tau, model.gravity)
    true = model.forward(state.q, state.v, tau)
    close_to(a, true.a, 1e-10)
    close_to(reactions, true.reactions, 1e-10)


# The Jacobian of the parallel robot ----------------------------------------------------------------------------------

# Three arms that meet in one point of the plane: two freedoms, three actuators.
REDUNDANT = """
space: planar
bodies:
  crank: {rigid: {mass: 1 kg, centre: [0.15, 0, 0], inertia: {zz: 0.01}}}
  coupler: {rigid: {mass: 0.8 kg, centre: [0.2, 0, 0], inertia: {zz: 0.012}}}
links:
  a1: {parent: base, at: [-0.2, 0, 0], joint: revolute, q: q1, body: crank}
  a2: {parent: a1, at: [0.3, 0, 0], joint: revolute, q: q2, body: coupler}
  b1: {parent: base, at: [0.2, 0, 0], joint: revolute, q: q3, body: crank}
  b2: {parent: b1, at: [0.3, 0, 0], joint: revolute, q: q4, body: coupler}
  c1: {parent: base, at: [0, 0.9, 0], joint: revolute, q: q5, body: crank}
  c2: {parent: c1, at: [0.3, 0, 0], joint: revolute, q: q6, body: coupler}
closures:
  b: {joint: revolute, from: {link: a2, at: [0.4, 0, 0]}, to: {link: b2, at: [0.4, 0, 0]}}
  c: {joint: revolute, from: {link: a2, at: [0.4, 0, 0]}, to: {link: c2, at: [0.4, 0, 0]}}
actuators: {q1: {inertia: 0.01}, q3: {inertia: 0.01}, q5: {inertia: 0.01}}
points: {tool: {link: a2, at: [0.4, 0, 0]}}
assembly:
  up: {q1: 130 deg, q2: -75 deg, q3: 50 deg, q4: 75 deg, q5: -170 deg, q6: 110 deg}
"""
TWISTS = {"3rrr": "tool", "cantilever": "tip", "delta": "tool", "dualemps": "P", "five_bar": "tool",
          "gough_stewart": "centre", "hexa": "tool", "surgiscope": "E", "triglide": "tool"}  # fmt: skip


def redundant() -> tuple[Model, np.ndarray]:
    """The robot of three arms, closed near its assembly guess with no actuator held."""
    model = build(REDUNDANT)
    q = close(model, start(model), list(range(model.nv)))
    assert q is not None
    return model, q


def velocity_of(model: Model, q: np.ndarray, v: np.ndarray, point: str) -> np.ndarray:
    """Velocity and spin of a point, in base axes."""
    found = model.call("points", q=q, v=v)
    k = list(model.mechanism.points).index(point)
    return np.concatenate([found["velocity"][..., k, :], found["spin"][..., k, :]], axis=-1)


@pytest.mark.parametrize("name", TWISTS)
def test_jacobian_from_branches(name: str) -> None:
    """G^T = W^T J_t^T U S^-1 against the Jacobian of the tree's own point on the motions W of the closed robot."""
    model, state = truth(name)
    found = parallel_jacobian(model, state.q, TWISTS[name])
    general = velocity_of(model, state.q, found.W.T, TWISTS[name]).T
    rows = [("vx", "vy", "vz", "wx", "wy", "wz").index(r) for r in found.rows]
    close_to(found.G, general[rows], 1e-11)
    left = [k for k in range(6) if k not in rows]
    assert np.abs(general[left]).max(initial=0) < 1e-12


def differences(model: Model, q: np.ndarray, independent: tuple[str, ...], point: str) -> np.ndarray:
    """Central differences of a point's position when independent coordinates move and the others close the loops."""
    names = [model.index(n) for n in independent]
    others = [i for i in range(model.nv) if i not in names]
    k, h, columns = list(model.mechanism.points).index(point), 1e-5, []
    for i in names:
        ends = []
        for sign in (1, -1):
            step = np.zeros(model.nv)
            step[i] = sign * h
            shut = close(model, model.retract(q, step), others)
            assert shut is not None
            ends.append(model.call("points", q=shut)["position"][k])
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.array(columns).T


@pytest.mark.parametrize("name", ["five_bar", "five_bar_elastic"])
def test_jacobian_of_the_position_of_a_five_bar(name: str) -> None:
    """The paper's own case: one force along each passive arm; against finite differences of the closed posture."""
    model, state = truth(name)
    found = parallel_jacobian(model, state.q, "tool", task="position")
    assert found.S.shape == (2, 2) and found.rows == ("vx", "vy")
    close_to(found.G, differences(model, state.q, found.independent, "tool")[:2], 1e-8)
    if name == "five_bar_elastic":  # rigid passive arms: the branch forces point along them
        frames = {f.name: i for i, f in enumerate(model.mechanism.frames)}
        outline = model.call("outline", q=state.q)
        for n, arm in enumerate(("arm1/coupler", "arm2/coupler")):
            points = outline[f"frame{frames[arm]}"]
            x, y, _ = points[1] - points[0]
            assert abs(x * found.S[1, n] - y * found.S[0, n]) < 1e-12


def test_jacobian_of_a_redundantly_actuated_robot() -> None:
    """Three branches share a force in the plane by the pseudo-inverse of S (2 x 3); finite differences as truth."""
    model, q = redundant()
    found = parallel_jacobian(model, q, "tool", task="position")
    assert found.S.shape == (2, 3) and len(model.active) == 3 and len(found.independent) == 2
    close_to(found.G, differences(model, q, found.independent, "tool")[:2], 1e-8)
    rng = np.random.default_rng(2)
    force = rng.uniform(-10, 10, 2)
    loads = np.zeros((1, 6))
    loads[0, :2] = force
    change = model.forces(q, w=loads) - model.forces(q)
    close_to(-found.W.T @ change, found.G.T @ force, 1e-12)  # tau = G^T f, without the paper's extra +


@pytest.mark.parametrize("method", ["newton_euler", *SAME])
def test_a_redundantly_actuated_robot_is_solved_by_every_formulation(method: str) -> None:
    """Accelerations are unique whatever the actuators share; the inverse model gives torques that cause them."""
    base, q = redundant()
    model = Model(registry.formulation(method).derive(base.mechanism))
    v = kept_closed(base, q, np.random.default_rng(3).uniform(-1, 1, model.nv))
    tau = np.array([3.0, -2.0, 1.0])
    a = model.forward(q, v, tau).a
    close_to(a, base.forward(q, v, tau).a, 1e-10)
    again = model.forward(q, v, model.inverse(q, v, a[model.active]).tau).a
    close_to(again, a, 1e-10)


def test_points_that_the_branches_do_not_carry_are_refused_in_words() -> None:
    """A Bricard loop's rods can carry fewer wrenches than a twist has directions; unknown points are named."""
    model, state = truth("bricard")
    with pytest.raises(SuppleError, match="the branches cannot carry every wrench at 'P3'"):
        parallel_jacobian(model, state.q, "P3")
    with pytest.raises(SuppleError, match="bricard has no point 'tool'; it has: P3"):
        parallel_jacobian(model, state.q, "tool")
