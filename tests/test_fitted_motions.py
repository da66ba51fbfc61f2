"""Forces of an actuator and accelerations of a tip along a measured motion in one fit with frequencies."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from supple.api import Robot
from supple.cli.main import main

ROBOT = """
name: carriage
space: planar
gravity: [0, 0, 0]
parameters: {E: 70 GPa, load: 4 kg, c: 30 N*s/m}
materials: {metal: {E: E, rho: 2700 kg/m^3, nu: 0.3}}
sections: {blade: {rectangle: {y: 3 mm, z: 30 mm}}}
bodies:
  carriage: {rigid: {mass: load}}
  blade: {beam: {length: 0.3 m, section: blade, material: metal, elements: 1}}
damping: {rayleigh: {alpha: 0, beta: 2e-4}}
links:
  '1': {parent: base, joint: prismatic, axis: x, q: x, body: carriage}
  '2': {parent: '1', joint: fixed, rotate: {z: 90 deg}, body: blade}
  tip: {parent: '2', at: [0.3, 0, 0], body: {rigid: {mass: 0.2 kg}}}
actuators: {x: {viscous: c}}
points: {P: {link: tip}}
motions:
  push:
    start: {x: 0}
    moves: [{rest: 0.1 s}, {to: {x: 0.3}, duration: 0.4 s}, {to: {x: 0.1}, duration: 0.3 s}, {rest: 0.3 s}]
"""
TEST = """
sensors: {end: {point: P, axes: link, directions: [y]}}
poses: {home: {frequencies: [FREQUENCIES], frequency_deviation: 0.01}}
motions:
  run: {motion: push, filter: 60 Hz, position_noise: 1 um, force_noise: 0.5 N, acceleration_noise: 0.05 m/s^2}
"""


def test_forces_and_accelerations_join_a_fit(tmp_path: Path) -> None:
    """Frequencies of the held carriage know E and nothing of its mass and friction; forces along the motion do."""
    (tmp_path / "robot.yaml").write_text(ROBOT)
    hz = Robot(tmp_path / "robot.yaml").modes(count=1).frequencies_hz
    (tmp_path / "test.yaml").write_text(TEST.replace("FREQUENCIES", f"{hz[0]:.8g}"))
    Robot(tmp_path / "robot.yaml").test(tmp_path / "test.yaml", output=tmp_path / "m.uff", seed=4)
    assert (tmp_path / "m-run.csv").read_text().splitlines()[0] == "t,x,tau x,end.y"
    words = ["identify", str(tmp_path / "robot.yaml"), str(tmp_path / "m.yaml"), "--free", "E,load,c", "--json"]
    done = CliRunner().invoke(main, [*words, "--set", "E=60 GPa", "--set", "load=3 kg", "--set", "c=45 N*s/m"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    for name, truth in (("E", 70e9), ("load", 4.0), ("c", 30.0)):
        own = found["parameters"][name]
        assert abs(own["value"] - truth) < 3.5 * own["deviation"], (name, own)
        assert own["deviation"] < 0.02 * truth, (name, own)
    told = {row["what"] for row in found["residuals"]}
    assert {"tau x (RMS)", "end.y (RMS)"} <= told and any(x.startswith("frequency") for x in told)
    assert found["chi_squared"] < 2 * found["degrees_of_freedom"]
