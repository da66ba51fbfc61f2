"""Mobility, overconstraint, singular poses and the choice of independent coordinates, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from supple.errors import PoseError
from supple.model.algebra import Array, null_space, one_thread, pivots, row_scaled
from supple.model.closing import close
from supple.model.model import Model
from supple.remembered import Answer

_RANK = 1e-7


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom of the rigid robot at a posture, and in general."""

    joints: int  # joint and platform coordinates of the tree
    equations: int
    rank: int  # independent closure equations in general
    freedom: int  # in general
    instant: int  # at this posture
    actuators: int
    uncontrolled: int  # motions left with the actuators held, in general
    loose: int  # the same at this posture
    redundant: tuple[str, ...]  # closures with redundant equations
    moving: tuple[str, ...]  # coordinates of the motion left at this posture

    @property
    def overconstraint(self) -> int:
        return self.equations - self.rank

    def sentences(self) -> list[str]:
        """The report for people."""
        said = [f"{self.freedom} degree{_s(self.freedom)} of freedom, {self.actuators} actuator{_s(self.actuators)}."]
        if self.equations:
            said.append(
                f"{self.equations} closure equation{_s(self.equations)} on {self.joints} joint and platform coordinates, "
                f"{self.rank} of them independent."
            )
        if self.overconstraint:
            said.append(
                f"Overconstrained {self.overconstraint} time{_s(self.overconstraint)} as a rigid robot; redundant in the "
                f"closure{_s(len(self.redundant))} {', '.join(self.redundant)}. "
                "Its motion is unique, its rigid reactions are not."
            )
        if self.uncontrolled:
            said.append(
                f"{self.uncontrolled} motion{_s(self.uncontrolled)} that no actuator holds: {', '.join(self.moving)}."
            )
        extra = self.actuators - (self.freedom - self.uncontrolled)
        if extra > 0:
            said.append(f"Redundantly actuated: {extra} actuator{_s(extra)} more than needed.")
        return said


def _s(n: int) -> str:
    return "" if n == 1 else "s"


def rigid_indices(model: Model) -> list[int]:
    return [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]


@one_thread
def mobility(model: Model, q: Array, seed: int = 1) -> Mobility:
    """The Mobility of the rigid skeleton, from the ranks at this posture and at neighbours reached by moving it; remembered
    of large robots."""
    answer = model.memory.solved("mobility", (q, seed), lambda: Answer(asdict(_mobility(model, q, seed)), {}))
    words: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in answer.words.items()}
    return Mobility(**words)


def _mobility(model: Model, q: Array, seed: int) -> Mobility:
    rigid = rigid_indices(model)
    active = [rigid.index(i) for i in model.active]
    J = model.jacobian(q)[:, rigid]
    Z, rank, _ = null_space(J, _RANK)
    loose_here, moving = _loose(J, active)
    rng = np.random.default_rng(seed)
    general_rank, general_loose = rank, loose_here.shape[1]
    general_J = J
    for size in (0.02, 0.05, 0.1):
        step = np.zeros(model.nv)
        if Z.shape[1]:
            direction = Z @ rng.standard_normal(Z.shape[1])
            step[rigid] = size * direction / max(float(np.abs(direction).max()), 1e-12)
        neighbour = close(model, model.retract(q, step), rigid)
        if neighbour is None:
            continue
        J_near = model.jacobian(neighbour)[:, rigid]
        near_rank = null_space(J_near, _RANK)[1]
        if near_rank > general_rank:
            general_J = J_near
        general_rank = max(general_rank, near_rank)
        general_loose = min(general_loose, _loose(J_near, active)[0].shape[1])
    names = tuple(model.names[rigid[i]] for i in moving)
    return Mobility(
        len(rigid), J.shape[0], general_rank, len(rigid) - general_rank, len(rigid) - rank, len(active),
        general_loose, loose_here.shape[1], _redundant(model, general_J, general_rank), names,
    )  # fmt: skip


def _loose(J: Array, active: list[int]) -> tuple[Array, list[int]]:
    """Motions left with the actuators held, and the coordinates that move most in them."""
    S = np.zeros((len(active), J.shape[1]))
    S[np.arange(len(active)), active] = 1.0
    Z, _, _ = null_space(np.vstack([J, S]), _RANK)
    size = np.linalg.norm(Z, axis=1)
    moving = [int(i) for i in np.argsort(-size)[:6] if size[i] > 0.2 * size.max()] if Z.shape[1] else []
    return Z, moving


def _redundant(model: Model, J: Array, rank: int) -> tuple[str, ...]:
    """Closures that carry part of the redundancy."""
    if rank == J.shape[0]:
        return ()
    U, _, _ = np.linalg.svd(row_scaled(J))
    weight = np.linalg.norm(U[:, rank:], axis=1)
    found, at = [], 0
    for closure in model.mechanism.closures:
        if weight[at : at + len(closure.forbidden)].max(initial=0.0) > 1e-3:
            found.append(closure.name)
        at += len(closure.forbidden)
    return tuple(found)


def check_regular(model: Model, q: Array) -> Mobility:
    """The Mobility of a posture; a singular one is an error that names the motion and the loop."""
    found = mobility(model, q)
    if found.loose > found.uncontrolled:
        raise PoseError(
            f"{model.mechanism.name}: singular pose (actuators held, the robot still moves): {_motion(model, q)}. "
            "Choose another pose or assembly mode"
        )
    if found.instant > found.freedom:
        loop = _weak_loop(model, q)
        raise PoseError(
            f"{model.mechanism.name}: singular pose: the loop {loop!r} loses an equation and the robot gains "
            f"{found.instant - found.freedom} instantaneous freedom"
        )
    return found


def _motion(model: Model, q: Array) -> str:
    """The motion left at a singular pose, in the platform's directions if there is one."""
    rigid = rigid_indices(model)
    active = [rigid.index(i) for i in model.active]
    J = model.jacobian(q)[:, rigid]
    Z, moving = _loose(J, active)
    platform = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind == "platform"]
    where = [rigid.index(i) for i in platform]
    direction = Z[:, -1]
    if where and np.abs(direction[where]).max() > 1e-6:
        part = direction[where] / np.abs(direction[where]).max()
        words = ", ".join(f"{model.names[i]} {x:+.2f}" for i, x in zip(platform, part, strict=True) if abs(x) > 0.05)
        return f"the platform is free along ({words}), loop {_weak_loop(model, q)!r}"
    return f"{', '.join(model.names[rigid[i]] for i in moving)} move, loop {_weak_loop(model, q)!r}"


def _weak_loop(model: Model, q: Array) -> str:
    """The closure whose equations are nearest to dependent on the joints it has left."""
    rigid = [i for i in rigid_indices(model) if i not in set(model.active.tolist())]
    U, _, _ = np.linalg.svd(row_scaled(model.jacobian(q)[:, rigid]))
    weight, at, best = np.abs(U[:, -1]), 0, ("", -1.0)
    for closure in model.mechanism.closures:
        own = float(np.linalg.norm(weight[at : at + len(closure.forbidden)]))
        at += len(closure.forbidden)
        if own > best[1]:
            best = (closure.name, own)
    return best[0]


@dataclass(frozen=True)
class Choice:
    """Independent coordinates and the rule that chose them."""

    independent: tuple[int, ...]
    rule: str


@one_thread
def independent_coordinates(model: Model, q: Array) -> Choice:
    """Active and elastic coordinates if the rest follows from them; else the last of each leg depend on the others
    (Briot & Khalil 2014, section 4.1); else what pivoting finds."""
    J = model.jacobian(q)
    n, rank = model.nv, null_space(J, _RANK)[1]
    if rank == 0:
        return Choice(tuple(range(n)), "no loops: all coordinates are independent")
    kinds = [c.kind for c in model.mechanism.coordinates]
    dependent = [i for i in range(n) if kinds[i] in ("passive", "platform")]
    if len(dependent) == rank and null_space(J[:, dependent], _RANK)[1] == rank:
        return Choice(_rest(n, dependent), "active and elastic coordinates; passive joints and platform follow")
    last = _last_of_each_leg(model)
    if len(last) == rank and null_space(J[:, last], _RANK)[1] == rank:
        return Choice(_rest(n, last), "the last coordinates of each leg follow from the others and the platform")
    order = sorted(range(n), key=lambda i: ("passive", "platform", "elastic", "active").index(kinds[i]))
    return Choice(_rest(n, _pivoted(J, order, rank, kinds)), "pivoting, passive joints first")


@one_thread
def best_conditioned(model: Model, q: Array, keep: Sequence[int] = ()) -> Choice:
    """Dependent coordinates by pivoting alone: elastic ones and those to `keep` stay free as long as others can follow."""
    J = row_scaled(model.jacobian(q))
    rank = null_space(J, _RANK)[1]
    weight = np.ones(model.nv)
    weight[model.mechanism.indices("elastic")] = 1e-3
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            weight[frame.v] = 1e3  # as a whole
    weight[list(keep)] = 1e-9
    order, _ = pivots(J * weight)
    return Choice(_rest(model.nv, order[:rank]), "pivoting")


def _rest(n: int, dependent: list[int]) -> tuple[int, ...]:
    chosen = set(dependent)
    return tuple(i for i in range(n) if i not in chosen)


def _last_of_each_leg(model: Model) -> list[int]:
    """For every leg, as many of its last coordinates as it has closure equations."""
    frames = model.mechanism.frames
    found: list[int] = []
    for leg in dict.fromkeys(f.leg for f in frames if f.leg):
        own = [i for i, c in enumerate(model.mechanism.coordinates) if frames[c.frame].leg == leg]
        needed = sum(len(c.forbidden) for c in model.mechanism.closures if c.name.startswith(leg + "/"))
        found += own[len(own) - needed :] if needed <= len(own) else []
    return found


def _pivoted(J: Array, order: list[int], rank: int, kinds: Sequence[str]) -> list[int]:
    """Dependent coordinates by pivoting, group after group in the order of preference."""
    weight = {"passive": 1.0, "platform": 1e-1, "elastic": 1e-4, "active": 1e-7}
    scaled = row_scaled(J)[:, order] * np.array([weight[kinds[i]] for i in order])
    found, _ = pivots(scaled)
    return [order[p] for p in found[:rank]]
