"""Bodies as bent: what the tables of bodies one by one make of masses and stiffness, beside the equations' own."""

from __future__ import annotations

import numpy as np
import pytest

from supple.backends.interpreter import interpret
from supple.backends.stepping.plant import Limb, Limbs
from supple.expr.function import Array
from supple.machine import Machine
from supple.model.model import Model
from supple.model.posture import posture
from supple.robot.bodies.record import strain_gradient
from supple.simulation.limbs import limbs
from supple.simulation.partition import partition

ROBOTS = ["pacdrive", "3rrr", "five_bar", "serial_arm"]  # beams of elements, planar and spatial


def _bent(name: str) -> tuple[Model, Limbs, Array]:
    """A robot, its bodies one by one, and a posture in which all of them bend."""
    model = Machine.read(name).model()
    q = posture(model)
    found = limbs(model.mechanism, partition(model, q))
    assert found is not None
    rng = np.random.default_rng(1)
    for frame in model.mechanism.frames:
        q[frame.e] = 0.02 * rng.standard_normal(len(frame.body.coordinates))
    return model, found, q


@pytest.mark.parametrize("name", ROBOTS)
def test_inertia(name: str) -> None:
    """Masses of bodies as bent, on the twists that chains make, are the mass matrix of the tree; in space but for how the
    axes of finite rotations turn."""
    model, made, q = _bent(name)
    place = np.array(interpret(made.posture)(q=q, p=np.zeros(0))["posture"])
    twists, n = list[Array](), len(made.twists)
    M = np.zeros((model.nv, model.nv))
    for j, x in enumerate(made.frames):
        twists.append(_twist(made, x, place[15 * j : 15 * j + 15], twists, model.nv))
        own = _inertia(made, x, q)
        coupled = np.zeros((model.nv, n))
        coupled[x.e : x.e + x.elastic] = own[n * n :].reshape(-1, n)
        M += twists[j].T @ own[: n * n].reshape(n, n) @ twists[j] + coupled @ twists[j] + (coupled @ twists[j]).T
        M[x.e : x.e + x.elastic, x.e : x.e + x.elastic] += model.mechanism.frames[j].body.M_ee.astype(float)
        for k in range(x.dofs):
            M[x.q + k, x.q + k] += made.numbers[x.joint + (n + 2) * k + n]
    np.testing.assert_allclose(M, model.mass(q), rtol=0, atol=(1e-12 if n == 3 else 3e-3) * np.abs(M).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_stretches(name: str) -> None:
    """K and what stretches add to it are T^T K T of the strains' gradient T."""
    model, made, q = _bent(name)
    for x, frame in zip(made.frames, model.mechanism.frames, strict=True):
        K, T = frame.body.K_ee.astype(float), strain_gradient(frame.body, q[frame.e])
        sum_ = K.copy()
        for at in made.windows[x.stretch : x.stretch + x.stretches]:
            n, numbers = at.wide, made.numbers[at.numbers :]
            own = slice(at.first, at.first + n)
            g, pulled = numbers[: n * n].reshape(n, n) @ q[frame.e][own], numbers[n * n : n * n + n]
            sum_[own, own] += np.outer(pulled, g) + np.outer(g, pulled) + numbers[n * n + 2 * n] * np.outer(g, g)
        np.testing.assert_allclose(sum_, T.T @ K @ T, rtol=0, atol=1e-12 * max(np.abs(K).max(initial=0.0), 1e-300))


def _inertia(made: Limbs, x: Limb, q: Array) -> Array:
    n = len(made.twists)
    own = made.numbers[x.rigid : x.rigid + n * (n + x.elastic)].copy()
    for term in made.bends[x.bend : x.bend + x.bends]:
        second = 1.0 if term.second < 0 else q[x.at + term.second]
        own[term.to] += made.numbers[term.by] * q[x.at + term.first] * second
    return own


def _twist(made: Limbs, x: Limb, place: Array, before: list[Array], nv: int) -> Array:
    """The twist of a frame by all rates."""
    R, origin, slide = place[:9].reshape(3, 3), place[9:12], place[12:]
    n, kept = len(made.twists), list(made.twists)
    V = np.zeros((n, nv))
    if x.parent >= 0:
        carried = np.zeros((6, nv))
        carried[kept] = before[x.parent]
        carried[:3] += np.cross(carried[3:].T, origin).T
        for k in range(x.marked):
            shape = made.numbers[x.phi + 6 * k : x.phi + 6 * k + 6]
            carried[:, made.frames[x.parent].e + x.mark + k] += np.r_[shape[:3] + np.cross(shape[3:], slide), shape[3:]]
        V += np.vstack([R.T @ carried[:3], R.T @ carried[3:]])[kept]
    for k in range(x.dofs):
        V[:, x.q + k] += made.numbers[x.joint + (n + 2) * k : x.joint + (n + 2) * k + n]
    return V
