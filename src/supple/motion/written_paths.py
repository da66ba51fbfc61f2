"""Paths as a file writes them, made into trajectories: moves, waypoints, circles, signals on channels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.motion import paths
from supple.motion.channels import Setting
from supple.motion.profiles import INFINITY, PROFILES, Bounds, straight
from supple.motion.trajectory import Trajectory
from supple.motion.written_signals import signal
from supple.robot import motions as spec
from supple.robot.geometry import direction
from supple.robot.yaml_tree import Path_

ORDERS = {"speed": 1, "acceleration": 2, "jerk": 3}


class Paths:
    """Reader of one motion's path: its channels, and where they start."""

    def __init__(self, setting: Setting, known: list[str], what: str, start: Mapping[str, float], path: Path_) -> None:
        self.setting = setting
        self.known = known  # channels of the space
        self.what = what  # what a channel is called
        self.start = start
        self.path = path

    def read(self, motion: spec.Motion, duration: float | None, until: float | None = None) -> Trajectory | None:
        """The path a motion writes, or None; its problems are noted. What follows after `until` may be left out."""
        if motion.moves is not None:
            return self.moves(motion.moves)
        if motion.waypoints is not None:
            return self.waypoints(motion.waypoints, motion.through)
        if motion.circle is not None:
            return self.circle(motion.circle, until)
        if motion.signals is not None:
            return self.signals(motion.signals, duration)
        return None

    def pose(self, values: Mapping[str, Any], *path: Any) -> dict[str, float]:
        return self.setting.pose(values, self.known, self.what, (*self.path, *path))

    def begin(self, names: list[str], *path: Any) -> np.ndarray[Any, Any]:
        """Where the channels start; a channel whose start nobody says is noted."""
        lacking = [n for n in names if n not in self.start]
        if lacking:
            text = f"nothing says where {', '.join(lacking)} start; add start: {{{lacking[0]}: ...}} to the motion"
            text += " (supple check prints where they are at home)"
            self.setting.note((*self.path, *path), text)
        return np.array([self.start.get(n, 0.0) for n in names])

    # Moves ----------------------------------------------------------------------------------------------------------

    def moves(self, moves: list[spec.Move]) -> Trajectory | None:
        goals = [self.pose(m.to or m.by or {}, "moves", k, "to" if m.to else "by") for k, m in enumerate(moves)]
        names = [n for n in self.known if any(n in goal for goal in goals)]
        if not names:
            if not self.setting.scope.problems:
                self.setting.note((*self.path, "moves"), f"no move names {_article(self.what)} to move")
            return None
        here, parts = self.begin(names, "moves"), []
        for k, (move, goal) in enumerate(zip(moves, goals, strict=True)):
            path: Path_ = (*self.path, "moves", k)
            if move.rest is not None:
                parts.append(Trajectory.held(names, here, self.setting.number(move.rest, "time", (*path, "rest"))))
                continue
            change = np.array([goal.get(n, 0.0) for n in names])
            there = here + change if move.by else np.array([goal.get(n, x) for n, x in zip(names, here, strict=True)])
            try:
                part = self.move(move, names, here, there, path)
            except SuppleError as error:
                self.setting.note(path, str(error))
                continue
            parts += [part] if part is not None else []
            here = there
        return Trajectory.joined(parts) if parts else None

    def move(self, move: spec.Move, names: list[str], here: Any, there: Any, path: Path_) -> Trajectory | None:
        options: dict[str, Any] = {}
        for key in ("duration", "acceleration_time", "jerk_time"):
            if getattr(move, key) is not None:
                options[key] = self.setting.number(getattr(move, key), "time", (*path, key))
        if move.limits is not None:
            way = np.abs(there - here)
            if not way.any():
                return None  # nowhere to go
            options["bounds"] = self.bounds(move.limits, dict(zip(names, way.tolist(), strict=True)), path)
        allowed = {"quintic": (), "trapezoidal": ("acceleration_time",)}.get(
            move.profile, ("acceleration_time", "jerk_time")
        )
        for key in ("acceleration_time", "jerk_time"):
            if key in options and (key not in allowed or move.limits is not None):
                other = "a move within limits" if move.limits is not None else f"a {move.profile} move"
                raise SuppleError(f"{other} has no {key}; leave it out")
        return straight(names, here, there, PROFILES[move.profile](**options))

    def bounds(self, limits: spec.Limits, way: Mapping[str, float], path: Path_) -> Bounds:
        """Limits of every channel as bounds of the share of the way that they run together."""
        found: dict[str, float] = {}
        for key, order in ORDERS.items():
            given, here = getattr(limits, key), (*path, "limits", key)
            if given is None:
                continue
            if isinstance(given, dict):
                each = self.setting.pose(given, self.known, self.what, here, order)
            else:
                each = {n: self.setting.number(given, self.setting.dimension(n, order), here) for n in way}
            found[key] = min([each[n] / x for n, x in way.items() if x > 0 and n in each], default=INFINITY)
        return Bounds(**found)

    # Waypoints and circles ----------------------------------------------------------------------------------------

    def waypoints(self, waypoints: list[spec.Waypoint], through: str) -> Trajectory | None:
        poses = [self.pose(w.to, "waypoints", k, "to") for k, w in enumerate(waypoints)]
        times = [self.setting.number(w.time, "time", (*self.path, "waypoints", k, "time")) for k, w in enumerate(waypoints)]
        names = [n for n in self.known if any(n in p for p in poses)]
        for k, pose in enumerate(poses):
            lacking = [n for n in names if n not in pose]
            if lacking:
                text = f"leaves out {', '.join(lacking)}; every waypoint names the same channels"
                self.setting.note((*self.path, "waypoints", k, "to"), text)
        if not names or self.setting.scope.problems:
            return None
        x = [[pose[n] for n in names] for pose in poses]
        if times[0] > 0:
            times, x = [0.0, *times], [self.begin(names, "waypoints").tolist(), *x]
        try:
            return (paths.spline if through == "spline" else paths.stops)(names, times, x)
        except SuppleError as error:
            self.setting.note((*self.path, "waypoints"), str(error))
            return None

    def circle(self, circle: spec.Circle, until: float | None) -> Trajectory | None:
        setting, path = self.setting, (*self.path, "circle")
        names = self.circle_channels(circle, path)
        if len(names) != len(circle.centre):
            setting.note((*path, "centre"), f"needs {len(names)} values ({', '.join(names)}); has {len(circle.centre)}")
            return None
        dimension = setting.dimension(names[0])
        centre = [setting.number(c, setting.dimension(n), (*path, "centre", k))
                  for k, (n, c) in enumerate(zip(names, circle.centre, strict=True))]  # fmt: skip
        radius = setting.number(circle.radius, dimension, (*path, "radius"))
        if circle.speed is not None:
            rate = setting.number(circle.speed, setting.dimension(names[0], 1), (*path, "speed")) / radius
        else:
            rate = 2 * math.pi / setting.number(circle.period, "time", (*path, "period"))
        first, second = self.directions(circle, len(names), path)
        turns, start = (
            setting.number(circle.turns, "number", (*path, "turns")),
            setting.number(circle.start, "angle", (*path, "start")),
        )
        run_up = None if circle.run_up is None else setting.number(circle.run_up, "time", (*path, "run_up"))
        try:
            return paths.circle(names, centre, radius * first, radius * second, rate, turns, start, run_up, until)
        except SuppleError as error:
            setting.note(path, str(error))
            return None

    def circle_channels(self, circle: spec.Circle, path: Path_) -> list[str]:
        if circle.plane is not None:
            named = [
                self.setting.expanded(n, self.known, self.what, (*path, "plane", k)) for k, n in enumerate(circle.plane)
            ]
            return [n for part in named for n in part]
        axes = self.setting.axes()
        if not set(axes) <= set(self.known):
            self.setting.note(path, f"a circle needs plane: the two {self.what}s that make it")
            return []
        return axes

    def directions(self, circle: spec.Circle, size: int, path: Path_) -> tuple[Any, Any]:
        """Two unit vectors that span the circle: of its plane's channels, or across its axis (the first nearest to x)."""
        if size == 2:
            if circle.axis is not None:
                self.setting.note((*path, "axis"), "a circle of two channels has no axis; leave it out")
            return np.array([1.0, 0.0]), np.array([0.0, 1.0])
        given: Any = circle.axis or "z"
        if not isinstance(given, str):
            given = [self.setting.number(x, "number", (*path, "axis", k)) for k, x in enumerate(given)]
            if not any(given):
                self.setting.note((*path, "axis"), "must not be zero")
                given = "z"
        axis = np.array([float(x) for x in direction(given)])
        near = np.eye(3)[0 if abs(axis[0]) < 0.9 else 1]
        first = near - axis * (axis @ near)
        first /= np.linalg.norm(first)
        return first, np.cross(axis, first)

    def signals(self, written: Mapping[str, Any], duration: float | None) -> Trajectory | None:
        if duration is None:
            self.setting.note((*self.path, "signals"), "needs to know how long: add duration: to the motion")
            return None
        parts = []
        for key, one in written.items():
            path: Path_ = (*self.path, "signals", key)
            for name in self.setting.expanded(key, self.known, self.what, path):
                made = signal(one, self.setting.dimension(name), duration, self.setting, path, position=True)
                c = np.array(made.coefficients)
                c[:, 0, 0] += self.begin([name], "signals", key)[0]
                parts.append(Trajectory((name,), made.knots, c, made.breaks))
        return Trajectory.together(parts) if parts else None


def _article(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
