"""Steps between samples of a controller: what these do not ask for is left out, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.simulation.groups import Group, groups_of
from supple.simulation.simulator import Simulator, simulator

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
USUAL = Settings(every=0.0)  # a row for every step


def ready(name: str, motion: str, duration: float, **controller: Any) -> Simulator:
    robot = Machine.read(name)
    led = robot.motion(motion, duration)
    if controller:
        assert led.controller is not None
        led = replace(led, controller=replace(led.controller, **controller))
    return simulator(robot, led, duration=duration)


def run(made: Simulator, settings: Settings = USUAL, piece: int = 10**9) -> tuple[Group, np.ndarray]:
    """A group at its end, and all that it recorded."""
    (group,) = groups_of(made, made.scaled(settings), None)
    rows, outcome = [], "yielded"
    while outcome == "yielded":
        outcome, found = group.stepper.run(group.state, made.drive, made.duration, piece, 100_000)
        rows.append(found[:, 0].copy())
    assert outcome == "done"
    return group, np.concatenate(rows)


@pytest.fixture(scope="module")
def hexapod() -> Simulator:
    return ready("gough_stewart", "controlled", 0.05)


def test_a_step_asks_for_its_stages_and_its_start_once(hexapod: Simulator) -> None:
    counts = run(hexapod)[0].state.counts()
    assert counts["steps"] == 500
    assert counts["newton_iterations"] < 1.1 * counts["steps"]
    assert counts["evaluations"] < 4.3 * counts["steps"] + 100  # three stages and the start; derivatives


def test_pieces_of_a_run_are_its_bits(hexapod: Simulator) -> None:
    whole, pieces = run(hexapod)[1], run(hexapod, piece=7)[1]
    assert np.array_equal(whole, pieces)


@pytest.mark.parametrize("changes, tolerance", [({}, 1e-5), ({"sample": 4e-4, "delay": 1.5e-4}, 1e-9)])
def test_the_motion_is_that_of_gauss_method(changes: dict[str, Any], tolerance: float) -> None:
    """Its steps end by another way, with loops closed at each of them and accelerations computed."""
    hexapod = ready("gough_stewart", "controlled", 0.05, **changes)
    group, found = run(hexapod, replace(USUAL, tolerance=tolerance))
    true = run(hexapod, Settings("gauss", tolerance=1e-10, cutoff=0.0, every=0.0))[1]
    plant, at = group.stepper.plant, group.stepper.sample
    places = [p.q for p in plant.free]
    for part, among, size in (("q", places, 1e-9), ("effort", slice(None), 1e-5), ("free_a", slice(None), 2e-6)):
        assert np.abs((found[-1] - true[-1])[at[part]][among]).max() < size, part


def test_rough_ends_are_near_closed_ones(hexapod: Simulator) -> None:
    """Coordinates that follow from loops are those of the last stage, short of its last correction."""
    group, rows = run(hexapod)
    q, v, _ = group.stepper.observe(group.state, hexapod.drive, rows[:, None], np.full(len(rows), -1.0))
    at = group.stepper.sample
    assert 0 < np.abs(q[:, 0] - rows[:, at["q"]]).max() < 1e-10
    assert 0 < np.abs(v[:, 0] - rows[:, at["v"]]).max() < 1e-7


def test_the_end_of_a_run_is_exact(hexapod: Simulator) -> None:
    group, rows = run(hexapod)
    assert not group.state["is_rough"][0]
    q = group.stepper.observe(group.state, hexapod.drive, rows[-1:, None], np.full(1, -1.0))[0]
    np.testing.assert_allclose(group.state.lanes("now.q")[0], q[0, 0], atol=1e-14)


@pytest.mark.parametrize("changes, rough", [({}, 1), ({"sample": 0.0}, 0)])
def test_which_ends_are_rough(changes: dict[str, Any], rough: int) -> None:
    """Those before samples; a controller that acts at every moment has none."""
    made = ready("gough_stewart", "controlled", 0.05, **changes)
    (group,) = groups_of(made, made.scaled(USUAL), None)
    assert group.stepper.run(group.state, made.drive, made.duration, 20, 1000)[0] == "yielded"
    assert group.state["is_rough"][0] == rough
