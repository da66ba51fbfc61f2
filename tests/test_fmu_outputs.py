"""Numbers that leave an FMU: outputs, derivatives, units and starts of a turning arm with a slider, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmi_library import Fmu
from robots import build

from supple.backends.compiler import find_compiler
from supple.backends.targets import fmu
from supple.backends.targets.fmu import write_fmu
from supple.fmu_parts import fmu_parts
from supple.machine import Machine

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

# An arm of 0.5 kg m^2 about z with a rotor that adds 0.2, on it a slider of 2 kg that carries P; a mast on springs with Q
ARM = """
name: arm
space: spatial
gravity: [0, 0, -10]
bodies: {mast: {rigid: {mass: 4, inertia: {xx: 0.25}}}}
links:
  arm: {parent: base, at: [0, 0, 0.3], joint: revolute, axis: z, q: turn, body: {rigid: {mass: 1, inertia: {zz: 0.5}}}}
  slider: {parent: arm, joint: prismatic, axis: x, q: slide, body: {rigid: {mass: 2}}}
  mast: {parent: base, at: [5, 0, 0], joint: fixed, stiffness: {z: 500, rx: 50}, body: mast}
actuators: {turn: {inertia: 0.002, gear: 10}, slide: {}}
points: {P: {link: slider}, Q: {link: mast}}
home: {turn: 90 deg, slide: 0.5}
"""
# At the radius 0.5 m: inertia 0.7 + 2 * 0.5^2 = 1.2 kg m^2
STATE = {"q_turn": np.pi / 2, "q_slide": 0.5, "v_turn": 3.0, "v_slide": 0.4}
INPUT = {"tau_turn": 3.6, "tau_slide": 5.0}
#   turn'' = (3.6 - 2 * 2 * 0.5 * 0.4 * 3) / 1.2 = 1; slide'' = 5 / 2 + 0.5 * 3^2 = 7
#   along the arm, which points along y: slide'' - 0.5 * 3^2 = 2.5; across, along -x: 0.5 * 1 + 2 * 0.4 * 3 = 2.9
WANTED = {
    "der(v_turn)": 1.0,
    "der(v_slide)": 7.0,
    "der(q_turn)": 3.0,
    "der(q_slide)": 0.4,
    "position_P_x": 0.0,
    "position_P_y": 0.5,
    "position_P_z": 0.3,
    "velocity_P_x": -1.5,
    "velocity_P_y": 0.4,
    "velocity_P_z": 0.0,
    "acceleration_P_x": -2.9,
    "acceleration_P_y": 2.5,
    "acceleration_P_z": 0.0,
    "kinetic_energy": 5.56,  # 1.2 * 3^2 / 2 + 2 * 0.4^2 / 2
    "elastic_energy": 1.6,  # (4 * 10)^2 / (2 * 500)
    "position_Q_x": 5.0,
    "position_Q_z": -0.08,  # 4 * 10 / 500
}


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fmu(fmu_parts(build(ARM), passes=("fold", "signs")), tmp_path_factory.mktemp("arm"))


def test_outputs_and_derivatives_of_a_moving_arm(arm: Path) -> None:
    fmu = Fmu(arm)
    fmu.move(STATE)
    fmu.set(INPUT)
    assert fmu.get(WANTED) == {name: pytest.approx(value, abs=1e-9) for name, value in WANTED.items()}


def test_a_wrench_acts_at_its_point_and_along_its_axis(arm: Path) -> None:
    """From rest: 4 N on P along y push the slider out by 4 / 2 m/s^2; 6 N along -x and 0.6 N m about z turn the arm by
    (6 * 0.5 + 0.6) / 1.2 = 3 rad/s^2; 40 N more along z lift Q by 40 / 4 m/s^2, 2 N m turn it by 2 / 0.25."""
    fmu = Fmu(arm)
    fmu.set({"force_P_y": 4.0, "force_P_x": -6.0, "moment_P_z": 0.6, "force_Q_z": 40.0, "moment_Q_x": 2.0})
    wanted = {"der(v_slide)": 2.0, "der(v_turn)": 3.0, "acceleration_Q_z": 10.0, "acceleration_P_x": -1.5}
    wanted["der(v_mast_spring_rx)"] = 8.0
    assert fmu.get(wanted) == {name: pytest.approx(value, abs=1e-9) for name, value in wanted.items()}


def test_co_simulation_turns_the_arm(arm: Path) -> None:
    """2.4 N m from rest, the slider held back by nothing at first: after 1 ms 2 rad/s^2 * 1 ms; P moves along -x."""
    fmu = Fmu(arm, "cs")
    fmu.set({"tau_turn": 2.4})
    for k in range(10):
        fmu.step(k * 1e-3, 1e-3)
    found = fmu.get(["v_turn", "velocity_P_x", "acceleration_P_x", "time"])
    assert found["v_turn"] == pytest.approx(0.02, rel=1e-4)
    assert found["velocity_P_x"] == pytest.approx(-0.01, rel=1e-4)
    assert found["acceleration_P_x"] == pytest.approx(-1.0, rel=1e-3)


def test_variables_have_the_units_causality_and_starts_of_the_robot(arm: Path) -> None:
    found = {name: (v.attrib | v[0].attrib) for name, v in Fmu(arm).variables.items()}
    units = {
        "time": "s", "tau_turn": "N.m", "tau_slide": "N", "force_P_x": "N", "moment_P_z": "N.m", "moment_Q_x": "N.m",
        "gravity_z": "m/s2",
        "q_turn": "rad", "q_slide": "m", "v_turn": "rad/s", "v_slide": "m/s", "der(q_turn)": "rad/s", "der(q_slide)": "m/s",
        "der(v_turn)": "rad/s2", "der(v_slide)": "m/s2", "position_P_x": "m", "velocity_P_x": "m/s",
        "acceleration_P_x": "m/s2", "kinetic_energy": "J", "elastic_energy": "J",
    }  # fmt: skip
    assert {name: found[name].get("unit") for name in units} == units
    causes = {
        "tau_turn": "input",
        "force_P_x": "input",
        "gravity_z": "parameter",
        "acceleration_P_x": "output",
        "time": "independent",
    }
    assert {name: found[name]["causality"] for name in causes} == causes
    starts = {"q_turn": np.pi / 2, "q_slide": 0.5, "gravity_x": 0.0, "gravity_z": -10.0, "tau_turn": 0.0, "tau_slide": 0.0}
    assert {n: float(found[n]["start"]) for n in starts} == {n: pytest.approx(x, abs=1e-9) for n, x in starts.items()}
    spring = next(v for name, v in found.items() if name.startswith("q_mast") and "spring" in name)
    assert float(spring["start"]) == pytest.approx(-0.08) and spring["unit"] == "m"


# Calls that make no sense -------------------------------------------------------------------------------------------------

KEPT = ARM.replace("space: spatial", "space: spatial\nparameters: {load: 2 kg, drag: 0.5 N*s/m, shift: 0.1 m}").replace(
    "q: slide, body: {rigid: {mass: 2}}",
    "q: slide, friction: {viscous: drag}, body: {rigid: {mass: load, centre: [shift, 0, 0]}}",
)
BAD = (float("nan"), float("inf"), float("-inf"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    robot = Machine.parse(KEPT.lstrip()).keeping(["load", "drag", "shift"])
    return write_fmu(fmu_parts(robot.model(), kept=robot.kept(), passes=("fold",)), tmp_path_factory.mktemp("kept"))


def test_steps_that_make_no_sense_are_errors_and_change_nothing(kept: Path) -> None:
    unit = Fmu(kept, "cs", {"tau_turn": 1.0})
    before = unit.get(["q_turn", "v_turn"])
    for time, size in (*((0.0, x) for x in (*BAD, -1e-3)), *((x, 1e-3) for x in BAD)):
        with pytest.raises(AssertionError, match="DoStep"):
            unit.step(time, size)
    assert unit.get(before) == before
    unit.step(0.0, 1e-3)
    assert unit.get(["v_turn"])["v_turn"] > before["v_turn"]


def test_parameters_are_what_the_robot_file_takes(kept: Path) -> None:
    """Mass and viscous friction are not below zero, a place is anywhere; none is nan or infinite, nor is an input. Nothing
    can be computed of a slider without mass."""
    unit = Fmu(kept, "cs")
    refused = [("p_load", -1.0), ("p_drag", -0.1)]
    refused += [(name, value) for name in ("p_load", "p_drag", "tau_turn") for value in BAD]
    for name, value in refused:
        with pytest.raises(AssertionError, match="SetReal"):
            unit.set({name: value})
    for name, value in (("p_drag", 0.0), ("p_shift", 0.0), ("p_shift", -0.1), ("p_load", 3.0)):
        unit.set({name: value})
    unit.step(0.0, 1e-3)
    unit.set({"p_load": 0.0})
    with pytest.raises(AssertionError, match="DoStep"):
        unit.step(1e-3, 1e-3)


def test_fmi_3_refuses_what_fmi_2_refuses() -> None:
    """Both ask the same functions of the robot, before anything is changed."""
    folder = Path(fmu.__file__).parent / "fmu_sources"
    texts = [(folder / f"fmi{v}.c").read_text().replace(f"fmi{v}", "fmi") for v in "23"]
    for check in ("set_up(r,", "step_makes_sense(from, step)", "assign(&", "is_finite(time)"):
        assert [text.count(check) for text in texts] == [1, 1], check
