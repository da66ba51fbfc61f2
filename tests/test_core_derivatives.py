"""Derivatives of the core by pose and parameters: against 60 digits, against exact values, against each other."""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from judges.sixty_digits import DIGITS, STEP, Precise, squares

from supple.core.core import Core, Derivatives
from supple.core.gradients import compliance_derivatives, mode_derivatives, pole_derivatives, response_derivatives
from supple.errors import SuppleError
from supple.machine import Machine

POSE = (0.03, -0.05)
KEPT = ("E", "mx14", "gravity")
WANTED = ("M", "K", "D", "H", "T", "points", "tau", "places", "bent_places", "q")


@cache
def derived() -> tuple[Core, Derivatives]:
    """dualemps in a vertical plane at a pose, by both actuators and three parameters."""
    core = Core(Machine.read("dualemps", {"gravity": "9.81"}).keeping(KEPT), ["q11", "q21"])
    return core, core.derivatives(np.array([POSE]), wanted=WANTED, modes=5)


def near(found: Any, wanted: Any, part: float) -> bool:
    wanted = np.asarray(wanted, dtype=float)
    return bool(np.abs(np.asarray(found) - wanted).max() <= part * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["q21", "E", "mx14"])
def test_derivatives_have_the_digits_of_sixty(name: str) -> None:
    core, d = derived()
    k = d.names.index(name)
    with mp.workdps(DIGITS):
        precise = Precise(core, d.answers["q"][0], d.answers["lam"][0])
        ends = []
        for way in (1, -1):
            moved = [mp.mpf(x) for x in (*POSE, *core.robot.values)]
            moved[k] *= 1 + way * STEP
            at = precise.rest(moved[:2], moved[2:])
            linear = precise.linear(at)
            ends.append({**linear, "q": mp.matrix(at["q"]), "squares": squares(linear)[:5]})
        h = 2 * STEP * mp.mpf((*POSE, *core.robot.values)[k])
        made = {key: np.array(((ends[0][key] - ends[1][key]) / h).tolist(), dtype=float) for key in ("M", "K", "q")}
        slopes = [float((a - b) / h) for a, b in zip(ends[0]["squares"], ends[1]["squares"], strict=True)]
    for key in ("M", "K"):
        assert near(d[key][0, k], made[key], 1e-8), key
    assert near(d["q"][0, k], made["q"].ravel()[list(core.structure.places)], 1e-8)
    found = mode_derivatives(d, core.structure.linear.independent)
    assert np.allclose(found.squares[0, k], slopes, rtol=1e-8, atol=1e-8 * np.abs(slopes).max())
    hz = np.sqrt(d.answers["squares"][0])
    assert np.allclose(found.frequencies[0, k], np.array(slopes) / (4 * np.pi * hz), rtol=1e-7, atol=1e-9)


def test_shapes_poles_responses_and_compliances_change_as_their_derivatives_say() -> None:
    """Differences of sixth order, of what is computed from M, D, K, H and rows at neighbouring designs."""
    core, d = derived()
    k, h = d.names.index("E"), 3e-3
    x, own = np.array([POSE]), np.array([core.robot.values])
    designs = own * (1 + h * np.eye(1, 3) * np.array([[-3], [-2], [-1], [1], [2], [3]]))
    weights = np.array([-1, 9, -45, 45, -9, 1]) / (60 * h * own[0, 0])
    many = core.derivatives(x, designs, wanted=WANTED, modes=5)

    def slope(values: Any) -> Any:
        return np.tensordot(weights, np.asarray(values), axes=1)

    shapes = (
        many.answers["shapes"] * np.sign(np.einsum("nij,ij->nj", many.answers["shapes"], d.answers["shapes"][0]))[:, None]
    )
    found = mode_derivatives(d, core.structure.linear.independent)
    assert near(found.shapes[0, k], slope(shapes), 1e-6)
    poles = [pole_derivatives(many, n, 4) for n in range(6)]
    own_poles = pole_derivatives(d, 0, 4)
    assert near(own_poles.by_ratio[k], slope([p.ratios for p in poles]), 1e-6)
    assert near(own_poles.by_pole[k].imag, slope([p.poles.imag for p in poles]), 1e-6)
    compliance, by = compliance_derivatives(d, 0)
    assert near(by[0, k], slope(compliance_derivatives(many, 0)[0]), 1e-6)
    omega = np.array([0.0, 30.0, 300.0])

    def receptance(of: Derivatives, n: int) -> tuple[Any, Any]:
        rows, motions = of.answers["points"][n], of.answers["T"][n]
        drows = of["points"][n] @ motions + rows @ of["T"][n]
        C, dC = rows @ motions, drows
        return response_derivatives(of, n, C.T, C, np.swapaxes(dC, 1, 2), dC, omega)

    found_frf = receptance(d, 0)
    assert near(found_frf[0][0].real, compliance[0], 1e-9)  # at rest a receptance is the compliance
    assert near(found_frf[1][k].real, slope([receptance(many, n)[0].real for n in range(6)]), 1e-6)


SQUARE = """
name: post
about: a post of a square section
space: spatial
parameters: {L: 1 m, Iy: 8e-10, Iz: 8e-10}
materials: {steel: {E: 2e11, rho: 7800, nu: 0.3}}
sections: {square: {properties: {area: 1e-4, Iy: Iy, Iz: Iz, J: 1.4e-9}}}
bodies: {post: {beam: {length: L, section: square, material: steel, elements: 2}}}
links: {post: {parent: base, body: post}}
points: {top: {link: post}}
"""


def test_repeated_modes_split_as_the_direction_says() -> None:
    """Squares of bending go with E I: by Iy one of each pair moves by l / I and the other stays; by the length both move as
    -4 l / L (no rotary inertia of the section)."""
    robot = Machine.parse(SQUARE).keeping(("Iy", "L"))
    core = Core(robot, [])
    d = core.derivatives(np.zeros((1, 0)), wanted=("M", "K", "T"), modes=4)
    found = mode_derivatives(d, core.structure.linear.independent)
    levels = d.answers["squares"][0]
    assert levels[0] == pytest.approx(levels[1], rel=1e-10)
    assert found.squares[0, 0] / levels * 8e-10 == pytest.approx([0, 1, 0, 1], abs=1e-8)
    assert found.squares[0, 1] / levels == pytest.approx([-4] * 4, rel=1e-8)


def test_what_has_no_derivative_is_named() -> None:
    core, _ = derived()
    with pytest.raises(SuppleError, match="no derivative by 'rho'"):
        core.derivatives(np.array([POSE]), by=["rho"])
