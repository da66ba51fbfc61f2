"""A model written as source code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from supple.backends.package import counted
from supple.backends.targets import TARGETS
from supple.backends.targets.controller import ControllerParts, write_controller
from supple.backends.targets.files import deliver
from supple.backends.targets.law import write_law
from supple.errors import SuppleError
from supple.expr.passes import Stage
from supple.generator import export_plant
from supple.generator import generate as generated
from supple.machine import USUAL, Machine
from supple.motion.controllers import controlled
from supple.motion.written_shapers import shaped_by
from supple.results import Exported
from supple.simulation.exported_law import exported_law
from supple.simulation.simulator import simulator


def generate(
    robot: Machine,
    model: str,
    target: str,
    folder: Path,
    *,
    derivative: str | None = None,
    structural: str = "viscous",
    motion: str | None = None,
    controller: str | None = None,
    shaper: str | None = None,
    solve_rates: bool = False,
    formulation: str = USUAL,
    report: Callable[[Stage], None] = lambda stage: None,
) -> Exported:
    """A model as source code that checks itself and needs nothing else, written to `folder` by a target; options as of
    `count`. The model `plant` is the robot with its integrator, structural damping as of a simulation (`structural`);
    `controller` that of a motion along its path, shaped."""
    if model == "controller":
        return _controller(robot, target, folder, motion, controller, shaper)
    if motion is not None or controller is not None or shaper is not None:
        raise SuppleError("motion, controller and shaper belong to the model controller")
    if model == "plant":
        if derivative is not None or solve_rates:
            raise SuppleError("a plant holds the whole robot; leave out derivative and solve_rates")
        paths, main = export_plant(robot, target, folder, structural=structural)
        total = {"total": main.operations}
        return Exported(robot.name, model, target, tuple(paths), {"operations": total, "functions": {}})
    if target not in TARGETS:
        raise SuppleError(f"there is no target {target!r}; choose one of {', '.join([*TARGETS, 'fmu'])}")
    made = generated(robot, model, wrt=derivative, solve_rates=solve_rates, formulation=formulation, report=report)
    files = deliver(folder, made.texts(target))
    return Exported(robot.name, model, target, tuple(files), counted(made.optimised.counts))


def _controller(
    robot: Machine, target: str, folder: Path, motion: str | None, controller: str | None, shaper: str | None
) -> Exported:
    """The controller of a motion, its path shaped, written in C."""
    if target != "c":
        raise SuppleError(f"a controller is written for c, not for {target!r}")
    read = robot.motion(motion)
    read = shaped_by(read, shaper) if shaper is not None else read
    read = controlled(read, controller) if controller is not None else read
    law = read.controller
    if law is None:
        raise SuppleError(f"{read.name!r} has no controller; give one, as in pd:kp=1e4,kd=200,sample=1 ms")
    if law.own is not None:
        files = write_law(exported_law(simulator(robot, read)), folder)
        return Exported(robot.name, "controller", target, tuple(files), {"operations": {"total": 0}})
    if law.law == "computed_torque" or not law.sample:
        raise SuppleError("a controller in C is pd or pid with a sample time, as in pd:kp=1e4,kd=200,sample=1 ms")
    made = simulator(robot, read).drive
    assert made.reference is not None and made.gains is not None
    names = tuple(read.driven("controlled"))
    if len(names) != len(read.drives):
        raise SuppleError(f"{read.name!r} does not give all actuators to its controller; that is not written in C")
    about = f"{law.law} along {read.name}" + (f", shaped by {read.shaper.law}" if read.shaper is not None else "")
    parts = ControllerParts(robot.name, about, names, made.reference, made.gains, law.sample)
    return Exported(robot.name, "controller", target, tuple(write_controller(parts, folder)), {"operations": {"total": 0}})
