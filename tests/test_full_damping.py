"""Full damping of bodies: taken out of equations whole, and known to Newton's matrices as nearly as neighbours can say."""

from __future__ import annotations

import numpy as np
import pytest

from supple.backends.stepping.collocation import collocation
from supple.machine import Machine
from supple.model.full_damping import near_damping, taken_out
from supple.robot.bodies.record import Body
from supple.robot.mechanism import Mechanism

(PAIR,) = collocation("radau", 3).pairs


def _mechanism(elements: int) -> Mechanism:
    return Machine.read("delta", {"elements": str(elements)}).mechanism()


def _bodies(elements: int) -> list[Body]:
    found = {f.body.K_ee.astype(float).tobytes(): f.body for f in _mechanism(elements).frames if f.body.D_ee.any()}
    return list(found.values())


@pytest.mark.parametrize("elements", [4, 16])
def test_newton_converges_faster_by_what_is_near(elements: int) -> None:
    """Newton's method with M + v X + v^2 K instead of M + v D + v^2 K: what is left of an error, beside X = 0."""
    for body in _bodies(elements):
        M, K, D = (x.astype(float) for x in (body.M_ee, body.K_ee, body.D_ee))
        X = near_damping(M, K, D)
        assert not X[(M == 0) & (K == 0)].any()
        np.testing.assert_allclose(X, X.T)
        for step in (1e-4, 1e-3):
            v = step * PAIR
            left = [np.abs(np.linalg.eigvals(np.linalg.solve(M + v * x + v**2 * K, v * (D - x)))).max() for x in (X, 0 * X)]
            assert left[0] < 0.45 * left[1]


def test_damping_that_neighbours_have_is_itself() -> None:
    body = _bodies(4)[0]
    M, K = body.M_ee.astype(float), body.K_ee.astype(float)
    D = 0.3 * M + 1e-5 * K
    np.testing.assert_allclose(near_damping(M, K, D), D, rtol=0, atol=1e-3 * np.abs(D).max())
    assert not near_damping(0 * M, K, D).any()  # no modes


def test_nothing_is_lost_of_what_is_taken_out() -> None:
    """What is left in the equations and what is taken out make the damping of the bodies."""
    whole = _mechanism(4)
    thin, found = taken_out(whole)
    elastic = whole.indices("elastic")
    D, kept = (np.zeros((whole.nv, whole.nv)) for _ in range(2))
    for a, b in zip(whole.frames, thin.frames, strict=True):
        D[a.ev, a.ev], kept[a.ev, a.ev] = a.body.D_ee.astype(float), b.body.D_ee.astype(float)
    made = kept[np.ix_(elastic, elastic)]
    for block in found:
        made[np.ix_(block.at, block.at)] += block.D
    np.testing.assert_array_equal(made, D[np.ix_(elastic, elastic)])
    assert {len(x.at) for x in found} == {4, 8}  # torsion and stretching; bending in two planes
    assert len(found) == 9 * 4
    assert not kept.any()
    assert taken_out(_mechanism(1))[1] == ()
