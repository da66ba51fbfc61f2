"""Poles by poly-reference least squares in the frequency domain (pLSCF; Guillaume et al. 2003), order by order.

H = B A^-1 with polynomials in exp(-j w dt). The coefficients of B are eliminated output by output, so that only the normal
equations of A remain. The highest coefficient of A is one, which sends most poles of noise to the right half plane."""

from __future__ import annotations

import numpy as np

from supple.robot.bodies.record import Array

_FLAT = 1e-13


def poles_by_order(frequencies_hz: Array, values: Array, orders: range, decay: float = 0.0) -> dict[int, Array]:
    """Poles (1/s, upper half plane, decaying) of every order, from responses (lines, outputs, inputs).

    decay: what an exponential window took from the real parts, which is put back."""
    f = np.asarray(frequencies_hz, dtype=float)
    first, last = float(f[0]), float(f[-1])
    step = 0.5 / last
    most = max(orders)
    R, S, T = _normal_equations(f, values, most, step)
    found = {}
    for n in orders:
        z = _roots(R, S, T, n, values.shape[2])
        z = z[np.abs(z) > 0]
        roots = -np.log(z.astype(complex)) / step
        hz = np.abs(roots) / (2 * np.pi)
        kept = (roots.imag > 0) & (roots.real < 0) & (hz >= first) & (hz <= last) & (-roots.real < np.abs(roots))
        found[n] = roots[kept] + decay
    return {n: x[x.real < 0] for n, x in found.items()}


def _normal_equations(f: Array, values: Array, order: int, step: float) -> tuple[Array, Array, Array]:
    """R, and per output S and T, of all orders up to the highest: those of lower ones are their leading blocks."""
    lines, outputs, inputs = values.shape
    basis = np.exp(-2j * np.pi * np.outer(f * step, np.arange(order + 1)))
    R = (basis.conj().T @ basis).real
    size = (order + 1) * inputs
    S, T = np.empty((outputs, order + 1, size)), np.empty((outputs, size, size))
    for o in range(outputs):
        scale = np.sqrt(np.mean(np.abs(values[:, o]) ** 2)) or 1.0
        Y = -(basis[:, :, None] * (values[:, o] / scale)[:, None, :]).reshape(lines, size)
        S[o] = (basis.conj().T @ Y).real
        T[o] = (Y.conj().T @ Y).real
    return R, S, T


def _roots(R: Array, S: Array, T: Array, n: int, inputs: int) -> Array:
    """Roots of det A of one order."""
    size = (n + 1) * inputs
    own = S[:, : n + 1, :size]
    solved = np.linalg.solve(R[: n + 1, : n + 1] + _FLAT * np.trace(R) * np.eye(n + 1), own)
    M = T[:, :size, :size].sum(0) - np.einsum("oij,oik->jk", own, solved)
    low = n * inputs
    try:
        A = -np.linalg.solve(M[:low, :low], M[:low, low:])
    except np.linalg.LinAlgError:
        return np.zeros(0, dtype=complex)
    companion = np.zeros((low, low))
    companion[: low - inputs, inputs:] = np.eye(low - inputs)
    companion[low - inputs :] = -np.hstack([A[k * inputs : (k + 1) * inputs].T for k in range(n)])
    roots: Array = np.linalg.eigvals(companion)
    return roots
