"""Displacements of a sensor under a static force, pose by pose: the distance of two equilibria of the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.errors import PoseError
from supple.measured.held import Held
from supple.measured.parametric import ParametricModel, Shifted
from supple.measured.reduced import PoseModel
from supple.measured.test import Channel
from supple.model.algebra import Array, one_thread
from supple.model.closing import values
from supple.model.equilibrium import Equilibrium, Servos, equilibrium
from supple.model.model import Model
from supple.model.posture import posture

Points = Mapping[str, Array]


def static_displacements(
    model: Model, poses: Sequence[Mapping[str, float]], exciter: Channel, force: float, outputs: Sequence[Channel],
    assembly: str | None = None,
) -> Array:  # fmt: skip
    """What outputs (columns) move in every pose (rows) when the force is put on, actuators held, or by their servos; finite
    displacements."""
    made = np.zeros((len(poses), len(outputs)))
    for row, at in enumerate(poses):
        bare = equilibrium(model, posture(model, dict(at), assembly))
        first = model.call("points", q=bare.q)
        w = _wrench(model, first, exciter, force)
        second = model.call("points", q=equilibrium(model, bare.q, servos=servos_at(model, bare), w=w).q)
        made[row] = _moved(model, first, second, outputs)
    return made


def servos_at(model: Model, rest: Equilibrium) -> Servos | None:
    """The servos of a robot that hold it at rest; none where its actuators do not give way."""
    if not model.servos:
        return None
    force = dict(zip(model.active.tolist(), rest.tau.tolist(), strict=True))
    return Servos(model.servos, values(model, rest.q), {i: force[i] for i in model.servos})


def _wrench(model: Model, at: Points, exciter: Channel, force: float) -> Array:
    """(points, 6) wrenches of a force along an exciter as it points at rest, or their change with its axes."""
    w = np.zeros((len(model.mechanism.points), 6))
    k = list(model.mechanism.points).index(exciter.place)
    w[k, :3] = force * (at["rotation"][k] @ exciter.vector if exciter.in_link else exciter.vector)
    return w


def _moved(model: Model, first: Points, second: Points, outputs: Sequence[Channel]) -> Array:
    """Displacements between points of two postures along outputs, as these point in the first."""
    made, names = np.zeros(len(outputs)), list(model.mechanism.points)
    for column, channel in enumerate(outputs):
        k = names.index(channel.place)
        along = first["rotation"][k] @ channel.vector if channel.in_link else channel.vector
        made[column] = along @ (second["position"][k] - first["position"][k])
    return made


class StaticPose:
    """A robot with kept parameters pressed in one pose: displacements and their exact slopes by the parameters.

    at: has the exciter as its only input, and what is watched as outputs."""

    def __init__(self, at: PoseModel, force: float) -> None:
        self.at, self.force = at, force
        self.near: Array | None = None

    @one_thread
    def moved(self, p: Array, directions: Array) -> tuple[Array, Array]:
        """Displacements (outputs), and derivatives (outputs, directions) along changes (rows) of the parameters."""
        self.at.evaluations += 1
        model = self.at.family.at(p)
        rest = self.at.rest(model)
        first = model.call("points", q=rest.q)
        w = _wrench(model, first, self.at.inputs[0], self.force)
        pressed = self._pressed(model, rest, w)
        second = model.call("points", q=pressed.q)
        slopes = np.zeros((len(self.at.outputs), len(directions)))
        if len(directions):
            held = self._held(model, rest, pressed, w)
            for k, dp in enumerate(directions):
                slopes[:, k] = self._slope(model, *held, dp, first, second)
        return _moved(model, first, second, self.at.outputs), slopes

    def _pressed(self, model: ParametricModel, rest: Equilibrium, w: Array) -> Equilibrium:
        servos = servos_at(model, rest)
        try:
            found = equilibrium(model, rest.q if self.near is None else self.near, servos=servos, w=w)
        except PoseError:
            if self.near is None:
                raise
            found = equilibrium(model, rest.q, servos=servos, w=w)
        self.near = None if self.at.family.geometric else found.q
        return found

    def _held(self, model: ParametricModel, rest: Equilibrium, pressed: Equilibrium, w: Array) -> tuple[Held, Held]:
        """How both equilibria move."""
        straight, given = self.at.straight, list(self.at.pose.at)
        before = Held(model, rest, model.stiffness(rest.q, rest.reactions), straight, given)
        K = model.stiffness(pressed.q, pressed.reactions, w=w)
        for i, k in model.servos.items():
            K[i, i] += k
        still = [i for i in model.active.tolist() if i not in model.servos]
        return before, Held(model, pressed, K, straight, given, still, w)

    def _slope(self, model: ParametricModel, before: Held, after: Held, dp: Array, first: Points, second: Points) -> Array:
        """Changes of the displacements along a change of the parameters."""
        dq, forces = before.shift(dp)
        moved_first = _points(model, before, dq, dp)
        dw = _wrench(model, moved_first, self.at.inputs[0], self.force if self.at.inputs[0].in_link else 0.0)
        pulled = np.zeros(model.nv)
        held = forces[len(before.rest.reactions) :]
        now = values(model, after.rest.q) - values(model, before.rest.q)
        by = Shifted(model, before.rest.q, before.rest.reactions, dq, forces[: len(before.rest.reactions)], dp).servos()
        for i, k in model.servos.items():
            pulled[i] = by.get(i, 0.0) * now[i] - k * dq[i] - held[before.still.index(i)]
        moved_second = _points(model, after, after.shift(dp, pulled, dw)[0], dp)
        made = _moved(model, {**moved_first, "rotation": first["rotation"]}, moved_second, self.at.outputs)
        turned = [c if c.in_link else None for c in self.at.outputs]
        names = list(model.mechanism.points)
        for column, channel in enumerate(turned):
            if channel is not None:
                k = names.index(channel.place)
                made[column] += (moved_first["rotation"][k] @ channel.vector) @ (second["position"] - first["position"])[k]
        return made


def _points(model: ParametricModel, held: Held, dq: Array, dp: Array) -> Points:
    """Derivatives of positions and axes of points along a change of coordinates and parameters."""
    none = np.zeros(len(held.rest.reactions))
    return Shifted(model, held.rest.q, held.rest.reactions, dq, none, dp).call("points")
