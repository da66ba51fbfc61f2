"""A robot's motion over time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from supple.backends.stepping.settings import Settings
from supple.checkpoints import Checkpoints
from supple.errors import SuppleError
from supple.machine import USUAL, Machine
from supple.motion.controllers import controlled
from supple.motion.description import Motion
from supple.motion.laws import SampledLaw
from supple.motion.measured_table import read_measured
from supple.motion.table import rows_of
from supple.motion.written_shapers import shaped_by
from supple.results import Simulation
from supple.robot.written import Written, seconds
from supple.simulation.elastic_control import foreseen
from supple.simulation.integrate import integrate
from supple.simulation.signals import checked_keep, demanded
from supple.simulation.simulator import Simulator, simulator
from supple.simulation.starts import listed_values
from supple.storage import columns, save
from supple.storage.measured import beside


def simulate(
    robot: Machine,
    motion: str | Path | Motion | None = None,
    *,
    duration: Written | None = None,
    method: str = "radau",
    step: Written | None = None,
    tol: float | None = None,
    rho: float = 0.8,
    cutoff: float = 1000.0,
    every: Written = "1 ms",
    controller: str | SampledLaw | None = None,
    shaper: str | None = None,
    start: str = "equilibrium",
    rigid: bool = False,
    formulation: str = USUAL,
    loops: str | None = None,
    structural: str = "viscous",
    vary: Mapping[str, str | Sequence[float]] | None = None,
    threads: int | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    filter: float | None = None,
    against: str | Path | None = None,
    also: str | Sequence[str] = (),
    accept: bool = False,
    keep: str | Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """A motion of a robot over time; it ends early, and says why, where the motion cannot go on.

    Options as of `api.Robot.simulate`."""
    if against is not None:
        rows_of(Path(against), str(against))  # what cannot be read is told before the work
    wanted = checked_keep(keep)
    if tol is not None and not tol > 0:
        raise SuppleError(f"tol {tol:g}: must be above zero")
    chosen = Settings(
        method, tol or 0.0, seconds(step, "step") or 0.0, rho=rho, every=seconds(every, "every") or 0.0, cutoff=cutoff
    )
    end = seconds(duration, "duration")
    read = _read(robot, motion, end, filter, controller, shaper)
    if not rigid:
        read = foreseen(robot, read if end is None else replace(read, duration=end), chosen.every, structural)
        end = end if read.wanted is None else None
    made = simulator(
        robot, read, formulation=formulation, rigid=rigid, duration=end, start=start,
        vary={name: listed_values(name, x) for name, x in (vary or {}).items()}, loops=loops, structural=structural,
    )  # fmt: skip
    made = replace(made, also=demanded(also, wanted))
    if output is None and resume:
        raise SuppleError("resume needs an output file, beside which the checkpoints are")
    if output is not None:
        result = _kept(made, chosen, threads, Path(output), resume, accept, wanted, progress)
    else:
        result = integrate(made, chosen, threads=threads, progress=progress, accept=accept, keep=wanted)
    return result if against is None else beside(result, read_measured(Path(against), columns(result)))


def _read(
    robot: Machine, motion: str | Path | Motion | None, end: float | None, filter: float | None,
    controller: str | SampledLaw | None,
    shaper: str | None,
) -> Motion:  # fmt: skip
    """The motion with the controller and the shaper asked for."""
    read = motion if isinstance(motion, Motion) else robot.motion(motion, end, filter)
    if filter is not None and isinstance(motion, Motion):
        raise SuppleError("filter: a Motion is filtered when it is read; give its file")
    if controller is not None:
        read = controlled(read, controller)
    return read if shaper is None else shaped_by(read, shaper)


def _kept(
    made: Simulator, chosen: Settings, threads: int | None, output: Path, resume: bool,
    accept: bool, keep: Sequence[str] | None, progress: Callable[[float], None] | None,
) -> Simulation:  # fmt: skip
    """The simulation, saved whatever happens, with checkpoints beside its result."""
    checkpoints = Checkpoints(output, _fingerprint(made, chosen))
    if resume and not checkpoints.there():
        raise SuppleError(f"there is no checkpoint in {checkpoints.folder} to go on from; start without resume")
    if not resume:
        checkpoints.remove()  # of an earlier run, which this one is not to be mixed with
    result = integrate(
        made, chosen, threads=threads, progress=progress, keeper=checkpoints, resume=resume, accept=accept, keep=keep
    )  # fmt: skip
    try:
        save(result, output)
    except SuppleError as problem:
        if not checkpoints.there():
            raise
        raise SuppleError(f"{problem}; what was computed is kept: make room and go on with --resume") from problem
    if "interrupted" not in result.outcome:
        checkpoints.remove()
    return result


def _fingerprint(made: Simulator, chosen: Settings) -> str:
    """What must be the same for a simulation to go on from a checkpoint."""
    about = [dict(made.provenance), asdict(chosen), {k: list(x) for k, x in made.varied.items()}, made.duration]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
