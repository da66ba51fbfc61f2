"""Damping ratios and poles of modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.model.algebra import Array, assigned


def damped(omega: Array, D: Array, H: Array, kept: int) -> tuple[Array, Array]:
    """Damping ratios and poles of the lowest modes, from the damped eigenproblem in the basis of all undamped modes, whose
    angular frequencies (below zero: growing) are omega."""
    squares = np.sign(omega) * omega**2
    if not D.any() and not H.any():
        roots = np.sqrt(-squares.astype(complex))
        return np.zeros(kept), roots[:kept]
    n = len(omega)
    roots, columns = _roots(squares, D, H) if D.any() else _structural_roots(squares, H)
    upper = np.flatnonzero(roots.imag >= 0) if not H.any() else np.flatnonzero(_decaying(roots))
    likeness = np.abs(columns[:n, upper]) / np.linalg.norm(columns[:n, upper], axis=0)
    rows, chosen = _paired(likeness)  # of all modes: which is whose must not depend on how many are shown
    every = np.zeros(n, dtype=complex)
    every[rows] = roots[upper[chosen]]
    found = every[:kept]
    alive = np.abs(omega[:kept]) > 1e-7 * np.abs(omega).max()  # a rigid motion has no damping ratio
    return np.where(alive, -found.real / np.maximum(np.abs(found), 1e-300), 0.0), found


def _roots(squares: Array, D: Array, H: Array) -> tuple[Array, Array]:
    """Roots, and in columns their shapes and those times the roots."""
    n = len(squares)
    stiffness = np.diag(squares) + (1j * H if H.any() else 0.0)
    roots, columns = np.linalg.eig(np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness, -D]]))
    return roots, columns


def _structural_roots(squares: Array, H: Array) -> tuple[Array, Array]:
    """Of every pair of roots the one above the real axis, and shapes: without D they follow from their squares, whose
    eigenproblem is of half the size."""
    found, columns = np.linalg.eig(np.diag(squares) + 1j * H)
    roots = np.sqrt(-found)
    below = (roots.imag < 0) | ((roots.imag == 0) & (roots.real > 0))
    return np.where(below, -roots, roots), columns


def _paired(likeness: Array) -> tuple[Any, Any]:
    """Rows and their columns, each once, of largest likeness in all: everyone's best where these differ."""
    best = likeness.argmax(axis=1) if likeness.shape[1] else np.zeros(0, dtype=int)
    if len(set(best.tolist())) == len(likeness):
        return np.arange(len(likeness)), best
    return assigned(-likeness)


def _decaying(roots: Array) -> Array:
    """One root of each pair: with structural damping the growing mirror roots are not physical."""
    made: Array = (roots.imag >= 0) & (roots.real <= 1e-9 * np.abs(roots).max())
    return made
