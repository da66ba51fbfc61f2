"""Jacobian G of a parallel robot from the Jacobians of its branches (Stachera & Schumacher 2008, section 4).

    G^T = W^T J_t^T U S^+,    velocity of the point = G v_independent,    tau_independent = G^T f

A wrench f at the point is shared between the branches, each of which can only carry wrenches that do no work on its own
passive joints: the columns of its block of U. S holds them side by side, so f = S f_B and f_B = S^+ f; the pseudo-inverse
serves robots with more branches than the task has directions (redundant actuation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from supple.backends.interpreter import interpret
from supple.errors import SuppleError
from supple.formulations.record import Unsupported
from supple.formulations.tree.branches import branch_motion
from supple.formulations.tree.independent import split
from supple.model.algebra import Array, least_squares, one_thread
from supple.model.model import Model


@dataclass(frozen=True)
class ParallelJacobian:
    """G and its parts. Rows of G are base axes (velocity, then spin); columns are the independent coordinates."""

    G: Array
    W: Array  # v = W v_independent
    J_t: Array  # Jacobians of the branches, one below the other
    U: Array  # wrenches that the branches can carry, block by block
    S: Array  # the same, side by side
    independent: tuple[str, ...]
    rows: tuple[str, ...]


ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


@one_thread
def parallel_jacobian(model: Model, q: Array, point: str, task: Literal["position", "twist"] = "twist") -> ParallelJacobian:
    """G of a named point at a closed posture, for its velocity alone or with its spin."""
    mechanism = model.mechanism
    if point not in mechanism.points:
        raise SuppleError(f"{mechanism.name} has no point {point!r}; it has: {', '.join(mechanism.points) or 'none'}")
    try:
        f = interpret(branch_motion(mechanism, point))
    except Unsupported as reason:
        raise SuppleError(f"{mechanism.name}: no Jacobian from branches, because of {reason}") from reason
    kept = _task_rows(model, task)
    twists = f(q=q, v=np.eye(model.nv))["twist"].transpose(1, 2, 0)[:, kept]  # branch, row, coordinate
    freedom = f(q=q, v=np.zeros(model.nv))["freedom"][:, kept]
    kinds = [c.kind for c in mechanism.coordinates]
    passive = [i for i, kind in enumerate(kinds) if kind in ("passive", "platform")]
    carried = [_carried(np.hstack([J[:, passive], F])) for J, F in zip(twists, freedom, strict=True)]
    S = np.hstack(carried)
    if np.linalg.matrix_rank(S, tol=1e-9) < len(kept):
        hint = "; ask for the position alone" if task == "twist" else "; ask for the whole twist"
        raise SuppleError(f"{mechanism.name}: the branches cannot carry every wrench at {point!r}{hint}")
    U = np.zeros((len(kept) * len(carried), S.shape[1]))
    at = 0
    for n, block in enumerate(carried):
        U[n * len(kept) : (n + 1) * len(kept), at : at + block.shape[1]] = block
        at += block.shape[1]
    W, independent = _parameters(model, q)
    J_t = twists.reshape(-1, model.nv)
    G = (W.T @ J_t.T @ U @ np.linalg.pinv(S)).T
    return ParallelJacobian(
        G, W, J_t, U, S, tuple(model.names[k] for k in independent), tuple(ROWS[k] for k in kept)
    )  # fmt: skip


def _task_rows(model: Model, task: str) -> list[int]:
    """Components of the twist that can differ from zero: those in the plane of a planar robot."""
    rows = list(range(3 if task == "position" else 6))
    if not model.mechanism.planar:
        return rows
    normal = np.array([float(x) for x in model.mechanism.normal])
    axis = int(np.argmax(np.abs(normal)))
    if abs(abs(normal[axis]) - 1.0) > 1e-9:
        return rows
    return [k for k in rows if (k < 3) == (k != axis and k != 3 + axis)]


def _carried(J: Array) -> Array:
    """Wrenches that do no work on motions J: an orthonormal basis."""
    U, sigma, _ = np.linalg.svd(J)
    rank = int(np.sum(sigma > 1e-9 * max(1.0, float(sigma[0]) if sigma.size else 1.0)))
    return np.asarray(U[:, rank:], dtype=float)


def _parameters(model: Model, q: Array) -> tuple[Array, list[int]]:
    """W (eq. 18) and the independent coordinates."""
    J = model.jacobian(q)
    free, dependent = split(J, [c.kind for c in model.mechanism.coordinates])
    W = np.zeros((model.nv, len(free)))
    W[free, np.arange(len(free))] = 1.0
    if dependent:
        W[dependent] = -least_squares(J[:, dependent], J[:, free])
    return W, free


__all__ = ["ParallelJacobian", "parallel_jacobian"]
