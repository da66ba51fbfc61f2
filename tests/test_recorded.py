"""What a simulation records, against motions that are known in closed form: samples between steps, energies, work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
METHODS = sorted({Settings().method, "generalised_alpha", "gauss", "dormand_prince"})


def simulated(folder: Path, text: str, settings: Settings | None = None, **options: Any) -> Any:
    path = folder / "robot.yaml"
    path.write_text(text)
    return integrate(simulator(Machine.read(path), "push", **options), settings or Settings())


# 2 kg on 800 N/m, pushed by 16 N from rest: x = 0.02 (1 - cos 20 t), and at any time x'' = 8 - 400 x
SPRING = """
space: planar
links:
  mass: {parent: base, joint: fixed, stiffness: {x: 800}, body: {rigid: {mass: 2}}}
points: {P: {link: mass}}
motions:
  push: {loads: {P: {fx: 16}}, duration: 1 s}
"""


@pytest.mark.parametrize("method", METHODS)
def test_accelerations_between_steps_obey_the_equation_of_motion(method: str, tmp_path: Path) -> None:
    """Eleven samples to a step of 10 ms: forces balance in every one, to 1e-3 of the peak. A straight line between the
    steps would be off by h^2/8 of the second derivative, 5e-3 of the peak."""
    found = simulated(tmp_path, SPRING, Settings(method, step=0.01, every=0.0009))
    x, a = found["position:mass.spring.x"], found["acceleration:mass.spring.x"]
    assert len(found.time) == 1113
    assert np.abs(a - (8 - 400 * x)).max() < 1e-3 * 8
    assert np.abs(found["point_acceleration"][:, 0, 0] - a).max() < 1e-12


@pytest.mark.parametrize("method", ["gauss", "dormand_prince"])
def test_samples_between_steps_are_those_of_the_solution(method: str, tmp_path: Path) -> None:
    found = simulated(tmp_path, SPRING, Settings(method, step=0.01, every=0.0009))
    t = found.time
    assert found["position:mass.spring.x"] == pytest.approx(0.02 * (1 - np.cos(20 * t)), abs=1e-6 * 0.04)
    assert found["velocity:mass.spring.x"] == pytest.approx(0.4 * np.sin(20 * t), abs=2e-6 * 0.4)
    assert found["acceleration:mass.spring.x"] == pytest.approx(8 * np.cos(20 * t), abs=1e-5 * 8)
    assert found["energy_kinetic"] == pytest.approx(0.16 * np.sin(20 * t) ** 2, abs=1e-5 * 0.16)
    assert found["energy_elastic"] == pytest.approx(0.16 * (1 - np.cos(20 * t)) ** 2, abs=1e-5 * 0.64)


# Work -----------------------------------------------------------------------------------------------------------------

# A wheel of 0.5 kg m^2 about an axis; P is 0.2 m off it
WHEEL = """
space: spatial
links:
  wheel: {parent: base, joint: revolute, axis: %s, q: turn%s, body: {rigid: {mass: 1, inertia: {xx: 0.5, yy: 0.5, zz: 0.5}}}}
points: {P: {link: wheel, at: %s}}
motions:
  push: {%s, duration: 1 s}
"""
OFF = {"x": "[0, 0.2, 0]", "y": "[0, 0, 0.2]", "z": "[0.2, 0, 0]"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_the_work_of_a_moment_is_the_energy_it_gives(axis: str, method: str, tmp_path: Path) -> None:
    """3 N m for 1 s: 6 rad/s^2, 3 rad, and 3 N m * 3 rad = 9 J = 0.5 * 6^2 / 2, so that the balance is even."""
    text = WHEEL % (axis, "", OFF[axis], f"loads: {{P: {{m{axis}: 3}}}}")
    found = simulated(tmp_path, text, Settings(method, tolerance=1e-6))
    assert found["position:turn"][-1] == pytest.approx(3, rel=1e-4)
    assert found["energy_kinetic"][-1] == pytest.approx(9, rel=1e-4)
    assert found.summary["energy_balance_error"] < 1e-5


@pytest.mark.parametrize(
    ("loads", "friction", "wanted"),
    [
        ("loads: {P: {mz: 3, mx: 7}}, rates: {turn: 2}", "", (5.0, 16.0)),  # 2 + 3 rad, 0.5 * 8^2 / 2; mx turns nothing
        ("loads: {P: {mz: -3}}, rates: {turn: 4}", "", (1.0, 1.0)),  # 4 - 3 rad, 0.5 * 2^2 / 2: work is taken out
        # viscous 0.5 N m s: 6 rad/s (1 - exp(-t)) and 6 (t - 1 + exp(-t)) rad
        ("loads: {P: {mz: 3}}", ", friction: {viscous: 0.5}", (6 * np.exp(-1), 9 * (1 - np.exp(-1)) ** 2)),
    ],
)
def test_work_and_losses_of_moments(loads: str, friction: str, wanted: tuple[float, float], tmp_path: Path) -> None:
    found = simulated(tmp_path, WHEEL % ("z", friction, OFF["z"], loads), Settings(tolerance=1e-6))
    assert found["position:turn"][-1] == pytest.approx(wanted[0], rel=1e-4)
    assert found["energy_kinetic"][-1] == pytest.approx(wanted[1], rel=1e-4)
    assert found.summary["energy_balance_error"] < 1e-4
    spins = found["velocity:turn"]
    assert found["power_lost"] == pytest.approx((0.5 if friction else 0.0) * spins**2, abs=1e-9)


def test_the_work_of_forces_at_a_point_that_goes_round(tmp_path: Path) -> None:
    """1 N along y at 0.2 m, 90 degrees round: the work is 1 N times the rise of P, whatever the path."""
    found = simulated(tmp_path, WHEEL % ("z", "", OFF["z"], "loads: {P: {fy: 1}}"), Settings(tolerance=1e-6))
    rise = found["point_position:P"][:, 1]
    assert found["energy_kinetic"] == pytest.approx(rise, abs=1e-4 * rise.max())
    assert found.summary["energy_balance_error"] < 1e-4


# Actuators ------------------------------------------------------------------------------------------------------------

SLIDER = """
space: planar
gravity: [0, -9.81 m/s^2, 0]
links:
  slider: {parent: base, rotate: {z: 90 deg}, joint: prismatic, axis: x, q: lift, body: {rigid: {mass: 3}}%s}
actuators: {lift: {inertia: 1, viscous: 2}}
points: {P: {link: slider, at: [0.1, 0, 0]}}
motions:
  push: {%s, duration: 1 s}
"""


def test_forces_of_a_prescribed_motion(tmp_path: Path) -> None:
    """100 mm up in 1 s by the quintic 10 s^3 - 15 s^4 + 6 s^5: (3 + 1) kg a + 2 N s/m v + 3 kg g, and 3 kg g 0.1 m more."""
    found = simulated(tmp_path, SLIDER % ("", "moves: [{by: {lift: 100 mm}, duration: 1000 ms}]"), Settings(every=0.05))
    s = found.time
    x = 0.1 * (10 * s**3 - 15 * s**4 + 6 * s**5)
    v = 0.1 * (30 * s**2 - 60 * s**3 + 30 * s**4)
    a = 0.1 * (60 * s - 180 * s**2 + 120 * s**3)
    assert found["position:lift"] == pytest.approx(x, abs=1e-12)
    assert found["velocity:lift"] == pytest.approx(v, abs=1e-12)
    assert found["acceleration:lift"] == pytest.approx(a, abs=1e-12)
    assert found["tau:lift"] == pytest.approx(4 * a + 2 * v + 3 * 9.81, abs=1e-9)
    assert found["point_position:P"][:, 1] == pytest.approx(x + 0.1, abs=1e-12)
    assert np.ptp(found["energy_gravity"]) == pytest.approx(3 * 9.81 * 0.1, rel=1e-9)
    assert found["power_lost"] == pytest.approx(2 * v**2, abs=1e-12)
    units = {name: signal.unit for name, signal in found.signals.items()}
    assert units["position"] == ("m",) and units["velocity"] == ("m/s",) and units["acceleration"] == ("m/s^2",)
    assert units["tau"] == ("N",) and units["energy_gravity"] == "J" and units["power_lost"] == "W"
    assert units["point_velocity"] == "m/s" and units["point_acceleration"] == "m/s^2"


def test_a_torque_that_is_given_is_the_one_recorded(tmp_path: Path) -> None:
    """49.43 N against 29.43 N of weight on (3 + 1) kg, without friction 5 m/s^2; 2 N s/m slow it: 10 (1 - exp(-t/2)) m/s."""
    found = simulated(tmp_path, SLIDER % ("", "torques: {lift: 49.43 N}"), Settings(tolerance=1e-7))
    assert found["tau:lift"] == pytest.approx(49.43)
    assert found["velocity:lift"] == pytest.approx(10 * (1 - np.exp(-found.time / 2)), abs=1e-4)
    assert found.summary["energy_balance_error"] < 1e-5


def test_deformation_is_what_the_unbent_robot_would_not_show(tmp_path: Path) -> None:
    """3 kg on 300 N/m under their weight sag by 3 * 9.81 / 300 = 0.0981 m while the slider stands still."""
    text = SLIDER % (", stiffness: {x: 300}", "torques: {lift: 29.43 N}")
    found = simulated(tmp_path, text, Settings(every=0.1))
    assert found["point_deformation:P"][0] == pytest.approx([0, -0.0981, 0], abs=1e-9)
    assert found["tau:lift"][0] == pytest.approx(29.43)


# 1 kg on rails, from which 1 kg hangs by 1 m; nothing drives the pendulum
CART = """
space: planar
gravity: [0, -10, 0]
links:
  cart: {parent: base, joint: prismatic, axis: x, q: s, body: {rigid: {mass: 1}}}
  bob: {parent: cart, joint: revolute, q: p, body: {rigid: {mass: 1, centre: [0, -1, 0]}}}
actuators: {s: {}}
motions:
  push: {%s}
"""


def test_a_joint_that_nothing_drives_swings(tmp_path: Path) -> None:
    """Pushed by 3 N at rest: 2 s'' + p'' = 3 and s'' + p'' = 0 (hanging), so s'' = 3 and p'' = -3."""
    found = simulated(tmp_path, CART % "torques: {s: 3}, duration: 0.2", Settings(tolerance=1e-7))
    assert found["acceleration"][0] == pytest.approx([3, -3])
    assert found.summary["energy_balance_error"] < 1e-5


def test_a_joint_that_nothing_drives_swings_beside_a_prescribed_one(tmp_path: Path) -> None:
    """p'' = -10 sin p - s'' cos p along the path, whose force is 2 s'' + p'' cos p - p'^2 sin p."""
    found = simulated(tmp_path, CART % "moves: [{by: {s: 0.5}, duration: 1}]", Settings(tolerance=1e-7, every=0.05))
    p, v, a, s = (found[x] for x in ("position:p", "velocity:p", "acceleration:p", "acceleration:s"))
    assert np.abs(p).max() > 0.1
    assert a == pytest.approx(-10 * np.sin(p) - s * np.cos(p), abs=1e-3)
    assert found["tau:s"] == pytest.approx(2 * s + a * np.cos(p) - v**2 * np.sin(p), abs=1e-9)
