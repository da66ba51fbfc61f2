"""Axes of named points and forces of springs: a pendulum by hand, directions between two points, rates by differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.machine import Machine
from supple.measured.instrumented import instrumented
from supple.measured.test import parse_test

PENDULUM = """
space: spatial
gravity: [0, 0, -9.81]
links:
  arm: {parent: base, joint: revolute, axis: y, q: q1, body: {rigid: {mass: 2 kg, centre: [0.3, 0, 0], inertia: {yy: 0.02}}},
        stiffness: {x: 1e5 N/m, z: 2e5 N/m}}
actuators: {q1: {}}
points:
  centre: {link: arm, at: [0.3, 0, 0]}
  near: {link: arm, at: [0.1, 0, 0]}
  far: {link: arm, at: [0.5, 0, 0], rotate: {y: 90 deg}}
motions:
  swing: {signals: {q1: {sine: {amplitude: 0.5, frequency: 1 Hz, fade: 0.2 s}}}, duration: 1 s}
"""


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> supple.results.Simulation:
    file = tmp_path_factory.mktemp("robot") / "pendulum.yaml"
    file.write_text(PENDULUM)
    return supple.Robot(file).simulate("swing", every="1 ms")


def test_axes_of_points(swing) -> None:
    """x of the arm leads from one point to the other; the turned point has its z there; about y the angle is q1."""
    p = swing["point_position"]
    along = (p[:, 2] - p[:, 1]) / 0.4
    q1 = swing["position:q1"]
    near, far = swing["point_orientation:near"], swing["point_orientation:far"]
    np.testing.assert_allclose(near[:, [0, 2]], 0, atol=1e-9)
    np.testing.assert_allclose(near[:, 1], q1, atol=1e-9)
    np.testing.assert_allclose(far[:, 1], q1 + np.pi / 2, atol=1e-9)
    np.testing.assert_allclose(along, np.stack([np.cos(q1), 0 * q1, -np.sin(q1)], axis=1), atol=1e-9)
    np.testing.assert_allclose(swing["point_spin:near"][:, 1], swing["velocity:q1"], atol=1e-9)
    a = swing["point_acceleration:far"]
    own = swing["point_acceleration_own:far"]
    np.testing.assert_allclose(own[:, 2], np.einsum("ti,ti->t", a, along), atol=1e-9 * np.abs(a).max())


def test_forces_of_springs(swing) -> None:
    """They carry the arm: m (a - g) of its centre, which swings and vibrates; a spring is loaded by the opposite."""
    assert len(swing.axes["spring"]) == 2 and swing.signals["spring_force"].unit == ("N", "N")
    carried = 2.0 * (swing["point_acceleration:centre"] - np.array([0, 0, -9.81]))
    apart = swing["spring_force"] + carried[:, [0, 2]]  # x and z of the base, in which these springs are fixed
    assert np.abs(apart).max() < 2e-4 * np.abs(carried).max()


def test_sensors_have_the_axes_of_their_point() -> None:
    robot = Machine.parse(PENDULUM)
    test = parse_test(
        "sensors: {s: {point: far, axes: link}}\nposes: {a: {}}\n", "t.yaml", Path(), robot.description, robot.mechanism()
    )
    real = instrumented(robot, test).model()
    q = np.zeros(real.mechanism.nq)
    R = real.call("points", q=q)["rotation"][list(real.mechanism.points).index("s")]
    np.testing.assert_allclose(R[:, 2], [1, 0, 0], atol=1e-12)
