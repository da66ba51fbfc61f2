"""Loops solved by elimination onto the platform (Long, Khalil & Martinet 2014, eqs. 36-49), with numbers.

Every leg has as many joints as its closing joint has equations: J_i a_i + P_i u = w_i gives its accelerations from those of
the platform, u = (V, qdd_e). What is left is the platform's own equation; elastic rows are eliminated first, then V.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from supple.errors import SuppleError
from supple.expr.function import Indices
from supple.model.algebra import Array
from supple.model.tree_state import TreeEquations


def platform(tree: TreeEquations) -> tuple[Array, Array]:
    """Accelerations and multipliers by elimination of legs, then of the platform's elastic coordinates."""
    n, kinds = len(tree.M), np.array(tree.kinds)
    own = next(np.asarray(c) for c in tree.chains if (kinds[c] == "platform").any())
    touches = np.abs(tree.A[:, own]).max(axis=1, initial=0.0) > 0
    loops, held = np.flatnonzero(touches), np.flatnonzero(~touches)
    T, t = np.zeros((n, len(own))), np.zeros(n)  # a = T u + t
    T[own, np.arange(len(own))] = 1.0
    rows: list[tuple[Indices, Indices]] = []
    for chain in tree.chains:
        if (kinds[chain] == "platform").any():
            continue
        leg = np.asarray(chain)
        mine: Indices = loops[np.abs(tree.A[np.ix_(loops, leg)]).max(axis=1, initial=0.0) > 0]
        both = np.column_stack([-tree.A[np.ix_(mine, own)], tree.wanted[mine]])
        try:
            found = np.linalg.solve(tree.A[np.ix_(mine, leg)], both)
        except np.linalg.LinAlgError as error:
            raise SuppleError(f"a leg is singular here: {tree.names[leg[0]]!r} does not follow from the platform") from error
        T[leg], t[leg] = found[:, :-1], found[:, -1]
        rows.append((leg, mine))
    K, k = T.T @ tree.M @ T, T.T @ (tree.M @ t + tree.c - tree.applied)
    C, d = tree.A[held] @ T, tree.wanted[held] - tree.A[held] @ t
    u, forces = _platform(K, k, C, d, kinds[own] == "elastic")
    a = T @ u + t
    multipliers = np.zeros(len(tree.A))
    multipliers[held] = forces
    left = tree.M @ a + tree.c - tree.applied - tree.A[held].T @ forces
    for joints, closing in rows:
        multipliers[closing] = np.linalg.solve(tree.A[np.ix_(closing, joints)].T, left[joints])
    return a, multipliers


def _platform(K: Array, k: Array, C: Array, d: Array, elastic: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """u and the held actuators' forces of K u + k = C^T force, C u = d: elastic rows first (eqs. 44-49)."""
    p, e = np.flatnonzero(~elastic), np.flatnonzero(elastic)
    size = 1.0 / np.sqrt(np.maximum(np.diag(K), 1e-300))  # metres beside modal amplitudes
    K, k, C = K * np.outer(size, size), size * k, C * size
    inner = np.linalg.solve(K[np.ix_(e, e)], np.column_stack([K[np.ix_(e, p)], C[:, e].T, k[e]]))
    N_p, N_c, n_k = inner[:, : len(p)], inner[:, len(p) : -1], inner[:, -1]
    A, c = K[np.ix_(p, p)] - K[np.ix_(p, e)] @ N_p, k[p] - K[np.ix_(p, e)] @ n_k
    J_sys = C[:, p].T - K[np.ix_(p, e)] @ N_c
    outer = np.linalg.solve(A, np.column_stack([J_sys, c]))
    force = np.zeros(0)
    if len(C):
        S = J_sys.T @ outer[:, :-1] + C[:, e] @ N_c
        force = np.linalg.solve(S, d + J_sys.T @ outer[:, -1] + C[:, e] @ n_k)
    u = np.zeros(len(k))
    u[p] = outer[:, :-1] @ force - outer[:, -1]
    u[e] = N_c @ force - N_p @ u[p] - n_k
    return size * u, force
