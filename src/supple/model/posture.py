"""Closing the loops: from joint values or a platform pose to a posture in which every loop is shut."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.model.algebra import Array, least_squares, one_thread
from supple.model.model import Model, rotation_vector, turned

CLOSED = 1e-12  # m or rad


def start(model: Model, assembly: str | None = None) -> Array:
    """The assembly guess of the robot file, loops still open."""
    mechanism = model.mechanism
    if assembly is not None and assembly not in mechanism.start:
        known = ", ".join(mechanism.start)
        raise SuppleError(f"{mechanism.name} has no assembly mode {assembly!r}; it has: {known}")
    guess = mechanism.start[assembly or next(iter(mechanism.start))]
    q = np.zeros(mechanism.nq)
    for index, frame in enumerate(mechanism.frames):
        if frame.motion == "spherical":
            own = index == mechanism.platform and mechanism.orientation is not None
            q[frame.q] = mechanism.orientation if own else (1.0, 0.0, 0.0, 0.0)
            q[frame.q] = turned(q[frame.q], _guessed(model, frame.v, guess))
        else:
            q[frame.q] = _guessed(model, frame.v, guess)
    return q


def _guessed(model: Model, part: slice, guess: Mapping[str, Any]) -> Array:
    return np.array([float(guess.get(c.name, 0)) for c in model.mechanism.coordinates[part]])


def values(model: Model, q: Array) -> Array:
    """One number per velocity coordinate: q itself, and rotation vectors for spherical joints."""
    made = np.zeros(model.nv)
    for frame in model.mechanism.frames:
        made[frame.v] = rotation_vector(q[frame.q]) if frame.motion == "spherical" else q[frame.q]
        made[frame.ev] = q[frame.e]
    return made


@one_thread
def posture(model: Model, at: Mapping[str, float] | None = None, assembly: str | None = None) -> Array:
    """The undeformed, closed posture with the given joint values or platform pose; the rest comes from home."""
    q = start(model, assembly)
    wanted = held_values(model, at or {}, q)
    free = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic" and i not in wanted]
    if not model.mechanism.closures:
        return placed(model, q, wanted, 1.0)
    direct = close(model, placed(model, q, wanted, 1.0), free)
    if direct is not None:
        return direct
    joints = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
    shut = close(model, q, joints)
    if shut is None:
        raise PoseError(open_loop(model, q, "at the assembly guess of the file; change assembly: in the robot file"))
    return _walk(model, shut, wanted, free)


def held_values(model: Model, at: Mapping[str, float], q: Array) -> dict[int, float]:
    """Velocity index -> value to hold, from what was asked and the home pose."""
    names, kinds = model.names, {c.name: c.kind for c in model.mechanism.coordinates}
    for name in at:
        if name not in names:
            close_names = get_close_matches(name, names, n=1)
            joints = [n for n in names if kinds[n] != "elastic"]
            hint = f"did you mean {close_names[0]!r}?" if close_names else f"it has: {', '.join(joints[:24])}"
            raise SuppleError(f"{model.mechanism.name} has no coordinate {name!r}; {hint}")
        if kinds[name] == "elastic":
            raise SuppleError(f"{name!r} is an elastic coordinate; a pose is given by joints or by the platform")
    asked = {k: float(v) for k, v in at.items()}
    platform = [n for n in asked if kinds[n] == "platform"]
    if platform:
        others = [n for n in asked if kinds[n] != "platform"]
        if others:
            raise SuppleError(
                f"give either the platform's pose ({platform[0]}, ...) or joint values ({others[0]}, ...), not both"
            )
        current = values(model, q)
        rest = {n: float(current[names.index(n)]) for n in names if kinds[n] == "platform"}
        rest |= {n: float(v) for n, v in model.mechanism.home.items() if kinds[n] == "platform"}
        held = _solvable(model, rest | asked, asked)
        return {names.index(n): x for n, x in held.items()}
    if all(kinds[n] == "active" for n in asked):
        home = {n: float(x) for n, x in model.mechanism.home.items()}
        if any(kinds[n] == "platform" for n in home) and not asked:
            return held_values(model, {n: x for n, x in home.items() if kinds[n] == "platform"}, q)
        asked = {n: home.get(n, float(values(model, q)[names.index(n)])) for n in names if kinds[n] == "active"} | asked
    return {names.index(n): x for n, x in asked.items()}


def _solvable(model: Model, whole: dict[str, float], asked: dict[str, float]) -> dict[str, float]:
    """The platform coordinates to hold: all of a robot with as many actuators, else only those that were asked."""
    return whole if len(model.active) >= len(whole) else asked


def placed(model: Model, q: Array, wanted: Mapping[int, float], share: float) -> Array:
    """q with the wanted coordinates moved by a share of the way to their values."""
    now = values(model, q)
    made = q.copy()
    for frame in model.mechanism.frames:
        own = range(frame.v.start, frame.v.stop)
        if not any(i in wanted for i in own):
            continue
        goal = np.array([wanted.get(i, now[i]) for i in own])
        if frame.motion == "spherical":
            made[frame.q] = turned(np.array([1.0, 0, 0, 0]), now[frame.v] + share * (goal - now[frame.v]))
        else:
            made[frame.q] = now[frame.v] + share * (goal - now[frame.v])
    return made


def close(model: Model, q: Array, free: list[int], iterations: int = 60) -> Array | None:
    """q with the free coordinates moved so that all loops close, or None if they do not."""
    if not model.mechanism.closures:
        return q
    directions = np.eye(model.nv)[free]
    residual = model.residual(q)
    error = float(np.abs(residual).max())
    for _ in range(iterations):
        if error < CLOSED:
            break
        gradient = model.call("closure_gradient", q=q, direction=directions)["residual"].T
        step = np.zeros(model.nv)
        step[free] = least_squares(gradient, -residual)
        step *= min(1.0, 0.6 / max(float(np.abs(step).max()), 1e-30))
        for _ in range(8):
            trial = model.retract(q, step)
            trial_residual = model.residual(trial)
            trial_error = float(np.abs(trial_residual).max())
            if trial_error < error or trial_error < CLOSED:
                break
            step *= 0.5
        else:
            break
        q, residual, error = trial, trial_residual, trial_error
    upright = model.call("closure", q=q)["alignment"]
    return q if error < 100 * CLOSED and bool(np.all(upright > 0)) else None


def _walk(model: Model, q: Array, wanted: Mapping[int, float], free: list[int]) -> Array:
    """From a closed posture to the wanted values in steps, staying closed: keeps the assembly mode."""
    done, step = 0.0, 0.25
    while done < 1.0:
        step = min(step, 1.0 - done)
        ahead = close(model, placed(model, q, wanted, step / (1.0 - done)), free, iterations=15)
        if ahead is None:
            step *= 0.5
            if step < 1e-3:
                goal = ", ".join(f"{model.names[i]}={x:g}" for i, x in list(wanted.items())[:6])
                stuck = placed(model, q, wanted, 1.0)
                raise PoseError(
                    open_loop(model, stuck, f"at {goal}; the pose is out of reach (reached {done:.0%} of the way)")
                )
        else:
            q, done = ahead, done + step
            step *= 2.0
    return q


def open_loop(model: Model, q: Array, where: str) -> str:
    """Words for loops that do not close: which one, by how much."""
    joints = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind in ("passive",)]
    best, residual = q, model.residual(q)
    for _ in range(40):
        gradient = model.call("closure_gradient", q=best, direction=np.eye(model.nv)[joints])["residual"].T
        step = np.zeros(model.nv)
        step[joints] = least_squares(gradient, -residual)
        step *= min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-30))
        trial = model.retract(best, step)
        if np.linalg.norm(model.residual(trial)) > np.linalg.norm(residual) * (1 - 1e-6):
            break
        best, residual = trial, model.residual(trial)
    at, worst = 0, ("", 0.0)
    for closure in model.mechanism.closures:
        size = float(np.linalg.norm(residual[at : at + len(closure.forbidden)]))
        at += len(closure.forbidden)
        if size > worst[1]:
            worst = (closure.name, size)
    if worst[1] < 1e-9:
        return f"{model.mechanism.name}: the loops close only with a joint upside down {where}"
    gap = f"its ends stay {worst[1]:.3g} m (or rad) apart"
    return f"{model.mechanism.name}: the loop {worst[0]!r} cannot close {where}; {gap}"
