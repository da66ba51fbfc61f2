"""Values that depend on where they stand: legs' numbers, settings, whose damping counts, which way is up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots import build, frequencies

from supple.analyses.modes import modes
from supple.errors import SuppleError
from supple.machine import Machine
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text
from supple.robot.written import pose_of

LEGS = """
space: planar
parameters: {far: 2 m, heavy: 3 kg}
legs:
  leg:
    count: 3
    vary: {size: [10 mm, 20 mm, 40 mm]}
    links:
      rod: {parent: base, at: [i*far, n, 0], joint: revolute, q: a, body: {rigid: {mass: heavy, centre: [size, 0, 0]}}}
"""


def test_legs_are_numbered_from_one_and_have_their_own_values() -> None:
    """x = i * 2 m for i = 1, 2, 3, y = n = 3 legs; centres of 10, 20 and 40 mm."""
    mechanism = assemble(describe_text(LEGS, "test.yaml"))
    places = np.array([f.marker.position.astype(float) for f in mechanism.frames])
    assert places == pytest.approx(np.array([[2, 3, 0], [4, 3, 0], [6, 3, 0]]))
    assert [float(f.body.MS_r[0]) for f in mechanism.frames] == pytest.approx([0.03, 0.06, 0.12])
    assert [f.name for f in mechanism.frames] == ["leg1/rod", "leg2/rod", "leg3/rod"]


def test_settings_replace_values_and_keep_their_units() -> None:
    """A bare number is in SI and stays a length; another unit of the same dimension is converted, others are refused."""

    def place(**settings: str) -> float:
        return float(assemble(describe_text(LEGS, "test.yaml", settings)).frames[0].marker.position[0])

    assert place(far="5") == pytest.approx(5)
    assert place(far="50 cm") == pytest.approx(0.5)
    with pytest.raises(SuppleError, match="makes a mass; the robot file has a length"):
        place(far="5 kg")
    with pytest.raises(SuppleError, match="must be a mass"):
        build(LEGS.replace("mass: heavy", "mass: far"), {"far": "5"})


DAMPED = """
space: planar
materials: {m: {E: 200 GPa, rho: 8000}}
sections: {s: {rectangle: {y: 10 mm, z: 10 mm}}}
damping: {modal: 0.05}
links:
  arm: {parent: base, joint: fixed, body: {beam: {length: 1, section: s, material: m, elements: 2%s}}}
"""


def ratios(own: str) -> np.ndarray:
    return modes(build(DAMPED % own)).damping_ratios


def test_a_beam_has_its_own_damping_before_the_robots() -> None:
    """Every mode of the clamped beam has the ratio 5 %, or its own 1 %; of a list, the last goes for the rest."""
    assert ratios("") == pytest.approx(np.full(6, 0.05), rel=1e-6)
    assert ratios(", damping: {modal: 1 percent}") == pytest.approx(np.full(6, 0.01), rel=1e-6)
    assert ratios(", damping: {modal: [0.01, 0.02, 0.04]}") == pytest.approx([0.01, 0.02, *[0.04] * 4], rel=1e-6)


def test_a_plate_has_its_own_damping_before_the_robots() -> None:
    pytest.importorskip("skfem")
    text = """
    space: spatial
    materials: {m: {E: 70 GPa, rho: 2700}}
    damping: {modal: 0.05}
    bodies:
      top:
        plate:
          corners: [[0, 0], [0.4, 0], [0.4, 0.3], [0, 0.3]]
          thickness: 5 mm
          material: m
          element: kirchhoff
          refine: 0
          attachments: {side: {edge: [[0, 0], [0, 0.3]]}}
          root: side
          reduction: {clamped_free: {modes: 3}}
          %s
    links: {top: {parent: base, joint: fixed, body: top}}
    """
    for own, wanted in (("", 0.05), ("damping: {modal: 0.01}", 0.01)):
        assert modes(build(text % own)).damping_ratios == pytest.approx(np.full(3, wanted), rel=1e-6)


FLAT = """
space: spatial
materials: {m: {E: 200 GPa, rho: 8000}}
sections: {s: {properties: {area: 1e-4, Iy: 1e-8, Iz: 4e-8, J: 1e-8}}}
links:
  arm: {parent: base, joint: fixed, body: {beam: {length: 1, section: s, material: m, axis: %s%s}}}
points: {P: {link: arm, on: end}}
"""


def stiffness(axis: str, up: str, along: int) -> float:
    """3 E I / L^3 of the tip along an axis of the base."""
    model = build(FLAT % (axis, up))
    K = np.array([model.call("stiffness", q=np.zeros(6), direction=d)["f"] for d in np.eye(6)])
    J = np.array([model.call("points", q=np.zeros(6), v=d)["velocity"].ravel() for d in np.eye(6)]).T
    return 1 / float((J @ np.linalg.solve(K, J.T))[along, along])


@pytest.mark.parametrize(
    ("axis", "up", "wanted"),
    [
        ("x", "", {1: 24e3, 2: 6e3}),  # z of the section is z of the link: Iz = 4e-8 along y, Iy = 1e-8 along z
        ("x", ", up: y", {1: 6e3, 2: 24e3}),
        ("y", "", {0: 24e3, 2: 6e3}),
        ("z", "", {0: 6e3, 1: 24e3}),  # a beam along z has the section's z along x
        ("-z", "", {0: 6e3, 1: 24e3}),
    ],
)
def test_the_sections_z_axis_points_up(axis: str, up: str, wanted: dict[int, float]) -> None:
    for along, k in wanted.items():
        assert stiffness(axis, up, along) == pytest.approx(k, rel=1e-9)


def test_a_pose_of_the_command_line_takes_units(tmp_path: Path) -> None:
    """The wheel hangs by a spring in its joint: the pose is where it was put."""
    path = tmp_path / "robot.yaml"
    path.write_text(
        "space: planar\nlinks:\n  arm: {parent: base, joint: revolute, q: a, body: {rigid: {mass: 1}}}\n"
        "  rail: {parent: arm, joint: prismatic, axis: x, q: s, body: {rigid: {mass: 1}}}\nactuators: {a: {}, s: {}}\n"
    )
    mechanism = Machine.read(path).model().mechanism
    found = pose_of(mechanism, {"a": "90 deg", "s": "25 mm"})
    assert found == {"a": pytest.approx(np.pi / 2), "s": pytest.approx(0.025)}
    assert pose_of(mechanism, {"a": 0.5, "s": 2}) == {"a": 0.5, "s": 2.0}
    with pytest.raises(SuppleError, match="at s=3 deg: must be a length"):
        pose_of(mechanism, {"s": "3 deg"})


def test_gravity_points_where_the_file_says() -> None:
    """A pendulum of 1 kg, 2 m along x, under 5 m/s^2 along -y needs 10 N m; a spring of 1000 N m/rad gives way by 0.01."""
    text = """
    space: planar
    gravity: [0, -5 m/s^2, 0]
    links:
      arm: {parent: base, joint: revolute, q: a, body: {rigid: {mass: 1, centre: [2, 0, 0]}}}
      tip: {parent: arm, joint: fixed, stiffness: {rz: 1000}, body: {rigid: {mass: 1, centre: [2, 0, 0]}}}
    actuators: {a: {}}
    """
    found = modes(build(text))
    assert found.tau["a"] == pytest.approx(20, rel=1e-3)
    assert found.pose["tip.spring.rz"] == pytest.approx(-0.01, rel=1e-3)
    assert len(frequencies(text)) == 1
