"""Poles of structural damping, whose eigenproblem is of half the size, beside those of the whole one; who is whose."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from supple.model import damped as room
from supple.model.algebra import assigned


@pytest.mark.parametrize("growing", [False, True])
def test_structural_damping_alone(growing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(6)
    omega = np.sort(draw.uniform(10.0, 400.0, 12))
    omega[0] = -3.0 if growing else 0.0
    A = draw.normal(size=(12, 12))
    H, none = 0.02 * (A @ A.T) * np.outer(np.abs(omega), np.abs(omega)) / 12, np.zeros((12, 12))
    ratios, poles = room.damped(omega, none, H, 9)
    monkeypatch.setattr(room, "_structural_roots", lambda squares, H: room._roots(squares, none, H))
    whole_ratios, whole_poles = room.damped(omega, none, H, 9)
    np.testing.assert_allclose(poles, whole_poles, rtol=1e-9, atol=1e-9 * omega[-1])
    np.testing.assert_allclose(ratios, whole_ratios, atol=1e-9)
    assert (ratios[1:] > 1e-3).all() and (poles[1:].imag > 0).all()


def test_one_mode_by_hand() -> None:
    """w^2 (1 + i eta) = -s^2: s = i w sqrt(1 + i eta)."""
    ratios, poles = room.damped(np.array([50.0]), np.zeros((1, 1)), np.array([[2500.0 * 0.1]]), 1)
    true = 50j * np.sqrt(1 + 0.1j)
    np.testing.assert_allclose(poles, [true], rtol=1e-14)
    np.testing.assert_allclose(ratios, [-true.real / abs(true)], rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (4, 9), (9, 4), (40, 60), (0, 3)])
def test_assignments_cost_what_scipys_cost(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(sum(shape))
    for cost in (draw.normal(size=shape), draw.integers(0, 4, size=shape).astype(float), np.zeros(shape)):
        rows, columns = assigned(cost)
        true = linear_sum_assignment(cost)
        assert len(rows) == min(shape) and len(set(rows.tolist())) == len(set(columns.tolist())) == min(shape)
        assert (np.diff(rows) > 0).all() and cost[rows, columns].sum() == pytest.approx(cost[true].sum(), abs=1e-12)
