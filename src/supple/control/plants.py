"""The robot about a pose as controllers meet it: modes in continuous time, and sampled with the delay of its forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import expm

from supple.errors import SuppleError
from supple.model.algebra import Array, one_thread
from supple.model.closing import values
from supple.model.equilibrium import equilibrium
from supple.model.limits import notices
from supple.model.model import Model
from supple.model.ports import Ports, in_plane, outputs_of, point_rows
from supple.model.posture import posture
from supple.model.sensors import forces_of, single
from supple.model.small_motions import motions_between
from supple.model.structural import viscous_equivalent
from supple.motion.laws import QUANTITIES, Sensor

_SLOW = 1e-6  # of the largest squared frequency: modes that nothing brings back


@dataclass(frozen=True)
class Ask:
    """What a controller is to be made of: sensors, actuators, pushes and outputs that are watched, by name."""

    sensors: tuple[Sensor, ...]
    actuators: tuple[str, ...]
    pushes: tuple[str, ...]
    watched: tuple[str, ...]


@dataclass(frozen=True)
class PosedPlant:
    """x' = A x + B u, y = C x + D u (sensors), z = W x + S u (watched displacements) about a pose; x: amplitudes of the
    modes, actuators free, then their rates. `frequencies_hz`: of the undamped modes. `at`: actuators."""

    ask: Ask
    at: Mapping[str, float]
    A: Array
    B: Array
    C: Array
    D: Array
    W: Array
    S: Array
    loads: Array  # B of forces at all named points
    shapes: Array  # of the modes in the sensors' displacements
    motions: Array  # of the modes in all coordinates of the robot
    frequencies_hz: Array
    units: tuple[str, ...]  # of forces
    watched_units: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @property
    def modes(self) -> int:
        return len(self.frequencies_hz)


@dataclass(frozen=True)
class SampledPlant:
    """z+ = A z + B u, y = C z, watched W z. z: x, then forces of the samples before, last first. Phi, Gamma: of x from
    sample to sample under held forces; ahead: x at the moment at which u begins to act, from z."""

    A: Array
    B: Array
    C: Array
    W: Array
    Phi: Array
    Gamma: Array
    loads: Array  # what unit forces at points, held for a sample, add to z
    ahead: Array
    sample: float
    delay: float


@one_thread
def plant_at(model: Model, pose: Mapping[str, float], ask: Ask, assembly: str | None = None) -> PosedPlant:
    """The PosedPlant of a robot at rest in a pose, held by constant forces of its actuators."""
    straight = posture(model, pose, assembly)
    rest = equilibrium(model, straight)
    if model.viscous is None:
        found = viscous_equivalent(model, rest.q, [model.names[i] for i in model.active])
        model = model if found is None else model.damped(found.D)
    sensors = single(model, rest.q, ask.sensors)
    units, columns = forces_of(model, rest.q, ask.actuators, ask.pushes)
    seen = [outputs_of(model, rest.q, [s.of]).rows[0] for s in sensors]
    watched = outputs_of(model, rest.q, list(ask.watched))
    ports = Ports((), (), np.vstack([*seen, watched.rows, np.eye(model.nv)]))
    pushed = np.vstack([columns.T, *_at_points(model, rest.q)])
    made = motions_between(model, rest, Ports((), (), pushed), ports, free=True)
    n, m = len(made.squares), len(sensors)
    shapes, places, motions = np.split(made.C, [m, m + len(watched.rows)])
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-made.K, -made.D]])
    forces, loads = np.split(np.vstack([np.zeros_like(made.B), made.B]), [columns.shape[1]], axis=1)
    B = forces
    C, D = _sensor_rows(sensors, shapes, A, B)
    W = np.hstack([places, np.zeros_like(places)])
    at = dict(zip(model.names, values(model, straight).tolist(), strict=True))
    return PosedPlant(
        replace(ask, sensors=sensors, watched=watched.names), {model.names[i]: at[model.names[i]] for i in model.active},
        A, B, C, D, W, np.zeros((len(W), B.shape[1])), loads, shapes, motions, np.sqrt(np.abs(made.squares)) / (2 * np.pi),
        units, watched.units, (*notices(model, made.q), *_friction(model)),
    )  # fmt: skip


def _at_points(model: Model, q: Array) -> list[Array]:
    """Rows of forces at all named points, those in its plane for a planar robot."""
    axes = [k for k in in_plane(model) if k < 3]
    return [point_rows(model, q, point)[axes] for point in model.mechanism.points]


def cut_off(plant: PosedPlant, cutoff: float) -> PosedPlant:
    """The plant with modes faster than the cutoff (Hz, 0: none) damped critically, each by itself, as simulations may do."""
    fast = plant.frequencies_hz > cutoff
    if not cutoff > 0 or not fast.any():
        return plant
    n, A = plant.modes, plant.A.copy()
    D = np.where(fast[:, None] | fast[None], 0.0, A[n:, n:])
    D[fast, fast] = -4 * np.pi * plant.frequencies_hz[fast]
    A[n:, n:] = D
    C, _ = _sensor_rows(plant.ask.sensors, plant.shapes, A, plant.B)
    return replace(plant, A=A, C=C)


def _sensor_rows(sensors: Sequence[Sensor], shapes: Array, A: Array, B: Array) -> tuple[Array, Array]:
    """C and D of sensors whose displacements are `shapes` (sensors, modes)."""
    C = np.hstack([shapes, np.zeros_like(shapes)])
    D = np.zeros((len(C), B.shape[1]))
    for i, s in enumerate(sensors):
        for _ in range(QUANTITIES.index(s.quantity)):
            C[i], D[i] = C[i] @ A, C[i] @ B
    return C, D


def _friction(model: Model) -> tuple[str, ...]:
    """Coulomb friction is no part of a linear model."""
    own = [c.name for c in model.mechanism.coordinates if c.kind == "active" and float(c.coulomb or 0) > 0]
    if not own:
        return ()
    listed = ", ".join(own[:3]) + (" ..." if len(own) > 3 else "")
    return (f"Coulomb friction of {listed} is left out of linear models: it holds small motions back, and loops with it",)


def reduced(plant: PosedPlant, kept: Sequence[int]) -> PosedPlant:
    """The modes `kept` (counted from 0) alone; what the others give way at rest is added to displacements."""
    n, own = plant.modes, list(kept)
    rest = [k for k in range(n) if k not in set(own)]
    states = [*own, *(n + k for k in own)]
    K, B = -plant.A[n:, :n], plant.B[n:]
    still = np.zeros((n, B.shape[1]))
    if rest:
        still[rest] = np.linalg.lstsq(K[np.ix_(rest, rest)], B[rest], rcond=1e-13)[0]
    kinds = np.array([QUANTITIES.index(s.quantity) for s in plant.ask.sensors])[:, None]
    D = np.choose(kinds, [plant.shapes @ still, np.zeros_like(plant.D), plant.shapes[:, own] @ B[own]])
    return replace(
        plant, A=plant.A[np.ix_(states, states)], B=plant.B[states], C=plant.C[:, states], D=D, W=plant.W[:, states],
        S=plant.W[:, :n] @ still, loads=plant.loads[states], shapes=plant.shapes[:, own],
        motions=plant.motions[:, own], frequencies_hz=plant.frequencies_hz[own],
    )  # fmt: skip


@one_thread
def sampled(plant: PosedPlant, sample: float, delay: float = 0.0) -> SampledPlant:
    """The plant under forces that are held for a sample each and act `delay` after their sample; exact. Sensors are read
    just before forces change."""
    whole = int(np.floor(delay / sample + 1e-9))
    part = max(0.0, delay - whole * sample)
    part = 0.0 if part < 1e-9 * sample else part
    Phi, Gamma = _held(plant.A, plant.B, sample)
    _, late = _held(plant.A, plant.B, sample - part)
    first, early = _held(plant.A, plant.B, part)
    through, _ = _held(plant.A, plant.B, sample - part)
    n, r, slots = len(plant.A), plant.B.shape[1], whole + 1
    size = n + r * slots
    A, B = np.zeros((size, size)), np.zeros((size, r))
    A[:n, :n] = Phi
    A[:n, size - r :] += through @ early  # of the force before, until the change
    if whole == 0:
        B[:n] = late
    else:
        A[:n, size - 2 * r : size - r] += late
    B[n : n + r] = np.eye(r)
    for k in range(1, slots):
        A[n + k * r : n + (k + 1) * r, n + (k - 1) * r : n + k * r] = np.eye(r)
    C, W = (np.zeros((len(x), size)) for x in (plant.C, plant.W))
    C[:, :n], C[:, size - r :] = plant.C, plant.D
    W[:, :n], W[:, size - r :] = plant.W, plant.S
    ahead = np.zeros((n, size))
    ahead[:, :n], ahead[:, size - r :] = first, early
    for k in range(whole):  # a sample on, under the next force in line
        ahead = Phi @ ahead
        ahead[:, size - (k + 2) * r : size - (k + 1) * r] += Gamma
    loads = np.vstack([_held(plant.A, plant.loads, sample)[1], np.zeros((size - n, plant.loads.shape[1]))])
    return SampledPlant(A, B, C, W, Phi, Gamma, loads, ahead, sample, delay)


def _held(A: Array, B: Array, over: float) -> tuple[Array, Array]:
    """exp(A t), and what a unit force held for t adds."""
    n, r = B.shape
    whole = np.zeros((n + r, n + r))
    whole[:n, :n], whole[:n, n:] = A * over, B * over
    made = expm(whole)
    return made[:n, :n], made[:n, n:]


def kept_modes(plant: PosedPlant, count: int | None, sample: float) -> list[int]:
    """The lowest modes: `count` of them, or those below 0.45 of the sampling rate that forces move and sensors see."""
    if count is not None:
        if not 1 <= count <= plant.modes:
            raise SuppleError(f"modes={count}: the robot has 1 to {plant.modes} of them, actuators free")
        for k in range(count):
            reason = _out_of_reach(plant, k)
            if reason:
                raise SuppleError(f"modes={count}: mode {k + 1} ({plant.frequencies_hz[k]:.4g} Hz) {reason}; leave it out")
        return list(range(count))
    low = [k for k in range(plant.modes) if plant.frequencies_hz[k] < 0.45 / sample]
    return [k for k in low if not _out_of_reach(plant, k)] or [0]


def _out_of_reach(plant: PosedPlant, k: int) -> str:
    """Why a mode cannot be controlled, if it cannot."""
    n = plant.modes
    B = np.abs(plant.B[n:]) / np.maximum(np.abs(plant.B[n:]).max(axis=0), 1e-300)
    if B[k].max() < _SLOW:
        return "is moved by none of the actuators"
    seen = np.abs(plant.shapes) / np.maximum(np.abs(plant.shapes).max(axis=1), 1e-300)[:, None]
    return "is seen by none of the sensors" if seen[:, k].max() < _SLOW else ""
