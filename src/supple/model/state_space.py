"""State-space models of small motions, whole and reduced."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_continuous_lyapunov, svd

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.small_motions import SmallMotions


@dataclass(frozen=True)
class StateSpace:
    """x' = A x + B u, y = C x + D u. error: a bound of what a reduction loses, relative to the largest gain; None if none
    is known."""

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
    for _ in range(order):
        C, D = C @ A, C @ B
    names = [f"mode {k + 1}" for k in range(n)]
    return StateSpace(A, B, C, D, (*names, *(f"{name} rate" for name in names)))


def truncated(made: SmallMotions, order: int, states: int) -> StateSpace:
    """The lowest modes alone, with what the others give way statically added to displacements."""
    kept = max(1, states // 2)
    own, rest = slice(0, kept), slice(kept, None)
    part = replace(
        made, squares=made.squares[own], K=made.K[own, own], D=made.D[own, own], H=made.H[own, own], B=made.B[own],
        C=made.C[:, own],
    )  # fmt: skip
    found = first_order(part, order)
    if order:
        return found
    still = made.C[:, rest] @ np.linalg.solve(made.K[rest, rest], made.B[rest])
    return replace(found, D=found.D + still)


def balanced(whole: StateSpace, order: int) -> StateSpace:
    """The states that inputs reach and outputs see most (balanced truncation, square-root method)."""
    poles = np.linalg.eigvals(whole.A)
    if poles.real.max() > -1e-9 * np.abs(poles).max():
        raise SuppleError(
            "a balanced model needs modes that are all damped; give the robot damping, hold its actuators, or choose "
            "reduction modal"
        )
    R, L = (_root(solve_continuous_lyapunov(a, -b @ b.T)) for a, b in ((whole.A, whole.B), (whole.A.T, whole.C.T)))
    U, sizes, Vt = svd(L.T @ R, full_matrices=False)
    kept = min(order, int(np.sum(sizes > 1e-14 * sizes[0])))
    half = 1.0 / np.sqrt(sizes[:kept])
    left, right = (L @ U[:, :kept]) * half, (R @ Vt[:kept].T) * half
    lost = 2 * float(sizes[kept:].sum()) / float(sizes[0])
    names = tuple(f"balanced {k + 1}" for k in range(kept))
    return StateSpace(left.T @ whole.A @ right, left.T @ whole.B, whole.C @ right, whole.D, names, lost)


def _root(gramian: Array) -> Array:
    """L of a Gramian L L^T, which rounding may have made slightly negative."""
    sizes, axes = np.linalg.eigh(0.5 * (gramian + gramian.T))
    made: Array = axes * np.sqrt(np.maximum(sizes, 0.0))
    return made
