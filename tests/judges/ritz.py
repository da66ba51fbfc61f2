"""Bending frequencies of a uniform inextensible beam under an axial force that varies along it, by Legendre polynomials.

w'' EI, N(x) w' and rho A w in the energies of Rayleigh and Ritz; with 20 polynomials the first three frequencies have
converged to ten digits. N is a pull. Lengths in L, frequencies in sqrt(EI / rho A L^4).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eigh, null_space

Array = np.ndarray
ENDS = {  # derivatives that vanish at x = 0 and x = 1
    "pinned": ((0,), (0,)),
    "free": ((0, 1), ()),
    "clamped": ((0, 1), (0, 1)),
}


def frequencies(
    ends: str, pull: Callable[[Array], Array], *, softening: float = 0.0, count: int = 3, size: int = 20
) -> Array:
    """Signed angular frequencies: sqrt of lambda in K w = (lambda + softening) M w.

    pull: N L^2 / EI at x / L. softening: (spin rate)^2 for vibration in the plane of rotation."""
    x, weights = legendre.leggauss(2 * size)
    x, weights = 0.5 * (x + 1), 0.5 * weights
    zeroth, first, second = (_basis(x, k, size) for k in range(3))
    rows = [_basis(np.array([float(end)]), k, size)[0] for end in range(2) for k in ENDS[ends][end]]
    Z = null_space(np.array(rows))
    K = second.T @ (weights[:, None] * second) + first.T @ ((weights * pull(x))[:, None] * first)
    M = zeroth.T @ (weights[:, None] * zeroth)
    squares = eigh(Z.T @ K @ Z, Z.T @ M @ Z, eigvals_only=True)[:count] - softening
    return np.sign(squares) * np.sqrt(np.abs(squares))


def _basis(x: Array, derivative: int, size: int) -> Array:
    """Derivatives of Legendre polynomials of [0, 1] at x: (points, size)."""
    columns = [legendre.legval(2 * x - 1, legendre.legder(np.eye(size)[k], derivative)) for k in range(size)]
    return 2.0**derivative * np.array(columns).T


def column(ends: str, load: float, count: int = 3) -> Array:
    """Frequencies under a thrust of `load` times EI / L^2 on the column's end."""
    return frequencies(ends, lambda x: np.full_like(x, -load), count=count)


def heavy(ends: str, weight: float, count: int = 3) -> Array:
    """Frequencies of a beam that hangs from x = 0 (weight > 0) or stands on it; weight: rho A g L^3 / EI."""
    return frequencies(ends, lambda x: weight * (1 - x), count=count)


def rotating(eta: float, *, hub: float = 0.0, in_plane: bool = False, count: int = 3) -> Array:
    """Frequencies of a blade clamped to a hub (radius hub L) that spins at eta sqrt(EI / rho A L^4)."""
    softening = eta**2 if in_plane else 0.0
    pull = lambda x: eta**2 * ((1 - x**2) / 2 + hub * (1 - x))  # noqa: E731
    return frequencies("free", pull, softening=softening, count=count)
