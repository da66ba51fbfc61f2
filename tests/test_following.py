"""Modes followed by their shapes: a crossing and a veering that are known in closed form, points where modes meet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

import supple
from supple.cli.main import main
from supple.studies.following import Tracks, follow

STRIP = """
space: spatial
gravity: [0, 0, 0]
parameters: {h: 12 mm, w: 15 mm}
materials: {steel: {E: 200 GPa, nu: 0.3, rho: 7800}}
sections: {flat: {rectangle: {y: h, z: w}}}
bodies: {rod: {beam: {length: 0.5, section: flat, material: steel, elements: 2, theory: euler_bernoulli}}}
links: {rod: {parent: base, body: rod}}
"""
MASSES = """
space: spatial
gravity: [0, 0, 0]
parameters: {k2: 400 N/m}
bodies: {one: {rigid: {mass: 10}}, two: {rigid: {mass: 0.4}}}
links:
  one: {parent: base, body: one, stiffness: {x: 10000}}
  two: {parent: one, body: two, stiffness: {x: k2}}
"""


def robot(folder: Path, text: str) -> supple.Robot:
    (folder / "robot.yaml").write_text(text)
    return supple.Robot(folder / "robot.yaml")


def test_bending_in_two_planes_crosses_where_the_section_is_square(tmp_path: Path) -> None:
    """f ~ side in the plane of bending: f1 is a line through zero, f2 stays; by order both would have a kink at h = w."""
    found = robot(tmp_path, STRIP).sweep({"h": [0.008, 0.012, 0.014, 0.015, 0.016, 0.0225, 0.03]}, "f1,f2,f3", follow=True)
    h = found.chosen["h"].values
    f1, f2, f3 = (found.quantities[n].values for n in ("f1", "f2", "f3"))
    np.testing.assert_allclose(f1 / h, f1[1] / h[1], rtol=1e-7)
    np.testing.assert_allclose(f2, f2[1], rtol=1e-7)
    np.testing.assert_allclose(f3 / h, f3[1] / h[1], rtol=1e-7)
    assert found.followed_from == 1 and not found.notices
    assert [m.kind for m in found.meetings] == ["cross"] * len(found.meetings)
    met = [m for m in found.meetings if {*m.modes} == {"f1", "f2"}]
    assert len(met) == 1 and met[0].at["h"] == pytest.approx(0.015, rel=1e-5) and met[0].gap < 1e-4
    assert met[0].frequency == pytest.approx(f2[1], rel=1e-3)


@pytest.mark.parametrize("count", [45, 4])
def test_coupled_masses_veer(tmp_path: Path, count: int) -> None:
    """An absorber on a mass: they never meet, and are nearest where scipy says of the two equations."""

    def hz(k: float) -> Any:
        return np.sqrt(eigh([[1e4 + k, -k], [-k, k]], np.diag([10, 0.4]), eigvals_only=True)) / (2 * np.pi)

    best = minimize_scalar(lambda k: np.ptp(hz(k)), bounds=(200, 600), method="bounded", options={"xatol": 1e-9})
    found = robot(tmp_path, MASSES).sweep({"k2": f"100:1200:{count}"}, "f1", follow=True)
    assert [(m.kind, {*m.modes}) for m in found.meetings] == [("veer", {"f1", "f2"})]
    assert found.meetings[0].gap == pytest.approx(best.fun, rel=1e-5)
    assert found.meetings[0].at["k2"] == pytest.approx(best.x, rel=1e-3)
    rows = np.array([hz(k) for k in found.chosen["k2"].values])
    own = found.quantities["f1"].values
    assert np.isclose(own[:, None], rows, rtol=1e-9).any(axis=1).all()
    assert (np.isclose(own, rows[:, 0], rtol=1e-9).all()) == (count == 45)  # few cases: through it, by the shapes


def cone(x: Any, y: Any) -> Tracks:
    """[[x, y], [y, -x]] + 10: two modes that meet in the point x = y = 0 of the plane."""
    K = np.array([[[10 + a, b], [b, 10 - a]] for a, b in zip(x.ravel(), y.ravel(), strict=True)])
    squares, shapes = np.linalg.eigh(K)
    return Tracks(squares, shapes, shapes)


def test_modes_that_meet_in_a_point_have_a_seam_and_others_have_none() -> None:
    line = np.linspace(-1.1, 1.1, 12)
    x, y = np.meshgrid(line, line, indexing="ij")
    around = follow(cone(x, y), x.shape, [0, 1], (x + 1.1).ravel())
    beside = follow(cone(x + 2.5, y), x.shape, [0, 1], (x + 1.1).ravel())
    assert around is not None and beside is not None
    assert around.seams and not beside.seams
    assert (beside.order == [0, 1]).all()
    straight = follow(cone(line[:, None], 0 * line[:, None]), (12,), [0], line + 1.1)
    assert straight is not None
    np.testing.assert_allclose(straight.values(cone(line, 0 * line).squares, 0), 10 + line)


def test_a_repeated_mode_is_turned_as_its_neighbours_lie() -> None:
    """Through the point itself, where any two shapes are modes."""
    line = np.linspace(-1.0, 1.0, 5)
    tracks = cone(line, 0 * line)
    turn = np.array([[np.cos(0.8), np.sin(0.8)], [-np.sin(0.8), np.cos(0.8)]])
    shapes = tracks.shapes.copy()
    shapes[2] = turn
    found = follow(Tracks(tracks.squares, shapes, shapes), (5,), [0], line + 1.0)
    assert found is not None and not found.seams and np.nanmin(found.certainty) > 0.99
    np.testing.assert_allclose(found.values(tracks.squares, 0), 10 + line, atol=1e-12)


def test_the_command_line_tells_where_modes_meet(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(STRIP)
    words = ["sweep", str(file), "--vary", "h=10mm:20mm:5", "--of", "f1,f2", "--follow"]
    told = CliRunner().invoke(main, [*words, "--plot", str(tmp_path / "f.png")])
    assert told.exit_code == 0 and "where modes meet" in told.stdout and "cross" in told.stdout
    assert (tmp_path / "f.png").stat().st_size > 5000
    read = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert read["meetings"][0]["kind"] == "cross" and read["followed_from"] == 1
    for wrong, reason in ((["--of", "mass"], "frequencies"), (["--latin", "9", "--of", "f1"], "scattered")):
        vary = "h=10mm:20mm" if "--latin" in wrong else "h=10mm:20mm:5"
        refused = CliRunner().invoke(main, ["sweep", str(file), "--vary", vary, "--follow", *wrong])
        assert refused.exit_code == 2 and reason in refused.stderr and len(refused.stderr.splitlines()) == 1
