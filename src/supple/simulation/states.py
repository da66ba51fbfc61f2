"""States of a robot along a motion that its actuators follow: how joints move and bodies bend meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.observe import postures_of
from supple.motion.description import Motion
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator


def run_along(robot: Machine, motion: Motion, every: float) -> Simulation:
    """The Simulation of a robot whose actuators follow a motion to its end, with the forces that this takes."""
    return _whole(simulator(robot, motion), every)


def _whole(made: Simulator, every: float) -> Simulation:
    result = integrate(made, Settings("radau", 0.0, 0.0, every=every))
    if not result.complete:
        raise SuppleError(f"{result.robot}: the motion {result.motion!r} cannot be followed: {result.outcome}")
    return result


def runs_along(robot: Machine, motion: Motion, every: float, names: Sequence[str]) -> Callable[[Array], list[Simulation]]:
    """A function of designs (rows of values of the named parameters) that gives the Simulation of each, side by side where
    the parameters can be varied within one simulation."""

    def runs(designs: Array) -> list[Simulation]:
        if len(designs) > 1:
            vary = {name: column.tolist() for name, column in zip(names, designs.T, strict=True)}
            try:
                together = simulator(robot, motion, vary=vary)
            except SuppleError:  # these cannot be symbols
                pass
            else:
                return _apart(_whole(together, every))
        changes = [dict(zip(names, row.tolist(), strict=True)) for row in designs]
        return [run_along(robot.changed(own), motion, every) for own in changes]

    return runs


def _apart(result: Simulation) -> list[Simulation]:
    """The runs of an ensemble, each as a Simulation of its own."""
    made = []
    for k in range(len(result.axes["run"])):
        own = {
            key: replace(s, values=s.values[:, k], dims=s.dims[1:]) if "run" in s.dims else s
            for key, s in result.signals.items()
        }
        made.append(replace(result, signals=own))
    return made


def states_of(robot: Machine, run: Simulation) -> tuple[Array, Array, Array]:
    """q (with quaternions of ball joints), v and a of every sample of a run."""
    return postures_of(robot.model(), run["position"]), run["velocity"], run["acceleration"]
