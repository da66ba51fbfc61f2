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
from supple.model.ports import Ports, outputs_of
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
    ahead: Array
    sample: float
    delay: float


@one_thread
def plant_at(
    model: Model, pose: Mapping[str, float], ask: Ask, assembly: str | None = None, cutoff: float = 0.0
) -> PosedPlant:
    """The PosedPlant of a robot at rest in a pose, held by constant forces of its actuators; modes faster than the cutoff
    (Hz, 0: none) die away at once, as simulations let them."""
    straight = posture(model, pose, assembly)
    rest = equilibrium(model, straight)
    if model.viscous is None:
        found = viscous_equivalent(model, rest.q, [model.names[i] for i in model.active])
        model = model if found is None else model.damped(found.D)
    sensors = single(model, rest.q, ask.sensors)
    units, columns = forces_of(model, rest.q, ask.actuators, ask.pushes)
    seen = [outputs_of(model, rest.q, [s.of]).rows[0] for s in sensors]
    watched = outputs_of(model, rest.q, list(ask.watched))
    ports = Ports((), (), np.vstack([*seen, watched.rows]))
    made = motions_between(model, rest, Ports((), (), columns.T), ports, free=True)
    n, m = len(made.squares), len(sensors)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-made.K, -_damping(made.D, made.squares, cutoff)]])
    B = np.vstack([np.zeros_like(made.B), made.B])
    C = np.hstack([made.C, np.zeros_like(made.C)])
    D = np.zeros((len(C), B.shape[1]))
    for i, s in enumerate(sensors):
        for _ in range(QUANTITIES.index(s.quantity)):
            C[i], D[i] = C[i] @ A, C[i] @ B
    at = dict(zip(model.names, values(model, straight).tolist(), strict=True))
    return PosedPlant(
        replace(ask, sensors=sensors, watched=watched.names), {model.names[i]: at[model.names[i]] for i in model.active},
        A, B, C[:m], D[:m], C[m:], D[m:], np.sqrt(np.abs(made.squares)) / (2 * np.pi), units, watched.units,
        (*notices(model, made.q), *_friction(model)),
    )  # fmt: skip


def _damping(D: Array, squares: Array, cutoff: float) -> Array:
    """D with modes faster than the cutoff damped critically, each by itself."""
    omega = np.sqrt(np.maximum(squares, 0.0))
    fast = omega > 2 * np.pi * cutoff if cutoff > 0 else np.zeros(len(D), dtype=bool)
    made = np.where(fast[:, None] | fast[None], 0.0, D)
    made[fast, fast] = 2 * omega[fast]
    return made


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
    slow = np.array([s.quantity == "displacement" for s in plant.ask.sensors])
    D = np.where(slow[:, None], plant.C[:, :n] @ still, plant.C[:, states] @ plant.B[states])
    D = np.where(np.array([s.quantity == "velocity" for s in plant.ask.sensors])[:, None], 0.0, D)
    return replace(
        plant, A=plant.A[np.ix_(states, states)], B=plant.B[states], C=plant.C[:, states], D=D, W=plant.W[:, states],
        S=plant.W[:, :n] @ still, frequencies_hz=plant.frequencies_hz[own],
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
    return SampledPlant(A, B, C, W, Phi, Gamma, ahead, sample, delay)


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
    shapes = np.zeros((len(plant.C), n))
    for i, s in enumerate(plant.ask.sensors):
        shapes[i] = plant.C[i, n:] if s.quantity == "velocity" else plant.C[i, :n]
    seen = np.abs(shapes) / np.maximum(np.abs(shapes).max(axis=1), 1e-300)[:, None]
    return "is seen by none of the sensors" if seen[:, k].max() < _SLOW else ""
