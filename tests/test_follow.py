"""Joint motion from paths of the platform or a point: forward kinematics must bring the path back."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.errors import PoseError, SuppleError
from supple.machine import Machine, gallery
from supple.model.closing import close, placed
from supple.model.follow import Followed, follow
from supple.model.model import Model
from supple.model.posture import posture
from supple.model.turning import body_rates, rotation_vector
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory

PATHS = [
    (r, n)
    for r in gallery()
    for n, m in Machine.read(r).description.robot.motions.items()
    if m.circle or m.space != "joints"
]


@lru_cache
def rigid(robot: str) -> Model:
    return Machine.read(robot).model(rigid=True)


@lru_cache
def followed(robot: str, name: str) -> tuple[Motion, Followed]:
    motion = Machine.read(robot).motion(name)
    return motion, follow(rigid(robot), motion)


def run(tmp_path: Path, robot: str, text: str) -> tuple[Motion, Followed]:
    file = tmp_path / "motion.yaml"
    file.write_text(text, encoding="utf-8")
    motion = Machine.read(robot).motion(file)
    return motion, follow(rigid(robot), motion)


def forward(model: Model, made: Followed, times: np.ndarray) -> list[np.ndarray]:
    """Postures along a joint trajectory by forward kinematics: actuators placed, all other coordinates closed."""
    q = np.zeros(model.mechanism.nq)
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            q[frame.q.start] = 1.0
    q = placed(model, q, {model.index(n): x for n, x in made.posture.items()})
    assert made.trajectory is not None
    free = [i for i in range(model.nv) if i not in set(model.active.tolist())]
    found = []
    for t in times:
        x = made.trajectory(t)[0]
        wanted = dict(zip((model.index(n) for n in made.trajectory.names), x.tolist(), strict=True))
        closed = close(model, placed(model, q, wanted), free)
        assert closed is not None
        q = closed
        found.append(q)
    return found


def channels(model: Model, motion: Motion, q: np.ndarray) -> np.ndarray:
    """What the path's channels are in a posture."""
    assert motion.path is not None
    if motion.space == "point":
        index = list(model.mechanism.points).index(str(motion.point))
        position = model.call("points", q=q)["position"][index]
        return np.array([position["xyz".index(n)] for n in motion.path.names])
    made = {}
    for frame in model.mechanism.frames:
        part = rotation_vector(q[frame.q]) if frame.motion == "spherical" else q[frame.q]
        made |= dict(zip(model.names[frame.v], part, strict=True))
    return np.array([made[n] for n in motion.path.names])


@pytest.mark.parametrize(("robot", "name"), PATHS, ids=lambda x: str(x))
def test_forward_kinematics_bring_the_path_back(robot: str, name: str) -> None:
    """Between the knots too, within 1e-9 m or rad, by closing the loops with the actuators held."""
    model, (motion, made) = rigid(robot), followed(robot, name)
    assert made.stop is None and made.trajectory is not None and motion.path is not None
    assert made.trajectory.end == pytest.approx(motion.duration)
    times = np.linspace(0, motion.duration, 61) + 0.0
    for t, q in zip(times, forward(model, made, times), strict=True):
        np.testing.assert_allclose(channels(model, motion, q), motion.path(t)[0], atol=1e-9)


def jerk_jumps(path: Trajectory) -> np.ndarray:
    """Times at which the third derivative of a path jumps: differences across them err by the jump times the step."""
    h, c = np.diff(path.knots)[:, None], 6 * path.coefficients[:, :, 3]
    end = c + 24 * path.coefficients[:, :, 4] * h + 60 * path.coefficients[:, :, 5] * h**2
    off = np.abs(c[1:] - end[:-1]).max(axis=1) > 1e-2 * np.abs(c).max()
    return path.knots[1:-1][off]


@pytest.mark.parametrize(("robot", "name"), PATHS, ids=lambda x: str(x))
def test_rates_are_derivatives(robot: str, name: str) -> None:
    """Fourth-order differences across knots, where rates and accelerations were found by other equations than values."""
    motion, made = followed(robot, name)
    assert made.trajectory is not None and motion.path is not None
    h = 1e-3 * min(1.0, motion.duration)
    knots, jumps = made.trajectory.knots, jerk_jumps(motion.path)
    t = np.array([x for x in knots[1:-1] if np.abs(jumps - x).min(initial=1.0) > 3 * h and 3 * h < x < knots[-1] - 3 * h])
    assert t.size > 10
    for k in range(2):
        w = [made.trajectory(t + s * h)[k] for s in (-2, -1, 1, 2)]
        slope = (w[0] - 8 * w[1] + 8 * w[2] - w[3]) / (12 * h)
        scale = np.abs(made.trajectory(np.linspace(0, knots[-1], 2001))[k + 1]).max()
        assert np.abs(slope - made.trajectory(t)[k + 1]).max() < 2e-5 * scale


def test_the_circle_of_the_paper_is_reached_in_the_home_assembly() -> None:
    """Briot & Khalil (2014), section 6.3: radius 0.1 m about [0.28, 0.90] m, 0.2 m/s; leg 1 is a straight rigid arm, so
    q11 = z - sqrt(l^2 - x^2) with l = 0.0675 + 0.4505 + 0.082 + 0.065 + 0.14 m in the home assembly."""
    motion, made = followed("dualemps", "circle")
    assert motion.path is not None and made.trajectory is not None
    t = np.linspace(0, motion.duration, 301)
    x, z = motion.path(t)[0].T
    length = 0.0675 + 0.4505 + 0.082 + 0.065 + 0.14
    np.testing.assert_allclose(made.trajectory(t)[0][:, 0], z - np.sqrt(length**2 - x**2), atol=1e-9)
    steady = (t > 0.5) & (t < motion.duration - 0.5)
    np.testing.assert_allclose(np.hypot(*motion.path(t[steady])[1].T), 0.2, rtol=1e-6)


def test_legs_of_the_gough_stewart_are_as_long_as_their_ends_are_apart() -> None:
    """|platform + R joint - base| of every leg, from the tables of the robot file (Long, Khalil & Martinet 2014)."""
    motion, made = followed("gough_stewart", "quintic")
    assert motion.path is not None and made.trajectory is not None
    dx, dy = [0, 0.2, 1.2, 0.9, -0.3, -0.8], [0, 0, 0.6, 1.2, 1.1, 0.7]
    px, py = [-0.5, 0.5, 1, 0.5, -0.5, -1], [-1, -1, 0, 1, 1, 0]
    for t in np.linspace(0, 3, 31):
        pose = motion.path(t)[0]
        R = Rotation.from_rotvec(pose[3:]).as_matrix()
        for k in range(6):
            end = pose[:3] + R @ [px[k] * 0.5, py[k] * 0.5 * math.sqrt(3) / 2, 0]
            length = np.linalg.norm(end - [0.1 + dx[k], -0.2 + dy[k], 0])
            assert made.trajectory(t)[0][k] == pytest.approx(length, abs=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-4, 0.2, 0.4, 1.5, 3.0])
def test_body_rates_of_a_rotation_vector(size: float) -> None:
    """R^T R' by differences of scipy's rotation matrices, and the difference of w itself."""
    r0 = size * np.array([0.6, -0.64, 0.48])
    rd0, rdd = np.array([0.3, 0.5, -0.7]), np.array([-1.0, 0.4, 0.2])

    def at(t: float) -> tuple[np.ndarray, np.ndarray]:
        return r0 + t * rd0 + t * t / 2 * rdd, rd0 + t * rdd

    def matrix(t: float) -> np.ndarray:
        return Rotation.from_rotvec(at(t)[0]).as_matrix()

    h = 1e-3
    slope = (matrix(-2 * h) - 8 * matrix(-h) + 8 * matrix(h) - matrix(2 * h)) / (12 * h)
    W = matrix(0).T @ slope
    w, wd = body_rates(r0, rd0, rdd)
    np.testing.assert_allclose(w, [W[2, 1], W[0, 2], W[1, 0]], atol=1e-9)
    rates = [body_rates(*at(s * h), rdd)[0] for s in (-2, -1, 1, 2)]
    np.testing.assert_allclose(wd, (rates[0] - 8 * rates[1] + 8 * rates[2] - rates[3]) / (12 * h), atol=1e-8)


# Where a path ends ---------------------------------------------------------------------------------------------------------


def test_a_point_that_leaves_the_workspace_stops_at_its_boundary(tmp_path: Path) -> None:
    """Five-bar on its axis of symmetry: both arms are stretched at y = sqrt(0.7^2 - 0.1^2)."""
    motion, made = run(
        tmp_path, "five_bar", "space: {point: tool}\nstart: {x: 0, y: 0.5}\nmoves: [{to: {y: 0.9}, duration: 2 s}]\n"
    )
    assert made.stop is not None and made.trajectory is not None and motion.path is not None
    assert motion.path(made.trajectory.end)[0][1] == pytest.approx(math.sqrt(0.48), abs=1e-5)
    assert "point 'tool' cannot reach" in made.stop and "last pose reached: x = 0 m, y = 0.692" in made.stop
    t = made.trajectory.end * np.linspace(0, 0.99, 23)
    for s, q in zip(t, forward(rigid("five_bar"), made, t), strict=True):
        np.testing.assert_allclose(channels(rigid("five_bar"), motion, q), motion.path(s)[0], atol=1e-9)


def test_a_platform_that_leaves_the_workspace_names_the_loop(tmp_path: Path) -> None:
    """3-RRR along x: legs 2 and 3 are stretched where their wrists are 0.5 m from their motors."""
    motion, made = run(tmp_path, "3rrr", "space: platform\nmoves: [{to: {x: 0.3}, duration: 2 s}]\n")
    assert made.stop is not None and made.trajectory is not None and motion.path is not None
    x = motion.path(made.trajectory.end)[0][0]
    angle = 2 * math.pi / 3
    apart = np.hypot(x + (0.1 - 0.4) * math.cos(angle), (0.1 - 0.4) * math.sin(angle))
    assert apart == pytest.approx(0.5, abs=1e-5)
    assert "the platform cannot reach x = 0.277" in made.stop
    assert "the loop 'leg2/wrist' cannot close" in made.stop or "the loop 'leg3/wrist' cannot close" in made.stop


def test_a_singular_pose_stops_the_path(tmp_path: Path) -> None:
    """3-RRR turned on the spot: locked actuators hold it no longer where its three forearms meet in one point (or pass
    its centre): the moment arm of a forearm about the platform's centre is zero, found here from plane geometry."""
    motion, made = run(tmp_path, "3rrr", "space: platform\nmoves: [{to: {r: 120 deg}, duration: 2 s}]\n")
    assert made.stop is not None and "singular" in made.stop and made.trajectory is not None and motion.path is not None
    r = float(motion.path(made.trajectory.end)[0][0])
    q1 = float(made.trajectory(made.trajectory.end)[0][0])
    wrist = 0.1 * np.array([math.cos(r), math.sin(r)])
    elbow = np.array([0.4, 0.0]) + 0.25 * np.array([math.cos(q1), math.sin(q1)])
    forearm = wrist - elbow
    assert np.linalg.norm(forearm) == pytest.approx(0.25, abs=1e-9)
    assert wrist[0] * forearm[1] - wrist[1] * forearm[0] == pytest.approx(0, abs=1e-5)


def test_joints_that_tear_the_loop_apart_stop(tmp_path: Path) -> None:
    """dualemps with slider 2 still: both legs of 0.6 m, 0.4 m apart, are in line when q11 - q21 = sqrt(1.2^2 - 0.4^2)."""
    motion, made = run(tmp_path, "dualemps", "moves: [{to: {q11: 2}, duration: 2 s, profile: trapezoidal}]\n")
    assert made.stop is not None and made.trajectory is not None and motion.path is not None
    assert made.trajectory(made.trajectory.end)[0][0] == pytest.approx(math.sqrt(1.2**2 - 0.4**2), abs=1e-5)
    assert "the loop 'knee' cannot close" in made.stop


def test_a_start_out_of_reach_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PoseError, match="cannot reach the start of its path"):
        run(tmp_path, "five_bar", "space: {point: tool}\nstart: {x: 0, y: 5}\nmoves: [{to: {y: 4}, duration: 2 s}]\n")
    with pytest.raises(SuppleError, match="rx, ry, rz together"):
        run(tmp_path, "delta", "space: platform\nmoves: [{to: {rx: 0.1}, duration: 2 s}]\n")


# Joints --------------------------------------------------------------------------------------------------------------------


def test_joint_paths_are_kept_and_completed(tmp_path: Path) -> None:
    """Actuators without a path are held where the posture has them; torques leave theirs out."""
    motion, made = run(tmp_path, "dualemps", "start: {q21: 0.05}\nmoves: [{to: {q11: 0.1}, duration: 1 s}]\n")
    assert made.trajectory is not None and made.trajectory.names == ("q11", "q21") and motion.path is not None
    np.testing.assert_allclose(made.trajectory(0.5)[0], [0.05, 0.05], atol=1e-12)
    text = "moves: [{to: {q11: 0.1}, duration: 1 s}]\ntorques: {q21: 5 N}\n"
    _, made = run(tmp_path, "dualemps", text)
    assert made.trajectory is not None and made.trajectory.names == ("q11",)
    _, made = run(tmp_path, "dualemps", "duration: 1 s\n")
    assert made.trajectory is None and made.posture.keys() == set(rigid("dualemps").names)
    _, made = run(tmp_path, "gough_stewart", "duration: 1 s\ncontroller: {pd: {kp: 1e6, kd: 1e4}}\n")
    assert made.trajectory is not None and made.trajectory(0.5)[0][0] == pytest.approx(made.posture["leg1/q3"])


def test_trapezoidal_paths_keep_their_breaks(tmp_path: Path) -> None:
    """The joints' accelerations jump where the platform's do, and nowhere else."""
    text = "space: platform\nmoves: [{to: {x: 0.05}, duration: 1 s, profile: trapezoidal, acceleration_time: 0.25 s}]\n"
    motion, made = run(tmp_path, "3rrr", text)
    assert made.trajectory is not None and motion.path is not None
    assert made.trajectory.breaks.tolist() == pytest.approx([0, 0.25, 0.75, 1])
    t = made.trajectory.knots[1:-1]
    jump = np.abs(made.trajectory(t)[2] - made.trajectory(t - 1e-9)[2]).max(axis=1)
    at_break = np.isin(np.round(t, 9), [0.25, 0.75])
    assert jump[~at_break].max() < 1e-4 < 0.1 < jump[at_break].min()
    for s, q in zip(times := np.linspace(0, 1, 41), forward(rigid("3rrr"), made, times), strict=True):
        np.testing.assert_allclose(channels(rigid("3rrr"), motion, q), motion.path(s)[0], atol=1e-9)


def test_moves_of_a_point_begin_at_home(tmp_path: Path) -> None:
    """A motion that does not say where it starts: from the tool's place at home, along x, while y stays."""
    file = tmp_path / "across.yaml"
    file.write_text("space: {point: tool}\nmoves: [{by: {x: 20 mm}, duration: 0.1 s}]\n")
    model = rigid("five_bar")
    x, y, _ = model.call("points", q=posture(model))["position"][0]
    path = Machine.read("five_bar").motion(file).path
    assert path is not None
    assert path(0.0)[0] == pytest.approx([x, y], abs=1e-12)
    assert path(0.1)[0] == pytest.approx([x + 0.02, y], abs=1e-12)
