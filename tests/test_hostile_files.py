"""What is made to mislead: controllers with numbers that cannot be, results that name other files, endless plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from supple.api import Robot
from supple.backends.stepping.layout import CONSTANTS
from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.measured.tables import read_modal_table
from supple.motion import laws
from supple.motion.laws import Estimate, LawPart, SampledLaw, Sensor, law_text, read_law
from supple.storage.differences import differences
from supple.storage.studies import read_study


def small_law() -> SampledLaw:
    """Two states, a sensor, an actuator and a push, made for two poses."""
    A, B, E, C, D = np.eye(2) / 2, np.ones((2, 1)), np.zeros((2, 2)), np.ones((2, 2)), np.zeros((2, 1))
    estimate = Estimate(("P.x",), np.ones((1, 2)), np.zeros((1, 1)), np.ones((1, 1)))
    parts = tuple(LawPart({"q11": x}, A, B, E, C, D, estimate) for x in (0.0, 0.1))
    return SampledLaw(
        "dualemps", "small", (Sensor("q11"),), ("q11",), ("P.fx",), 1e-3, 0.0, parts, (1.0, np.inf), (0.0, 0.1)
    )  # fmt: skip


def written(path: Path, change: dict[str, Any]) -> Path:
    """A controller file with some of its entries changed; entries of its last part begin with a dot."""
    data = json.loads(law_text(small_law()))
    for key, value in change.items():
        (data["parts"][-1] if key[0] == "." else data)[key.lstrip(".")] = value
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_controller_comes_back_from_its_file(tmp_path: Path) -> None:
    found = read_law(written(tmp_path / "law.json", {}))
    assert found.parts[1].at == {"q11": 0.1} and found.limit == (1.0, np.inf) and found.parts[0].estimate is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parts": []}, "no part"),
        ({"noise": [float("nan"), 0]}, "a noise not below"),
        ({"limit": [float("nan"), 1]}, "a limit above zero"),
        ({"sample": float("inf")}, "sample time"),
        ({"sample": 10**400}, "OverflowError"),
        ({"seed": float("inf")}, "OverflowError"),
        ({"seed": -1}, "seed"),
        ({"actuators": ["P.fx"]}, "twice"),
        ({".at": {}}, "poses of its parts"),
        ({".at": {"q11": float("nan")}}, "poses of its parts"),
        ({".estimate": {"names": ["a", "b"], "C": [[1, 1]], "D": [[1]], "covariance": [[1]]}}, "C must be 2 x 2"),
        ({"sensors": [{"of": "\x1b[31m", "quantity": "?", "noise": 0, "resolution": 0}]}, r"sensor \\x1b\[31m"),
    ],
    ids=str,
)
def test_a_controller_that_cannot_be_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(SuppleError, match=said) as caught:
        read_law(written(tmp_path / "law.json", change))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("way", ["link", "raw", "virtual"])
@pytest.mark.parametrize("read", [read_modal_table, read_study, lambda p: differences(p, p)], ids=["table", "map", "result"])
def test_results_do_not_bring_in_other_files(way: str, read: Any, tmp_path: Path) -> None:
    """HDF5 has three ways to name other files; through none of them may a file from elsewhere show what is in them."""
    import h5py  # type: ignore[import-untyped]

    (tmp_path / "secret").write_bytes(np.array([14.1, 24.9]).tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["frequency"] = np.array([14.1, 24.9])
    with h5py.File(tmp_path / "made.nc", "w") as made:
        if way == "link":
            made["frequency"] = h5py.ExternalLink("other.h5", "frequency")
        elif way == "raw":
            made.create_dataset("frequency", (2,), "f8", external=[(str(tmp_path / "secret"), 0, 16)])
        else:
            layout = h5py.VirtualLayout((2,), "f8")
            layout[:] = h5py.VirtualSource("other.h5", "frequency", (2,))
            made.create_virtual_dataset("frequency", layout)
    with pytest.raises(SuppleError, match=r"in another file|in other files"):
        read(tmp_path / "made.nc")


def test_samples_that_wait_fit_the_integrators() -> None:
    assert CONSTANTS["MOST_WAITING"][0] - 4 == laws.MOST_WAITING


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("control", "--law", "lqg:effort=1,deviation=1,sample=1 ms,delay=1e9"), "more than 60 samples"),
        (("generate", "--model", "plant", "--target", "../c", "-o", "."), "not for '../c'"),
        (("generate", "--target", "fmu", "--fmi", "9.9", "-o", "."), "no FMI '9.9'"),
        (("generate", "--target", "fmu", "-o", f"{__file__}/x"), "cannot be written"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_told_before_it_is_begun(
    words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Robots whose equations take seconds to derive are not derived first."""
    monkeypatch.setattr(Machine, "model", lambda *args, **options: pytest.fail("the robot is being derived"))
    found = CliRunner().invoke(main, [words[0], "gough_stewart_plate", *words[1:]])
    assert found.exit_code == 2 and said in found.stderr and found.stderr.count("\n") == 1


def test_plans_have_a_number_of_poses_that_can_be_measured() -> None:
    with pytest.raises(SuppleError, match="at most 100 are chosen"):
        Robot("cantilever").plan("E", poses=10**9)
