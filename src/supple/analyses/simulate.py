"""A robot's motion over time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

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
from supple.simulation.ensembles import LANES, PartKeeper, block_size, outcome_of, part_of, summary_of
from supple.simulation.integrate import integrate, integrate_parts
from supple.simulation.signals import checked_keep, demanded
from supple.simulation.simulator import Simulator, simulator
from supple.simulation.starts import listed_values
from supple.storage import columns, save
from supple.storage.ensembles import EnsembleFile, written_by
from supple.storage.measured import beside

T = TypeVar("T")


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
    options: dict[str, Any] = {"threads": threads, "keeper": checkpoints, "resume": resume, "accept": accept, "keep": keep}
    if len(made.runs) > LANES and output.suffix.lower() == ".nc":
        result = _in_blocks(made, chosen, output, options, progress)
    else:
        result = integrate(made, chosen, progress=progress, **options)
        _stored(lambda: save(result, output), checkpoints)
    if "interrupted" not in result.outcome:
        checkpoints.remove()
    return result


def _stored(write: Callable[[], T], checkpoints: Checkpoints) -> T:
    """What writing a result gives; if it fails, words about what is kept."""
    try:
        return write()
    except SuppleError as problem:
        said = str(problem)
        if not checkpoints.there() or "cannot be written" not in said or "--resume" in said:
            raise
        raise SuppleError(f"{problem}; what was computed is kept: make room and go on with --resume") from problem


def _in_blocks(
    made: Simulator, chosen: Settings, output: Path, options: dict[str, Any], progress: Callable[[float], None] | None
) -> Simulation:
    """An ensemble, written block by block; its signals are in the file."""
    return _stored(
        lambda: written_by(output, lambda file: _appended(made, chosen, file, output, options, progress)), options["keeper"]
    )


def _appended(
    made: Simulator, chosen: Settings, file: Path, output: Path, options: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> Simulation:  # fmt: skip
    """All blocks of an ensemble, integrated, observed and appended to a file that will be the output."""
    size, total = block_size(options["threads"] or os.cpu_count() or 1), len(made.runs)
    tell = progress or (lambda share: None)
    stored, ended = EnsembleFile(file, total), []
    try:
        for first in range(0, total, size):
            block = part_of(made, first, size)
            share = len(block.runs) / total
            own = {**options, "keeper": PartKeeper(options["keeper"], first // LANES)}
            at = stored.done / total
            for part in integrate_parts(block, chosen, progress=_share(tell, at, 0.5 * share), **own):
                stored.add(part)
                ended.append(replace(part, signals={}))
                tell(at + 0.5 * share + 0.5 * (stored.done / total - at))
                del part  # before the next one is made
            if any("interrupted" in part.outcome for part in ended):
                break
        whole = _together(made, ended, stored, output)
        stored.close(whole)
    except BaseException:
        stored.close()
        raise
    return whole


def _share(tell: Callable[[float], None], at: float, size: float) -> Callable[[float], None]:
    """Tells the progress of a piece of that size as one of the whole."""
    return lambda share: tell(at + size * share)


def _together(made: Simulator, ended: Sequence[Simulation], stored: EnsembleFile, output: Path) -> Simulation:
    """The Simulation of all runs."""
    reached = min(float(part.time[-1]) for part in ended)
    return replace(
        ended[0],
        time=stored.time,
        signals=stored.signals(output),
        axes={**ended[0].axes, "run": tuple(str(k + 1) for k in range(len(made.runs)))},
        outcome=outcome_of(ended),
        summary=summary_of([part.summary for part in ended], reached),
        varied={name: tuple(float(x) for x in values) for name, values in made.varied.items()},
    )


def _fingerprint(made: Simulator, chosen: Settings) -> str:
    """What must be the same for a simulation to go on from a checkpoint."""
    about = [dict(made.provenance), asdict(chosen), {k: list(x) for k, x in made.varied.items()}, made.duration]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
