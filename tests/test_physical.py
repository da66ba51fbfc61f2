"""Masses and inertias that no body has are refused with their line and numbers; truth: inertias of given point masses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.errors import RobotFileError
from supple.machine import GALLERY
from supple.robot.assemble import assemble
from supple.robot.reader import Description, describe_text

TEXT = """space: spatial
links:
  arm: {parent: base, joint: spherical, q: s, body: arm}
bodies:
  arm: {rigid: {BODY}}
"""


def read(body: str, text: str = TEXT) -> Description:
    return describe_text(text.replace("BODY", body), "arm.yaml")


REFUSED = {
    "mass: 1, inertia: {xx: 1, yy: 1, zz: 3}": r"arm.yaml:5: bodies.arm.rigid.inertia: its principal moments about the "
    r"centre of mass are 1, 1, 3 kg m\^2; none is above the sum of the other two",
    "mass: 1, inertia: {xx: 1, yy: 1, zz: 1, xy: 2}": r"are -1, 1, 3 kg m\^2; moments of inertia are not negative",
    # a point mass of 2 kg, 1 m away, has 2 kg m^2 about the origin; less is impossible
    "mass: 2, centre: [1, 0, 0], inertia_at_origin: {xx: 0, yy: 1.9, zz: 1.9}": "taken off, are -0.1, -0.1, 0 kg",
    "mass: 2, first_moments: [2, 0, 0], inertia_at_origin: {zz: 1.9}": "its moment zz about the centre of mass, once mass "
    "times distance squared is taken off, is -0.1 kg",
    "mass: 1, inertia: {xx: 1, xy: 0.1}": "has products of inertia but no yy",
    "mass: 0, inertia: {zz: 1}": "a body without mass has no inertia",
    "mass: 0, first_moments: [1, 0, 0]": "a body without mass has no first_moments",
    "mass: 1, centre: [1e9, 0, 0]": r"arm.yaml:5: bodies.arm.rigid: its centre of mass lies 1e\+09 m away",
    "mass: 1e-9, first_moments: [1, 0, 0]": r"its centre of mass lies 1e\+09 m away",
}


@pytest.mark.parametrize("body", REFUSED)
@pytest.mark.filterwarnings("ignore::supple.errors.UnlikelyValue")
def test_refused_in_words(body: str) -> None:
    with pytest.raises(RobotFileError, match=REFUSED[body]):
        read(body)


@pytest.mark.parametrize(
    "body",
    [
        "mass: 1, inertia: {xx: 1, yy: 1, zz: 2}",  # a flat body: the rule holds with equality
        "mass: 1, inertia: {xx: 1.25, yy: 1.25, zz: 2.51}",  # printed with three digits
        "mass: 1, inertia: {zz: 2}",  # the others are not given
        "mass: 2, centre: [1, 0, 0], inertia_at_origin: {xx: 0, yy: 2, zz: 2}",  # a point mass
        "mass: 0",
        "mass: 1, inertia: {xx: 1, yy: 1, zz: 3}, unphysical: allowed",
        "mass: 0, inertia: {zz: 1}, unphysical: allowed",
    ],
)
def test_read(body: str) -> None:
    assert assemble(read(body)).name == "robot"


@pytest.mark.parametrize("seed", range(20))
def test_point_masses_are_bodies_and_less_is_none(seed: int) -> None:
    """Four point masses are a body about the centre and about the origin; turned inside out they are none."""
    rng = np.random.default_rng(seed)
    m, r = rng.uniform(0.1, 1, 4), rng.uniform(-1, 1, (4, 3))
    centre = m @ r / m.sum()

    def entries(r: np.ndarray) -> np.ndarray:
        return sum(k * (x @ x * np.eye(3) - np.outer(x, x)) for k, x in zip(m, r, strict=True))

    def text(key: str, matrix: np.ndarray) -> str:
        listed = ", ".join(
            f"{a + b}: {float(matrix['xyz'.index(a), 'xyz'.index(b)])!r}" for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")
        )
        return f"mass: {float(m.sum())!r}, centre: {centre.tolist()}, {key}: {{{listed}}}"

    read(text("inertia", entries(r - centre)))
    read(text("inertia_at_origin", entries(r)))
    moments = np.linalg.eigvalsh(entries(r - centre))
    with pytest.raises(RobotFileError, match="principal moments"):
        read(text("inertia", entries(r - centre) - 0.6 * moments[0] * np.eye(3) + np.diag([0.0, 0.0, 2 * moments[2]])))
    with pytest.raises(RobotFileError, match="principal moments"):
        read(text("inertia_at_origin", entries(r) - 1.01 * moments[0] * np.eye(3)))


def test_values_of_legs_and_settings_are_judged() -> None:
    text = TEXT.replace("links:", "parameters: {J: 1}\nlinks:")
    assert read("mass: 1, inertia: {xx: 1, yy: 1, zz: J}", text)
    with pytest.raises(RobotFileError, match="are 1, 1, 3"):
        describe_text(text.replace("BODY", "mass: 1, inertia: {xx: 1, yy: 1, zz: J}"), "a.yaml", {"J": "3"})


PLATE = """space: spatial
materials: {steel: {E: 210 GPa, rho: 7850, nu: 0.3}}
links: {arm: {parent: base, body: arm}}
bodies:
  arm:
    plate:
      corners: [[0, 0], [1, 0], [1, 1], [0, 1]]
      thickness: 10 mm
      material: steel
      attachments: {root: {edge: [[0, 0], [0, 1]]}}
      root: root
      masses: [{BODY}]
"""


@pytest.mark.filterwarnings("ignore::supple.errors.UnlikelyValue")
def test_masses_tied_to_flexible_bodies_are_judged_too() -> None:
    assert read("mass: 1, at: [0.5, 0.5, 0.1], inertia: {xx: 1, yy: 1, zz: 2}", PLATE)
    for body, words in (
        (
            "mass: 1, at: [0.5, 0.5, 1e9]",
            r"arm.yaml:12: bodies.arm.plate.masses.0.at: its centre of mass lies 1e\+09 m away",
        ),
        (
            "mass: 1, at: [0.5, 0.5], inertia: {xx: 1, yy: 1, zz: 3}",
            r"masses.0.inertia: its principal moments .* are 1, 1, 3",
        ),
        ("mass: 0, at: [0.5, 0.5], inertia: {xx: 1}", "masses.0.inertia: a body without mass has no inertia"),
    ):
        with pytest.raises(RobotFileError, match=words):
            read(body, PLATE)


def test_the_gallery_says_where_its_tables_are_not_physical() -> None:

    said = {p.stem for p in Path(GALLERY).glob("*.yaml") if "unphysical" in p.read_text(encoding="utf-8")}
    assert said == {"gough_stewart", "gough_stewart_plate"}  # as printed


def test_a_beam_shorter_than_its_section_is_deep() -> None:
    """A square bar L long, a wide: m a^2 / 6 when it rolls, 2 m L^2 / 12 for the others; Timoshenko's sections tilt."""
    text = """
space: spatial
materials: {steel: {E: 210 GPa, nu: 0.3, rho: 7850}}
sections: {square: {rectangle: {y: 20 mm, z: 20 mm}}}
bodies: {bar: {beam: {length: LENGTH, section: square, material: steel}}}
links: {bar: {parent: base, joint: revolute, axis: z, q: turn, body: bar}}
"""
    assert assemble(describe_text(text.replace("LENGTH", "20.1 mm"), "robot.yaml")).frames
    assert assemble(describe_text(text.replace("LENGTH", "5 mm, theory: timoshenko"), "robot.yaml")).frames
    with pytest.raises(RobotFileError, match=r"shorter than its section is deep.*theory: timoshenko, or a rigid body"):
        assemble(describe_text(text.replace("LENGTH", "19.9 mm"), "robot.yaml"))
