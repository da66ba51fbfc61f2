"""Forces that make a robot follow a motion, and how its bodies bend meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import USUAL, Machine
from supple.motion.description import Motion
from supple.motion.measured_table import read_measured
from supple.motion.table import rows_of
from supple.motion.written_shapers import shaped_by
from supple.results import Simulation
from supple.robot.written import Written, seconds
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator
from supple.storage import columns, save
from supple.storage.measured import beside


def inverse(
    robot: Machine,
    motion: str | Path | Motion | None = None,
    *,
    duration: Written | None = None,
    quasi_static: bool = False,
    shaper: str | None = None,
    tol: float | None = None,
    every: Written = "1 ms",
    rigid: bool = False,
    formulation: str = USUAL,
    structural: str = "viscous",
    filter: float | None = None,
    against: str | Path | None = None,
    accept: bool = False,
    output: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Forces and torques that make the actuators follow a motion, as the signal `tau`, and how the bodies bend.

    quasi_static: bodies bend as the loads of the moment ask, without vibrating. Other options are those of `simulate`."""
    if against is not None:
        rows_of(Path(against), str(against))  # what cannot be read is told before the work
    if tol is not None and not tol > 0:
        raise SuppleError(f"tol {tol:g}: must be above zero")
    end, between = seconds(duration, "duration"), seconds(every, "every") or 0.0
    read = motion if isinstance(motion, Motion) else robot.motion(motion, end, filter)
    if filter is not None and isinstance(motion, Motion):
        raise SuppleError("filter: a Motion is filtered when it is read; give its file")
    if read.path is None:
        raise SuppleError(f"{read.name!r} has no path of the actuators, platform or a point to follow")
    if shaper is not None:
        read = shaped_by(read, shaper)
    read = replace(read, controller=None, torques=None, drives=dict.fromkeys(read.drives, "prescribed"))
    made = simulator(robot, read, formulation=formulation, rigid=rigid, duration=end, structural=structural)
    method, step = ("quasi_static", between) if quasi_static else ("radau", 0.0)
    result = integrate(made, Settings(method, tol or 0.0, step, every=between), progress=progress, accept=accept)
    if output is not None:
        save(result, Path(output))
    return result if against is None else beside(result, read_measured(Path(against), columns(result)))
