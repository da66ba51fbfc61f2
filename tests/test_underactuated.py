"""Robots with actuators and joints that nothing holds: every verb takes them, and they move as textbooks say.

Truth: the equations of the two-link arm and of a pendulum on a moving pivot, written by hand and integrated by scipy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from closed_states import closed_state
from fmi_library import Fmu
from robots import build, frequencies
from scipy.integrate import solve_ivp

import supple
from supple import models
from supple.backends.compiler import find_compiler
from supple.backends.interpreter import interpret
from supple.backends.targets.fmu import write_fmu
from supple.errors import SuppleError
from supple.fmu_parts import fmu_parts
from supple.formulations import registry
from supple.formulations.tree.undriven import outside_loops, undriven
from supple.generator import generate
from supple.machine import Machine

compiled = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
G, M1, M2, L1, C1, C2, I1, I2 = 9.81, 1.0, 0.7, 1.0, 0.45, 0.4, 0.08, 0.05
ARM = """
name: arm
space: planar
gravity: [0, -9.81, 0]
links:
  upper: {parent: base, joint: revolute, q: q1, body: {rigid: {mass: 1, centre: [0.45, 0, 0], inertia: {zz: 0.08}}}}
  lower: {parent: upper, at: [1, 0, 0], joint: revolute, q: q2,
          body: {rigid: {mass: 0.7, centre: [0.4, 0, 0], inertia: {zz: 0.05}}}}
actuators: {DRIVEN: {}}
points: {tip: {link: lower, at: [0.8, 0, 0]}}
home: {q1: -60 deg, q2: 20 deg}
motions:
  push: {torques: {DRIVEN: 0.5 Nm}, duration: 1 s}
  move: {start: {DRIVEN: 20 deg}, moves: [{to: {DRIVEN: 60 deg}, duration: 0.5 s}]}
"""
ARMS = {"acrobot": ARM.replace("DRIVEN", "q2"), "pendubot": ARM.replace("DRIVEN", "q1")}
BALL = """
space: spatial
gravity: [0, 0, -9.81]
links:
  arm: {parent: base, joint: revolute, axis: z, q: q1, body: {rigid: {mass: 1, centre: [0.3, 0, 0], inertia: {zz: 0.1}}}}
  bob: {parent: arm, at: [0.6, 0, 0], joint: spherical, q: s,
        body: {rigid: {mass: 0.5, centre: [0, 0, -0.4], inertia: {xx: 0.01, yy: 0.01, zz: 0.004}}}}
actuators: {q1: {inertia: 0.02}}
points: {bob: {link: bob, at: [0, 0, -0.4]}}
motions: {turn: {moves: [{to: {q1: 0.8}, duration: 0.4 s}]}}
"""
ONE_MOTOR = """
space: planar
gravity: [0, -9.81, 0]
bodies: {rod: {rigid: {mass: 0.4, centre: [0.15, 0, 0], inertia: {zz: 0.004}}}}
links:
  a1: {parent: base, at: [-0.1, 0, 0], joint: revolute, q: p1, body: rod}
  a2: {parent: a1, at: [0.3, 0, 0], joint: revolute, q: p2, body: rod}
  b1: {parent: base, at: [0.1, 0, 0], joint: revolute, q: p3, body: rod}
  b2: {parent: b1, at: [0.3, 0, 0], joint: revolute, q: p4, body: rod}
actuators: {p1: {}}
closures: {tool: {joint: revolute, from: {link: a2, at: [0.3, 0, 0]}, to: {link: b2, at: [0.3, 0, 0]}}}
points: {tool: {link: a2, at: [0.3, 0, 0]}}
assembly: {out: {p1: 2.2, p2: -1.2, p3: 0.9, p4: 1.2}}
motions: {move: {start: {p1: 2.2}, moves: [{to: {p1: 2.0}, duration: 0.2 s}]}}
"""


def textbook(q: Any, v: Any, tau: Any) -> np.ndarray:
    """Accelerations of the two-link arm (Spong, Hutchinson & Vidyasagar, chapter 7)."""
    s, c = np.sin(q[1]), np.cos(q[1])
    d12 = I2 + M2 * (C2**2 + L1 * C2 * c)
    D = np.array([[I1 + M1 * C1**2 + I2 + M2 * (L1**2 + C2**2 + 2 * L1 * C2 * c), d12], [d12, I2 + M2 * C2**2]])
    h = M2 * L1 * C2 * s
    low = M2 * C2 * G * np.cos(q[0] + q[1])
    bias = np.array(
        [-h * v[1] ** 2 - 2 * h * v[0] * v[1] + (M1 * C1 + M2 * L1) * G * np.cos(q[0]) + low, h * v[0] ** 2 + low]
    )
    return np.asarray(np.linalg.solve(D, np.asarray(tau) - bias))


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("formulation", [n for n in registry.names() if n != "platform_eliminated"])
def test_forward_models_answer_with_the_joint_that_nothing_drives(name: str, formulation: str) -> None:
    f = models.builder("forward", formulation)(build(ARMS[name]).mechanism)
    q, v = np.array([-0.7, 0.4]), np.array([0.9, -1.3])
    tau = [0.0, 0.6] if name == "acrobot" else [0.6, 0.0]
    given = {"q": q, "v": v, "tau": np.array([0.6]), "g": np.array([0.0, -G, 0.0])}
    found = interpret(f)(**{k: given[k] for k in f.inputs})
    made = [found["a_passive"][0], found["a_active"][0]]
    assert (made if name == "acrobot" else made[::-1]) == pytest.approx(textbook(q, v, tau), rel=1e-10)


@compiled
@pytest.mark.parametrize("name", ARMS)
def test_arms_swing_as_the_textbook_says(name: str) -> None:
    robot = supple.Robot(text(name))
    tau = (0.0, 0.5) if name == "acrobot" else (0.5, 0.0)
    found = robot.simulate("push", duration=0.6, tol=1e-9)
    start = [np.radians(-60), np.radians(20), 0.0, 0.0]
    true = solve_ivp(lambda t, x: [*x[2:], *textbook(x[:2], x[2:], tau)], (0, 0.6), start, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found["position"][-1], true.y[:2, -1], atol=1e-7)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, robot in ARMS.items():
        (tmp_path / f"{name}.yaml").write_text(robot)
    (tmp_path / "ball.yaml").write_text(BALL)
    (tmp_path / "one_motor.yaml").write_text(ONE_MOTOR)
    monkeypatch.chdir(tmp_path)


def text(name: str) -> str:
    return f"{name}.yaml"


@compiled
def test_an_fmu_of_an_arm_has_both_joints_as_states(tmp_path: Path) -> None:
    fmu = Fmu(write_fmu(fmu_parts(build(ARMS["acrobot"]), passes=("fold", "signs")), tmp_path))
    fmu.move({"q_q1": -0.7, "q_q2": 0.4, "v_q1": 0.9, "v_q2": -1.3})
    fmu.set({"tau_q2": 0.6})
    found = fmu.get({"der(v_q1)": 0, "der(v_q2)": 0})
    wanted = textbook([-0.7, 0.4], [0.9, -1.3], [0.0, 0.6])
    assert [found["der(v_q1)"], found["der(v_q2)"]] == pytest.approx(wanted, rel=1e-9)


def test_exported_passive_accelerations_have_names_and_units() -> None:
    package = generate(Machine.read("acrobot.yaml"), "forward").package
    found = {x.name: x for x in package.outputs}
    assert found["a_passive"].labels == ("q1",) and found["a_passive"].units == ("rad/s^2",)


# The bob on the five-bar ---------------------------------------------------------------------------------------------


@compiled
def test_the_bob_is_a_pendulum_on_a_moving_pivot() -> None:
    """The tool's acceleration is known from its path; I th'' = -m c ((g + ay) cos th - ax sin th) - friction."""
    robot = supple.Robot("five_bar_bob")
    motion = robot.motion("carry", None)
    found = robot.simulate(motion, rigid=True, duration=0.7, tol=1e-9)
    names = list(found.axes["coordinate"])
    turned = sum(found["position"][:, names.index(n)] for n in ("arm1/q1", "arm1/q2", "swing"))
    spun = sum(found["velocity"][:, names.index(n)] for n in ("arm1/q1", "arm1/q2", "swing"))
    tool = [names.index(n) for n in ("arm1/q1", "arm1/q2")]
    m, c, inertia = 1.0, 0.25, 0.0005 + 0.25**2

    def rate(t: float, x: np.ndarray) -> list[float]:
        assert motion.path is not None
        ax, ay = motion.path(min(t, motion.path.end))[2][:2]
        arms = np.interp(t, found.time, found["velocity"][:, tool].sum(axis=1))
        pull = m * c * ((G + ay) * np.cos(x[0]) - ax * np.sin(x[0])) + 0.002 * (x[1] - arms)
        return [x[1], -pull / inertia]

    true = solve_ivp(rate, (0, 0.7), [turned[0], spun[0]], rtol=1e-9, atol=1e-11, max_step=1e-3)
    assert turned[-1] == pytest.approx(true.y[0, -1], abs=2e-7)


@compiled
@pytest.mark.parametrize("rigid", [False, True])
def test_a_loose_joint_starts_where_the_motion_says(rigid: bool, tmp_path: Path) -> None:
    file = tmp_path / "kicked.yaml"
    start = "start: {arm1/q1: 130 deg, arm2/q1: 50 deg, swing: -60 deg}\n"
    file.write_text(start + "moves: [{to: {arm1/q1: 128 deg}, duration: 0.1 s}]\n")
    found = supple.Robot("five_bar_bob").simulate(file, rigid=rigid, duration=0.002)
    assert found["position:swing"][0] == pytest.approx(np.radians(-60), abs=1e-12)


@compiled
@pytest.mark.parametrize("formulation", ["lagrange", "erls"])
def test_the_bob_swings_alike_in_all_formulations(formulation: str) -> None:
    robot = supple.Robot("five_bar_bob")
    found = robot.simulate("carry", duration=0.2, rigid=True, formulation=formulation, tol=1e-8)
    true = robot.simulate("carry", duration=0.2, rigid=True, tol=1e-8)
    np.testing.assert_allclose(found["position"], true["position"], atol=1e-6)
    np.testing.assert_allclose(found["tau"], true["tau"], atol=1e-4)


def test_computed_torque_says_what_it_cannot_know() -> None:
    with pytest.raises(SuppleError, match="actuators do not determine swing"):
        supple.Robot("five_bar_bob").simulate("carry", controller="computed_torque:kp=1e4,kd=200", duration=0.01)


# Others --------------------------------------------------------------------------------------------------------------


def test_a_bob_on_a_ball_swings_both_ways() -> None:
    """sqrt(m g c / (I + m c^2)), actuator held."""
    wanted = np.sqrt(0.5 * G * 0.4 / (0.01 + 0.5 * 0.16)) / (2 * np.pi)
    assert frequencies(BALL)[-2:] == pytest.approx([wanted, wanted], rel=1e-9)


@compiled
def test_verbs_take_a_ball_beside_a_motor_and_a_five_bar_with_one() -> None:
    for name, motion in (("ball", "turn"), ("one_motor", "move")):
        robot = supple.Robot(text(name))
        found = robot.simulate(motion, duration=0.1)
        assert found.complete and float(found.summary["energy_balance_error"]) < 1e-6
        assert robot.inverse(motion, duration=0.05).complete
        assert robot.check().robot


def test_stiffness_of_an_arm_with_one_loose_joint() -> None:
    """Weight alone holds the acrobot's shoulder: m g c / r^2 for a force at the radius r from it, nothing across."""
    robot = supple.Robot(text("acrobot"))
    found = robot.stiffness()
    assert np.isnan(found.stiffness).all()
    assert np.linalg.matrix_rank(found.compliance, tol=1e-9 * np.abs(found.compliance).max()) == 1


def test_loose_loops_are_told_from_spinning_rods() -> None:
    assert undriven(build(ONE_MOTOR).mechanism) == ["p2", "p3", "p4"]
    bob = Machine.read("five_bar_bob").mechanism()
    assert undriven(bob) == outside_loops(bob) == ["swing"]
    for name in ("delta", "gough_stewart", "hexa", "five_bar", "3rrr"):
        assert undriven(Machine.read(name).mechanism()) == []


def test_forward_of_a_five_bar_with_one_motor() -> None:
    model = build(ONE_MOTOR)
    state = closed_state(model, 3)
    for formulation in ("newton_euler", "lagrange", "lagrange_dalembert"):
        f = models.builder("forward", formulation)(model.mechanism)
        given = {"q": state.q, "v": state.v, "tau": np.array([0.3]), "g": model.gravity}
        found = interpret(f)(**{k: given[k] for k in f.inputs})
        true = model.forward(state.q, state.v, np.array([0.3])).a
        assert found["a_passive"] == pytest.approx(true[1:], rel=1e-8)
