"""Loops that grow without bound: a controller without a force limit that sends its actuators off the path, told early."""

from __future__ import annotations

from math import pi

import numpy as np

from supple.model.algebra import Array
from supple.simulation.groups import Group
from supple.simulation.simulator import Simulator

_AHEAD = 10  # samples of the controller
_CONTINUOUS = 1e-3  # s, instead of a sample


def runaway(simulator: Simulator, group: Group, samples: Array) -> str:
    """Which actuator is lost, in words: off its path by a turn (or the robot's reach) now, or in a few samples of its
    controller if it goes on as it moves; empty if none is. Of `samples` (count, lanes, row), and of the moment. With a force
    limit loops chatter, and weak actuators may well be off their path: nothing is said of them."""
    control, path, drive, plant = simulator.motion.controller, simulator.path, simulator.drive, group.stepper.plant
    if control is None or path is None or drive.gains is None:
        return ""
    rows = np.concatenate([samples, group.state.row()[None]])
    live = group.state["live"][: group.stepper.lanes] > 0
    q, v, effort = (rows[:, live, group.stepper.sample[name]] for name in ("q", "v", "effort"))
    wanted, speed = path(rows[:, 0, 0])[:2]
    ahead = _AHEAD * (control.sample or _CONTINUOUS)
    active = [simulator.model.names[i] for i in simulator.model.active]
    others = [name for name in active if name not in simulator.prescribed]
    for i, (name, place) in enumerate(zip(others, plant.torque, strict=True)):
        if drive.gains[i, 3] > 0 or name not in path.names or simulator.motion.drives.get(name) != "controlled":
            continue
        k = path.names.index(name)
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.abs(q[..., place.q] - wanted[:, k, None]) + ahead * np.abs(v[..., place.v] - speed[:, k, None])
        if not off.max() <= (2 * pi if place.angle else plant.reach):
            return (
                f"the loop grows without bound: {name} leaves its path at {np.abs(v[..., place.v]).max():.3g} "
                f"{'rad/s' if place.angle else 'm/s'}, its force at {np.abs(effort[..., i]).max():.3g} "
                f"{'N m' if place.angle else 'N'}; lower the gains, sample faster, or give a force limit"
            )
    return ""
