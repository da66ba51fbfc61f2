"""How the loops couple the virtual tree: four ways to solve M a + c = applied + A^T lam with A a = wanted.

A holds the rows of the loops, and of prescribed actuators. All ways give the same accelerations; where the rows are
redundant (overconstrained robots) the reactions are those of least norm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from supple.errors import SuppleError
from supple.expr.function import Indices
from supple.formulations.tree.independent import independent_rows, split
from supple.model.algebra import Array, least_squares, null_space
from supple.model.platform_coupling import platform
from supple.model.tree_state import SolvedPair, TreeEquations


def projection(tree: TreeEquations) -> SolvedPair:
    """On the motions that A allows, by virtual power (Briot & Khalil 2014, eqs. 41-44)."""
    Z, _, _ = null_space(tree.A)
    a = least_squares(tree.A, tree.wanted)
    if Z.shape[1]:
        a = a + Z @ _solve(tree, Z, tree.applied - tree.c - tree.M @ a)
    return a, _reactions(tree, a)


def multipliers(tree: TreeEquations) -> SolvedPair:
    """Accelerations and multipliers at once (Lagrange's equations of the first type)."""
    n, rows = len(tree.M), independent_rows(tree.A)
    A = tree.A[rows]
    size = _unit_diagonal(tree.M)
    A_scaled = A * size
    weight = 1.0 / np.maximum(np.linalg.norm(A_scaled, axis=1), 1e-300)
    B = A_scaled * weight[:, None]
    zero = np.zeros((len(B), len(B)))
    whole = np.block([[tree.M * np.outer(size, size), -B.T], [B, zero]])
    right = np.concatenate([size * (tree.applied - tree.c), weight * tree.wanted[rows]])
    try:
        x = np.linalg.solve(whole, right)
    except np.linalg.LinAlgError as error:
        Z, _, _ = null_space(tree.A)
        raise SuppleError(massless(Z.T @ tree.M @ Z, Z, tree.names)) from error
    a = size * x[:n]
    if len(rows) < len(tree.A):
        return a, _reactions(tree, a)
    return a, weight * x[n:]


def independent(tree: TreeEquations) -> SolvedPair:
    """In independent coordinates, active and elastic ones where the loops allow (Lagrange-D'Alembert): a = W a_i + b."""
    free, dependent = split(tree.A, tree.kinds)
    A_d = tree.A[:, dependent]
    W = np.zeros((len(tree.M), len(free)))
    W[free, np.arange(len(free))] = 1.0
    a = np.zeros(len(tree.M))
    if dependent:
        W[dependent] = -least_squares(A_d, tree.A[:, free])
        a[dependent] = least_squares(A_d, tree.wanted)
    if free:
        a = a + W @ _solve(tree, W, tree.applied - tree.c - tree.M @ a)
    left = tree.M @ a + tree.c - tree.applied
    if len(dependent) == len(tree.A):
        return a, np.asarray(np.linalg.solve(A_d.T, left[dependent]), dtype=float)
    return a, _reactions(tree, a)


def chains(tree: TreeEquations) -> SolvedPair:
    """Chain by chain, coupled by a small system for the loop forces (SCDD, exact): S lam = wanted - A a0."""
    light = [k for k in range(len(tree.M)) if not tree.M[k].any()]  # moves no mass: goes with the loop forces
    rows = independent_rows(tree.A)
    A, force = tree.A[rows], tree.applied - tree.c
    a, Y = _chains_alone(tree, A, force, set(light))
    n = len(light)
    whole = np.zeros((n + len(rows), n + len(rows)))
    whole[:n, n:], whole[n:, :n], whole[n:, n:] = A[:, light].T, A[:, light], A @ Y
    weight = np.ones(len(whole))
    weight[n:] = _unit_diagonal(whole[n:, n:])
    lam = np.zeros(len(rows))
    for _ in range(2 if len(whole) else 0):  # the second time takes off what large, opposite terms have lost
        left = np.concatenate([-force[light] - A[:, light].T @ lam, tree.wanted[rows] - A @ a])
        try:
            x = weight * np.linalg.solve(whole * np.outer(weight, weight), weight * left)
        except np.linalg.LinAlgError as error:
            Z = null_space(tree.A)[0]
            raise SuppleError(massless(Z.T @ tree.M @ Z, Z, tree.names)) from error
        a[light] += x[:n]
        a += Y @ x[n:]
        lam += x[n:]
    return a, lam if len(rows) == len(tree.A) else _reactions(tree, a)


def _chains_alone(tree: TreeEquations, A: Array, force: Array, light: set[int]) -> tuple[Array, Array]:
    """Accelerations of the chains without loop forces, and what a unit of each loop force adds."""
    a, Y = np.zeros(len(tree.M)), np.zeros((len(tree.M), len(A)))
    for same in _alike([np.array([k for k in chain if k not in light], dtype=int) for chain in tree.chains]):
        # chains of one size are solved as one batch
        M = np.stack([tree.M[np.ix_(k, k)] for k in same])
        right = np.stack([np.column_stack([A[:, k].T, force[k]]) for k in same])
        try:
            found = _refined(M, right)
        except np.linalg.LinAlgError as error:
            loose = np.eye(len(tree.M))[:, np.concatenate(same)]
            alone = "a chain cut from the others cannot be solved by itself; use another formulation"
            raise SuppleError(f"{massless(loose.T @ tree.M @ loose, loose, tree.names)}: {alone}") from error
        for k, part in zip(same, found, strict=True):
            Y[k], a[k] = part[:, :-1], part[:, -1]
    return a, Y


COUPLINGS: dict[str, Callable[[TreeEquations], SolvedPair]] = {
    "projection": projection,
    "multipliers": multipliers,
    "independent": independent,
    "chains": chains,
    "platform": platform,
}


def massless(reduced: Array, Z: Array, names: Sequence[str]) -> str:
    """Words for a mass matrix that is singular on the motions Z."""
    _, shapes = np.linalg.eigh(reduced)
    worst = int(np.argmax(np.abs(Z @ shapes[:, 0])))
    return f"nothing has inertia against the motion of {names[worst]!r}; give the link it moves a body with mass"


def _solve(tree: TreeEquations, Z: Array, force: Array) -> Array:
    reduced = Z.T @ tree.M @ Z
    size = _unit_diagonal(reduced)
    found = np.zeros(Z.shape[1])
    try:
        for _ in range(2):  # the second time takes off what a badly scaled Z has lost
            left = Z.T @ (force - tree.M @ (Z @ found))
            found = found + size * np.linalg.solve(reduced * np.outer(size, size), size * left)
    except np.linalg.LinAlgError as error:
        raise SuppleError(massless(reduced, Z, tree.names)) from error
    return found


def _reactions(tree: TreeEquations, a: Array) -> Array:
    return least_squares(tree.A.T, tree.M @ a + tree.c - tree.applied)


def _unit_diagonal(M: Array) -> Array:
    """Factors of rows and columns that make the diagonal of M (or of each of a batch) one."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    made: Array = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return made


def _refined(M: Array, right: Array) -> Array:
    """x of M x = right for a batch, scaled to a unit diagonal, with one step of refinement."""
    size = _unit_diagonal(M)[:, :, None]
    scaled = M * size * size.transpose(0, 2, 1)
    L = np.linalg.cholesky(scaled)

    def solve(b: Array) -> Array:
        return np.linalg.solve(L.transpose(0, 2, 1), np.linalg.solve(L, b))

    b = size * right
    x = solve(b)
    x = x + solve(b - scaled @ x)
    made: Array = size * x
    return made


def _alike(parts: Sequence[Indices]) -> list[list[Indices]]:
    """Chains grouped by their number of coordinates."""
    groups: dict[int, list[Indices]] = {}
    for part in parts:
        if len(part):
            groups.setdefault(len(part), []).append(part)
    return list(groups.values())
