"""`compare`: formulations of one robot side by side, from Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from supple.analyses.compare import compared
from supple.cli.main import main
from supple.errors import SuppleError
from supple.formulations import registry
from supple.machine import Machine
from supple.model.model import Model
from supple.views.comparison import comparison_page
from supple.views.page import print_page


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), prog_name="supple", terminal_width=200)


def every(name: str) -> dict[str, Model | str]:
    made: dict[str, Model | str] = {}
    for method in registry.names():
        try:
            made[method] = Machine.read(name).model(method)
        except SuppleError as reason:
            made[method] = str(reason)
    return made


def test_every_formulation_has_an_expectation() -> None:
    """What `compare` expects of a formulation is stated for each of the registry."""
    expected = {name: registry.formulation(name).expected for name in registry.names()}
    assert expected.pop(registry.USUAL) == "reference"
    assert set(expected.values()) == {"rounding", "order 1"}


@pytest.mark.parametrize("name", ["3rrr", "dualemps"])
def test_differences_have_the_expected_order(name: str) -> None:
    """Same mathematics: rounding. Linear small rotations (ERLS): first order in the deformation, at rest nothing."""
    found = compared(every(name), timed=False)
    assert found.reference == "newton_euler"
    for row in found.rows:
        if row.reason:
            assert "does not take this robot, because of" in row.reason
            continue
        assert row.frequency_difference is not None and row.frequency_difference < 1e-7
        assert row.mass_difference is not None and row.force_difference is not None
        if row.expected == "order 1":
            assert row.mass_order == pytest.approx(1, abs=0.1)
            assert row.force_order is not None and row.force_order > 0.7
        else:
            assert row.mass_order is None and row.force_order is None
            assert max(row.mass_difference, row.force_difference) < 1e-10


def test_costs() -> None:
    """Operations are those of the Functions; compiled, one evaluation takes some time."""
    models = every("five_bar_elastic")
    found = compared(models, generated={"lagrange": 7})
    for row in found.rows:
        model = models[row.formulation]
        if isinstance(model, Model):
            assert row.operations == model.equations.forces.operations
            assert row.microseconds is None or 0 < row.microseconds < 1e4
    assert {row.formulation: row.forward_operations for row in found.rows}["lagrange"] == 7


def test_the_pose_is_the_one_asked_for() -> None:
    """Frequencies are those of `supple modes` at the same pose."""
    at = {"arm1/q1": 2.0, "arm2/q1": 1.1}
    found = compared({"newton_euler": Machine.read("five_bar").model()}, at, timed=False)
    assert found.pose["arm1/q1"] == 2.0
    shown = run("modes", "five_bar", "--at", "arm1/q1=2.0", "--at", "arm2/q1=1.1", "--json", "--count", "6")
    assert json.loads(shown.stdout)["frequencies_hz"] == pytest.approx(list(found.rows[0].frequencies_hz), rel=1e-9)


def test_command_line(tmp_path: Path) -> None:
    """A table, strict JSON and a picture; misspelt formulations are refused in words."""
    picture = tmp_path / "compared.png"
    shown = run("compare", "five_bar_elastic", "--no-time", "--plot", str(picture))
    assert shown.exit_code == 0, shown.output
    assert "lagrange_dalembert" in shown.stdout and "missing platform" in shown.stdout
    assert picture.stat().st_size > 5000
    data = json.loads(run("compare", "five_bar_elastic", "--no-time", "--only", "scdd", "--json").stdout)
    assert [row["formulation"] for row in data["rows"]] == ["newton_euler", "scdd"]
    refused = run("compare", "five_bar", "--only", "lagrang")
    assert refused.exit_code == 2 and "there is no formulation 'lagrang'; choose one of newton_euler" in refused.output


def test_models_by_formulation_on_the_command_line(tmp_path: Path) -> None:
    """`count` and `generate` take --formulation; what a formulation has no model for is said."""
    arguments = ("count", "five_bar_elastic", "--set", "crank_mass=0", "--model", "mass")
    counts = json.loads(run(*arguments, "--formulation", "lagrange", "--json").stdout)
    assert counts["model"] == "mass" and counts["operations"]["total"] > 100
    written = run(
        "generate", "five_bar_elastic", "--model", "mass", "--formulation", "lagrange_dalembert", "--target", "python",
        "-o", str(tmp_path),
    )  # fmt: skip
    assert written.exit_code == 0, written.output
    text = next(tmp_path.glob("*.py")).read_text(encoding="utf-8")
    assert "arm1/q1" in text
    refused = run("count", "surgiscope", "--model", "forward", "--formulation", "scdd")
    assert refused.exit_code == 2 and "384 coordinates are more than the 120 it takes" in refused.output
    refused = run("count", "five_bar", "--formulation", "newton")
    assert refused.exit_code == 2 and "choose one of newton_euler, lagrange, lagrange_dalembert, scdd" in refused.output


def test_a_motion_by_three_formulations() -> None:
    """--motion simulates with each formulation at every tolerance: each takes its own steps, and differences shrink."""
    shown = run(
        "compare", "five_bar_elastic", "--no-time", "--only", "lagrange", "--only", "scdd", "--motion", "line", "--duration",
        "0.2 s", "--tol", "1e-7", "--tol", "1e-5", "--json",
    )  # fmt: skip
    assert shown.exit_code == 0, shown.output
    reference, *others = json.loads(shown.stdout)["rows"]
    assert reference["integrated"] == "2 of 6 coordinates, closed form"
    for row in others:
        coarse, fine = row["moved"]
        assert row["integrated"].startswith("4 of 6 coordinates, ")
        assert (coarse["tolerance"], fine["tolerance"]) == (1e-5, 1e-7)
        assert coarse["steps"] < fine["steps"] != reference["moved"][1]["steps"]
        assert 0 < fine["differences"]["acceleration"] < 0.5 * coarse["differences"]["acceleration"]
        assert fine["closure"] < 1e-5 and fine["differences"]["position"] < 1e-5
    assert others[0]["moved"] != others[1]["moved"]


def test_a_motion_that_a_formulation_does_not_integrate_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Why a formulation refuses a motion stands where its numbers would be."""
    models = {f: Machine.read("five_bar_elastic").model(f) for f in ("newton_euler", "scdd")}
    found = compared(models, timed=False, motions={"newton_euler": [], "scdd": "no inertia of its own"})
    assert [row.integrated for row in found.rows] == ["", "no inertia of its own"]
    print_page(comparison_page(found))
    assert "scdd: no inertia of its own" in capsys.readouterr().out
