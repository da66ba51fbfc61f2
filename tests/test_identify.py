"""Parameters fitted to data of robots whose truth is known: tables, responses, static tests; what data cannot say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from virtual_tests import parsed, write_responses

from supple.api import Robot
from supple.cli.main import main
from supple.machine import Machine

COMB = Path(__file__).parents[1] / "docs" / "examples" / "comb.yaml"
CROWD = """
sensors:
  palm_a: {point: palm, node: 1, mass: 20 g, directions: [x, y]}
  first: {link: finger1/tip, at: [0.1, 0, 0], node: 2, mass: 5 g, directions: [x, y]}
  fourth: {link: finger4/tip, at: [0.1, 0, 0], node: 3, mass: 5 g, directions: [x, y]}
  seventh: {link: finger7/tip, at: [0.1, 0, 0], node: 4, mass: 5 g, directions: [x, y]}
  last: {link: finger12/tip, at: [0.1, 0, 0], node: 5, mass: 5 g, directions: [x, y]}
exciters:
  hammer: {point: palm, direction: y, node: 9}
band: [15 Hz, 55 Hz]
poses:
  level: {at: {q1: 0}, responses: level.uff}
  up: {at: {q1: 60 deg}, responses: up.uff}
  judge: {at: {q1: -80 deg}, responses: judge.uff, held_out: true}
"""
TRUTH = {"k": 30.0, "hand": 6e4, "eta": 0.01}


def run(*words: str) -> dict[str, Any]:
    found = CliRunner().invoke(main, ["identify", *words, "--json"])
    assert found.exit_code == 0, found.output
    return dict(json.loads(found.stdout))


def test_crowded_modes_of_several_poses_from_a_start_far_off(tmp_path: Path) -> None:
    """Twelve modes within 10 Hz, sensors with masses, 2 % noise, all values 40 % off."""
    (tmp_path / "test.yaml").write_text(CROWD)
    robot = Machine.read(COMB)
    test = parsed(robot, CROWD, tmp_path)
    for k, pose in enumerate(("level", "up", "judge")):
        write_responses(robot, test, pose, tmp_path / f"{pose}.uff", noise=0.02, seed=k, points=241)
    start = ["--set", "k=42", "--set", "hand=36000", "--set", "eta=0.014"]
    out = tmp_path / "fitted.yaml"
    found = run(str(COMB), str(tmp_path / "test.yaml"), "--free", "k,hand,eta", *start, "-o", str(out))
    for name, value in TRUTH.items():
        own = found["parameters"][name]
        assert abs(own["value"] - value) < 4 * own["deviation"], name
        assert own["deviation"] < (0.02 if name == "eta" else 0.002) * value
    judged = [row for row in found["predicted"] if row["what"].startswith("frequency")]
    assert len(judged) >= 8 and max(abs(row["error"]) for row in judged) < 5e-3
    assert found["identifiability"]["known"] == 3
    assert Robot(out).parameters["k"] == pytest.approx(found["parameters"]["k"]["value"], rel=1e-8)
    text = out.read_text()
    assert "fitted, +-" in text and "fitted to test.yaml" in text and "about: Twelve pendulums" in text


def test_a_table_of_frequencies_and_ratios_alone(tmp_path: Path) -> None:
    """Printed numbers, as in a paper: E starts 40 % too high; frequencies of the truth by `modes`, rounded to 0.5 %."""
    truth = Robot("dualemps").modes(count=6)
    rounded = ", ".join(f"{f:.3g}" for f in truth.frequencies_hz)
    (tmp_path / "t.yaml").write_text(f"poses: {{home: {{frequencies: [{rounded}], frequency_deviation: 0.003}}}}")
    found = run("dualemps", str(tmp_path / "t.yaml"), "--free", "E", "--set", "E=104 GPa")
    own = found["parameters"]["E"]
    assert abs(own["value"] - 74e9) < 3 * own["deviation"] and own["deviation"] < 0.005 * 74e9
    assert len(found["residuals"]) == 6


def test_mass_and_stiffness_only_as_their_ratio(tmp_path: Path) -> None:
    """Frequencies of a bare beam know E/rho and nothing else: sqrt(E/rho) is in all of them."""
    hz = Robot("cantilever").modes(count=4).frequencies_hz
    rows = ", ".join(f"{f:.8g}" for f in hz)
    text = f"poses: {{a: {{frequencies: [{rows}], frequency_deviation: 0.001}}}}\npriors: {{rho: {{deviation: 0.02}}}}"
    (tmp_path / "t.yaml").write_text(text)
    found = Robot("cantilever").identify(tmp_path / "t.yaml", "E,rho", advise=True)
    assert found.known == 1 and any("tells none of them apart" in w for w in found.words)
    np.testing.assert_allclose(found.combinations[0][1], np.array([1, -1]) / np.sqrt(2), atol=0.02)
    assert any("E and rho only as a ratio" in w for w in found.words)
    # with the prior, E inherits the 2 % of rho
    assert found.deviations[0] / found.values[0] == pytest.approx(0.02, rel=0.05)
    assert found.correlation[0, 1] > 0.99


def test_static_displacements_and_tied_springs(tmp_path: Path) -> None:
    """A hand on two springs k in x and y: a force F moves it by F/k along itself; pendulums do not matter."""
    rows = ["q1,dx,dy"] + [f"{a},0,{1e3 / 5e4:.9g}" for a in (0.0, 0.4)]
    (tmp_path / "moved.csv").write_text("\n".join(rows))
    (tmp_path / "t.yaml").write_text("""
sensors: {hand_a: {point: palm, kind: displacement, directions: [x, y]}}
exciters: {press: {point: palm, kind: force, direction: y}}
poses: {home: {}}
static: {pressed: {table: moved.csv, sensor: hand_a, exciter: press, force: 1 kN, deviation: 1 um}}
""")
    found = Robot(COMB).identify(tmp_path / "t.yaml", "hand,k")
    assert found.values[0] == pytest.approx(5e4, rel=2e-3)  # weight on the pendulums adds a little
    assert any("say nothing of k" in w for w in found.words)
    assert not np.isfinite(found.deviations[1])


def test_a_spring_for_every_leg(tmp_path: Path) -> None:
    """One pendulum is softer than the others: only its own spring moves."""
    text = COMB.read_text().replace("count: 12", "count: 3").replace("k*(1+0.05*i)", "k*(1+0.2*i)")
    (tmp_path / "three.yaml").write_text(text)
    soft = text.replace("k*(1+0.2*i)", "soft*k*(1+0.2*i)").replace("count: 3", "count: 3\n    vary: {soft: [1, 0.9, 1]}")
    (tmp_path / "soft.yaml").write_text(soft)
    hz = Robot(tmp_path / "soft.yaml").modes(count=5).frequencies_hz
    rows = ", ".join(f"{f:.9g}" for f in hz)
    (tmp_path / "t.yaml").write_text(f"poses: {{a: {{frequencies: [{rows}], frequency_deviation: 0.0001}}}}")
    out = tmp_path / "fitted.yaml"
    found = Robot(tmp_path / "three.yaml").identify(tmp_path / "t.yaml", "k@finger", output=out)
    assert found.names == ("k_finger1", "k_finger2", "k_finger3")
    np.testing.assert_allclose(found.values / 30, [1, 0.9, 1], rtol=5e-3)
    np.testing.assert_allclose(Robot(out).modes(count=5).frequencies_hz, hz, rtol=1e-3)


def test_two_steps_as_in_the_paper(tmp_path: Path) -> None:
    """Stiffness by modes, then the loss factor by responses (J_Q)."""
    (tmp_path / "test.yaml").write_text(CROWD)
    robot = Machine.read(COMB)
    for pose in ("level", "up", "judge"):
        write_responses(robot, parsed(robot, CROWD, tmp_path), pose, tmp_path / f"{pose}.uff", noise=0.02, points=161)
    found = Robot(COMB, k=33.0, eta=0.013).identify(tmp_path / "test.yaml", "k,eta", use="two-step", robust=True)
    assert found.values[0] == pytest.approx(30, rel=2e-3) and found.values[1] == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize(
    ("free", "text", "said"),
    [
        ("q", "", "has no parameter 'q' to free"),
        ("k,k", "", "k: is named twice"),
        ("k@leg", "", "has no leg 'leg'; it has: finger"),
        ("k;hand", "", "write a parameter"),
        ("k", "priors: {k: {least: 40}}", "k starts at or outside its bounds"),
        ("k", "priors: {kk: {deviation: 1}}", "there is no parameter of the robot 'kk'; did you mean 'k'?"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_a_line(free: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("poses: {a: {frequencies: [20 Hz]}}\n" + text)
    found = CliRunner().invoke(main, ["identify", str(COMB), str(tmp_path / "t.yaml"), "--free", free])
    assert found.exit_code == 2 and said in found.stderr and "Traceback" not in found.stderr


def test_profile_report_and_provenance_from_the_command_line(tmp_path: Path) -> None:
    """One parameter, frequencies as its square root: chi^2 rises by n^2 at n deviations; the page and the file say why."""
    hz = ", ".join(f"{f:.8g}" for f in Robot("cantilever").modes(count=3).frequencies_hz)
    (tmp_path / "t.yaml").write_text(f"poses: {{a: {{frequencies: [{hz}], frequency_deviation: 0.001}}}}")
    out, page, picture = tmp_path / "fitted.yaml", tmp_path / "fit.html", tmp_path / "fit.png"
    more = ["--profile", "E", "--robust", "-o", str(out), "--summary", str(page), "--plot", str(picture)]
    found = run("cantilever", str(tmp_path / "t.yaml"), "--free", "E", "--set", "E=150 GPa", *more)
    rows = np.array(found["profiles"]["E"])
    steps = (rows[:, 0] / found["parameters"]["E"]["value"] - 1) / (
        found["parameters"]["E"]["deviation"] / found["parameters"]["E"]["value"]
    )
    np.testing.assert_allclose(steps, np.arange(-3, 4), atol=0.05)
    np.testing.assert_allclose(rows[:, 1] - rows[3, 1], steps**2, rtol=0.02, atol=0.02)
    text = out.read_text()
    assert "fitted to t.yaml by supple identify" in text and "fitted, +-" in text
    assert page.stat().st_size > 5000 and "<script" not in page.read_text() and picture.stat().st_size > 5000
