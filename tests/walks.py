"""Walks of closed robots in many small steps, whole crowds of them at once: a judge of assembly modes.

It shares nothing with the steps of `supple.model.continuation` but the equations of the loops. A walk counts if no
singular pose is on it: the determinant of the loops by the free coordinates keeps its sign and changes by less than a
factor of two in every step, and Newton's method corrects each step by less than a third of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import PoseError
from supple.formulations.tree.undriven import outside_loops
from supple.model.continuation import apart
from supple.model.model import Model
from supple.model.observe import coordinate_values
from supple.model.posture import posture, postures

Array = np.ndarray[Any, Any]
SAME = 1e-6  # m or rad
FINER = 10


@dataclass(frozen=True)
class Asked:
    """How poses of a robot are asked for: the coordinates, and how far from home they are drawn."""

    what: str
    held: list[int]
    span: Array


def ways_to_ask(model: Model) -> list[Asked]:
    """By the actuators; by the platform's pose; by the first joint of a robot without either."""
    coordinates, home = model.mechanism.coordinates, model.mechanism.home
    size = max(float(np.linalg.norm(f.marker.position.astype(float))) for f in model.mechanism.frames)
    size = max(size, *(float(np.linalg.norm(p)) for p in model.call("points", q=posture(model))["position"]))
    platform = [i for i, c in enumerate(coordinates) if c.kind == "platform"]
    platform = platform if len(model.active) >= len(platform) else [i for i in platform if coordinates[i].name in home]
    sets = {"actuators": list(model.active), "platform": platform}
    if not any(sets.values()):
        sets = {"first joint": [0]}

    def span(what: str, i: int) -> float:
        turn, slide = (0.5, 0.2) if what == "platform" else (1.0, 0.1)
        return turn if coordinates[i].unit == "rad" else slide * size

    return [Asked(w, [int(i) for i in h], np.array([span(w, i) for i in h])) for w, h in sets.items() if h]


class Crowd:
    """Postures of one robot, many at once, with some coordinates held."""

    def __init__(self, model: Model, held: list[int], call: Callable[..., dict[str, Array]] | None = None) -> None:
        self.model, self.held, self.call = model, held, call or model.call
        rigid = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
        swinging = {model.index(n) for n in outside_loops(model.mechanism)}  # loops do not see them
        self.free = [i for i in rigid if i not in held and i not in swinging]

    def gradient(self, q: Array, which: list[int]) -> Array:
        directions = np.tile(np.eye(self.model.nv)[which], (len(q), 1))
        found = self.call("closure_gradient", q=np.repeat(q, len(which), axis=0), direction=directions)["residual"]
        return np.swapaxes(found.reshape(len(q), len(which), -1), 1, 2)

    def placed(self, q: Array, y: Array) -> Array:
        made, where = q.copy(), {i: k for k, i in enumerate(self.held)}
        for frame in self.model.mechanism.frames:
            own = [where[i] for i in range(frame.v.start, frame.v.stop) if i in where]
            if own and frame.motion == "spherical":
                made[:, frame.q] = quaternions(y[:, own])
            elif own:
                made[:, frame.q] = y[:, own]
        return made

    def moved(self, q: Array, step: Array) -> Array:
        made, where = q.copy(), {i: k for k, i in enumerate(self.free)}
        for frame in self.model.mechanism.frames:
            own = [where[i] for i in range(frame.v.start, frame.v.stop) if i in where]
            if own and frame.motion == "spherical":
                made[:, frame.q] = product(q[:, frame.q], quaternions(step[:, own]))
            elif own:
                made[:, frame.q] += step[:, own]
        return made

    def walk(self, q: Array, begin: Array, goal: Array, steps: int) -> tuple[Array, Array]:
        """Postures at the goals (or where walks were given up), and which of the walks met no singular pose."""
        good, q = np.ones(len(q), dtype=bool), q.copy()
        J = self.gradient(q, self.free)
        sign, size = volume(J)
        for k in range(steps):
            live = np.flatnonzero(good)
            if not live.size:
                break
            now = begin[live] + (goal - begin)[live] * (k + 1) / steps
            made, fine = self.step(q[live], J[live], now)
            new = self.gradient(made, self.free)
            new_sign, new_size = volume(new)
            fine &= (new_sign == sign[live]) & (np.abs(new_size - size[live]) < np.log(2.0))
            q[live[fine]], sign[live[fine]], size[live[fine]] = made[fine], new_sign[fine], new_size[fine]
            J[live[fine]] = new[fine]
            good[live[~fine]] = False
        return q, good

    def step(self, q: Array, J: Array, y: Array) -> tuple[Array, Array]:
        """Each posture with its held coordinates at new values, and whether Newton's method went a short way."""
        made = self.placed(q, y)
        first = solved(J, self.call("closure", q=made)["residual"])
        made = self.moved(made, -first)
        more, inverse = np.zeros(len(q)), inverted(self.gradient(made, self.free))
        for _ in range(4):
            correction = np.einsum("bji,bi->bj", inverse, self.call("closure", q=made)["residual"])
            made = self.moved(made, -correction)
            more += np.abs(correction).max(axis=1)
        shut = np.abs(self.call("closure", q=made)["residual"]).max(axis=1) < 1e-9
        return made, shut & (more < np.abs(first).max(axis=1) / 3 + 1e-6)


def solved(J: Array, residual: Array) -> Array:
    """Least squares of every one of a stack."""
    return np.linalg.solve(*_normal(J, np.einsum("bij,bi->bj", J, residual)[..., None]))[..., 0]


def inverted(J: Array) -> Array:
    """What gives least squares, of every one of a stack."""
    return np.linalg.solve(*_normal(J, np.swapaxes(J, 1, 2)))


def _normal(J: Array, right: Array) -> tuple[Array, Array]:
    normal = np.swapaxes(J, 1, 2) @ J
    small = 1e-15 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(J.shape[2])
    return normal + small, right


def volume(J: Array) -> tuple[Array, Array]:
    """Sign and logarithm of the determinants, or of what the columns span."""
    if J.shape[1] == J.shape[2]:
        sign, size = np.linalg.slogdet(J)
        return sign, size
    return np.ones(len(J)), 0.5 * np.linalg.slogdet(np.swapaxes(J, 1, 2) @ J)[1]


def quaternions(r: Array) -> Array:
    angle = np.linalg.norm(r, axis=1, keepdims=True)
    return np.hstack([np.cos(angle / 2), r * 0.5 * np.sinc(angle / (2 * np.pi))])


def product(p: Array, r: Array) -> Array:
    a, b = p[:, :1], p[:, 1:]
    c, d = r[:, :1], r[:, 1:]
    return np.hstack([a * c - (b * d).sum(axis=1, keepdims=True), a * d + c * b + np.cross(b, d)])


@dataclass(frozen=True)
class Verdict:
    """How many poses were asked, answered as the walks end, refused, answered otherwise; and the words of refusals."""

    asked: int
    same: int
    unjudged: int  # answered, though no walk of the judge got there
    refused: int
    reachable: int  # of those refused, poses that a walk reaches
    other: list[dict[str, float]]  # answered in another branch than a walk
    ambiguous: int  # poses at which two walks of the judge end in different branches
    words: list[str]


def judged(
    model: Model, how: Asked, count: int, share: float = 1.0, steps: int = 80, call: Any = None, seed: int = 1
) -> Verdict:
    """Random poses asked for directly and reached by a straight walk and by one round a corner, in steps of other size."""
    rng = np.random.default_rng(seed)
    home = posture(model)
    begin = np.tile(coordinate_values(model, home)[how.held], (count, 1))
    goal = begin + rng.uniform(-share, share, begin.shape) * how.span
    corner = (begin + goal) / 2 + 0.5 * rng.uniform(-share, share, begin.shape) * how.span
    crowd = Crowd(model, how.held, call)
    walks = _walks(crowd, home, (begin, corner, goal), steps)
    first = _verdict(model, how, goal, walks)
    if not first.other:
        return first
    # a step may jump over a flat parallelogram into its other branch: walks that end elsewhere go again in small steps
    wanted = np.array([list(pose.values()) for pose in first.other])
    again = np.flatnonzero((goal[:, None] == wanted).all(axis=2).any(axis=1))
    fine = _walks(crowd, home, (begin[again], corner[again], goal[again]), FINER * steps)
    for (q, good), (new, better) in zip(walks, fine, strict=True):
        q[again], good[again] = new, better
    return _verdict(model, how, goal, walks)


def _walks(crowd: Crowd, home: Array, places: tuple[Array, Array, Array], steps: int) -> list[tuple[Array, Array]]:
    begin, corner, goal = places
    count = len(goal)
    q0 = np.tile(home, (count, 1))
    straight, arrived = crowd.walk(q0, begin, goal, steps)
    bent, turned = crowd.walk(q0, begin, corner, steps * 3 // 5)
    ends, round_it = crowd.walk(bent[turned], corner[turned], goal[turned], steps * 3 // 4)
    by_corner = np.zeros(count, dtype=bool)
    by_corner[np.flatnonzero(turned)[round_it]] = True
    bent[turned] = ends
    return [(straight, arrived), (bent, by_corner)]


def _verdict(model: Model, how: Asked, goal: Array, walks: list[tuple[Array, Array]]) -> Verdict:
    same = unjudged = refused = reachable = ambiguous = 0
    other, words = [], []
    names = [model.names[i] for i in how.held]
    for k, found in enumerate(postures(model, names, goal)):
        ends = [q[k] for q, good in walks if good[k]]
        ambiguous += len(ends) == 2 and _off(model, *ends) > SAME
        if isinstance(found, PoseError):
            refused, reachable = refused + 1, reachable + bool(ends)
            words.append(str(found))
            continue
        unjudged += not ends
        if ends and _off(model, found, ends[0]) < SAME:
            same += 1
        elif ends:
            other.append(dict(zip(names, goal[k].tolist(), strict=True)))
    return Verdict(len(goal), same, unjudged, refused, reachable, other, ambiguous, words)


def _off(model: Model, first: Array, second: Array) -> float:
    return float(np.abs(apart(model, first, second)).max())
