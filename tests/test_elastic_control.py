"""Computed torque of the flexible robot, errors of points and limits: truth is the path asked for, and arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.backends.compiler import find_compiler
from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine
from supple.motion.description import Measured
from supple.motion.laws import Sensor
from supple.simulation.elastic_control import foreseen
from supple.simulation.learning import _squares

LINE = """
space: {point: P}
moves:
  - {by: {x: 30 mm, z: -20 mm}, duration: 0.3 s}
  - {rest: 0.1 s}
controller: {computed_torque: {kp: 2500, kd: 100CONTROL}}
"""
GAUGED = ", sample: 1 ms, model: flexible, lead: 10 ms, measured: {parameters: [PARAMETER], sensors: [strain(13).y]}"
compiled = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def written(folder: Path, control: str = "", more: str = "") -> Path:
    file = folder / "line.yaml"
    file.write_text(LINE.replace("CONTROL", control) + more)
    return file


@compiled
def test_the_tip_is_led_by_the_flexible_computed_torque(tmp_path: Path) -> None:
    """The same gains: the rigid robot's computed torque leaves the tip 20 times further from its path, at least."""
    robot = supple.Robot("dualemps")
    file = written(tmp_path)
    wanted = robot.motion(str(file)).path
    assert wanted is not None
    told = []
    for control, lead in (("", 0.0), (", model: flexible, lead: 20 ms", None)):
        run = robot.simulate(written(tmp_path, control), every="1 ms")
        assert run.complete
        late = (run.time[-1] - 0.4) / 2 if lead is None else lead
        off = run["point_position"][:, 0][:, [0, 2]] - wanted(run.time - late)[0]
        peak = float(np.linalg.norm(off, axis=1).max())
        assert run.summary["performance"]["tool_error_m"]["P"]["peak"] == pytest.approx(peak, rel=1e-3, abs=1e-8)
        assert {"q11", "q21"} == set(run.summary["performance"]["tracking_error"])
        told.append(peak)
    assert told[1] < told[0] / 20 and told[1] < 2e-6


@compiled
def test_gauges_tell_of_softer_blades(tmp_path: Path) -> None:
    """Blades 5 % softer than the controller believes: 1/0.05 = 20 times is what feedforward alone could do."""
    gauges = ", model: flexible, lead: 20 ms, measured: {parameters: [E], sensors: ['strain(13).y', 'strain(23).y']}"
    robot = Machine.read("dualemps")
    softer = supple.Robot("dualemps", {"E": 0.95 * 74e9})
    told = []
    for control in ("", gauges):
        motion = foreseen(robot, robot.motion(written(tmp_path, ", sample: 0.1 ms" + control)))
        told.append(softer.simulate(motion, every="1 ms").summary["performance"]["tool_error_m"]["P"])
    for key in ("peak", "rms"):
        assert told[1][key] < told[0][key] / 40


def test_what_readings_tell_is_least_squares() -> None:
    """Sums of weighted readings times the covariance are the solution of the normal equations, with the prior as a row."""
    rng = np.random.default_rng(3)
    times = 1e-3 * np.arange(200)
    slopes = rng.standard_normal((2, 200, 3)).cumsum(axis=1)
    sensors = tuple(Sensor(f"strain(b{k}).y", noise=0.5) for k in range(3))
    S, P = _squares(slopes, sensors, times, 1e-3, Measured(("E", "rho"), sensors))
    share = np.array([0.05, -0.03])
    y = np.einsum("p,pts->ts", share, slopes) + 0.1 * rng.standard_normal((200, 3))
    found = P[-1] @ np.einsum("tps,ts->p", S.reshape(200, 2, 3)[1:], y[1:])
    sigma = np.sqrt(0.25 + (0.02 * np.abs(slopes).max(axis=(0, 1))) ** 2)
    rows = (slopes[:, 1:] / sigma).reshape(2, -1).T
    by_hand = np.linalg.lstsq(np.vstack([rows, np.eye(2) / 0.1]), np.append((y[1:] / sigma).ravel(), [0, 0]), rcond=None)[0]
    assert found == pytest.approx(by_hand, rel=1e-9) and np.abs(found - share).max() < 0.01


@compiled
def test_limits_are_held_against_what_a_motion_asks(tmp_path: Path) -> None:
    """0.2 m in 1 s with 0.25 s to accelerate: 0.2 / 0.75 m/s and 4 times that in m/s^2."""
    file = tmp_path / "move.yaml"
    file.write_text(
        "start: {q11: -0.1}\nmoves: [{to: {q11: 0.1}, profile: trapezoidal, duration: 1 s, acceleration_time: 0.25 s}]\n"
        "limits: {speed: 0.4 m/s, acceleration: {q11: 1 m/s^2}, force: 1 kN}\n"
    )
    run = supple.Robot("dualemps").simulate(file, every="5 ms", rigid=True)
    told = run.summary["performance"]["limits"]
    assert told["speed"]["q11"]["used"] == pytest.approx(0.2 / 0.75 / 0.4)
    assert told["acceleration"]["q11"]["used"] == pytest.approx(0.8 / 0.75)
    assert told["force"]["q11"]["used"] == pytest.approx(np.abs(run["tau:q11"]).max() / 1000) and set(told["speed"]) == {
        "q11",
        "q21",
    }
    assert any("q11 needs 106.7 % of its acceleration" in x for x in run.summary["notices"])


@pytest.mark.parametrize(
    ("control", "more", "says"),
    [
        (", of: P", "", "of and lead need model: flexible"),
        (", model: soft", "", "model"),
        (", model: flexible, of: Q", "", "no point 'Q'"),
        (", measured: {parameters: [E], sensors: [strain(13).y]}", "", "needs model: flexible and a sample time"),
        (GAUGED.replace("PARAMETER", "Young"), "", "no parameter 'Young'"),
        (GAUGED.replace("PARAMETER", "gravity"), "", "gravity is zero"),
        (GAUGED.replace("PARAMETER], sensors: [strain(13).y", "E], sensors: [q"), "", "reads anyway; name gauges"),
        (GAUGED.replace("PARAMETER], sensors: [strain(13).y", "E], sensors: [strain(99).y"), "", "99"),
        (", model: flexible", "torques: {q11: 3 N}\n", "drives all actuators by itself"),
        ("", "limits: {speed: 0 m/s}\n", "speed"),
        ("", "limits: {speed: {q3: 1 m/s}}\n", "no actuator 'q3'"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, control: str, more: str, says: str) -> None:
    with pytest.raises((RobotFileError, SuppleError), match=says):
        supple.Robot("dualemps").simulate(written(tmp_path, control, more))


def test_controllers_in_one_line() -> None:
    robot = Machine.read("dualemps")
    from supple.motion.controllers import controlled

    made = controlled(robot.motion("circle"), "computed_torque:kp=100,kd=20,model=flexible,of=P").controller
    assert made is not None and made.model == "flexible" and made.of == "P" and made.kp["q11"] == 100
    for text in ("pd:kp=1,model=flexible", "computed_torque:kp=1,of=P", "computed_torque:kp=1,model=soft"):
        with pytest.raises(SuppleError, match="model"):
            controlled(robot.motion("circle"), text)
