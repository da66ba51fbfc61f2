"""Structural damping in time: the viscous damping under which every mode decays as its loss factor says.

A loss factor, K (1 + j eta), belongs to vibration at one frequency. Its equivalent takes the modes of the robot at rest.
With frequencies w, and H the loss stiffness that mass-normalised shapes see, D_jk = H_jk / sqrt(w_j w_k). So mode j has the
damping ratio H_jj / (2 w_j^2), eta / 2 where all bodies share eta, and D is symmetric and takes energy only away. It is put
on the elastic coordinates alone: motions of the robot that bend nothing are not damped."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from supple.errors import PoseError
from supple.model.algebra import Array, eigh, least_squares, null_space, one_thread
from supple.model.model import Model
from supple.remembered import Answer

_NOTHING = 1e-9  # share of elastic energy of a motion that bends nothing
_DROPPED = 1e-13  # entries of D that are rounding, relative to the diagonal


@dataclass(frozen=True)
class Equivalent:
    """Viscous damping D of the elastic coordinates (zero elsewhere), and the frequencies (Hz) of the modes behind it."""

    D: Array
    frequencies_hz: Array

    def sentence(self) -> str:
        first, last = self.frequencies_hz.min(), self.frequencies_hz.max()
        count = len(self.frequencies_hz)
        return (
            f"viscous, with the damping ratio (half the loss factor) of each of the {count} modes "
            f"({first:.4g} to {last:.4g} Hz) of the posture at the start"
        )


@one_thread
def viscous_equivalent(model: Model, q: Array, held: Collection[str] = ()) -> Equivalent | None:
    """The Equivalent of the robot's structural damping at a posture, the actuators in `held` fixed; None if it has none."""
    H = model.loss_stiffness(q)
    elastic = model.mechanism.indices("elastic")
    if not elastic or not H.any():
        return None
    made = model.memory.solved("viscous equivalent", (q, sorted(held)), lambda: _equivalent(model, q, held, H, elastic))
    return Equivalent(**made.arrays)


def _equivalent(model: Model, q: Array, held: Collection[str], H: Array, elastic: list[int]) -> Answer:
    squares, shapes = _modes(model, q, held)
    losses = shapes.T @ H @ shapes
    omega = np.sqrt(np.maximum(np.abs(squares), np.diag(losses)))  # a loss factor above one has no mode
    L = _root(model, elastic)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (L.T @ shapes[elastic]) / omega
    bends = np.isfinite(share).all(axis=0) & (np.linalg.norm(np.nan_to_num(share), axis=0) > _NOTHING)
    back = np.linalg.pinv(share[:, bends], rcond=1e-12)
    scale = omega[bends] ** -1.5
    X = back.T @ (losses[np.ix_(bends, bends)] * np.outer(scale, scale)) @ back
    own = L @ (0.5 * (X + X.T)) @ L.T
    size = np.sqrt(np.abs(np.diag(own)))
    own[np.abs(own) < _DROPPED * np.outer(size, size)] = 0.0
    D = np.zeros((model.nv, model.nv))
    D[np.ix_(elastic, elastic)] = own
    return Answer({}, {"D": D, "frequencies_hz": omega[bends] / (2 * np.pi)})


def _modes(model: Model, q: Array, held: Collection[str]) -> tuple[Array, Array]:
    """Squared frequencies and shapes of all motions of the posture, as `supple modes` has them."""
    J = model.jacobian(q)
    f = model.forces(q, friction=False)
    reactions = least_squares(np.vstack([J, model.held(model.active)]).T, f)[: len(J)]
    Z, _, _ = null_space(np.vstack([J, model.held([model.index(n) for n in held])]))
    K, M = model.stiffness(q, reactions), model.mass(q)
    try:
        squares, vectors = eigh(Z.T @ (0.5 * (K + K.T)) @ Z, Z.T @ M @ Z)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise PoseError(model.massless(Z.T @ M @ Z, Z)) from error
    return squares, Z @ vectors


def _root(model: Model, elastic: list[int]) -> Array:
    """L of K = L L^T, the stiffness of all bodies."""
    K = np.zeros((model.nv, model.nv))
    for frame in model.mechanism.frames:
        K[frame.ev, frame.ev] = frame.body.K_ee.astype(float)
    own = K[np.ix_(elastic, elastic)]
    squares, shapes = np.linalg.eigh(0.5 * (own + own.T))
    return np.asarray(shapes * np.sqrt(np.maximum(squares, 0.0)))
