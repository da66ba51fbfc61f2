"""Motions that nothing resists: left alone in equilibrium, and refused only where something pulls at them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from supple.analyses.modes import modes
from supple.errors import FarFromPose, PoseError
from supple.machine import Machine
from supple.model.equilibrium import Equilibrium, equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import posture

DATA = Path(__file__).parent / "data" / "idle"
SPINS = 6  # rods between two balls


@pytest.mark.parametrize("gravity", [0.0, 9.81])
@pytest.mark.parametrize("force", [0.1, 0.3, 1.0, 3.0])
def test_rods_between_balls_stand_any_load(force: float, gravity: float) -> None:
    """The Delta whose rods may spin bends as the one whose rods may not: deflection and first frequencies."""
    loads = {"tool": [force, 0.0, 0.0]}
    found, held = (
        modes(Machine.read(robot, {"gravity": gravity}).model(), loads=loads)
        for robot in (DATA / "delta_balls.yaml", "delta")
    )
    assert np.abs(found.frequencies_hz[:SPINS]).max() < 0.2
    np.testing.assert_allclose(found.frequencies_hz[SPINS : SPINS + 3], held.frequencies_hz[:3], rtol=1e-3)
    moved = [x.pose["x"] for x in (found, held)]
    assert moved[0] == pytest.approx(moved[1], rel=1e-3) and abs(moved[0]) > 1e-8


def test_equilibrium_of_idle_rods_is_found_in_a_few_steps() -> None:
    model = Machine.read(DATA / "delta_balls.yaml", {"gravity": 0.0}).model()
    wrench = np.zeros((len(model.mechanism.points), 6))
    wrench[0, 0] = 1.0
    assert equilibrium(model, posture(model), w=wrench).iterations < 8


@pytest.mark.parametrize("elements", [2, 6, 8, 20])
@pytest.mark.parametrize("angle", [0.3, np.pi / 2, 3.0, -2.0])
def test_a_pendulum_swings_down_however_fine_it_is(angle: float, elements: int) -> None:
    """From any angle it comes to hang, w^2 = 3 g / (2 L) of a slender rod; level, its weight has no stiffness at all."""
    found = modes(Machine.read(DATA / "pendulum.yaml", {"elements": elements}).model(), {"q": angle}, count=1)
    assert np.sin(found.pose["q"]) == pytest.approx(0.0, abs=1e-9) and np.cos(found.pose["q"]) > 0
    assert 2 * np.pi * found.frequencies_hz[0] == pytest.approx(np.sqrt(1.5 * 9.81), rel=1e-3)


def test_a_rod_that_is_twisted_by_nothing_that_holds_it() -> None:
    """A moment about the axis of a rod between balls has nothing to balance it."""
    model = Machine.read(DATA / "delta_balls.yaml").model()
    wrenches = np.zeros((len(model.mechanism.points), 6))
    wrenches[list(model.mechanism.points).index("rod"), 3:] = [0.01, 0.0, 0.01]
    with pytest.raises(PoseError, match=r"nothing holds 'leg1/a\.r"):
        equilibrium(model, posture(model), w=wrenches)


@pytest.mark.parametrize("slope", [90.0, 10.0])
def test_a_slider_without_a_motor_slides(slope: float, tmp_path: Path) -> None:
    """However gentle the slope; on the level it stays."""
    text = f"""
    space: planar
    gravity: [0, -9.81, 0]
    materials: {{steel: {{E: 210 GPa, rho: 7850 kg/m^3}}}}
    sections: {{blade: {{rectangle: {{y: 5 mm, z: 20 mm}}}}}}
    bodies: {{rod: {{beam: {{length: 1 m, section: blade, material: steel, elements: 4}}}}}}
    links:
      slider: {{parent: base, rotate: {{z: {slope} deg}}, joint: prismatic, axis: x, q: s, body: rod}}
    """
    file = tmp_path / "slider.yaml"
    file.write_text(text)
    model = Machine.read(file).model()
    with pytest.raises(PoseError, match="nothing holds 's' against its weight"):
        equilibrium(model, posture(model))
    file.write_text(text.replace(f"z: {slope} deg", "z: 0 deg"))
    model = Machine.read(file).model()
    assert abs(equilibrium(model, posture(model)).q[0]) < 1e-9


def test_a_robot_that_falls_into_another_posture_says_so() -> None:
    """The Gough-Stewart robot whose platform bends is not stable where its paper has it: legs lean over under its weight."""
    plate = Machine.read("gough_stewart_plate", {"gravity": 9.81}).model()
    start = posture(plate, {})
    with pytest.warns(FarFromPose, match=r"another posture, leg\d/q\d 0\.\d+ rad away"):
        found = equilibrium(plate, start)
    assert np.abs(found.q - start).max() > 0.5
    assert least_square(plate, found) > 0  # where it comes to rest it stays


def least_square(model: Model, rest: Equilibrium) -> float:
    """The least squared frequency of a posture at rest."""
    linear = linearise(model, rest)
    return float(eigh(linear.K, linear.M, eigvals_only=True)[0])


@pytest.mark.parametrize("name", ["delta", "five_bar_bob", "gough_stewart_plate"])
def test_robots_that_stay_where_they_are_asked_to_be_say_nothing(name: str) -> None:
    model = Machine.read(name).model()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FarFromPose)
        equilibrium(model, posture(model, {}))
