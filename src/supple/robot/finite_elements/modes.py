"""Modes of free and held structures, by shift and invert: a free body has no inverse at zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.sparse import AnyMatrix

_DENSE = 500
_ROUNDS = 8
_SHIFT = 1e-12
_MASSLESS = 1e-15  # 1 / w^2 against the largest: rounding of motions that move no mass
NEGLIGIBLE = 1e-7  # a rigid motion's eigenvalue against the first elastic one


def lowest(K: AnyMatrix, M: AnyMatrix, count: int) -> tuple[Array, Array]:
    """The lowest `count` eigenvalues and M-orthonormal vectors of K x = w^2 M x for a body that is held."""
    n = K.shape[0]
    count = min(count, n)
    if count <= 0:
        return np.zeros(0), np.zeros((n, 0))
    shift = _first_shift(K, M)
    for _ in range(_ROUNDS):
        values, vectors = _solved(K, M, count, shift)
        if shift <= 10 * np.abs(values[0]):
            break
        shift = 0.1 * float(np.abs(values[0]))
    return values, vectors


def _first_shift(K: AnyMatrix, M: AnyMatrix) -> float:
    k, m = K.diagonal(), M.diagonal()
    there = (m > 0) & (k > 0)
    if not there.any():
        raise SuppleError("the body has no mass or no stiffness; check its matrices and material")
    return float(_SHIFT * np.median(k[there] / m[there]))


def _solved(K: AnyMatrix, M: AnyMatrix, count: int, shift: float) -> tuple[Array, Array]:
    n = K.shape[0]
    if n <= max(_DENSE, 2 * count + 2):
        inverse, vectors = _inverted(_dense(M), _dense(K) + shift * _dense(M))
        inverse, vectors = inverse[:count], vectors[:, :count]
        if not (inverse > 0).all():
            raise SuppleError("the mass matrix carries fewer modes than were asked for; ask for fewer")
        values = 1 / inverse - shift
    else:
        rng = np.random.default_rng(1)
        factor = factorised(K + shift * M)
        solve = LinearOperator((n, n), factor.solve, dtype=float)
        values, vectors = eigsh(
            sparse.csc_matrix(K), count, sparse.csc_matrix(M), sigma=-shift, v0=rng.standard_normal(n), OPinv=solve
        )
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    masses = np.einsum("ik,ik->k", vectors, M @ vectors)
    return values, vectors / np.sqrt(masses)


def _inverted(M: Array, K: Array) -> tuple[Array, Array]:
    """All 1 / w^2, largest first, and vectors of a body that is held. M may be singular: some of them are zero then."""
    try:
        inverse, vectors = eigh((M + M.T) / 2, (K + K.T) / 2, driver="gvd")
    except LinAlgError as error:
        raise SuppleError("the stiffness matrix is not positive (loose parts, or a wrong sign); check the model") from error
    order = np.argsort(-inverse)
    return inverse[order], vectors[:, order]


def _dense(A: AnyMatrix) -> Array:
    return np.asarray(A) if isinstance(A, np.ndarray) else A.toarray()


def elastic_modes(K: AnyMatrix, M: AnyMatrix, rigid: Array, count: int) -> tuple[Array, Array]:
    """Eigenvalues and vectors of the first elastic modes of a free body, with no rigid motion in them at all."""
    free = rigid.shape[1]
    count = min(count, K.shape[0] - free)
    if count <= 0:
        return np.zeros(0), np.zeros((K.shape[0], 0))
    more = min(count + 6, K.shape[0] - free)  # far enough from zero even if some motions are loose
    shift = _first_shift(K, M)
    R = orthonormal(rigid, M)
    for _ in range(_ROUNDS):
        values, vectors = _solved_without(K, M, R, more, shift)
        if len(values) < count:
            raise SuppleError(f"the mass matrix carries {len(values)} elastic modes only; ask for fewer")
        if 1e-8 * values[0] <= shift <= 10 * values[0] or values[0] < NEGLIGIBLE * values[-1]:
            break
        shift = 0.1 * values[0]
    strain = np.einsum("ik,ik->k", R, K @ R).max()
    if strain > 1e-6 * values[0]:
        raise SuppleError(
            "a free body moves in six directions without strain, but this one does not: it is held somewhere, "
            "or its coordinates do not belong to its matrices"
        )
    loose = int((values < NEGLIGIBLE * values[-1]).sum())
    if loose:
        raise SuppleError(f"the body has {loose} motions without strain besides the six rigid ones; join all its parts")
    elastic = vectors[:, :count] - R @ ((M @ R).T @ vectors[:, :count])
    return values[:count], elastic / np.sqrt(np.einsum("ik,ik->k", elastic, M @ elastic))


def orthonormal(R: Array, M: AnyMatrix) -> Array:
    for _ in range(2):
        R = np.linalg.solve(np.linalg.cholesky(R.T @ (M @ R)), R.T).T
    return R


def factorised(A: AnyMatrix) -> Any:
    """The factors of a symmetric positive matrix."""
    options = {"SymmetricMode": True}
    try:
        return splu(sparse.csc_matrix(A), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError as error:  # "Factor is exactly singular"
        raise SuppleError(
            "the matrices are singular: a coordinate has neither mass nor stiffness; leave it out, or check the model"
        ) from error


def _solved_without(K: AnyMatrix, M: AnyMatrix, R: Array, count: int, shift: float) -> tuple[Array, Array]:
    """Modes M-orthogonal to R, fewer if M carries fewer. Lanczos alone would miss some of six equal eigenvalues."""
    n, free = K.shape[0], R.shape[1]
    MR = M @ R
    if n <= max(_DENSE, 2 * (count + free) + 2):
        stiff = _first_shift(K, M) / _SHIFT  # rigid motions become as stiff as the stiffest part
        inverted, vectors = _inverted(_dense(M), _dense(K) + stiff * MR @ MR.T)
        carried = inverted > _MASSLESS * inverted[0]
        inverted, vectors = inverted[carried], vectors[:, carried] / np.sqrt(inverted[carried])
        elastic = np.flatnonzero(np.linalg.norm(MR.T @ vectors, axis=0) < 0.5)[:count]
        return 1 / inverted[elastic], vectors[:, elastic]
    factor = factorised(K + shift * M)

    def inverse(b: Array) -> Array:
        x = factor.solve(b - MR @ (R.T @ b))
        made: Array = x - R @ (MR.T @ x)
        return made

    start = np.random.default_rng(1).standard_normal(n)
    values, vectors = eigsh(
        sparse.csc_matrix(K), count, sparse.csc_matrix(M), sigma=-shift, v0=start - R @ (MR.T @ start),
        OPinv=LinearOperator((n, n), inverse, dtype=float),
    )  # fmt: skip
    order = np.argsort(values)
    return values[order], vectors[:, order]


def canonical(values: Array, vectors: Array, rows: Array) -> Array:
    """Vectors of equal eigenvalues turned so that only the first of them moves `rows` (P x m) first; signs fixed."""
    made = vectors.copy()
    start = 0
    while start < len(values):
        stop = start + 1
        while stop < len(values) and values[stop] - values[start] <= 1e-6 * values[stop]:
            stop += 1
        block = made[:, start:stop]
        seen = rows @ block
        weight = np.linalg.norm(seen, axis=1)
        if weight.max(initial=0.0) > 0:
            row = seen[int(np.argmax(weight > (1 - 1e-3) * weight.max()))]
            if stop - start > 1:
                Q, _ = np.linalg.qr(np.column_stack([row, np.eye(stop - start)]))
                block = block @ Q
                row = row @ Q
            made[:, start:stop] = block * np.where(row >= -1e-9 * weight.max(), 1.0, -1.0)
        start = stop
    return made
