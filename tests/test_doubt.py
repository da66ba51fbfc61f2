"""Runs that went wrong end wrong: their results are kept, but outcome and exit code say what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from click.testing import CliRunner, Result

from supple.api import Robot
from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.cli.main import main
from supple.machine import Machine
from supple.model.limits import bent_too_far
from supple.model.model import Model
from supple.simulation.worth import warnings_of

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
ROD = """
name: rod
space: planar
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}
sections: {strip: {rectangle: {y: 10 mm, z: 14 mm}}}
bodies: {rod: {beam: {length: 0.3 m, section: strip, material: steel}}}
links: {rod: {parent: base, joint: revolute, q: turn, body: rod}}
actuators: {turn: {inertia: 0.001}}
points: {tip: {link: rod, at: [0.3 m, 0, 0]}}
home: {turn: 0}
motions:
  turn:
    start: {turn: 0}
    moves: [{to: {turn: 0.5}, duration: 0.1 s}]
    controller: {pd: {kp: 2000, kd: 30, sample: 1 ms, limit: 20 kNm}}
  shake: {signals: {turn: {sine: {amplitude: 0.1, frequency: 20 Hz}}}, duration: 0.2 s}
"""


@pytest.fixture
def rod(tmp_path: Path) -> Path:
    file = tmp_path / "rod.yaml"
    file.write_text(ROD)
    return file


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["simulate", *map(str, words)])


def test_an_unstable_controller_ends_with_3_and_its_result(rod: Path, tmp_path: Path) -> None:
    """A gain of 30 N m s, held for 1 ms on an inertia of 1e-3 kg m^2, overshoots thirty times a sample.

    With a limit of its force it is not stopped."""
    result = tmp_path / "x.nc"
    given = (rod, "--motion", "turn", "--duration", "0.02", "-o", result)
    done = run(*given)
    assert done.exit_code == 3
    assert "doubtful: link 'rod' bends by" in done.stderr and f"What was computed is in {result}." in done.stderr
    assert "segments" not in done.stderr  # more of them would not help
    assert xarray.open_dataset(result).attrs["outcome"].startswith("doubtful: ")
    assert not (tmp_path / "x.nc.part").exists()
    accepted = run(*given, "--accept")
    assert accepted.exit_code == 0 and "far beyond small deformations" in accepted.stderr


def test_lost_accuracy_ends_with_3(rod: Path) -> None:
    """Two and a half steps for a period: the balance is off by more than all there is, and a smaller step helps."""
    given = (rod, "--motion", "shake", "--method", "generalised_alpha")
    done = run(*given, "--step", "20 ms")
    assert done.exit_code == 3 and "doubtful: accuracy is lost, the energy balance is off by" in done.stderr
    assert "a smaller step helps, or none" in done.stderr
    assert run(*given, "--step", "1 ms").exit_code == 0 and run(*given).exit_code == 0


def test_a_doubtful_result_says_so_in_python(rod: Path) -> None:
    wild: dict[str, Any] = {"duration": 0.02}
    found = Robot(rod).simulate("turn", **wild)
    assert found.doubtful and not found.complete and "doubtful: link" in repr(found)
    assert Robot(rod).simulate("turn", accept=True, **wild).complete


def far(model: Model, deformation: Sequence[float], reach: float = 1.0) -> bool:
    """Whether the first flexible body is bent too far in one of three postures."""
    frame = next(f for f in model.mechanism.frames if f.body.flexible)
    q = np.zeros((3, model.nv))
    q[1, frame.e] = deformation
    return bent_too_far(model, q, reach) is not None


@pytest.mark.parametrize(("slope", "said"), [(0.95, False), (1.05, True)])
def test_beams_are_judged_by_their_slope(rod: Path, slope: float, said: bool) -> None:
    """A cantilever under a force at its tip, which turns by `slope`, deflects by 2/3 of it times its length."""
    assert far(Machine.read(rod).model(), [0, 2 / 3 * 0.3 * slope, slope]) == said


def test_joints_are_judged_by_the_reach() -> None:
    model = Machine.read("five_bar_elastic").model()
    assert far(model, [0.41], 0.8) and not far(model, [0.39], 0.8)


@pytest.mark.parametrize(
    ("tol", "balance", "said"), [(1e-5, 2e-4, True), (1e-5, 5e-5, False), (0.1, 0.02, True), (0.1, 5e-3, False)]
)
def test_the_balance_is_told_above_ten_tolerances_and_above_a_hundredth(tol: float, balance: float, said: bool) -> None:
    assert bool(warnings_of(Settings(tolerance=tol), balance, None)) == said
