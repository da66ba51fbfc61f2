"""Discrete Riccati equations, those of robots with many equal modes too."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_discrete_are

from supple.model.algebra import Array

_DOUBLINGS = 60  # of the horizon; a stable system needs some ten
_SETTLED, _EXACT = 1e-14, 1e-9  # parts of the solution


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q that steadies A - B K; ValueError where there is none.

    By invariant subspaces; equal modes of symmetric robots leave those too ill-conditioned to order, so else by doubling."""
    try:
        found: Array = solve_discrete_are(A, B, Q, R)
        return found
    except (np.linalg.LinAlgError, ValueError):
        return doubled(A, B, Q, R)


def doubled(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """The same by doubling the horizon, structure kept (Chu, Fan, Lin & Wang 2004); ValueError where it does not settle."""
    n, F, G, X = len(A), A, B @ np.linalg.solve(R, B.T), Q
    with np.errstate(all="ignore"):
        for _ in range(_DOUBLINGS):
            both = np.linalg.solve(np.eye(n) + G @ X, np.hstack([F, G]))
            more, wider = F.T @ X @ both[:, :n], F @ both[:, n:] @ F.T
            F, G, X = F @ both[:, :n], G + (wider + wider.T) / 2, X + (more + more.T) / 2
            if not np.linalg.norm(more) > _SETTLED * np.linalg.norm(X):
                break
        K = np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A)
        off = np.linalg.norm(A.T @ X @ (A - B @ K) + Q - X)
    if not off <= _EXACT * np.linalg.norm(X) or np.abs(np.linalg.eigvals(A - B @ K)).max() >= 1:
        raise ValueError("the Riccati equation has no solution that steadies the system")
    return X
