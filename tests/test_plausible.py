"""Values that are allowed but that no robot has get a word."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from click.testing import CliRunner

from supple.cli.main import main
from supple.errors import UnlikelyValue
from supple.machine import Machine, gallery
from supple.robot.plausible import unusual


@pytest.mark.parametrize(
    ("number", "kind", "meant"),
    [
        (70, "pressure", "70 GPa"),
        (70000, "pressure", "70000 MPa"),
        (2e6, "pressure", None),  # rubber
        (205e3, "pressure", "205000 MPa"),
        (21, "angle or length", "21 deg"),
        (-3.5, "angle or length", None),
        (5e12, "pressure", None),  # a study of a nearly rigid robot
        (7e19, "pressure", "is the unit right?"),
        (2.7, "density", "2.7 g/cm^3"),
        (7.85e-9, "density", "7.85e-09 t/mm^3"),
        (30, "density", None),  # foam
        (400, "length", "400 mm"),
        (-400, "length", "-400 mm"),
        (0.4, "length", None),
        (9810, "acceleration", "9810 mm/s^2"),
        (9.81, "acceleration", None),
        (45, "angle", "45 deg"),
        (-3.14, "angle", None),
        (2, "damping ratio", "2 %, that is 0.02"),
        (0.096, "damping ratio", None),
        (0, "pressure", None),
        (1e-12, "inertia", None),
    ],
)
def test_a_remark_names_the_value_and_its_likely_meaning(number: float, kind: str, meant: str | None) -> None:
    said = unusual(number, kind)
    if meant is None:
        assert said is None
    else:
        assert said is not None and meant in said and f"{number:g}" in said


@pytest.mark.parametrize("robot", gallery())
def test_the_gallery_needs_no_remark(robot: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikelyValue)
        Machine.read(robot)


def shown(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(x) for x in arguments], catch_exceptions=False)


def test_a_setting_without_its_unit_is_one_line_on_stderr() -> None:
    """The file is read more than once, the line is said once; stdout stays what it was."""
    result = shown("modes", "dualemps", "--set", "E=74", "--count", "1", "--json")
    lines = [s for s in result.stderr.splitlines() if "warning" in s]
    assert len(lines) == 1 and "materials.duralumin.E: is 74 Pa" in lines[0] and "did you mean 74 GPa?" in lines[0]
    assert "warning" not in result.stdout
    assert "warning" not in shown("modes", "dualemps", "--set", "E=74 GPa", "--count", "1").stderr


def test_damping_in_per_cent_is_noticed() -> None:
    with pytest.warns(UnlikelyValue, match="did you mean 2 %, that is 0.02"):
        Machine.read("surgiscope", {"eta": 2})
