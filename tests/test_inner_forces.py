"""Forces of loops and joints and stresses of beams as signals: against hand formulas, and against balances of bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from supple.api import Robot
from supple.cli.main import main
from supple.errors import SuppleError

PENDULUM = """
name: pendulum
space: planar
gravity: [0, -9.81, 0]
parameters: {push: 50 N}
links:
  arm: {parent: base, joint: revolute, q: q1, body: {rigid: {mass: 2 kg, centre: [0.5, 0, 0], inertia: {zz: 0.1}}}}
home: {q1: 0 deg}
points: {tip: {link: arm, at: [1, 0, 0]}}
motions:
  fall: {start: {q1: 20 deg}, duration: 0.5 s}
"""
BLADE = """
name: blade
space: planar
gravity: [0, 0, 0]
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}
sections: {flat: {rectangle: {y: 4 mm, z: 30 mm}}}
bodies: {blade: {beam: {length: 0.5 m, section: flat, material: steel, elements: 2}}}
damping: {rayleigh: {alpha: 60, beta: 0}}
links:
  blade: {parent: base, joint: fixed, body: blade}
points: {tip: {link: blade, at: [0.5, 0, 0]}}
motions:
  pull: {duration: 2 s, loads: {tip: {fx: 30 N, fy: 10 N}}}
"""


def test_a_pendulum_pulls_at_its_hinge(tmp_path: Path) -> None:
    """m (a_c - g) in the axes of the arm, from the textbook's accelerations of the centre of mass."""
    (tmp_path / "robot.yaml").write_text(PENDULUM)
    run = Robot(tmp_path / "robot.yaml").simulate("fall", also="joint_force", every="20 ms", tol=1e-6)
    x, w, a = (run[f"{key}:q1"] for key in ("position", "velocity", "acceleration"))
    found = run["joint_force:arm"]
    along = 2 * (-0.5 * w**2 + 9.81 * np.sin(x))
    across = 2 * (0.5 * a + 9.81 * np.cos(x))
    np.testing.assert_allclose(found[:, 0], along, atol=1e-8)
    np.testing.assert_allclose(found[:, 1], across, atol=1e-8)
    np.testing.assert_allclose(found[:, 5], 0, atol=1e-4)  # nothing turns it at its hinge
    assert run.axes["wrench"] == ("fx", "fy", "fz", "mx", "my", "mz")


def test_stress_of_a_loaded_blade(tmp_path: Path) -> None:
    """F L / W + N / A at the root once it is at rest; the pull straightens it a little (second order)."""
    (tmp_path / "robot.yaml").write_text(BLADE)
    run = Robot(tmp_path / "robot.yaml").simulate("pull", also=["beam_stress"], every="10 ms")
    modulus, area = 0.03 * 0.004**2 / 6, 0.03 * 0.004
    deflection = run["point_deformation:tip"][-1, 1]
    root = (10 * 0.5 - 30 * deflection) / modulus + 30 / area
    assert run["beam_stress:blade"][-1] == pytest.approx(root, rel=5e-3)
    assert root < 10 * 0.5 / modulus + 30 / area


def test_loop_forces_carry_the_tool_of_a_five_bar(tmp_path: Path) -> None:
    """The tool link takes from its arm and from the loop together what its mass needs: m a in the base."""
    run = Robot("five_bar_elastic").simulate("line", also="joint_force,loop_force", every="20 ms")
    loop, tool = run["loop_force:tool"], run["joint_force:tool"]
    turned = run["point_orientation:tool"][:, 2]
    c, s = np.cos(turned), np.sin(turned)

    def in_base(f: np.ndarray) -> np.ndarray:
        return np.column_stack([c * f[:, 0] - s * f[:, 1], s * f[:, 0] + c * f[:, 1]])

    needed = 0.1 * run["point_acceleration:tool"][:, :2]
    size = np.abs(in_base(tool)).max()
    assert size > 0.2  # N
    np.testing.assert_allclose(in_base(tool) - in_base(loop), needed, atol=1e-6 * size)


def test_what_is_not_unique_or_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuppleError, match="are not unique"):
        Robot("bricard").simulate(duration="0.01 s", also="loop_force", every="5 ms")
    done = CliRunner().invoke(main, ["simulate", "five_bar_elastic", "--also", "joint_forces"])
    assert done.exit_code == 2 and "must be among loop_force, joint_force, beam_stress" in done.output
