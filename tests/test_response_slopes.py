"""Slopes of responses by stiffnesses that act where few kept modes move, against differences of the whole model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.machine import Machine
from supple.measured.damped_modes import responses_at
from supple.measured.free import free_parameters, free_robot
from supple.measured.instrumented import instrumented
from supple.measured.parametric import Family
from supple.measured.reduced import PoseModel, Reduced
from supple.measured.test import parse_test

ROBOT = """
name: mast
space: spatial
gravity: [0, 0, 0]
damping: {structural: 0.05}
parameters: {k: 2e6 N/m, c: 3e6 N/m, E: 70 GPa}
materials: {alloy: {E: E, rho: 2700 kg/m^3}}
sections: {tube: {tube: {diameter: 40 mm, wall: 3 mm}}}
bodies: {beam: {beam: {length: 0.8 m, section: tube, material: alloy, elements: 8}}}
links:
  foot: {parent: base, body: beam, stiffness: {y: k, z: k}}
  head: {parent: foot, on: end, body: beam, stiffness: {y: c, z: c}}
points: {middle: {link: head}, top: {link: head, on: end}}
"""
TEST = """
sensors:
  a: {point: middle, directions: [x, y, z]}
  b: {link: foot, at: [0.1, 0, 0], directions: [y, z]}
exciters: {hammer: {point: top, direction: [0, 1, 1]}}
band: [0 Hz, 60 Hz]
poses: {home: {}}
"""
LINES = 2j * np.pi * np.linspace(2, 60, 25)


def test_slopes_of_a_reduced_model_are_those_of_the_whole_one(tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(ROBOT)
    robot, groups, _ = free_robot(Machine.read(tmp_path / "robot.yaml"), ["k", "c", "E"])
    test = parse_test(TEST, "test.yaml", tmp_path, robot.description, robot.mechanism())
    free = free_parameters(robot, groups, {})
    family = Family.of(instrumented(robot, test).keeping(free.names))
    orders = np.array([c.order for c in test.outputs])

    def at(x: np.ndarray, above: float) -> Reduced:
        p = free.values(x)
        return PoseModel(family, test.poses[0], test.outputs, test.inputs, 60.0, above).reduced(p, True, free.directions(p))

    few, h = at(np.zeros(3), 3.0), 1e-3  # rounding of the whole model's responses is up to 3e-7 of them
    assert len(few.squares) < 0.5 * len(at(np.zeros(3), 1e4).squares)
    _, slopes = responses_at(few, LINES, orders)
    for k in range(3):
        step = h * np.eye(3)[k]
        ends = [responses_at(at(s * step, 1e4), LINES, orders)[0] for s in (1, -1)]
        differences = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(slopes[k], differences, atol=1e-3 * np.abs(differences).max())
