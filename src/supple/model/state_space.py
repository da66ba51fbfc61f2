"""State-space models of small motions, whole and reduced."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_continuous_lyapunov, svd

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.small_motions import SmallMotions

_UNDAMPED = (
    "a balanced model needs modes that are all damped; give the robot damping, hold its actuators, or choose reduction modal"
)


@dataclass(frozen=True)
class StateSpace:
    """x' = A x + B u, y = C x + D u. error: a bound of what a reduction loses, relative to the largest gain (in a band: what
    it loses there); None if none is known."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    error: float | None = None


def first_order(made: SmallMotions, order: int = 0) -> StateSpace:
    """All modes: amplitudes (of unit modal mass), then their rates; outputs are derivatives of that order."""
    n = len(made.squares)
    damping = made.viscous()
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-made.K, -damping]])
    B = np.vstack([np.zeros_like(made.B), made.B])
    C = np.hstack([made.C, np.zeros_like(made.C)])
    D = np.zeros((len(made.C), made.B.shape[1]))
    if made.reacting is not None:
        if order:
            raise SuppleError("forces of joints follow loads at once, and have no rates; choose quantity displacement")
        omega = np.sqrt(np.maximum(np.abs(made.squares), 1e-300))
        own, speeds = made.reacting, np.hstack([np.zeros_like(made.C), made.reacting.rates + made.reacting.lossy / omega])
        C, D = C + speeds + own.inertial @ A[n:], own.inertial @ made.B + own.direct
    for _ in range(order):
        C, D = C @ A, C @ B
    names = [f"mode {k + 1}" for k in range(n)]
    return StateSpace(A, B, C, D, (*names, *(f"{name} rate" for name in names)))


def truncated(made: SmallMotions, order: int, states: int) -> StateSpace:
    """The lowest modes alone, with what the others give way statically added to displacements."""
    kept = max(1, states // 2)
    own, rest = slice(0, kept), slice(kept, None)
    found = first_order(made.only(own), order)
    if order:
        return found
    still = made.C[:, rest] @ np.linalg.solve(made.K[rest, rest], made.B[rest])
    return replace(found, D=found.D + still)


def balanced(whole: StateSpace, order: int) -> StateSpace:
    """The states that inputs reach and outputs see most (balanced truncation, square-root method)."""
    poles = np.linalg.eigvals(whole.A)
    if poles.real.max() > -1e-9 * np.abs(poles).max():
        raise SuppleError(_UNDAMPED)
    R, L = (_root(_gramian(a, b)) for a, b in ((whole.A, whole.B), (whole.A.T, whole.C.T)))
    U, sizes, Vt = svd(L.T @ R, full_matrices=False)
    kept = min(order, int(np.sum(sizes > 1e-14 * sizes[0])))
    half = 1.0 / np.sqrt(sizes[:kept])
    left, right = (L @ U[:, :kept]) * half, (R @ Vt[:kept].T) * half
    lost = 2 * float(sizes[kept:].sum()) / float(sizes[0])
    names = tuple(f"balanced {k + 1}" for k in range(kept))
    return StateSpace(left.T @ whole.A @ right, left.T @ whole.B, whole.C @ right, whole.D, names, lost)


def _gramian(A: Array, B: Array) -> Array:
    """X of A X + X A^T + B B^T = 0; refused where modes have so little damping that rounding hides it."""
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of nearly undamped modes, judged here
        X: Array = solve_continuous_lyapunov(A, -B @ B.T)
    left = A @ X + X @ A.T + B @ B.T
    if np.abs(left).max() > 1e-6 * np.abs(B @ B.T).max():
        raise SuppleError(_UNDAMPED)
    return X


def balanced_in_band(whole: StateSpace, order: int, band: tuple[float, float]) -> StateSpace:
    """The states that inputs reach and outputs see most within a band (Hz): Gramians over its frequencies only (Gawronski &
    Juang 1990), and the response at rest kept. error: the largest difference in the band, relative to its largest gain."""
    roots, V = np.linalg.eig(whole.A)
    if roots.real.max() > -1e-9 * np.abs(roots).max():
        raise SuppleError(_UNDAMPED)
    back = np.linalg.inv(V)
    shares = _within(roots, 2 * np.pi * band[1]) - _within(roots, 2 * np.pi * band[0])
    R = _root(_band_gramian(roots, shares, V, back @ whole.B))
    L = _root(_band_gramian(roots.conj(), shares.conj(), back.conj().T, V.conj().T @ whole.C.T))
    U, sizes, Vt = svd(L.T @ R, full_matrices=False)
    kept = min(order, int(np.sum(sizes > 1e-14 * sizes[0])))
    half = 1.0 / np.sqrt(sizes[:kept])
    left, right = (L @ U[:, :kept]) * half, (R @ Vt[:kept].T) * half
    names = tuple(f"balanced {k + 1}" for k in range(kept))
    made = StateSpace(left.T @ whole.A @ right, left.T @ whole.B, whole.C @ right, whole.D, names)
    if np.linalg.eigvals(made.A).real.max() > 0:
        raise SuppleError(
            f"order {order}: what is left of the model is not stable; choose another order, or reduction modal"
        )
    still = whole.D - whole.C @ np.linalg.solve(whole.A, whole.B)
    made = replace(made, D=still + made.C @ np.linalg.solve(made.A, made.B))
    return replace(made, error=_worst(whole, made, band))


def _within(roots: Array, omega: float) -> Array:
    """1 / (2 pi) int of 1 / (i w - root) over w from -omega to omega."""
    made: Array = -0.5j / np.pi * (np.log(1j * omega - roots) - np.log(-1j * omega - roots))
    return made


def _band_gramian(roots: Array, shares: Array, V: Array, b: Array) -> Array:
    """V X V^H, X solving roots X + X roots^H = -(shares b b^H + b b^H shares^H)."""
    weight = -(shares[:, None] + shares.conj()) / (roots[:, None] + roots.conj())
    return np.asarray((V @ (weight * (b @ b.conj().T)) @ V.conj().T).real)


def _worst(first: StateSpace, second: StateSpace, band: tuple[float, float]) -> float:
    """The largest difference of two responses in a band, relative to the largest gain of the first there; looked at on a
    grid and at resonances."""
    own = np.abs(np.linalg.eigvals(first.A).imag) / (2 * np.pi)
    f = np.unique(np.concatenate([np.linspace(*band, 400), own[(own > band[0]) & (own < band[1])]]))
    most = apart = 0.0
    for x in f:
        a, b = (s.D + s.C @ np.linalg.solve(2j * np.pi * x * np.eye(len(s.A)) - s.A, s.B) for s in (first, second))
        most, apart = max(most, float(np.abs(a).max())), max(apart, float(np.abs(a - b).max()))
    return apart / most if most else 0.0


def _root(gramian: Array) -> Array:
    """L of a Gramian L L^T, which rounding may have made slightly negative."""
    sizes, axes = np.linalg.eigh(0.5 * (gramian + gramian.T))
    made: Array = axes * np.sqrt(np.maximum(sizes, 0.0))
    return made
