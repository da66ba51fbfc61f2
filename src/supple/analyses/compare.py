"""Formulations side by side: their matrices, forces and frequencies at a pose, how they differ, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.formulations import registry
from supple.machine import Machine
from supple.model.algebra import Array, eigh, least_squares, one_thread
from supple.model.closing import close, values
from supple.model.equilibrium import equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import posture
from supple.model.speed import seconds_per_evaluation
from supple.models import builder
from supple.results import Compared, Comparison, Moved, Simulation
from supple.robot.written import Written, pose_of, seconds
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator

ROUNDING = 1e-10  # differences below are rounding
_BENT = {"m": 1e-3, "rad": 1e-2}  # elastic coordinates of the state at which forces are compared
_MOVING = {"m": 0.3, "rad": 1.0}


@one_thread
def compare(
    robot: Machine,
    at: Mapping[str, Written] | None = None,
    *,
    only: Sequence[str] = (),
    assembly: str | None = None,
    count: int = 6,
    motion: str | None = None,
    tol: Sequence[float] = (),
    duration: Written | None = None,
    timed: bool = True,
) -> Comparison:
    """The formulations of one robot (those in `only`, all if it is empty), each beside the first.

    M and f are compared at a moving, bent and closed state near the pose `at`, and with half the deformation: the exponent
    with which a difference shrinks is its order. Options as of `api.Robot.compare`."""
    first, *others = chosen_formulations(only)
    models: dict[str, Model | str] = {first: robot.model(first), **{name: _taken(robot, name) for name in others}}
    integrated = [name for name, model in models.items() if not isinstance(model, str)]
    motions = None if motion is None else _motions(robot, motion, integrated, tol, seconds(duration, "duration"))
    pose = pose_of(robot.mechanism(), at)
    return compared(models, pose, assembly=assembly, count=count, generated=_generated(models), timed=timed, motions=motions)


def chosen_formulations(only: Sequence[str]) -> list[str]:
    """The reference, and the formulations asked for (all if none is)."""
    wanted = {registry.formulation(name).name for name in only}
    return [name for k, name in enumerate(registry.names()) if k == 0 or not only or name in wanted]


def _taken(robot: Machine, formulation: str) -> Model | str:
    """The robot by a formulation, or why it does not take it."""
    try:
        return robot.model(formulation)
    except SuppleError as reason:
        return str(reason)


def _generated(models: Mapping[str, Model | str]) -> dict[str, int]:
    """Operations of the forward models, as derived, of the formulations that have one for this robot."""
    made = {}
    for name, model in models.items():
        if not isinstance(model, str) and "forward" in registry.formulation(name).models:
            found = model.memory.number("operations of the forward model", partial(_forward_operations, name, model))
            if found is not None:
                made[name] = found
    return made


def _forward_operations(formulation: str, model: Model) -> int | None:
    try:
        return builder("forward", formulation)(model.mechanism).operations
    except SuppleError:
        return None


def _motions(
    robot: Machine, motion: str, formulations: Sequence[str], tolerances: Sequence[float], duration: float | None
) -> dict[str, list[Simulation] | str]:
    """A motion by each formulation at every tolerance, loosest first, or why a formulation does not integrate it."""
    read = robot.motion(motion, duration)
    made: dict[str, list[Simulation] | str] = {}
    wanted = sorted(tolerances, reverse=True)
    for name in formulations:
        try:
            own = simulator(robot, read, formulation=name, duration=duration)
            usual = own.scaled(Settings()).tolerance
            wanted = wanted or [usual, usual / 10, usual / 100]  # those of the first, for all
            made[name] = [integrate(own, Settings(tolerance=tol)) for tol in wanted]
        except SuppleError as reason:
            if name == formulations[0]:
                raise
            made[name] = str(reason)
    return made


def compared(
    models: Mapping[str, Model | str],
    at: Mapping[str, float] | None = None,
    *,
    assembly: str | None = None,
    count: int = 6,
    generated: Mapping[str, int] | None = None,
    timed: bool = True,
    motions: Mapping[str, Sequence[Simulation] | str] | None = None,
) -> Comparison:
    """Models of one robot, each beside the first.

    models: formulation -> its Model, or why it does not take the robot; generated: operations of the forward models, where
    there are any; motions: one motion, simulated by each formulation at the same tolerances, or why one does not."""
    taken = {name: m for name, m in models.items() if isinstance(m, Model)}
    if not taken:
        raise SuppleError("no formulation takes this robot")
    reference, first = next(iter(taken.items()))
    q = posture(first, at, assembly)
    states = [_state(first, q, share) for share in (1.0, 0.5)]
    true = [_matrices(first, *state) for state in states]
    frequencies = {name: _frequencies(model, q, count) for name, model in taken.items()}
    rows = []
    for name, model in models.items():
        if isinstance(model, str):
            rows.append(Compared(name, registry.formulation(name).expected, model))
            continue
        gaps = [_gaps(_matrices(model, *state), found) for state, found in zip(states, true, strict=True)]
        seconds = seconds_per_evaluation(model, "forces") if timed else None
        operations = model.function("forces").stored.operations
        rows.append(
            Compared(
                name, registry.formulation(name).expected, "", gaps[0][0], gaps[0][1], _order([g[0] for g in gaps]),
                _order([g[1] for g in gaps]), tuple(frequencies[name]),
                _largest(frequencies[name], frequencies[reference]), operations, (generated or {}).get(name),
                None if seconds is None else 1e6 * seconds, *_moved(name, reference, motions or {}),
            )
        )  # fmt: skip
    pose = dict(zip(first.names, map(float, values(first, q)), strict=True))
    joints = {c.name: pose[c.name] for c in first.mechanism.coordinates if c.kind != "elastic"}
    return Comparison(first.mechanism.name, reference, joints, tuple(rows))


def _state(model: Model, q: Array, share: float) -> tuple[Array, Array, Array]:
    """A closed state with bent bodies, velocities that keep the loops closed, and accelerations."""
    rng = np.random.default_rng(11)
    coordinates = model.mechanism.coordinates
    elastic = np.array([_BENT[c.unit] if c.kind == "elastic" else 0.0 for c in coordinates])
    step = share * elastic * rng.uniform(-1, 1, model.nv)
    loose = [i for i, c in enumerate(coordinates) if c.kind != "active"]
    bent = close(model, model.retract(q, step), loose)
    if bent is None:
        raise SuppleError(f"{model.mechanism.name}: its loops do not close when its bodies bend at this pose; try another")
    moving = np.array([_MOVING[c.unit] * (0.1 * share if c.kind == "elastic" else 1.0) for c in coordinates])
    v = moving * rng.uniform(-1, 1, model.nv)
    J = model.jacobian(bent)
    v = v - least_squares(J, J @ v) if len(J) else v
    return bent, v, 10 * moving * rng.uniform(-1, 1, model.nv)


def _matrices(model: Model, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """M, and f less its elastic forces, which would hide everything else."""
    return model.mass(q), model.forces(q, v, a) - model.forces(q, g=np.zeros(3))


def _gaps(found: tuple[Array, Array], true: tuple[Array, Array]) -> tuple[float, float]:
    """Largest differences of M and f, beside the largest of their entries."""
    gaps = [float(np.abs(x - y).max(initial=0) / np.abs(y).max(initial=1e-300)) for x, y in zip(found, true, strict=True)]
    return gaps[0], gaps[1]


def _order(gaps: list[float]) -> float | None:
    """The power of the deformation with which a difference shrinks; None if it is rounding."""
    return float(np.log2(gaps[0] / gaps[1])) if min(gaps) > ROUNDING else None


def _frequencies(model: Model, q: Array, count: int) -> Array:
    """The lowest natural frequencies (Hz) at the pose, actuators held."""
    linear = linearise(model, equilibrium(model, q))
    if not linear.M.size:
        return np.zeros(0)
    squares = eigh(0.5 * (linear.K + linear.K.T), linear.M)[0][:count]
    made: Array = np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi)
    return made


def _largest(found: Array, true: Array) -> float:
    if len(found) != len(true):
        return float("nan")
    return float((np.abs(found - true) / np.maximum(np.abs(true), 1e-9)).max(initial=0))


def _moved(
    name: str, reference: str, motions: Mapping[str, Sequence[Simulation] | str]
) -> tuple[str, tuple[Moved, ...]]:  # fmt: skip
    """What a formulation integrates (or why not), and the motion at every tolerance beside the reference's."""
    own, true = motions.get(name, ()), motions.get(reference, ())
    if isinstance(own, str):
        return own, ()
    if not own or isinstance(true, str):
        return "", ()
    made = tuple(
        Moved(
            float(x.summary["tolerance"]), int(x.summary["steps"]), int(x.summary["evaluations"]),
            float(x.summary["worst_closure"]), _motion_gaps(x, y),
        )
        for x, y in zip(own, true, strict=True)
    )  # fmt: skip
    return f"{own[0].summary['integrated']}, {own[0].summary['model']}", made


def _motion_gaps(found: Simulation, true: Simulation) -> dict[str, float]:
    """Largest difference of every signal, relative to the signal's largest value, over the time both have."""
    gaps = {}
    for key, signal in true.signals.items():
        if key not in found.signals or key == "closure" or signal.values.dtype.kind != "f":
            continue
        x, y = found.signals[key].values, signal.values
        count = min(len(x), len(y))
        if x.shape[1:] == y.shape[1:] and y[:count].size:
            gaps[key] = float(np.nanmax(np.abs(x[:count] - y[:count])) / max(float(np.nanmax(np.abs(y[:count]))), 1e-9))
    return gaps
