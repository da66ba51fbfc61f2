"""Plates in robot files: links with holes and ribs, plates without modes, and messages that name the place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("skfem")

from supple.analyses.modes import modes
from supple.errors import RobotFileError
from supple.machine import Machine
from supple.robot.bodies.body_files import read_body, write_body
from supple.robot.link_bodies import flexible_bodies

ROBOT = """
space: spatial
materials: {aluminium: {E: 70 GPa, rho: 2700 kg/m^3, nu: 0.33}}
sections: {rib: {rectangle: {y: 6 mm, z: 30 mm}}}
bodies:
  top:
    plate:
      corners: [[0, 0], [0.6, 0], [0.6, 0.4], [0, 0.4]]
      holes:
        - {centre: [0.2, 0.2], radius: 80 mm}
        - [[0.4, 0.1], [0.5, 0.1], [0.5, 0.3]]
      patches:
        - {circle: {centre: [0.2, 0.2], radius: 120 mm}, thickness: 20 mm, offset: 5 mm}
      thickness: 10 mm
      material: aluminium
      element: kirchhoff
      in_plane: true
      refine: 0
      stiffeners:
        - {from: [0.36, 0], to: [0.36, 0.4], section: rib, offset: -20 mm}
      masses:
        - {mass: 100 g, at: [0.05, 0.05]}
      attachments:
        hub: {hole: [0.2, 0.2]}
        end: {edge: [[0.6, 0], [0.6, 0.4]]}
      root: hub
      reduction: {clamped_free: {modes: 4}}
links:
  arm: {parent: base, joint: revolute, axis: z, q: q1, body: top}
points: {tip: {link: arm, on: end}}
actuators: {q1: {}}
"""


def test_a_robot_with_a_perforated_ribbed_link(tmp_path: Path) -> None:
    """Frequencies are those of the body held at its hole; the drawing has a line for the outline, holes and the rib."""
    path = tmp_path / "arm.yaml"
    path.write_text(ROBOT)
    made = modes(Machine.read(path).model(), {}, count=3)
    body, markers = flexible_bodies(Machine.read(path).description)["top"]
    assert body.reduced is not None
    assert np.array(made.frequencies_hz) == pytest.approx(body.reduced.frequencies[:3], rel=1e-6)
    assert not np.any(markers["hub"].Phi_d) and not np.any(markers["hub"].Phi_r)
    cuts = made.drawing.breaks[next(i for i, f in enumerate(made.drawing.flexible) if f)]
    assert len(cuts) == 3 and body.outline is not None
    lines = np.split(body.outline.position.astype(float), body.outline.breaks)
    assert [bool(np.allclose(x[0], x[-1])) for x in lines] == [True, True, True, False]
    again, _ = read_body(write_body(body, markers, tmp_path / "body.npz"))
    assert again.outline is not None and again.outline.breaks == body.outline.breaks


PLAIN = """
space: spatial
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3}}
sections: {rib: {rectangle: {y: 6 mm, z: 30 mm}}}
bodies:
  top:
    plate:
      corners: [[0, 0], [0.6, 0], [0.6, 0.2], [0.3, 0.2], [0.3, 0.4], [0, 0.4]]
      thickness: 10 mm
      material: steel
      element: kirchhoff
      refine: 0
      masses: [{mass: 100 g, at: [0.05, 0.05]}]
      stiffeners: [{from: [0.1, 0.35], to: [0.2, 0.1], section: rib}]
      attachments: {root: {edge: [[0, 0], [0, 0.4]]}}
      root: root
      reduction: {clamped_free: {modes: 4}}
links:
  arm: {parent: base, joint: revolute, axis: z, q: q1, body: top}
actuators: {q1: {}}
"""

WRONG = [
    ("radius: 80 mm", "radius: 300 mm", "10: bodies.top.plate.holes.0: is not within the outline"),
    ("[[0.4, 0.1], [0.5, 0.1]", "[[0.15, 0.15], [0.5, 0.1]", "11: bodies.top.plate.holes.1: overlaps or touches hole 0"),
    ("[0.5, 0.1], [0.5, 0.3]]", "[0.5, 0.1], [0.45, 0.1]]", "holes.1: the corners lie on a line"),
    ("radius: 120 mm", "radius: 70 mm", "13: bodies.top.plate.patches.0: crosses or touches the edge of hole 0"),
    (
        "in_plane: true",
        "in_plane: false",
        "20: bodies.top.plate.stiffeners.0.offset: needs a plate that can stretch; set in_plane",
    ),
    ("in_plane: true", "in_plane: false", "patches.0.offset: needs a plate that can stretch"),
    ("at: [0.05, 0.05]", "at: [0.2, 0.21]", "masses.0.at: (0.2, 0.21) lies in hole 0"),
    ("to: [0.36, 0.4]", "to: [0.1, 0.4]", "stiffeners.0: crosses hole 0"),
    ("{edge: [[0.6, 0], [0.6, 0.4]]}", "{at: [0.45, 0.12]}", "attachments.end.at: (0.45, 0.12) lies in hole 1"),
    ("{edge: [[0.6, 0], [0.6, 0.4]]}", "{at: [0.7, 0.1]}", "attachments.end.at: (0.7, 0.1) is not on the plate"),
    ("hole: [0.2, 0.2]", "hole: [0.05, 0.2]", "attachments.hub.hole: (0.05, 0.2) lies in no hole"),
    ("{centre: [0.2, 0.2], radius: 80 mm}", "{center: [0.2, 0.2], radius: 80 mm}", "did you mean 'centre'"),
    ("corners: [[0, 0], [0.6, 0], [0.6, 0.4], [0, 0.4]]", "mesh: plate.msh", "holes: cannot be given with a mesh"),
    ("to: [0.36, 0.4]", "to: [0.36, 0]", "stiffeners.0: begins where it ends"),
    ("edge: [[0.6, 0], [0.6, 0.4]]", "edge: [[0.6, 0], [0.6, 0]]", "attachments.end: the two points of an edge are the"),
    ("edge: [[0.6, 0], [0.6, 0.4]]", "edge: [[0.6, 0], [0.55, 0.4]]", "attachments.end: the two points of an edge must"),
    ("link: arm, on: end", "link: arm, at: [-0.05, 0, 0]", "points.tip: (-0.05, 0) is not on the plate"),
]
WRONG_PLAIN = [
    ("[0.6, 0], [0.6, 0.2]", "[0.6, 0.2], [0.6, 0]", "8: bodies.top.plate.corners: edge"),
    ("at: [0.05, 0.05]", "at: [0.5, 0.3]", "masses.0.at: (0.5, 0.3) is not on the plate"),
    ("to: [0.2, 0.1]", "to: [0.55, 0.1]", "stiffeners.0: leaves the plate between its ends"),
    ("to: [0.2, 0.1]", "to: [0.1, 0.35]", "stiffeners.0: begins where it ends"),
    ("edge: [[0, 0], [0, 0.4]]", "hole: [0.1, 0.1]", "attachments.root.hole: (0.1, 0.1) lies in no hole"),
]


@pytest.mark.parametrize(("robot", "old", "new", "words"), [(ROBOT, *w) for w in WRONG] + [(PLAIN, *w) for w in WRONG_PLAIN])
def test_messages_name_the_place_in_the_file(tmp_path: Path, robot: str, old: str, new: str, words: str) -> None:
    assert old in robot
    path = tmp_path / "wrong.yaml"
    path.write_text(robot.replace(old, new, 1))
    with pytest.raises(RobotFileError) as error:
        Machine.read(path).model()
    assert words in str(error.value)


@pytest.mark.parametrize("selection", ["modes: 0", "up_to: 0.01 Hz"])
def test_no_modes_make_a_rigid_plate(tmp_path: Path, selection: str) -> None:
    """Without shapes the body is rigid: its mass stays, nothing vibrates."""
    path = tmp_path / "rigid.yaml"
    path.write_text(PLAIN.replace("modes: 4", selection))
    body, markers = flexible_bodies(Machine.read(path).description)["top"]
    area = 0.6 * 0.2 + 0.3 * 0.2
    rib = 0.006 * 0.03 * np.hypot(0.1, 0.25)
    assert not body.flexible and markers["root"].Phi_d.shape == (3, 0)
    assert float(body.mass) == pytest.approx(7850 * (area * 0.01 + rib) + 0.1, rel=1e-9)
    assert [c.kind for c in Machine.read(path).model().mechanism.coordinates] == ["active"]
