"""Files that files name: regular, bounded, below the folder of the file that names them, and not quoted in errors."""

from __future__ import annotations

import os
from pathlib import Path

import bars
import numpy as np
import pytest
from click.testing import CliRunner

from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.motion.paths import circle
from supple.robot.finite_elements.matrix_files import write_model
from supple.robot.finite_elements.solid import solid
from supple.robot.named_files import checked_file, outside_allowed

SECRET = "root:secret"
TURN = """
space: planar
links: {arm: {parent: base, joint: revolute, q: q, body: {rigid: {mass: 1, centre: [1, 0, 0]}}}}
actuators: {q: {}}
motions: {table: {csv: FILE}}
"""
TABLE = "t,q\n" + "".join(f"{k},0\n" for k in range(6))


def robot(folder: Path, named: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "turn.yaml"
    path.write_text(TURN.replace("FILE", named), encoding="utf-8")
    return path


def refused(path: Path) -> str:
    with pytest.raises(SuppleError) as caught:
        Machine.read(path).motion("table")
    return str(caught.value)


def test_tables_outside_need_leave(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    for named in ("../table.csv", str(tmp_path / "table.csv"), "link.csv"):
        path = robot(tmp_path / "robot", named)
        if named == "link.csv":
            (path.parent / named).symlink_to(tmp_path / "table.csv")
        assert "lies outside the folder of the file that names it" in refused(path)
        assert Machine.read(path, allow_outside=True).motion("table").duration == 5
        with outside_allowed():
            assert Machine.read(path).motion("table").duration == 5
        assert "outside" in refused(path)
        given = Machine.read(path).motion(tmp_path / "table.csv")  # named by the user, not by a file
        assert given.duration == 5


def test_the_option_travels_with_the_verbs(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    path = robot(tmp_path / "robot", "../table.csv")
    ask = ["inverse", str(path), "--every", "1"]
    found = CliRunner().invoke(main, ask)
    assert found.exit_code == 2 and "--allow-outside" in found.output
    assert CliRunner().invoke(main, [*ask, "--allow-outside"]).exit_code == 0
    assert CliRunner().invoke(main, ask).exit_code == 2
    for name, verb in main.commands.items():
        takes = any(p.name == "robot" for p in verb.params)
        assert takes == any("--allow-outside" in p.opts for p in verb.params), name


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_devices_and_pipes_are_refused_at_once(tmp_path: Path) -> None:
    path = robot(tmp_path, "pipe.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a device or a pipe" in refused(path)
    for outside in ("/dev/zero", "zero.csv"):
        path = robot(tmp_path, outside)
        if outside == "zero.csv":
            (tmp_path / outside).symlink_to("/dev/zero")
        assert "outside" in refused(path)
        with outside_allowed(), pytest.raises(SuppleError, match="is a device or a pipe"):
            Machine.read(path).motion("table")
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(SuppleError, match="is a device or a pipe"):
        Machine.read(tmp_path / "pipe.yaml")


def test_odd_paths_and_sizes(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    for path, words in (
        (tmp_path / "a", "cannot be read|no such file"),
        (tmp_path, "is a folder"),
        (Path("x" * 5000), "cannot"),
    ):
        with pytest.raises(SuppleError, match=words):
            checked_file(path)
    (tmp_path / "some").write_bytes(b"12345678")
    with pytest.raises(SuppleError, match="at most 0 MB are read"):
        checked_file(tmp_path / "some", most=7)
    assert checked_file(tmp_path / "some", most=8)


def test_bodies_outside_need_leave(tmp_path: Path) -> None:
    write_model(solid(*bars.hexahedra(2), bars.E, bars.NU, bars.RHO), tmp_path / "arm.npz")
    (tmp_path / "robot").mkdir()
    path = bars.robot_file(tmp_path / "robot", f"{{fe: {{file: ../arm.npz, {bars.ENDS}}}}}", "arm")
    with pytest.raises(SuppleError, match=r"arm\.npz: lies outside the folder"):
        Machine.read(path).mechanism()
    assert Machine.read(path, allow_outside=True).mechanism().coordinates


@pytest.mark.parametrize("text", [f"{SECRET}\n", f"t,{SECRET}\n0,1\n", f"t [{SECRET}],q\n0,1\n", f"t,q\n0,{SECRET}\n1,2\n",
                                  f"t,q,{SECRET},{SECRET}\n", f"t,tau[{SECRET}] (N)\n0,0\n"])  # fmt: skip
def test_tables_are_not_quoted(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    said = refused(robot(tmp_path, "t.csv"))
    assert "t.csv:" in said and SECRET not in said


MATRICES = [".npz", ".mat", ".mtx", ".sti", ".frd", ".pch", ".op2", ".uff"]
MESHES = [".unv", ".inp", ".bdf", ".nas", ".msh", ".vtk", ".vtu", ".xdmf", ".ele", ".stl", ".mesh"]


@pytest.mark.parametrize("suffix", MATRICES + MESHES)
def test_files_of_bodies_are_not_quoted(tmp_path: Path, suffix: str) -> None:
    for text in (
        f"{SECRET} 1 2 3\n" * 4,
        f"*NODE\n{SECRET},1,2,3\n",
        f"GRID,{SECRET},,1,2,3\n",
        f"    -1\n  2411\n{SECRET}\n    -1\n",
    ):
        for beside in {suffix, ".inp", ".bdf", ".dat", ".mas", ".dof"}:
            (tmp_path / f"arm{beside}").write_text(text)
        (tmp_path / "nodes.csv").write_text(f"1,2,3\n{SECRET}\n")
        more = "material: steel, " if suffix in MESHES else ""
        more += f"nodes: nodes.csv, mass: arm{suffix}, " if suffix == ".mtx" else ""
        path = bars.robot_file(tmp_path, f"{{fe: {{file: arm{suffix}, {more}{bars.ENDS}}}}}", "arm")
        with pytest.raises(SuppleError) as caught:
            Machine.read(path).mechanism()
        assert "links.arm: arm." in str(caught.value).replace("nodes.csv", "arm.") and "secret" not in str(caught.value)


def test_a_circle_costs_what_is_asked_for() -> None:
    long = {"names": ("x", "y"), "centre": (0, 0), "first": (1, 0), "second": (0, 1), "rate": 2 * np.pi}
    few, many = circle(**long, turns=20.0), circle(**long, turns=1e6, until=3.0)
    assert 3.0 < many.end < 3.1 and len(many.knots) < 200
    t = np.linspace(0, 3, 100)
    assert np.abs(few(t)[0] - many(t)[0]).max() < 1e-9  # the same circle
    with pytest.raises(SuppleError, match="too many turns"):
        circle(**long, turns=1e6)


def test_the_duration_asked_for_reaches_the_circle(tmp_path: Path) -> None:
    text = "{plane: [a, b], centre: [0, 0], radius: 0.1, period: 1 s, turns: 1e6}"
    links = "links: {a: {parent: base, joint: revolute, q: a}, b: {parent: a, joint: revolute, q: b}}"
    path = tmp_path / "two.yaml"
    path.write_text(f"space: planar\n{links}\nactuators: {{a: {{}}, b: {{}}}}\nmotions: {{c: {{circle: {text}}}}}\n")
    made = Machine.read(path).motion("c", duration=2.0)
    assert made.path is not None and len(made.path.knots) < 200
    with pytest.raises(SuppleError, match="too many turns to follow"):
        Machine.read(path).motion("c")
