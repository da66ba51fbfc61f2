"""Stiffness of points against textbooks, an independent frame program, finite loads, and springs in series."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import second_order_robots as files
from click.testing import CliRunner
from judges import systems
from judges.frame import Frame

import supple
from supple.analyses.stiffness import stiffness
from supple.cli.main import main
from supple.machine import Machine, locate
from supple.model.equilibrium import equilibrium
from supple.model.posture import posture

BEAM = """
space: spatial
gravity: [0, 0, 0]
materials: {steel: {E: 200 GPa, nu: 0.25, rho: 7800}}
sections: {bar: {rectangle: {y: 20 mm, z: 30 mm}}}
bodies: {rod: {beam: {length: 0.5, section: bar, material: steel, elements: 2, theory: euler_bernoulli}}}
links: {rod: {parent: base, body: rod}}
points: {tip: {link: rod, on: end}}
"""
E, L, A, I_Y, I_Z = 200e9, 0.5, 6e-4, 0.02 * 0.03**3 / 12, 0.03 * 0.02**3 / 12  # about the section's y and z


def test_a_cantilever_is_that_of_the_textbook() -> None:
    found = stiffness(Machine.parse(BEAM))
    C = found.compliance
    assert C[0, 0] == pytest.approx(L / (E * A), rel=1e-9)
    for w, turn, inertia, sign in ((1, 5, I_Z, 1), (2, 4, I_Y, -1)):
        assert C[w, w] == pytest.approx(L**3 / (3 * E * inertia), rel=1e-9)
        assert C[turn, turn] == pytest.approx(L / (E * inertia), rel=1e-9)
        assert C[w, turn] == pytest.approx(sign * L**2 / (2 * E * inertia), rel=1e-9)
        assert found.stiffness[w, w] == pytest.approx(12 * E * inertia / L**3, rel=1e-8)  # nothing else may move
    assert [k for k, _ in found.principal] == pytest.approx([3 * E * I_Z / L**3, 3 * E * I_Y / L**3, E * A / L], rel=1e-9)
    assert found.deflection == pytest.approx(np.zeros(6), abs=1e-15) and found.rigid == ()


def of_frame(frame: Frame, node: int = 0) -> np.ndarray:
    """Compliance of a node of the judge's frame at its equilibrium."""
    state = frame.equilibrium(2)
    K, _, Z = frame.tangent(state)
    rows = Z[[int(np.flatnonzero(frame.free == 6 * node + k)[0]) for k in range(6)]]
    return rows @ np.linalg.solve(K, rows.T)


@pytest.mark.parametrize("at", [(0.0, 0.0, -0.6), (0.08, -0.05, -0.55)])
def test_a_delta_with_flexible_arms_and_rods(at: tuple[float, ...]) -> None:
    true = of_frame(systems.delta(0.0, 4, at, gravity=0.0))
    robot = Machine.read("delta", {"elements": 4, "gravity": 0})
    found = stiffness(robot, "tool", dict(zip("xyz", at, strict=True)))
    assert found.compliance == pytest.approx(true, abs=1e-9 * np.abs(true).max())
    assert found.stiffness == pytest.approx(np.linalg.inv(true), rel=1e-6, abs=1e-6 * np.abs(np.linalg.inv(true)).max())


@pytest.mark.parametrize(("arms", "off"), [("elements: 4", 1e-3), ("segments: 2", 1e-4), ("segments: 4", 2e-5)])
def test_a_delta_under_load(arms: str, off: float) -> None:
    """200 N change the compliance by 0.1 to 0.2 %. Arms bent in one plane couple the other one with torsion: segments have
    that, so the difference falls with their square."""
    at, text = (0.08, -0.05, -0.55), locate("delta").read_text(encoding="utf-8")
    true = of_frame(systems.delta(200.0, 4, at, gravity=0.0))
    text = text.replace("aluminium, elements: elements,", f"aluminium, {arms},").replace(
        "{value: 1, about: finite", "{value: 4, about: finite"
    )
    found = stiffness(
        Machine.parse(text, {"gravity": 0}), "tool", dict(zip("xyz", at, strict=True)), loads={"tool": [0, 0, 200]}
    )
    assert np.abs(found.compliance - true).max() < off * np.abs(true).max()


@pytest.mark.parametrize("load", [0.0, -1000.0, 1000.0])
def test_a_gough_stewart_robot_with_flexible_legs(load: float) -> None:
    """Pressed and pulled by 1 kN the legs get 0.07 % softer and stiffer across."""
    true = of_frame(systems.stewart(load, 4, 0.0))
    robot = Machine.parse(files.stewart(), {"elements": 4, "gravity": 0})
    found = stiffness(robot, "centre", loads={"centre": [0, 0, load]})
    assert found.compliance == pytest.approx(true, abs=1e-8 * np.abs(np.diag(true)).min())


@pytest.mark.parametrize(
    ("name", "point"),
    [("dualemps", "P"), ("3rrr", "tool"), ("five_bar_elastic", "tool"), ("gough_stewart_flexible", "centre")],
)
def test_small_loads_bend_as_far_as_the_compliance_says(name: str, point: str) -> None:
    """Equilibria under small opposite loads; without moments the matrix is symmetric."""
    robot = Machine.read(name)
    model = robot.model()
    found = stiffness(robot, point)
    assert np.abs(found.compliance - found.compliance.T).max() < 1e-10 * np.abs(found.compliance).max()
    k = list(model.mechanism.points).index(point)
    for part in (0, 1, 2):
        size, places = 1e-3 * found.principal[0][0] * 1e-3, []
        for sign in (1, -1):
            w = np.zeros((len(model.mechanism.points), 6))
            w[k, part] = sign * size
            places.append(model.call("points", q=equilibrium(model, posture(model), w=w).q)["position"][k])
        moved = (places[0] - places[1]) / (2 * size)
        assert moved == pytest.approx(found.compliance[:3, part], abs=1e-5 * np.abs(found.compliance[:3, :3]).max())


def with_servos(folder: Path, stiff: dict[str, str]) -> Path:
    """DualEMPS whose actuators are held by springs."""
    text = locate("dualemps").read_text(encoding="utf-8")
    for name, k in stiff.items():
        old = next(line for line in text.splitlines() if line.strip().startswith(f"{name}: {{") and "viscous" in line)
        text = text.replace(old, old.replace("{", f"{{stiffness: {k}, ", 1))
    (folder / "dualemps.yaml").write_text(text, encoding="utf-8")
    return folder / "dualemps.yaml"


def test_servos_are_springs_in_series(tmp_path: Path) -> None:
    """C = C_held + T^T T / k, where T are the forces of the held actuators under a unit load."""
    k = {"q11": 2e6, "q21": 5e5}
    robot = Machine.read(with_servos(tmp_path, {n: f"{x} N/m" for n, x in k.items()}))
    held, soft = stiffness(Machine.read("dualemps")), stiffness(robot)
    model, size = Machine.read("dualemps").model(), 1e-3
    T = np.zeros((2, 6))
    for part in (0, 2, 4):
        w = np.zeros((1, 6))
        w[0, part] = size
        T[:, part] = (equilibrium(model, posture(model), w=w).tau - equilibrium(model, posture(model), w=-w).tau) / (
            2 * size
        )
    wanted = held.compliance + T.T @ np.diag([1 / x for x in k.values()]) @ T
    assert soft.compliance == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max())
    assert soft.kinds["drives"][0] == pytest.approx(1 - held.compliance[0, 0] / soft.compliance[0, 0], rel=1e-6)
    lower, rigid = (supple.Robot(x).modes(count=3).frequencies_hz for x in (tmp_path / "dualemps.yaml", "dualemps"))
    assert (lower < rigid).all()


def test_servos_have_the_units_of_their_joint(tmp_path: Path) -> None:
    with pytest.raises(supple.RobotFileError, match=r"actuators.q11.stiffness: must be a translational stiffness"):
        Machine.read(with_servos(tmp_path, {"q11": "2e6 N*m/rad"})).mechanism()


def test_the_verb(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["stiffness", "dualemps"])
    assert shown.exit_code == 0 and "rigid" in shown.output and "principal stiffness" in shown.output
    data = json.loads(CliRunner().invoke(main, ["stiffness", "dualemps", "--json"]).stdout)
    own = supple.Robot("dualemps").stiffness()
    assert np.array(data["compliance"]) == pytest.approx(own.compliance, rel=1e-12, abs=1e-20)
    assert data["stiffness"][1][1] is None and data["rigid"] == ["y", "rx", "rz"]
    asked = CliRunner().invoke(main, ["stiffness", "delta", "--point", "tol"])
    assert asked.exit_code == 2 and "has no point 'tol'; it has: tool" in asked.output


def test_a_point_that_nothing_holds() -> None:
    loose = BEAM.replace("parent: base, body", "parent: base, joint: revolute, axis: z, q: a, body")
    with pytest.raises(supple.PoseError, match="nothing holds 'a'"):
        stiffness(Machine.parse(loose))


def test_check_shows_the_equilibrium_under_loads() -> None:
    """The cantilever's tip: P L^3 / 3 E I of the load and w L^4 / 8 E I of its weight."""
    rest = supple.Robot("cantilever").check(loads={"tip": [0, 0, -10]}).rest
    EI, w = 210e9 * 0.02 * 0.01**3 / 12, 7850 * 2e-4 * 9.81
    assert rest is not None and rest.deflections["tip"][2] == pytest.approx(-10 / (3 * EI) - w / (8 * EI), rel=2e-3)
    found = supple.Robot("five_bar").check(loads={"tool": [3, 0, 0]}).rest
    assert found is not None and set(found.actuator_forces) == {"arm1/q1", "arm2/q1"} and found.reactions
    assert supple.Robot("five_bar").check().rest is None


HEAVY = """
space: spatial
gravity: [0, 0, -9.81]
materials: {steel: {E: 205 GPa, rho: 7800 kg/m^3, nu: 0.29, yield: 300 MPa}}
sections: {bar: {rectangle: {y: 25 mm, z: 14 mm}}}
bodies: {beam: {beam: {length: 0.7 m, section: bar, material: steel, elements: 1}}}
links: {beam: {parent: base, body: beam}}
points: {tip: {link: beam, on: end}}
"""


@pytest.mark.parametrize(("elements", "said"), [(1, True), (2, True), (4, False)])
def test_weight_between_nodes_is_told_where_stresses_lack_it(elements: int, said: bool, tmp_path: Path) -> None:
    """A clamped bar bends by w L^2 / 2 at its root; n elements show w L^2 / (12 n^2) less."""
    file = tmp_path / "heavy.yaml"
    file.write_text(HEAVY.replace("elements: 1", f"elements: {elements}"))
    found = supple.Robot(file).stiffness()
    w, modulus = 7800 * 0.025 * 0.014 * 9.81, 0.025 * 0.014**2 / 6
    lacks = w * 0.7**2 / (12 * elements**2) / modulus
    assert found.stresses[0].stress == pytest.approx(w * 0.7**2 / 2 / modulus - lacks, rel=2e-3)
    line = f"lack what weight does between its nodes, up to {lacks / 1e6:.3g} MPa"
    assert any(line in n for n in found.notices) == said
