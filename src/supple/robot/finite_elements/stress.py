"""The stress stiffness of a solid: what the stress of one displacement does on the second order of others.

    G_l[a, b] = int sigma_ij(w_l) v_a,ki v_b,kj dV

sigma is the linear stress of w_l; v_k,i v_k,j / 2 is what Green's strain has beyond the linear one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.robot.bodies.record import Array

_MOST = 4_000_000  # numbers in an array of products
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


def solid_stress(
    basis_of: Callable[[Array], Any], cells: int, size: float, lam: float, mu: float
) -> Callable[[Array, Array], Array]:
    """(w, v) -> G for fields of nodes, all x, all y, all z (3N x L and 3N x n); lengths of the mesh are in units of size."""

    def stiffness(w: Array, v: Array) -> Array:
        first, second = np.triu_indices(v.shape[1])
        per_cell = basis_of(np.arange(1)).dx.shape[1]
        chunk = max(1, _MOST // (max(len(first), w.shape[1], 1) * 6 * per_cell))
        total = np.zeros((w.shape[1], len(first)))
        for start in range(0, cells, chunk):
            basis = basis_of(np.arange(start, min(start + chunk, cells)))
            weights = basis.dx.ravel() * size**3
            stress = _stress(_gradients(basis, w) / size, lam, mu) * weights
            total += stress.reshape(len(stress), -1) @ _products(_gradients(basis, v) / size, first, second).T
        made = np.zeros((w.shape[1], v.shape[1], v.shape[1]))
        made[:, first, second] = made[:, second, first] = total
        return made

    return stiffness


def _gradients(basis: Any, u: Array) -> Array:
    """u_k,i at the points of the cells (L x 3 x 3 x P)."""
    shapes = np.stack([f[0].grad for f in basis.basis])  # B x 3 x C x Q
    B, _, C, Q = shapes.shape
    values = u.reshape(3, -1, u.shape[1])[:, basis.element_dofs]  # 3 x B x C x L
    values = values.transpose(2, 3, 0, 1).reshape(C, -1, B)
    made = values @ shapes.transpose(2, 0, 1, 3).reshape(C, B, 3 * Q)  # C x (L 3) x (3 Q)
    gradients: Array = made.reshape(C, -1, 3, 3, Q).transpose(1, 2, 3, 0, 4).reshape(-1, 3, 3, C * Q)
    return gradients


def _stress(H: Array, lam: float, mu: float) -> Array:
    """Six components; those off the diagonal count twice in products."""
    trace = lam * (H[:, 0, 0] + H[:, 1, 1] + H[:, 2, 2])
    return np.stack([mu * (H[:, i, j] + H[:, j, i]) + (trace if i == j else 0) for i, j in _PAIRS], axis=1)


def _products(H: Array, first: Array, second: Array) -> Array:
    """v_a,ki v_b,kj of every pair of shapes, symmetric in i and j, as rows (pairs x (6 P))."""
    made = []
    for i, j in _PAIRS:
        both = np.einsum("akp,akp->ap", H[first, :, i], H[second, :, j])
        made.append(both if i == j else both + np.einsum("akp,akp->ap", H[first, :, j], H[second, :, i]))
    return np.stack(made, axis=1).reshape(len(first), -1)
