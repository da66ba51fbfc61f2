"""Rehearsed tests: records and responses of a robot whose truth is known come back from the files that hold them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import supple
from supple.cli.main import main
from supple.machine import GALLERY, Machine
from supple.measured.extraction import extracted
from supple.measured.gathered import responses_in
from supple.measured.instrumented import instrumented
from supple.measured.rehearsal import truth
from supple.measured.scattered import Scattered, scattered
from supple.measured.statics import static_displacements
from supple.measured.test import Test, read_test

TEST = """
sensors:
  middle: {link: beam, at: [0.5, 0, 0], directions: [y, z], mass: 20 g}
  end: {point: tip, directions: [-y, z], mass: 20 g, node: 7}
exciters:
  hammer: {point: tip, direction: [0, 0.6, 0.8], node: 3}
record: {samples: 1024, duration: 2.046 s, averages: 3, exponential: 0.001}
band: [3 Hz, 180 Hz]
poses:
  home: {}
"""


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> supple.Robot:
    """A cantilever whose modes have a ratio of 1 %: their vibrations outlast the records."""
    file = tmp_path_factory.mktemp("robot") / "cantilever.yaml"
    file.write_text((GALLERY / "cantilever.yaml").read_text(encoding="utf-8") + "\ndamping: {structural: 0.02}\n")
    return supple.Robot(file)


def made(robot: Machine, folder: Path, **options) -> tuple[Test, dict]:
    (folder / "test.yaml").write_text(TEST)
    found = robot.test(folder / "test.yaml", output=folder / "measured.uff", **options)
    return read_test(folder / "measured.yaml", robot.description, robot.mechanism()), found.to_json()


def true_responses(robot: Machine, test: Test, s: np.ndarray, viscous: bool = True) -> np.ndarray:
    """Accelerances at complex frequencies s, by solving with the matrices of the robot."""
    m = truth(instrumented(robot, test), test, test.poses[0]).motions
    one = np.eye(len(m.squares))
    D, H = (m.viscous(), 0) if viscous else (m.D, 1j * m.H)
    return np.array([x**2 * (m.C @ np.linalg.solve(x**2 * one + x * D + m.K + H, m.B)) for x in s])


def test_records_with_a_double_hit_and_leakage_give_the_true_responses(robot: supple.Robot, tmp_path: Path) -> None:
    """Within 1 % of the truth at s = a + j w where the coherence is above 0.95, damping without the window's."""
    test, said = made(robot, tmp_path, by="records", double_hits=1)
    found = responses_in(test, test.poses[0])
    assert found is not None and found.coherence is not None
    assert any("hits twice" in text for text in found.notices) and found.decay == pytest.approx(np.log(1000) / 2.046)
    f = found.frequencies_hz
    band = (f >= 3) & (f <= 0.4 * 500)
    H = true_responses(robot, test, 2j * np.pi * f + found.decay, viscous=False)
    error = np.abs(found.values - H)[band] / np.abs(H)[band]
    trusted = found.coherence[band] > 0.95
    assert trusted.mean() > 0.9 and error[trusted].max() < 0.01
    plain = extracted(replace(found, decay=0.0), test.band).modes
    modes = extracted(found, test.band).modes
    truths = said["truth"]["home"]
    for f0, z0 in zip(truths["frequencies_hz"], truths["damping_ratios"], strict=True):
        k = int(np.abs(modes.frequencies_hz - f0).argmin())
        assert modes.frequencies_hz[k] == pytest.approx(f0 * (1 + 0.02**2) ** 0.25, rel=5e-5)  # |s|, s^2 = -w0^2 (1 + j eta)
        assert modes.damping_ratios[k] == pytest.approx(z0, rel=0.01)
        k = int(np.abs(plain.frequencies_hz - f0).argmin())
        assert plain.damping_ratios[k] == pytest.approx(z0 + found.decay / (2 * np.pi * f0), rel=0.02)  # with the window's


def test_blows_are_those_of_the_integrators(robot: supple.Robot, tmp_path: Path) -> None:
    """The cantilever struck in a simulation, filtered and sampled by nobody: its spectrum divided by the force's."""
    (tmp_path / "blow.yaml").write_text(
        "loads: {tip: {fz: {impulse: {area: -0.02 N*s, duration: 8 ms, at: 10 ms}}}}\nduration: 2 s\n"
    )
    run = robot.simulate(tmp_path / "blow.yaml", every="0.5 ms", tol=1e-6)
    fall = np.exp(-5.0 * run.time)
    force = robot.motion(tmp_path / "blow.yaml").loads(run.time)[0][:, 0]
    felt = np.fft.rfft(run["point_acceleration:tip"][:, 2] * fall) / np.fft.rfft(force * fall)
    f = np.fft.rfftfreq(len(run.time), 5e-4)
    (tmp_path / "test.yaml").write_text(TEST.replace(", mass: 20 g", "").replace("[0, 0.6, 0.8]", "z"))
    test = read_test(tmp_path / "test.yaml", robot.description, robot.mechanism())
    near = [int(np.abs(f - x).argmin()) for x in (6.0, 8.4, 20.0, 52.4, 70.0)]
    H = true_responses(robot, test, 2j * np.pi * f[near] + 5.0)[:, 3, 0]
    np.testing.assert_allclose(felt[near], H, rtol=0.01, atol=2e-4 * np.abs(H).max())


def test_responses_in_noise_and_what_commands_print(robot: supple.Robot, tmp_path: Path) -> None:
    (tmp_path / "test.yaml").write_text(TEST)
    words = ["test", robot.source.tree.file, str(tmp_path / "test.yaml"), "-o", str(tmp_path / "m.uff"), "--noise", "0.05"]
    found = CliRunner().invoke(main, [*words, "--json"])
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    test = read_test(tmp_path / "m.yaml", robot.description, robot.mechanism())
    assert {c.place: c.node for c in (*test.outputs, *test.inputs)} == {"middle": 1, "end": 7, "hammer": 3}
    responses = responses_in(test, test.poses[0])
    assert responses is not None and responses.coherence is not None
    f = responses.frequencies_hz
    whole = true_responses(robot, test, 2j * np.pi * f)
    away = np.sqrt((np.abs(responses.values - whole) ** 2).mean() / (np.abs(whole) ** 2).mean())
    assert 0.8 * 0.05 < away * np.sqrt(3) < 1.3 * 0.05  # three averages; structural damping is viscous in `whole`
    assert len(said["truth"]["home"]["frequencies_hz"]) == 5 and said["noise"] == 0.05
    shown = CliRunner().invoke(main, words)
    assert "noise 5 %" in shown.stdout and "wrote" in shown.stdout


@pytest.mark.parametrize("by", ["responses", "records"])
def test_a_sensor_that_does_not_move_is_as_noisy_as_a_weak_one(robot: supple.Robot, tmp_path: Path, by: str) -> None:
    """Struck along z, sensors along y feel nothing but noise: 2 % of a hundredth of the strongest response."""
    (tmp_path / "test.yaml").write_text(TEST.replace("[0, 0.6, 0.8]", "z"))
    robot.test(tmp_path / "test.yaml", output=tmp_path / "measured.uff", by=by, noise=0.02)
    test = read_test(tmp_path / "measured.yaml", robot.description, robot.mechanism())
    found = responses_in(test, test.poses[0])
    assert found is not None
    size = np.sqrt((np.abs(found.values) ** 2).mean(axis=0))[:, 0]
    still = np.array([c.endswith("y") for c in found.outputs])
    assert (size[still] / size.max() > 1e-5).all() and (size[still] / size.max() < 1e-2).all()


def test_legs_that_differ() -> None:
    robot = Machine.read("dualemps")
    apart = scattered(robot, 0.1, 3)
    assert isinstance(apart, Scattered) and scattered(robot, 0.0, 3) is robot
    factors = apart.factors(apart.mechanism())
    assert len(factors) == 3 and len(set(factors.values())) == 3
    blades = {f.part: f.body for f in apart.mechanism().frames if f.body.flexible}
    plain = {f.part: f.body for f in robot.mechanism().frames if f.body.flexible}
    for name, factor in factors.items():
        np.testing.assert_allclose((blades[name].K_ee / factor).astype(float), plain[name].K_ee.astype(float), rtol=1e-12)


def test_static_displacements_are_those_of_a_cantilever(tmp_path: Path) -> None:
    """Without weight: F L^3 / 3 E I at the tip."""
    robot = Machine.read("cantilever", {"gravity": 0})
    (tmp_path / "t.yaml").write_text(TEST.replace("[0, 0.6, 0.8]", "-z").replace("[-y, z]", "[y, z]"))
    test = read_test(tmp_path / "t.yaml", robot.description, robot.mechanism())
    real = instrumented(robot, test)
    moved = static_displacements(real.model(), [{}], test.inputs[0], 0.1, test.outputs)
    EI = 210e9 * 0.02 * 0.01**3 / 12
    known = [0, -0.1 * 0.5**2 * 2.5 / (6 * EI), 0, -0.1 / (3 * EI)]
    np.testing.assert_allclose(moved[0], known, rtol=1e-4, atol=1e-12)


def test_a_static_test_alone_is_rehearsed_and_fitted(tmp_path: Path) -> None:
    """Blades of 80 GPa where the file says 74: found within three deviations from five poses pulled by 0.5 N."""
    (tmp_path / "points.csv").write_text("q11,q21\n" + "".join(f"{x},{-x}\n" for x in (-0.1, -0.05, 0, 0.05, 0.1)))
    (tmp_path / "test.yaml").write_text(
        "sensors: {tool: {point: P, kind: displacement, directions: [x, -z]}}\n"
        "exciters: {pull: {point: P, kind: force, direction: [1, 0, 1]}}\n"
        "static: {pulled: {table: points.csv, sensor: tool, exciter: pull, force: 0.5 N, deviation: 2 um}}\n"
    )
    supple.Robot("dualemps", E="80 GPa").test(tmp_path / "test.yaml", output=tmp_path / "m.uff", seed=1)
    found = supple.Robot("dualemps").identify(tmp_path / "m.yaml", "E")
    assert abs(found.values[0] - 80e9) < 3 * found.deviations[0] and found.deviations[0] < 0.02 * 80e9
    assert len(found.residuals) == 10


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (("", ""), {"by": "magic"}, "must be one of responses, records"),
        (("", ""), {"double_hits": 1}, "of records"),
        (("", ""), {"noise": -1.0}, "noise -1: must be zero or more"),
        (("", ""), {"scatter": 2.0}, "give 0 to 1"),
        (("", ""), {"output": "test.uff"}, "would be overwritten"),
        (("  hammer: {", "  hammer: {kind: force, "), {}, "a hammer or shaker"),
        (("poses:\n  home: {}", "poses: {}"), {}, "holds nothing that is measured"),
        (("[3 Hz, 180 Hz]", "[3 Hz, 3.1 Hz]"), {}, "holds no line of its record"),
    ],
)  # fmt: skip
def test_mistakes_are_told(robot: supple.Robot, tmp_path: Path, change, options, words: str) -> None:
    (tmp_path / "test.yaml").write_text(TEST.replace(*change) if change[0] else TEST)
    output = tmp_path / options.pop("output", "m.uff")
    with pytest.raises(supple.SuppleError, match=words):
        robot.test(tmp_path / "test.yaml", output=output, **options)


def test_a_strain_gauge_on_a_cantilever(tmp_path: Path) -> None:
    """Slowly pushed: (L - x) F h / 2 E I on its upper side, minus that below, and what the file says is read back."""
    robot = Machine.read("cantilever", {"gravity": 0})
    (tmp_path / "t.yaml").write_text("""
sensors:
  above: {link: beam, at: [0.2, 0, 5 mm], kind: strain, directions: [x], gauge: 2 mm, node: 1}
  below: {link: beam, at: [0.2, 0, -5 mm], kind: strain, directions: [-x], gauge: 2 mm, node: 2}
exciters: {hammer: {point: tip, direction: z, node: 3}}
band: [1 Hz, 40 Hz]
poses: {home: {}}
""")
    supple.Robot("cantilever", gravity=0).test(tmp_path / "t.yaml", output=tmp_path / "m.uff")
    test = read_test(tmp_path / "m.yaml", robot.description, robot.mechanism())
    pose = truth(instrumented(robot, test), test, test.poses[0])
    known = (1.0 - 0.201) * 0.005 / (210e9 * 0.02 * 0.01**3 / 12)
    turned = [1.0, -(1.0 - 0.199) / (1.0 - 0.201)]
    np.testing.assert_allclose(pose.responses(np.array([1e-3]))[0, :, 0].real, -known * np.array(turned), rtol=1e-5)
    seen = responses_in(test, test.poses[0])
    assert seen is not None and seen.orders == (0, 0) and seen.outputs == ("above", "below")
    np.testing.assert_allclose(seen.values, pose.responses(seen.frequencies_hz), rtol=1e-3)  # lines are rounded in the file
    assert "m/m" in (tmp_path / "m.uff").read_text()
