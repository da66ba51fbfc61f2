"""How an equilibrium moves with parameters: the implicit function theorem on loops and balance of forces."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from supple.measured.parametric import ParametricModel, Shifted
from supple.model.algebra import Array, null_space
from supple.model.equilibrium import Equilibrium

_IDLE = 1e-13  # of the largest pivot: what resists less resists not at all


class Held:
    """How an equilibrium and what holds it move with parameters while actuators stay where the pose has them.

    K: of the tree there, loads and servos included; given: names of the coordinates that say the pose; still: actuators that
    do not move (None: all), the others are held by springs; w: wrenches at the points."""

    def __init__(
        self, model: ParametricModel, rest: Equilibrium, K: Array, straight: Array, given: list[str],
        still: list[int] | None = None, w: Array | None = None,
    ) -> None:  # fmt: skip
        self.model, self.rest, self.K, self.straight, self.w = model, rest, K, straight, w
        kept = [model.index(n) for n in given] or list(model.active)
        stiff = [*kept, *model.mechanism.indices("elastic")]
        self.moving = _moving_loops(model, straight)
        self.placed = np.linalg.pinv(np.vstack([model.jacobian(straight), model.held(stiff)])) if any(self.moving) else None
        self.still = list(model.active) if still is None else still
        A = np.vstack([model.jacobian(rest.q), model.held(self.still)])
        self.back = np.linalg.pinv(A) if len(A) else np.zeros((model.nv, 0))
        self.Z, _, _ = null_space(A)
        self.resisting = self.Z.T @ self.K @ self.Z
        self.factors = _factors(self.resisting)

    def shift(self, dp: Array, pulled: Array | None = None, dw: Array | None = None) -> tuple[Array, Array]:
        """Changes of coordinates, and of reactions followed by forces of the actuators that do not move.

        pulled: a change of the forces, and dw of the wrenches, that go with the change dp of the parameters."""
        model, rest, loops = self.model, self.rest, self.model.mechanism.equations
        bare = Shifted(model, rest.q, rest.reactions, np.zeros(model.nv), np.zeros(len(rest.reactions)), dp)
        given: dict[str, Any] = {} if self.w is None else {"w": self.w}
        pull = bare.call("forces", dw, **given)["f"] + (0.0 if pulled is None else pulled)
        opening = np.zeros(self.back.shape[1])
        if any(m and d for m, d in zip(self.moving, dp, strict=True)):
            opening[:loops] = bare.call("closure")["residual"]
            opening[loops:] = -self.driven(dp)[self.still]
            pull = pull - bare.call("closure_motion", v=np.eye(model.nv))["velocity"] @ rest.reactions
        closed = -self.back @ opening
        dq = closed - self._given(pull + self.K @ closed)
        return dq, self.back.T @ (pull + self.K @ dq)

    def _given(self, forces: Array) -> Array:
        """How the robot gives way to forces; motions that nothing resists stay."""
        pull = self.Z.T @ forces
        if self.factors is None:
            return self.Z @ np.linalg.lstsq(self.resisting, pull, rcond=1e-13)[0]
        made: Array = self.Z @ lu_solve(self.factors, pull)
        return made

    def driven(self, dp: Array) -> Array:
        """How coordinates move with a parameter for the robot that does not bend to stay in its pose."""
        model = self.model
        if self.placed is None:
            return np.zeros(model.nv)
        none = np.zeros(len(self.rest.reactions))
        gap = Shifted(model, self.straight, none, np.zeros(model.nv), none, dp).call("closure")["residual"]
        moved: Array = -self.placed[:, : len(gap)] @ gap
        return moved


def _factors(K: Array) -> tuple[Array, Array] | None:
    """Triangular factors of a stiffness; none where nothing resists some motion."""
    if not len(K):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = lu_factor(K)
    pivots = np.abs(np.diag(made[0]))
    return made if pivots.min() > _IDLE * pivots.max() else None


def _moving_loops(model: ParametricModel, q: Array) -> list[bool]:
    """Which parameters the loops depend on, seen at a posture like no other."""
    if not model.family.geometric:
        return [False] * len(model.p)
    strange = q + 0.1 * np.random.default_rng(1).normal(size=len(q))
    none = np.zeros(model.mechanism.equations)
    steps = np.eye(len(model.p))
    return [
        bool(np.any(Shifted(model, strange, none, np.zeros(model.nv), none, dp).call("closure")["residual"])) for dp in steps
    ]
