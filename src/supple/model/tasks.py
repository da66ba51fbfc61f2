"""What a path holds: the platform's coordinates, a point's position, or the joints, as rows of the robot's motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.formulations.tree.undriven import outside_loops
from supple.model.algebra import Array
from supple.model.closing import CLOSED, close, loop_rows, newton, open_loop, placed, upright, values
from supple.model.continuation import Goal, HeldPostures
from supple.model.model import Model
from supple.model.posture import held_values
from supple.model.turning import body_rates
from supple.motion.trajectory import Trajectory

_LOOSE = 1e-9  # singular values, relative to the largest


@dataclass(frozen=True)
class Task:
    """Coordinates and point components that follow a path; the rest of the held coordinates stay where they are."""

    what: str
    path: Trajectory
    moving: list[int]  # coordinates that are no elastic ones
    held: dict[int, float]  # velocity index -> value, of coordinates that are held
    channels: dict[int, int]  # velocity index -> channel of the path it follows
    turning: tuple[int, ...] = ()  # velocity indices of a rotation vector among the held ones
    point: int | None = None
    axes: tuple[int, ...] = ()

    def wanted(self, t: float) -> dict[int, float]:
        x = self.path(t)[0]
        return {i: float(x[self.channels[i]]) if i in self.channels else value for i, value in self.held.items()}

    def placed(self, model: Model, q: Array, t: float) -> Array:
        return placed(model, q, self.wanted(t)) if self.held else q

    def closed(self, model: Model, q: Array, t: float) -> Array | None:
        """q moved so that what is held is where the path is at t and all loops are closed, or None."""
        free = [i for i in self.moving if i not in self.held]
        q = self.placed(model, q, t)
        if self.point is None:
            return close(model, q, free, iterations=25)
        return self.pointed(model, q, free, self.path(t)[0])

    def position(self, model: Model, q: Array) -> Array:
        """The components of the point's position that follow the path."""
        return np.asarray(model.call("points", q=q)["position"])[self.point][list(self.axes)]

    def pointed(self, model: Model, q: Array, free: list[int], goal: Array) -> Array | None:
        """Newton's method for loops and point at once."""
        closures = model.mechanism.closures
        loops = loop_rows(model, free)

        def off(q: Array) -> Array:
            return np.concatenate([model.residual(q) if closures else np.zeros(0), self.position(model, q) - goal])

        def rows(q: Array) -> Array:
            point = self.point_rows(model, q)[:, free]
            return np.vstack([loops(q), point]) if closures else point

        found, left = newton(model, q, free, off, rows, reach=0.3, iterations=30)
        return found if float(np.abs(left).max()) < 100 * CLOSED and upright(model, found) else None

    def point_rows(self, model: Model, q: Array) -> Array:
        velocity = model.call("points", q=q, v=np.eye(model.nv))["velocity"]
        return np.asarray(velocity)[:, self.point][:, list(self.axes)].T

    def rows(self, model: Model, q: Array) -> Array:
        """S of S v = rates: the held coordinates, then the point's components."""
        S = model.held(list(self.held))
        return S if self.point is None else np.vstack([S, self.point_rows(model, q)])

    def rates(self, t: float) -> tuple[Array, Array]:
        """What S v and S a (with the point's own bias) have to be at a time."""
        _, xd, xdd = self.path(t)
        rate = {i: xd[k] for i, k in self.channels.items()}
        second = {i: xdd[k] for i, k in self.channels.items()}
        if self.turning and any(i in self.channels for i in self.turning):
            wanted = self.wanted(t)
            r, rd, rdd = (np.array([w.get(i, 0.0) for i in self.turning]) for w in (wanted, rate, second))
            spin, spun = body_rates(r, rd, rdd)
            rate |= dict(zip(self.turning, spin, strict=True))
            second |= dict(zip(self.turning, spun, strict=True))
        v, a = (np.array([w.get(i, 0.0) for i in self.held]) for w in (rate, second))
        return (v, a) if self.point is None else (np.concatenate([v, xd]), np.concatenate([a, xdd]))

    def bias(self, model: Model, q: Array, v: Array) -> Array:
        """S' v: zero for coordinates, the acceleration without a for the point."""
        still = np.zeros(len(self.held))
        if self.point is None:
            return still
        acceleration = np.asarray(model.call("points", q=q, v=v)["acceleration"])
        return np.concatenate([still, acceleration[self.point][list(self.axes)]])

    def reach(self, model: Model, q: Array, t: float) -> Array:
        """From a closed posture to the path's pose at t, in steps that keep the assembly."""
        if self.point is None:
            made = self.closed(model, q, t)
            if made is None:
                raise PoseError(open_loop(model, self.placed(model, q, t), "at the start of the path"))
            return made
        goal = self.path(t)[0]
        way = HeldPostures(model, list(self.held), self.point, self.axes)
        walked = way.walk(q, Goal(self.held, self.point, self.axes, tuple(goal.tolist())))
        if not walked.arrived:
            shown = ", ".join(f"{n} = {x:.6g} m" for n, x in zip(self.path.names, goal, strict=True))
            raise PoseError(
                f"{model.mechanism.name}: {self.what} cannot reach the start of its path, {shown}, straight from home "
                f"(got {walked.share:.0%} of the way, to a singular pose); choose another home, assembly or path"
            )
        return walked.q


def joints_task(model: Model, q: Array, path: Trajectory) -> Task:
    """The actuators follow the path."""
    indices = [model.index(n) for n in path.names]
    held = dict(zip(indices, path(path.start)[0].tolist(), strict=True))
    task = Task("the robot", path, _moving(model), held, {i: k for k, i in enumerate(indices)})
    return at_rest(model, task, q)


def platform_task(model: Model, q: Array, path: Trajectory, start: Mapping[str, float]) -> Task:
    """The platform follows the path; coordinates that the path leaves out are held if the robot can hold them."""
    kinds = {c.name: c.kind for c in model.mechanism.coordinates}
    asked = {n: x for n, x in start.items() if kinds[n] == "platform"}
    held = held_values(model, asked | dict(zip(path.names, path(path.start)[0].tolist(), strict=True)), q)
    channels = {model.index(n): k for k, n in enumerate(path.names)}
    platform = model.mechanism.platform
    frame = model.mechanism.frames[platform] if platform is not None else None
    turning: tuple[int, ...] = ()
    if frame is not None and frame.motion == "spherical":
        turning = tuple(range(frame.v.start, frame.v.stop))
        some = [i for i in turning if i in held]
        if 0 < len(some) < 3:
            names = ", ".join(model.names[i] for i in turning)
            raise SuppleError(f"a path that turns the platform names {names} together, or none of them")
    return at_rest(model, Task("the platform", path, _moving(model), held, channels, turning), q)


def point_task(model: Model, q: Array, path: Trajectory, name: str) -> Task:
    """A point follows the path; a platform that could turn meanwhile keeps its orientation."""
    index = list(model.mechanism.points).index(name)
    axes = tuple("xyz".index(n) for n in path.names)
    task = at_rest(model, Task(f"point {name!r}", path, _moving(model), {}, {}, (), index, axes), q)
    if not len(_loose(model, task, q)):
        return task
    now = values(model, q)
    coordinates = model.mechanism.coordinates
    turns = [i for i, c in enumerate(coordinates) if c.kind == "platform" and c.unit == "rad"]
    kept = replace(task, held={**task.held, **{i: float(now[i]) for i in turns}})
    loose = _loose(model, kept, q)
    if len(loose):
        lost = model.names[task.moving[int(np.abs(loose[-1]).argmax())]]
        raise SuppleError(
            f"{model.mechanism.name}: a path of point {name!r} does not say how {lost!r} moves; "
            "the robot has more freedoms than the path has axes: use space: joints or platform"
        )
    return kept


def at_rest(model: Model, task: Task, q: Array) -> Task:
    """The task with joints held too that nothing drives and that neither a loop nor the path passes, such as a bob on the
    tool: wherever they swing, the actuators follow the path in the same way."""
    moved = np.abs(np.vstack([model.jacobian(q), task.rows(model, q)])).max(axis=0, initial=0.0)
    now = values(model, q)
    idle = [i for i in map(model.index, outside_loops(model.mechanism)) if moved[i] == 0.0]
    return replace(task, held={**task.held, **{i: float(now[i]) for i in idle}})


def _loose(model: Model, task: Task, q: Array) -> Array:
    """(n, moving) the motions that are left when the path is held."""
    A = np.vstack([model.jacobian(q), task.rows(model, q)])[:, task.moving]
    _, s, wt = np.linalg.svd(A)
    return np.asarray(wt[int(np.sum(s > _LOOSE * s.max(initial=0.0))) :])


def _moving(model: Model) -> list[int]:
    return [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
