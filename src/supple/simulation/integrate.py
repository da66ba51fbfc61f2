"""`integrate`: a robot's motion over time, in C piece by piece; several runs side by side in lanes and threads."""

from __future__ import annotations

import json
import os
import signal
import threading
import time as clock
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from supple.backends.stepping.drive import Drive
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.settings import LOOSEST, TIGHTEST, Settings
from supple.errors import SuppleError
from supple.results import DOUBTFUL, Simulation
from supple.simulation.ensembles import LANES, part_of
from supple.simulation.groups import Group, Keeper, group_at_start, groups_of, switch, why_stopped
from supple.simulation.performance import beyond_limits, performance
from supple.simulation.runaway import runaway
from supple.simulation.signals import checked_keep, observed, only, signals_of
from supple.simulation.simulator import Simulator
from supple.simulation.ways import check_method
from supple.simulation.worth import balance_of, beams_of, cut_off, doubts, limits_left, warnings_of

PIECE = 0.25  # s of computing between two looks at progress, interruption and checkpoints
_ROWS = 4096
NEAR_THE_END = 0.02  # of the duration


def integrate(
    simulator: Simulator,
    settings: Settings | None = None,
    *,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    keeper: Keeper | None = None,
    resume: bool = False,
    accept: bool = False,
    keep: str | Collection[str] | None = None,
) -> Simulation:
    """The Simulation of a robot and motion; it ends early, and says why, where the motion cannot go on.

    `progress` is told the share done; `keeper` keeps checkpoints, from which `resume` goes on. One that is not to be trusted
    says so in its outcome, unless `accept`. `keep`: names of the signals that are wanted (None: all).
    """
    wanted = checked_keep(keep)
    simulator, chosen, groups, spent = _integrated(
        simulator, settings, threads, progress, keeper if resume else None, keeper
    )
    return _simulation(simulator, chosen, groups, spent, accept, wanted)


def integrate_parts(
    simulator: Simulator,
    settings: Settings | None = None,
    *,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    keeper: Keeper | None = None,
    resume: bool = False,
    accept: bool = False,
    keep: str | Collection[str] | None = None,
) -> Iterator[Simulation]:
    """The Simulations of runs that were integrated together, some at a time, as of `integrate`: the signals of all of them
    are never there at once."""
    wanted = checked_keep(keep)
    simulator, chosen, groups, spent = _integrated(
        simulator, settings, threads, progress, keeper if resume else None, keeper
    )
    for first in range(0, len(simulator.runs), LANES):
        part = part_of(simulator, first, LANES)
        own = [replace(b, runs=tuple(k - first for k in b.runs)) for b in groups if first <= b.runs[0] < first + LANES]
        yield _simulation(part, chosen, own, spent, accept, wanted)
        spent = (0.0, 0.0)  # told once
        for b in own:
            b.forget()


def _integrated(
    simulator: Simulator, settings: Settings | None, threads: int | None, progress: Callable[[float], None] | None,
    earlier: Keeper | None, keeper: Keeper | None,
) -> tuple[Simulator, Settings, list[Group], tuple[float, float]]:  # fmt: skip
    """Groups of runs at their end, with the simulator and the settings that suit, and seconds spent there and before."""
    chosen = checked(simulator.scaled(settings or Settings()), simulator.duration)
    if chosen.method == "quasi_static":
        simulator = replace(simulator, way=None, compiled={})  # without inertia loops are closed, whatever keeps them so
    check_method(simulator.way, chosen.method, chosen.step)
    begun = clock.perf_counter()
    groups = groups_of(simulator, chosen, earlier)
    ready = clock.perf_counter()
    if chosen.method == "cvode" and groups[0].stepper.plant.free:
        _run_cvode(simulator, groups, chosen)
    else:
        _run(simulator, groups, chosen, threads or os.cpu_count() or 1, progress, keeper)
        groups = _alone(simulator, groups, chosen, threads or os.cpu_count() or 1, progress)
    for b in groups:
        if b.outcome == "done" and b.state.t > b.samples[-1][-1, 0, 0] + 1e-9:
            b.samples.append(b.state.row()[None])  # the end, where no sample fell on it
    wall = clock.perf_counter() - ready + max(b.earlier for b in groups)
    return simulator, chosen, groups, (wall, ready - begun)


def checked(settings: Settings, duration: float) -> Settings:
    """The settings, if they make sense."""
    if not duration > 0 or not np.isfinite(duration):
        raise SuppleError(f"the duration is {duration:g} s; give one above zero, for example --duration 2")
    if settings.step < 0 or settings.every < 0:
        raise SuppleError("step and output interval must be above zero")
    if not TIGHTEST <= settings.tolerance <= LOOSEST:
        raise SuppleError(
            f"a tolerance of {settings.tolerance:g} makes no sense; give one between {TIGHTEST:g} and {LOOSEST:g}"
        )
    if not 0 <= settings.cutoff < float("inf"):
        raise SuppleError(f"the cutoff is {settings.cutoff:g} Hz; give a frequency, or 0 for none")
    if settings.step > duration:
        raise SuppleError(f"a step of {settings.step:g} s is longer than the motion of {duration:g} s")
    if settings.step and duration / settings.step > 1e9:
        raise SuppleError(f"a step of {settings.step:g} s makes {duration / settings.step:.0e} steps; at most 1e9 are taken")
    if settings.every and duration / settings.every > 2e7:
        raise SuppleError(f"samples every {settings.every:g} s are too many; give a longer --every")
    if not 0 <= settings.rho <= 1:
        raise SuppleError(f"rho is {settings.rho:g}; the spectral radius lies between 0 and 1")
    return settings


# Integration ------------------------------------------------------------------------------------------------------------


def _run_cvode(simulator: Simulator, groups: list[Group], settings: Settings) -> None:
    from supple.backends.stepping.cvode import integrate as cvode

    if simulator.many > 1:
        raise SuppleError("the method cvode computes one run at a time; choose another method for several")
    b = groups[0]
    b.outcome, samples = cvode(b.stepper, b.state, simulator.drive, settings, simulator.duration)
    b.samples.append(samples)


def _run(
    simulator: Simulator,
    groups: list[Group],
    settings: Settings,
    threads: int,
    progress: Callable[[float], None] | None,
    keeper: Keeper | None,
) -> None:
    """All groups to their end, or until Ctrl-C, which leaves what was computed."""
    drive, end = simulator.drive, simulator.duration
    try:
        with ThreadPoolExecutor(min(threads, len(groups))) as pool:
            while any(b.outcome == "yielded" for b in groups):
                running = [b for b in groups if b.outcome == "yielded"]
                with _uninterrupted():
                    each = pool.map if len(running) > 1 else map
                    list(each(lambda b: _piece(simulator, b, settings, drive, end), running))
                _keep(running, keeper)
                if progress is not None:
                    progress(float(np.mean([1.0 if b.outcome == "done" else b.state.t / end for b in groups])))
    except KeyboardInterrupt:  # pieces under way have come to their end
        stopped = [b for b in groups if b.outcome == "yielded"]
        for b in stopped:
            b.outcome = "interrupted"
        _keep(stopped, keeper)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of what is done within."""
    if threading.current_thread() is not threading.main_thread() or not callable(before := signal.getsignal(signal.SIGINT)):
        yield
        return
    asked: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: asked.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        before(*asked[0])


def _keep(groups: list[Group], keeper: Keeper | None) -> None:
    if keeper is not None:
        for b in groups:
            b.keep(keeper)


def _alone(
    simulator: Simulator, groups: list[Group], settings: Settings, threads: int, progress: Callable[[float], None] | None
) -> list[Group]:
    """Blocks in which some run failed, once more run by run: each may then choose its own steps and free coordinates."""
    made: list[Group] = []
    for b in groups:
        if b.stepper.lanes == 1 or b.outcome in ("done", "interrupted"):
            made.append(b)
        else:
            made += [group_at_start(simulator, settings, b.number, (run,)) for run in dict.fromkeys(b.runs)]
    _run(simulator, made, settings, threads, progress, None)
    return made


def _piece(simulator: Simulator, group: Group, settings: Settings, drive: Drive, end: float) -> None:
    """A piece of a simulation, as long as it takes to compute for PIECE seconds."""
    begun, steps = clock.perf_counter(), 200
    rows = max(_ROWS, int(group.state["rows_ahead"][0]) + 1)
    while clock.perf_counter() - begun < PIECE:
        before = clock.perf_counter()
        outcome, samples = group.record(steps, rows, drive, end)
        lost = runaway(simulator, group, samples)
        if lost:
            group.outcome = lost
            return
        if outcome not in ("yielded", "full"):
            group.outcome = outcome
            if outcome in ("ill_posed", "open_loops", "diverged", "too_small") and switch(simulator, group, drive):
                group.outcome = "yielded"
                continue
            return
        if clock.perf_counter() - before < 0.1 * PIECE:
            steps *= 4


# What comes out ----------------------------------------------------------------------------------------------------------


def _outcome(simulator: Simulator, groups: list[Group], reached: float) -> str:
    """complete, or why it ended early."""
    outcome = "complete"
    for b in groups:
        if b.outcome != "done":
            outcome = why_stopped(simulator, b, b.outcome, b.state.t)
    cut = simulator.path is not None and simulator.duration < simulator.path.end - 1e-9  # before it leaves the workspace
    if simulator.stop is not None and not cut and reached > (1.0 - NEAR_THE_END) * simulator.duration:
        outcome = f"{simulator.stop}; simulated until t = {reached:.6g} s"  # rates grow without bound towards the boundary
    return outcome


def _simulation(
    simulator: Simulator, settings: Settings, groups: list[Group], spent: tuple[float, float], accept: bool,
    keep: tuple[str, ...] | None,
) -> Simulation:  # fmt: skip
    reached = min(b.state.t for b in groups)
    outcome = _outcome(simulator, groups, reached)
    begun = clock.perf_counter()
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that ended in numbers too large, which is said
        time, parts = observed(simulator, groups)
        signals, axes = signals_of(simulator, time, parts, keep)
    wall, preparing = spent
    balance, lost = balance_of(settings, groups, signals), cut_off(settings, groups)
    beams = beams_of(simulator, parts)
    doubt = doubts(simulator, groups, parts, signals, balance, beams)
    if outcome == "complete" and doubt and not accept:
        outcome = f"{DOUBTFUL}{', and '.join(doubt)}; if that is what you want to see, accept it with --accept"
    judged = performance(simulator, time, signals)
    counts = [b.state.counts() for b in groups]
    summary = {
        "method": settings.method,
        "tolerance": settings.tolerance,
        "step_s": settings.step or None,
        "wall_time_s": wall,
        "preparation_s": preparing,
        "observation_s": clock.perf_counter() - begun,
        "runs": len(simulator.runs),
        "real_time_factor": reached * len(simulator.runs) / max(wall, 1e-9),
        "steps": sum(c["steps"] for c in counts),
        "rejected_steps": sum(c["rejected"] for c in counts),
        "evaluations": sum(c["evaluations"] for c in counts),
        "newton_iterations": sum(c["newton_iterations"] for c in counts),
        "jacobians": sum(c["jacobians"] for c in counts),
        "model": _solved(groups[0].stepper.plant),
        "integrated": f"{len(groups[0].stepper.plant.free)} of {simulator.model.nv} coordinates",
        "structural_damping": simulator.structural,
        "worst_closure": float(np.nanmax(signals["closure"].values, initial=0.0)),
        **balance,
        "cut_off": lost,
        "performance": judged,
        # lines for the reader: where theory or tolerance are left
        "notices": [
            *simulator.motion.notices,
            *_stiff(simulator),
            *beyond_limits(judged),
            *limits_left(simulator, parts, beams),
            *warnings_of(settings, balance["energy_balance_error"], lost),
        ],
    }
    signals, axes = only(keep, signals, axes)
    made = {**simulator.provenance, "supple": _version(), "options": _written(settings)}
    kinds = tuple(c.kind for c in simulator.model.mechanism.coordinates)
    name = simulator.model.mechanism.name
    varied = {k: tuple(float(y) for y in x) for k, x in simulator.varied.items()}
    return Simulation(name, simulator.motion.name, time, signals, axes, kinds, outcome, summary, varied, made)


@cache
def _written(settings: Settings) -> str:
    return json.dumps(asdict(settings), sort_keys=True)


def _stiff(simulator: Simulator) -> list[str]:
    """A line for actuators that give way in `modes` or `frf`, by servos that this motion does not have."""
    motion, names = simulator.motion, [simulator.model.names[i] for i in simulator.model.servos]
    led = motion.driven("controlled") + (
        [] if motion.torques is None else [n.removeprefix("tau ") for n in motion.torques.names]
    )
    left = [name for name in names if name not in led]
    if not left:
        return []
    which = ", ".join(left[:4]) + (" ..." if len(left) > 4 else "")
    held = all(name in simulator.prescribed for name in left)
    how = "actuators keep to their path" if held else "actuators move freely"
    whose = "a servo" if len(left) == 1 else "servos"
    return [f"the stiffness of {which} is of {whose}, which this motion does not have: {how}; a `controller` gives way"]


def _solved(plant: Plant) -> str:
    """How accelerations come from a state."""
    if plant.coupled is not None:
        return plant.coupled.about
    return "matrices of the tree" if plant.tree is not None else "closed form"


@cache
def _version() -> str:
    try:
        return version("supple")
    except PackageNotFoundError:
        return "unknown"
