"""Inverse dynamics of flexible robots: truth is the path asked for, as the forward model sees it under the forces found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import SuppleError
from supple.simulation.preview import held, preview

MOTION = """
space: {point: P}
moves:
  - {by: {x: 30 mm, z: -20 mm}, duration: 0.3 s}
  - {rest: 0.1 s}
"""


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("motion") / "line.yaml"
    file.write_text(MOTION)
    return file


def _off(run: supple.results.Simulation, robot: supple.Robot, motion: Path, lead: float) -> float:
    """The largest distance of P from its path."""
    wanted = robot.motion(str(motion)).path
    assert wanted is not None
    places = wanted(run.time - lead)[0]
    axes = [list(run.axes["axis"]).index(n) for n in wanted.names]
    return float(np.abs(run["point_position"][:, 0][:, axes] - places).max())


def test_the_tip_follows_its_path_under_the_forces_found(motion: Path, tmp_path: Path) -> None:
    """Forces alone, free actuators, another integrator: the tip is within 1e-6 m; with the rigid forces it is not."""
    robot = supple.Robot("dualemps")
    table = tmp_path / "ff.csv"
    found = robot.inverse(motion, of="P", every="0.5 ms", lead="20 ms", output=table)
    assert _off(found, robot, motion, 0.02) < 1e-7
    alone = robot.simulate(table, method="gauss", every="5 ms")
    assert _off(alone, robot, motion, 0.02) < 1e-6
    stiff = robot.inverse(motion, of="P", method="rigid", output=tmp_path / "rigid.csv")
    assert _off(stiff, robot, motion, 0.0) < 1e-8  # on the rigid robot
    shaken = robot.simulate(tmp_path / "rigid.csv", every="5 ms")
    assert _off(shaken, robot, motion, 0.0) > 1e-4


def test_bodies_that_bend_without_vibrating_are_between_rigid_and_exact(motion: Path) -> None:
    """While the path has no corners the quasi-static robot is on it, as its own bending is made up for."""
    robot = supple.Robot("dualemps")
    wanted = robot.motion(str(motion)).path
    assert wanted is not None
    off = []
    for options in ({"of": "P", "method": "quasi-static"}, {"quasi_static": True}):
        run = robot.inverse(motion, every="2 ms", **options)  # type: ignore[arg-type]
        off.append(np.abs(run["point_position"][:, 0][:, [0, 2]] - wanted(run.time)[0])[20:130].max())
    assert off[0] < 0.05 * off[1]


def test_what_cannot_be_led_is_told(motion: Path) -> None:
    robot = supple.Robot("dualemps")
    with pytest.raises(SuppleError, match="no point 'Q'"):
        robot.inverse(motion, of="Q")
    with pytest.raises(SuppleError, match="has no platform"):
        robot.inverse(motion, of="platform")
    with pytest.raises(SuppleError, match="name it with of"):
        robot.inverse(motion, method="quasi-static")
    with pytest.raises(SuppleError, match="choose one of exact"):
        robot.inverse(motion, of="P", method="magic")


def test_an_unstable_zero_is_led_by_inputs_ahead_of_the_path() -> None:
    """y = (s - 1) / (s + 2)^2 u cannot be inverted causally; the inputs begin before the output, as e^t does."""
    F, G, C = np.array([[-4.0, -4.0], [1.0, 0.0]]), np.array([[1.0], [0.0]]), np.array([[1.0, -1.0]])
    step, count = 0.01, 2600
    A, B = held(F, G, step)
    t = step * np.arange(count + 1) - 16.0
    s = np.clip(t, 0.0, 1.0)
    y = (10 * s**3 - 15 * s**4 + 6 * s**5)[:, None]
    tracker = preview(np.tile(A, (count, 1, 1)), np.tile(B, (count, 1, 1)), np.tile(C, (count + 1, 1, 1)), 1e-12)
    u, x = tracker.inputs(y, np.zeros(2))
    assert np.abs(x @ C.T - y)[: -int(3 / step)].max() < 1e-5
    early = u[:, 0][(t[:-1] > -3.0) & (t[:-1] < -0.5)]
    rate = np.polyfit(step * np.arange(early.size), np.log(np.abs(early)), 1)[0]
    assert rate == pytest.approx(1.0, rel=0.02)  # the zero itself
    assert np.abs(u).max() < 50
