"""Stresses of beams: a cantilever by hand, Saint-Venant's table, a frame of finite elements, and the same in batches."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import xarray
from click.testing import CliRunner
from judges import systems
from judges.elements import beam_energy
from scipy.io import loadmat

import supple
from supple.analyses.stiffness import stiffness
from supple.cli.main import main
from supple.core.core import Core
from supple.core.quantities import evaluated, quantity
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.ports import wrenches_of
from supple.model.stresses import von_mises, von_mises_slope
from supple.robot.bodies.record import Fibres

L = 0.5
LOAD = [40.0, 3.0, -7.0, 2.5, 0.0, 0.0]  # N along x, y, z of the tip, N m about x


def cantilever(section: str, more: str = "", material: str = "") -> str:
    return f"""
space: spatial
gravity: [0, 0, 0]
parameters: {{load: 1{more}}}
materials: {{steel: {{E: 200 GPa, nu: 0.25, rho: 7800{material}}}}}
sections: {{bar: {section}}}
bodies: {{rod: {{beam: {{length: {L}, section: bar, material: steel, elements: 3, theory: euler_bernoulli}}}}}}
links: {{rod: {{parent: base, body: rod}}}}
points: {{tip: {{link: rod, on: end}}}}
"""


@pytest.mark.parametrize(
    ("section", "area", "bends", "twists"),
    [
        ("{rectangle: {y: 20 mm, z: 30 mm}}", 6e-4, (6 / (0.02 * 0.03**2), 6 / (0.03 * 0.02**2)),
         1 / (0.231 * 0.03 * 0.02**2)),
        ("{circle: {diameter: 20 mm}}", math.pi * 1e-4, None, 16 / (math.pi * 0.02**3)),
        ("{box: {y: 20 mm, z: 30 mm, wall: 2 mm}}", 6e-4 - 0.016 * 0.026,
         (0.015 / ((0.02 * 0.03**3 - 0.016 * 0.026**3) / 12), 0.01 / ((0.03 * 0.02**3 - 0.026 * 0.016**3) / 12)),
         1 / (2 * 0.018 * 0.028 * 0.002)),
    ],
)  # fmt: skip
def test_a_cantilever_by_hand(section: str, area: float, bends: tuple[float, float] | None, twists: float) -> None:
    """Axial force, bending and torsion together at the root; moments change by tip forces times tip deflections. The
    torsion of a 2 x 3 rectangle is that of Timoshenko's table, of three digits."""
    scale = 1e-3  # so that the second order is out of sight
    found = stiffness(
        Machine.parse(cantilever(section, material=", yield: 250 MPa")), loads={"tip": [scale * x for x in LOAD]}
    )
    (worst,) = found.stresses
    N, fy, fz, T = (scale * x for x in LOAD[:4])
    assert worst.place == 0.0 and worst.axial == pytest.approx(N, rel=1e-6) and worst.torque == pytest.approx(T, rel=1e-6)
    assert worst.bending == pytest.approx((-fz * L, fy * L), rel=1e-4)
    if bends is None:
        bending = math.hypot(fy, fz) * L * 32 / (math.pi * 0.02**3)
    else:
        bending = abs(fz) * L * bends[0] + abs(fy) * L * bends[1]
    wanted = math.sqrt((N / area + bending) ** 2 + 3 * (T * twists) ** 2)
    assert worst.stress == pytest.approx(wanted, rel=1e-3)
    assert worst.limit == 250e6 and not found.notices
    assert found.to_json()["stresses"][0]["utilisation"] == pytest.approx(worst.stress / 250e6)


def test_beyond_yield_is_said_and_unknown_sections_are_named() -> None:
    over = stiffness(
        Machine.parse(cantilever("{circle: {diameter: 20 mm}}", material=", yield: 1 MPa")), loads={"tip": LOAD}
    )  # fmt: skip
    assert any("of its yield stress" in line for line in over.notices)
    bare = stiffness(Machine.parse(cantilever("{properties: {area: 1 cm^2, Iz: 8e-10 m^4}}")), loads={"tip": LOAD})
    assert not bare.stresses and any("rod are not known" in line for line in bare.notices)


def test_a_delta_against_a_frame_of_finite_elements() -> None:
    """Largest moments and axial forces of arms and rods under 20 N: forces at the ends of the judge's elements are slopes of
    their energy, in base axes."""
    at = (0.08, -0.05, -0.55)
    frame = systems.delta(20.0, 4, at, gravity=0.0)
    slopes = beam_energy(frame.elements, frame.equilibrium(2)).jet.g.reshape(-1, 2, 6)
    found = stiffness(
        Machine.read("delta", {"elements": 4, "gravity": 0}), "tool", dict(zip("xyz", at, strict=True)),
        loads={"tool": [0, 0, 20.0]},
    )  # fmt: skip
    own = {s.link: s for s in found.stresses}
    for leg in range(3):  # four elements of an arm and of each of two rods
        arm, rods = slopes[12 * leg : 12 * leg + 4], slopes[12 * leg + 4 : 12 * leg + 12]
        moment = np.linalg.norm(arm[:, :, 3:], axis=-1).max()
        worst = own[f"leg{leg + 1}/arm"]
        assert math.hypot(worst.torque, *worst.bending) == pytest.approx(moment, rel=2e-3)
        force = np.linalg.norm(rods[:, :, :3], axis=-1)
        assert abs(own[f"leg{leg + 1}/rod1"].axial) == pytest.approx(force[:4].max(), rel=2e-3)
        assert abs(own[f"leg{leg + 1}/rod2"].axial) == pytest.approx(force[4:].max(), rel=2e-3)


def test_stress_over_designs() -> None:
    """A sweep says what `stiffness` says of each design on its own."""
    text = cantilever("{rectangle: {y: b, z: 30 mm}}", ", b: 20 mm", ", yield: 250 MPa")
    kept = Machine.parse(text).keeping(("b",))
    core = Core(kept, [])
    asked = [quantity(core, "stress"), quantity(core, "stress(rod)"), quantity(core, "utilisation")]
    p = np.array([[0.012], [0.02], [0.04]])
    w = wrenches_of(kept.model(), {"tip": LOAD}).ravel()[None]
    _, (most, rod, used) = evaluated(core, asked, np.zeros((1, 0)), p, w, 1)
    for row, b in enumerate(p[:, 0]):
        alone = stiffness(Machine.parse(text, {"b": float(b)}), loads={"tip": LOAD}).stresses[0]
        assert most[row] == pytest.approx(alone.stress, rel=1e-9) and rod[row] == most[row]
        assert used[row] == pytest.approx(alone.stress / 250e6, rel=1e-9)


def test_a_stiffness_in_files(tmp_path: Path) -> None:
    text = cantilever("{circle: {diameter: 20 mm}}", material=", yield: 250 MPa")
    (tmp_path / "rod.yaml").write_text(text, encoding="utf-8")
    run = CliRunner().invoke(main, ["stiffness", str(tmp_path / "rod.yaml"), "-o", str(tmp_path / "k.csv"), "--json"])
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)
    rows = [line.split(",") for line in (tmp_path / "k.csv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["matrix", "axis", "x", "y", "z", "rx", "ry", "rz"] and len(rows) == 13
    assert [float(x) for x in rows[7][2:]] == told["compliance"][0]
    found = supple.Robot(tmp_path / "rod.yaml").stiffness(loads={"tip": LOAD})
    assert loadmat(found.save(tmp_path / "k.mat"))["compliance"] == pytest.approx(found.compliance)
    with xarray.open_dataset(found.save(tmp_path / "k.nc"), engine="h5netcdf") as read:
        assert read["stiffness"].values == pytest.approx(found.stiffness)
        assert float(read["stress"][0]) == found.stresses[0].stress
    with pytest.raises(SuppleError, match="written to"):
        found.save(tmp_path / "k.txt")


@pytest.mark.parametrize("form", ["circle", "tube", "rectangle", "box"])
def test_stresses_change_as_their_derivatives_say(form: str) -> None:
    """Numbers of the section and forces all change at once; central differences."""
    rng = np.random.default_rng(3)
    sizes = {"circle": [0.02], "tube": [0.02, 0.002], "rectangle": [0.02, 0.03], "box": [0.02, 0.03, 0.002]}[form]
    at = np.array([6e-4, 2e-8, 4e-8, 3e-8, *sizes])
    step = at * rng.uniform(-1, 1, len(at))
    forces, change = rng.normal(size=(5, 4)) * [400, 20, 20, 20], rng.normal(size=(5, 4)) * [400, 20, 20, 20]

    def section(x: np.ndarray) -> Fibres:
        return Fibres(np.zeros((5, 4, 1)), np.zeros(5), 1.0, *x[:4], (form, tuple(x[4:])))

    h = 1e-5
    beside = (von_mises(section(at + t * step), forces + t * change) for t in (h, -h))
    wanted = (next(beside) - next(beside)) / (2 * h)
    np.testing.assert_allclose(von_mises_slope(section(at), section(step), forces, change), wanted, rtol=1e-7)


def test_a_stiffness_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "beam.yaml"
    file.write_text(cantilever("{circle: {diameter: 20 mm}}", material=", yield: 250 MPa"))
    words = ["stiffness", str(file), "--load", "tip=0,30,40", "--plot", str(tmp_path / "s.png")]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0 and f"wrote {tmp_path / 's.png'}" in told.stdout
    assert (tmp_path / "s.png").stat().st_size > 5000
