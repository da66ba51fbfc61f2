"""Inputs that lead a time-varying linear system along a path that is known beforehand (linear-quadratic tracking).

    x_k+1 = A_k x_k + B_k u_k,   x_0 given,   least  sum |C_k x_k - y_k|^2 + weight |u_k|^2

The best inputs see the whole path ahead, so they begin before it where zeros of the system lie outside the unit circle, and
stay bounded there: the stable inverse, without a splitting into stable and unstable parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.model.algebra import Array

_AT_ONCE = 500_000  # numbers of the exponentials that are made at once


@dataclass(frozen=True)
class Preview:
    """Gains of the backward sweep, step by step; `outputs` (steps + 1, outputs, states)."""

    A: Array  # (steps, states, states)
    B: Array
    outputs: Array
    feedback: Array  # (steps, inputs, states)
    ahead: Array  # (steps, inputs, states)

    def inputs(self, wanted: Array, start: Array) -> tuple[Array, Array]:
        """The best inputs (steps, inputs) and the states (steps + 1, states) from `start`, for wanted outputs (steps + 1,
        outputs)."""
        steps, n = len(self.A), self.A.shape[1]
        pull = np.empty((steps + 1, n))
        pull[steps] = wanted[steps] @ self.outputs[steps]
        for k in range(steps - 1, -1, -1):
            own = wanted[k] @ self.outputs[k]
            pull[k] = own + (self.A[k] - self.B[k] @ self.feedback[k]).T @ pull[k + 1]
        x, u = np.zeros((steps + 1, n)), np.zeros((steps, self.B.shape[2]))
        x[0] = start
        for k in range(steps):
            u[k] = self.ahead[k] @ pull[k + 1] - self.feedback[k] @ x[k]
            x[k + 1] = self.A[k] @ x[k] + self.B[k] @ u[k]
        return u, x


def preview(A: Array, B: Array, outputs: Array, weight: float) -> Preview:
    """The sweep of Riccati's equation from the end to the start."""
    steps, n, m = B.shape
    P = outputs[steps].T @ outputs[steps]
    feedback, ahead = np.empty((steps, m, n)), np.empty((steps, m, n))
    penalty = weight * np.eye(m)
    for k in range(steps - 1, -1, -1):
        PB = P @ B[k]
        gain = np.linalg.solve(penalty + B[k].T @ PB, np.hstack([PB.T @ A[k], B[k].T]))
        feedback[k], ahead[k] = gain[:, :n], gain[:, n:]
        left = A[k] - B[k] @ feedback[k]
        P = outputs[k].T @ outputs[k] + left.T @ P @ left + weight * feedback[k].T @ feedback[k]
        P = 0.5 * (P + P.T)
    return Preview(A, B, outputs, feedback, ahead)


def held(F: Array, G: Array, step: float) -> tuple[Array, Array]:
    """A and B (..., states, states | inputs) of x' = F x + G u over steps in which u is held; F may be many."""
    from scipy.linalg import expm

    n, m = G.shape[-2:]
    whole = np.zeros((*F.shape[:-2], n + m, n + m))
    whole[..., :n, :n], whole[..., :n, n:] = F * step, G * step
    if whole.ndim == 2:
        made = expm(whole)
    else:
        size = max(1, _AT_ONCE // (n + m) ** 2)
        made = np.concatenate([expm(whole[k : k + size]) for k in range(0, len(whole), size)])
    return made[..., :n, :n], made[..., :n, n:]
