"""`simulate`: a robot's motion over time, integrated in C piece by piece; several runs side by side in lanes and threads."""

from __future__ import annotations

import json
import os
import time as clock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np

from supple.backends.stepper import METHODS, Drive, Settings, State, Stepper
from supple.errors import SuppleError
from supple.model import observe
from supple.model.algebra import Array
from supple.results import Signal, Simulation
from supple.simulator import Simulator

PIECE = 0.25  # s of computing between two looks at progress, interruption and checkpoints
_ROWS = 4096
NEAR_THE_END = 0.02  # of the duration
TIGHTEST = 1e-14  # tolerance; accelerations are known no better
LEAST = 0.02  # ratio of pivots below which other free coordinates are looked for
_WORDS = {
    "open_loops": "the loops cannot be closed any further: the motion reaches the edge of the workspace or a singular pose",
    "ill_posed": "the pose is singular: the loops no longer say how the passive joints follow",
    "diverged": "Newton's method does not converge, however small the step",
    "not_a_number": "an acceleration is not a finite number",
    "too_small": "the steps that the tolerance asks for became too small",
    "interrupted": "it was interrupted",
}
_FORCE = {"m": "N", "rad": "N m"}
_MASSLESS = 1e-12


class Keeper(Protocol):
    """Keeps what was computed so far, so that a run that was killed can be resumed."""

    def keep(self, block: int, state: bytes, samples: Array, notes: Any) -> None: ...
    def kept(self, block: int) -> tuple[bytes, Array, Any] | None: ...


@dataclass
class Block:
    """Runs that are computed side by side: one for each lane, the last ones repeated."""

    number: int
    runs: tuple[int, ...]
    stepper: Stepper
    state: State
    samples: list[Array] = field(default_factory=list)
    outcome: str = "yielded"
    switched: float | None = None  # time of the last change of free coordinates
    stretches: list[tuple[int, Stepper, bytes]] = field(default_factory=list)  # rows with other free coordinates, before

    @property
    def rows(self) -> Array:
        return np.concatenate(self.samples)

    def notes(self) -> Any:
        """What a checkpoint has to know besides state and samples."""
        made = [[count, *_choice(stepper, state)] for count, stepper, state in self.stretches]
        return {"dense": self.stepper.plant.tree is not None, "stretches": made}

    def observe(self, drive: Drive) -> tuple[Array, Array, Array]:
        """q, v and a of all samples, each stretch with its own free coordinates."""
        rows = self.rows
        sides = np.where(rows[:, 0, 0] <= rows[0, 0, 0], 1.0, -1.0)
        parts, first = [], 0
        for count, stepper, state in [*self.stretches, (len(rows), self.stepper, self.state.data)]:
            part = slice(first, count)
            parts.append(stepper.observe(State(stepper, state), drive, rows[part], sides[part]))
            first = count
        q, v, a = (np.concatenate([p[k] for p in parts]) for k in range(3))
        return q, v, a


def simulate(
    simulator: Simulator,
    settings: Settings | None = None,
    *,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    keeper: Keeper | None = None,
    resume: bool = False,
) -> Simulation:
    """The Simulation of a robot and motion; it ends early, and says why, where the motion cannot go on.

    `progress` is told the share done; `keeper` keeps checkpoints, from which `resume` goes on.
    """
    chosen = checked(simulator.scaled(settings or Settings()), simulator.duration)
    begun = clock.perf_counter()
    blocks = _blocks(simulator, chosen, keeper if resume else None)
    ready = clock.perf_counter()
    if chosen.method == "cvode" and blocks[0].stepper.plant.free:
        _run_cvode(simulator, blocks, chosen)
    else:
        _run(simulator, blocks, chosen, threads or os.cpu_count() or 1, progress, keeper)
        blocks = _alone(simulator, blocks, chosen, threads or os.cpu_count() or 1, progress)
    for b in blocks:
        if b.outcome == "done" and b.state.t > b.samples[-1][-1, 0, 0] + 1e-9:
            b.samples.append(b.state.row()[None])  # the end, where no sample fell on it
    return _simulation(simulator, chosen, blocks, clock.perf_counter() - ready, ready - begun)


def checked(settings: Settings, duration: float) -> Settings:
    """The settings, if they make sense."""
    if not duration > 0 or not np.isfinite(duration):
        raise SuppleError(f"the duration is {duration:g} s; give one above zero, for example --duration 2")
    if settings.step < 0 or settings.every < 0:
        raise SuppleError("step and output interval must be above zero")
    if not TIGHTEST <= settings.tolerance <= 1:
        raise SuppleError(f"a tolerance of {settings.tolerance:g} makes no sense; give one between {TIGHTEST:g} and 1")
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


def _blocks(simulator: Simulator, settings: Settings, kept: Keeper | None) -> list[Block]:
    count = len(simulator.runs)
    lanes = 1 if count == 1 else 4 if count <= 4 else 8
    stepper = simulator.stepper(lanes, settings.method == "gauss")
    blocks = []
    for number, first in enumerate(range(0, count, lanes)):
        runs = tuple(min(first + k, count - 1) for k in range(lanes))
        found = kept.kept(number) if kept is not None else None
        if found is not None:
            blocks.append(_resumed(simulator, settings, Block(number, runs, stepper, State(stepper)), *found))
        else:
            blocks.append(_block(simulator, settings, number, runs))
    return blocks


def _choice(stepper: Stepper, state: bytes) -> tuple[bool, list[int]]:
    """Whether a stretch used matrices, and which coordinates were free."""
    return stepper.plant.tree is not None, [int(x) for x in State(stepper, state)["tables"]]


def _resumed(simulator: Simulator, settings: Settings, block: Block, state: bytes, samples: Array, notes: Any) -> Block:
    """A block as a checkpoint left it."""
    gauss, lanes = settings.method == "gauss", block.stepper.lanes
    if notes["dense"]:
        block.stepper = simulator.stepper(lanes, gauss, dense=True)
    if len(state) != block.stepper.size:
        raise SuppleError("the checkpoint was made by another version of supple; start again without --resume")
    block.state, block.samples = State(block.stepper, state), [samples]
    for count, dense, tables in notes["stretches"]:
        stepper = simulator.stepper(lanes, gauss, dense=dense)
        then = stepper.start(settings, simulator.drive, 0.0, simulator.runs[0].q, simulator.runs[0].v)
        then["tables"] = tables
        block.stretches.append((count, stepper, then.data))
    return block


def _block(simulator: Simulator, settings: Settings, number: int, runs: tuple[int, ...]) -> Block:
    """Runs at their start, loops closed."""
    stepper = simulator.stepper(len(runs), settings.method == "gauss")
    own = [simulator.runs[k] for k in runs]
    q, v = np.array([r.q for r in own]), np.array([r.v for r in own])
    state = stepper.start(settings, simulator.drive, 0.0, q, v)
    block = Block(number, runs, stepper, state)
    outcome = stepper.begin(state, simulator.drive, np.array([r.parameters for r in own]))
    if outcome != "fine":
        raise SuppleError(_stopped(simulator, block, outcome, 0.0))
    block.samples.append(state.row()[None])
    if not simulator.prescribed:
        state["conditioning"][2] = min(LEAST, 0.1 * state["conditioning"][0])
    return block


def _run_cvode(simulator: Simulator, blocks: list[Block], settings: Settings) -> None:
    from supple.backends.cvode import integrate

    if len(simulator.runs) > 1:
        raise SuppleError("the method cvode computes one run at a time; choose another method for several")
    b = blocks[0]
    b.outcome, samples = integrate(b.stepper, b.state, simulator.drive, settings, simulator.duration)
    b.samples.append(samples)


def _run(
    simulator: Simulator,
    blocks: list[Block],
    settings: Settings,
    threads: int,
    progress: Callable[[float], None] | None,
    keeper: Keeper | None,
) -> None:
    """All blocks to their end, or until Ctrl-C, which leaves what was computed."""
    drive, end = simulator.drive, simulator.duration
    try:
        with ThreadPoolExecutor(min(threads, len(blocks))) as pool:
            while any(b.outcome == "yielded" for b in blocks):
                running = [b for b in blocks if b.outcome == "yielded"]
                list(pool.map(lambda b: _piece(simulator, b, settings, drive, end), running))
                _keep(running, keeper)
                if progress is not None:
                    progress(float(np.mean([1.0 if b.outcome == "done" else b.state.t / end for b in blocks])))
    except KeyboardInterrupt:  # pieces under way have come to their end
        stopped = [b for b in blocks if b.outcome == "yielded"]
        for b in stopped:
            b.outcome = "interrupted"
        _keep(stopped, keeper)


def _keep(blocks: list[Block], keeper: Keeper | None) -> None:
    if keeper is not None:
        for b in blocks:
            keeper.keep(b.number, b.state.data, b.rows, b.notes())


def _alone(
    simulator: Simulator, blocks: list[Block], settings: Settings, threads: int, progress: Callable[[float], None] | None
) -> list[Block]:
    """Blocks in which some run failed, once more run by run: each may then choose its own steps and free coordinates."""
    made: list[Block] = []
    for b in blocks:
        if b.stepper.lanes == 1 or b.outcome in ("done", "interrupted"):
            made.append(b)
        else:
            made += [_block(simulator, settings, b.number, (run,)) for run in dict.fromkeys(b.runs)]
    _run(simulator, made, settings, threads, progress, None)
    return made


def _piece(simulator: Simulator, block: Block, settings: Settings, drive: Drive, end: float) -> None:
    """A piece of a simulation, as long as it takes to compute for PIECE seconds."""
    begun, steps = clock.perf_counter(), 200
    rows = max(_ROWS, int(block.state["rows_ahead"][0]) + 1)
    while clock.perf_counter() - begun < PIECE:
        before = clock.perf_counter()
        outcome, samples = block.stepper.run(block.state, drive, end, steps, rows)
        if len(samples):
            block.samples.append(samples)
        if outcome not in ("yielded", "full"):
            block.outcome = outcome
            if outcome in ("ill_posed", "open_loops", "diverged", "too_small") and _switch(simulator, block, drive):
                block.outcome = "yielded"
                continue
            return
        if clock.perf_counter() - before < 0.1 * PIECE:
            steps *= 4


def _switch(simulator: Simulator, block: Block, drive: Drive) -> bool:
    """Other coordinates as free ones, where those in use have become singular; False if it does not help.

    The closed form knows one choice only, so the matrices of the tree take over."""
    state = block.state
    if simulator.prescribed or block.stepper.lanes > 1:
        return False
    q, v = state.lanes("q")[0], state.lanes("v")[0]
    before = (len(block.rows), block.stepper, state.data)
    try:
        split, free, dependent, turning = simulator.split(q)
        if block.stepper.plant.tree is None:
            block.stepper = simulator.stepper(1, state["method"][0] == METHODS["gauss"], dense=True)
    except SuppleError:
        return False
    fresh = block.stepper.start(Settings(), drive, state.t, q, v)
    fresh.take_over(state)
    fresh["rows_ahead"], fresh["parameters"] = state["rows_ahead"], state["parameters"]
    fresh.choose(free, dependent, split.rows, turning)
    block.state = fresh
    if block.stepper.again(fresh, drive) != "fine" or (block.switched is not None and state.t <= block.switched):
        return False
    fresh["conditioning"][2] = min(LEAST, 0.1 * fresh["conditioning"][0])
    block.switched = state.t
    block.stretches.append(before)
    return True


def _stopped(simulator: Simulator, block: Block, outcome: str, t: float) -> str:
    """Why a simulation ended early: when, where, and what to do."""
    model = simulator.model
    values = observe.coordinate_values(model, block.state.lanes("q")[0])
    kinds = [c.kind for c in model.mechanism.coordinates]
    wanted = "active" if "active" in kinds else "passive"
    pose = ", ".join(f"{n} = {x:.6g}" for n, k, x in zip(model.names, kinds, values, strict=True) if k == wanted)
    moving = simulator.motion.controller is None and block.state["method"][0] != METHODS["quasi_static"]
    advice = (
        ""
        if not moving
        else {"too_small": "; loosen --tol or choose --method gauss", "diverged": "; try a smaller --step"}.get(outcome, "")
    )
    return f"{model.mechanism.name}: stopped at t = {t:.6g} s, because {_WORDS.get(outcome, outcome)} ({pose}){advice}"


# What comes out ----------------------------------------------------------------------------------------------------------


def _simulation(simulator: Simulator, settings: Settings, blocks: list[Block], wall: float, preparing: float) -> Simulation:
    outcome = "complete"
    for b in blocks:
        if b.outcome != "done":
            outcome = _stopped(simulator, b, b.outcome, b.state.t)
    reached = min(b.state.t for b in blocks)
    cut = simulator.path is not None and simulator.duration < simulator.path.end - 1e-9  # before it leaves the workspace
    if simulator.stop is not None and not cut and reached > (1.0 - NEAR_THE_END) * simulator.duration:
        outcome = f"{simulator.stop}; simulated until t = {reached:.6g} s"  # rates grow without bound towards the boundary
    begun = clock.perf_counter()
    time, parts = _observed(simulator, blocks)
    signals, axes = signals_of(simulator, time, parts)
    balance = _balance(settings, blocks, signals)
    counts = [b.state.counts() for b in blocks]
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
        "newton_iterations": sum(c["iterations"] for c in counts),
        "jacobians": sum(c["jacobians"] for c in counts),
        "model": "matrices of the tree" if blocks[0].stepper.plant.tree is not None else "closed form",
        "worst_closure": float(np.nanmax(signals["closure"].values, initial=0.0)),
        **balance,
    }
    made = {**simulator.provenance, "supple": _version(), "options": json.dumps(asdict(settings), sort_keys=True)}
    kinds = tuple(c.kind for c in simulator.model.mechanism.coordinates)
    name = simulator.model.mechanism.name
    varied = {k: tuple(float(y) for y in x) for k, x in simulator.varied.items()}
    return Simulation(name, simulator.motion.name, time, signals, axes, kinds, outcome, summary, varied, made)


def _version() -> str:
    try:
        return version("supple")
    except PackageNotFoundError:
        return "unknown"


def _observed(simulator: Simulator, blocks: list[Block]) -> tuple[Array, dict[str, Array]]:
    """Time, and q, v, a and actuator forces (time, run, ...) of all runs."""
    plant = blocks[0].stepper.plant
    longest = max((b.rows for b in blocks), key=len)
    time = longest[:, 0, 0]
    parts: dict[str, list[Array]] = {"q": [], "v": [], "a": [], "tau": []}
    for b in blocks:
        rows = b.rows
        beyond = ((0, len(time) - len(rows)), (0, 0))  # what a run that stopped early did not reach is not a number
        q, v, a = b.observe(simulator.drive)
        effort = rows[..., 1 + plant.nq + plant.nv :][..., : len(plant.torque)]
        for k, run in enumerate(dict.fromkeys(b.runs)):
            model, w = simulator.runs[run].model, simulator.loads_at(rows[:, 0, 0])
            tau = observe.actuator_forces(model, q[:, k], v[:, k], a[:, k], w, [p.v for p in plant.given])
            where = [int(np.flatnonzero(model.active == p.v)[0]) for p in plant.torque]
            tau[:, where] = effort[:, k]
            for key, x in (("q", q[:, k]), ("v", v[:, k]), ("a", a[:, k]), ("tau", tau)):
                parts[key].append(np.pad(x, beyond, constant_values=np.nan))
    return time, {k: np.stack(x, axis=1) for k, x in parts.items()}


def signals_of(
    simulator: Simulator, time: Array, parts: dict[str, Array]
) -> tuple[dict[str, Signal], dict[str, tuple[str, ...]]]:
    """Named signals of all runs, the axis `run` left out where there is only one."""
    model, many = simulator.model, len(simulator.runs) > 1
    mechanism = model.mechanism
    names, units = tuple(model.names), tuple(c.unit for c in mechanism.coordinates)
    active = tuple(names[i] for i in model.active)
    axes: dict[str, tuple[str, ...]] = {"coordinate": names, "actuator": active, "axis": ("x", "y", "z")}
    if many:
        axes["run"] = tuple(str(k + 1) for k in range(len(simulator.runs)))
    found: dict[str, list[Array]] = {}
    for k, run in enumerate(simulator.runs):
        for key, x in observe.seen(run.model, *(parts[p][:, k] for p in ("q", "v", "a"))).items():
            found.setdefault(key, []).append(x)
    found["tau"] = [parts["tau"][:, k] for k in range(len(simulator.runs))]
    whole = {k: np.stack(x, axis=1) if many else x[0] for k, x in found.items()}
    signals: dict[str, Signal] = {}

    def add(key: str, dims: tuple[str, ...], unit: str | tuple[str, ...], about: str) -> None:
        if key in whole and whole[key].size:
            signals[key] = Signal(whole[key], (("run", *dims) if many else dims), unit, about)

    add("position", ("coordinate",), units, "joint, platform and elastic coordinates; rotation vectors for ball joints")
    add("velocity", ("coordinate",), tuple(f"{u}/s" for u in units), "their rates")
    add("acceleration", ("coordinate",), tuple(f"{u}/s^2" for u in units), "their accelerations")
    add("tau", ("actuator",), tuple(_FORCE[units[i]] for i in model.active), "forces and torques of the actuators")
    if mechanism.points:
        axes["point"] = tuple(mechanism.points)
        add("point_position", ("point", "axis"), "m", "positions of the named points in the base")
        add("point_velocity", ("point", "axis"), "m/s", "their velocities")
        add("point_acceleration", ("point", "axis"), "m/s^2", "their accelerations")
        add("point_deformation", ("point", "axis"), "m", "their distance from the robot that does not bend, actuators alike")
    if "attachment_position" in whole:
        axes["attachment"] = tuple(observe.attachments(model))
        add("attachment_position", ("attachment", "axis"), "m", "positions of the places where loops close")
        add("attachment_deformation", ("attachment", "axis"), "m", "their distance from the robot that does not bend")
    for key, about in (
        ("kinetic", "kinetic energy, motors included"),
        ("elastic", "elastic energy"),
        ("gravity", "energy of weight"),
    ):
        add(f"energy_{key}", (), "J", about)
    add("power_lost", (), "W", "power lost by friction and damping")
    add("closure", (), "m or rad", "largest opening of any loop")
    return signals, axes


def _balance(settings: Settings, blocks: list[Block], signals: dict[str, Signal]) -> dict[str, float | None]:
    """Energy at the end less that at the start and the work done: zero but for errors of integration."""
    kinetic, elastic, gravity = (signals[f"energy_{k}"].values for k in ("kinetic", "elastic", "gravity"))
    total = kinetic + elastic + gravity
    work = np.concatenate([b.state.lanes("work")[: len(dict.fromkeys(b.runs)), 0] for b in blocks])
    last = [int(np.flatnonzero(np.isfinite(x))[-1]) for x in total.reshape(len(total), -1).T]
    gained = np.array([x[k] - x[0] for x, k in zip(total.reshape(len(total), -1).T, last, strict=True)])
    peak = float(np.nanmax(np.abs(kinetic + elastic), initial=0.0))
    if settings.method == "cvode":
        return {"energy_balance_error_J": None, "energy_balance_error": None}  # the work is not integrated there
    error = float(np.nanmax(np.abs(gained - work), initial=0.0))
    return {"energy_balance_error_J": error, "energy_balance_error": error / peak if peak > _MASSLESS else None}
