"""Frames say what they are to their link; nothing is read from the spelling of their names."""

from __future__ import annotations

from collections import Counter

import pytest

from supple.machine import Machine, gallery

ROBOT = """
name: parts
space: spatial
materials: {steel: {E: 210 GPa, rho: 7800 kg/m^3, nu: 0.3}}
sections: {rod: {circle: {diameter: 20 mm}}}
bodies:
  lump: {rigid: {mass: 1}}
  rod: {beam: {length: 1 m, section: rod, material: steel, elements: 1, segments: 3}}
links:
  rod: {parent: base, joint: universal, q: [u1, u2], body: rod, stiffness: {rz: 100}}
  rod.spring: {parent: rod, on: end, at: [0, 0.1, 0], joint: revolute, q: tip, body: lump}
"""


def test_every_role_of_a_small_robot() -> None:
    """A universal joint has a frame between its turns, an elastic one the far side of its spring, three segments two further
    frames, and what stands off a beam an arm. A link may be called like a spring."""
    frames = Machine.parse(ROBOT).mechanism().frames
    assert Counter((f.link, f.role) for f in frames) == {
        ("rod", "spring"): 1, ("rod", "joint"): 1, ("rod", "link"): 1, ("rod", "segment"): 2, ("rod", "arm"): 1,
        ("rod.spring", "link"): 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", gallery())
def test_every_link_has_one_frame_of_its_own(name: str) -> None:
    """Frames belong to links and closures of the file; each link has one that is its own. The platform floats on slides."""
    mechanism = Machine.read(name).mechanism(rigid=name != "cantilever")
    own = Counter(f.link for f in mechanism.frames if f.role == "link")
    assert set(own.values()) == {1}
    assert {f.link for f in mechanism.frames} <= set(own) | {c.name for c in mechanism.closures}
    slides = [f for f in mechanism.frames if f.role == "slide"]
    assert len(slides) == (0 if mechanism.platform is None else 2 if mechanism.planar else 3)
