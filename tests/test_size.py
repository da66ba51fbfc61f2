"""Sizing: beams whose best sections are known in closed form, a robot beside a grid, mistakes in words."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from click.testing import CliRunner
from scipy.io import loadmat

import supple
from supple.cli.main import main
from supple.studies.gradients import Gradients

BEAM = """
space: spatial
gravity: [0, 0, 0]
parameters: {E: 200 GPa, L: 0.5, d: 12 mm, load: 0.2 kg}
materials: {steel: {E: E, nu: 0.3, rho: 7800}}
sections: {round: {circle: {diameter: d}}}
bodies:
  rod: {beam: {length: L, section: round, material: steel, elements: 2, theory: euler_bernoulli}}
  tip: {rigid: {mass: load}}
links: {rod: {parent: base, body: rod}, tip: {parent: rod, on: end, body: tip}}
points: {tip: {link: tip}}
"""
E, L, RHO = 200e9, 0.5, 7800.0


@pytest.fixture
def beam(tmp_path: Path) -> supple.Robot:
    (tmp_path / "beam.yaml").write_text(BEAM)
    return supple.Robot(tmp_path / "beam.yaml")


def mass(d: float, m: float) -> float:
    return RHO * np.pi / 4 * d**2 * L + m


def test_the_thinnest_rod_that_is_stiff_enough(beam: supple.Robot) -> None:
    """3 E I / L^3 = k: d^4 = 64 k L^3 / (3 pi E); mass ~ d^2 ~ sqrt(k), one per cent of k costs half the rod's share."""
    k = 5e4
    found = beam.size({"d": "5mm:40mm", "load": "0.1 kg:1 kg"}, ["stiffness(tip).y>=50000 N/m"], least="mass", starts=2)
    d = (64 * k * L**3 / (3 * np.pi * E)) ** 0.25
    assert found.met and found.values["d"] == pytest.approx(d, rel=1e-6)
    assert found.at_limit == ("load",) and found.values["load"] == pytest.approx(0.1)
    assert found.value == pytest.approx(mass(d, 0.1), rel=1e-6)
    want = found.wants[0]
    assert want.active and want.value == pytest.approx(k, rel=1e-6)
    assert want.price == pytest.approx(0.5 * (mass(d, 0.1) - 0.1) / mass(d, 0.1), rel=1e-3)
    assert found.evaluations < 60 and all(s.objective == pytest.approx(found.value, rel=1e-5) for s in found.starts)


def test_the_largest_frequency_and_what_it_trades(beam: supple.Robot, tmp_path: Path) -> None:
    """As fast as is wanted; along the trade-off mass falls as the deflection grows, by the laws of beams."""
    found = beam.size({"d": [0.005, 0.04]}, "f1<=60 Hz", most="f1", starts=2)
    assert found.value == pytest.approx(60, rel=1e-5) and found.wants[0].active
    traded = beam.size(
        {"d": [0.005, 0.02]}, least="mass", trade="deflection(tip).y", points=4, starts=1, loads={"tip": [0, 10, 0]}
    )
    other, weight = ([getattr(t, key) for t in traded.trade] for key in ("other", "objective"))
    assert len(other) == 4 and np.all(np.diff(other) > 0) and np.all(np.diff(weight) < 0)
    for y, kg, point in zip(other, weight, traded.trade, strict=True):
        d = (64 * 10 * L**3 / (3 * np.pi * E * y)) ** 0.25
        assert point.values["d"] == pytest.approx(d, rel=1e-3) and kg == pytest.approx(mass(d, 0.2), rel=1e-3)
    traded.plot(tmp_path / "trade.png")
    assert (tmp_path / "trade.png").stat().st_size > 5000 and "best compromises" in traded._repr_html_()


def test_no_design_of_a_grid_is_better() -> None:
    """3prr: the lightest rods that carry the platform, beside all designs of a grid in the same poses."""
    robot = supple.Robot("3prr")
    poses = {"leg1/s": [0.2, 0.26], "leg2/s": [0.23], "leg3/s": [0.24]}
    wants = ["f1>=80 Hz", "deflection(tool)<=0.1 mm"]
    loads = {"tool": [50.0, 0.0, -50.0]}
    found = robot.size({"h": "10mm:60mm", "w": "1mm:4mm"}, wants, least="mass", over=poses, loads=loads, starts=2)
    grid = robot.sweep({"h": "10mm:60mm:21", "w": "1mm:4mm:13"}, "mass,f1,deflection", over=poses, loads=loads, workers=1)
    m, f, y = (grid.quantities[n].values.reshape(21, 13, -1) for n in ("mass", "f1", "deflection"))
    kept = (f.min(axis=2) >= 80) & (y.max(axis=2) <= 1e-4)
    best = m[..., 0][kept].min()
    assert found.met and found.value * (1 - 1e-6) <= best <= found.value * 1.01
    assert [w.text for w in found.wants if w.active] == ["deflection(tool)<=0.1 mm"] and found.at_limit == ("w",)


def test_masses_of_bodies_are_told() -> None:
    found = supple.Robot("3prr").check()
    assert sum(found.masses.values()) == pytest.approx(found.mass) and found.masses["platform"] == 2.0
    assert found.masses["leg2/rod"] == pytest.approx(2700 * 0.36 * (0.025**2 - 0.021**2))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--least", "mass"], "--free NAME=FIRST:LAST"),
        (["--free", "h=10mm:60mm"], "least or most"),
        (["--free", "h=10mm:60mm", "--least", "mass", "--most", "f1"], "least or most"),
        (["--free", "h=10mm", "--least", "mass"], "FIRST:LAST"),
        (["--free", "h=10mm:60mm", "--least", "mass", "--want", "f1=3"], "QUANTITY>=VALUE"),
        (["--free", "h=10mm:60mm", "--least", "mass", "--want", "f1>=3 mm"], "must be a frequency"),
        (["--free", "h=10mm:60mm", "--least", "dexterity"], "has no derivatives"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(words: list[str], reason: str) -> None:
    found = CliRunner().invoke(main, ["size", "3prr", *words])
    text = (found.stdout + found.stderr).strip()
    assert found.exit_code == 2 and reason in text and len(text.splitlines()) == 1


def test_wants_that_cannot_be_met_are_said(beam: supple.Robot, tmp_path: Path) -> None:
    words = [
        "size",
        str(tmp_path / "beam.yaml"),
        "--free",
        "d=5mm:8mm",
        "--want",
        "f1>=500 Hz",
        "--least",
        "mass",
        "--starts",
        "1",
    ]
    found = CliRunner().invoke(main, [*words, "--json"])
    assert found.exit_code == 0 and json.loads(found.stdout)["met"] is False
    text = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "best.json")]).stdout
    assert "Wants not met" in text and "not met" in text.partition("1 % more costs")[2] and "e+0" not in text
    assert json.loads((tmp_path / "best.json").read_text())["met"] is False


def test_the_thinnest_rod_that_does_not_yield(beam: supple.Robot, tmp_path: Path) -> None:
    """Bending at the root, s = 32 F L / (pi d^3): d by hand; and the result in every kind of file."""
    words = {"least": "mass", "starts": 2, "loads": {"tip": [0, 30, 40]}}
    d = (32 * 50 * L / (np.pi * 100e6)) ** (1 / 3)
    found = beam.size({"d": "5mm:40mm"}, ["stress(rod)<=100 MPa"], output=tmp_path / "size.nc", **words)
    assert found.values["d"] == pytest.approx(d, rel=1e-4)  # tip forces move with the tip: second order
    assert found.wants[0].active and found.wants[0].value == pytest.approx(100e6, rel=1e-6)
    assert found.wants[0].price == pytest.approx(-2 / 3 * (mass(d, 0.2) - 0.2) / mass(d, 0.2), rel=1e-2)
    for name in ("size.csv", "size.mat", "size.json"):
        found.save(tmp_path / name)
    table = xarray.open_dataset(tmp_path / "size.nc")
    assert float(table["d"].sel(design="best")) == found.values["d"] and table["d"].attrs["units"] == "m"
    rows = list(csv.DictReader((tmp_path / "size.csv").open()))
    assert float(rows[0]["d (m)"]) == found.values["d"] and len(rows) == 3
    assert list(rows[0]) == ["design", "d (m)", "least mass (kg)"]  # nothing of a trade that nobody asked for
    assert loadmat(tmp_path / "size.mat")["value"].item() == pytest.approx(found.value)
    assert json.loads((tmp_path / "size.json").read_text())["values"] == found.values
    assert not list(tmp_path.glob("*.part"))


def test_an_interrupted_sizing_repeats_only_what_is_missing(
    beam: supple.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"free": {"d": "5mm:40mm"}, "want": ["stiffness(tip).y>=50000 N/m"], "least": "mass", "starts": 2}
    whole = beam.size(**asked)
    own, looks = Gradients.at, []

    def counted(self: Gradients, *given: Any, **more: Any) -> Any:
        looks.append(1)
        if len(looks) == 5:
            raise KeyboardInterrupt
        return own(self, *given, **more)

    monkeypatch.setattr(Gradients, "at", counted)
    with pytest.raises(KeyboardInterrupt):
        beam.size(**asked, output=tmp_path / "s.csv")
    again = beam.size(**asked, output=tmp_path / "s.csv", resume=True)
    assert again == whole and len(looks) == 1 + whole.evaluations and not list(tmp_path.glob("*.part"))


def test_compromises_by_evolution_lie_on_the_law_of_the_rod(beam: supple.Robot) -> None:
    """The load is best at its least, and mass and deflection follow from d alone; to the per cents of an evolution."""
    pytest.importorskip("pymoo")
    found = beam.size(
        {"d": "5mm:20mm", "load": "0.1 kg:1 kg"}, ["f1>=20 Hz"], least="mass", trade="deflection(tip).y", points=7,
        starts=1, loads={"tip": [0, 10, 0]}, evolve=30,
    )  # fmt: skip
    assert len(found.trade) == 7
    other, weight = ([getattr(t, key) for t in found.trade] for key in ("other", "objective"))
    assert np.all(np.diff(other) > 0) and np.all(np.diff(weight) < 0)
    for y, kg in zip(other, weight, strict=True):
        d = (64 * 10 * L**3 / (3 * np.pi * E * y)) ** 0.25
        assert mass(d, 0.1) * (1 - 1e-6) <= kg <= 1.03 * mass(d, 0.1)
    again = beam.size(
        {"d": "5mm:20mm", "load": "0.1 kg:1 kg"}, ["f1>=20 Hz"], least="mass", trade="deflection(tip).y", points=7,
        starts=1, loads={"tip": [0, 10, 0]}, evolve=30,
    )  # fmt: skip
    assert again.trade == found.trade
