"""Static tests: finite displacements under forces, drives that give way, exact slopes, and fits to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from supple.api import Robot
from supple.machine import Machine
from supple.measured.instrumented import instrumented
from supple.measured.parametric import Family
from supple.measured.reduced import PoseModel
from supple.measured.statics import StaticPose, static_displacements
from supple.measured.test import parse_test

FIVE_BAR = Path(__file__).parents[1] / "src" / "supple" / "gallery" / "five_bar_elastic.yaml"
ARM = """
name: arm
space: planar
gravity: [0, 0, 0]
parameters: {servo: 500 N*m/rad}
links:
  arm: {parent: base, joint: revolute, q: q1, body: {rigid: {mass: 1 kg, inertia: {zz: 0.1}}}}
actuators: {q1: {stiffness: servo}}
points: {tip: {link: arm, at: [0.8, 0, 0]}}
"""


def test_a_driven_arm_gives_way_as_its_servo_does(tmp_path: Path) -> None:
    """k theta = F L cos(theta), far beyond small angles."""
    (tmp_path / "arm.yaml").write_text(ARM)
    robot = Machine.read(tmp_path / "arm.yaml")
    text = """
sensors: {tool: {point: tip, kind: displacement, directions: [x, y]}}
exciters: {press: {point: tip, kind: force, direction: y}}
poses: {home: {}}
"""
    test = parse_test(text, "t.yaml", tmp_path, robot.description, robot.mechanism())
    moved = static_displacements(instrumented(robot, test).model(), [{}], test.inputs[0], 300.0, test.outputs)[0]
    angle = brentq(lambda x: 500 * x - 300 * 0.8 * np.cos(x), 0, 1)
    assert angle > 0.3
    np.testing.assert_allclose(moved, [0.8 * (np.cos(angle) - 1), 0.8 * np.sin(angle)], rtol=1e-9)


def test_slopes_of_large_displacements_are_exact(tmp_path: Path) -> None:
    """Beside differences of robots read anew: springs, servos and lengths, a force and a sensor in axes of links."""
    text = FIVE_BAR.read_text().replace("viscous: 0.05}", "viscous: 0.05, stiffness: servo}")
    text = text.replace("k: {value: 5.464e6 N/m", "servo: 3e3 N*m/rad\n  k: {value: 5.464e4 N/m")
    (tmp_path / "robot.yaml").write_text(text)
    names = ("k", "servo", "crank")
    robot = Machine.read(tmp_path / "robot.yaml")
    sensors = """
sensors:
  own: {link: arm1/coupler, at: [0.4, 0, 0], kind: displacement, axes: link, directions: [x, y]}
  seen: {point: tool, kind: displacement, directions: [x, y]}
exciters: {press: {link: arm1/coupler, at: [0.4, 0, 0], kind: force, axes: link, direction: y}}
poses: {home: {}}
"""
    test = parse_test(sensors, "t.yaml", tmp_path, robot.description, robot.mechanism())
    at = {"arm1/q1": 2.2, "arm2/q1": 0.9}
    family = Family.of(instrumented(robot, test).keeping(names))
    from supple.measured import test_file as spec
    from supple.measured.test import Pose

    pose = PoseModel(family, Pose("a", at, None, False, False, spec.Pose()), test.outputs, test.inputs, 1.0)
    p = np.array(family.kept.values)
    found, slopes = StaticPose(pose, 500.0).moved(p, np.diag(p))

    def anew(values: np.ndarray) -> np.ndarray:
        changed = robot.changed(dict(zip(names, values.tolist(), strict=True)))
        made: np.ndarray = static_displacements(
            instrumented(changed, test).model(), [at], test.inputs[0], 500.0, test.outputs
        )[0]
        return made

    np.testing.assert_allclose(found, anew(p), atol=1e-12)
    assert np.abs(found).max() > 0.01  # a centimetre and more
    for k in range(3):
        step = p * np.where(np.arange(3) == k, 1e-4, 0.0)
        differences = (8 * (anew(p + step) - anew(p - step)) - (anew(p + 2 * step) - anew(p - 2 * step))) / 12e-4
        np.testing.assert_allclose(slopes[:, k], differences, atol=1e-8 * np.abs(slopes).max())


def test_modulus_from_a_strong_pull(tmp_path: Path) -> None:
    """DualEMPS pulled by 20 N at its tip, far beyond what is linear: a linear fit is off by several percent."""
    (tmp_path / "points.csv").write_text("q11,q21\n0,0\n0.05,0.02\n")
    (tmp_path / "test.yaml").write_text("""
sensors: {tool: {point: P, kind: displacement, directions: [x, y]}}
exciters: {pull: {point: P, kind: force, direction: x}}
static: {pulled: {table: points.csv, sensor: tool, exciter: pull, force: 20 N, deviation: 2 um}}
""")
    Robot("dualemps").test(tmp_path / "test.yaml", output=tmp_path / "measured.uff", seed=3)
    found = Robot("dualemps", {"E": "52 GPa"}).identify(tmp_path / "measured.yaml", "E")
    assert abs(found.values[0] - 74e9) < 3 * found.deviations[0] and found.deviations[0] < 1e-3 * 74e9
    assert found.chi_squared < 20 and found.values[0] == pytest.approx(74e9, rel=1e-3)
