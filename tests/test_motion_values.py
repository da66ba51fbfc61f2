"""Values of motions as files write them: units, signals, circles, gains and tables, at times worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine
from supple.motion.controllers import _gains
from supple.motion.description import Motion

ROBOT = """
space: spatial
parameters: {far: 200 mm}
links:
  base_joint: {parent: base, joint: revolute, axis: z, q: turn, body: {rigid: {mass: 1}}}
  rail: {parent: base_joint, joint: prismatic, axis: x, q: slide, body: {rigid: {mass: 1}}}
actuators: {turn: {}, slide: {}}
points: {P: {link: rail}, Q: {link: base_joint}}
home: {turn: 30 deg, slide: 50 mm}
"""


def motion(folder: Path, text: str, files: dict[str, str] | None = None) -> Motion:
    (folder / "robot.yaml").write_text(ROBOT)
    for name, content in (files or {}).items():
        (folder / name).write_text(content)
    (folder / "motion.yaml").write_text(text)
    return Machine.read(folder / "robot.yaml").motion(folder / "motion.yaml")


def value(trajectory: Any, name: str, time: float, order: int = 0) -> float:
    return float(trajectory(time)[order][trajectory.names.index(name)])


def test_moves_start_at_home_and_take_units(tmp_path: Path) -> None:
    """From 30 degrees by 60, from 50 mm to 200: half way in the middle, where the quintic's speed is 1.875 of the mean."""
    made = motion(tmp_path, "moves: [{rest: 500 ms}, {by: {turn: 60 deg}, duration: 2 s}, {to: {slide: far}, duration: 1}]")
    assert made.duration == pytest.approx(3.5) and made.path is not None
    assert value(made.path, "turn", 0.25) == pytest.approx(np.pi / 6)
    assert value(made.path, "turn", 1.5) == pytest.approx(np.pi / 3)
    assert value(made.path, "turn", 1.5, 1) == pytest.approx(1.875 * np.pi / 3 / 2)
    assert value(made.path, "turn", 3.5) == pytest.approx(np.pi / 2)
    assert value(made.path, "slide", 1.0) == pytest.approx(0.05)
    assert value(made.path, "slide", 3.0) == pytest.approx(0.125)
    assert value(made.path, "slide", 3.5) == pytest.approx(0.2)


def test_limits_bound_the_channel_they_name(tmp_path: Path) -> None:
    """150 mm at 100 mm/s and 500 mm/s^2 at most: 0.2 s of rise, 0.15/0.1 + 0.2 = 1.7 s in all; slower if so bound."""
    move = "moves: [{to: {slide: 200 mm}, profile: trapezoidal, limits: {speed: %s, acceleration: 500 mm/s^2}}]"
    assert motion(tmp_path, move % "100 mm/s").duration == pytest.approx(1.7)
    assert motion(tmp_path, move % "{slide: 0.1}").duration == pytest.approx(1.7)
    turn = "moves: [{by: {turn: 90 deg}, profile: trapezoidal, limits: {speed: 90 deg/s, acceleration: 180 deg/s^2}}]"
    assert motion(tmp_path, turn).duration == pytest.approx(1.5)


def test_start_and_rates_are_in_si(tmp_path: Path) -> None:
    made = motion(tmp_path, "{start: {turn: 90 deg, slide: 20 mm}, rates: {turn: 180 deg/s, slide: 5 cm/s}, duration: 1}")
    assert made.start == {"turn": pytest.approx(np.pi / 2), "slide": pytest.approx(0.02)}
    assert made.rates == {"turn": pytest.approx(np.pi), "slide": pytest.approx(0.05)}


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("7 N", {0.0: 7, 2.0: 7}),
        ("{constant: 2 kN}", {1.0: 2000}),
        # 1 + 3 sin(2 pi 0.25 t + 30 deg)
        ("{sine: {amplitude: 3, frequency: 0.25 Hz, phase: 30 deg, offset: 1}}", {0: 2.5, 1: 1 + 1.5 * np.sqrt(3), 4: 2.5}),
        # linear from 1 to 3 Hz over 4 s: phase 2 pi (t + t^2/4)
        ("{sweep: {amplitude: 2, first: 1 Hz, last: 3 Hz}}", {0.5: 2 * np.sin(1.125 * np.pi), 3: 2 * np.sin(10.5 * np.pi)}),
        ("{step: {height: 5, at: 1500 ms}}", {1.4: 0, 1.6: 5, 4: 5}),
        ("{ramp: {first: 1, last: 3, begin: 1, end: 2}}", {0.5: 1, 1.25: 1.5, 2: 3, 3: 3}),
        ("{ramp: {last: 3, end: 2}}", {0: 0, 1: 1.5}),
        # a half-sine of 2 s and 8 N s has the peak 8 pi / (2 * 2)
        ("{impulse: {area: 8, duration: 2, at: 1}}", {1: 0, 2: 2 * np.pi, 1.5: 2 * np.pi * np.sin(np.pi / 4), 3.5: 0}),
        ("{impulse: {peak: 6, duration: 2, at: 1}}", {2: 6, 2.5: 6 * np.sin(np.pi / 4)}),
        ("{square: {high: 4, low: -1, period: 2, duty: 25 percent, at: 1}}", {0.5: 0, 1.4: 4, 1.6: -1, 2.9: -1, 3.1: 4}),
    ],
)  # fmt: skip
def test_signals_have_their_values(text: str, points: dict[float, float], tmp_path: Path) -> None:
    made = motion(tmp_path, f"{{torques: {{slide: {text}}}, loads: {{P: {{fz: {text}}}}}, duration: 4 s}}")
    for name, table in (("tau slide", made.torques), ("P.fz", made.loads)):
        assert table is not None
        for time, wanted in points.items():
            assert value(table, name, time) == pytest.approx(wanted, abs=2e-6), (name, time)


def test_a_logarithmic_sweep_is_exponential_in_its_frequency(tmp_path: Path) -> None:
    """f = 2^(t/2) Hz: the phase at 2 s is 2 pi (2 - 1) / (ln 2 / 2)."""
    made = motion(tmp_path, "{torques: {slide: {sweep: {amplitude: 1, first: 1, last: 4, law: log}}}, duration: 4}")
    assert made.torques is not None
    assert value(made.torques, "tau slide", 2.0) == pytest.approx(np.sin(2 * np.pi / (np.log(2) / 2)), abs=1e-6)


def test_signals_of_a_position_are_added_to_where_it_starts(tmp_path: Path) -> None:
    made = motion(tmp_path, "{signals: {turn: {sine: {amplitude: 10 deg, frequency: 1 Hz}}}, duration: 1 s}")
    assert made.path is not None
    assert value(made.path, "turn", 0.25) == pytest.approx(np.pi / 6 + np.pi / 18, abs=1e-8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{torques: {slide: 3 N m}, duration: 1}", "must be a force"),
        ("{torques: {turn: 3 N}, duration: 1}", "must be a torque"),
        ("{loads: {P: {mz: 3 N}}, duration: 1}", "must be a torque"),
        ("{loads: {P: {fx: 3 N m}}, duration: 1}", "must be a force"),
        ("{torques: {slide: {impulse: {area: 3 N}}}, duration: 1}", "must be an impulse"),
        ("{torques: {turn: {impulse: {area: 3 N s}}}, duration: 1}", "must be an angular impulse"),
        ("{moves: [{by: {slide: 3 deg}, duration: 1}]}", "must be a length"),
        ("{moves: [{by: {turn: 3 mm}, duration: 1}]}", "must be an angle"),
        ("{rates: {slide: 3 rad/s}, duration: 1}", "must be a velocity"),
        ("{moves: [{by: {slide: 1}, limits: {speed: 3 rad/s}}]}", "must be a velocity"),
        ("{signals: {turn: {sine: {amplitude: 1, frequency: 3 rad/s}}}, duration: 1}", "must be a frequency"),
    ],
)
def test_units_that_do_not_fit_their_joint_are_refused(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError) as caught:
        motion(tmp_path, text)
    assert words in str(caught.value)


# Circles --------------------------------------------------------------------------------------------------------------


def test_a_circle_in_joint_space(tmp_path: Path) -> None:
    """Of 0.05 about (0.1, 0.2) in two channels: it starts at the angle 90 deg from the first towards the second."""
    text = "circle: {plane: [turn, slide], centre: [0.1, 0.2], radius: 0.05, period: 2 s, start: 90 deg, run_up: 1 s}"
    made = motion(tmp_path, text)
    assert made.path is not None
    assert value(made.path, "turn", 0.0) == pytest.approx(0.1) and value(made.path, "slide", 0.0) == pytest.approx(0.25)
    speeds = [np.hypot(*made.path(t)[1]) for t in np.linspace(1.0, made.duration - 1.0, 9)]
    assert speeds == pytest.approx(np.full(9, np.pi * 0.05), rel=1e-6)  # 2 pi / 2 s
    assert value(made.path, "turn", 0.4, 1) < 0  # towards the second channel


@pytest.mark.parametrize(
    ("axis", "first", "second"),
    [("z", (1, 0, 0), (0, 1, 0)), ("y", (1, 0, 0), (0, 0, -1)), ("x", (0, 1, 0), (0, 0, 1)), ("-z", (1, 0, 0), (0, -1, 0))],
)
def test_a_circle_of_a_point_runs_about_its_axis(axis: str, first: Any, second: Any, tmp_path: Path) -> None:
    """From the first direction towards the second, which make a right-handed system with the axis."""
    text = f"{{space: {{point: P}}, circle: {{centre: [1, 2, 3], radius: 50 mm, speed: 100 mm/s, axis: {axis}}}}}"
    made = motion(tmp_path, text)
    assert made.path is not None
    ends = made.path(0.0)[0]
    assert ends == pytest.approx(np.array([1, 2, 3]) + 0.05 * np.array(first), abs=1e-9)
    early = made.path(0.02 * made.duration)[0] - ends
    assert early @ np.array(second) > 0 and early @ np.array(second) > 0.9 * np.linalg.norm(early)
    middle = made.path(0.5 * made.duration)
    assert np.linalg.norm(middle[1]) == pytest.approx(0.1, rel=1e-6)
    assert middle[0] == pytest.approx(np.array([1, 2, 3]) - 0.05 * np.array(first), abs=1e-6)


def test_waypoints_are_passed_at_their_times(tmp_path: Path) -> None:
    text = "{waypoints: [{time: 1 s, to: {slide: 100 mm}}, {time: 1500 ms, to: {slide: 30 cm}}], through: %s}"
    for through in ("spline", "stops"):
        made = motion(tmp_path, text % through)
        assert made.path is not None
        wanted = {0.0: 0.05, 1.0: 0.1, 1.5: 0.3}
        assert {t: pytest.approx(value(made.path, "slide", t)) for t in wanted} == wanted


# Control --------------------------------------------------------------------------------------------------------------


def test_gains_of_a_controller_are_in_si_and_by_joint(tmp_path: Path) -> None:
    """N/mm and N m/rad become N/m and N m; sample and delay seconds; limits forces and torques."""
    text = """
moves: [{by: {turn: 1, slide: 0.1}, duration: 1}]
controller:
  pid:
    kp: {slide: 2 kN/m, turn: 30 N m/rad}
    kd: {slide: 40 N s/m, turn: 5 N m s/rad}
    ki: {slide: 60 N/m/s, turn: 7 N m/rad/s}
    limit: {slide: 0.8 kN, turn: 90 N m}
    sample: 2 ms
    delay: 4 ms
"""
    control = motion(tmp_path, text).controller
    assert control is not None and control.law == "pid"
    assert control.kp == {"slide": 2000.0, "turn": 30.0}
    assert control.kd == {"slide": 40.0, "turn": 5.0}
    assert control.ki == {"slide": 60.0, "turn": 7.0}
    assert control.limit == {"slide": 800.0, "turn": 90.0}
    assert (control.sample, control.delay) == (0.002, 0.004)


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ("pd: {kp: {slide: 2 N m/rad}}", "must be a translational stiffness"),
        ("pd: {kp: {turn: 2 N/m}}", "must be a rotational stiffness"),
        ("pd: {kp: {turn: 2}, kd: {turn: 2 N s/m}}", "must be a rotational damping"),
        ("computed_torque: {kp: 5 rad/s}", "must be an angular acceleration"),
        ("computed_torque: {kp: 5, kd: 5 Hz}", "write rad/s"),
    ],
)
def test_gains_in_units_of_another_joint_are_refused(gains: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError) as caught:
        motion(tmp_path, f"{{moves: [{{by: {{turn: 1}}, duration: 1}}], controller: {{{gains}}}}}")
    assert words in str(caught.value)


def test_gains_of_the_command_line_take_units() -> None:
    found = _gains("", "kp=2 kN/m,kd=40,ki=3,limit=0.5 kN,sample=2 ms,delay=4 ms")
    assert found == {"kp": 2000.0, "kd": 40.0, "ki": 3.0, "limit": 500.0, "sample": 0.002, "delay": 0.004}
    with pytest.raises(SuppleError, match="kp is given twice"):
        _gains("", "kp=1,kp=2")


# Tables ---------------------------------------------------------------------------------------------------------------


def test_columns_of_a_table_are_in_their_units(tmp_path: Path) -> None:
    """Milliseconds, degrees, millimetres, kilonewtons and newton metres, in any order; the path passes its samples."""
    rows = "slide [mm],t [ms],turn [deg],tau slide [kN],P.mz [N m]\n"
    rows += "".join(f"{10 * k},{250 * k},{9 * k},{k},{-2 * k}\n" for k in range(5))
    drive = "{csv: table.csv, drive: {turn: prescribed, slide: torque}}"
    with pytest.raises(RobotFileError, match="slide has a path and is driven by torque"):
        motion(tmp_path, drive, {"table.csv": rows})
    made = motion(tmp_path, "csv: table.csv", {"table.csv": rows.replace("tau slide [kN]", "Q.fx [kN]")})
    assert made.duration == pytest.approx(1.0) and made.path is not None and made.loads is not None
    assert value(made.path, "slide", 0.5) == pytest.approx(0.02)
    assert value(made.path, "turn", 0.75) == pytest.approx(27 * np.pi / 180)
    assert value(made.loads, "Q.fx", 0.25) == pytest.approx(1000)
    assert value(made.loads, "Q.fx", 0.375) == pytest.approx(1500)  # straight between samples
    assert value(made.loads, "P.mz", 1.0) == pytest.approx(-8)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("t,slide [deg]", "must be a length"),
        ("t [mm],slide", "must be a time"),
        ("t,P.fx [N m]", "must be a force"),
        ("t,tau turn [N]", "must be a torque"),
        ("t,slide [furlong]", "its unit is not known"),
    ],
)
def test_columns_in_wrong_units_are_refused(header: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError) as caught:
        motion(tmp_path, "csv: t.csv", {"t.csv": header + "\n0,0\n1,1\n2,2\n3,3\n"})
    assert words in str(caught.value) and "t.csv:1: column" in str(caught.value)


def test_a_motion_is_repeated_whole(tmp_path: Path) -> None:
    made = motion(tmp_path, "{moves: [{by: {slide: 1}, duration: 1}, {by: {slide: -1}, duration: 1}], repeat: 3}")
    assert made.duration == pytest.approx(6) and made.path is not None
    assert [value(made.path, "slide", t) for t in (0, 1, 2, 3, 4, 5, 6)] == pytest.approx([0.05, 1.05] * 3 + [0.05])
