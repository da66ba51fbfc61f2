"""Sensors of linear models beyond displacements: strain and forces in a beam's root, a point's own axes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import SuppleError

E, L, B, H = 200e9, 0.5, 0.02, 0.03
BEAM = f"""
space: spatial
gravity: [0, 0, 0]
materials: {{steel: {{E: {E}, nu: 0.25, rho: 7800}}}}
sections: {{bar: {{rectangle: {{y: {B}, z: {H}}}}}}}
bodies: {{rod: {{beam: {{length: {L}, section: bar, material: steel, elements: 3, theory: euler_bernoulli}}}}}}
links: {{rod: {{parent: base, rotate: {{z: 90 deg}}, body: rod}}}}
points: {{tip: {{link: rod, on: end}}}}
"""


@pytest.fixture(scope="module")
def rod(tmp_path_factory: pytest.TempPathFactory) -> supple.Robot:
    path = tmp_path_factory.mktemp("rod") / "rod.yaml"
    path.write_text(BEAM, encoding="utf-8")
    return supple.Robot(path)


def test_strain_at_the_root_by_hand(rod: supple.Robot) -> None:
    """The beam lies along base y: a force along base x bends it in its own x-y plane (towards -y)."""
    found = rod.frf("tip.fx,tip.fy,tip.fz", "strain(rod),force(rod)", band=(0.0, 1.0), points=2, quantity="displacement")
    rest = {o: dict(zip(found.inputs, row.real, strict=True)) for o, row in zip(found.outputs, found.values[0], strict=True)}
    assert rest["strain(rod).x"] == pytest.approx({"tip.fx": 0, "tip.fy": 1 / (E * B * H), "tip.fz": 0}, abs=1e-20)
    assert abs(rest["strain(rod).y"]["tip.fx"]) == pytest.approx(L * (B / 2) / (E * H * B**3 / 12), rel=1e-9)
    assert abs(rest["strain(rod).z"]["tip.fz"]) == pytest.approx(L * (H / 2) / (E * B * H**3 / 12), rel=1e-9)
    assert rest["force(rod).n"]["tip.fy"] == pytest.approx(1.0, rel=1e-9)
    assert rest["force(rod).mz"]["tip.fx"] == pytest.approx(-L, rel=1e-9)
    assert rest["force(rod).my"]["tip.fz"] == pytest.approx(-L, rel=1e-9)


def test_strain_along_the_beam_by_hand(rod: supple.Robot) -> None:
    """A tip force bends a cantilever by F (L - x); also where elements meet, and at the tip, where nothing is left."""
    for x in (0.0, 0.1, L / 3, 0.3, L):
        found = rod.frf("tip.fz", f"strain(rod@{x} m).z,force(rod@{1e3 * x} mm).my", band=(0.0, 1.0), points=2,
                        quantity="displacement").values[0, :, 0].real  # fmt: skip
        assert abs(found[0]) == pytest.approx((L - x) * (H / 2) / (E * B * H**3 / 12), rel=1e-9, abs=1e-16)
        assert found[1] == pytest.approx(-(L - x), rel=1e-9, abs=1e-10)
    with pytest.raises(SuppleError, match=r"the beam is 0.5 m long"):
        rod.frf("tip.fz", "strain(rod@0.6 m).z")


def test_own_axes_of_a_point(rod: supple.Robot) -> None:
    base, own = (rod.linear("tip.fx,tip.fy", out) for out in ("tip", "body(tip)"))
    R = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # the rod's axes in the base
    assert own.C[:3] == pytest.approx(R.T @ base.C[:3], abs=1e-12) and own.C[3:] == pytest.approx(
        R.T @ base.C[3:], abs=1e-12
    )
    pushed = rod.frf("body(tip).fx", "body(tip).x", band=(0.0, 1.0), points=2, quantity="displacement")
    assert pushed.values[0, 0, 0].real == pytest.approx(L / (E * B * H), rel=1e-9)


def test_words_for_sensors_that_are_not_there(rod: supple.Robot) -> None:
    for name, words in (("strain(arm)", "it has: rod"), ("strain(rod).q", "strain has x, y, z"), ("body(hand)", "no point")):
        with pytest.raises(SuppleError, match=words):
            rod.frf("tip.fx", name)


def test_coordinates_that_home_names_stand_as_at_home() -> None:
    """As in maps: x of a Delta moves it at the height of home."""
    robot = supple.Robot("delta", {"gravity": 0})
    pose = robot.modes({"x": 0.1}, count=1).pose
    assert [pose[k] for k in "xyz"] == pytest.approx([0.1, 0.0, -0.6], abs=1e-9)
    mapped = robot.map({"x": [0.1]}, "f1").quantities["f1"].values[0]
    assert mapped == pytest.approx(robot.modes({"x": 0.1}, count=1).frequencies_hz[0], rel=1e-9)


PINNED = """
space: planar
gravity: [0, 0, 0]
bodies: {one: {rigid: {mass: 2}}, two: {rigid: {mass: 3}}}
links:
  one: {parent: base, body: one, stiffness: {x: 4000, y: 5000}, damping: {x: 6}}
  two: {parent: base, body: two, stiffness: {x: 7000, y: 9000}, damping: {x: 1}}
closures: {pin: {joint: revolute, from: {link: one}, to: {link: two}}}
points: {a: {link: one}, b: {link: two}}
"""


def test_the_force_of_a_pin_between_two_masses_by_hand(tmp_path: Path) -> None:
    """They move as one: X = F / (k - m w^2 + i d w); the pin leads the second as Newton says."""
    (tmp_path / "pinned.yaml").write_text(PINNED)
    robot = supple.Robot(tmp_path / "pinned.yaml")
    found = robot.frf("a.fx,b.fx", "joint(pin).fx,a.x", band=(0.0, 20.0), points=5, quantity="displacement")
    w = 2j * np.pi * found.frequencies_hz
    X = 1 / (11000 + 7 * w + 5 * w**2)
    led = (7000 + w + 3 * w**2) * X
    names = list(found.outputs)
    own = found.values[:, names.index("joint(pin).fx")]
    assert own[:, 0] == pytest.approx(led, rel=1e-10) and own[:, 1] == pytest.approx(led - 1, rel=1e-10)
    assert found.values[:, names.index("a.x"), 0] == pytest.approx(X, rel=1e-10)
    model = robot.linear("a.fx,b.fx", "joint(pin).fx,a.x")
    assert model.response(found.frequencies_hz) == pytest.approx(found.values, rel=1e-9)
    with pytest.raises(SuppleError, match="have no rates"):
        robot.linear("a.fx", "joint(pin)", quantity="velocity")
    for name, words in (("joint(nail)", "it has: pin"), ("joint(pin).mz", "that joint holds fx, fy")):
        with pytest.raises(SuppleError, match=words):
            robot.frf("a.fx", name)


def test_forces_of_loops_at_rest_are_those_of_the_bent_robot() -> None:
    """Reactions of equilibria under small loads, by differences."""
    robot = supple.Robot("five_bar_elastic")
    found = robot.frf("tool.fx", "joint(tool)", band=(0.0, 1.0), points=2, quantity="displacement")
    h = 1e-2
    one, two = (robot.stiffness("tool", loads={"tool": [sign * h, 0, 0]}).reactions["tool"] for sign in (1, -1))
    slope = (one - two) / (2 * h)
    wanted = [slope[("fx", "fy", "fz", "mx", "my", "mz").index(name[-2:])] for name in found.outputs]
    assert found.values[0, :, 0].real == pytest.approx(wanted, rel=1e-5)
