"""Static equilibrium under gravity and loads, and the exact linear model about it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.errors import FarFromPose, PoseError
from supple.model.algebra import Array, eigh, least_squares, null_space, one_thread, symmetric
from supple.model.closing import values
from supple.model.firm import LARGE, firm
from supple.model.model import Model
from supple.remembered import Answer

_MOST = 200  # iterations
_PATIENCE = 8  # steps along a motion that nothing resists, all others in balance, until it is given up
_PULL = 1e-7  # of the largest force: what pulls less at an idle motion is rounding
_REACH = 0.3  # m or rad, of one step
AWAY = 0.05  # m or rad: a robot that falls farther than this is not where it was asked to be
_MOST_FIRM, _GAIN = 20, 0.1  # iterations without modes; what is left of the forces, of that before, for the same stiffness
_LOW = 1e7  # times rounding of the largest square: motions whose own square is looked at once more


@dataclass(frozen=True)
class Equilibrium:
    """A posture at rest, the reactions of its loops and the forces of its held actuators."""

    q: Array
    reactions: Array
    tau: Array
    iterations: int


@dataclass(frozen=True)
class Servos:
    """Actuators (by their places in v) held by springs: their stiffness, and where and with what force they hold at rest."""

    stiffness: Mapping[int, float]
    at: Array  # of all coordinates of v
    force: Mapping[int, float]

    def add(self, now: Array, f: Array, K: Array | None = None) -> None:
        """Adds to forces, and to a stiffness, what the springs do at coordinates `now`."""
        for i, k in self.stiffness.items():
            f[i] += k * (now[i] - self.at[i]) - self.force[i]
            if K is not None:
                K[i, i] += k


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
def equilibrium(
    model: Model, q: Array, tolerance: float = 1e-10, standing: Sequence[int] = (), servos: Servos | None = None,
    tell: bool = True, **loads: Any,
) -> Equilibrium:  # fmt: skip
    """The posture near q, actuators held, in which elastic forces balance weight and loads (Newton, exact stiffness).

    standing: further coordinates that stay as they are, to be let go from there; servos: actuators that give way (tau is of
    those that do not). Motions that nothing resists (a rod that
    spins between two balls) stay too; whether something pulls at one of them is judged once all others are in balance, by
    the size of the loads. A robot that falls from an unstable pose to another posture is told (`FarFromPose`), if
    `tell`."""
    if model.nv >= LARGE:
        firm_one = _where_firm(model, q, tolerance, standing, servos, **loads)
        if firm_one is not None:
            return firm_one
    found, fell = _found(model, q, tolerance, standing, servos, **loads)
    if fell and tell:
        _tell_where(model, values(model, q), values(model, found.q))
    return found


def _found(
    model: Model, q: Array, tolerance: float, standing: Sequence[int], servos: Servos | None, **loads: Any
) -> tuple[Equilibrium, bool]:
    """What `_balanced` answers, remembered of large robots."""
    if servos is not None:
        return _balanced(model, q, tolerance, standing, servos, **loads)

    def make() -> Answer:
        found, fell = _balanced(model, q, tolerance, standing, servos, **loads)
        arrays = {"q": found.q, "reactions": found.reactions, "tau": found.tau}
        return Answer({"iterations": found.iterations, "fell": fell}, arrays)

    asked = [part for name, x in sorted(loads.items()) for part in (name, np.asarray(x, dtype=float))]
    made = model.memory.solved("at rest", (q, tolerance, [int(i) for i in standing], *asked), make)
    return Equilibrium(**made.arrays, iterations=made.words["iterations"]), made.words["fell"]


def _tell_where(model: Model, asked: Array, found: Array) -> None:
    """Warns if a joint or the platform is far from where it was asked to be."""
    moved = np.abs(found - asked)
    moved[[i for i, c in enumerate(model.mechanism.coordinates) if c.kind == "elastic"]] = 0.0
    most = int(moved.argmax())
    if moved[most] > AWAY:
        c = model.mechanism.coordinates[most]
        said = (
            f"{model.mechanism.name}: weight and loads push it out of the pose asked for, which is not stable; it comes to "
            f"rest in another posture, {c.name} {moved[most]:.2g} {c.unit} away, and answers are for that one"
        )
        warnings.warn(said, FarFromPose, stacklevel=4)


def _where_firm(
    model: Model, q: Array, tolerance: float, standing: Sequence[int], servos: Servos | None, **loads: Any
) -> Equilibrium | None:
    """The posture at rest near q, if every motion on the way there is resisted; the stiffness is computed anew where steps
    gain little."""
    n_loops = model.mechanism.equations
    still = [i for i in model.active if servos is None or i not in servos.stiffness]
    hold = model.held([*still, *standing])
    moves, before = None, np.inf
    for iteration in range(_MOST_FIRM):
        A = np.vstack([model.jacobian(q), hold])
        f = model.forces(q, friction=False, **loads)
        if servos is not None:
            servos.add(values(model, q), f)
        lam = least_squares(A.T, f)
        left, size = f - lam @ A, float(np.abs(f).max(initial=0.0))
        gap = np.concatenate([model.residual(q) if n_loops else np.zeros(0), np.zeros(len(hold))])
        open_by, now = float(np.abs(gap).max(initial=0.0)), float(np.linalg.norm(left))
        if open_by < tolerance and np.abs(left).max() < max(tolerance * max(1.0, size), _rounding(model, q)):
            return Equilibrium(q, lam[:n_loops], lam[n_loops : n_loops + len(still)], iteration)
        if moves is None or now > _GAIN * before:
            K = model.stiffness(q, lam[:n_loops], **loads)
            if servos is not None:
                servos.add(values(model, q), np.zeros(model.nv), K)
            moves = firm(A, K, model.mass(q), _PULL * size / _REACH)
            if moves is None:
                return None
        before, step = now, least_squares(A, -gap)
        step = step + moves.step(f + K @ step)
        q = model.retract(q, step * min(1.0, _REACH / max(float(np.abs(step).max()), 1e-30)))
    return None


def _balanced(
    model: Model, q: Array, tolerance: float, standing: Sequence[int], servos: Servos | None, **loads: Any
) -> tuple[Equilibrium, bool]:
    """The posture at rest near q, and whether the way there led down from an unstable one."""
    n_loops = model.mechanism.equations
    still = [i for i in model.active if servos is None or i not in servos.stiffness]
    n_held = n_loops + len(still)
    hold = model.held([*still, *standing])
    reach, before, pulled = _REACH, np.inf, 0
    moves, fell = None, False
    for iteration in range(_MOST):
        A = np.vstack([model.jacobian(q), hold])
        f = model.forces(q, friction=False, **loads)
        if servos is not None:
            servos.add(values(model, q), f)
        lam = least_squares(A.T, f)
        Z, _, _ = null_space(A)
        size = float(np.abs(f).max(initial=0.0))
        gap = np.concatenate([model.residual(q) if n_loops else np.zeros(0), np.zeros(len(hold))])
        near = max(tolerance * max(1.0, size), _rounding(model, q))
        closed = np.abs(gap).max(initial=0.0) < tolerance
        if closed and np.abs(Z.T @ f).max(initial=0.0) < near:
            return Equilibrium(q, lam[:n_loops], lam[n_loops:n_held], iteration), fell
        K = model.stiffness(q, lam[:n_loops], **loads)
        if servos is not None:
            servos.add(values(model, q), np.zeros(model.nv), K)
        moves = _moves(model, Z, K, model.mass(q), size)
        if closed and np.abs(Z.T @ moves.without_idle(f)).max(initial=0.0) < near:
            if not moves.loaded(f).any():
                return Equilibrium(q, lam[:n_loops], lam[n_loops:n_held], iteration), fell
            pulled += 1
            if pulled > _PATIENCE:
                break
        step = least_squares(A, -gap)
        step = step + moves.downhill(f + K @ step, near, reach)
        now, falls = float(np.linalg.norm(Z.T @ f)), moves.falls(f)
        fell = fell or falls
        reach, before = (0.5 * reach if now > before and not falls else min(1.5 * reach, _REACH)), now
        q = model.retract(q, step * min(1.0, reach / max(float(np.abs(step).max()), 1e-30)))
    raise PoseError(_no_equilibrium(model, moves, f))


def _rounding(model: Model, q: Array) -> float:
    """What K q_e of a stiff body leaves by rounding alone: no balance of forces can be better than that."""
    sizes = (np.abs(f.body.K_ee.astype(float)) @ np.abs(q[f.e]) for f in model.mechanism.frames if f.body.flexible)
    return 64 * float(np.finfo(float).eps) * max((float(s.max()) for s in sizes), default=0.0)


@dataclass(frozen=True)
class _Moves:
    """Motions of a posture: squared frequencies, mass-normalised shapes and momenta M shapes.

    `low`: those so slow that rounding matters; `idle`: those that resist a motion of _REACH by next to nothing."""

    squares: Array
    shapes: Array
    momenta: Array
    low: npt.NDArray[np.bool_]
    idle: npt.NDArray[np.bool_]

    @property
    def largest(self) -> Array:
        made: Array = np.maximum(np.abs(self.shapes).max(axis=0, initial=0.0), 1e-300)
        return made

    def pulls(self, f: Array) -> Array:
        """Force along each motion, per unit of its largest coordinate."""
        return np.abs(self.shapes.T @ f) / self.largest

    def without_idle(self, f: Array) -> Array:
        """Forces less their part along idle motions."""
        return f - self.momenta[:, self.idle] @ (self.shapes[:, self.idle].T @ f)

    def loaded(self, f: Array) -> npt.NDArray[np.bool_]:
        """Idle motions at which forces pull."""
        made: npt.NDArray[np.bool_] = self.idle & (self.pulls(f) > _PULL * np.abs(f).max(initial=0.0))
        return made

    def downhill(self, f: Array, near: float, reach: float) -> Array:
        """Newton's step to equilibrium; along motions with negative stiffness down instead of up to an unstable one, along
        idle ones that are pulled as far as a step goes. Slow motions wait until stiff ones are at rest."""
        pulls, pull = self.pulls(f), self.shapes.T @ f
        slow = self.low | self.idle
        stiff = float(pulls[~slow].max(initial=0.0))
        waits = slow & (pulls < 1e-3 * stiff) & (stiff > near)
        newton = pull / np.where(self.squares == 0, 1.0, np.abs(self.squares))
        away = np.where(self.loaded(f), np.sign(pull) * reach / self.largest, 0.0)
        return -self.shapes @ np.where(waits, 0.0, np.where(self.idle, away, newton))

    def falls(self, f: Array) -> bool:
        """Whether forces lead down from an unstable posture, on the way from which they grow."""
        pulls = self.pulls(f)
        return bool(np.any((self.squares < 0) & (pulls > 0.1 * pulls.max(initial=0.0))))


def _moves(model: Model, Z: Array, K: Array, M: Array, size: float) -> _Moves:
    """The motions of a posture under forces of a size. Rounding leaves eps times the largest square in all of eigh's;
    Rayleigh's quotients in the coordinates of the bodies tell what weight alone resists from what nothing does."""
    inertia = Z.T @ M @ Z
    if not Z.shape[1]:
        none = np.zeros(0, dtype=bool)
        return _Moves(np.zeros(0), Z, Z, none, none)
    try:
        squares, vectors = eigh(symmetric(Z.T @ K @ Z), inertia)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise PoseError(model.massless(inertia, Z)) from error
    low = np.abs(squares) < _LOW * float(np.finfo(float).eps) * np.abs(squares).max()
    shapes = Z @ vectors
    if low.any():
        squares[low], turn = _among(shapes[:, low], K, M)
        shapes[:, low] = shapes[:, low] @ turn
    found = _Moves(squares, shapes, M @ shapes, low, low)
    return replace(found, idle=(np.abs(squares) * _REACH / found.largest**2 <= _PULL * size))


def _among(shapes: Array, K: Array, M: Array) -> tuple[Array, Array]:
    """Squares and vectors of the motions among these shapes."""
    squares, turn = eigh(symmetric(shapes.T @ K @ shapes), symmetric(shapes.T @ M @ shapes))
    return squares, turn


def _no_equilibrium(model: Model, moves: _Moves | None, f: Array) -> str:
    """Why none was found."""
    loaded = np.flatnonzero(moves.loaded(f)) if moves is not None else np.zeros(0, dtype=int)
    if moves is None or not loaded.size:
        return (
            f"{model.mechanism.name}: no static equilibrium found near this pose; "
            "loads may be beyond what the small-deformation model carries, or a joint is held by nothing"
        )
    worst = int(np.argmax(np.abs(moves.shapes[:, loaded[int(np.argmax(moves.pulls(f)[loaded]))]])))
    return (
        f"{model.mechanism.name}: nothing holds {model.names[worst]!r} against its weight or load; there is no equilibrium"
    )


@one_thread
def linearise(model: Model, at: Equilibrium, free: bool = False, **loads: Any) -> Linear:
    """The exact linear model about an equilibrium, actuators held (by servos as stiff as the robot file says) or (free)
    driven by their constant forces."""
    J = model.jacobian(at.q)
    servo = {} if free else model.servos
    A = J if free else np.vstack([J, model.held([i for i in model.active if i not in servo])])
    Z, _, _ = null_space(A)
    M, D = model.mass(at.q), model.damping(at.q)
    K = model.stiffness(at.q, at.reactions, **loads)
    K[list(servo), list(servo)] += list(servo.values())
    H = model.loss_stiffness(at.q)
    return Linear(symmetric(Z.T @ M @ Z), Z.T @ D @ Z, Z.T @ K @ Z, symmetric(Z.T @ H @ Z), Z, K, M)
