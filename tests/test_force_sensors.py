"""Force sensors: what is in a joint's spring, against its stiffness by hand, in files and in fits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.api import Robot
from supple.errors import RobotFileError
from supple.measured.gathered import responses_in
from supple.measured.test import parse_test, read_test

ROBOT = """
name: load cell
space: spatial
gravity: [0, 0, 0]
parameters: {k: 2e5 N/m, cart_mass: 3 kg}
damping: {structural: 0.02}
links:
  cart:
    parent: base
    joint: prismatic
    axis: x
    q: slide
    stiffness: {y: k}
    body: {rigid: {mass: cart_mass, centre: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
points: {P: {link: cart, at: [0.1, 0, 0]}}
actuators: {slide: {}}
"""
TEST = """
sensors:
  cell: {joint: cart.spring.y, kind: force}
  top: {point: P, directions: [y]}
exciters:
  hammer: {point: P, direction: y}
record: {samples: 512, duration: 1 s, averages: 3, noise: 0.002, exponential: 0.01, pulse: 4 ms}
band: [5 Hz, 100 Hz]
poses:
  home: {}
"""


@pytest.fixture
def robot(tmp_path: Path) -> Robot:
    (tmp_path / "robot.yaml").write_text(ROBOT)
    (tmp_path / "test.yaml").write_text(TEST)
    return Robot(tmp_path / "robot.yaml")


def test_the_force_in_a_spring_by_hand(robot: Robot, tmp_path: Path) -> None:
    """k (1 + j eta) x is what the support feels; the sensor reads k x."""
    robot.test(tmp_path / "test.yaml", output=tmp_path / "m.uff", noise=0.0)
    test = read_test(tmp_path / "m.yaml", robot.description, robot.mechanism())
    found = responses_in(test, test.poses[0])
    assert found is not None and found.outputs == ("cell", "top.y") and found.orders == (0, 2)
    w = 2 * np.pi * found.frequencies_hz
    x = 1 / (2e5 * (1 + 0.02j) - 3 * w**2)
    np.testing.assert_allclose(found.values[:, 0, 0], 2e5 * x, rtol=1e-6)
    np.testing.assert_allclose(found.values[:, 1, 0], -(w**2) * x, rtol=1e-6)


@pytest.mark.parametrize("by", ["responses", "records"])
def test_stiffness_and_mass_from_a_load_cell_alone(robot: Robot, tmp_path: Path, by: str) -> None:
    """Its static value is 1 whatever the stiffness; the mass is seen as that of the resonance only through k."""
    robot.test(tmp_path / "test.yaml", output=tmp_path / "m.uff", by=by)
    found = robot.changed({"k": 2.6e5, "cart_mass": 2.6}).identify(tmp_path / "m.yaml", free=["k", "cart_mass"])
    values = {name: own["value"] for name, own in found.to_json()["parameters"].items()}
    assert values["k"] / values["cart_mass"] == pytest.approx(2e5 / 3, rel=2e-3)
    both = robot.changed({"k": 2.6e5, "cart_mass": 2.6}).identify(tmp_path / "m.yaml", free=["k"])
    assert both.to_json()["parameters"]["k"]["value"] == pytest.approx(2e5 * 2.6 / 3, rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("cart.spring.y", "cart.spring.x"), "there is no coordinate of a joint's spring 'cart.spring.x'; did you mean"),
        (("{joint: cart.spring.y", "{point: P"), "needs a joint: whose spring it is"),
    ],
)
def test_words(robot: Robot, change: tuple[str, str], words: str) -> None:
    with pytest.raises(RobotFileError) as told:
        parse_test(TEST.replace(*change), "test.yaml", Path(), robot.description, robot.mechanism())
    assert words in str(told.value)
