"""The integrators in C: their orders, a heavy top, Bricard's loop as published, and scipy on the whole tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from whole_tree import follow_tree

from supple.backends.stepping.settings import Settings
from supple.backends.stepping.state import State
from supple.machine import Machine
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.results import Simulation
from supple.simulation.groups import groups_of, switch
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

METHODS = ("radau", "gauss", "generalised_alpha", "dormand_prince")
TIGHT = {"tolerance": 1e-9, "newton": 1e-13}


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes a text into a file."""
    folder = tmp_path_factory.mktemp("files")

    def written(text: str) -> Path:
        made = folder / f"{abs(hash(text))}.yaml"
        made.write_text(text, encoding="utf-8")
        return made

    return written


def motion(name: str, duration: float, drives: dict[str, str], **parts: Any) -> Motion:
    """A Motion of the joints from its parts."""
    empty = {"start": {}, "rates": {}, "path": None, "torques": None, "loads": None, "controller": None, "assembly": None}
    return Motion(name=name, about="", space="joints", point=None, drives=drives, duration=duration, **{**empty, **parts})


# Jumps -------------------------------------------------------------------------------------------------------------------

WHEEL = """
name: wheel
space: spatial
gravity: [0, 0, 0]
bodies: {wheel: {rigid: {mass: 1, inertia: {xx: 1, yy: 1, zz: 2}}}}
links: {wheel: {parent: base, joint: revolute, axis: z, q: turn, body: wheel}}
actuators: {turn: {}}
motions: {push: {torques: {turn: {step: {height: 3 Nm, at: 0.1 s}}}, duration: 0.2 s}}
"""


@pytest.mark.parametrize("method", ["radau", "gauss"])
def test_stages_of_the_shortest_steps_are_behind_a_jump_at_their_start(method: str, file: Callable[[str], Path]) -> None:
    """Steps of 40 ps from the torque's step on: the first stage is 5 ps behind it."""
    made = simulator(Machine.read(file(WHEEL)), "push")
    stepper, start = made.stepper(), made.runs[0]
    state = stepper.start(made.scaled(Settings(method, step=4e-11)), made.drive, 0.1, start.q, start.v)
    assert stepper.begin(state, made.drive) == "fine"
    outcome, _ = stepper.run(state, made.drive, 0.1 + 1e-8, 10, 1000)
    assert outcome in ("yielded", "full") and state.counts()["steps"] == 10
    assert state["now.v"][0] == pytest.approx(3 / 2 * 4e-10, rel=1e-6, abs=0)


# A ball joint that is free: the heavy top ---------------------------------------------------------------------------

MASS, CENTRE, WEIGHT = 2.0, np.array([0.02, -0.03, 0.25]), np.array([0, 0, -2.0 * 9.81])
INERTIA = np.array([[0.02, 0.002, 0], [0.002, 0.03, -0.001], [0, -0.001, 0.012]])  # about the centre of mass
TOP = """
name: top
space: spatial
gravity: [0, 0, -9.81]
bodies:
  top: {rigid: {mass: 2, centre: [0.02, -0.03, 0.25], inertia: {xx: 0.02, yy: 0.03, zz: 0.012, xy: 0.002, yz: -0.001}}}
links:
  top: {parent: base, joint: spherical, q: s, body: top}
points:
  tip: {link: top, at: [0, 0, 0.5]}
motions:
  spin:
    start: {s.rx: 0.4, s.ry: 0.3, s.rz: 0.2}
    rates: {s.rx: 2, s.ry: -3, s.rz: 15}
    duration: 1 s
"""


def cross(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


ABOUT_PIVOT = INERTIA - MASS * cross(CENTRE) @ cross(CENTRE)


@cache
def euler(end: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Rotation matrix and body rates of the top at the end: Euler's equations and R' = R w~, by DOP853."""

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        R, w = y[:9].reshape(3, 3), y[9:]
        moment = np.cross(CENTRE, R.T @ WEIGHT) - np.cross(w, ABOUT_PIVOT @ w)
        return np.concatenate([(R @ cross(w)).ravel(), np.linalg.solve(ABOUT_PIVOT, moment)])

    begin = np.concatenate([Rotation.from_rotvec([0.4, 0.3, 0.2]).as_matrix().ravel(), [2, -3, 15]])
    y = solve_ivp(rate, (0, end), begin, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return y[:9].reshape(3, 3), y[9:]


def attitudes(found: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Rotation matrices and body rates over time."""
    return Rotation.from_rotvec(found["position"]).as_matrix(), found["velocity"]


@pytest.mark.parametrize("method", METHODS)
def test_a_heavy_top_follows_eulers_equations(method: str, file: Callable[[str], Path]) -> None:
    """Attitude and rates by Euler's equations; energy, vertical angular momentum and the quaternion's length are kept."""
    tolerance, bound = {
        "radau": (1e-10, 1e-8), "gauss": (1e-12, 1e-9), "generalised_alpha": (1e-8, 1e-6), "dormand_prince": (1e-10, 1e-10),
    }[method]  # fmt: skip
    made = simulator(Machine.read(file(TOP)), "spin")
    found = integrate(made, Settings(method, tolerance=tolerance, every=0.0))
    R, w = attitudes(found)
    assert np.abs(R[-1] - euler()[0]).max() < bound
    assert np.abs(w[-1] - euler()[1]).max() < 20 * bound
    total = found["energy_kinetic"] + found["energy_gravity"]
    assert np.ptp(total) < 20 * bound
    own = 0.5 * np.einsum("ti,ij,tj->t", w, ABOUT_PIVOT, w) - R @ CENTRE @ WEIGHT
    np.testing.assert_allclose(total - total[0], own - own[0], atol=1e-12)
    vertical = np.einsum("tj,tj->t", R[:, 2], w @ ABOUT_PIVOT)
    assert np.ptp(vertical) < 5 * bound
    stepper = made.stepper(1)
    state = stepper.start(Settings(method, tolerance=tolerance, every=0.01), made.drive, 0.0, made.runs[0].q, made.runs[0].v)
    assert stepper.begin(state, made.drive) == "fine"
    assert stepper.run(state, made.drive, 1.0, 10**6, 200)[0] == "done"
    assert abs(np.linalg.norm(state["now.q"]) - 1) < 1e-14
    turned = Rotation.from_quat(np.roll(state["now.q"], -1)).as_matrix()
    np.testing.assert_allclose(turned, R[-1], atol=1e-9)


def test_samples_between_steps_are_as_good_as_steps(file: Callable[[str], Path]) -> None:
    """Attitudes and rates of a ball joint at samples, within steps and at their ends."""
    made = simulator(Machine.read(file(TOP)), "spin")
    fine = integrate(made, Settings("dormand_prince", tolerance=1e-12, every=0.05))
    for method, step, bound in (("gauss", 4e-3, 1e-6), ("dormand_prince", 2e-3, 1e-6), ("gauss", 1 / 37, 0.02)):
        coarse = integrate(made, Settings(method, step=step, every=0.05, **TIGHT))
        (R, w), (R_fine, w_fine) = attitudes(coarse), attitudes(fine)
        assert np.abs(R - R_fine).max() < bound
        assert np.abs(w - w_fine).max() < 20 * bound
    at_ends = integrate(made, Settings("gauss", step=0.01, every=0.05, **TIGHT))
    assert np.abs(at_ends["velocity"] - fine["velocity"]).max() < 1e-6


# What errors are relative to ----------------------------------------------------------------------------------------

BED = """
name: bed
space: planar
gravity: [0, -9.81 m/s^2, 0]
bodies: {mass: {rigid: {mass: 2 kg, inertia: {zz: 0.01}}}}
links:
  mass: {parent: base, joint: fixed, stiffness: {y: 7.106e8 N/m}, body: mass}
points: {edge: {link: mass, at: [0.1, 0, 0]}}
motions: {drop: {duration: 1 ms}}
"""


@pytest.mark.parametrize(("cutoff", "share"), [(1000.0, 0.01), (0.0, 1.0)])
def test_scales_are_below_the_cutoff_from_the_start_and_at_the_reach(cutoff: float, share: float, file: Any) -> None:
    """2 kg dropped onto a spring of 3000 Hz: 1 / (1 + 3^2)^2 of the weight counts; angles by 0.1 m, the farthest point."""
    made = simulator(Machine.read(file(BED)), "drop", start="undeformed")
    stepper, run = made.stepper(1), made.runs[0]
    state = stepper.start(made.scaled(Settings(cutoff=cutoff)), made.drive, 0.0, run.q, run.v)
    assert stepper.begin(state, made.drive) == "fine"
    np.testing.assert_allclose(state["scale"], [9.81 * share, 98.1 * share], rtol=1e-4)


def test_the_reach_of_a_robot_about_its_tool(problems: Callable[[str], Problem]) -> None:
    """The tool of the 3-RRR stands in the middle of its base: its arms and motors, 0.4 m from there, count."""
    assert problems("prescribed").stepper.plant.reach == pytest.approx(0.4)


# Orders ---------------------------------------------------------------------------------------------------------------

ORDERS = {"radau": 5, "gauss": 6, "generalised_alpha": 2, "dormand_prince": 5}
RADII = [("generalised_alpha", rho) for rho in (1.0, 0.8, 0.5, 0.0)] + [
    (m, 0.8) for m in ("radau", "gauss", "dormand_prince")
]


class Problem:
    """A robot on a motion without corners (one polynomial for each drive), compiled once for all methods."""

    def __init__(self, name: str, file: Callable[[str], Path]) -> None:
        end, legs, arms = 0.1, ("leg1/q1", "leg2/q1", "leg3/q1"), ("arm1/q1", "arm2/q1")
        self.name = name
        if name == "top":
            self.made = simulator(Machine.read(file(TOP)), "spin", duration=0.5)
        elif name == "prescribed":
            poses = np.radians([[127, 127, 127], [137, 122, 131]])
            path = Trajectory.hermite(legs, [0, end], poses, np.zeros((2, 3)), np.zeros((2, 3)))
            start = dict(zip(legs, poses[0], strict=True))
            bend = motion("bend", end, dict.fromkeys(legs, "prescribed"), start=start, path=path)
            self.made = simulator(Machine.read("3rrr", {"E": "1 GPa"}), bend)
        else:
            tau = [f"tau {n}" for n in arms]
            torques = Trajectory.hermite(tau, [0, end], [[0, 0], [3, -2]], [[50, 0], [0, 10]], np.zeros((2, 2)))
            push = motion("push", end, dict.fromkeys(arms, "torque"), torques=torques)
            self.made = simulator(Machine.read("five_bar", {"elements": 1, "E": "1 GPa"}), push)
        self.stepper = self.made.stepper(1)
        if name == "top":
            R, w = euler(0.5)
            self.true = np.concatenate([R.ravel(), w])
        else:
            self.true = self.end(Settings("gauss", step=1e-5, **TIGHT))

    def end(self, settings: Settings) -> np.ndarray:
        """Positions (the top's as a matrix) and rates at the end."""
        made, run, end = self.made, self.made.runs[0], self.made.duration
        state = self.stepper.start(made.scaled(replace(settings, every=end)), made.drive, 0.0, run.q, run.v)
        assert self.stepper.begin(state, made.drive) == "fine"
        assert self.stepper.run(state, made.drive, end, 10**7, 10)[0] == "done"
        q = Rotation.from_quat(np.roll(state["now.q"], -1)).as_matrix().ravel() if self.name == "top" else state["now.q"]
        return np.concatenate([q, state["now.v"]])

    def error(self, settings: Settings) -> float:
        return float(np.abs(self.end(settings) - self.true).max())


@pytest.fixture(scope="session")
def problems(file: Callable[[str], Path]) -> Callable[[str], Problem]:
    return cache(lambda name: Problem(name, file))


STEPS = {  # small enough for the asymptotic order, large enough to stay above rounding
    "top": {
        "generalised_alpha": (1e-3, 5e-4, 2.5e-4), "gauss": (2e-2, 1e-2, 5e-3), "dormand_prince": (4e-3, 2e-3, 1e-3),
        "radau": (1e-2, 5e-3, 2.5e-3),
    },
    "prescribed": {
        "generalised_alpha": (2e-4, 1e-4, 5e-5), "gauss": (1e-3, 7e-4, 5e-4), "dormand_prince": (1e-4, 7e-5, 5e-5),
        "radau": (1e-3, 5e-4, 2.5e-4),
    },
    "torque": {
        "generalised_alpha": (5e-5, 2.5e-5, 1.25e-5), "gauss": (5e-4, 2.5e-4, 1.25e-4), "dormand_prince": (1e-4, 8e-5, 5e-5),
        "radau": (2.5e-4, 1.25e-4, 6.25e-5),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_orders(name: str, problems: Callable[[str], Problem]) -> None:
    """Errors of positions and rates fall with the power of the step that the method has, whatever its spectral radius.

    Flexible prescribed (3-RRR), flexible torque-driven (five-bar), and a free ball joint (Euler's equations)."""
    for method, rho in RADII:
        steps = STEPS[name][method]
        errors = [problems(name).error(Settings(method, step=h, rho=rho, **TIGHT)) for h in steps]
        order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
        assert abs(order - ORDERS[method]) < 0.25, (method, rho, order, errors)


@pytest.mark.parametrize("method", METHODS)
def test_errors_fall_with_the_tolerance(method: str, problems: Callable[[str], Problem]) -> None:
    """Variable steps: each hundredth of the tolerance makes the error at least ten times smaller."""
    for name in ("top", "prescribed"):
        errors = [problems(name).error(Settings(method, tolerance=t)) for t in (1e-3, 1e-5, 1e-7)]
        assert errors[1] < errors[0] / 10 and errors[2] < errors[1] / 10, (name, errors)
        assert errors[2] < 1e-4 * max(1.0, np.abs(problems(name).true).max())


# Bricard ----------------------------------------------------------------------------------------------------------------

P3 = {0.5: (0.968284, -1.224625, 0.750147), 1.0: (0.510502, -1.649168, 0.140123), 2.0: (-0.969340, -1.221247, 0.754278)}


@pytest.mark.parametrize("method, tolerance", [("gauss", 1e-12), ("dormand_prince", 1e-9)])
def test_bricard_falls_as_published(method: str, tolerance: float) -> None:
    """IFToMM benchmark A04: overconstrained, through poses in which the free coordinate becomes singular; P3 to 5e-6 m
    of an independent code's converged digits."""
    made = simulator(Machine.read("bricard"), "fall", duration=2.0)
    found = integrate(made, Settings(method, tolerance=tolerance, every=0.5))
    assert found.complete
    assert found.summary["model"] == "matrices of the tree"  # other free coordinates took over on the way
    for t, place in P3.items():
        at = int(np.abs(found.time - t).argmin())
        assert np.abs(found["point_position:P3"][at] - place).max() < 5e-6
    steps = integrate(made, Settings(method, tolerance=tolerance, every=0.0))
    assert np.ptp(steps["energy_kinetic"] + steps["energy_gravity"]) < 1e-5
    assert steps.summary["worst_closure"] < 1e-12


def test_steps_end_with_the_accelerations_of_their_end_after_free_coordinates_changed() -> None:
    """Newton's method must have converged in other coordinates, too: its last stage is the equations' answer there."""
    made = simulator(Machine.read("bricard"), "fall", duration=2.0)
    settings = made.scaled(Settings(tolerance=1e-5))
    group = groups_of(made, settings, None)[0]
    worst, changes = 0.0, 0
    while group.state.t < 2.0 - 1e-9:
        outcome, _ = group.stepper.run(group.state, made.drive, made.duration, 1, 4096)
        if outcome not in ("yielded", "done"):
            assert switch(made, group, made.drive)
            changes += 1
            continue
        then = State(group.stepper.layout, group.state.data)
        group.stepper.again(then, made.drive)
        misfit = np.abs(then["now.free_a"] - group.state["now.free_a"]).max()
        worst = max(worst, misfit / float(group.state["scale"].min()))
    assert changes > 0
    assert worst < settings.newton_tolerance


def test_errors_fall_with_the_tolerance_where_dependent_coordinates_move_farther_than_free_ones() -> None:
    """Bricard's loop near the poses in which its free coordinate becomes singular; truth: Gauss' method."""
    made = simulator(Machine.read("bricard"), "fall", duration=3.0)
    true = integrate(made, Settings("gauss", tolerance=1e-11, cutoff=0.0, every=0.05))["point_position:P3"]
    decades = 10.0 ** -np.arange(3, 9)

    def errors(largest: float) -> list[float]:
        found = [integrate(made, Settings(tolerance=t, largest=largest, every=0.05)) for t in decades]
        return [float(np.abs(x["point_position:P3"] - true).max()) for x in found]

    bounded, chosen = errors(0.05), errors(1.0)  # longest steps of 50 ms, and all steps by their errors
    assert bounded[0] < 1e-6 * np.ptp(true, axis=0).max()
    assert all(finer < coarser for coarser, finer in pairwise(bounded)), bounded
    assert chosen[0] < 1e-2 * np.ptp(true, axis=0).max()
    assert all(finer < 0.2 * coarser for coarser, finer in pairwise(chosen)), chosen


def test_accelerations_at_the_pose_in_which_the_free_coordinate_turns_back() -> None:
    """Samples 0.1 ms apart where Bricard's free coordinate does not say how the others follow (1.2479 s), with steps that
    would end on either side of it; truth: Gauss' method, whose steps are shorter."""
    made = simulator(Machine.read("bricard"), "fall", duration=1.5)
    true = integrate(made, Settings("gauss", tolerance=1e-11, cutoff=0.0, every=1e-4))["point_acceleration:P3"]
    for tolerance in 10.0 ** -np.arange(3, 8):
        found = integrate(made, Settings(tolerance=tolerance, every=1e-4))["point_acceleration:P3"]
        assert np.abs(found - true).max() < 1e-6 * np.abs(true).max(), tolerance
    for method in ("dormand_prince", "generalised_alpha"):
        found = integrate(made, Settings(method, every=1e-4))["point_acceleration:P3"]
        assert np.abs(found - true).max() < 1e-3 * np.abs(true).max(), method


@pytest.mark.parametrize("method", ["radau", "gauss"])
def test_samples_within_steps_integrate_to_the_rates(method: str) -> None:
    """Accelerations jump with every step of a blade that is struck: their integrals over steps are the rates' changes."""
    made = simulator(Machine.read("cantilever"), "hammer", duration=0.05)
    settings = made.scaled(Settings(method, tolerance=1e-3, every=-1e-3))
    group = groups_of(made, settings, None)[0]
    before = group.state.lanes("now.v")[0]
    outcome, samples = group.stepper.run(group.state, made.drive, made.duration, 10**9, 10**5)
    assert outcome == "done" and len(samples) % 5 == 0 and len(samples) >= 5 * group.state.counts()["steps"]
    at, a = samples[:, 0, 0], samples[:, 0, group.stepper.sample["free_a"]]
    stretches = (at[4::5] - at[::5]) * 5 / 4
    assert stretches.sum() == pytest.approx(0.05, abs=1e-12) and stretches.max() <= 1e-3 * (1 + 1e-9)
    gained = (stretches[:, None] * np.array([275, 100, 402, 100, 275]) / 1152).ravel() @ a
    change = (group.state.lanes("now.v")[0] - before)[group.state["chosen.free_v"][: a.shape[1]]]
    np.testing.assert_allclose(gained, change, rtol=0, atol=1e-9 * np.abs(samples[:, 0, group.stepper.sample["v"]]).max())


# Other engines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot, name, end", [("dualemps", "square", 0.2), (TOP, "spin", 0.2)], ids=["dualemps", "top"])
def test_matrices_of_the_tree_move_as_the_closed_form(
    robot: str, name: str, end: float, file: Callable[[str], Path]
) -> None:
    settings, robot_file = Settings("gauss", step=1e-3, every=end / 10, **TIGHT), file(robot) if robot == TOP else robot
    closed, dense = (
        integrate(simulator(Machine.read(robot_file), name, duration=end, dense=d), settings) for d in (False, True)
    )
    assert (closed.summary["model"], dense.summary["model"]) == ("closed form", "matrices of the tree")
    for key in ("position", "velocity", "acceleration", *(["tau"] if robot == "dualemps" else [])):
        size = max(1.0, np.abs(closed[key]).max())
        np.testing.assert_allclose(dense[key], closed[key], rtol=0, atol=1e-9 * size, err_msg=key)


def test_runs_side_by_side_equal_single_runs() -> None:
    """Five values of a parameter, and of a start coordinate, in the lanes of one run."""
    settings = Settings("generalised_alpha", step=2e-4, every=0.02, **TIGHT)
    values = [50e9, 60e9, 74e9, 80e9, 90e9]
    many = integrate(simulator(Machine.read("dualemps"), "square", duration=0.1, vary={"E": values}), settings)
    assert many.summary["runs"] == 5
    assert many.summary["rejected_steps"] == 0  # else the steps were cut, for all of them alike
    for k in (0, 2, 4):
        one = integrate(simulator(Machine.read("dualemps", {"E": values[k]}), "square", duration=0.1), settings)
        for key in ("position", "velocity", "tau", "energy_elastic", "point_position"):
            np.testing.assert_allclose(many[key][:, k], one[key], rtol=1e-9, atol=1e-9, err_msg=key)
    starts = [0.1, 0.2, 0.3]
    fall = Machine.read("bricard").motion("fall")
    many = integrate(simulator(Machine.read("bricard"), "fall", duration=0.5, vary={"q1": starts}), settings)
    for k, start in enumerate(starts):
        one = integrate(simulator(Machine.read("bricard"), replace(fall, start={"q1": start}), duration=0.5), settings)
        for key in ("position", "velocity", "acceleration", "point_position"):
            np.testing.assert_allclose(many[key][:, k], one[key], rtol=1e-9, atol=1e-9, err_msg=key)


def test_derivatives_side_by_side_are_those_one_by_one() -> None:
    """Derivatives by the library with more lanes, or one column at a time: the same motion to the tolerance of Newton."""
    robot = simulator(Machine.read("five_bar"), "circle", duration=0.2)
    settings = Settings("generalised_alpha", step=2e-4, every=0.01, tolerance=1e-3, newton=1e-10)
    at_once = integrate(robot, settings)
    robot.stepper().library.supple_widen(None, None, None)
    one_by_one = integrate(robot, settings)
    assert at_once.summary["steps"] == one_by_one.summary["steps"]
    assert at_once.summary["jacobians"] > 1
    for key in ("position", "velocity", "acceleration"):
        size = np.abs(one_by_one[key]).max()
        np.testing.assert_allclose(at_once[key], one_by_one[key], rtol=0, atol=1e-7 * size, err_msg=key)


# scipy on the whole tree ---------------------------------------------------------------------------------------------------


def test_dualemps_square_on_the_whole_tree() -> None:
    """The first half second of the paper's square: all 14 coordinates of the tree by Radau (with rtol = 1e-10, which takes
    four minutes, they agree to 3e-14)."""
    made = simulator(Machine.read("dualemps"), "square", duration=0.5)
    found = integrate(made, Settings("gauss", tolerance=1e-10, every=0.1))
    run = made.runs[0]
    true = follow_tree(made.model, run.q, run.v, found.time, path=made.path, breaks=made.drive.breaks, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(found["position"], true[:, : made.model.nv], rtol=0, atol=1e-8)


DRIVES = {
    "mixed drives": """
moves: [{by: {arm1/q1: 15 deg}, duration: 0.1 s}]
torques: {arm2/q1: {ramp: {first: 0, last: 2 Nm, begin: 0.02 s, end: 0.07 s}}}
drive: {arm2/q1: torque}
duration: 0.1 s
""",
    "wrench at the tool": """
torques: {arm1/q1: 0.5 Nm}
drive: {arm1/q1: torque, arm2/q1: torque}
loads: {tool: {fx: {ramp: {last: 5 N, end: 0.05 s}}, fy: {step: {height: -3 N, at: 0.03 s}}, mz: 0.1 Nm}}
duration: 0.1 s
""",
    "sampled PD with delay": """
moves: [{by: {arm1/q1: 10 deg, arm2/q1: -5 deg}, duration: 0.1 s}]
controller: {pd: {kp: 300 Nm, kd: 3 Nm*s, sample: 10 ms, delay: 4 ms, limit: 8 Nm}}
duration: 0.1 s
""",
}


class Sampled:
    """A sampled PD controller in a few lines: what it sees at its ticks acts after the delay."""

    def __init__(self, made: Simulator) -> None:
        control, self.made, self.waiting = made.motion.controller, made, []
        assert control is not None
        self.control, self.names = control, [made.model.names[i] for i in made.model.active]
        self.force = np.zeros(len(self.names))
        ticks = np.arange(0.0, made.duration, control.sample)
        self.times = np.unique(np.round(np.concatenate([ticks, ticks + control.delay]), 9))

    def act(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        c, model, path = self.control, self.made.model, self.made.path
        assert path is not None
        if abs(t / c.sample - round(t / c.sample)) < 1e-6:
            x, xd, _ = (dict(zip(path.names, part, strict=True)) for part in path(t))
            wanted = [c.kp[n] * (x[n] - q[model.index(n)]) + c.kd[n] * (xd[n] - v[model.index(n)]) for n in self.names]
            limit = np.array([c.limit[n] for n in self.names])
            self.waiting.append((t + c.delay, np.clip(wanted, -limit, limit)))
        while self.waiting and self.waiting[0][0] <= t + 1e-9:
            self.force = self.waiting.pop(0)[1]


@pytest.mark.parametrize("name", DRIVES)
def test_drives_and_loads_on_the_whole_tree(name: str, file: Callable[[str], Path]) -> None:
    """A soft five-bar, whose arms bend by centimetres: one crank prescribed and one driven; a wrench; a controller."""
    made = simulator(Machine.read("five_bar", {"elements": 1, "E": "1 GPa"}), file(DRIVES[name]))
    model, given, torques = made.model, made.prescribed, made.motion.torques
    found = integrate(made, Settings("gauss", tolerance=1e-9, every=0.025))
    assert found.complete
    options: dict[str, Any] = {"loads": made.motion.loads, "breaks": made.drive.breaks}
    if given and made.path is not None:
        options["path"] = made.path.only(given)
    if torques is not None:
        where = [[model.names[i] for i in model.active].index(n.removeprefix("tau ")) for n in torques.names]
        options["torque"] = lambda t, q, v: np.bincount(where, torques(t)[0], len(model.active))
    if made.motion.controller is not None:
        pd = Sampled(made)
        options |= {"torque": lambda t, q, v: pd.force, "breaks": pd.times, "at_break": pd.act}
    run = made.runs[0]
    rtol = 1e-4 if made.motion.controller is None else 1e-5  # a controller that saturates magnifies errors
    true = follow_tree(model, run.q, run.v, found.time, rtol=rtol, atol=1e-4 * rtol, **options)
    assert np.abs(found["position"][-1] - found["position"][0]).max() > 0.05
    np.testing.assert_allclose(found["position"], true[:, : model.nv], rtol=0, atol=1e-7)
    np.testing.assert_allclose(found["velocity"], true[:, model.nv :], rtol=0, atol=1e-4)
