"""Walking a closed robot from posture to posture in steps that are certain to stay on one branch of its loops.

F(x, y) = 0 are the loops (and a point to be led), y the coordinates that are held, x the free ones, A the inverse of F_x
at a closed posture, w = (x', y') the rates of a straight way of y from there. Let e bound |A F| on x + s w for all shares
s up to h, and G bound |A (F_x - F_x(0))| in the boxes about these places of half-widths r. If

    e + G r < r  in every component,

then each box holds one closed posture, F_x is regular in all of them and the postures make one curve (Krawczyk's test
with the way as its parameter). What Newton's method finds in the last box is the continuation. e and G come from F and
F_x at both ends of the step and from bounds of what they can do in between (`curvature`).

Robots walk in crowds: arrays have a row for each posture, and each row takes its own steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.expr.function import Indices
from supple.model.algebra import Array
from supple.model.closing import CLOSED
from supple.model.curvature import Curvature, Mask, SeenPlace, place_of_closure, place_of_point
from supple.model.model import Model
from supple.model.turning import between, quaternion, rotation_vector, turn_rates, turned

ARRIVED = 1e-13  # m or rad, of what is held
SHORTEST = 3e-5  # of the whole way: a step that has to be shorter stands before a singular posture
MOST_STEPS = 400
SINGULAR = 1e-9  # singular values, relative to the largest
ABREAST = 250  # postures that walk together: more would leave the processor's cache


@dataclass(frozen=True)
class Goal:
    """Where the way leads: values of held coordinates (rotation vectors of ball joints), and of a point's components."""

    held: Mapping[int, float]
    point: int | None = None
    axes: tuple[int, ...] = ()
    position: tuple[float, ...] = ()


@dataclass(frozen=True)
class Walked:
    """The last posture of a way, and the share of it that was walked: 1 at its end."""

    q: Array
    share: float

    @property
    def arrived(self) -> bool:
        return self.share >= 1.0


@dataclass(frozen=True)
class Tangent:
    """Equations at closed postures: J of all rigid coordinates, A of F_x, and the motions V that A answers with."""

    J: Array  # (..., rows, moving)
    A: Array  # (..., r, rows)
    V: Array  # (..., free, r); the identity where the held coordinates leave nothing free
    levers: Array
    weights: tuple[Array, Array]  # of A, both for `curvature`
    conditioning: Array

    def of(self, which: Indices | Mask) -> Tangent:
        """Those of some of a crowd."""
        w = self.weights
        return Tangent(
            self.J[which], self.A[which], self.V[which], self.levers[which], (w[0][which], w[1][which]),
            self.conditioning[which],
        )  # fmt: skip

    def put(self, which: Indices, new: Tangent) -> None:
        """Those of some of a crowd, replaced."""
        for mine, its in zip(self._arrays(), new._arrays(), strict=True):
            mine[which] = its

    def joined(self, new: Tangent) -> Tangent:
        """A crowd and those who come to it."""
        J, A, V, levers, one, two, conditioning = map(np.concatenate, zip(self._arrays(), new._arrays(), strict=True))
        return Tangent(J, A, V, levers, (one, two), conditioning)

    def _arrays(self) -> tuple[Array, ...]:
        return self.J, self.A, self.V, self.levers, *self.weights, self.conditioning


class HeldPostures:
    """Closed postures of a robot with some coordinates held, and optionally a point."""

    def __init__(self, model: Model, held: Sequence[int], point: int | None = None, axes: Sequence[int] = ()) -> None:
        self.model = model
        frames = model.mechanism.frames
        self.moving = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
        self.held = list(held)
        self.point, self.axes = point, list(axes)
        self.free = [i for i in self.moving if i not in set(self.held)]
        where = {i: k for k, i in enumerate(self.moving)}
        self.x: Indices = np.array([where[i] for i in self.free], dtype=int)
        self.y: Indices = np.array([where[i] for i in self.held], dtype=int)
        self.directions = np.eye(model.nv)[self.moving]
        self.rank: int | None = None
        balls = [f for f in frames if f.motion == "spherical"]
        self.balls = [(f.q, np.array([where[i] for i in range(f.v.start, f.v.stop)])) for f in balls]
        single = [f for f in frames if f.motion not in ("spherical", "fixed")]
        self.plain: Indices = np.array([f.q.start for f in single], dtype=int)  # places in q of the other joints
        self.columns: Indices = np.array([where[f.v.start] for f in single], dtype=int)  # and in the rigid coordinates

    @cached_property
    def places(self) -> list[SeenPlace]:
        mechanism, made, row = self.model.mechanism, [], 0
        for closure in mechanism.closures:
            made.append(place_of_closure(mechanism, closure, row))
            row += len(closure.forbidden)
        if self.point is not None:
            anchor = list(mechanism.points.values())[self.point]
            rows = list(range(row, row + len(self.axes)))
            made.append(place_of_point(mechanism, anchor, rows, len(rows) == (2 if mechanism.planar else 3)))
        return made

    @cached_property
    def curvature(self) -> Curvature:
        return Curvature(self.places, self.moving, self.model.mechanism.nq)

    # Equations ------------------------------------------------------------------------------------------------------

    def residual(self, q: Array, position: Array | None = None) -> Array:
        loops = self.model.residual(q) if self.model.mechanism.closures else np.zeros((*q.shape[:-1], 0))
        if self.point is None or position is None:
            return loops
        return np.concatenate([loops, self.position(q) - position], axis=-1)

    def position(self, q: Array) -> Array:
        return np.asarray(self.model.call("points", q=q)["position"])[..., self.point, :][..., self.axes]

    def gradient(self, q: Array) -> Array:
        """(..., rows, moving)"""
        parts, q = [], q[..., None, :]
        if self.model.mechanism.closures:
            parts.append(self.model.call("closure_gradient", q=q, direction=self.directions)["residual"])
        if self.point is not None:
            velocity = np.asarray(self.model.call("points", q=q, v=self.directions)["velocity"])
            parts.append(velocity[..., self.point, :][..., self.axes])
        return np.swapaxes(np.concatenate(parts, axis=-1), -1, -2)

    def inverse(self, J: Array) -> tuple[Array, Array, Array]:
        """A, V and how far F_x is from singular, of the rank it has at the first posture that is asked for."""
        Jx = J[..., self.x]
        free = len(self.x)
        if self.rank is None:
            s = np.linalg.svd(Jx.reshape(-1, *Jx.shape[-2:])[0], compute_uv=False)
            self.rank = int(np.sum(s > SINGULAR * max(float(s[0]), 1e-300))) if s.size else 0
        r = self.rank
        if r == free:
            Q, R = np.linalg.qr(Jx)
            d = np.einsum("...ii->...i", R)
            d[np.abs(d) < 1e-200] = 1e-200
            A, V = np.linalg.solve(R, np.swapaxes(Q, -1, -2)), np.broadcast_to(np.eye(r), (*J.shape[:-2], r, r)).copy()
            return A, V, 1.0 / np.maximum(_size(R) * _size(A), 1.0)
        u, s, wt = np.linalg.svd(Jx, full_matrices=False)
        inverse = 1.0 / np.maximum(s[..., :r, None], 1e-300) * np.swapaxes(u[..., :r], -1, -2)
        conditioning = s[..., r - 1] / s[..., 0] if r else np.ones(J.shape[:-2])
        return inverse, np.swapaxes(wt[..., :r, :], -1, -2).copy(), np.asarray(conditioning)

    def linear(self, J: Array) -> Tangent:
        A, V, conditioning = self.inverse(J)
        return Tangent(J, A, V, self.curvature.levers(J), self.curvature.weights(A), conditioning)

    # Certainty --------------------------------------------------------------------------------------------------------

    def boxes(self, q: Array, at: Tangent, step: Array, J: Array, residual: Array) -> tuple[Array, Array]:
        """Half-widths (n, free) of the boxes about q + step in which the closed postures lie, J and residual being those at
        the ends of the steps, not numbers where it cannot be told; and how much the equations turn (1: too much)."""
        bounds, ahead = self.curvature, np.abs(step)
        third = bounds.third(bounds.within(q, at.levers, ahead), at.weights, ahead)
        error = np.abs(_times(at.A, residual)) + 2 / 81 * _times(third, ahead)
        error += 1e-3 * error.max(axis=-1, initial=0.0, keepdims=True) + 1e-12
        line, V = np.abs(at.A @ (J - at.J)[..., self.x]), np.abs(at.V)
        wide, turn = np.full((len(q), len(self.x)), np.nan), np.zeros(len(q))
        r, left = 1.3 * error, np.arange(len(q))
        for _ in range(3):
            around = ahead[left]
            around[:, self.x] += _times(V[left], r)
            G = line[left] @ V[left] + self._turned(q[left], at.of(left), ahead[left], around) @ V[left]
            holds = np.all(error[left] + _times(G, r) < r, axis=-1)
            wide[left[holds]] = _times(V[left[holds]], r[holds])
            size = _radius(G)
            turn[left] = np.where(holds & (turn[left] > 0.0), turn[left], size)
            on = ~holds & (size < 1.0)
            left, G = left[on], G[on]
            if not left.size:
                break
            r = np.linalg.solve(np.eye(G.shape[-1]) - G, error[left][..., None])[..., 0]
            r = 1.1 * np.maximum(r, error[left])
        return wide, turn

    def _turned(self, q: Array, at: Tangent, ahead: Array, around: Array) -> Array:
        """How much A F_x can turn on the way beyond what its ends show, and within the boxes about it."""
        bounds = self.curvature
        most = bounds.within(q, at.levers, around)
        wide = bounds.third(most, at.weights, ahead)[..., self.x] / 8
        return np.asarray(wide + bounds.second(most, at.weights, around - ahead)[..., self.x])

    # Steps ------------------------------------------------------------------------------------------------------------

    def walk(self, q: Array, goal: Goal) -> Walked:
        """From a closed posture straight towards a goal, as far as it is certain."""
        ends, shares = self.walks(q[None], self.target(goal)[None])
        return Walked(ends[0], float(shares[0]))

    def target(self, goal: Goal) -> Array:
        """(held + axes,) the values of a goal."""
        return np.array([*(goal.held[i] for i in self.held), *goal.position])

    def walks(self, q: Array, goals: Array) -> tuple[Array, Array]:
        """From closed postures (n, nq) straight towards goals (n, held + axes), as far as it is certain: the last postures
        and the shares of the ways that were walked, 1 at their ends."""
        self.rank = None
        q, steps, h = q.copy(), np.zeros(len(q), dtype=int), np.ones(len(q))
        way = self.remaining(q, goals)
        whole = np.abs(way).max(axis=1, initial=0.0)
        left, next_one = whole.copy(), min(ABREAST, len(q))
        live: Indices = np.arange(next_one)
        at = self.linear(self.gradient(q[live]))
        while live.size:
            least = SHORTEST * whole[live] / np.maximum(left[live], 1e-300)
            on = (left[live] > ARRIVED) & (steps[live] < MOST_STEPS) & ((h[live] >= least) | (h[live] == 1.0))
            on &= at.conditioning >= SINGULAR
            if not on.all():
                live, at = live[on], at.of(on)
            if next_one < len(q) and len(live) < ABREAST // 2:
                new = np.arange(next_one, min(next_one + ABREAST - len(live), len(q)))
                next_one = int(new[-1]) + 1
                live, at = np.append(live, new), at.joined(self.linear(self.gradient(q[new])))
                continue
            if live.size:
                self._advance(live, at, goals, (q, way, left, h, steps))
        share = np.minimum(1.0 - left / np.maximum(whole, 1e-300), 1.0 - SHORTEST)
        return q, np.where(left <= ARRIVED, 1.0, share)

    def _advance(self, live: Indices, at: Tangent, goals: Array, state: tuple[Array, Array, Array, Array, Array]) -> None:
        """One step tried by everyone who is still walking: where it was certain they are there, others try shorter ones."""
        q, way, left, h, steps = state
        made, J, good, turn = self._tried(q[live], at, way[live], h[live])
        gone, here = live[good], live[~good]
        h[here] *= np.minimum(0.7, np.maximum(0.2, 0.55 / np.maximum(turn[~good], 1e-3)))
        if not gone.size:
            return
        q[gone], steps[gone] = made[good], steps[gone] + 1
        at.put(np.flatnonzero(good), self.linear(J[good]))
        way[gone] = self.remaining(q[gone], goals[gone])
        before, left[gone] = left[gone], np.abs(way[gone]).max(axis=1)
        grown = h[gone] * np.minimum(4.0, 0.6 / np.maximum(turn[good], 0.15))
        h[gone] = np.minimum(1.0, grown * before / np.maximum(left[gone], 1e-300))

    def remaining(self, q: Array, goals: Array) -> Array:
        """(n, held + axes) what is left of the ways: displacements of the held coordinates, then of the point."""
        held, made = len(self.held), np.zeros((len(q), len(self.moving)))
        made[:, self.y] = goals[:, :held]
        made[:, self.columns] -= q[:, self.plain]
        for part, columns in self.balls:
            now, own = rotation_vector(q[:, part]), np.isin(columns, self.y)
            if own.any():
                made[:, columns] = between(q[:, part], quaternion(np.where(own, made[:, columns], now)))
        parts = made[:, self.y]
        return parts if self.point is None else np.hstack([parts, goals[:, held:] - self.position(q)])

    def _tried(self, q: Array, at: Tangent, way: Array, h: Array) -> tuple[Array, Array, Mask, Array]:
        """Postures some shares h of the ways ahead, their J, which of them are certain, and how much the equations turn."""
        step = h[:, None] * self.rates(at, way)
        made = self.moved(q, step)
        target = self.position(q) + h[:, None] * way[:, len(self.held) :] if self.point is not None else None
        J, residual = self.gradient(made), self.residual(made, target)
        box, turn = self.boxes(q, at, step, self.charted(J, step), residual)
        good: Mask = np.asarray(~np.isnan(box).any(axis=1))
        k = np.flatnonzero(good)
        if k.size:
            found, fine = self._corrected(made[k], J[k], residual[k], target if target is None else target[k], box[k])
            fine &= np.all(np.abs(self.apart(q[k], found) - step[k])[:, self.x] <= 1.01 * box[k] + 1e-9, axis=1)
            made[k], good[k] = found, fine
            J[k[fine]] = self.gradient(found[fine])
        return made, J, good, turn

    def spread(self, step: Array) -> Array:
        """A displacement of the rigid coordinates as one of all."""
        made = np.zeros((*step.shape[:-1], self.model.nv))
        made[..., self.moving] = step
        return made

    def moved(self, q: Array, step: Array) -> Array:
        """Postures (n, nq) moved by displacements of the rigid coordinates."""
        made = q.copy()
        made[:, self.plain] += step[:, self.columns]
        for part, columns in self.balls:
            made[:, part] = turned(q[:, part], step[:, columns])
        return made

    def apart(self, first: Array, second: Array) -> Array:
        """(n, moving) the displacements from the first postures to the second."""
        made = np.zeros((len(first), len(self.moving)))
        made[:, self.columns] = second[:, self.plain] - first[:, self.plain]
        for part, columns in self.balls:
            made[:, columns] = between(first[:, part], second[:, part])
        return made

    def charted(self, J: Array, step: Array) -> Array:
        """J at the end of a step by the rotation vectors counted from its beginning, instead of the turned axes."""
        made = J.copy()
        for _, columns in self.balls:
            made[..., columns] = J[..., columns] @ turn_rates(step[..., columns])
        return made

    def rates(self, at: Tangent, way: Array) -> Array:
        """w = (x', y') of the ways, one number per rigid coordinate."""
        w = np.zeros((len(way), len(self.moving)))
        w[:, self.y] = way[:, : len(self.held)]
        driven = _times(at.J[..., self.y], w[:, self.y])
        if self.point is not None:
            driven[:, -len(self.axes) :] -= way[:, len(self.held) :]
        w[:, self.x] = -_times(at.V, _times(at.A, driven))
        return w

    def _corrected(self, made: Array, J: Array, residual: Array, target: Array | None, box: Array) -> tuple[Array, Mask]:
        """The closed postures near some that are almost closed, and which were found."""
        made, residual, (A, V, _) = made.copy(), residual.copy(), self.inverse(J)
        size, fine = np.zeros(len(made)), np.ones(len(made), dtype=bool)
        for _ in range(15):
            k = np.flatnonzero(fine & (np.abs(residual).max(axis=1, initial=0.0) >= CLOSED))
            if not k.size:
                break
            again = k[size[k] > 1e-4]
            if again.size:
                A[again], V[again], _ = self.inverse(self.gradient(made[again]))
            step = np.zeros((len(k), len(self.moving)))
            step[:, self.x] = -_times(V[k], _times(A[k], residual[k]))
            size[k] = np.abs(step).max(axis=1)
            fine[k] = size[k] <= 3.0 * box[k].max(axis=1) + 1e-9
            made[k] = self.moved(made[k], step)
            residual[k] = self.residual(made[k], target if target is None else target[k])
        return made, fine & (np.abs(residual).max(axis=1, initial=0.0) < 100 * CLOSED)


def displacements(model: Model, q: Array, goal: Mapping[int, float], held: Sequence[int]) -> Array:
    """How far held coordinates are from their goals; of ball joints as a turn in their own axes."""
    made = np.zeros(model.nv)
    for frame in model.mechanism.frames:
        own = range(frame.v.start, frame.v.stop)
        if not any(i in goal for i in own):
            continue
        if frame.motion == "spherical":
            now = rotation_vector(q[frame.q])
            wanted = np.array([goal.get(i, x) for i, x in zip(own, now, strict=True)])
            made[frame.v] = between(q[frame.q], quaternion(wanted))
        else:
            made[frame.v.start] = goal[frame.v.start] - q[frame.q][0]
    return made[list(held)]


def apart(model: Model, first: Array, second: Array) -> Array:
    """The displacement from one posture to another, one number per velocity."""
    made = np.zeros(model.nv)
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            made[frame.v] = between(first[frame.q], second[frame.q])
        else:
            made[frame.v] = second[frame.q] - first[frame.q]
    return made


def _times(A: Array, x: Array) -> Array:
    """A x of every one of a crowd."""
    return np.asarray((A @ x[..., None])[..., 0])


def _size(A: Array) -> Array:
    return np.asarray(np.sqrt((A**2).sum(axis=(-1, -2))))


def _radius(G: Array) -> Array:
    """Spectral radii of matrices without negative entries, from a few powers of them."""
    size, vector = np.zeros(len(G)), np.ones(G.shape[:-1])
    for _ in range(6):
        vector = _times(G, vector)
        size = vector.max(axis=-1, initial=0.0)
        vector = vector / np.maximum(size, 1e-300)[:, None]
    return size
