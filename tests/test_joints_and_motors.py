"""Motors, friction and springs of joints as the robot file gives them, against sums done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import build

from supple.analyses.modes import modes
from supple.errors import RobotFileError
from supple.model.model import Model

# A wheel of 0.5 kg m^2 about z, driven through a gear, and a carriage of 3 kg along x, driven by a spindle
WHEEL = """
space: planar
links:
  wheel: {parent: base, joint: revolute, axis: z, q: turn, body: {rigid: {mass: 2, inertia: {zz: 0.5}}}%s}
actuators:
  turn: {%s}
"""
CARRIAGE = """
space: planar
links:
  carriage: {parent: base, joint: prismatic, axis: x, q: slide, body: {rigid: {mass: 3}}%s}
actuators:
  slide: {%s}
"""


def acceleration(model: Model, force: float, speed: float = 0.0) -> float:
    return float(model.forward(np.zeros(1), np.array([speed]), np.array([force])).a[0])


def test_a_rotor_counts_with_the_square_of_its_gear() -> None:
    """0.002 kg m^2 behind a gear of 10 is 0.2 kg m^2 at the wheel: 2.1 N m / (0.5 + 0.2) kg m^2 = 3 rad/s^2."""
    model = build(WHEEL % ("", "inertia: 0.002, gear: 10"))
    assert acceleration(model, 2.1) == pytest.approx(3, rel=1e-12)
    assert float(model.call("energy", q=np.zeros(1), v=np.array([4.0]))["motors"]) == pytest.approx(1.6)  # 0.2 * 4^2 / 2


def test_a_rotor_behind_a_spindle_is_a_mass() -> None:
    """1e-4 kg m^2 on a spindle of 2*pi/0.01 rad/m: 1e-4 * 394784.176 = 39.4784176 kg."""
    model = build(CARRIAGE % ("", "inertia: 1e-4 kg m^2, gear: 2*pi/(10 mm)"))
    assert acceleration(model, 42.4784176) == pytest.approx(1, rel=1e-8)


def test_viscous_friction_of_a_joint_adds_to_its_motors() -> None:
    """(0.3 + 0.4) N m s * 2 rad/s = 1.4 N m against 2.4 N m: 1 N m / 0.5 kg m^2; 2.8 W are lost."""
    model = build(WHEEL % (", friction: {viscous: 0.3}", "viscous: 0.4"))
    assert acceleration(model, 2.4, 2.0) == pytest.approx(2, rel=1e-12)
    lost = model.call("energy", q=np.zeros(1), v=np.array([2.0]))["dissipation"]
    assert float(lost) == pytest.approx(2.8, rel=1e-12)


def test_coulomb_friction_of_a_joint_adds_to_its_motors() -> None:
    """(0.5 + 1.5) N against the motion, less at speeds near the width: 4/sqrt(4^2 + 3^2) = 0.8 of it at 4 m/s, width 3."""
    model = build(CARRIAGE % (", friction: {coulomb: 0.5, width: 5}", "coulomb: 1.5, width: 3"))
    assert acceleration(model, 0.0, 4.0) == pytest.approx(-2 * 0.8 / 3, rel=1e-12)  # the motor's width goes for both
    own = build(CARRIAGE % (", friction: {coulomb: 0.5, width: 3}", "viscous: 0"))
    assert acceleration(own, 0.0, -4.0) == pytest.approx(0.5 * 0.8 / 3, rel=1e-12)
    usual = build(CARRIAGE % ("", "coulomb: 1.5"))  # width 0.001
    assert acceleration(usual, 0.0, 0.001) == pytest.approx(-1.5 / np.sqrt(2) / 3, rel=1e-12)


# A mass of 2 kg on a spring of 800 N/m along x and a bar of 0.5 kg m^2 on one of 50 N m/rad: 20 and 10 rad/s
SPRINGS = """
space: planar
%s
links:
  mass: {parent: base, joint: fixed, stiffness: {x: 800}%s, body: {rigid: {mass: 2}}}
  bar: {parent: base, joint: fixed, stiffness: {rz: 50}%s, body: {rigid: {mass: 1, inertia: {zz: 0.5}}}}
"""


def rates_and_ratios(default: str, own: str = "", other: str = "") -> tuple[Any, Any]:
    found = modes(build(SPRINGS % (default, own, other)))
    return 2 * np.pi * found.frequencies_hz, found.damping_ratios


def test_springs_have_the_robots_damping_unless_they_have_their_own() -> None:
    """beta K makes the ratio beta omega / 2 = 0.01, 0.02; damping d of an oscillator makes d / (2 sqrt(k m))."""
    rates, ratios = rates_and_ratios("damping: {rayleigh: {alpha: 3, beta: 2 ms}}")
    assert rates == pytest.approx([10, 20], rel=1e-9)
    assert ratios == pytest.approx([0.01, 0.02], rel=1e-9)  # alpha M: a spring has no mass
    _, ratios = rates_and_ratios("damping: {rayleigh: {beta: 2 ms}}", ", damping: {x: 4}")
    assert ratios == pytest.approx([0.01, 4 / (2 * np.sqrt(800 * 2))], rel=1e-9)
    _, ratios = rates_and_ratios("", ", damping: {x: 4}", ", damping: {rz: 0.5}")
    assert ratios == pytest.approx([0.5 / (2 * np.sqrt(50 * 0.5)), 0.05], rel=1e-9)
    assert rates_and_ratios("")[1] == pytest.approx([0, 0], abs=1e-12)


def test_structural_damping_of_springs_is_half_the_loss_factor() -> None:
    """s^2 = -omega^2 (1 + j eta): the ratio is sin(atan(eta)/2) = 0.00999925..., for eta = 0.02."""
    _, ratios = rates_and_ratios("damping: {structural: 0.02}")
    assert ratios == pytest.approx(np.full(2, np.sin(np.arctan(0.02) / 2)), rel=1e-9)
    assert rates_and_ratios("damping: {modal: 0.02}")[1] == pytest.approx([0, 0], abs=1e-12)  # no mass, no modes


def test_closing_springs_have_the_robots_damping_too() -> None:
    """A carriage of 2 kg tied to the base by a closing spring of 800 N/m: beta omega / 2 = 0.02."""
    text = """
    space: planar
    damping: {rayleigh: {beta: 2 ms}}
    links:
      mass: {parent: base, joint: prismatic, axis: x, q: u, body: {rigid: {mass: 2}}}
    closures:
      tie: {joint: fixed, from: {link: base}, to: {link: mass}, stiffness: {x: 800}}
    """
    found = modes(build(text))
    assert 2 * np.pi * found.frequencies_hz == pytest.approx([20], rel=1e-9)
    assert found.damping_ratios == pytest.approx([0.02], rel=1e-9)


def test_a_matrix_of_stiffness_has_its_axes_in_order() -> None:
    """3 kg on K = [[5, 2], [2, 8]] N/m along x and y: eigenvalues 4 and 9, so omega^2 = 4/3 and 3."""
    text = """
    space: planar
    links:
      mass:
        parent: base
        joint: fixed
        stiffness: {axes: [x, y], matrix: [[5, 2], [2, 8]]}
        damping: {matrix: [[0, 0], [0, 3]]}
        body: {rigid: {mass: 3}}
    """
    model = build(text)
    assert [c.name for c in model.mechanism.coordinates] == ["mass.spring.x", "mass.spring.y"]
    assert [c.unit for c in model.mechanism.coordinates] == ["m", "m"]
    assert (2 * np.pi * modes(model).frequencies_hz) ** 2 == pytest.approx([4 / 3, 3], rel=1e-9)
    lost = model.call("energy", q=np.zeros(2), v=np.array([1.0, 2.0]))
    assert float(lost["dissipation"]) == pytest.approx(12)  # 3 * 2^2


@pytest.mark.parametrize("axis", ["x", "y", "z", "rx", "ry", "rz"])
def test_a_spring_yields_along_its_own_axis(axis: str) -> None:
    """A unit force or moment moves or turns the far side by 1/k along or about this axis, and no other."""
    text = f"""
    space: spatial
    bodies: {{block: {{rigid: {{mass: 1, inertia: {{xx: 1, yy: 2, zz: 3}}}}}}}}
    links:
      mass: {{parent: base, joint: fixed, stiffness: {{{axis}: 40}}, body: block}}
    points:
      P: {{link: mass}}
    """
    model = build(text)
    unit = "m" if len(axis) == 1 else "rad"
    assert [(c.name, c.unit) for c in model.mechanism.coordinates] == [(f"mass.spring.{axis}", unit)]
    motion = model.call("points", q=np.zeros(1), v=np.ones(1))
    moved = np.concatenate([motion["velocity"].ravel(), motion["spin"].ravel()])
    assert moved == pytest.approx(np.eye(6)[["x", "y", "z", "rx", "ry", "rz"].index(axis)])
    assert float(model.call("forces", q=np.array([0.5]))["f"][0]) == pytest.approx(20)  # 40 * 0.5


def test_a_stiffness_that_is_not_symmetric_is_refused() -> None:
    text = """
    space: planar
    links:
      mass: {parent: base, joint: fixed, stiffness: {axes: [x, y], matrix: [[5, 2], [3, 8]]}, body: {rigid: {mass: 3}}}
    """
    with pytest.raises(RobotFileError, match="symmetric"):
        build(text)


# Units of the wrong kind of joint -------------------------------------------------------------------------------------

MATRIX = """
space: spatial
links:
  mass:
    parent: base
    joint: fixed
    stiffness: {axes: [x, rz], matrix: [[%s, %s], [%s, %s]]}
    body: {rigid: {mass: 1, inertia: {zz: 1}}}
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (WHEEL % ("", "viscous: 3 N s/m"), "actuators.turn.viscous: must be a rotational damping"),
        (CARRIAGE % ("", "viscous: 3 N m s"), "actuators.slide.viscous: must be a translational damping"),
        (WHEEL % ("", "coulomb: 3 N"), "actuators.turn.coulomb: must be a torque"),
        (CARRIAGE % ("", "coulomb: 3 Nm, width: 2 rad/s"), "actuators.slide.coulomb: must be a force"),
        (CARRIAGE % ("", "coulomb: 3 N, width: 2 rad/s"), "actuators.slide.width: must be a velocity"),
        (WHEEL % (", friction: {viscous: 3 N s/m}", ""), "links.wheel.friction.viscous: must be a rotational damping"),
        (WHEEL % ("", "inertia: 3 kg"), "actuators.turn.inertia: must make an inertia with gear^2"),
        (CARRIAGE % ("", "inertia: 3 kg m^2"), "actuators.slide.inertia: must make a mass with gear^2"),
        (CARRIAGE % ("", "inertia: 3 kg m^2, gear: 2 m"), "actuators.slide.inertia: must make a mass with gear^2"),
        (MATRIX % ("5 N", "0", "0", "1 N m/rad"), "stiffness.matrix.0.0: must be a translational stiffness"),
        (MATRIX % ("5 N/m", "1 N/m", "1 N", "9"), "stiffness.matrix.0.1: must be a force"),
        (MATRIX % ("5 N/m", "1 N", "1 N", "9 N/m"), "stiffness.matrix.1.1: must be a rotational stiffness"),
    ],
)
def test_units_of_another_kind_of_joint_are_refused(text: str, says: str) -> None:
    with pytest.raises(RobotFileError) as caught:
        build(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        WHEEL % (", friction: {viscous: 3 N m s, width: 1 deg/s}", "inertia: 1 g m^2, gear: 100, coulomb: 2 Nm"),
        CARRIAGE % ("", "inertia: 1e-4 kg m^2, gear: 628 rad/m, viscous: 2 kN s/m"),
        CARRIAGE % ("", "inertia: 1e-4 kg m^2, gear: 628"),  # in rad/m, as the numbers of a file are in SI
        CARRIAGE % ("", "inertia: 2 kg, coulomb: 3 N, width: 1 mm/s"),
        MATRIX % ("5 N/mm", "1 N", "1 N/rad", "9 N m"),
    ],
)
def test_units_of_the_joint_are_taken(text: str) -> None:
    assert build(text).nv
