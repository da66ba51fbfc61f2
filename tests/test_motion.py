"""Motions: exact properties of laws, signals and paths, and what a file of a motion may and may not say."""

from __future__ import annotations

import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine, gallery
from supple.motion import paths, signals
from supple.motion.description import Motion
from supple.motion.profiles import PROFILES, Bounds, quintic, s_curve, straight, trapezoidal
from supple.motion.trajectory import Trajectory
from supple.robot import motions as spec
from supple.robot.description import RobotFile
from supple.robot.fields import FileRecord

positive = st.floats(0.05, 20.0)
values = st.lists(st.floats(-3, 3), min_size=2, max_size=2)


def fine(t: Trajectory, n: int = 4001) -> np.ndarray:
    return np.linspace(t.start, t.end, n)


def continuous(t: Trajectory, order: int) -> bool:
    """Whether derivatives up to an order agree on both sides of every inner knot."""
    h = 4 * np.spacing(np.maximum(t.knots[1:-1], 1e-3))
    left, right = t(t.knots[1:-1] - h), t(t.knots[1:-1])
    return all(np.allclose(a, b, rtol=1e-7, atol=1e-7) for a, b in list(zip(left, right, strict=True))[: order + 1])


# Trajectories ------------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 2), min_size=1, max_size=5), st.integers(0, 2**31))
def test_hermite_meets_its_data_and_its_rates_are_derivatives(steps: list[float], seed: int) -> None:
    """Values, rates and accelerations at the knots; central differences elsewhere."""
    times = np.concatenate([[0.0], np.cumsum(steps)])
    x, v, a = np.random.default_rng(seed).normal(size=(3, times.size, 2))
    made = Trajectory.hermite(("a", "b"), times, x, v, a)
    for found, wanted in zip(made(times), (x, v, a), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-7)
    t, h = (times[1:] + times[:-1]) / 2, np.diff(times)[:, None] * 1e-4
    for k in range(2):
        slope = (made(t + h[:, 0])[k] - made(t - h[:, 0])[k]) / (2 * h)
        size = np.abs(made(fine(made))[k]).max() / h.min() * 1e-4
        np.testing.assert_allclose(slope, made(t)[k + 1], atol=1e-5 * size + 1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.05, 0.95), st.floats(1.05, 2.9))
def test_cutting_and_refining_change_nothing(seed: int, first: float, last: float) -> None:
    x, v, a = np.random.default_rng(seed).normal(size=(3, 4, 1))
    made = Trajectory.hermite(("a",), [0, 1, 2, 3], x, v, a)
    part = made.cut(first, last)
    t = np.linspace(first, last, 50)[:-1]
    for found, wanted in zip(part(t), made(t), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-10)
    whole = made.refined(np.unique([*made.knots, first, last]))
    np.testing.assert_allclose(whole(t)[2], made(t)[2], atol=1e-10)


def test_values_are_held_outside_with_zero_rates() -> None:
    made = straight(("a",), [1], [3], trapezoidal(1.0))
    for t, x in ((-1.0, 1.0), (5.0, 3.0)):
        assert [float(w[0]) for w in made(t)] == pytest.approx([x, 0, 0], abs=1e-14)


def test_joined_and_together() -> None:
    """Jumps of the acceleration where parts meet become breaks; channels of other clocks keep their values."""
    first, second = straight(("a",), [0], [1], trapezoidal(1.0)), Trajectory.held(("a",), [1.0], 2.0)
    whole = Trajectory.joined([first, second])
    assert whole.end == 3.0 and 1.0 in whole.breaks
    sweep = signals.sweep(1, 1, 5, 2.0).renamed({"x": "b"})
    both = Trajectory.together([whole, sweep])
    t = np.linspace(0, 3, 101)
    np.testing.assert_allclose(both(t)[0], np.hstack([whole(t)[0], sweep(t)[0]]), atol=1e-12)
    assert 2.0 in both.breaks  # the sweep stops in full motion


def test_pieces_as_short_as_rounding_vanish_side_by_side() -> None:
    first = straight(("a",), [0], [1], trapezoidal(1.0))
    short = Trajectory.joined([first, Trajectory.held(("a",), [1.0], 2e-13), Trajectory.held(("a",), [1.0], 1.0)])
    both = Trajectory.together([short, Trajectory.held(("b",), [4.0], 2.0)])
    t = np.linspace(0, 2, 41)
    np.testing.assert_allclose(both(t)[0], np.column_stack([first(t)[0][:, 0], np.full(41, 4.0)]), atol=1e-12)


@pytest.mark.parametrize(
    ("knots", "coefficients", "words"),
    [
        ([0, 0], np.zeros((1, 1, 6)), "increase"),
        ([0, 1], np.full((1, 1, 6), np.nan), "finite"),
        ([0, 1], np.zeros((1, 2, 6)), "shape"),
        ([0], np.zeros((0, 1, 6)), "two knots"),
    ],
)
def test_bad_trajectories(knots: list[float], coefficients: np.ndarray, words: str) -> None:
    with pytest.raises(SuppleError, match=words):
        Trajectory(("a",), np.array(knots, dtype=float), coefficients, np.zeros(0))


# Laws from rest to rest ----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(PROFILES)), positive, positive, positive)
def test_laws_keep_their_limits_and_reach_one(name: str, speed: float, acceleration: float, jerk: float) -> None:
    """Rest at both ends, the whole way, no limit passed, one limit reached (else it could be quicker)."""
    law = PROFILES[name](bounds=Bounds(speed, acceleration, jerk))
    t = np.unique(np.concatenate([fine(law), law.knots, law.knots[1:] - 1e-12]))
    x, v, a = law(t)
    j = 6 * law.coefficients[:, :, 3]
    ends = law(np.array([0.0, law.end]))
    np.testing.assert_allclose(ends[0][:, 0], [0, 1], atol=1e-10)
    np.testing.assert_allclose(ends[1][:, 0], [0, 0], atol=1e-9 * max(1, speed))
    assert np.all(np.diff(x[:, 0]) > -1e-12)
    shares = [np.abs(v).max() / speed, np.abs(a).max() / acceleration]
    if name != "trapezoidal":
        jumps = np.abs(j).max() if name == "s_curve" else 60 / law.duration**3
        shares.append(jumps / jerk)
    assert max(shares) < 1 + 1e-6
    assert max(shares) > 1 - 1e-3
    assert continuous(law, 1 if name == "trapezoidal" else 2)


def test_the_jerk_limited_law_has_its_textbook_durations() -> None:
    """Biagiotti & Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008), section 3.4: all four cases."""
    assert s_curve(bounds=Bounds(1, 2, 8)).duration == pytest.approx(1 / 1 + 1 / 2 + 2 / 8)
    assert s_curve(bounds=Bounds(0.5, 2, 2)).duration == pytest.approx(1 / 0.5 + 2 * math.sqrt(0.5 / 2))
    assert s_curve(bounds=Bounds(9, 2, 40)).duration == pytest.approx(2 / 40 + math.sqrt((2 / 40) ** 2 + 4 / 2))
    assert s_curve(bounds=Bounds(90, 200, 4)).duration == pytest.approx(4 * (1 / (2 * 4)) ** (1 / 3))


def test_trapezoidal_corners_are_breaks() -> None:
    """Speed 1 / (T - Ta) and acceleration speed / Ta of a unit way."""
    law = trapezoidal(1.8, acceleration_time=0.3)
    assert law.breaks.tolist() == pytest.approx([0, 0.3, 1.5, 1.8])
    assert [float(w[0]) for w in law(0.9)] == pytest.approx([0.5, 1 / 1.5, 0])
    assert float(law(0.1)[2][0]) == pytest.approx(1 / 1.5 / 0.3)
    assert quintic(1.8).breaks.size == 0 and s_curve(1.8).breaks.size == 0
    with pytest.raises(SuppleError, match="half of the move's duration"):
        trapezoidal(1.0, acceleration_time=0.6)
    with pytest.raises(SuppleError, match="limits of speed and acceleration"):
        trapezoidal(bounds=Bounds(speed=1))


# Signals -------------------------------------------------------------------------------------------------------------------


def test_sines_and_sweeps_keep_their_acceleration() -> None:
    """Second derivatives of the exact formulas, within 1e-6 of the local peak A (2 pi f)^2."""
    pi = math.pi
    sine = signals.sine(2, 3.3, 2.0, 0.4, 0.1)
    t = fine(sine, 20011)
    w = 2 * pi * 3.3
    assert np.abs(sine(t)[2][:, 0] + 2 * w**2 * np.sin(w * t + 0.4)).max() < 1e-6 * 2 * w**2
    assert np.abs(sine(t)[0][:, 0] - 0.1 - 2 * np.sin(w * t + 0.4)).max() < 1e-8
    for f0, f1 in ((1, 50), (50, 1)):
        k = math.log(f1 / f0) / 3
        cases = {
            "linear": (2 * pi * (f0 * t + (f1 - f0) / 4 * t**2), 2 * pi * (f0 + (f1 - f0) / 2 * t), pi * (f1 - f0) + 0 * t),
            "log": (
                2 * pi * f0 / (1.5 * k) * (np.exp(1.5 * k * t) - 1),
                2 * pi * f0 * np.exp(1.5 * k * t),
                2 * pi * f0 * 1.5 * k * np.exp(1.5 * k * t),
            ),
        }
        for law, (p, w, wd) in cases.items():
            made = signals.sweep(2, f0, f1, 2.0, law)
            error = made(t)[2][:, 0] - 2 * (wd * np.cos(p) - w**2 * np.sin(p))
            assert np.abs(error / (2 * w**2)).max() < 1e-6


def test_a_faded_sweep_starts_and_ends_at_rest() -> None:
    made = signals.sweep(2, 1, 50, 3.0, "log", fade=0.4)
    for w in made(np.array([0.0, 3.0])):
        np.testing.assert_allclose(w, 0, atol=1e-10)
    plain, t = signals.sweep(2, 1, 50, 3.0, "log"), np.linspace(0.4, 2.6, 999)
    np.testing.assert_allclose(made(t)[0], plain(t)[0], atol=1e-7)


@given(st.floats(-5, 5).filter(lambda x: abs(x) > 1e-3), st.floats(1e-4, 0.4), st.floats(0, 0.5))
def test_an_impulse_has_its_area(area: float, width: float, at: float) -> None:
    """Area exactly, peak pi/2 area/width of a half-sine, nothing outside."""
    made = signals.impulse(area, width, at, 1.0)
    assert signals.integral(made)[0] == pytest.approx(area, rel=1e-12)
    assert made(at + width / 2)[0][0] == pytest.approx(area / width * math.pi / 2, rel=1e-7)
    assert made(np.array([at * 0.99, 1.0]))[0].tolist() == [[0], [0]]
    assert {at, at + width} <= set(made.breaks.tolist()) | {0.0, 1.0}


def test_steps_ramps_and_squares() -> None:
    assert signals.step(3, 0.5, 1.0)(np.array([0.49, 0.5, 1.0]))[0][:, 0].tolist() == [0, 3, 3]
    assert signals.step(3, 0.5, 1.0).breaks.tolist() == [0.5]
    ramp = signals.ramp(1, 2, 0.25, 0.5, 1.0)
    assert ramp(np.array([0.1, 0.375, 0.9]))[0][:, 0].tolist() == pytest.approx([1, 1.5, 2])
    assert ramp(0.3)[1][0] == pytest.approx(4)
    square = signals.square(2, -1, 0.25, 1.0, duty=0.4)
    assert signals.integral(square)[0] == pytest.approx(0.4 * 2 - 0.6)
    assert square.breaks.size == 7


# Paths ---------------------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 4), st.floats(-3, 3).filter(lambda x: abs(x) > 0.3), st.floats(0.02, 0.4))
def test_a_circle_is_round_and_steady(rate: float, turns: float, share: float) -> None:
    """The radius throughout, the speed between run-up and run-down, rest at the ends, and all its turns."""
    full = 2 * math.pi * abs(turns) / rate
    made = paths.circle(("x", "z"), [0.28, 0.9], [0.1, 0], [0, 0.1], rate, turns, 0.3, share * full)
    t = fine(made)
    x, v, a = made(t)
    assert np.abs(np.hypot(*(x - [0.28, 0.9]).T) - 0.1).max() < 1e-9
    steady = (t > share * full) & (t < made.end - share * full)
    np.testing.assert_allclose(np.hypot(*v[steady].T), 0.1 * rate, rtol=1e-6)
    np.testing.assert_allclose([v[0], v[-1], a[0], a[-1]], 0, atol=1e-12)
    angle = np.unwrap(np.arctan2(x[:, 1] - 0.9, x[:, 0] - 0.28))
    assert angle[-1] - angle[0] == pytest.approx(2 * math.pi * turns, abs=1e-6)
    assert made.duration == pytest.approx(full * (1 + share))


def test_splines_pass_their_points() -> None:
    """Through the points, smooth to the fourth derivative, at rest at both ends; samples of sin give cos and -sin."""
    times, x = [0, 1, 3, 4.0], [[0.0], [1], [-1], [2]]
    made = paths.spline(("a",), times, x)
    np.testing.assert_allclose(made(times)[0], x, atol=1e-12)
    np.testing.assert_allclose([w[[0, -1]] for w in made(times)[1:]], 0, atol=1e-12)
    assert continuous(made, 2)
    t = np.linspace(0, 2, 201)
    free = paths.interpolated(("a",), t, np.sin(3 * t))
    inner = np.linspace(0, 2, 997)
    assert np.abs(free(inner)[2][:, 0] + 9 * np.sin(3 * inner)).max() < 1e-5
    stops = paths.stops(("a",), times, x)
    np.testing.assert_allclose(stops(times)[0], x, atol=1e-12)
    np.testing.assert_allclose(stops(times)[1], 0, atol=1e-12)


# Files ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", gallery())
def test_motions_of_the_gallery_can_be_read(robot: str) -> None:
    machine = Machine.read(robot)
    for name in machine.description.robot.motions:
        motion = machine.motion(name)
        assert motion.duration > 0
        for part in (motion.path, motion.torques, motion.loads):
            assert part is None or (part.start == 0 and part.end == pytest.approx(motion.duration))


def test_the_square_of_the_paper() -> None:
    """Briot & Khalil (2014), fig. 7: 25 s, corner after corner, quintic edges of 1.8 s (peak speed 15/8 way/time)."""
    path = Machine.read("dualemps").motion("square").path
    assert path is not None and path.names == ("q11", "q21") and path.end == pytest.approx(25)
    corners = path(np.array([0, 6.25, 12.5, 18.75, 25]))[0]
    np.testing.assert_allclose(corners, [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1], [-0.1, -0.1]], atol=1e-12)
    assert path(0.9)[1].tolist() == pytest.approx([15 / 8 * 0.2 / 1.8, 0])


def motion_of(tmp_path: Path, robot: str, text: str) -> Motion:
    file = tmp_path / "motion.yaml"
    file.write_text(text, encoding="utf-8")
    return Machine.read(robot).motion(file)


def test_a_motion_of_everything(tmp_path: Path) -> None:
    """Units, leg-wide names, limits per channel, drives, controller, loads, repeat."""
    motion = motion_of(
        tmp_path,
        "five_bar",
        """
about: all of it
start: {arm1/q1: 130 deg, arm2/q1: 50 deg}
moves:
  - {by: {arm1/q1: 10 deg}, profile: s_curve, limits: {speed: {arm/q1: 30 deg/s}, acceleration: 2, jerk: 30}}
  - {rest: 500 ms}
  - {to: {arm1/q1: 130 deg}, duration: 1 s}
torques: {arm2/q1: {sine: {amplitude: 0.5 Nm, frequency: 3 Hz}}}
loads: {tool: {fx: 2 N, mz: {square: {high: 1 Nm, period: 0.1 s}}}}
drive: {arm2/q1: torque}
controller: {computed_torque: {kp: 400, kd: {arm1/q1: 40 rad/s}, limit: 5 Nm, sample: 1 ms}}
repeat: 2
""",
    )
    assert motion.drives == {"arm1/q1": "controlled", "arm2/q1": "torque"}
    assert motion.controller is not None and motion.controller.kp == {"arm1/q1": 400}
    assert motion.controller.limit == {"arm1/q1": 5} and motion.controller.kd == {"arm1/q1": 40}
    assert motion.path is not None and motion.torques is not None and motion.loads is not None
    assert motion.torques.names == ("tau arm2/q1",) and motion.loads.names == ("tool.fx", "tool.mz")
    speed = np.abs(motion.path(fine(motion.path))[1]).max()
    first = s_curve(bounds=Bounds(math.radians(30) / math.radians(10), 2 / math.radians(10), 30 / math.radians(10)))
    assert motion.duration == pytest.approx(2 * (first.duration + 1.5))
    assert speed <= math.radians(30) * (1 + 1e-9)
    assert motion.start["arm1/q1"] == pytest.approx(math.radians(130))


def test_forces_alone_leave_actuators_to_their_torque(tmp_path: Path) -> None:
    motion = motion_of(tmp_path, "dualemps", "torques: {q11: {step: {height: 5 N, at: 0.1 s}}}\nduration: 1 s\n")
    assert motion.drives == {"q11": "torque", "q21": "torque"} and motion.path is None
    motion = motion_of(tmp_path, "dualemps", "torques: {q11: 5 N}\ndrive: {q21: prescribed}\nduration: 1 s\n")
    assert motion.drives == {"q11": "torque", "q21": "prescribed"}


def test_a_table_is_read_and_interpolated(tmp_path: Path) -> None:
    """CSV of a known function, in mm and ms, next to a motion file and alone; forces are linear in between."""
    t = np.linspace(0, 1, 101)
    rows = ["# made up", "t [ms], q11 [mm] ,q21,tau q11 [kN]"]
    rows += [f"{1000 * s:.17g},{100 * math.sin(3 * s):.17g},{0.1 * s**2:.17g},{s:.17g}" for s in t]
    (tmp_path / "table.csv").write_text("\n".join(rows), encoding="utf-8")
    text = "csv: table.csv\ndrive: {q11: controlled, q21: prescribed}\ncontroller: {pd: {kp: 1e5, kd: 1e3}}\n"
    for motion in (motion_of(tmp_path, "dualemps", text),):
        assert motion.path is not None and motion.torques is not None
        s = np.linspace(0, 1, 57)
        np.testing.assert_allclose(motion.path(s)[0], np.stack([0.1 * np.sin(3 * s), 0.1 * s**2], 1), atol=1e-9)
        np.testing.assert_allclose(motion.path(s)[2], np.stack([-0.9 * np.sin(3 * s), 0.2 + 0 * s], 1), atol=1e-4)
        np.testing.assert_allclose(motion.torques(s)[0][:, 0], 1000 * s, atol=1e-9)
    rows = ["t;x;y;z", *(f"{s};{0.05 * s**3};0;-0.6" for s in t)]
    (tmp_path / "pose.csv").write_text("\n".join(rows), encoding="utf-8")
    alone = Machine.read("delta").motion(tmp_path / "pose.csv")
    assert alone.space == "platform" and alone.path is not None and alone.path.names == ("x", "y", "z")


BAD = {
    "moves: [{to: {q12: 1}, duration: 1 s}]": r"motion.yaml:1: moves.0.to.q12: .*no actuator 'q12'; did you mean 'q",
    "moves: [{too: {q11: 1}, duration: 1 s}]": r":1: moves.0.too: unknown key; did you mean 'to'",
    "moves: [{to: {q11: 1}}]": "exactly one of duration, limits",
    "moves: [{to: {q11: 1}, rest: 1 s}]": "exactly one of to, by, rest",
    "moves: [{to: {q11: 30 deg}, duration: 1 s}]": r"moves.0.to.q11: must be a length",
    "moves: [{to: {q11: 0.1}, duration: 1 m}]": "must be a time",
    "moves: [{to: {q11: 0.1}, duration: 1 s, acceleration_time: 0.1 s}]": "quintic move has no acceleration_time",
    "moves: [{to: {q11: 0.1}, limits: {speed: 1 rad/s}}]": "must be a velocity",
    "moves: [{to: {q11: 0.1}, limits: {jerk: 1}, profile: trapezoidal}]": "limits of speed and acceleration",
    "moves: [{rest: 1 s}]": "no move names an actuator",
    "circle: {centre: [0, 0], radius: 0.1, speed: 1}": "needs plane: the two actuators",
    "circle: {centre: [0], radius: 0.1, speed: 1}": "needs 2 values",
    "circle: {centre: [0, 0], radius: 0.1, speed: 1, plane: [q11, q21], run_up: 9 s}": "run_up 9 s",
    "space: platform\nmoves: [{to: {x: 1}, duration: 1}]": "has no platform",
    "space: {point: Q}\ncircle: {centre: [0, 0], radius: 0.1, speed: 1}": "no point 'Q'; it has: P",
    "space: {point: P}\nmoves: [{to: {y: 1}, duration: 1 s}]": "no axis 'y'",
    "signals: {q11: {step: {height: 0.1}}}\nduration: 1 s": "a position cannot jump",
    "signals: {q11: {sine: {amplitude: 0.1, frequency: 3 Hz}}}": "add duration",
    "signals: {q11: {sine: {amplitude: 0.1, frequency: 3 Hz, fade: 1 s}}}\nduration: 1 s": "at most half",
    "signals: {q11: {sine: {amplitude: 0.1, frequency: 3 rad/s}}}\nduration: 1 s": "must be a frequency",
    "signals: {q11: {sinus: {amplitude: 0.1}}}\nduration: 1 s": "did you mean 'sine'",
    "torques: {q11: 3 Nm}\nduration: 1 s": "torques.q11: must be a force",
    "torques: {q11: 3 N}\nmoves: [{to: {q11: 0.1}, duration: 1 s}]": "is prescribed, so it cannot have a torque",
    "loads: {P: {fy: 3 N}}\nduration: 1 s": "feels fx, fz, my only",
    "loads: {P: {fx: {impulse: {area: 3 N}}}}\nduration: 1 s": "must be an impulse",
    "loads: {P: {fx: {impulse: {area: 3 N*s, at: 2 s}}}}\nduration: 1 s": "after the motion's 1 s",
    "drive: {q11: controlled}\nduration: 1 s": "there is no controller",
    "drive: {q11: torque}\nmoves: [{to: {q11: 0.1}, duration: 1 s}]": "has a path and is driven by torque",
    "moves: [{to: {q11: 0.1}, duration: 1 s}]\nrepeat: 2": "must end where it begins",
    "moves: [{to: {q11: 0.1}, duration: 1 s}]\ncontroller: {pd: {kp: 3 Nm}}": "must be a translational stiffness",
    "moves: [{to: {q11: 0.1}, duration: 1 s}]\ncontroller: {pd: {kp: 3, ki: 1}}": "pd controller has no ki",
    "moves: [{to: {q11: 0.1}, duration: 1 s}]\ncontroller: {pd: {kp: -3}}": "must not be negative",
    "waypoints: [{time: 0, to: {q11: 0, q21: 0}}, {time: 1, to: {q11: 0.1}}]": "leaves out q21",
    "waypoints: [{time: 1, to: {q11: 0}}, {time: 1, to: {q11: 0.1}}]": "times must increase",
    "moves: [{rest: 1}]\ncsv: a.csv": "a motion has one path",
    "assembly: outwards\nduration: 1 s": "did you mean 'outward'",
    "about: nothing": "does not say how long",
    "start: {q99: 1}\nduration: 1 s": "no coordinate 'q99'",
    "csv: nowhere.csv": "nowhere.csv:1: no such file",
    "[1, 2]": "must hold keys",
    "duration: 1 s\nduration: 2 s": "given twice",
}


@pytest.mark.parametrize("text", BAD, ids=lambda t: re.sub(r"\W+", "_", t)[:60])
def test_bad_motions_are_refused_in_words(text: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=BAD[text]):
        motion_of(tmp_path, "dualemps", text)


BAD_TABLES = {
    "t,q11\n0,1\n1,nan": r"table.csv:3: column 2 \(q11\): is not a finite number",
    "t,q11\n0,1\n1,": r":3: column 2 \(q11\): is missing",
    "t,q11\n0,1\n1,abc": r":3: column 2 \(q11\): is not a finite number",
    "t,q11\n0,1\n1,2\n1,3": r":4: column 1 \(t\): times must increase; 1 s follows 1 s",
    "t,q13\n0,1\n1,2": r":1: column 2: dualemps has no channel of this name; did you mean 'q[12]1'\?",
    "q11,q21\n0,1\n1,2": "there is no column t",
    "t,q11,q11\n0,1,1\n1,2,2": "columns 2 and 3 have the same name",
    "t,q11 [deg]\n0,1\n1,2": r"column 2 \(q11\): its unit must be a length",
    "t,q11 [foo]\n0,1\n1,2": "its unit is not known",
    "t,q11\n0,1,2\n1,2": r":2: has 3 values; the header names 2 columns",
    "t,q11\n0,1": "at least two samples",
    "t,q11\n0,1\n1,2": "at least 4 points",
    "t,q11\n-1,1\n1,2": "must not be negative",
    "": "is empty",
}


@pytest.mark.parametrize("text", BAD_TABLES, ids=lambda t: re.sub(r"\W+", "_", t)[:40])
def test_bad_tables_are_refused_with_line_and_column(text: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    with pytest.raises(RobotFileError, match=BAD_TABLES[text]):
        motion_of(tmp_path, "dualemps", "csv: table.csv")


def test_unknown_motions_are_named() -> None:
    with pytest.raises(SuppleError, match="did you mean 'square'"):
        Machine.read("dualemps").motion("sqare")
    with pytest.raises(SuppleError, match="no such motion file"):
        Machine.read("dualemps").motion("nowhere.yaml")


def test_problems_of_motions_in_robot_files_have_their_line(tmp_path: Path) -> None:
    text = (Path(Machine.read("cantilever").description.tree.file)).read_text(encoding="utf-8")
    file = tmp_path / "beam.yaml"
    file.write_text(text.replace("area: -0.1 N*s", "area: -0.1 N*s, peek: 3"), encoding="utf-8")
    with pytest.raises(RobotFileError, match=r"beam.yaml:\d+: motions.hammer.loads.tip.fz.impulse.peek: .*'peak'"):
        Machine.read(file).motion("hammer")


def test_the_schema_knows_motions() -> None:
    schema = RobotFile.model_json_schema(by_alias=True)
    assert {"Motion", "Move", "Signal", "Controller"} <= schema["$defs"].keys()
    assert "motions" in schema["properties"]


DOCS = (Path(__file__).parents[1] / "docs" / "motions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL), ids=lambda t: t[2:30].split(":")[0])
def test_examples_of_the_documentation(text: str, tmp_path: Path) -> None:
    assert motion_of(tmp_path, text[2:].split(":")[0], text).duration > 0


def test_python_of_the_documentation(tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)[0], encoding="utf-8")
    found = runpy.run_path(str(script))
    assert found["q"].shape == (2,) and found["made"].stop is None


def test_every_key_is_documented() -> None:
    records = [r for r in vars(spec).values() if isinstance(r, type) and issubclass(r, FileRecord) and r is not FileRecord]
    keys = {info.alias or key for record in records for key, info in record.model_fields.items()}
    assert {k for k in keys if f"`{k}`" not in DOCS and f"{{{k}:" not in DOCS} == set()
