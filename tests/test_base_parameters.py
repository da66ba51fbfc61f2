"""Inertial and friction parameters from motions: the robot that moved is known, the one that is fitted has other numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.formulations.tree.parametrised import parameter_values
from supple.machine import GALLERY
from supple.measured.base_parameters import Observed, actuator_regressor, base_fit

TEST = "motions:\n  run: {motion: push, filter: 15 Hz, position_noise: 1 um, force_noise: 0.5 N}\n"
PUSH = """
  push:
    start: {q11: -0.1, q21: -0.1}
    moves:
      - {rest: 0.3 s}
      - {to: {q11: 0.1}, duration: 0.8 s}
      - {to: {q21: 0.1, q11: -0.05}, duration: 1.2 s}
      - {to: {q21: -0.08, q11: -0.1}, duration: 0.9 s}
      - {rest: 0.5 s}
"""


def robots(folder: Path) -> tuple[supple.Robot, supple.Robot]:
    """DualEMPS as it is in the gallery, and one that has other masses and friction."""
    text = (GALLERY / "dualemps.yaml").read_text(encoding="utf-8") + PUSH
    (folder / "file.yaml").write_text(text, encoding="utf-8")
    text = text.replace("95.196 kg", "80 kg").replace("viscous: 250, coulomb: 25", "viscous: 200, coulomb: 30")
    (folder / "real.yaml").write_text(text.replace("0.177 kg", "0.4 kg"), encoding="utf-8")
    return supple.Robot(folder / "file.yaml"), supple.Robot(folder / "real.yaml")


def test_forces_are_linear_in_the_parameters(tmp_path: Path) -> None:
    """W theta is what the integrators' own forces are, bent blades, loops and friction included."""
    robot, _ = robots(tmp_path)
    run = robot.inverse("push", duration=1.0, every="10 ms")
    W, theta = actuator_regressor(robot, robot.model(), run["position"], run["velocity"], run["acceleration"])
    np.testing.assert_allclose(W @ np.array(list(theta.values())), run["tau"], atol=1e-9 * np.abs(run["tau"]).max())
    assert theta["fv q11"] == 250 and theta["m 11"] == pytest.approx(95.196) and theta["inertia 13"] == 1


def test_base_parameters_are_found_within_their_deviations(tmp_path: Path) -> None:
    """Encoders with 1 um, forces with 0.5 N of noise, and a file whose numbers are not those of the robot that moved."""
    robot, real = robots(tmp_path)
    (tmp_path / "test.yaml").write_text(TEST)
    real.test(tmp_path / "test.yaml", output=tmp_path / "m.uff", seed=2)
    found = robot.identify(tmp_path / "m.yaml", "base")
    truth = parameter_values(real.mechanism())
    run = real.inverse("push")
    W, _ = actuator_regressor(robot, robot.model(), run["position"], run["velocity"], run["acceleration"])
    whole = base_fit([Observed(W, run["tau"] + 1e-3, 1000.0, 15.0)], parameter_values(robot.mechanism()))
    assert found.known < len(whole.labels)  # less noise holds more
    each = zip(found.names, found.values, found.deviations, strict=True)
    by_own = {n.partition(" + ")[0]: (value, deviation) for n, value, deviation in each}
    for name in ("fv q11", "fv q21", "fs q11", "fs q21"):
        value, deviation = by_own[name]
        assert abs(value - truth[name]) < 3.5 * deviation + 0.002 * truth[name] and deviation < 0.01 * value
    sliders = [v for n, v in zip(found.names, found.values, strict=True) if n.startswith(("m 11", "m 12 + 1 (m 11)"))]
    assert sliders[0] == pytest.approx(81.2, abs=0.6) and found.start[0] != found.values[0]


def test_deviations_are_those_of_repetitions(tmp_path: Path) -> None:
    """Forty repetitions of noise on the forces: errors of what is estimated, by their deviations, are of size one."""
    robot, _ = robots(tmp_path)
    run = robot.inverse("push")
    W, theta = actuator_regressor(robot, robot.model(), run["position"], run["velocity"], run["acceleration"])
    rng = np.random.default_rng(1)
    z = []
    for _ in range(40):
        fit = base_fit([Observed(W, run["tau"] + 0.5 * rng.standard_normal(run["tau"].shape), 1000.0, 15.0)], theta)
        z += ((fit.values - fit.nominal) / fit.deviations).tolist()
    assert 0.85 < np.sqrt(np.mean(np.square(z))) < 1.2 and 0.9 < np.mean(np.abs(z) < 1.96) < 0.985


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("motions: {run: {filter: 15 Hz}}", "motions.run: names no table"),
        ("motions: {run: {filter: 15 Hz, motion: pusch}}", "there is no motion of the robot 'pusch'; did you mean 'push'"),
        ("motions: {run: {table: x.csv}}", "motions.run.filter"),
        ("motions: {run: {filter: 15 Hz, table: x.csv}}", r"x.csv: has no column tau q21"),
        ("motions: {run: {filter: 15 Hz, table: none.csv}}", "none.csv:1: "),
        ("poses: {a: {frequencies: [14 Hz]}}", "base parameters are told by motions"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str, words: str) -> None:
    robot, _ = robots(tmp_path)
    (tmp_path / "t.yaml").write_text(text)
    (tmp_path / "x.csv").write_text("t,q11,q21,tau q11\n0,0,0,0\n1,1,1,1\n")
    with pytest.raises(supple.SuppleError, match=words):
        robot.identify(tmp_path / "t.yaml", "base")
