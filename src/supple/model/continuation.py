"""Walking a closed robot from posture to posture in steps that are certain to stay on one branch of its loops.

F(x, y) = 0 are the loops (and a point to be led), y the coordinates that are held, x the free ones, A the inverse of F_x
at a closed posture, w = (x', y') the rates of a straight way of y from there. Let e bound |A F| on x + s w for all shares
s up to h, and G bound |A (F_x - F_x(0))| in the boxes about these places of half-widths r. If

    e + G r < r  in every component,

then each box holds one closed posture, F_x is regular in all of them and the postures make one curve (Krawczyk's test
with the way as its parameter). What Newton's method finds in the last box is the continuation. e and G come from F and
F_x at both ends of the step and from bounds of what they can do in between (`curvature`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.model.algebra import Array
from supple.model.curvature import Curvature, Indices, Place, place_of_closure, place_of_point
from supple.model.model import Model, rotation_vector, turned
from supple.model.turning import turn_rates

CLOSED = 1e-12  # m or rad
ARRIVED = 1e-13  # m or rad, of what is held
SHORTEST = 3e-5  # of the whole way: a step that has to be shorter stands before a singular posture
MOST_STEPS = 400
SINGULAR = 1e-9  # singular values of scaled rows, relative to the largest


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
class Linear:
    """Equations at a closed posture: J of all rigid coordinates, A of F_x, and the motions V that A answers with."""

    J: Array
    A: Array  # (r, rows)
    V: Array  # (free, r); the identity where the held coordinates leave nothing free
    sizes: tuple[Array, tuple[Array, Array]]  # levers, and weights of A, for `curvature`
    conditioning: float


class Way:
    """Closed postures of a robot with some coordinates held, and optionally a point."""

    def __init__(self, model: Model, held: Sequence[int], point: int | None = None, axes: Sequence[int] = ()) -> None:
        self.model = model
        self.moving = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
        self.held = list(held)
        self.point, self.axes = point, list(axes)
        self.free = [i for i in self.moving if i not in set(self.held)]
        where = {i: k for k, i in enumerate(self.moving)}
        self.x: Indices = np.array([where[i] for i in self.free], dtype=int)
        self.y: Indices = np.array([where[i] for i in self.held], dtype=int)
        self.directions = np.eye(model.nv)[self.moving]
        self.rank: int | None = None
        balls = [f.v for f in model.mechanism.frames if f.motion == "spherical"]
        self.balls = [np.array([where[i] for i in range(v.start, v.stop)]) for v in balls]

    @cached_property
    def places(self) -> list[Place]:
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
        loops = self.model.residual(q) if self.model.mechanism.closures else np.zeros(0)
        if self.point is None or position is None:
            return loops
        return np.concatenate([loops, self.position(q) - position])

    def position(self, q: Array) -> Array:
        return np.asarray(self.model.call("points", q=q)["position"])[self.point][self.axes]

    def gradient(self, q: Array) -> Array:
        parts = []
        if self.model.mechanism.closures:
            parts.append(self.model.call("closure_gradient", q=q, direction=self.directions)["residual"].T)
        if self.point is not None:
            velocity = np.asarray(self.model.call("points", q=q, v=self.directions)["velocity"])
            parts.append(velocity[:, self.point][:, self.axes].T)
        return np.vstack(parts)

    def linear(self, J: Array) -> Linear:
        """The inverse of F_x, of the rank it has at the first posture it is asked for."""
        Jx = J[:, self.x]
        u, s, wt = np.linalg.svd(Jx, full_matrices=False)
        if self.rank is None:
            self.rank = int(np.sum(s > SINGULAR * max(float(s[0]), 1e-300))) if s.size else 0
        r = self.rank
        conditioning = float(s[r - 1] / s[0]) if r else 1.0
        inverse = np.where(s[:r] > 0, 1.0 / np.maximum(s[:r], 1e-300), 0.0)[:, None] * u[:, :r].T
        A, V = (wt.T @ inverse, np.eye(r)) if r == len(self.x) else (inverse, wt[:r].T)
        return Linear(J, A, V, (self.curvature.levers(J), self.curvature.weights(A)), conditioning)

    # Certainty --------------------------------------------------------------------------------------------------------

    def box(self, q: Array, at: Linear, step: Array, J: Array, residual: Array) -> tuple[Array | None, float]:
        """Half-widths (free,) of the box about q + step in which the closed posture lies, J and residual being those at the
        end of the step, or None if it cannot be told; and how much the equations turn on the way (1: too much)."""
        bounds, (levers, weights) = self.curvature, at.sizes
        ahead, V = np.abs(step), np.abs(at.V)
        third = bounds.third(bounds.within(q, levers, ahead), weights, ahead)
        error = np.abs(at.A @ residual) + 2 / 81 * third @ ahead
        error += 1e-3 * float(error.max(initial=0.0)) + 1e-12
        line, turn = np.abs(at.A @ (J - at.J)[:, self.x]), 0.0
        r = 1.3 * error
        for _ in range(3):
            around = ahead.copy()
            around[self.x] += V @ r
            most = bounds.within(q, levers, around)
            wide = line + bounds.third(most, weights, ahead)[:, self.x] / 8
            G = (wide + bounds.second(most, weights, around - ahead)[:, self.x]) @ V
            if np.all(error + G @ r < r):
                return V @ r, turn or _radius(G)
            turn = _radius(G)
            if turn >= 1.0:
                break
            r = 1.1 * np.maximum(np.linalg.solve(np.eye(len(r)) - G, error), error)
        return None, turn

    # Steps ------------------------------------------------------------------------------------------------------------

    def walk(self, q: Array, goal: Goal) -> Walked:
        """From a closed posture straight towards a goal, as far as it is certain."""
        way = self.remaining(q, goal)
        whole = float(np.abs(way).max(initial=0.0))
        if whole <= ARRIVED:
            return Walked(q, 1.0)
        self.rank, J, h = None, self.gradient(q), 1.0
        for _ in range(MOST_STEPS):
            left = float(np.abs(way).max())
            taken = self._step(q, J, way, min(1.0, h), SHORTEST * whole / left)
            if taken is None:
                return Walked(q, min(1.0 - left / whole, 1.0 - SHORTEST))
            q, J, h = taken
            way = self.remaining(q, goal)
            if float(np.abs(way).max()) <= ARRIVED:
                return Walked(q, 1.0)
            h *= left / float(np.abs(way).max())
        return Walked(q, min(1.0 - float(np.abs(way).max()) / whole, 1.0 - SHORTEST))

    def remaining(self, q: Array, goal: Goal) -> Array:
        """What is left of the way: displacements of the held coordinates, then of the point."""
        parts = displacements(self.model, q, goal.held, self.held)
        return parts if self.point is None else np.append(parts, np.asarray(goal.position) - self.position(q))

    def _step(self, q: Array, J: Array, way: Array, h: float, least: float) -> tuple[Array, Array, float] | None:
        """The posture a certain share of the way ahead, its J, and the share to try next; None if below `least`."""
        at = self.linear(J)
        if at.conditioning < SINGULAR:
            return None
        w = self.rates(at, way)
        while h >= least or h == 1.0:
            step = h * w
            made = self.model.retract(q, self.spread(step))
            target = self.position(q) + h * way[len(self.held) :] if self.point is not None else None
            J, residual = self.gradient(made), self.residual(made, target)
            box, turn = self.box(q, at, step, self.charted(J, step), residual)
            if box is not None:
                found = self._corrected(made, J, residual, target, box)
                if found is not None and self._inside(q, found[0], step, box):
                    return *found, h * min(4.0, 0.6 / max(turn, 0.15))
            h *= min(0.7, max(0.2, 0.55 / max(turn, 1e-3)))
        return None

    def spread(self, step: Array) -> Array:
        """A displacement of the rigid coordinates as one of all."""
        made = np.zeros(self.model.nv)
        made[self.moving] = step
        return made

    def charted(self, J: Array, step: Array) -> Array:
        """J at the end of a step by the rotation vectors counted from its beginning, instead of the turned axes."""
        made = J.copy()
        for columns in self.balls:
            made[:, columns] = J[:, columns] @ turn_rates(step[columns])
        return made

    def _inside(self, q: Array, made: Array, step: Array, box: Array) -> bool:
        off = np.abs(apart(self.model, q, made)[self.moving] - step)[self.x]
        return bool(np.all(off <= 1.01 * box + 1e-9))

    def rates(self, at: Linear, way: Array) -> Array:
        """w = (x', y') of the way, one number per rigid coordinate."""
        w = np.zeros(len(self.moving))
        w[self.y] = way[: len(self.held)]
        driven = at.J[:, self.y] @ w[self.y]
        if self.point is not None:
            driven[-len(self.axes) :] -= way[len(self.held) :]
        w[self.x] = -at.V @ (at.A @ driven)
        return w

    def _corrected(
        self, made: Array, J: Array, residual: Array, target: Array | None, box: Array
    ) -> tuple[Array, Array] | None:
        """The closed posture near one that is almost closed, and its J."""
        at, moved = self.linear(J), 0.0
        for _ in range(15):
            if float(np.abs(residual).max(initial=0.0)) < CLOSED:
                break
            if moved > 1e-4:
                at = self.linear(self.gradient(made))
            step = np.zeros(self.model.nv)
            step[self.free] = -at.V @ (at.A @ residual)
            moved = float(np.abs(step).max())
            if moved > 3.0 * float(box.max()) + 1e-9:
                return None
            made = self.model.retract(made, step)
            residual = self.residual(made, target)
        return (made, self.gradient(made)) if float(np.abs(residual).max(initial=0.0)) < 100 * CLOSED else None


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
            made[frame.v] = _between(q[frame.q], turned(np.array([1.0, 0.0, 0.0, 0.0]), wanted))
        else:
            made[frame.v.start] = goal[frame.v.start] - q[frame.q][0]
    return made[list(held)]


def apart(model: Model, first: Array, second: Array) -> Array:
    """The displacement from one posture to another, one number per velocity."""
    made = np.zeros(model.nv)
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            made[frame.v] = _between(first[frame.q], second[frame.q])
        else:
            made[frame.v] = second[frame.q] - first[frame.q]
    return made


def _between(first: Array, second: Array) -> Array:
    """The rotation vector, in the axes of the first quaternion, that turns it into the second."""
    w, x, y, z = first
    left = np.array([[w, x, y, z], [-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    return rotation_vector(left @ second)


def _radius(G: Array) -> float:
    """Spectral radius of a matrix without negative entries, from a few powers of it."""
    size, vector = 0.0, np.ones(len(G))
    for _ in range(6):
        vector = G @ vector
        size = float(vector.max(initial=0.0))
        if size == 0.0:
            return 0.0
        vector = vector / size
    return size
