"""Harmonic motions as sums over damped modes, found once for all frequencies.

(K + i H + z D + z^2) eta = B with z = i w. Without D this is (z^2 - N) eta = B, N = -(K + i H), in as many modes as there
are coordinates; with it the first-order form in twice as many. N^-1 = X mu X^-1 then gives eta of any frequency at the price
of a product. Of the inverse, the lowest modes have all their digits; of N they would have the rounding of the highest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.model.algebra import Array

_APART = 1e3  # of |X| |X^-1|, relative to that of orthogonal modes: above, modes are too alike to be told apart


@dataclass(frozen=True)
class DampedSums:
    """eta = shapes (motions, modes) @ weights (modes) * given (modes, inputs)."""

    order: int  # the power of z that these are eigenvalues of: 2 without viscous damping, else 1
    inverse: Array  # 1 / eigenvalues
    shapes: Array
    given: Array

    @property
    def poles(self) -> Array:
        """Poles (1/s) of the upper half plane."""
        found = 1.0 / self.inverse
        if self.order == 2:
            found = np.sqrt(found.astype(complex))
            found = np.where(found.imag < 0, -found, found)
        made: Array = found[found.imag > 0]
        return made

    def seen(self, rows: Array, omega: Array) -> Array:
        """rows @ eta at frequencies (rad/s): (frequencies, rows, inputs)."""
        z = (1j * omega[:, None]) ** self.order
        with np.errstate(divide="ignore", invalid="ignore"):  # on a mode that nothing damps
            weights = self.inverse / (z * self.inverse - 1.0)
        own = (rows @ self.shapes).T[:, :, None] * self.given[:, None, :]
        made: Array = (weights @ own.reshape(len(own), -1)).reshape(len(omega), *own.shape[1:])
        return made


def damped_sums(squares: Array, K: Array, D: Array, H: Array, B: Array) -> DampedSums | None:
    """The DampedSums of motions in the coordinates of the undamped modes; None where modes are too alike."""
    n, stiff = len(squares), K + 1j * H if H.any() else K
    if not D.any() and not H.any():
        return DampedSums(2, -1.0 / squares, np.eye(n), B)
    if not D.any():
        return _parted(2, -stiff, np.eye(n), B)
    omega = np.sqrt(np.abs(squares))
    N = np.block([[np.zeros((n, n)), np.diag(omega)], [-stiff / omega, -D]])
    return _parted(1, N, np.hstack([np.diag(1 / omega), np.zeros((n, n))]), np.vstack([np.zeros_like(B), B]))


def _parted(order: int, N: Array, out: Array, into: Array) -> DampedSums | None:
    try:
        inverse, X = np.linalg.eig(np.linalg.inv(N))
        back = np.linalg.inv(X)
    except np.linalg.LinAlgError:
        return None
    alike = np.linalg.norm(X) * np.linalg.norm(back) > _APART * len(N)
    return None if alike else DampedSums(order, inverse, out @ X, back @ into)
