"""Measured and computed modes side by side: robots whose truth is known, MAC by hand, sensors that are turned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from virtual_tests import parsed, write_responses

from supple.api import Robot
from supple.cli.main import main
from supple.machine import Machine
from supple.measured.damped_modes import damped_modes, responses_at
from supple.measured.instrumented import instrumented
from supple.measured.pairing import co_mac, mac, pairs_by_frequency, pairs_by_shape, subspace_mac
from supple.measured.parametric import Family
from supple.measured.reduced import PoseModel

TEXT = """
sensors:
  left: {link: '13', at: [0.2, 0, 0], node: 1, mass: 30 g, directions: [x, z]}
  knee: {link: '14', at: [0.05, 0, 0], node: 2, directions: [x, -z]}
  right: {link: '23', at: [0.25, 0, 0], node: 3, mass: 30 g, directions: [x, z]}
  tip: {link: '17', at: [0.02, 0, 0], node: 4, directions: [x, z]}
exciters:
  hammer: {link: '14', at: [0.05, 0, 0], direction: [1, 0, 1], node: 9}
band: [5 Hz, 65 Hz]
poses:
  first: {at: {q11: 0.05}, responses: first.uff}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Responses of the robot with E = 70 GPa, its sensors on; those of `tip` swapped and one of them reversed."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "test.yaml").write_text(TEXT)
    robot = Machine.read("dualemps", {"E": 70e9})
    test = parsed(robot, TEXT, folder)
    write_responses(robot, test, "first", folder / "first.uff", noise=0.01)
    turned = {"tip": ((1, 0), (-1, 1))}
    write_responses(robot, test, "first", folder / "turned.uff", noise=0.01, turned=turned)
    (folder / "turned.yaml").write_text(TEXT.replace("first.uff", "turned.uff"))
    return folder


def test_shapes_alike_and_frequencies_off_by_a_root(measured: Path) -> None:
    """All flexibility is that of the blades: 74 instead of 70 GPa raises every frequency by its root."""
    found = Robot("dualemps").correlate(measured / "test.yaml").poses[0]
    np.testing.assert_allclose(found.errors, np.sqrt(74 / 70) - 1, atol=2e-3)
    assert len(found.pairs) == 3 and found.pair_mac.min() > 0.99
    assert found.mac is not None and found.auto_mac is not None
    np.testing.assert_allclose(np.diag(found.auto_mac), 1)
    assert min(found.co_mac.values()) > 0.9
    same = Robot("dualemps", E=70e9).correlate(measured / "test.yaml").poses[0]
    assert same.response_error is not None and found.response_error is not None
    assert same.response_error < 3e-4 < 0.1 < found.response_error  # 1 % of noise squared, and frequencies apart
    assert min(same.frac.values()) > 0.999 > min(found.frac.values())
    assert not [w for w in same.words if "turned" in w]


def test_turned_sensors_are_found_and_said(measured: Path) -> None:
    found = CliRunner().invoke(main, ["correlate", "dualemps", str(measured / "turned.yaml"), "--json"])
    words = json.loads(found.stdout)["poses"]["first"]["words"]
    (said,) = [w for w in words if "turned" in w]
    assert "sensor tip" in said and "x is measured as z" in said and "z is measured as -x" in said


def test_pictures_and_page(measured: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.png" for name in ("mac", "frf", "shapes")]
    options = [x for pair in zip(("--plot", "--overlay", "--shapes"), map(str, files), strict=True) for x in pair]
    found = CliRunner().invoke(main, ["correlate", "dualemps", str(measured / "test.yaml"), *options])
    assert found.exit_code == 0 and "pose first" in found.stdout and "J_Q" in found.stdout
    assert all(f.read_bytes()[:4] == b"\x89PNG" for f in files)


def test_a_pose_without_shapes_gives_no_picture_of_them(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("poses: {a: {frequencies: [14, 25, 48, 93, 108]}}")
    words = ["correlate", "dualemps", str(tmp_path / "t.yaml"), "--shapes", str(tmp_path / "s.png")]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 2 and "no shapes were measured" in found.stderr


def test_assurance_criteria_by_hand() -> None:
    a = np.array([[1, 0], [0, 1], [0, 0]], dtype=complex)
    b = np.array([[1, 1], [1, -1], [0, 1]], dtype=complex)
    np.testing.assert_allclose(mac(a, b), [[1 / 2, 1 / 3], [1 / 2, 1 / 3]])
    assert subspace_mac(b[:, 1], a) == pytest.approx(2 / 3)
    np.testing.assert_allclose(co_mac(a, 2 * a), [1, 1, 0])


def test_pairs_by_shape_cross_and_double_modes_share_a_plane() -> None:
    one = np.eye(4)
    crossed = pairs_by_shape(np.array([10.0, 11.0]), np.array([10.2, 10.9]), one[:, [1, 0]], one[:, :2])
    assert crossed == ((0, (1,)), (1, (0,)))
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    double = pairs_by_shape(np.array([10.0, 10.1]), np.array([10.0, 10.001, 14.0]), one[:, :2] @ turn, one[:, :3])
    assert double == ((0, (0, 1)), (1, (0, 1)))
    assert pairs_by_shape(np.array([10.0]), np.array([10.0]), one[:, :1], one[:, 1:2]) == ()
    single = pairs_by_frequency(np.array([10.0, 15.0]), np.array([11.0, 11.0, 20.0]))
    assert single == ((0, (0, 1)), (1, (2,)))  # 15 Hz is not the other half of the pair at 11


def test_derivatives_of_damped_modes_and_responses(tmp_path: Path) -> None:
    """Against central differences of what is computed without derivatives."""
    robot = Machine.read("dualemps")
    test = parsed(robot, TEXT, tmp_path)
    family = Family.of(instrumented(robot, test).keeping(["E", "mx14"]))
    at = PoseModel(family, test.poses[0], test.outputs, test.inputs, 60.0)
    p, s = np.array(family.kept.values), 2j * np.pi * np.linspace(5, 60, 7) + 1.0
    orders = np.array([c.order for c in test.outputs])

    def seen(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        r = at.reduced(x, gradient=False)
        d = damped_modes(r)
        return np.log(d.poles[:5]), d.shapes[:, :5] / d.shapes[:1, :5], responses_at(r, s, orders)[0]

    r = at.reduced(p)
    d, (_, H_p) = damped_modes(r), responses_at(r, s, orders)
    for k in range(2):
        step = np.zeros(2)
        step[k] = 1e-4 * p[k]  # rounding of the poles, 3e-11, shows in differences over less
        poles, shapes, H = ((a - b) / (2 * step[k]) for a, b in zip(seen(p + step), seen(p - step), strict=True))
        np.testing.assert_allclose((d.poles_p[k] / d.poles)[:5], poles, rtol=1e-4, atol=1e-6 * np.abs(poles).max())
        own = d.shapes_p[k] / d.shapes[:1] - d.shapes * d.shapes_p[k][:1] / d.shapes[:1] ** 2
        np.testing.assert_allclose(own[:, :5], shapes, rtol=2e-3, atol=2e-3 * np.abs(shapes).max())
        np.testing.assert_allclose(H_p[k], H, rtol=1e-3, atol=1e-5 * np.abs(H).max())


def _spoilt(text: str, how: str) -> str:
    """The text of a universal file with one thing wrong."""
    lines = text.split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("    4  "))  # the heading of the first function
    if how == "not a number":
        lines[first + 6] = lines[first + 6].replace(lines[first + 6].split()[0], "nan", 1)
    if how == "node":
        lines[first] = lines[first].replace("         1   1 NONE", "        77   1 NONE", 1)
    if how == "units":
        return "\n".join(lines[lines.index("    -1", 1) + 1 :]).replace("m/s^2", "NONE ").replace("N    ", "NONE ")
    if how == "short":
        del lines[first + 20 : first + 25]
    if how == "cut":
        return text[: len(text) // 2]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("how", "said"),
    [("not a number", "NaN"), ("node", "node 77"), ("units", "units: SI"), ("short", "cut short"), ("cut", "")],
)  # fmt: skip
def test_bad_data_are_refused_in_a_line(how: str, said: str, measured: Path, tmp_path: Path) -> None:
    (tmp_path / "first.uff").write_text(_spoilt((measured / "first.uff").read_text(), how))
    (tmp_path / "test.yaml").write_text(TEXT)
    for words in (["correlate", "dualemps"], ["identify", "dualemps", "--free", "E"]):
        found = CliRunner().invoke(main, [*words, str(tmp_path / "test.yaml")])
        assert found.exit_code == 2 and said in found.stderr and len(found.stderr.strip().splitlines()) == 1, found.stderr


def test_table_four_of_the_surgiscope() -> None:
    """Ten measured frequencies (Rognant et al. 2010, table IV), closer than the paper's own model (2.7 %), one of a pair."""
    examples = Path(__file__).parents[1] / "src" / "supple" / "papers" / "surgiscope"
    found = Robot(examples / "surgiscope_table4.yaml").correlate(examples / "surgiscope_table4_test.yaml")
    assert found.rms_error < 0.015
    assert [len(group) for _, group in found.poses[0].pairs] == [2, 1, 2, 1, 2]
    assert [m for m, _ in found.poses[1].pairs] == [0, 1, 2, 3, 4]
