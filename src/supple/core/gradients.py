"""Derivatives of modes, poles, responses and compliances, from those of M, D, K, H and of rows of sensors.

Modes whose squares agree to REPEATED are one subspace. Along one direction its squares split as the eigenvalues of
X^T (K' - l M') X say, lowest first; its shapes are differentiated as a whole, without turning within the subspace
(X^T M X' is symmetric), so that what depends on the subspace alone (X X^T, the sum of squares) has its own derivative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.core import Derivatives
from supple.model.algebra import Array, symmetric

REPEATED = 1e-7  # relative difference of squares


@dataclass(frozen=True)
class ModeDerivatives:
    """Derivatives (n, names, modes) of squares of angular frequencies (rad/s)^2 and of frequencies (Hz), and of shapes
    (n, names, nv, modes) of unit modal mass."""

    squares: Array
    frequencies: Array
    shapes: Array


def subspaces(squares: Array) -> list[slice]:
    """Modes, lowest first, and runs of those that are repeated."""
    made: list[slice] = []
    for k, x in enumerate(squares):
        last = squares[k - 1] if k else np.inf
        if made and abs(x - last) <= REPEATED * max(abs(x), abs(last)):
            made[-1] = slice(made[-1].start, k + 1)
        else:
            made.append(slice(k, k + 1))
    return made


def mode_derivatives(d: Derivatives, independent: tuple[int, ...]) -> ModeDerivatives:
    """Derivatives of the modes that answers have; M, K and T have to be among the derivatives.

    A subspace that the last mode cuts through is differentiated as far as it is there: ask for one mode more."""
    answers = d.answers
    squares, shapes = answers["squares"], answers["shapes"]
    count, names, modes = len(squares), len(d.names), squares.shape[1]
    by_square = np.full((count, names, modes), np.nan)
    by_shape = np.full((count, names, *shapes.shape[1:]), np.nan)
    for n in np.flatnonzero(answers.answered & np.isfinite(d["M"]).all(axis=(1, 2, 3))):
        M, K = answers["M"][n], 0.5 * (answers["K"][n] + answers["K"][n].T)
        y = shapes[n][list(independent)]
        for own in subspaces(squares[n]):
            X, level = y[:, own], float(squares[n][own].mean())
            for k in range(names):
                dM, dK = d["M"][n, k], 0.5 * (d["K"][n, k] + d["K"][n, k].T)
                by_square[n, k, own], dX = _along(M, K, dM, dK, X, level)
                by_shape[n, k, :, own] = d["T"][n, k] @ X + answers["T"][n] @ dX
    roots = np.sqrt(np.abs(squares))[:, None]
    hz = by_square / (4 * np.pi * np.where(roots > 0, roots, np.nan)) * np.ones((1, names, 1))
    return ModeDerivatives(by_square, hz, by_shape)


def square_slopes(d: Derivatives, n: int, index: int, independent: tuple[int, ...], same: float) -> Array:
    """(names,) derivatives of one square of pose n; among squares that agree to `same` by its place in their subspace. M and
    K have to be among the derivatives."""
    squares = d.answers["squares"][n]
    group = np.flatnonzero(np.abs(squares - squares[index]) <= same * abs(squares[index]))
    X = d.answers["shapes"][n][list(independent)][:, group]
    split = X.T @ (symmetric(d["K"][n]) - squares[index] * d["M"][n]) @ X
    slopes = np.asarray(np.linalg.eigvalsh(symmetric(split)), dtype=float)
    return slopes[:, int(np.flatnonzero(group == index)[0])]


def _along(M: Array, K: Array, dM: Array, dK: Array, X: Array, level: float) -> tuple[Array, Array]:
    """Derivatives of the squares of a subspace, and of its shapes."""
    split = X.T @ (dK - level * dM) @ X
    m, MX = X.shape[1], M @ X
    scale = float(np.linalg.norm(K) / np.linalg.norm(M))  # so that both kinds of rows are alike in size
    system = np.block([[K - level * M, scale * MX], [scale * MX.T, np.zeros((m, m))]])
    right = np.vstack([MX @ split - (dK - level * dM) @ X, -0.5 * scale * X.T @ dM @ X])
    slopes = np.asarray(np.linalg.eigvalsh(0.5 * (split + split.T)), dtype=float)
    return slopes, np.linalg.solve(system, right)[: len(M)]


@dataclass(frozen=True)
class PoleDerivatives:
    """Poles (rad/s) of one pose, damping ratios, and their derivatives (names, poles)."""

    poles: Array
    ratios: Array
    by_pole: Array
    by_ratio: Array


def pole_derivatives(d: Derivatives, n: int, modes: int) -> PoleDerivatives:
    """The lowest damped poles of pose n, of each pair the one above the real axis, and their derivatives; M, D, K and H
    have to be among the derivatives. Repeated poles split as along each direction."""
    M, D, K, H = (d.answers[key][n] for key in ("M", "D", "K", "H"))
    roots, left, right = _poles(M, D, K + 1j * H)
    kept = np.argsort(np.abs(roots), kind="stable")[:modes]
    poles, made = roots[kept], np.zeros((len(d.names), len(kept)), dtype=complex)
    scale = np.abs(poles) ** 2
    for own in subspaces(scale):
        same = np.abs(poles - poles[own.start]) <= 10 * REPEATED * abs(poles[own.start])
        group = np.flatnonzero(same & (np.arange(len(poles)) >= own.start) & (np.arange(len(poles)) < own.stop))
        for one in [group] if len(group) == own.stop - own.start else [[k] for k in range(own.start, own.stop)]:
            s, X, Y = poles[one].mean(), right[:, kept[one]], left[:, kept[one]]
            weight = Y.conj().T @ (2 * s * M + D) @ X
            for k in range(len(d.names)):
                change = s**2 * d["M"][n, k] + s * d["D"][n, k] + d["K"][n, k] + 1j * d["H"][n, k]
                made[k, one] = -np.sort_complex(np.linalg.eigvals(np.linalg.solve(weight, Y.conj().T @ change @ X)))[::-1]
    size = np.abs(poles)
    by_size = np.real(made * poles.conj()) / size
    return PoleDerivatives(
        poles, -poles.real / size, made, -np.real(made) / size + poles.real * by_size / size**2
    )  # fmt: skip


def _poles(M: Array, D: Array, K: Array) -> tuple[Array, Array, Array]:
    """Poles above the real axis of s^2 M + s D + K that decay, and left and right vectors."""
    from scipy.linalg import eig  # takes longer to import than most studies to answer

    n = len(M)
    scale = np.sqrt(np.linalg.norm(K) / np.linalg.norm(M))  # so that both halves of a state are alike in size
    A = np.block([[np.zeros((n, n)), scale * np.eye(n)], [-K / scale, -D]])
    B = np.block([[np.eye(n), np.zeros((n, n))], [np.zeros((n, n)), M]])
    roots, left, right = eig(A, B, left=True, right=True)
    upper = np.flatnonzero((roots.imag > 0) & (roots.real <= 1e-9 * np.abs(roots).max()))
    return roots[upper], left[n:, upper], right[:n, upper]


def response_derivatives(
    d: Derivatives, n: int, B: Array, C: Array, dB: Array, dC: Array, omega: Array
) -> tuple[Array, Array]:
    """Receptances (omega, outputs, inputs) of pose n, and derivatives (names, omega, outputs, inputs).

    B: (motions, inputs), C: (outputs, motions) on the independent motions, with their derivatives (names, ...)."""
    M, D, K, H = (d.answers[key][n] for key in ("M", "D", "K", "H"))
    found, by = [], []
    for w in omega:
        Z = K + 1j * H + 1j * w * D - w**2 * M
        X, Y = np.linalg.solve(Z, B.astype(complex)), np.linalg.solve(Z.T, C.T.astype(complex)).T
        dZ = d["K"][n] + 1j * d["H"][n] + 1j * w * d["D"][n] - w**2 * d["M"][n]
        found.append(C @ X)
        by.append(dC @ X + Y @ dB - Y @ dZ @ X)
    return np.array(found), np.moveaxis(np.array(by), 0, 1)


def compliance_derivatives(d: Derivatives, row: int) -> tuple[Array, Array]:
    """Compliances (n, 6, 6) of the point whose twist begins at this row of `points`, and derivatives (n, names, 6, 6); K, T
    and points have to be among the derivatives."""
    answers, rows = d.answers, slice(row, row + 6)
    A = answers["points"][:, rows] @ answers["T"]
    dA = d["points"][:, :, rows] @ answers["T"][:, None] + answers["points"][:, None, rows] @ d["T"]
    good = np.isfinite(A).all(axis=(1, 2))
    found, by = np.full((len(A), 6, 6), np.nan), np.full((*d["K"].shape[:2], 6, 6), np.nan)
    K = symmetric(answers["K"][good])
    X = np.linalg.solve(K, np.swapaxes(A[good], 1, 2))
    found[good] = A[good] @ X
    half = dA[good] @ X[:, None]
    by[good] = half + np.swapaxes(half, 2, 3) - np.swapaxes(X, 1, 2)[:, None] @ symmetric(d["K"][good]) @ X[:, None]
    return found, by
