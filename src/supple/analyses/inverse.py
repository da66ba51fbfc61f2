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
from supple.simulation.inversion import METHODS, inverted
from supple.simulation.simulator import simulator
from supple.storage import columns, save
from supple.storage.measured import beside


def inverse(
    robot: Machine,
    motion: str | Path | Motion | None = None,
    *,
    duration: Written | None = None,
    quasi_static: bool = False,
    of: str | None = None,
    method: str = "exact",
    lead: Written | None = None,
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

    quasi_static: bodies bend as the loads of the moment ask, without vibrating; `of`, `method`, `lead`: what of the flexible
    robot follows the path, see `api.Robot.inverse`. Other options are those of `simulate`."""
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
    if of is not None:
        read = _led(robot, read, of, method, between, seconds(lead, "lead"), structural)
        end, rigid, quasi_static = None, rigid or method == "rigid", quasi_static or method == "quasi-static"
    elif method != "exact" or lead is not None:
        raise SuppleError("method and lead say how a point or the platform is led; name it with of")
    made = simulator(robot, read, formulation=formulation, rigid=rigid, duration=end, structural=structural)
    how, step = ("quasi_static", between) if quasi_static else ("radau", 0.0)
    result = integrate(made, Settings(how, tol or 0.0, step, every=between), progress=progress, accept=accept)
    if output is not None:
        save(result, Path(output))
    return result if against is None else beside(result, read_measured(Path(against), columns(result)))


def _led(
    robot: Machine, motion: Motion, of: str, method: str, every: float, lead: float | None, structural: str
) -> Motion:  # fmt: skip
    """The motion whose actuators lead `of` along its path, with words for how well that is done."""
    if method not in METHODS:
        raise SuppleError(f"there is no method {method!r} to lead {of}; choose one of {', '.join(METHODS)}")
    if not every > 0:
        raise SuppleError(f"every: the path of {of} is followed at samples; give the time between them, such as 1 ms")
    found = inverted(robot, motion, of, method=method, every=every, lead=lead, structural=structural)
    if method == "rigid":
        return found.motion
    return replace(found.motion, notices=(*found.motion.notices, found.sentence(of)))
