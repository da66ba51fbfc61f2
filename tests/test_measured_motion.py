"""Measured motions: a low-pass whose gain is known, noise that is told, results beside measurements with errors by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import supple
from supple.cli.main import main
from supple.motion.filtering import low_passed


@pytest.fixture(scope="module")
def robot() -> supple.Robot:
    return supple.Robot("dualemps")


def written(path: Path, header: str, *columns: np.ndarray) -> Path:
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.12g")
    return path


@pytest.mark.parametrize("cutoff", [0.01, 0.03, 0.1])
def test_the_low_pass_has_its_gain_and_no_lag(cutoff: float) -> None:
    n = np.arange(int(60 / cutoff))
    middle = slice(len(n) // 4, -len(n) // 4)
    for times in (0.2, 1.0, 2.0):
        x = np.sin(2 * np.pi * times * cutoff * n)
        ratio = np.sin(np.pi * times * cutoff) / np.sin(np.pi * cutoff)  # of differences: times, for low cutoffs
        np.testing.assert_allclose(low_passed(x[:, None], cutoff)[middle, 0], x[middle] / (1 + ratio**6), atol=1e-4)
    cubic = ((n / len(n)) ** 2)[:, None]
    np.testing.assert_allclose(low_passed(cubic, cutoff), cubic, atol=1e-7)  # parabolas pass, ends included


def test_noise_is_told_and_taken_out(robot: supple.Robot, tmp_path: Path) -> None:
    """1 um at 1 kHz: accelerations of 2.4 m/s^2 beside 0.36 m/s^2; after 20 Hz within 0.004 m/s^2, by hand 0.002 RMS."""
    t = np.arange(0, 2.4, 1e-3)
    path = robot.motion("square").path
    assert path is not None
    x, _, a = path(np.maximum(t - 0.3, 0))
    noisy = written(tmp_path / "n.csv", "t,q11,q21", t, x + 1e-6 * np.random.default_rng(0).standard_normal(x.shape))
    raw = robot.motion(noisy)
    assert "accelerations of q11, q21 are mostly noise" in raw.notices[0]
    made = robot.motion(noisy, cutoff=20.0)
    assert "low-pass at 20 Hz" in made.notices[0] and made.path is not None and raw.path is not None
    error = made.path(t)[2] - a
    assert np.sqrt((error[100:-100] ** 2).mean()) < 0.003 and np.abs(error[100:-100]).max() < 0.012
    assert np.sqrt(((raw.path(t)[2] - a) ** 2).mean()) > 2.0
    clean = written(tmp_path / "c.csv", "t,q11,q21", t, x)
    assert robot.motion(clean).notices == ()
    (tmp_path / "m.yaml").write_text("csv: n.csv\nfilter: 20 Hz\n")
    np.testing.assert_array_equal(robot.motion(tmp_path / "m.yaml").path(t)[0], made.path(t)[0])
    uneven = t + 2e-4 * np.sin(40 * t)  # a clock that wanders: samples at the times it says
    jittered = written(tmp_path / "j.csv", "t,q11,q21", uneven, path(np.maximum(uneven - 0.3, 0))[0])
    np.testing.assert_allclose(robot.motion(jittered, cutoff=20.0).path(t)[0][100:-100], x[100:-100], atol=2e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("csv: n.csv\nfilter: 600 Hz", "n.csv:1: the filter's cutoff 600 Hz must lie within 5 to 500 Hz"),
        ("csv: n.csv\nfilter: 0.1 Hz", "must lie within 5 to 500 Hz"),
        ("csv: n.csv\nfilter: 3 mm", "filter"),
        ("csv: few.csv\nfilter: 20 Hz", "few.csv:1: has 4 samples; a filter needs at least 16"),
        ("duration: 1 s\nfilter: 20 Hz", "a filter is for tables"),
    ],
)
def test_filters_that_cannot_be(robot: supple.Robot, tmp_path: Path, text: str, words: str) -> None:
    t = np.arange(0, 0.5, 1e-3)
    written(tmp_path / "n.csv", "t,q11,q21", t, t, t)
    written(tmp_path / "few.csv", "t,q11,q21", t[:4], t[:4], t[:4])
    (tmp_path / "m.yaml").write_text(text + "\n")
    with pytest.raises(supple.SuppleError, match=words):
        robot.motion(tmp_path / "m.yaml")


def test_a_motion_without_a_table_has_no_filter(robot: supple.Robot) -> None:
    with pytest.raises(supple.SuppleError, match="has no table to filter"):
        robot.motion("square", cutoff=20.0)


# Results beside measurements ------------------------------------------------------------------------------------------


def test_results_beside_measurements(robot: supple.Robot, tmp_path: Path) -> None:
    """The run itself, shifted by known amounts: errors are these."""
    run = robot.simulate("square", duration="50 ms", every="5 ms", tol=1e-4)
    file = tmp_path / "measured.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["t [ms]", "tau q11 [kN]", "point_acceleration[P,x] (m/s^2)", "point_position[P.z] [mm]", "q21"])
        a, p = run["point_acceleration:P"][:, 0], run["point_position:P"][:, 2]
        wave = np.where(np.arange(11) % 2, 0.3, -0.3)
        rows.writerows(
            np.column_stack([1e3 * run.time, 1e-3 * (run["tau:q11"] + 2.0), a + wave, 1e3 * p, run["position:q21"]])
        )
    found = robot.simulate("square", duration="50 ms", every="5 ms", tol=1e-4, against=file)
    told = found.summary["against"]
    assert set(told) == {"tau[q11]", "point_acceleration[P,x]", "point_position[P,z]", "position[q21]"}
    assert (told["tau[q11]"]["rms"], told["tau[q11]"]["peak"]) == pytest.approx((2.0, 2.0), rel=1e-9)
    assert told["tau[q11]"]["rms_share"] == pytest.approx(2.0 / np.abs(run["tau:q11"] + 2.0).max(), rel=1e-9)
    assert told["point_acceleration[P,x]"]["rms"] == pytest.approx(0.3, rel=1e-9)
    assert told["point_position[P,z]"]["peak"] < 1e-12
    assert found.plot(tmp_path / "x.png") is not None
    words = ["simulate", "dualemps", "--motion", "square", "--duration", "0.05", "--every", "5 ms", "--tol", "1e-4"]
    shown = CliRunner().invoke(main, [*words, "--against", str(file)])
    assert shown.exit_code == 0 and "against measured" in shown.stdout and "tau[q11]" in shown.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,tau q99\n0,1\n1,2\n", r"m.csv:1: column 2 \(tau q99\): the result has no signal of this name; did you"),
        ("t,tau q11 [mm]\n0,1\n1,2\n", "is in mm; the result is in N"),
        ("t,tau q11 [zorg]\n0,1\n1,2\n", "its unit is not known"),
        ("tau q11\n1\n", "there is no column t"),
        ("t,tau q11,tau[q11]\n0,1,1\n1,2,2\n", "is given twice"),
        ("t,tau q11\n0,1\n0.01,nan\n", r"m.csv:3: column 2 \(tau\[q11\]\): is not a finite number"),
        ("t,tau q11\n5,1\n6,1\n", "fewer than two measured samples lie within"),
        ("t,tau q11\n0,1,3\n", "has 3 values; the header names 2"),
        ("", "is empty"),
    ],
)
def test_measurements_that_do_not_fit(robot: supple.Robot, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(supple.SuppleError, match=words):
        robot.simulate("square", duration="20 ms", every="5 ms", tol=1e-4, against=tmp_path / "m.csv")
