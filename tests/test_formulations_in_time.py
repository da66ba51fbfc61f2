"""Formulations over time: each integrates its own coordinates with its own functions, and all come to one motion.

Truth is numpy's solution of the saddle system, the printed equations as a Function of their own (`printed_model`), the
Jacobian from branches, and agreement of motions that were integrated in different coordinates."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from closed_states import closed_state

from supple.backends.interpreter import interpret
from supple.backends.stepping.drive import Drive, Table
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.plant_text import plant_sources
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.stepper import State, Stepper
from supple.cli.main import main
from supple.errors import SuppleError
from supple.expr.function import Array
from supple.formulations.record import GAIN
from supple.formulations.scdd import printed_model
from supple.formulations.tree.chains import chains
from supple.machine import Machine
from supple.model.model import Model
from supple.model.parallel_jacobian import parallel_jacobian
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.partition import partition
from supple.simulation.plants import plant
from supple.simulation.simulator import simulator
from supple.simulation.ways import spread, way_of

HELD = [("lagrange", "projection"), ("lagrange", "exact"), ("scdd", "projection"), ("scdd", "baumgarte")]
OPEN = [(name, f, "exact") for name in ("five_bar_elastic", "hexa", "bricard") for f in ("lagrange", "scdd")]
OPEN += [("five_bar_elastic", f, "baumgarte") for f in ("lagrange", "scdd")]
LINE = {"robot": Machine.read("five_bar_elastic"), "motion": "line"}


@lru_cache(maxsize=6)
def loaded(name: str, formulation: str, rigid: bool = False) -> Model:
    return Machine.read(name).model(formulation, rigid=rigid)


def made(model: Model, q: Array, loops: str | None, prescribed: tuple[str, ...] = ()) -> Plant:
    return plant(model, q, prescribed, loads=True, way=way_of(model.equations.formulation, loops))


def steady(*values: float) -> Table:
    """Signals that do not change."""
    c = np.zeros((1, len(values), 6))
    c[0, :, 0] = values
    return Table(np.array([-10.0, 10.0]), c)


def begun(made: Plant, model: Model, q: Array, v: Array, tau: Array, w: Array) -> tuple[Stepper, State, Drive]:
    """The first evaluation in C at a state; its accelerations are in state["now.free_a"]."""
    stepper = Stepper(made)
    drive = Drive(model.gravity, torque=steady(*tau), load=steady(*w.ravel()))
    state = stepper.start(Settings(method="dormand_prince", step=1e-4), drive, 0.0, q, v)
    assert stepper.begin(state, drive) == "fine"
    return stepper, state, drive


def pushed(model: Model, seed: int) -> tuple[Array, Array, Array, Array]:
    """A state whose loops are open and opening, torques and loads."""
    rng = np.random.default_rng(seed)
    state = closed_state(model, seed)
    open_q = model.retract(state.q, 1e-3 * rng.uniform(-1, 1, model.nv))
    open_v = state.v + 1e-2 * rng.uniform(-1, 1, model.nv)
    return open_q, open_v, rng.uniform(-2, 2, len(model.active)), rng.uniform(-3, 3, (len(model.mechanism.points), 6))


# The equations in C ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "formulation", "loops"), OPEN)
def test_accelerations_with_open_loops(name: str, formulation: str, loops: str) -> None:
    """M a = tau - c + loads + J^T lam and J a + b = -2 g J v - g^2 gap, whether in one system or chain by chain, with ball
    joints (hexa) and loops that say something twice (bricard)."""
    model = loaded(name, formulation)
    q, v, tau, w = pushed(model, 2)
    own = made(model, q, loops)
    assert own.coupled is not None and not own.dependent
    _, state, _ = begun(own, model, q, v, tau, w)
    rows = list(own.coupled.rows)
    J = model.jacobian(q)[rows]
    pull = 2 * GAIN * J @ v + GAIN**2 * model.call("closure", q=q)["residual"][rows] if loops == "baumgarte" else 0.0
    force = -model.forces(q, v, w=w) - model.call("forces", q=q, v=v)["coulomb"]
    force[model.active] += tau
    whole = np.block([[model.mass(q), -J.T], [J, np.zeros((len(J), len(J)))]])
    true = np.linalg.solve(whole, np.concatenate([force, -model.closure_bias(q, v)[rows] - pull]))[: model.nv]
    assert np.abs(state["now.free_a"] - true).max() < 1e-8 * np.abs(true).max()


@pytest.mark.parametrize("formulation", ["lagrange", "scdd"])
def test_damping_between_chains(formulation: str) -> None:
    """The viscous equivalent of structural damping, D v on elastic coordinates, also where D couples two chains."""
    model = loaded("five_bar_elastic", formulation)
    q, v, tau, w = pushed(model, 8)
    elastic = model.mechanism.indices("elastic")
    D = np.zeros((model.nv, model.nv))
    D[np.ix_(elastic, elastic)] = [[300.0, -120.0], [-120.0, 200.0]]
    free = begun(made(model, q, "exact"), model, q, v, tau, w)[1]["now.free_a"]
    found = begun(made(model.damped(D), q, "exact"), model, q, v, tau, w)[1]["now.free_a"]
    J = model.jacobian(q)
    whole = np.block([[model.mass(q), -J.T], [J, np.zeros((len(J), len(J)))]])
    change = np.linalg.solve(whole, np.concatenate([-D @ v, np.zeros(len(J))]))[: model.nv]
    assert np.abs(change).max() > 1e-2
    assert found - free == pytest.approx(change, rel=1e-7, abs=1e-7 * np.abs(change).max())


@pytest.mark.parametrize(("formulation", "loops"), [("lagrange", "exact"), ("scdd", "exact"), ("scdd", "as_printed")])
def test_forces_of_prescribed_actuators(formulation: str, loops: str) -> None:
    """With one actuator prescribed and the other driven, C finds the force that newton_euler's inverse model asks for."""
    model, ne = loaded("five_bar_elastic", formulation), loaded("five_bar_elastic", "newton_euler")
    state = closed_state(ne, 5)
    given, driven = (model.names[k] for k in model.active)
    own = made(model, state.q, loops, (given,))
    at = float(state.q[own.given[0].q])
    drive = Drive(model.gravity, torque=steady(0.7), given=Table(np.array([-1.0, 1.0]), np.array([[[0.0] * 6]])))
    assert drive.given is not None
    rate = float(state.v[own.given[0].v])
    drive.given.coefficients[0, 0, :3] = at - rate + 2.5, rate - 5.0, 2.5  # its place, rate and 5 rad/s^2 at t = 0
    stepper = Stepper(own)
    now = stepper.start(Settings(method="dormand_prince", step=1e-4), drive, 0.0, state.q, state.v)
    assert stepper.begin(now, drive) == "fine"
    a = np.zeros(model.nv)
    a[[p.v for p in own.free]] = now["now.free_a"]
    a[own.given[0].v] = 5.0
    true = ne.inverse(state.q, state.v, a[ne.active])
    assert a == pytest.approx(true.a, rel=1e-8, abs=1e-6)
    assert true.tau[list(ne.active).index(model.index(driven))] == pytest.approx(0.7, abs=1e-7)


def test_as_printed_is_the_function_of_the_printed_equations() -> None:
    """Three evaluations in C, each with the loop forces of the one before it, against `printed_model`: loads shared at once
    (eqs. 40, 41), chains by themselves (34), forces for the next evaluation (35)-(39)."""
    model = loaded("five_bar_elastic", "scdd")
    state, rng = closed_state(model, 3), np.random.default_rng(3)
    tau, w = np.array([1.5, -0.8]), np.zeros((1, 6))
    w[0, :2] = 4.0, -7.0
    stepper, now, drive = begun(made(model, state.q, "as_printed"), model, state.q, state.v, tau, w)
    f = interpret(printed_model(model.mechanism, loads=True))
    given = {"tau": tau, "w": w, "g": model.gravity}
    exact = model.forward(state.q, state.v, tau, w=w)
    unloaded = model.forward(state.q, state.v, tau)
    assert now["now.free_a"] == pytest.approx(exact.a, rel=1e-8, abs=1e-8)  # it starts with the right forces
    assert np.abs(exact.a - unloaded.a).max() > 1.0
    lam = _late(model, state.q, exact.reactions, w)
    found = f(q=state.q, v=state.v, lam=lam, **given)
    assert found["a"] == pytest.approx(exact.a, rel=1e-8, abs=1e-8)
    for _ in range(2):
        y = np.concatenate([1e-6 * rng.uniform(-1, 1, model.nv), state.v + 1e-3 * rng.uniform(-1, 1, model.nv)])
        outcome, rates = stepper.derivatives(now, drive, 0.0, y)
        assert outcome == "fine"
        found = f(q=model.retract(state.q, y[: model.nv]), v=y[model.nv :], lam=found["lam"], **given)
        assert rates[model.nv :] == pytest.approx(found["a"], rel=1e-7, abs=1e-6)


def _late(model: Model, q: Array, lam: Array, w: Array) -> Array:
    """Loop forces less those that carry the load: what (39) gives beside (40)."""
    passive = model.mechanism.indices("passive")
    load = model.forces(q) - model.forces(q, w=w)
    return lam + np.linalg.solve(model.jacobian(q)[:, passive].T, load[passive])


def test_loads_are_shared_by_the_branches_as_their_statics_say() -> None:
    """(40), f_B = U S^-1 f with U and S from the Jacobians of the branches, loads every chain with the forces that
    J_p^T lam = -load_p gives: the same in C, in `printed_model` and here."""
    model = loaded("five_bar_elastic", "scdd")
    q, force = closed_state(model, 6).q, np.array([4.0, -7.0])
    w = np.zeros((1, 6))
    w[0, :2] = force
    branches = parallel_jacobian(model, q, "tool", "position")
    shares = branches.U @ np.linalg.solve(branches.S, force)
    load = model.forces(q) - model.forces(q, w=w)
    passive = model.mechanism.indices("passive")
    J = model.jacobian(q)
    total = load - J.T @ np.linalg.solve(J[:, passive].T, load[passive])
    assert np.abs(load[passive]).max() > 1.0
    for number, chain in enumerate(chains(model.mechanism)):
        own = list(chain.v)
        block = branches.J_t[2 * number : 2 * number + 2]
        assert total[own] == pytest.approx(block[:, own].T @ shares[2 * number : 2 * number + 2], abs=1e-9), number


def test_each_formulation_computes_with_its_own_functions() -> None:
    """A fault in the mass matrix of a chain moves scdd alone, one in that of the tree lagrange and lagrange_dalembert; what
    is compiled holds neither the functions of the others nor their ways."""
    state = closed_state(loaded("five_bar_elastic", "newton_euler"), 7)
    tau, w = np.array([1.0, 2.0]), np.zeros((1, 6))
    plants = {f: made(loaded("five_bar_elastic", f), state.q, None) for f in ("lagrange", "lagrange_dalembert", "scdd")}
    texts = {f: plant_sources(x)[1] for f, x in plants.items()}
    assert [f for f, text in texts.items() if "#define MULTIPLIERS" in text] == ["lagrange"]
    assert [f for f, text in texts.items() if "void model_chain_2" in text] == ["scdd"]
    assert [f for f, text in texts.items() if "void model_tree" in text] == ["lagrange", "lagrange_dalembert"]
    assert [len(x.free) for x in plants.values()] == [6, 4, 6]
    for name, own in plants.items():
        model = loaded("five_bar_elastic", name)
        right = begun(own, model, state.q, state.v, tau, w)[1]["now.free_a"].copy()
        wrong = begun(_spoilt(own), model, state.q, state.v, tau, w)[1]["now.free_a"]
        assert np.abs(wrong - right).max() > 1e-3 * np.abs(right).max(), name


def _spoilt(own: Plant) -> Plant:
    """The plant with the inertia of one motor doubled in the function that its formulation computes with."""
    if own.tree is not None:
        M = own.tree.outputs["M"].copy()
        M[0, 0] = M[0, 0] * 2
        return replace(own, tree=replace(own.tree, outputs={**own.tree.outputs, "M": M}))
    assert own.coupled is not None
    first = own.coupled.parts[0]
    M = first.model.outputs["M"].copy()
    M[0, 0] = M[0, 0] * 2
    part = first._replace(model=replace(first.model, outputs={**first.model.outputs, "M": M}))
    return replace(own, coupled=replace(own.coupled, parts=(part, *own.coupled.parts[1:])))


@pytest.mark.parametrize("formulation", ["erls", "erls_compatible"])
def test_equivalent_rigid_links_are_integrated_by_their_own_equations(formulation: str) -> None:
    """C gives the accelerations that the formulation's own model has at a bent, moving state closed by its own loops, and
    not those of newton_euler, from which they differ with the deformation."""
    model, ne = loaded("dualemps", formulation), loaded("dualemps", "newton_euler")
    state = closed_state(model, 4)
    tau, w = np.array([2.0, -3.0]), np.zeros((len(model.mechanism.points), 6))
    own = made(model, state.q, None)
    found = begun(own, model, state.q, state.v, tau, w)[1]["now.free_a"]
    free = [p.v for p in own.free]
    true = model.forward(state.q, state.v, tau).a[free]
    assert np.abs(found - true).max() < 1e-8 * np.abs(true).max()
    other = closed_state(ne, 4)
    assert np.abs(ne.forward(other.q, other.v, tau).a[free] - true).max() > 1e-4 * np.abs(true).max()


# Motions -----------------------------------------------------------------------------------------------------------------


def moved(
    formulation: str, loops: str | None = None, method: str = "gauss", tol: float = 1e-7, **more: object
) -> Simulation:
    step = more.pop("step", 0.0)
    given = {**LINE, **more}
    own = simulator(formulation=formulation, loops=loops, **given)  # type: ignore[arg-type]
    return integrate(own, Settings(method, tol, step))  # type: ignore[arg-type]


def gap(found: Simulation, true: Simulation, key: str = "position") -> float:
    x, y = found.signals[key].values, true.signals[key].values
    return float(np.abs(x - y).max() / np.abs(y).max())


def test_all_come_to_one_motion_by_steps_of_their_own() -> None:
    """The motors driven along the line of the paper by PD: lagrange in all coordinates with multipliers, scdd chain by chain
    with feedback, lagrange_dalembert in independent ones. Their differences shrink with the tolerance, and each takes its
    own steps."""
    names = ("lagrange_dalembert", "lagrange", "scdd")
    gaps: dict[tuple[str, str], list[float]] = {pair: [] for pair in combinations(names, 2)}
    counts: dict[str, list[int]] = {name: [] for name in names}
    for tol in (1e-3, 1e-5):
        found = {f: moved(f, method="dormand_prince", tol=tol, duration=0.3) for f in names}
        for name, x in found.items():
            counts[name] += [x.summary["steps"], x.summary["evaluations"]]
        for (one, other), own in gaps.items():
            own.append(gap(found[other], found[one], "tau"))
    assert len({tuple(x) for x in counts.values()}) == 3, counts
    for pair, (coarse, fine) in gaps.items():
        assert 0 < fine < 0.2 * coarse < 1e-2, pair


@pytest.mark.parametrize(("formulation", "loops"), HELD)
def test_energy_and_loops_of_an_overconstrained_robot(formulation: str, loops: str) -> None:
    """Bricard's mechanism falls without friction: five coordinates of the tree, one freedom, energy kept; gaps below the
    tolerance where they are held together, small where they are not."""
    found = moved(formulation, loops, robot=Machine.read("bricard"), motion="fall", duration=1.0)
    assert found.complete
    assert found.summary["integrated"] == "5 of 5 coordinates"
    assert found.summary["energy_balance_error"] < 1e-7
    assert found.summary["worst_closure"] < {"projection": 1e-10, "baumgarte": 1e-8, "exact": 1e-6}[loops]
    true = moved("newton_euler", robot=Machine.read("bricard"), motion="fall", duration=1.0)
    assert gap(found, true) < 1e-6


def test_as_printed_drifts_with_the_interval_and_the_stabilised_do_not() -> None:
    """Fig. 4 of the paper on its own motion: forces one evaluation late open the loop in proportion to the interval."""
    printed = [moved("scdd", "as_printed", "dormand_prince", step=h, duration=0.1) for h in (4e-5, 2e-5, 1e-5)]
    gaps = [x.summary["worst_closure"] for x in printed]
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.03) and gaps[1] / gaps[2] == pytest.approx(2, rel=0.03)
    assert gaps[2] > 1e-8
    held = moved("scdd", "as_printed_projection", "dormand_prince", step=2e-5, duration=0.1)
    assert held.summary["worst_closure"] < 1e-10
    for loops in ("exact", "baumgarte"):
        assert moved("scdd", loops, "dormand_prince", step=2e-5, duration=0.1).summary["worst_closure"] < 1e-12
    true = moved("newton_euler", duration=0.1)
    errors = [gap(x, true) for x in printed]
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1) and errors[2] == pytest.approx(errors[1] / 2, rel=0.1)


def test_late_forces_stay_in_their_lane() -> None:
    """Runs side by side as printed, each with the loop forces of its own evaluation before: those of a run by itself."""
    given = {"formulation": "scdd", "loops": "as_printed", "duration": 0.02}
    settings = Settings("dormand_prince", 1e-7, 2e-5)
    both = integrate(simulator(**LINE, **given, vary={"tool": [0.1, 0.13]}), settings)  # type: ignore[arg-type]
    alone = integrate(simulator(**{**LINE, "robot": LINE["robot"].changed({"tool": 0.13})}, **given), settings)  # type: ignore[arg-type]
    x, y = both.signals["position"].values[:, 1], alone.signals["position"].values
    assert np.abs(x - y).max() < 1e-14
    assert np.abs(both.signals["tau"].values[:, 0] - alone.signals["tau"].values).max() > 1e-3


def test_a_load_acts_at_once_on_all_chains_as_printed(tmp_path: Path) -> None:
    """A force that jumps at the tool, with (40) shared by the chains in the same evaluation: the motion comes to that of
    newton_euler with the interval."""
    motion = tmp_path / "push.yaml"
    motion.write_text("loads:\n  tool:\n    fx: {step: {height: 20 N, at: 5 ms}}\nduration: 20 ms\n")
    true = moved("newton_euler", motion=motion)
    errors = []
    for h in (2e-5, 1e-5):
        found = moved("scdd", "as_printed", "dormand_prince", step=h, motion=motion)
        errors.append(gap(found, true, "velocity"))
    assert errors[1] < 0.6 * errors[0] < 1e-2


def test_platforms_are_eliminated_in_time_too() -> None:
    """platform_eliminated integrates its own closed form; some prescribed and some driven actuators it has no model for."""
    model = loaded("gough_stewart_flexible", "platform_eliminated", True)
    q = closed_state(model, 1).q
    own = plant(model, q, loads=True)
    assert own.accelerations is not None and own.tree is None
    true = loaded("gough_stewart_flexible", "newton_euler", True).forward(q, np.zeros(model.nv), np.full(6, 3.0))
    state = begun(own, model, q, np.zeros(model.nv), np.full(6, 3.0), np.zeros((len(model.mechanism.points), 6)))[1]
    assert state["now.free_a"] == pytest.approx(true.a[[p.v for p in own.free]], rel=1e-8)
    with pytest.raises(SuppleError, match="all prescribed or all driven by forces; use newton_euler"):
        plant(model, q, [model.names[model.active[0]]])


# What is refused -------------------------------------------------------------------------------------------------------


def test_growth_of_late_forces_is_that_of_the_printed_function() -> None:
    """The largest eigenvalue of the map from an error of the loop forces to the next, against `printed_model`."""
    for name, rigid in (("five_bar_elastic", False), ("five_bar_elastic", True)):
        model = loaded(name, "scdd", rigid)
        q = closed_state(model, 1).q
        split = partition(model, q)
        parts = [list(c.v) for c in chains(model.mechanism)]
        found = spread(model, q, parts, split.dependent, range(model.nv), split.rows)
        f, n = interpret(printed_model(model.mechanism)), model.mechanism.equations
        given = {"q": q, "v": np.zeros(model.nv), "tau": np.zeros(2), "g": model.gravity}
        lam = f(lam=np.vstack([np.zeros(n), np.eye(n)]), **given)["lam"]
        assert found == pytest.approx(np.abs(np.linalg.eigvals(lam[1:] - lam[0])).max(), rel=1e-6)


PRINTED = ("--formulation", "scdd", "--loops", "as_printed")
STEPS = ("--method", "dormand_prince", "--step", "1e-5")
REFUSED = {
    ("five_bar_elastic", "--loops", "exact"): "newton_euler integrates independent coordinates",
    ("five_bar_elastic", "--formulation", "lagrange", "--loops", "late"): "choose one of projection, baumgarte, exact",
    ("five_bar_elastic", *PRINTED): "add --method dormand_prince and --step",
    ("five_bar", "--motion", "circle", *PRINTED, *STEPS): "errors of the loop forces grow",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_refusals_say_why_in_one_line(arguments: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(main, ["simulate", *arguments], prog_name="supple")
    assert shown.exit_code == 2
    assert REFUSED[arguments] in shown.output and shown.output.count("\n") == 1
