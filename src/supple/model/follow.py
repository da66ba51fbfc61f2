"""Joint motion from a path of the platform or of a point: inverse kinematics on the rigid robot, made a trajectory.

With A the rows of the loops and of what the path holds, A v = (0, path rates) and A a = (-b, path accelerations - b):
velocities and accelerations are exact at every sample, and a quintic through them is refined until it is true in between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.errors import PoseError
from supple.formulations.tree.undriven import outside_loops, undriven
from supple.model.algebra import Array, one_thread
from supple.model.closing import open_loop, values
from supple.model.continuation import apart
from supple.model.model import Model
from supple.model.posture import posture
from supple.model.tasks import Task, joints_task, platform_task, point_task
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.remembered import Answer

ACCURACY = 3e-10  # m or rad, of the joints between samples
DEAD_END = 1e-8  # smallest singular value of the rows, relative to the largest
FINEST = 1e-7  # shortest step, relative to the motion's duration
DEEPEST = 14  # halvings of a step while refining
NEAR = 1e-4  # of the duration: a pose out of reach so soon ahead is what stops the robot
PIECES = 4  # first steps per piece of a path
FAR = 0.02  # m or rad; a path of the joints is looked at whenever it has moved so far


@dataclass(frozen=True)
class Followed:
    """Joint trajectory of the driven actuators, why it ends early (or None), and the posture it starts from."""

    trajectory: Trajectory | None
    stop: str | None
    posture: Mapping[str, float]  # every joint and platform coordinate at the start; rotations as rotation vectors


@dataclass(frozen=True)
class Sample:
    """A posture on the path with exact rates, and how far the actuators are from losing hold of it."""

    t: float
    q: Array
    v: Array
    a: Array
    hold: float  # determinant (or least singular value) of the actuators' rates against the path's


class _LostError(Exception):
    """The path cannot be followed at a time; the message says why."""


class _OutOfReachError(_LostError):
    """The loops do not close where the path goes."""


def follow(rigid_model: Model, motion: Motion) -> Followed:
    """Actuator motion that leads the rigid robot along the motion's path, up to where it can be followed; remembered."""
    found = rigid_model.memory.kept("followed", _asked(motion), lambda: _written(_follow(rigid_model, motion)))
    words, arrays = found.words, found.arrays
    path = Trajectory(tuple(words["names"]), **arrays) if arrays else None
    return Followed(path, words["stop"], words["posture"])


def _asked(motion: Motion) -> str:
    """All of a motion that its path depends on, in digits."""
    said = [motion.space, motion.point, motion.assembly, dict(motion.start), dict(motion.drives), motion.duration]
    made = hashlib.sha256(repr(said).encode())
    for part in ("names", "knots", "coefficients", "breaks") if motion.path is not None else ():
        x = getattr(motion.path, part)
        made.update(x.tobytes() if isinstance(x, np.ndarray) else repr(x).encode())
    return made.hexdigest()


def _written(found: Followed) -> Answer:
    path = found.trajectory
    words = {"names": [] if path is None else list(path.names), "stop": found.stop, "posture": dict(found.posture)}
    parts = ("knots", "coefficients", "breaks")
    return Answer(words, {} if path is None else {part: getattr(path, part) for part in parts})


@one_thread
def _follow(model: Model, motion: Motion) -> Followed:
    driven = motion.driven("prescribed", "controlled")
    q = _start(model, motion)
    first = dict(zip(model.names, values(model, q).tolist(), strict=True))
    if motion.path is None or motion.space == "joints":
        trajectory = _completed(motion, driven, first)
        stop = None
        if trajectory is not None and _leads(model, driven):
            trajectory, stop = _joints(model, q, trajectory)
        return Followed(trajectory, stop, first)
    task = _task(model, motion, q)
    march = _March(model, task, motion.path, driven)
    trajectory, stop = march.trajectory(task.reach(model, q, motion.path.start))
    begin = march.samples[0].q
    return Followed(trajectory, stop, dict(zip(model.names, values(model, begin).tolist(), strict=True)))


def _start(model: Model, motion: Motion) -> Array:
    """The closed posture at the start; of a point's path, the home posture."""
    kinds = {c.name: c.kind for c in model.mechanism.coordinates}
    start = motion.start
    if motion.space == "platform":
        start = {n: x for n, x in start.items() if kinds[n] == "platform"}
    return posture(model, start, motion.assembly)


def _task(model: Model, motion: Motion, q: Array) -> Task:
    assert motion.path is not None
    if motion.space == "platform":
        return platform_task(model, q, motion.path, motion.start)
    assert motion.point is not None
    return point_task(model, q, motion.path, motion.point)


def _completed(motion: Motion, driven: list[str], first: Mapping[str, float]) -> Trajectory | None:
    """The path of the joints, with driven actuators that it leaves out held where they start."""
    if not driven:
        return None
    own = [n for n in driven if motion.path is not None and n in motion.path.names]
    still = [n for n in driven if n not in own]
    parts = [motion.path.only(own)] if own and motion.path is not None else []
    if still:
        parts.append(Trajectory.held(still, [first[n] for n in still], motion.duration))
    return Trajectory.together(parts).only(driven)


def _leads(model: Model, driven: list[str]) -> bool:
    """Whether the driven actuators say how the loops move."""
    mechanism = model.mechanism
    every = set(driven) == {model.names[i] for i in model.active}
    return bool(mechanism.closures) and every and undriven(mechanism) == outside_loops(mechanism)


def _joints(model: Model, q: Array, trajectory: Trajectory) -> tuple[Trajectory | None, str | None]:
    """A joint trajectory, up to where the loops can close and the actuators hold the robot."""
    task = joints_task(model, q, trajectory)
    march = _March(model, task, trajectory, list(trajectory.names))
    grid = _where_it_moves(trajectory)
    stop = march.along(grid, task.reach(model, q, trajectory.start))
    if stop is None:
        return trajectory, None
    last = march.samples[-1].t
    return (trajectory.cut(trajectory.start, last) if last > trajectory.start else None), stop


def _where_it_moves(trajectory: Trajectory) -> Array:
    """Times at which a trajectory has moved on by a little, and its end."""
    steps = [np.linspace(a, b, 17)[:-1] for a, b in zip(trajectory.knots[:-1], trajectory.knots[1:], strict=True)]
    times = np.append(np.concatenate(steps), trajectory.end)
    x = trajectory(times)[0]
    kept = [0]
    for k in range(1, len(times)):
        if np.abs(x[k] - x[kept[-1]]).max() > FAR:
            kept.append(k)
    return np.unique(np.append(times[kept], trajectory.end))


class _March:
    """Postures along a path, each found from the one before."""

    def __init__(self, model: Model, task: Task, path: Trajectory, driven: list[str]) -> None:
        self.model = model
        self.task = task
        self.path = path
        self.driven = driven
        self.rows = [model.index(n) for n in driven]
        self.finest = FINEST * path.duration
        self.samples: list[Sample] = []

    def trajectory(self, q: Array) -> tuple[Trajectory | None, str | None]:
        """The quintic of the driven joints, true to ACCURACY, and why it ends early."""
        stop = self.along(self.grid(), q)
        kept = [self.samples[0]]
        for after in self.samples[1:]:
            pieces = self.refined(kept[-1], after, DEEPEST)
            kept += pieces
            if not pieces or pieces[-1].t < after.t:
                stop = stop or self.words(kept[-1], "the joints would have to move too sharply")
                break
        if len(kept) < 2:
            return None, stop
        x, xd, xdd = (np.array([w[self.rows] for w in each]) for each in self.joint_states(kept))
        made = Trajectory.hermite(self.driven, [s.t for s in kept], x, xd, xdd)
        inside = self.path.breaks[self.path.breaks <= made.end]
        return Trajectory(made.names, made.knots, self.sharp(made, kept), inside), stop

    def joint_states(self, samples: list[Sample]) -> tuple[list[Array], list[Array], list[Array]]:
        return [values(self.model, s.q) for s in samples], [s.v for s in samples], [s.a for s in samples]

    def sharp(self, made: Trajectory, kept: list[Sample]) -> Array:
        """Coefficients in which a piece that ends at a jump of the path's acceleration ends with the one before it."""
        coefficients = np.array(made.coefficients)
        for k, after in enumerate(kept[1:]):
            if np.abs(self.path.breaks - after.t).min(initial=np.inf) > self.finest:
                continue
            before = kept[k]
            end = self.state(after.t, after.q, left=True)
            piece = Trajectory.hermite(
                self.driven,
                [before.t, after.t],
                [values(self.model, s.q)[self.rows] for s in (before, end)],
                [s.v[self.rows] for s in (before, end)],
                [s.a[self.rows] for s in (before, end)],
            )
            coefficients[k] = piece.coefficients[0]
        return coefficients

    def grid(self) -> Array:
        """First times: the path's knots and a few in every piece that moves."""
        times = [self.path.knots]
        for k, (a, b) in enumerate(zip(self.path.knots[:-1], self.path.knots[1:], strict=True)):
            if np.any(self.path.coefficients[k, :, 1:]):
                count = PIECES if self.path.knots.size < 40 else 1
                times.append(np.linspace(a, b, count + 1)[1:-1])
        return np.unique(np.concatenate(times))

    # Step by step ----------------------------------------------------------------------------------------------------

    def along(self, grid: Array, q: Array) -> str | None:
        """Samples at the times of a grid and between them where needed; None, or why the last is the last."""
        try:
            start = self.state(float(grid[0]), q)
        except _LostError as error:
            raise PoseError(f"{self.model.mechanism.name}: at the start of the path {error}") from error
        if start.hold == 0.0:
            raise PoseError(f"{self.model.mechanism.name}: at the start of the path the locked actuators do not hold it")
        self.samples = [start]
        for goal in grid[1:]:
            stop = self.to(float(goal))
            if stop is not None:
                return stop
        return None

    def to(self, goal: float) -> str | None:
        """Goes on to a time in steps as long as they succeed."""
        step = goal - self.samples[-1].t
        beyond, unreachable = np.inf, ""  # the nearest time at which the loops did not close
        while self.samples[-1].t < goal:
            here = self.samples[-1]
            t = goal if here.t + step >= goal - 1e-3 * self.finest else here.t + step
            try:
                self.samples.append(self.next(here, t))
                step *= 2.0
            except _LostError as error:
                if isinstance(error, _OutOfReachError):
                    beyond, unreachable = t, str(error)
                step = (t - here.t) / 2
                if step < self.finest:
                    return self.words(here, unreachable if beyond - here.t < NEAR * self.path.duration else str(error))
        return None

    def next(self, here: Sample, t: float) -> Sample:
        """The sample at t, in the same assembly and on the same side of every singularity as the one before."""
        h = t - here.t
        ahead = h * here.v + h * h / 2 * here.a
        guess = self.model.retract(here.q, ahead)
        q = self.task.closed(self.model, guess, t)
        if q is None:
            raise _OutOfReachError(self.unreachable(guess, t))
        off = float(np.abs(apart(self.model, guess, q)).max())
        if off > 0.3 * float(np.abs(ahead).max()) + 1e-6 or off > 0.1:
            raise _LostError("the robot meets a singular pose, beyond which it would have to change its assembly")
        there = self.state(t, q)
        if there.hold == 0.0 or there.hold * here.hold < 0:
            raise _LostError("the robot meets a singular pose, in which the locked actuators no longer hold it")
        return there

    def state(self, t: float, q: Array, left: bool = False) -> Sample:
        """Exact velocities and accelerations of all coordinates at a posture on the path."""
        model, task = self.model, self.task
        J = model.jacobian(q)
        S = task.rows(model, q)
        A = np.vstack([J, S])[:, task.moving]
        rates, accelerations = task.rates(t - 4 * np.spacing(t) if left else t)
        u, s, wt = np.linalg.svd(A, full_matrices=False)
        if s.size < A.shape[1] or s[-1] < DEAD_END * s[0]:
            loose = model.names[task.moving[int(np.abs(wt[-1]).argmax())]] if s.size >= A.shape[1] else model.names[0]
            raise _LostError(f"the robot meets a singular pose, in which {loose!r} can move though the path holds it")
        inverse = (wt.T / s) @ u.T
        v = np.zeros(model.nv)
        v[task.moving] = inverse @ np.concatenate([np.zeros(len(J)), rates])
        bias = model.closure_bias(q, v) if len(J) else np.zeros(0)
        a = np.zeros(model.nv)
        a[task.moving] = inverse @ np.concatenate([-bias, accelerations - task.bias(model, q, v)])
        drive = np.zeros((model.nv, len(S)))
        drive[task.moving] = inverse[:, len(J) :]
        return Sample(t, q, v, a, _hold(drive[model.active]))

    def refined(self, before: Sample, after: Sample, depth: int) -> list[Sample]:
        """Samples after `before` up to `after`, as many as it takes; fewer if the path is lost on the way."""
        pair = [before, after]
        x, xd, xdd = (np.array(w) for w in self.joint_states(pair))
        if np.abs(self.path.breaks - after.t).min(initial=np.inf) <= self.finest:
            end = self.state(after.t, after.q, left=True)
            xdd[1] = end.a
        curve = Trajectory.hermite(self.model.names, [before.t, after.t], x, xd, xdd)
        t = (before.t + after.t) / 2
        try:
            middle = self.next(before, t)
        except _LostError:
            return []
        guess = curve(t)[0]
        off = np.abs(values(self.model, middle.q) - guess)[self.rows].max()
        if off < ACCURACY:
            return [after]
        if depth == 0:
            return []
        first = self.refined(before, middle, depth - 1)
        if not first or first[-1].t < middle.t:
            return first
        return first + self.refined(middle, after, depth - 1)

    # Words ----------------------------------------------------------------------------------------------------------------

    def unreachable(self, guess: Array, t: float) -> str:
        goal = self.task.placed(self.model, guess, t)
        text = open_loop(self.model, goal, "") if self.model.mechanism.closures and self.task.point is None else ""
        loop = text.partition(": ")[2].partition(";")[0].strip()
        return f"{self.task.what} cannot reach {self.pose(t)}" + (f", {loop}" if loop else "")

    def pose(self, t: float) -> str:
        x = self.path(t)[0]
        units = {c.name: c.unit for c in self.model.mechanism.coordinates}
        shown = [f"{n} = {v:.6g} {units.get(n, 'm')}" for n, v in zip(self.path.names, x, strict=True)]
        return ", ".join(shown[:6])

    def words(self, last: Sample, why: str) -> str:
        return f"{self.model.mechanism.name}: at t = {last.t:.6g} s {why}; last pose reached: {self.pose(last.t)}"


def _hold(G: Array) -> float:
    """How well the actuators hold the path: a determinant with its sign, or the least singular value."""
    size = np.linalg.norm(G, axis=0)
    if G.shape[0] < G.shape[1] or not np.all(size > 0):
        return 1.0 if G.shape[0] < G.shape[1] else 0.0
    s = np.linalg.svd(G / size, compute_uv=False)
    if s[-1] < DEAD_END:
        return 0.0
    return float(np.linalg.det(G / size)) if G.shape[0] == G.shape[1] else float(s[-1])
