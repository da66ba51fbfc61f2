"""Computed torque of the flexible robot: what bodies do is foreseen before the run, errors are met during it.

The inverse of the flexible robot along the whole motion (`inversion`) gives the path of the actuators on which a point or
the platform stays on its own path, and the forces for it. A controller in the loop follows that path,

    tau = rigid inverse (q, q', a_path + kd e' + kp e) + (flexible - rigid inverse on the path),

with the error dynamics, and so the bandwidth, of the rigid computed torque. No deformation need be measured; where it is,
readings off those foreseen change path and forces (`learning`).
"""

from __future__ import annotations

from dataclasses import replace

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.motion.description import Motion
from supple.motion.paths import interpolated
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.inversion import inverted
from supple.simulation.learning import Foreseen, check_measured, learning
from supple.simulation.simulator import simulator


def foreseen(robot: Machine, motion: Motion, every: float = 1e-3, structural: str = "viscous") -> Motion:
    """The motion with the path and the forces that a computed torque of the flexible robot asks for, sampled every so many
    seconds; one without such a controller as it is."""
    control = motion.controller
    if control is None or control.model != "flexible":
        return motion
    if set(motion.drives.values()) != {"controlled"} or motion.torques is not None:
        raise SuppleError(
            f"{motion.name!r}: a flexible computed_torque drives all actuators by itself; leave drive and torques out"
        )
    if not every > 0:
        raise SuppleError("every: a flexible computed_torque foresees the motion at samples; give the time between them")
    if control.measured is not None:
        check_measured(robot, control.measured)

    def seen(own: Machine, asked: Motion) -> tuple[Foreseen, list[str]]:
        led, said = _led(own, asked, every, structural)
        run = _along(own, led, every, structural)
        stiff = _along(robot, led, every, None)
        return Foreseen(own, led, run, run["tau"] - stiff["tau"]), said

    found, said = seen(robot, motion)
    forces = interpolated([f"tau {n}" for n in found.run.axes["actuator"]], found.run.time, found.forces)
    learnt = None
    if control.measured is not None:
        same = replace(motion, controller=replace(control, lead=(found.led.duration - motion.duration) / 2))
        learnt = learning(
            found, control.measured, control.sample, lambda own: seen(own, same)[0],
            lambda own, led: _along(own, led, every, structural),
        )  # fmt: skip
    made = replace(control, model="rigid", of=None, measured=None, learnt=learnt)
    return replace(found.led, controller=made, drives=motion.drives, torques=forces, notices=(*motion.notices, *said))


def _along(robot: Machine, led: Motion, every: float, structural: str | None) -> Simulation:
    """The flexible robot, or (structural: None) the rigid one, with its actuators on their path."""
    if structural is None:
        run = integrate(simulator(robot, led, rigid=True), Settings(every=every), accept=True)
    else:
        run = integrate(simulator(robot, led, structural=structural), Settings("radau", every=every), accept=True)
    if not run.complete:
        raise SuppleError(f"{led.name!r} cannot be foreseen: {run.outcome}")
    return run


def _led(robot: Machine, motion: Motion, every: float, structural: str) -> tuple[Motion, list[str]]:
    """The motion of prescribed actuators that leads what shall follow its path, with words for how well."""
    control = motion.controller
    of = (control and control.of) or motion.point or ("platform" if motion.space == "platform" else None)
    if of is not None:
        lead = None if control is None else control.lead
        found = inverted(robot, motion, of, every=every, lead=lead, structural=structural)
        return found.motion, [found.sentence(of)]
    still = replace(motion, controller=None, drives=dict.fromkeys(motion.drives, "prescribed"))
    made = simulator(robot, still, rigid=True)
    if made.stop is not None or made.path is None:
        raise SuppleError(made.stop or f"{motion.name!r} has no path to follow")
    return replace(made.motion, path=made.path, shaper=None), []
