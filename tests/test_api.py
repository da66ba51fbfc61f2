"""`import supple`: the front door of notebooks, beside the command line that stands on it."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import supple
from supple import api
from supple.cli.main import main

# options of the command line that are no options of a call: where a result goes, and how it is printed
PRINTING = {"robot", "as_json", "plot", "mode", "settings", "output", "target", "fmi", "files", "no_time", "model", "loads"}
RENAMED = {"files": "write", "no_time": "timed", "fmi": "version"}


@pytest.fixture(scope="module")
def robot() -> supple.Robot:
    return supple.Robot("dualemps", E="72 GPa")


def test_examples_in_docstrings() -> None:
    rooms = [import_module(f"supple.api.{file.stem}") for file in Path(api.__file__).parent.glob("*.py")]
    found = [doctest.testmod(room, globs={"supple": supple}) for room in rooms]
    assert sum(x.failed for x in found) == 0 and sum(x.attempted for x in found) >= 10


def test_importing_costs_nothing_until_something_is_used() -> None:
    code = "import sys, supple; assert not {'numpy', 'supple.api', 'rich'} & set(sys.modules); print(dir(supple))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(name in shown for name in supple.__all__)
    for name in supple.__all__:
        assert getattr(supple, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = supple.nonsense


def test_a_robot_says_what_it_is(robot: supple.Robot) -> None:
    assert repr(robot) == "Robot('dualemps', E='72 GPa')"
    assert repr(robot.keeping(["E"])) == "Robot('dualemps', E='72 GPa').keeping(['E'])"
    assert robot.parameters["E"] == pytest.approx(72e9) and "square" in robot.motions
    table = robot._repr_html_()
    assert "<table>" in table and "q11 (actuator)" in table and "dualemps" in table
    assert type(robot.changed({"E": 7e10})) is supple.Robot
    assert robot.changed({"E": 7e10}).parameters["E"] == 7e10 and robot.parameters["E"] == pytest.approx(72e9)


@pytest.mark.parametrize(
    ("verb", "call"),
    [("check", "check"), ("modes", "modes"), ("simulate", "simulate"), ("inverse", "inverse"), ("compare", "compare"),
     ("count", "count"), ("generate", "generate"), ("bodies", "bodies")],
)  # fmt: skip
def test_every_option_of_a_verb_is_an_option_of_its_call(verb: str, call: str) -> None:
    known = set(inspect.signature(getattr(supple.Robot, call)).parameters)
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    asked = {p.name for p in command.params if isinstance(p, click.Option) and p.expose_value}
    missing = {RENAMED.get(n, n) for n in asked - PRINTING if n is not None} - known
    missing -= {"structural"} if verb == "generate" else set()  # of FMUs: export_fmu
    assert not missing


def test_every_analysis_is_a_verb_and_a_call(robot: supple.Robot) -> None:
    folder = Path(api.__file__).parents[1] / "analyses"
    verbs = main.list_commands(click.Context(main))
    for name in (p.stem for p in folder.glob("*.py") if p.stem != "__init__"):
        assert name.replace("_", "-") in verbs and callable(getattr(robot, name))
        known = inspect.signature(getattr(import_module(f"supple.analyses.{name}"), name)).parameters
        own = inspect.signature(getattr(supple.Robot, name)).parameters
        given = {k: p.default for k, p in known.items() if p.kind is p.KEYWORD_ONLY and k != "report"}
        assert given == {k: own[k].default for k in given} or name == "modes"  # a call shows ten, the analysis all
    with pytest.raises(AttributeError, match="has no 'nonsense'"):
        _ = robot.nonsense


def test_calls_and_commands_give_the_same(robot: supple.Robot) -> None:
    def said(*words: str) -> dict[str, object]:
        found = CliRunner().invoke(main, [*words, "--set", "E=72 GPa", "--json"])
        assert found.exit_code == 0, found.output
        return dict(json.loads(found.stdout))

    modes = robot.modes({"q11": "50 mm"}, count=3, free=True)
    assert said("modes", "dualemps", "--at", "q11=50 mm", "--count", "3", "--free")["frequencies_hz"] == pytest.approx(
        modes.frequencies_hz.tolist(), rel=1e-12, abs=1e-9
    )
    assert said("check", "dualemps")["points"] == json.loads(json.dumps(robot.check().points))
    found = CliRunner().invoke(main, ["count", "five_bar_elastic", "--model", "mass", "--json"])
    assert json.loads(found.stdout) == supple.Robot("five_bar_elastic").count("mass").to_json()


def test_modes_as_tables_pictures_and_datasets(robot: supple.Robot, tmp_path: Path) -> None:
    modes = robot.modes(count=3)
    assert repr(modes).startswith("<dualemps: 3 modes, ") and repr(modes).endswith(" Hz>")
    assert modes._repr_html_().count("<tr>") == 4
    found = modes.to_xarray()
    assert found.sizes["mode"] == 3 and found.frequency.attrs["units"] == "Hz"
    np.testing.assert_array_equal(found["shape"].sel(mode=2), modes.shapes[:, 1])
    picture = modes.plot(2, tmp_path / "mode.png")
    assert (tmp_path / "mode.png").read_bytes()[:4] == b"\x89PNG" and picture._repr_png_()[:4] == b"\x89PNG"
    with pytest.raises(supple.SuppleError, match="there is no mode 9"):
        modes.plot(9)


def test_runs_as_tables_pictures_and_files(robot: supple.Robot, tmp_path: Path) -> None:
    run = robot.simulate("square", duration="50 ms", every="5 ms", tol=1e-4)
    assert run["tau:q11"].shape == run.time.shape == (11,)
    assert run.to_xarray().tau.sel(actuator="q11").values == pytest.approx(run["tau:q11"])
    assert run.save(tmp_path / "x.nc").exists() and run.plot(tmp_path / "x.svg") is not None
    assert "signal" in run._repr_html_()
    saved = robot.simulate("square", duration=0.05, every=5e-3, tol=1e-4, output=tmp_path / "y.csv")
    assert (tmp_path / "y.csv").exists()
    np.testing.assert_array_equal(saved["tau"], run["tau"])
    forces = robot.inverse("square", duration=0.05, every=5e-3, quasi_static=True)
    assert forces["tau"].shape == (11, 2)


def test_generated_functions_can_be_called(tmp_path: Path) -> None:
    """Forces by compiled code whose stiffness is an input, and by that of a robot which has it."""
    robot = supple.Robot("five_bar_elastic")
    model = robot.model()
    f = robot.function("mass", keep=["k"])
    q = 1e-3 * np.random.default_rng(3).standard_normal(model.mechanism.nq)
    given = {"q": q, "v": np.zeros(model.nv), "g": model.gravity}
    stiff = robot.parameters["k"]
    many = f(**given, p=np.array([[stiff], [stiff / 2]]))
    assert len(many["c"]) == 2 and not np.allclose(many["c"][0], many["c"][1])
    softer = robot.changed({"k": stiff / 2}).function("mass")(**given)
    np.testing.assert_allclose(many["c"][1], softer["c"], rtol=1e-9)
    made = robot.generate("mass", "python", tmp_path)
    assert all(file.exists() for file in made.files) and made.counts["operations"]["total"] > 0


def test_mistakes_are_errors_in_words(tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match="did you mean 'dualemps'"):
        supple.Robot("dualemp")
    with pytest.raises(supple.SuppleError, match="no parameter 'nonsense'; it has: E, rho"):
        supple.Robot("dualemps", nonsense=3)
    (tmp_path / "broken.yaml").write_text("space: planar\nlinks: {a: {parnt: base}}\n")
    with pytest.raises(supple.RobotFileError, match=r"broken.yaml:2: links.a.parnt: .*'parent'"):
        supple.Robot(tmp_path / "broken.yaml")
    with pytest.raises(supple.SuppleError, match="must be an angle"):
        supple.Robot("five_bar").modes({"arm1/q1": "3 mm"})
    with pytest.raises(supple.PoseError):
        supple.Robot("3rrr").modes({"x": 50.0, "y": 0.0})
    with pytest.raises(supple.SuppleError, match="to keep"):
        supple.Robot("five_bar").keeping(["nonsense"])


def test_texts_of_robots_do_not_become_html(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    text = (Path(supple.Robot("cantilever").source.tree.file)).read_text(encoding="utf-8")
    file.write_text(text.replace("about:", "about: <script>alert(1)</script>", 1), encoding="utf-8")
    assert "<script>" not in supple.Robot(file)._repr_html_()
