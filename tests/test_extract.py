"""Extraction of modes: systems whose poles are known, closed forms, noise of known size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from supple.cli.main import main
from supple.measured.extraction import extracted
from supple.measured.mode_sets import read_modes
from supple.measurements import Responses
from supple.storage.universal import Function58, write_functions

LINES = np.linspace(10, 60, 401)


def system(frequencies, ratios, outputs, inputs, f=LINES, decay=0.0, seed=0):
    """Accelerances of modes with random shapes at s = j w + decay."""
    rng = np.random.default_rng(seed)
    s = 2j * np.pi * f + decay
    H = np.zeros((len(f), outputs, inputs), dtype=complex)
    for hz, ratio in zip(frequencies, ratios, strict=True):
        w = 2 * np.pi * hz
        shape = np.outer(rng.normal(size=outputs), rng.normal(size=inputs))
        H += shape[None] / (s**2 + 2 * ratio * w * s + w**2)[:, None, None]
    return H * (s**2)[:, None, None]


def responses(H, f=LINES, decay=0.0):
    names = [tuple(f"{k + 1}:+x" for k in range(n)) for n in H.shape[1:]]
    return Responses(f, H, names[0], names[1], (2,) * H.shape[1], decay=decay)


def noisy(H, share, seed=1):
    rng = np.random.default_rng(seed)
    size = share * np.sqrt(np.mean(np.abs(H) ** 2, axis=0)) / np.sqrt(2)
    return H + size * (rng.normal(size=H.shape) + 1j * rng.normal(size=H.shape))


def test_poles_without_noise_are_exact() -> None:
    f, z = [18, 30, 30.6, 52], [0.01, 0.02, 0.02, 0.03]
    found = extracted(responses(system(f, z, 8, 1))).modes
    np.testing.assert_allclose(found.frequencies_hz, f, rtol=1e-9)
    np.testing.assert_allclose(found.damping_ratios, z, rtol=1e-7)


def test_close_modes_in_much_noise() -> None:
    """Two modes 2 % apart with 2 % damping in 20 % noise: frequencies to 0.1 %, ratios to 5 %, deviations that fit."""
    f, z = np.array([30.0, 30.6]), np.array([0.02, 0.02])
    found = extracted(responses(noisy(system(f, z, 24, 1), 0.2))).modes
    assert len(found.poles) == 2
    errors, ratios = np.abs(found.frequencies_hz / f - 1), np.abs(found.damping_ratios / z - 1)
    assert errors.max() < 1e-3 and ratios.max() < 0.05
    assert (np.abs(found.frequencies_hz - f) < 4 * found.frequency_deviation).all()
    assert (np.abs(found.damping_ratios - z) < 4 * found.damping_deviation).all()
    assert (found.frequency_deviation / f).max() < 1e-3


def test_shapes_and_participations_restore_the_residues() -> None:
    f, z = [20, 40], [0.01, 0.02]
    H = system(f, z, 6, 2)
    found = extracted(responses(H)).modes
    rng = np.random.default_rng(0)
    for k, hz in enumerate(f):
        shape = np.outer(rng.normal(size=6), rng.normal(size=2))
        wd = 2 * np.pi * hz * np.sqrt(1 - z[k] ** 2)
        np.testing.assert_allclose(np.outer(found.shapes[:, k], found.participations[k]), shape / (2j * wd), rtol=1e-6)
    np.testing.assert_allclose(found.phase_collinearity(), 1, atol=1e-9)


def test_the_damping_of_an_exponential_window_is_taken_out() -> None:
    f, z, decay = [20.0, 40.0], [0.01, 0.015], 2.3
    found = extracted(responses(noisy(system(f, z, 8, 1, decay=decay), 0.01), decay=decay)).modes
    np.testing.assert_allclose(found.damping_ratios, z, rtol=0.02)
    with_window = extracted(responses(noisy(system(f, z, 8, 1, decay=decay), 0.01))).modes
    assert with_window.damping_ratios[0] > 2 * z[0]  # what the window alone would make of it


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    H = noisy(system([20, 40], [0.01, 0.02], 4, 1), 0.02)
    functions = [Function58(4, LINES, H[:, o, 0], o + 1, 1, 9, -3, 2, False, "a") for o in range(4)]
    return write_functions(tmp_path / "measured.uff", functions)


def test_the_verb(measured: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "modes.uff", tmp_path / "stable.png"
    run = CliRunner().invoke(main, ["extract", str(measured), "--json", "-o", str(out), "--plot", str(plot)])
    assert run.exit_code == 0, run.output
    found = json.loads(run.output)
    np.testing.assert_allclose(found["frequencies_hz"], [20, 40], rtol=1e-3)
    again = read_modes(out)
    np.testing.assert_allclose([abs(m.pole) / (2 * np.pi) for m in again], found["frequencies_hz"], rtol=1e-9)
    assert sorted(again[0].shape) == [1, 2, 3, 4] and plot.stat().st_size > 10_000
    told = CliRunner().invoke(main, ["extract", str(measured)])
    assert "stable in" in told.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace(" 1.0", " NaN", 1), "not a number"),
        (lambda t: t[: len(t) * 2 // 3], "cut off"),
        (lambda t: t.replace(f"{401:10d}", f"{40001:10d}"), "announces 40001 values; holds 401"),
        (lambda t: t.replace("m/s^2", "NONE ").replace("   164", "   165"), "units"),
        (lambda t: "nothing", "universal"),
    ],
)
def test_bad_files_are_refused_in_one_line(measured: Path, change, words: str) -> None:
    text = measured.read_text()
    text = text.replace(text.split("\n")[text.split("\n").index("    58") + 13][:20], " 1.0".ljust(20), 1)
    measured.write_text(change(text))
    run = CliRunner().invoke(main, ["extract", str(measured)])
    assert run.exit_code == 2 and words in run.output and run.output.count("\n") == 1, run.output
