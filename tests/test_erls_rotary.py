"""Rotary inertia of sections on links that spin and are turned: where w x phi belongs, which is 0 on a planar robot."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from erls_robots import METHODS

from supple.expr.vector import vector, zeros
from supple.formulations.erls import _energies
from supple.formulations.erls_compatible import Velocity, rotary_energy
from supple.formulations.newton_euler import newton_euler
from supple.formulations.rigid_links.moments import Moments, moments
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.mechanism import Mechanism
from supple.robot.reader import describe_text

# A section that swings about y with unit rotary inertia, on a link that spins and is turned by the small angles phi
ABOUT_Y = vector(0, 1, 0)[:, None]
SWINGING = Moments(0, zeros(3), zeros(3, 3), zeros(3, 1), zeros(1, 3, 3), zeros(1, 1, 3, 3), zeros(1, 1), ABOUT_Y)


def link(spin: Any, phi: Any, psi: Any) -> Any:
    still, turn = SimpleNamespace(x=zeros(3), rate=zeros(3)), SimpleNamespace(x=vector(*phi), rate=vector(*psi))
    return SimpleNamespace(e=vector(0), ed=vector(3), spin=vector(*spin), o=still, d=still, phi=turn, inside=lambda x: x)


@pytest.mark.parametrize(
    ("spin", "phi", "psi", "wanted"),
    [
        # carried along by the link, phi' = w x phi: z of the base is (0, sin 0.1, cos 0.1) in the turned axes
        ((0, 0, 2), (0.1, 0, 0), (0, 0.2, 0), 0.6),
        ((2, 0, 0), (0, 0, 0.1), (0, -0.2, 0), -0.6),  # and x is (cos 0.1, -sin 0.1, 0) if turned about z
        # phi still in the base: the axes E R of the real link turn about z as R does, seen from themselves
        ((0, 0, 2), (0.1, 0, 0), (0, 0, 0), 0.0),
        ((0, 0, 0), (0.1, 0, 0), (0, 0.5, 0), 1.5),
    ],
)
def test_the_spin_of_a_turned_link_in_its_own_axes(spin: Any, phi: Any, psi: Any, wanted: float) -> None:
    """Energy of the swing: spin in the turned axes times 3, to first order in the turn."""
    own = link(spin, phi, psi)
    assert float(rotary_energy(SWINGING, own, Velocity(own))) == pytest.approx(wanted)
    assert sum(float(x) for x in _energies(SWINGING, own)) == pytest.approx(wanted)


# Two thick beams across each other, which turn about all axes: the second is turned by the bending of the first
THICK = """
space: spatial
materials: {m: {E: 1 GPa, rho: 2000}}
sections: {s: {rectangle: {y: 0.2, z: 0.3}}}
bodies: {thick: {beam: {length: 0.6, section: s, material: m, elements: 1}}}
links:
  first: {parent: base, joint: universal, axis: [z, y], q: [a, b], body: thick}
  second: {parent: first, on: end, rotate: {y: 50 deg}, joint: universal, axis: [x, z], q: [c, d], body: thick}
"""


def without_rotary(mechanism: Mechanism) -> Mechanism:
    """The same robot, the swing of whose sections does not see the spin of their link."""

    def stripped(body: Any) -> Any:
        own = moments(body)
        return body if own is None else replace(body, beta=body.beta - own.rotary)

    return replace(mechanism, frames=tuple(replace(f, body=stripped(f.body)) for f in mechanism.frames))


def rotary_forces(method: Any) -> Any:
    """What the swing adds to the forces of a state whose deformation is scaled by eps."""
    mechanism = assemble(describe_text(THICK, "test.yaml"))
    with_it, without = Model(method(mechanism)), Model(method(without_rotary(mechanism)))
    rng = np.random.default_rng(3)
    state = {key: rng.uniform(-1, 1, mechanism.nv) for key in ("q", "v", "a")}
    elastic = np.isin(np.arange(mechanism.nv), mechanism.indices("elastic"))

    def forces(eps: float) -> Any:
        here = {key: np.where(elastic, eps * x, x) for key, x in state.items()}
        return with_it.call("forces", **here)["f"] - without.call("forces", **here)["f"]

    return forces


@pytest.mark.parametrize("method", METHODS)
def test_rotary_inertia_is_that_of_newton_euler_to_first_order(method: str) -> None:
    """The formulations differ in second order of the deformation; a wrong first-order term would show as order one."""
    own, reference = rotary_forces(METHODS[method]), rotary_forces(newton_euler)
    sizes = (4e-3, 2e-3, 1e-3)
    gaps = [np.abs(own(x) - reference(x)).max() for x in sizes]
    linear = np.abs(reference(1e-3) - reference(0.0)).max()
    assert linear > 1e-4 * np.abs(reference(0.0)).max()  # there is a first-order term to compare
    assert gaps[2] < 0.02 * linear
    assert np.log2(np.array(gaps[:-1]) / np.array(gaps[1:])) == pytest.approx([2, 2], abs=0.15)
