"""Beams as a robot file writes them: what they weigh, where they lie, how they give way, after textbooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import build

from supple.robot.assemble import assemble
from supple.robot.reader import describe_text

ROBOT = """
space: spatial
materials: {m: {E: 200 GPa, rho: 8000 kg/m^3, nu: 0.25%s}}
sections: {s: %s}
bodies: {b: {beam: {length: 1.5, section: s, material: m%s}}}
links: {arm: {parent: base, joint: fixed, body: b}}
points: {P: {link: arm, on: end}}
"""


UNEVEN = "{properties: {area: 3 cm^2, Iz: 2 cm^4, Iy: 5 cm^4, J: 6 cm^4, ky: 0.5, kz: 0.7}}"


def compliance(material: str, beam: str) -> Any:
    """Displacement and turn of the tip along and about x, y, z under a unit force and moment there."""
    model = build(ROBOT % (material, UNEVEN, beam))
    K = np.array([model.call("stiffness", q=np.zeros(model.nv), direction=d)["f"] for d in np.eye(model.nv)])
    motion = [model.call("points", q=np.zeros(model.nv), v=d) for d in np.eye(model.nv)]
    J = np.array([np.concatenate([m["velocity"].ravel(), m["spin"].ravel()]) for m in motion]).T
    return np.diag(J @ np.linalg.solve(K, J.T))


def test_a_beam_bends_stretches_and_twists_as_its_section_says() -> None:
    """L/EA, L^3/3EI with Iz for y and Iy for z, L/GJ with G = E / 2(1 + nu) = 80 GPa, L/EI with Iy about y, Iz about z."""
    wanted = [1.5 / 6e7, 1.5**3 / 12e3, 1.5**3 / 30e3, 1.5 / 4800, 1.5 / 1e4, 1.5 / 4e3]
    assert compliance("", "") == pytest.approx(wanted, rel=1e-9)


def test_the_shear_modulus_may_be_given() -> None:
    assert compliance(", G: 40 GPa", "")[3] == pytest.approx(1.5 / 2400, rel=1e-9)


def test_shear_adds_to_the_deflection() -> None:
    """L^3/3EI + L/(k G A) with ky = 0.5 for y and kz = 0.7 for z."""
    found = compliance("", ", theory: timoshenko")
    GA = 80e9 * 3e-4
    assert found[1:3] == pytest.approx([1.5**3 / 12e3 + 1.5 / (0.5 * GA), 1.5**3 / 30e3 + 1.5 / (0.7 * GA)], rel=1e-9)


def test_a_beam_weighs_and_lies_as_written() -> None:
    """8000 * 3e-4 * 1.5 = 3.6 kg, its centre 0.75 m from its start along its axis, about y 3.6 * 1.5^2 / 3 and rho Iy L."""
    text = ROBOT.replace("joint: fixed", "joint: revolute") % ("", UNEVEN, ", axis: z, start: [0, 0.2, 0]")
    mechanism = assemble(describe_text(text, "test.yaml"), rigid=True)
    body = mechanism.frames[0].body
    assert float(body.mass) == pytest.approx(3.6)
    assert body.MS_r.astype(float) == pytest.approx([0, 0.72, 2.7])
    about_x = 3.6 * 1.5**2 / 3 + 3.6 * 0.2**2
    assert float(body.I_rr[0, 0]) == pytest.approx(about_x, rel=2e-4)  # and the section's own, rho I L


def test_segments_share_a_length() -> None:
    model = build(ROBOT % ("", UNEVEN, ", segments: 3"))
    assert [f.name for f in model.mechanism.frames] == ["arm", "arm#2", "arm#3"]
    assert model.call("points", q=np.zeros(model.nv))["position"].ravel() == pytest.approx([1.5, 0, 0])
    assert [float(f.body.mass) for f in model.mechanism.frames] == pytest.approx([1.2] * 3)
