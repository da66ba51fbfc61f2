"""Displacements of a sensor under a static force, pose by pose: the distance of two equilibria of the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.measured.test import Channel
from supple.model.algebra import Array
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import posture


def static_displacements(
    model: Model, poses: Sequence[Mapping[str, float]], exciter: Channel, force: float, outputs: Sequence[Channel],
    assembly: str | None = None,
) -> Array:  # fmt: skip
    """What outputs (columns) move in every pose (rows) when the force is put on, actuators held; finite displacements."""
    names = list(model.mechanism.points)
    made = np.zeros((len(poses), len(outputs)))
    for row, at in enumerate(poses):
        straight = posture(model, dict(at), assembly)
        bare = equilibrium(model, straight)
        first = model.call("points", q=bare.q)
        w = np.zeros((len(names), 6))
        k = names.index(exciter.place)
        w[k, :3] = force * (first["rotation"][k] if exciter.in_link else np.eye(3)) @ exciter.vector
        second = model.call("points", q=equilibrium(model, bare.q, w=w).q)
        for column, channel in enumerate(outputs):
            k = names.index(channel.place)
            R = first["rotation"][k] if channel.in_link else np.eye(3)
            made[row, column] = (R @ channel.vector) @ (second["position"][k] - first["position"][k])
    return made
