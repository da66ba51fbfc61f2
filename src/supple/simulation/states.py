"""States of a robot along a motion that its actuators follow: how joints move and bodies bend meanwhile."""

from __future__ import annotations

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.observe import postures_of
from supple.motion.description import Motion
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator


def run_along(robot: Machine, motion: Motion, every: float) -> Simulation:
    """The Simulation of a robot whose actuators follow a motion to its end, with the forces that this takes."""
    result = integrate(simulator(robot, motion), Settings("radau", 0.0, 0.0, every=every))
    if not result.complete:
        raise SuppleError(f"{robot.name}: the motion {motion.name!r} cannot be followed: {result.outcome}")
    return result


def states_of(robot: Machine, run: Simulation) -> tuple[Array, Array, Array]:
    """q (with quaternions of ball joints), v and a of every sample of a run."""
    return postures_of(robot.model(), run["position"]), run["velocity"], run["acceleration"]
