"""Lines about bodies that leave what their theory carries: which, how much, what to do; and silence where all is well."""

from __future__ import annotations

from math import pi
from pathlib import Path

import pytest
from click.testing import CliRunner

from supple.analyses.modes import modes
from supple.cli.main import main
from supple.machine import Machine
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text

# E I = 210e9 * 14e-3 * 10e-3^3 / 12 = 245 N m^2 over 1 m: slope P / 2 E I at the tip, buckling load pi^2 E I
ROD = """
space: planar
materials: {{steel: {{E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}}}
sections: {{strip: {{rectangle: {{y: 10 mm, z: 14 mm}}}}}}
bodies: {{rod: {{beam: {{length: 1 m, section: strip, material: steel, {mesh}}}}}}}
links: {{rod: {{parent: base, body: rod}}}}
points: {{tip: {{link: rod, on: end}}}}
"""
TURNING = """
space: planar
stiffening: none
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}
sections: {strip: {rectangle: {y: 10 mm, z: 14 mm}}}
bodies: {rod: {beam: {length: 1 m, section: strip, material: steel}}}
links: {rod: {parent: base, joint: revolute, q: turn, body: rod}}
actuators: {turn: {}}
home: {turn: 0}
motions:
  spin: {start: {turn: 0}, moves: [{to: {turn: RATE}, duration: 1}]}
"""
EI = 210e9 * 14e-3 * 10e-3**3 / 12


def rod(mesh: str = "elements: 1", head: str = "") -> Model:
    from supple.formulations.newton_euler import newton_euler

    return Model(newton_euler(assemble(describe_text(head + ROD.format(mesh=mesh).lstrip(), "rod.yaml"))))


def noticed(model: Model, *force: float) -> tuple[str, ...]:
    return modes(model, count=1, loads={"tip": force}).notices


def test_steep_bending_asks_for_segments() -> None:
    """The tip of a cantilever turns by P L^2 / 2 E I: 0.19 rad is silent, 0.21 and 0.41 are not."""
    assert noticed(rod(), 0, 0.38 * EI, 0) == ()
    (line,) = noticed(rod(), 0, 0.42 * EI, 0)
    assert line.startswith("link 'rod' bends by 0.21 rad, where the theory of small bending carries 0.2 rad")
    assert line.endswith("segments, 2 times as many as now")
    (line,) = noticed(rod(), 0, 0.82 * EI, 0)
    assert "0.41 rad" in line and "3 times" in line
    assert noticed(rod("elements: 1, segments: 3"), 0, 0.42 * EI, 0) == ()


def test_axial_loads_ask_for_elements() -> None:
    """Thrust and pull of a part of pi^2 E I / h^2, h the length of an element: a tenth is the limit."""
    buckling = pi**2 * EI
    for way in (1, -1):
        assert noticed(rod(), way * 0.09 * buckling, 0, 0) == ()
        (line,) = noticed(rod(), way * 0.2 * buckling, 0, 0)
        assert f"carries {0.2 * buckling:.3g} N along its axis, 20% of its buckling load" in line
        assert line.endswith("elements, 2 times as many as now")
        assert noticed(rod("elements: 2"), way * 0.2 * buckling, 0, 0) == ()


def test_stiffening_left_out_is_said() -> None:
    """Without stiffening a load of 2 % of the buckling load is the limit."""
    model, buckling = rod("elements: 8", "stiffening: none\n"), pi**2 * EI
    assert noticed(model, 0.019 * buckling, 0, 0) == ()
    (line,) = noticed(model, 0.05 * buckling, 0, 0)
    assert "5% of its buckling load between hinges, whose work on bending `stiffening: none` leaves out" in line


@pytest.mark.parametrize(("angle", "said"), [(0.4, False), (20.0, True)])
def test_spin_left_out_is_said(tmp_path: Path, angle: float, said: bool) -> None:
    """A quintic of one second turns at 15/8 of its angle at most; 3.516 sqrt(E I / rho A) = 52.5 rad/s when clamped."""
    file = tmp_path / "rod.yaml"
    file.write_text(TURNING.replace("RATE", f"{angle}"))
    done = CliRunner().invoke(main, ["simulate", str(file), "--motion", "spin", "--json"])
    assert done.exit_code == 0, done.output
    share = 15 / 8 * angle / (3.51602 * (EI / (7850 * 1.4e-4)) ** 0.5)
    text = f"turns at {15 / 8 * angle:.3g} rad/s, {share:.0%} of its first frequency when clamped"
    assert (text in done.stderr) == said
    assert ("supple: note: link 'rod'" in done.stderr) == said


@pytest.mark.parametrize(
    "name", ["cantilever", "dualemps", "five_bar", "3rrr", "delta", "hexa", "pacdrive", "gough_stewart"]
)
def test_the_gallery_stays_within_its_theory(name: str) -> None:
    assert modes(Machine.read(name).model(), count=1).notices == ()


def test_stiffening_is_a_setting_of_any_robot() -> None:
    """`--set stiffening=none` gives the equations of the papers; anything else is refused."""
    plain = Machine.read("dualemps", {"stiffening": "none"}).description
    assert all(not f.body.stretches for f in assemble(plain).frames)
    assert any(f.body.stretches for f in Machine.read("dualemps").mechanism().frames)
    refused = CliRunner().invoke(main, ["modes", "dualemps", "--set", "stiffening=nonlinear"])
    assert refused.exit_code == 2
    assert "stiffening=nonlinear must be second_order or none" in refused.stderr
