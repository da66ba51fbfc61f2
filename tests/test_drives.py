"""Drives that give way: deflections under loads beside PL^3 / 3EI + PL^2 / k, in every verb that tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from supple.api import Robot

ARM = """
name: arm
space: planar
parameters: {k: 2e4 Nm, L: 0.6 m, h: 20 mm}
materials: {steel: {E: 200 GPa, rho: 7800 kg/m^3, nu: 0.3}}
sections: {bar: {rectangle: {y: h, z: 30 mm}}}
bodies: {arm: {beam: {length: L, section: bar, material: steel, theory: euler_bernoulli}}}
links: {arm: {parent: base, joint: revolute, q: q1, body: arm}}
actuators: {q1: {stiffness: k}}
points: {middle: {link: arm, on: middle}, tip: {link: arm, on: end}}
motions:
  hit: {loads: {tip: {fy: {impulse: {area: 0.1 N*s, duration: 1 ms}}}}, duration: 0.01 s, drive: {q1: prescribed}}
  hold: {start: {q1: 0}, moves: [{to: {q1: 0.1}, duration: 0.1 s}], controller: {pd: {kp: 2e4, kd: 10}}}
  push: {loads: {tip: {fy: {impulse: {area: 0.1 N*s, duration: 1 ms}}}}, duration: 0.01 s}
"""
P, K, L = 10.0, 2e4, 0.6
EI = 200e9 * 0.03 * 0.02**3 / 12
BENT, TURNED = P * L**3 / (3 * EI), P * L**2 / K


@pytest.fixture
def arm(tmp_path: Path) -> Robot:
    (tmp_path / "arm.yaml").write_text(ARM)
    return Robot(tmp_path / "arm.yaml")


def test_deflections_of_a_point_have_the_drives_part(arm: Robot) -> None:
    found = arm.stiffness("tip", loads={"tip": (0, -P, 0)})
    assert found.deflection[1] == pytest.approx(-BENT - TURNED, rel=1e-4)
    assert found.deflection[5] == pytest.approx(-P * L**2 / (2 * EI) - P * L / K, rel=1e-4)
    assert found.stiffness[1, 1] > P / (BENT + TURNED)  # others held


def test_loads_elsewhere_move_a_point_by_the_drive_too(arm: Robot) -> None:
    """Reciprocity: P at the tip lowers the middle by 5 P L^3 / 48 EI, and by half of what the drive gives at the tip."""
    found = arm.stiffness("middle", loads={"tip": (0, -P, 0)})
    assert found.deflection[1] == pytest.approx(-5 * P * L**3 / (48 * EI) - TURNED / 2, rel=1e-3)


def test_weight_alone_does_not_move_what_a_servo_holds(arm: Robot) -> None:
    assert arm.stiffness("tip").deflection == pytest.approx([0] * 6, abs=1e-15)


def test_studies_and_their_slopes_have_the_drives_part(arm: Robot) -> None:
    found = arm.sweep(
        vary={"k": "1e4:4e4:3", "L": "0.5:0.7:3", "h": "20 mm"}, of=["deflection(tip).y", "deflection(tip)"],
        loads={"tip": (0, -P, 0)},
    )  # fmt: skip
    values = found.quantities["deflection(tip).y"].values.reshape(3, 3)
    for i, k in enumerate((1e4, 2.5e4, 4e4)):
        for j, length in enumerate((0.5, 0.6, 0.7)):
            assert values[i, j] == pytest.approx(-P * length**3 / (3 * EI) - P * length**2 / k, rel=1e-4)
    whole = BENT + TURNED
    by = {"k": -TURNED / whole, "L": (3 * BENT + 2 * TURNED) / whole, "h": -3 * BENT / whole}
    for name in ("deflection(tip).y", "deflection(tip)"):
        assert found.sensitivities[name] == pytest.approx(by, rel=1e-3)


@pytest.mark.parametrize(("motion", "how"), [("hit", "keep to their path"), ("push", "move freely")])
def test_simulations_say_that_they_have_no_servos(arm: Robot, motion: str, how: str) -> None:
    said = " ".join(arm.simulate(motion).summary["notices"])
    assert f"the stiffness of q1 is of a servo, which this motion does not have: actuators {how}" in said


def test_controllers_are_servos(arm: Robot) -> None:
    found = arm.simulate("hold").summary["notices"]
    assert not any("servo" in line for line in found)
