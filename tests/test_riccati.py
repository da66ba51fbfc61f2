"""Discrete Riccati equations by doubling, beside scipy's subspaces and the equation itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag, solve_discrete_are

import supple
from supple.control.riccati import doubled, riccati
from supple.model.algebra import Array


def rings(hz: float, damping: float, sample: float = 1e-3) -> Array:
    """One mode from sample to sample."""
    w = 2 * np.pi * hz * sample
    c, s, fade = np.cos(w), np.sin(w), np.exp(-damping * w)
    return fade * np.array([[c, s], [-s, c]])


def test_doubling_finds_what_subspaces_find() -> None:
    rng = np.random.default_rng(5)
    A = block_diag(rings(16, 0.002), rings(43, 0.01), [[1.0, 1e-3], [0.0, 1.0]], [[1.004]])
    B = rng.standard_normal((7, 2))
    Q, R = np.eye(7), np.diag([1.0, 30.0])
    assert doubled(A, B, Q, R) == pytest.approx(solve_discrete_are(A, B, Q, R), rel=1e-9)


def test_motions_that_nothing_moves_are_left_alone_if_they_fade_and_refused_if_not() -> None:
    B = np.array([[1.0], [0.5], [0.0], [0.0]])
    fading = riccati(block_diag(rings(16, 0.01), rings(16, 0.01)), B, np.eye(4), np.eye(1))
    assert np.linalg.eigvalsh(fading).min() > 0
    with pytest.raises(ValueError, match="no solution"):
        riccati(block_diag(rings(16, 0.01), 1.01 * np.eye(2)), B, np.eye(4), np.eye(1))


def test_a_robot_with_equal_modes_gets_a_law() -> None:
    """Six equal legs and a plate: modes in pairs and sixes, which subspaces cannot order."""
    found = supple.Robot("gough_stewart_flexible").control(
        "lqg:effort=100,deviation=1e-4,sample=1 ms,delay=0.5 ms", ["q,noise=1e-5"]
    )
    assert found.poses[0].stable
