"""How far points are from where a motion wants them."""

from __future__ import annotations

import numpy as np

from supple.model import observe
from supple.model.algebra import Array
from supple.model.followers import undeformed_places
from supple.motion.trajectory import Trajectory
from supple.simulation.partition import coordinate_places
from supple.simulation.simulator import Simulator
from supple.simulation.starts import Run


def tool_errors(simulator: Simulator, time: Array, parts: dict[str, Array]) -> dict[str, list[Array]]:
    """By run, errors of the named points (times, points, 3), which shall be where the rigid robot has them with its
    actuators on the path. Empty where actuators are prescribed: errors are what the robot bends."""
    motion, path = simulator.motion, simulator.path
    idle = path is None or not (motion.driven("controlled") or motion.wanted is not None)
    if idle or not simulator.model.mechanism.points:
        return {}
    wanted = motion.wanted or path
    assert wanted is not None
    return {"tool_error": [_of_points(run, wanted, time, parts["q"][:, k]) for k, run in enumerate(simulator.runs)]}


def _of_points(run: Run, wanted: Trajectory, time: Array, q: Array) -> Array:
    model = run.model
    places, values = coordinate_places(model.mechanism), wanted(time)[0]
    asked = q.copy()
    for i in model.active:
        if model.names[i] in wanted.names:
            asked[:, places[i].q] = values[:, wanted.names.index(model.names[i])]
    still = np.zeros((len(time), model.nv))
    there = np.moveaxis(undeformed_places(model, asked)[0], -1, 0)
    made: Array = there - observe.points(model, q, still, still)["position"]
    return made
