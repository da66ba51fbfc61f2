"""Virtual power by the Jacobians of all links, as printed: the same equations as Newton-Euler's recursion and the other
formulations, by another way; overconstrained robots and those it does not take."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from closed_states import closed_state

from supple import models
from supple.backends.interpreter import interpret
from supple.cli.main import main
from supple.formulations import registry
from supple.formulations.record import Unsupported
from supple.machine import Machine
from supple.model.model import Model

ROBOTS = ("five_bar_elastic", "dualemps", "3prr", "hexa", "serial_arm")


def close_to(found: np.ndarray, true: np.ndarray, tolerance: float) -> None:
    assert np.abs(found - true).max(initial=0) <= tolerance * np.abs(true).max(initial=1e-3)


@pytest.mark.parametrize("name", ROBOTS)
def test_forces_and_models_are_those_of_newton_euler(name: str) -> None:
    model = Machine.read(name).model()
    mechanism, state, rng = model.mechanism, closed_state(model, 1), np.random.default_rng(5)
    again = Model(registry.formulation("virtual_power").derive(mechanism))
    a = rng.uniform(-3, 3, model.nv)
    given = {"g": rng.uniform(-10, 10, 3), "lam": rng.uniform(-10, 10, mechanism.equations),
             "w": rng.uniform(-5, 5, (len(mechanism.points), 6))}  # fmt: skip
    close_to(again.mass(state.q), model.mass(state.q), 1e-12)
    close_to(again.forces(state.q, state.v, a, **given), model.forces(state.q, state.v, a, **given), 1e-12)
    tau, w = rng.uniform(-10, 10, len(model.active)), given["w"]
    true = model.forward(state.q, state.v, tau, w=w)
    close_to(again.forward(state.q, state.v, tau, w=w).a, true.a, 1e-9)
    elastic = mechanism.indices("elastic")
    known = {"q": state.q, "v": state.v, "g": model.gravity, "w": w}
    found = interpret(models.builder("forward", "virtual_power")(mechanism, loads=True))(**known, tau=tau)
    close_to(found["a_active"], true.a[model.active], 1e-9)
    close_to(found["a_elastic"], true.a[elastic], 1e-9)
    given_a = rng.uniform(-5, 5, len(model.active))
    true = model.inverse(state.q, state.v, given_a, w=w)
    back = interpret(models.builder("inverse", "virtual_power")(mechanism, loads=True))(**known, a_active=given_a)
    close_to(back["tau"], true.tau, 1e-9)
    close_to(back["a_elastic"], true.a[elastic], 1e-9)


def test_its_mass_model_is_that_of_the_printed_steps() -> None:
    model = Machine.read("dualemps").model()
    state = closed_state(model, 2)
    known = {"q": state.q, "v": state.v, "g": model.gravity}
    mass, steps = (interpret(models.builder(m, "virtual_power")(model.mechanism))(**known) for m in ("mass", "recursion"))
    close_to(mass["M"], steps["M"], 1e-12)
    close_to(mass["c"], steps["c"], 1e-12)
    assert {"J_t", "J_p", "J_d", "b", "E"} <= steps.keys() | {"J_p"}  # DualEMPS has no platform: J_p is empty


def test_words() -> None:
    with pytest.raises(Unsupported, match="coordinates"):
        registry.formulation("virtual_power").derive(Machine.read("surgiscope").mechanism())
    found = CliRunner().invoke(main, ["modes", "five_bar_elastic", "--formulation", "virtual_power", "--json"])
    assert found.exit_code == 0
