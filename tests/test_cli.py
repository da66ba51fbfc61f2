"""The command line: strict JSON, one line per error with exit code 2, help that names everything, a quick start."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from supple.cli.main import main
from supple.machine import gallery, locate

BRACKETS = "odd [bold]name[/bold] [/nope] [0]"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), prog_name="supple", terminal_width=200)


def strict(text: str) -> Any:
    """JSON without NaN and Infinity."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def cantilever(folder: Path, old: str, new: str) -> str:
    """The path of a changed copy of the cantilever."""
    text = locate("cantilever").read_text(encoding="utf-8")
    assert old in text
    file = folder / "robot.yaml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return str(file)


# Errors -----------------------------------------------------------------------------------------------------------

BAD_COMMANDS = [
    ("modes cantileverr", "supple: there is no robot 'cantileverr'; did you mean 'cantilever'?"),
    ("check xyzzy", "the gallery has: 3prr, 3rrr, bricard, cantilever"),
    ("check none.yaml", "none.yaml:1: no such file; 'supple robots' lists the gallery"),
    ("check /tmp", "/tmp:1: is a directory; give the path of a robot file"),
    ("check " + "x" * 400, "there is no robot"),
    ("check five_bar --at arm1/q11=1", "five_bar has no coordinate 'arm1/q11'; did you mean 'arm1/q1'?"),
    ("check five_bar --at arm1/q1", "--at 'arm1/q1' must be NAME=VALUE"),
    ("check five_bar --at =1", "--at '=1' must be NAME=VALUE"),
    ("check five_bar --at arm1/q1=abc", "at arm1/q1=abc: does not know 'abc'"),
    ("check five_bar --at arm1/q1=nan", "at arm1/q1=nan: must be finite"),
    ("check five_bar --at arm1/q1=1e999", "out of range"),
    ("check five_bar --at arm1/q1=1kg", "must be an angle, but the units given make a mass"),
    ("check five_bar --at arm1/q1=1mm", "at arm1/q1=1mm: must be an angle, but the units given make a length"),
    ("check five_bar --at arm1/q1=1 --at arm1/q1=2", "--at arm1/q1 is given twice; give it once"),
    ("check 3rrr --at x=0 --at leg1/q1=1", "give either the platform's pose (x, ...) or joint values"),
    ("check delta --at z=-5", "cannot close at z=-5, x=0, y=0; the pose is out of reach"),
    ("check five_bar --assembly sideways", "has no assembly mode 'sideways'; it has: outward, inward"),
    ("check cantilever --set L", "--set 'L' must be NAME=VALUE"),
    ("check cantilever --set LL=1", "there is no parameter 'LL'; did you mean 'L'?"),
    ("check cantilever --set L=1kg", "parameter L: '1kg' makes a mass; the robot file has a length"),
    ("check cantilever --set L=-1", "bodies.beam.beam.length: must be positive"),
    ("check cantilever --set elements=2.5", "bodies.beam.beam.elements: must be a whole number"),
    ("modes cantilever --load tip=1,2", "--load 'tip=1,2' must be POINT=FX,FY,FZ"),
    ("modes cantilever --load tip=1,2,nan", "--load 'tip=1,2,nan' must be POINT=FX,FY,FZ"),
    ("modes cantilever --load nose=1,2,3", "cantilever has no point 'nose'; it has: tip"),
    ("modes cantilever --plot mode.txt", "mode.txt: a picture ends with one of .png, .svg, .pdf, .gif"),
    ("modes cantilever --plot /nonexistent/mode.png", "/nonexistent/mode.png: cannot be written: No such file"),
    ("modes cantilever --plot mode.png --mode 99", "there is no mode 99; 24 were computed"),
]


@pytest.mark.parametrize(("command", "says"), BAD_COMMANDS, ids=[c[:50] for c, _ in BAD_COMMANDS])
def test_a_wrong_command_is_one_line_and_exit_code_2(command: str, says: str) -> None:
    result = run(*command.split(" "))
    assert result.exit_code == 2, result.output
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1 and "Traceback" not in result.output


@pytest.mark.parametrize("command", ["mods cantilever", "modes", "modes cantilever --count 0", "modes cantilever --cout 3"])
def test_misuse_of_the_command_line_shows_the_usage(command: str) -> None:
    result = run(*command.split())
    assert result.exit_code == 2 and "Usage: supple" in result.stderr and "Error: " in result.stderr


def test_every_problem_of_a_file_is_a_line_of_its_own(tmp_path: Path) -> None:
    file = cantilever(tmp_path, "nu: 0.3}\nsections:", "nu: 0.6, hardness: 1}\nsections:")
    result = run("check", file)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[0] == f"{file}:17: materials.steel.hardness: unknown key; known here: E, rho, nu, G, yield"
    assert lines[1:] == [f"{file}:17: materials.steel.nu: must be below 0.5"]


def test_a_real_process_ends_without_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"\x80\x81")
    done = subprocess.run(
        [sys.executable, "-m", "supple", "check", "bad.yaml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "bad.yaml:1: is not UTF-8 text (byte 0); save it as UTF-8\n"


# Output -----------------------------------------------------------------------------------------------------------


def test_robots_as_json_names_the_gallery() -> None:
    rows = strict(run("robots", "--json").stdout)
    assert [row["name"] for row in rows] == gallery()
    assert all(row.keys() == {"name", "space", "about", "motions"} and row["about"] for row in rows)


def test_the_only_motion_of_a_robot_needs_no_name(tmp_path: Path) -> None:
    several = run("simulate", "gough_stewart")
    assert several.exit_code == 2
    assert "choose a motion of gough_stewart; it has: quintic, controlled" in several.output
    text = locate("cantilever").read_text(encoding="utf-8")
    (tmp_path / "still.yaml").write_text(text[: text.index("motions:")], encoding="utf-8")
    assert "its file has none; name a file (.yaml, .csv)" in run("simulate", str(tmp_path / "still.yaml")).output
    listed = {row["name"]: row["motions"] for row in strict(run("robots", "--json").output)}
    assert listed["cantilever"] == ["hammer"]
    assert run("inverse", "cantilever").output.startswith("supple: 'hammer' has no path")


@pytest.mark.parametrize("robot", ["cantilever", "bricard", "five_bar"])
def test_check_as_json(robot: str) -> None:
    data = strict(run("check", robot, "--json").stdout)
    assert data["robot"] == robot and data["closure_error"] < 1e-9
    assert {"coordinates", "pose", "units", "mobility", "freedom", "overconstraint", "closures"} <= data.keys()
    assert data["pose"].keys() <= data["units"].keys()


@pytest.mark.parametrize("robot", ["cantilever", "five_bar", "dualemps"])
def test_modes_as_json(robot: str) -> None:
    data = strict(run("modes", robot, "--json", "--count", "4").stdout)
    assert len(data["frequencies_hz"]) == len(data["damping_ratios"]) == len(data["shapes"]) == 4
    assert all(len(shape) == len(data["coordinates"]) for shape in data["shapes"])
    assert data["pose"].keys() == set(data["coordinates"])
    assert data["frequencies_hz"] == sorted(data["frequencies_hz"])


def test_what_is_not_finite_becomes_null() -> None:
    from supple.cli.options import _strict

    assert _strict({"a": [float("nan"), (float("inf"), 1.5)], "b": "nan"}) == {"a": [None, [None, 1.5]], "b": "nan"}


def test_settings_and_poses_take_units() -> None:
    short = strict(run("modes", "cantilever", "--set", "L=50 cm", "--json").stdout)["frequencies_hz"][0]
    long = strict(run("modes", "cantilever", "--json").stdout)["frequencies_hz"][0]
    assert short == pytest.approx(4 * long, rel=1e-3)
    pose = strict(run("check", "five_bar", "--at", "arm1/q1=120 deg", "--json").stdout)["pose"]
    assert pose["arm1/q1"] == pytest.approx(2.0943951023931953, abs=1e-12)


def test_a_verb_that_is_none_gets_the_nearest_one() -> None:
    assert "No such command 'mode'; did you mean 'modes'?" in run("mode", "cantilever").stderr


def test_values_of_a_pose_are_given_one_by_one_or_with_commas() -> None:
    def modes(*words: str) -> str:
        return CliRunner().invoke(main, ["modes", "dualemps", "--count", "1", "--json", *words]).stdout

    together = modes("--at", "q11=50 mm, q21=-0.02")
    assert json.loads(together)["frequencies_hz"] and together == modes("--at", "q11=50 mm", "--at", "q21=-0.02")


def test_brackets_in_names_are_printed_as_they_are(tmp_path: Path) -> None:
    file = cantilever(tmp_path, "name: cantilever\nabout: A", f"name: '{BRACKETS}'\nabout: (see [red]) A")
    for verb in ("check", "modes"):
        result = run(verb, file)
        assert result.exit_code == 0, result.output
        assert BRACKETS in " ".join(result.stdout.split())
    assert "(see [red])" in " ".join(run("check", file).stdout.split())


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    result = run("modes", "cantilever", "--plot", str(tmp_path / "mode.svg"))
    assert result.exit_code == 0 and "mode 1 drawn in" in result.stdout
    assert "<svg" in (tmp_path / "mode.svg").read_text(encoding="utf-8")


# Help and start ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", sorted(main.commands))
def test_help_names_and_explains_every_option(verb: str) -> None:
    text = run(verb, "--help").stdout
    assert verb in run("--help").stdout
    for parameter in main.commands[verb].params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[-1] in text
            assert parameter.help, f"{verb} {parameter.opts[-1]} has no help"
        else:
            assert parameter.make_metavar(click.Context(main.commands[verb])) in text


def test_help_starts_without_the_heavy_libraries() -> None:
    code = "import sys, supple.cli.main; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "click" in loaded
    assert not {"numpy", "scipy", "matplotlib", "pydantic", "ruamel", "rich"} & set(loaded)


def test_the_schema_is_printed_as_json() -> None:
    schema = strict(run("schema").stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["type"] == "object" and "space" in schema["required"] and "legs" in schema["properties"]


def test_the_version_is_a_version() -> None:
    assert re.search(r"\d+\.\d+", run("--version").stdout)
    module = subprocess.run([sys.executable, "-m", "supple", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == run("--version").stdout.replace("main", "supple")


def test_the_tour_makes_its_folder_and_leaves_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a newcomer runs first; without its simulation, for time."""
    monkeypatch.setattr("supple.tour.find_compiler", lambda: None)
    folder = tmp_path / "new" / "tour"
    told = strict(run("tour", "-o", str(folder), "--json").stdout)
    assert told["frequencies_hz"][:3] == pytest.approx([14.22, 25.09, 48.22], abs=5e-3)  # table 3 of the paper
    assert {p.name for p in folder.iterdir()} == {"mode3.png", "mode1.gif", "modes.json", "dualemps.yaml"}
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    refused = run("tour", "-o", str(tmp_path / "file"))
    assert refused.exit_code == 2 and "no folder can be made there" in refused.output
