"""Damped modes and responses of a `Reduced`, and their exact derivatives by its parameters.

Modes satisfy A z = s B z with z = (x, s x), B = [D M; M 0], A = [-(K + jH) 0; 0 M], all symmetric, so that with z^T B z = 1

    ds = z^T (dA - s dB) z,    dz_k = sum_j z_j (z_j^T (dA - s_k dB) z_k) / (s_k - s_j) - z_k (z_k^T dB z_k) / 2

(Fox & Kapoor 1968, for damped modes Adhikari 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig

from supple.measured.reduced import Reduced
from supple.robot.bodies.record import Array

_DOUBLE = 1e-6  # of a pole: closer ones have no derivatives of their own along each other


@dataclass(frozen=True)
class DampedModes:
    """Poles (1/s), lowest first, shapes at outputs (outputs, modes), and their derivatives (parameters first)."""

    poles: Array
    shapes: Array
    poles_p: Array
    shapes_p: Array

    @property
    def frequencies_hz(self) -> Array:
        made: Array = np.abs(self.poles) / (2 * np.pi)
        return made

    @property
    def damping_ratios(self) -> Array:
        made: Array = -self.poles.real / np.abs(self.poles)
        return made

    @property
    def log_frequencies_p(self) -> Array:
        """Derivatives of the logarithms of the frequencies."""
        made: Array = np.real(self.poles_p * self.poles.conj()) / np.abs(self.poles) ** 2
        return made

    @property
    def log_ratios_p(self) -> Array:
        """Derivatives of the logarithms of the damping ratios."""
        real = np.where(self.poles.real == 0, np.inf, self.poles.real)
        made: Array = np.real(self.poles_p) / real - self.log_frequencies_p
        return made


def damped_modes(r: Reduced) -> DampedModes:
    """The DampedModes of a robot at a pose."""
    n, squares = len(r.squares), r.squares
    K = np.diag(squares).astype(complex) + 1j * r.H
    roots, vectors = eig(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -r.D]]))
    B = np.block([[r.D, np.eye(n)], [np.eye(n), np.zeros((n, n))]])
    order = np.argsort(np.abs(roots))
    roots, Z = roots[order], vectors[:, order]
    Z = Z / np.sqrt(np.einsum("ik,ij,jk->k", Z, B, Z).astype(complex))
    chosen = [k for k in range(2 * n) if roots[k].imag > 0 and roots[k].real <= 1e-9 * abs(roots[k])][: r.modes]
    s, x = roots[chosen], Z[:n, chosen]
    shapes = r.C @ x
    if not len(r.M_p):
        return DampedModes(s, shapes, np.zeros((0, len(s))), np.zeros((0, *shapes.shape)))
    poles_p = np.empty((len(r.M_p), len(s)), dtype=complex)
    shapes_p = np.empty((len(r.M_p), *shapes.shape), dtype=complex)
    gap = s[None, :] - roots[:, None]
    near = np.abs(gap) < _DOUBLE * np.abs(s)
    lower = Z[n:]
    for p in range(len(r.M_p)):
        K_p = r.K_p[p] + 1j * r.H_p[p]
        # rows j of Z^T (dA - s_k dB) Z_k, with lower = s x
        dA = -Z[:n].T @ K_p @ x + lower.T @ r.M_p[p] @ (s * x)
        crossed = Z[:n].T @ r.M_p[p] @ (s * x) + lower.T @ r.M_p[p] @ x
        dB = Z[:n].T @ r.D_p[p] @ x + crossed
        turned = dA - s * dB
        poles_p[p] = turned[chosen, np.arange(len(s))]
        share = np.where(near, 0.0, turned / np.where(near, 1.0, gap))
        share[chosen, np.arange(len(s))] = -0.5 * dB[chosen, np.arange(len(s))]
        shapes_p[p] = r.C @ (Z[:n] @ share) + r.C_p[p] @ x - sum(r.far_p[k, p] @ (s**k * x) for k in range(3))
    return DampedModes(s, shapes, poles_p, shapes_p)


def responses_at(r: Reduced, s: Array, orders: Array) -> tuple[Array, Array]:
    """Responses (lines, outputs, inputs) at complex frequencies s, and their derivatives (parameters first).

    orders: per output, how often displacement is differentiated."""
    n = len(r.squares)
    fixed = np.diag(r.squares) + 1j * r.H
    S = s[:, None, None] ** 2 * np.eye(n) + s[:, None, None] * r.D + fixed
    S_inverse = np.linalg.inv(S)
    factor = (s[:, None] ** orders[None, :])[:, :, None]
    Y = S_inverse @ r.B.T
    H = factor * (r.C @ Y)
    H_p = np.empty((len(r.M_p), *H.shape), dtype=complex)
    for p in range(len(r.M_p)):
        pushed = (r.K_p[p] + 1j * r.H_p[p]) @ Y + s[:, None, None] * (r.D_p[p] @ Y) + s[:, None, None] ** 2 * (r.M_p[p] @ Y)
        far = sum(s[:, None, None] ** k * (r.far_p[k, p] @ Y) for k in range(3))
        H_p[p] = factor * (r.C_p[p] @ Y + r.C @ (S_inverse @ (r.B_p[p].T - pushed)) - far)
    return H, H_p
