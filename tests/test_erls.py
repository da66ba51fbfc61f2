"""The two ERLS formulations: laws, agreement with each other and with Newton-Euler, limits, and what the papers neglect."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import test_laws as laws
from closed_states import State, along, closed_state
from erls_robots import FIVE_BAR, METHODS, SPRUNG, made, robot
from whole_tree import follow_tree

from supple.analyses.modes import modes
from supple.formulations import registry
from supple.formulations.erls import erls
from supple.formulations.erls_compatible import erls_compatible
from supple.formulations.newton_euler import newton_euler
from supple.formulations.record import Unsupported
from supple.machine import Machine
from supple.model.algebra import null_space
from supple.model.closing import close
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import posture

# Agreement with each other -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dualemps", "five_bar", "gough_stewart", "closing revolute", "closing planar", "pacdrive"])
def test_lagrange_and_virtual_work_agree(name: str) -> None:
    """The same mathematics twice: forces of all coordinates at any state, with loads and reactions."""
    one, two = robot(name, erls), robot(name, erls_compatible)
    state, rng = closed_state(one, 2), np.random.default_rng(3)
    given = {
        "q": state.q, "v": state.v, "a": laws.accelerations(one, rng), "lam": rng.uniform(-10, 10, one.mechanism.equations),
        "w": rng.uniform(-5, 5, (len(one.mechanism.points), 6)),
    }  # fmt: skip
    f, g = one.call("forces", **given)["f"], two.call("forces", **given)["f"]
    assert np.abs(f - g).max() < 1e-12 * np.abs(f).max()
    joints = [i for i, c in enumerate(one.mechanism.coordinates) if c.kind != "elastic"]
    assert np.abs(f - g)[joints].max(initial=0) < 1e-10 * np.abs(f[joints]).max(initial=1e-300)


# Agreement with Newton-Euler -----------------------------------------------------------------------------------------

FLEXIBLE = ("dualemps", "five_bar", "3rrr", "pacdrive", "delta", "gough_stewart", "cantilever")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FLEXIBLE)
def test_frequencies_at_rest_are_those_of_newton_euler(name: str, method: str) -> None:
    """Undeformed and weightless the kinematics are the same to first order, and so is the linear model."""
    mechanism = Machine.read(name, {"gravity": 0} if name not in ("five_bar", "3rrr") else None).mechanism()
    true = modes(Model(newton_euler(mechanism))).frequencies_hz
    found = modes(Model(METHODS[method](mechanism))).frequencies_hz
    assert found == pytest.approx(true, rel=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_frequencies_of_dualemps_are_the_published_ones(method: str) -> None:
    """Briot & Khalil (2014), table 3, model row."""
    found = modes(Machine.read("dualemps").model(method), count=6).frequencies_hz
    assert found == pytest.approx([14.22, 25.09, 48.22, 92.37, 109.08, 423.39], abs=0.006)


@pytest.mark.parametrize("method", METHODS)
def test_damping_ratios_are_those_of_newton_euler(method: str) -> None:
    """Rayleigh (3rrr), modal (five_bar) and structural damping (gough_stewart: a loss factor)."""
    for name, settings in (("3rrr", None), ("five_bar", None), ("gough_stewart", {"gravity": 0})):
        mechanism = Machine.read(name, settings).mechanism()
        true = modes(Model(newton_euler(mechanism)), count=5).damping_ratios
        assert np.all(true > 1e-4)
        assert modes(Model(METHODS[method](mechanism)), count=5).damping_ratios == pytest.approx(true, rel=1e-6)


def slopes(gaps: list[float], factor: float) -> np.ndarray:
    """Orders at which gaps shrink when the deformation does by `factor`."""
    return np.log(np.array(gaps[:-1]) / np.array(gaps[1:])) / np.log(factor)


@pytest.mark.parametrize("method", METHODS)
def test_statics_differ_in_second_order(method: str) -> None:
    """Weight and a load of 20 N on the tool: places differ from Newton-Euler's by the square of the deformation."""
    w, gaps = np.array([[20.0, -10.0, 0, 0, 0, 0.3]]), []
    for E in (1e10, 1e11, 1e12):
        places = []
        for make in (newton_euler, METHODS[method]):
            model = made(make, FIVE_BAR, E=E)
            places.append(model.call("points", q=equilibrium(model, posture(model), w=w).q)["position"])
        gaps.append(float(np.abs(places[0] - places[1]).max()))
    assert slopes(gaps, 10) == pytest.approx([2, 2], abs=0.1)
    assert gaps[0] > 1e-8


PUSH = (1.5, -1.0)


@cache
def pushed(method: Any, E: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Actuator angles, tool and shape of the five-bar after both cranks were pushed from rest for a while."""
    model = made(method, FIVE_BAR, E=E)
    times = np.linspace(0, 0.08, 3)
    q = equilibrium(model, posture(model)).q
    push = np.array(PUSH)
    y = follow_tree(model, q, np.zeros(model.nv), times, torque=lambda t, q, v: push, rtol=1e-6, atol=1e-9)
    q = y[:, : model.nv]
    return q[1:, model.active], model.call("points", q=q)["position"][1:, 0], q[1:, model.mechanism.indices("elastic")]


@pytest.mark.parametrize("method", METHODS)
def test_trajectories_differ_in_second_order(method: str) -> None:
    """E x 4, x 16: trajectories approach Newton-Euler's with the square of the deformation, which falls as 1/E. Heavy
    damping, for a frequency that differs in first order would make free vibrations drift apart with time."""
    gaps, bends = [], []
    for E in (4e9, 1.6e10, 6.4e10):
        (angles, tool, _), (true_angles, true_tool, shape) = pushed(METHODS[method], E), pushed(newton_euler, E)
        gaps.append([float(np.abs(angles - true_angles).max()), float(np.abs(tool - true_tool).max())])
        bends.append(float(np.abs(shape).max()))
    assert slopes(bends, 4) == pytest.approx([1, 1], abs=0.1)
    for column in zip(*gaps, strict=True):
        assert slopes(list(column), 4) == pytest.approx([2, 2], abs=0.1)
    assert np.ptp(pushed(METHODS[method], 4e9)[0], axis=0).max() > 0.05  # it moves


@pytest.mark.parametrize("name", ["dualemps", "five_bar", "3rrr", "pacdrive", "delta", "gough_stewart", "bricard"])
def test_rigid_limits_agree(name: str) -> None:
    """Without elastic coordinates all formulations are the rigid robot's model: forces, loops, forward and inverse."""
    mechanism = Machine.read(name).mechanism(rigid=True)
    true = Model(newton_euler(mechanism))
    state, rng = closed_state(true, 5), np.random.default_rng(6)
    a, tau = laws.accelerations(true, rng), rng.uniform(-10, 10, len(true.active))
    served = []
    for method_name in registry.names():
        method = registry.formulation(method_name).derive
        try:
            model = Model(method(mechanism))
        except Unsupported:
            continue
        served.append(method_name)
        f = true.forces(state.q, state.v, a)
        assert model.forces(state.q, state.v, a) == pytest.approx(f, abs=1e-11 * np.abs(f).max())
        assert model.residual(state.q) == pytest.approx(true.residual(state.q), abs=1e-12)
        there = true.forward(state.q, state.v, tau).a
        assert model.forward(state.q, state.v, tau).a == pytest.approx(there, abs=1e-9 * np.abs(there).max())
        back = true.inverse(state.q, state.v, there[true.active]).tau
        assert model.inverse(state.q, state.v, there[true.active]).tau == pytest.approx(back, abs=1e-9)
    assert {"newton_euler", "erls", "erls_compatible"} <= set(served)


# Joints --------------------------------------------------------------------------------------------------------------


def test_stiff_joint_springs_become_compatible_joints() -> None:
    """Rognant et al.: joint stiffness matrices as penalties. Frequencies of the five-bar with springs in all passive joints
    approach those with compatible joints as 1/k."""
    true = modes(made(erls_compatible, FIVE_BAR, gravity=0), count=6).frequencies_hz
    gaps = [np.abs(modes(made(erls, SPRUNG, gravity=0, k=k), count=6).frequencies_hz - true).max() for k in (1e8, 1e9, 1e10)]
    assert slopes(gaps, 10) == pytest.approx([1, 1], abs=0.05)
    assert gaps[-1] < 1e-3 * true[-1]


# What the papers neglect -----------------------------------------------------------------------------------------------


def balance_gap(model: Model, state: State) -> float:
    """What is missing in the balance of powers of a free motion."""
    a = model.forward(state.q, state.v, np.zeros(len(model.active))).a
    growth = along(model, "energy", state, a)
    terms = [float(growth[k].sum()) for k in ("kinetic", "elastic", "gravity", "motors")]
    return abs(sum(terms) + float(model.energy(state.q, state.v)["dissipation"]))


def test_neglected_terms_cost_energy_in_second_order() -> None:
    """`printed`, after the appendix of Rognant et al.: M stays symmetric, power is lost or won with the square of the
    deformation and its rate; the complete equations keep it."""
    printed, complete = made(lambda m: erls(m, printed=True), FIVE_BAR), made(erls, FIVE_BAR)
    gaps, rng = [], np.random.default_rng(4)
    elastic = np.array([c.kind == "elastic" for c in complete.mechanism.coordinates])
    shape, rates = rng.uniform(-1, 1, (2, complete.nv))
    for size in (2e-4, 5e-5, 1.25e-5):
        q = posture(complete) + np.where(elastic, size * shape, 0)
        q = close(complete, q, [complete.index("q2"), complete.index("q4")])
        assert q is not None
        J = complete.jacobian(q)
        v = np.where(elastic, 100 * size * rates, rates)
        passive = [complete.index("q2"), complete.index("q4")]
        v[passive] -= np.linalg.solve(J[:, passive], J @ v)
        state = State(q, v)
        M = printed.call("inertia", q=q, direction=np.eye(printed.nv))["f"]
        assert np.abs(M - M.T).max() < 1e-14 * np.abs(M).max()
        gaps.append(balance_gap(printed, state))
        assert balance_gap(complete, state) < 1e-4 * gaps[-1]
    assert slopes(gaps, 4) == pytest.approx([2, 2], abs=0.2)


def test_neglected_terms_cost_the_mass_matrix_its_definiteness() -> None:
    """The printed M_qq, eq. (37), without its second order: a bending of 1 % already makes the kinetic energy of some
    motions of the five-bar negative, because links that bend can nearly undo what the joints do."""
    mechanism = Machine.read("five_bar").mechanism()
    smallest = {}
    for printed in (False, True):
        model = Model(erls(mechanism, printed=printed))
        q = closed_state(model, 0).q
        Z, _, _ = null_space(model.jacobian(q))
        reduced = Z.T @ model.mass(q) @ Z
        size = np.sqrt(np.diag(reduced))
        smallest[printed] = np.linalg.eigvalsh(reduced / np.outer(size, size))[0]
    assert smallest[False] > 5e-5
    assert smallest[True] < -1e-4
