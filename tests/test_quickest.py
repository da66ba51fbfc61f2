"""Least times against laws known by hand, and vibrations against a simulation that knows nothing of the linear programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from flexible_links import SLIDER

import supple
from supple.analyses.optimise_motion import _simulated
from supple.backends.compiler import find_compiler
from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.follow import follow
from supple.simulation.amended import amended, arriving
from supple.simulation.quickest import amplitudes
from supple.simulation.way_laws import Law, integrals, nodes
from supple.simulation.ways_of import spans, way_between

LIMITED = (
    SLIDER
    + """\
motions:
  go:
    moves: [{by: {s: 0.1}, duration: 0.6 s}, {rest: 0.4 s}]
    limits: {speed: 0.5 m/s, force: 4 N}
"""
)


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> supple.Robot:
    file = tmp_path_factory.mktemp("slider") / "slider.yaml"
    file.write_text(LIMITED)
    return supple.Robot(file)


@pytest.fixture(scope="module")
def quick(robot: supple.Robot) -> supple.results.Simulation:
    """The quickest way of the slider, whatever vibrates then."""
    return robot.optimise_motion("go")


def moved(run: supple.results.Simulation) -> float:
    s = run["position:s"]
    return float(run.time[np.flatnonzero(np.abs(s - s[-1]) > 1e-9)[-1]])


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_least_times_are_those_of_bang_bang(
    robot: supple.Robot, quick: supple.results.Simulation, tmp_path: Path
) -> None:  # fmt: skip
    """1.0936 kg under 4 N up to 0.5 m/s: 0.1 / v + v / a at least; accelerations that ramp over 1/60 take a little more, and
    so does a blade that swings meanwhile, whose forces are within the limit too."""
    mass = 1 + 0.3 * 7800 * 2e-3 * 20e-3
    least = 0.1 / 0.5 + 0.5 * mass / 4
    (file := tmp_path / "stiff.yaml").write_text(LIMITED.replace("210 GPa", "1e5 GPa"))
    stiff, run = supple.Robot(file).optimise_motion("go"), quick
    told = run.summary["performance"]
    assert least < moved(stiff) < 1.03 * least and moved(stiff) <= moved(run) < 1.05 * least
    assert 0.98 < told["limits"]["speed"]["s"]["used"] < 1.0001
    assert 0.98 < told["limits"]["force"]["s"]["used"] < 1.0011
    slower = robot.optimise_motion("go", limits={"speed": "0.4 m/s"})
    assert moved(slower) > moved(run) and slower.summary["performance"]["limits"]["speed"]["s"]["used"] < 1.0001


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_vibration_is_limited_in_the_simulation_too(robot: supple.Robot, quick: supple.results.Simulation) -> None:
    fast = quick.summary["performance"]
    calm = robot.optimise_motion("go", residual="2 um", modes=2)
    left = calm.summary["performance"]["residual_vibration_m"]["tip"]
    assert fast["residual_vibration_m"]["tip"] > 100 * left and left < 2.003e-6
    assert moved(calm) < 1.5 * fast["rest_from_s"]
    assert "instead of 0.6 s, tip then vibrates" in calm.summary["notices"][0]


TURNING = """
name: swinger
space: planar
gravity: [0, 0, 0]
materials: {steel: {E: 210 GPa, rho: 7800 kg/m^3}}
sections: {blade: {rectangle: {y: 4 mm, z: 30 mm}}}
bodies:
  carriage: {rigid: {mass: 3 kg, inertia: {zz: 1e-2}}}
  arm: {beam: {length: 0.5 m, section: blade, material: steel, elements: 2}}
  load: {rigid: {mass: 0.4 kg, inertia: {zz: 1e-4}}}
links:
  carriage: {parent: base, joint: prismatic, axis: y, q: s, body: carriage}
  arm: {parent: carriage, joint: revolute, axis: z, q: turn, body: arm}
  load: {parent: arm, joint: fixed, at: [0.5, 0, 0], body: load}
actuators: {s: {viscous: 5}, turn: {viscous: 0.01}}
points: {tip: {link: load}}
motions:
  go:
    moves: [{by: {s: 0.2, turn: 40 deg}, duration: 0.6 s}, {rest: 0.5 s}]
    limits: {speed: {s: 1 m/s, turn: 4 rad/s}, force: {s: 40 N, turn: 6 N*m}}
"""


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_limits_are_kept_by_the_robot_that_bends(tmp_path: Path) -> None:
    """An arm that turns while its carriage moves: what the linear robot foresees is off by a hundredth of the vibration,
    ten times what may be left, and the rigid robot's forces by a fifth; both are made up for."""
    (file := tmp_path / "swinger.yaml").write_text(TURNING)
    told = supple.Robot(file).optimise_motion("go", residual="20 um").summary["performance"]
    assert told["residual_vibration_m"]["tip"] < 20.03e-6
    assert 0.98 < max(x["used"] for x in told["limits"]["force"].values()) < 1.02


ACROSS = """
space: platform
start: {x: -0.1, y: 0, z: -0.62}
moves: [{by: {x: 0.2}, duration: 0.4 s}, {rest: 0.3 s}, {by: {x: -0.1, z: 0.05}, duration: 0.4 s}, {rest: 0.3 s}]
"""


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_what_is_foreseen_is_what_simulations_leave(tmp_path: Path) -> None:
    """Delta across and back by polynomials: frequencies change by a tenth, the slowest two cross and end alike,
    ten modes of single rods lie between those that move the tool, and the second way begins while the first rings."""
    robot, file = Machine.read("delta"), tmp_path / "across.yaml"
    file.write_text(ACROSS)
    motion = robot.motion(file)
    path = follow(robot.model(rigid=True), motion).trajectory
    assert path is not None
    found, u = spans(path), nodes()
    pull = 60 * u - 180 * u**2 + 120 * u**3
    law = Law(pull / (integrals()[1][-1] @ pull), 0.12)
    first, second = (way_between(robot, motion, path, span, "tool", 4) for span in found)
    made = [(first, law), (arriving(second, first, law, 0.3), law)]
    run = _simulated(robot, motion, path, found, made, {}, "tool", "1 ms")
    for way, end in zip((x for x, _ in made), (0.12, 0.54), strict=True):
        told, shaking = amplitudes(way, law), amended(way, law, run, end, 0.3).shaking
        assert shaking is not None and np.abs(told).max() > 30e-6
        assert np.abs(shaking.beyond).max() < 0.01 * np.abs(told).max()
    alone = amplitudes(second, law)
    assert np.abs(alone - told).max() > 0.3 * np.abs(told).max()


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_what_friction_leaves_ends_the_command_with_2_and_is_kept(tmp_path: Path) -> None:
    """Joints of dualemps stick, and its tip creeps by more than is asked for however it stops."""
    (file := tmp_path / "edge.yaml").write_text(
        "start: {q11: -0.1, q21: -0.1}\nmoves: [{to: {q11: 0.1}, duration: 1.8 s}, {rest: 1 s}]\n"
        "limits: {speed: 0.3 m/s, force: 150 N}\n"
    )
    asked = ["optimise-motion", "dualemps", "--motion", str(file), "--residual", "1 um", "-o", str(tmp_path / "quick.csv")]
    ran = CliRunner().invoke(main, asked)
    told = [line for line in ran.stderr.splitlines() if "limits cannot be met: P moves by" in line]
    assert ran.exit_code == 2 and len(told) == 1 and "ask for --residual '" in told[0]
    assert supple.Robot("dualemps").motion(tmp_path / "quick.csv").path is not None


def test_limits_that_cannot_be_met_are_told(robot: supple.Robot, tmp_path: Path) -> None:
    heavy = supple.Robot("delta")
    with pytest.raises(SuppleError, match="however slow, its limit is"):
        heavy.optimise_motion("pick_and_place", limits={"force": "1 N*m"})
    for limits, says in (({"speed": "0 m/s"}, "above zero"), ({"jerk": "1"}, "must be one of"), ({"speed": "1 N"}, "speed")):
        with pytest.raises(SuppleError, match=says):
            robot.optimise_motion("go", limits=limits)
    with pytest.raises(SuppleError, match="residual"):
        robot.optimise_motion("go", residual="0 m")
    with pytest.raises(SuppleError, match="to which simulations of these ways are true; ask for that or more"):
        robot.optimise_motion("go", residual="1e-12 m")
    with pytest.raises(SuppleError, match="no point 'nose'"):
        robot.optimise_motion("go", residual="1 um", of="nose")
    (free := tmp_path / "free.yaml").write_text("moves: [{by: {s: 0.1}, duration: 0.6 s}]")
    with pytest.raises(SuppleError, match="limit of acceleration or force"):
        robot.optimise_motion(free)
