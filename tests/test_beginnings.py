"""New robot files, and robots of other programs brought over, each against numbers by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from supple.api import Robot
from supple.beginnings.bring import bring
from supple.beginnings.new_robot import KINDS, new_robot
from supple.cli.main import PURPOSES, main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.robot.reader import describe_text

PAR = """(* Robotname = 'two' *)
NL = 2
NJ = 2
NF = 2
Type = 0 (* Simple *)
Ant = {0,1}
Sigma = {0,0}
B = {0,0}
d = {0,L1}
R = {0,0}
gamma = {0,0}
Alpha = {0,0}
Mu = {1,1}
Theta = {t1,t2}
XX = {0,0}
XY = {0,0}
XZ = {0,0}
YY = {0,0}
YZ = {0,0}
ZZ = {0.5,0.2}
MX = {0,0.3}
MY = {0,0}
MZ = {0,0}
M = {M1,2}
IA = {0.1,IA2}
FV = {0,0}
FS = {0,0}
G = {0,0,0}
"""
JOINTS = "joint,a,mu,sigma,gamma,b,alpha,d,theta,r\n"
URDF = """<?xml version="1.0"?>
<robot name="two arm">
  <link name="floor"/>
  <link name="one"><inertial><origin xyz="0.2 0 0" rpy="0 0 0"/><mass value="3"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="two"><inertial><origin xyz="0 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
    <inertia ixx="0.3" iyy="0.2" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="floor"/><child link="one"/><origin xyz="0 0 1" rpy="0 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.5"/></joint>
  <joint name="slide" type="prismatic"><parent link="one"/><child link="two"/><origin xyz="0.5 0 0" rpy="0 0 0.3"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.4" effort="1" velocity="1"/></joint>
</robot>
"""


def robot_of(text: str, folder: Path) -> Robot:
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return Robot(folder / "robot.yaml")


def mass(robot: Robot, **at: float) -> np.ndarray:
    model = robot.model()
    q = np.array([at.get(n, 0.0) for n in model.names])
    return model.mass(q)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_is_a_sound_robot_with_comments(kind: str) -> None:
    text = new_robot(kind, "mine")
    assert describe_text(text, "mine.yaml").robot.name == "mine" and "# Begun with" in text
    top = [line for line in text.splitlines() if line[:1].isalpha() and line.endswith(":")]
    lines = text.splitlines()
    assert all(lines[lines.index(line) - 1].startswith("#") for line in top)


def test_dimensions_of_a_new_robot_are_those_asked_for(tmp_path: Path) -> None:
    """The first frequency of the cantilever goes with 1/L^2; a file that is there is not written over."""
    file = tmp_path / "mine.yaml"
    found = CliRunner().invoke(main, ["new", "cantilever", str(file), "--set", "L=0.5 m", "--set", "elements=2", "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["parameters"]["L"] == 0.5
    here, there = (Robot(r).modes(count=1).frequencies_hz[0] for r in (file, "cantilever"))
    assert here == pytest.approx(4 * there, rel=1e-3)
    again = CliRunner().invoke(main, ["new", "cantilever", str(file)])
    assert again.exit_code == 2 and "exists already" in again.stderr
    for words, said in ((["delta", str(tmp_path / "d.yaml"), "--set", "arm=9 m"], "not written"),
                        (["nothing", str(tmp_path / "d.yaml")], "there is no kind"),
                        (["delta", str(tmp_path / "d.yaml"), "--set", "nose=1"], "has no dimension 'nose'"),
                        (["delta", str(tmp_path / "d.txt")], "ends with .yaml")):  # fmt: skip
        wrong = CliRunner().invoke(main, ["new", *words])
        assert wrong.exit_code == 2 and said in wrong.stderr and not (tmp_path / "d.yaml").exists(), wrong.stderr


def test_symoro_tables_make_the_textbook_mass_matrix(tmp_path: Path) -> None:
    """M of a planar two-link arm from its base parameters, and what the file does not say."""
    (tmp_path / "two.par").write_text(PAR)
    text, missing = bring(tmp_path / "two.par", settings={"L1": "0.4"})
    assert any("mass of link 1" in m for m in missing) and any("IA2" in m for m in missing)
    M = mass(robot_of(text, tmp_path), q2=0.7)
    cross = 0.2 + 0.4 * 0.3 * np.cos(0.7)
    assert pytest.approx(np.array([[0.5 + 0.1 + 0.2 + 2 * 0.16 + 2 * 0.4 * 0.3 * np.cos(0.7), cross], [cross, 0.2]])) == M
    unset = bring(tmp_path / "two.par")[1]
    assert any("value of L1" in m for m in unset)


def test_a_urdf_arm_has_its_mass_matrix_limits_and_friction(tmp_path: Path) -> None:
    """A turning arm with a sliding mass at r = (0.5 + s cos 0.3, s sin 0.3), inertia turned by the yaw of its frame."""
    (tmp_path / "two.urdf").write_text(URDF)
    text, missing = bring(tmp_path / "two.urdf")
    robot = robot_of(text, tmp_path)
    s = 0.2
    place, along = np.array([0.5 + s * np.cos(0.3), s * np.sin(0.3)]), np.array([np.cos(0.3), np.sin(0.3)])
    turning = 0.1 + 3 * 0.04 + 0.4 + 2 * place @ place
    coupling = 2 * (place[0] * along[1] - place[1] * along[0])
    assert mass(robot, slide=s) == pytest.approx(np.array([[turning, coupling], [coupling, 2.0]]))
    two = next(f for f in robot.mechanism().frames if f.name == "two")
    assert np.diag(two.body.I_rr.astype(float)) == pytest.approx([0.2, 0.3, 0.4])  # turned by 90 degrees about z
    assert [tuple(map(float, c.limits or ())) for c in robot.mechanism().coordinates] == [(-1, 1), (0, 0.4)]
    assert robot.mechanism().coordinates[0].viscous == 0.5 and any("motor of turn" in m for m in missing)
    assert any("beyond its limits" in line for line in robot.check({"slide": 0.5}).mobility)


LOOPS = "closures:\n  pin: {joint: spherical, from: {link: base, at: [0.7, 0, 1]}, to: {link: two}}\n"


def test_a_loop_file_closes_a_urdf_robot(tmp_path: Path) -> None:
    (tmp_path / "two.urdf").write_text(URDF.replace('rpy="0 0 0.3"', 'rpy="0 0 0"'))
    (tmp_path / "loops.yaml").write_text(LOOPS)
    text, missing = bring(tmp_path / "two.urdf", loops=tmp_path / "loops.yaml")
    assert "pin" in text and not any(m.startswith("closures") for m in missing)
    (tmp_path / "loops.yaml").write_text("nonsense: 1\n")
    with pytest.raises(SuppleError, match="does not take 'nonsense'"):
        bring(tmp_path / "two.urdf", loops=tmp_path / "loops.yaml")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.urdf", '<!DOCTYPE r [<!ENTITY x "y">]><robot>&x;</robot>', "entities are refused"),
        ("a.urdf", "<robot", "is no XML"),
        ("a.urdf", "<sdf/>", "is no URDF"),
        ("a.urdf", URDF.replace('value="3"', 'value="three"'), "is no number"),
        ("a.urdf", URDF.replace('type="prismatic"', 'type="floating"'), "is not taken"),
        ("a.urdf", URDF.replace('<parent link="one"/>', '<parent link="ghost"/>'), "has no parent among the links"),
        ("a.urdf", URDF.replace('upper="1"', 'upper="nan"'), "is no number"),
        ("a.urdf", URDF.replace('upper="1"', 'upper="wide"'), "is no number"),
        ("a.urdf", URDF.replace('damping="0.5"', 'damping="inf"'), "is no number"),
        ("a.par", "NL = 2", "is no SYMORO file"),
        ("a.par", PAR.replace("NL = 2", "NL = 999999999"), "do not fit the 2 frames"),
        ("a.par", PAR.replace("NJ = 2", "NJ = 0"), "do not fit the 2 frames"),
        ("a.par", PAR.replace("Ant = {0,1}", "Ant = {0,\N{SUPERSCRIPT TWO}}"), "is no number or expression"),
        ("a.par", PAR.replace("L1", "__import__('os')"), "is no number or expression"),
        ("a.par", PAR.replace("Ant = {0,1}", "Ant = {0,2}"), "is no link before it"),
        ("a.csv", "joint,a\n1,0\n", "has no column 'mu'"),
        ("a.csv", f"{JOINTS}1,{'0' * 140_000}\n", "is no table"),
        ("a.csv", f"{JOINTS}1,0,1,0,0,0,0,0,0,0\n1,0,1,0,0,0,0,0,0,0\n", "has two rows"),
        ("a.txt", "", "is read from"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_said_in_a_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = CliRunner().invoke(main, ["import", str(tmp_path / name), "-o", str(tmp_path / "out.yaml")])
    assert found.exit_code == 2 and said in found.stderr and len(found.stderr.strip().splitlines()) == 1, found.stderr
    assert not (tmp_path / "out.yaml").exists()


@pytest.mark.parametrize(("phi", "said"), [("phi0", "does not know 'phi0'"), ("1/0", "divides by zero")])
def test_beams_that_point_nowhere_are_told(phi: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "joints.csv").write_text(f"{JOINTS}1,0,1,0,0,0,0,0,0,0\n")
    head = "body,beam,l,S,Iy,Iz,E,G,rho,phi,theta,psi"
    (tmp_path / "beams.csv").write_text(f"{head}\n1,1,0.5,1e-4,1e-9,1e-9,7e10,3e10,2700,{phi},0,0\n")
    with pytest.raises(SuppleError, match=f"^phi of a beam of body 1: {phi!r}.*{said}"):
        bring(tmp_path / "joints.csv", beams=tmp_path / "beams.csv", settings={"a": "1.2.3", "b": "2*a"})


def test_keys_that_a_loop_file_gives_twice_are_told(tmp_path: Path) -> None:
    (tmp_path / "two.par").write_text(PAR)
    (tmp_path / "loops.yaml").write_text("home: {q1: 1}\nhome: {q1: 2}\n")
    with pytest.raises(SuppleError, match="given twice"):
        bring(tmp_path / "two.par", loops=tmp_path / "loops.yaml")


def test_names_of_a_urdf_reach_the_robot_file_as_names(tmp_path: Path) -> None:
    nasty = "two: {x} <script> ☃ " + "n" * 300
    (tmp_path / "a.urdf").write_text(URDF.replace('"two"', f'"{nasty.replace("<", "&lt;")}"'), encoding="utf-8")
    text, _ = bring(tmp_path / "a.urdf")
    assert "<script>" not in text and describe_text(text, "a.yaml").robot.links


def test_tables_of_the_surgiscope_close_as_its_own_file_does() -> None:
    """Table III of Rognant et al. (2010) as printed, beside the gallery's file."""
    from supple.papers.rognant2010 import _FOLDER, _SECTIONS

    folder = Path(str(_FOLDER))
    values = {"Lb": "0.75", "Lc": "0.125", "Lp": "0.95", "Rb": "0.25", "Rn": "0.1"} | _SECTIONS
    text, missing = bring(folder / "table_3a.csv", beams=folder / "table_3b.csv", count=3, settings=values)
    assert any("closures" in m for m in missing)
    described = describe_text(text, "t.yaml").robot
    lengths = [b.beam.elements.text for b in described.bodies.values() if b.beam is not None]
    assert [int(x) for x in lengths] == [3, 2, 3, 2, 1, 3]  # 14 beams
    axes = {name: [float(x.text) for x in b.beam.axis] for name, b in described.bodies.items() if b.beam is not None}
    assert axes["body2"] == [0, 0, -1] and axes["body4"] == [0, -1, 0] and axes["body5"] == [-1, 0, 0]


# Limits, bodies that differ from leg to leg, groups of meshes ---------------------------------------------------------

ARM = """
space: planar
links:
  arm: {parent: base, joint: revolute, q: turn, limits: [-30 deg, 0.5], body: {rigid: {mass: 2, inertia: {zz: 0.5}}}}
actuators: {turn: {}}
motions:
  wide: {moves: [{by: {turn: 1}, duration: 1}]}
  narrow: {moves: [{by: {turn: 0.4}, duration: 1}]}
"""


def test_limits_are_known_to_checks_motions_and_maps(tmp_path: Path) -> None:
    robot = robot_of(ARM, tmp_path)
    assert not any("limits" in x for x in robot.check({"turn": 0.5}).mobility)
    assert any(
        "turn is beyond its limits of -0.5236 and 0.5 rad, by 0.1 rad" in x for x in robot.check({"turn": 0.6}).mobility
    )
    found = [robot.inverse(m, rigid=True).summary["notices"] for m in ("wide", "narrow")]
    assert any("beyond its limits" in x for x in found[0]) and not any("limits" in x for x in found[1])
    for bad, said in (("[0.5, -30 deg]", "limits go from a value to a larger one"), ("[1 m, 2 m]", "must be an angle")):
        with pytest.raises(SuppleError, match=said):
            robot_of(ARM.replace("[-30 deg, 0.5]", bad), tmp_path).mechanism()


def test_poses_beyond_limits_are_no_part_of_a_map(tmp_path: Path) -> None:
    text = (Path(Machine.read("serial_arm").source.tree.file)).read_text()
    robot = robot_of(text, tmp_path)
    made = robot.map({"elbow": "60 deg:170 deg:3"}, workers=1)
    assert made.answered.tolist() == [True, True, False]
    assert "elbow would be at 2.967 rad, beyond its limits" in made.problems[2]


def test_bodies_may_differ_from_leg_to_leg(tmp_path: Path) -> None:
    text = """
space: spatial
materials: {m: {E: 70 GPa, rho: 2700}}
sections: {s: {circle: {diameter: 10 mm}}, t: {circle: {diameter: 20 mm}}}
bodies:
  thin: {beam: {length: 0.5, section: s, material: m}}
  thick: {beam: {length: 0.5, section: t, material: m}}
legs:
  leg: {count: 2, vary: {rod: [thin, thick]}, links: {rod: {parent: base, at: [0, i, 0], body: rod}}}
"""
    masses = robot_of(text, tmp_path).check().masses
    assert masses["leg2/rod"] == pytest.approx(4 * masses["leg1/rod"])
    with pytest.raises(SuppleError, match="rod"):
        robot_of(text.replace("[thin, thick]", "[thin, thicker]"), tmp_path).mechanism()


def test_groups_of_a_gmsh_mesh_are_attachments(tmp_path: Path) -> None:
    """A physical group of the mesh, against the plane that its nodes lie in."""
    meshio = pytest.importorskip("meshio")
    bars = pytest.importorskip("bars")
    points, cells = bars.tetrahedra(4, 1)
    low = np.flatnonzero(np.abs(points[:, 0] - points[:, 0].min()) < 1e-9)
    faces = np.array([[a, b, c] for a in low for b in low for c in low if a < b < c])
    mesh = meshio.Mesh(points, [("tetra", cells), ("triangle", faces)],
                       cell_data={"gmsh:physical": [np.full(len(cells), 1), np.full(len(faces), 2)],
                                  "gmsh:geometrical": [np.full(len(cells), 1), np.full(len(faces), 1)]},
                       field_data={"solid": np.array([1, 3]), "foot": np.array([2, 2])})  # fmt: skip
    meshio.write(tmp_path / "bar.msh", mesh, file_format="gmsh22", binary=False)
    from supple.robot.finite_elements.files import FeFile, read_fe
    from supple.robot.finite_elements.nodal import chosen_nodes

    model = read_fe(FeFile(tmp_path / "bar.msh", elastic=(bars.E, bars.NU, bars.RHO)))
    group = chosen_nodes(model, {"group": "foot"})
    plane = chosen_nodes(model, {"plane": {"x": float(points[:, 0].min())}})
    assert set(group) == set(plane) and len(group) >= len(low)
    with pytest.raises(SuppleError, match="there is no group 'hand'"):
        chosen_nodes(model, {"group": "hand"})


def test_help_lists_every_verb_once_under_its_purpose() -> None:
    found = CliRunner().invoke(main, ["--help"]).output
    verbs = main.list_commands(None)  # type: ignore[arg-type]
    assert all(f"{purpose}:" in found for purpose in PURPOSES) and "More:" not in found
    assert sorted(v for group in PURPOSES.values() for v in group if v in verbs) == verbs
