"""Newton's matrices leg by leg beside the whole matrix by differences: the same motion in as few iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supple.backends.compiler import find_compiler
from supple.backends.stepping import plant_text
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.stepper import Stepper
from supple.machine import Machine
from supple.simulation import plant_functions
from supple.simulation.simulator import Simulator, simulator

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
UNTIL = 0.03


def _run(robot: Simulator, stepper: Stepper) -> tuple[Any, dict[str, int], int]:
    """Samples, counts, and steps that did not converge leg by leg."""
    settings = robot.scaled(Settings(tolerance=1e-7))
    state = stepper.start(settings, robot.drive, 0.0, robot.runs[0].q, robot.runs[0].v)
    assert stepper.begin(state, robot.drive) == "fine"
    outcome, samples = stepper.run(state, robot.drive, UNTIL, 10**6, 1000)
    assert outcome == "done"
    return samples[:, 0], state.counts(), int(state["leg_trouble"][0])


@pytest.mark.parametrize("motion", ["circle", "turn"])  # actuators that follow a path, and such that forces drive
def test_a_plane_robot_leg_by_leg_and_whole(motion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plant_functions, "_LARGE", 0)
    monkeypatch.setattr(plant_functions, "MANY", 1)
    monkeypatch.setattr(plant_text, "MANY", 1)
    robot = simulator(Machine.read("3rrr"), motion)
    stepper = Stepper(robot.plant())
    assert plant_text.by_legs(stepper.plant)
    by_legs, few, trouble = _run(robot, stepper)
    stepper.library.supple_widen(None, None, None)  # one state at a time, the whole matrix
    whole, counts, _ = _run(robot, stepper)
    assert trouble == 0
    assert few["newton_iterations"] < 1.3 * counts["newton_iterations"]
    assert few["evaluations"] < counts["evaluations"]  # no columns by differences
    for name in ("q", "v", "free_a"):
        one, other = by_legs[:, stepper.sample[name]], whole[:, stepper.sample[name]]
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5 * np.abs(other).max(), err_msg=name)
