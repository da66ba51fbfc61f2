"""Chosen signals of a simulation: the same numbers as among all, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray
from click.testing import CliRunner

import supple
from supple.cli.main import main
from supple.errors import SuppleError
from supple.model import seen
from supple.robot.fingerprint import fingerprint

MOTION = {"motion": "square", "duration": 0.02}


def test_chosen_signals_are_those_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = supple.Robot("dualemps")
    every = robot.simulate(**MOTION)
    some = robot.simulate(**MOTION, keep="tau, point_deformation")
    assert sorted(some.signals) == ["point_deformation", "tau"]
    for key, signal in some.signals.items():
        assert np.array_equal(signal.values, every.signals[key].values)
    assert some.summary["energy_balance_error"] == every.summary["energy_balance_error"]
    monkeypatch.setattr(seen, "undeformed_places", lambda *given: pytest.fail("nobody asked for deformations"))
    assert list(robot.simulate(**MOTION, keep=["closure"]).signals) == ["closure"]


def test_chosen_signals_are_written_and_others_refused(tmp_path: Path) -> None:
    words = ["simulate", "dualemps", "--motion", "square", "--duration", "0.02", "--keep"]
    file = tmp_path / "run.nc"
    found = CliRunner().invoke(main, [*words, "tau", "-o", str(file)])
    assert found.exit_code == 0, found.output
    with xarray.open_dataset(file, engine="h5netcdf") as written:
        assert list(written.data_vars) == ["tau"]
    refused = CliRunner().invoke(main, [*words, "torque"])
    assert refused.exit_code == 2 and "there is no signal 'torque'; choose of position, velocity" in refused.output
    with pytest.raises(SuppleError, match="has no signal 'spring_force'; it has: position"):
        supple.Robot("dualemps").simulate(**MOTION, keep="spring_force")


def test_a_plate_that_was_kept_is_the_one_that_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    pytest.importorskip("skfem")
    first, again = (supple.Robot("gough_stewart_plate").mechanism() for _ in range(2))
    assert fingerprint(first) == fingerprint(again) is not None
    assert [sorted(m.pieces) for m in (first, again)] == [sorted(first.pieces)] * 2
