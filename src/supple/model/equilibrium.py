"""Static equilibrium under gravity and loads, and the exact linear model about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from supple.errors import PoseError
from supple.model.algebra import Array, least_squares, null_space, one_thread
from supple.model.model import Model


@dataclass(frozen=True)
class Equilibrium:
    """A posture at rest, the reactions of its loops and the forces of its held actuators."""

    q: Array
    reactions: Array
    tau: Array
    iterations: int


@dataclass(frozen=True)
class Linear:
    """M, D, K and H (loss stiffness) on the motions Z of the robot: v = Z y."""

    M: Array
    D: Array
    K: Array
    H: Array
    Z: Array
    K_tree: Array
    M_tree: Array


@one_thread
def equilibrium(model: Model, q: Array, tolerance: float = 1e-10, **loads: Any) -> Equilibrium:
    """The posture near q, actuators held, in which elastic forces balance weight and loads (Newton, exact stiffness)."""
    n_loops = model.mechanism.equations
    hold = model.held(model.active)
    reach, before = 0.3, np.inf
    for iteration in range(200):
        A = np.vstack([model.jacobian(q), hold])
        f = model.forces(q, friction=False, **loads)
        lam = least_squares(A.T, f)
        Z, _, _ = null_space(A)
        scale = max(1.0, float(np.abs(f).max(initial=0.0)))
        gap = np.concatenate([model.residual(q) if n_loops else np.zeros(0), np.zeros(len(hold))])
        imbalance = Z.T @ f
        near = max(tolerance * scale, _rounding(model, q))
        if np.abs(imbalance).max(initial=0.0) < near and np.abs(gap).max(initial=0.0) < tolerance:
            return Equilibrium(q, lam[:n_loops], lam[n_loops:], iteration)
        K = model.stiffness(q, lam[:n_loops], **loads)
        step = least_squares(A, -gap)
        step = step + Z @ _downhill(model, Z, K, model.mass(q), imbalance + Z.T @ K @ step)
        now = float(np.linalg.norm(imbalance))
        reach, before = (0.5 * reach if now > before else min(1.5 * reach, 0.3)), now
        q = model.retract(q, step * min(1.0, reach / max(float(np.abs(step).max()), 1e-30)))
    raise PoseError(
        f"{model.mechanism.name}: no static equilibrium found near this pose; "
        "loads may be beyond what the small-deformation model carries, or a joint is held by nothing"
    )


def _rounding(model: Model, q: Array) -> float:
    """What K q_e of a stiff body leaves by rounding alone: no balance of forces can be better than that."""
    sizes = (np.abs(f.body.K_ee.astype(float)) @ np.abs(q[f.e]) for f in model.mechanism.frames if f.body.flexible)
    return 64 * float(np.finfo(float).eps) * max((float(s.max()) for s in sizes), default=0.0)


def _downhill(model: Model, Z: Array, K: Array, M: Array, imbalance: Array) -> Array:
    """Newton's step to equilibrium; along motions with negative stiffness it goes down instead of up to an unstable one."""
    reduced = Z.T @ K @ Z
    if not Z.shape[1]:
        return np.zeros(0)
    inertia = Z.T @ M @ Z
    try:
        squares, shapes = eigh(0.5 * (reduced + reduced.T), inertia)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise PoseError(model.massless(inertia, Z)) from error
    pull = shapes.T @ imbalance
    idle = np.abs(squares) <= 1e-9 * np.abs(squares).max()
    if np.any(idle & (np.abs(pull) > 1e-6 * (1.0 + np.abs(pull).max()))):
        worst = int(np.argmax(np.abs(Z @ shapes[:, int(np.argmax(idle))])))
        raise PoseError(
            f"{model.mechanism.name}: nothing holds {model.names[worst]!r} against its weight or load; "
            "there is no equilibrium"
        )
    return -shapes @ np.where(idle, 0.0, pull / np.where(idle, 1.0, np.abs(squares)))


@one_thread
def linearise(model: Model, at: Equilibrium, free: bool = False, **loads: Any) -> Linear:
    """The exact linear model about an equilibrium, actuators held or (free) driven by their constant forces."""
    J = model.jacobian(at.q)
    A = J if free else np.vstack([J, model.held(model.active)])
    Z, _, _ = null_space(A)
    M, D = model.mass(at.q), model.damping(at.q)
    K = model.stiffness(at.q, at.reactions, **loads)
    H = model.loss_stiffness()
    return Linear(_symmetric(Z.T @ M @ Z), Z.T @ D @ Z, Z.T @ K @ Z, _symmetric(Z.T @ H @ Z), Z, K, M)


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + A.T)
