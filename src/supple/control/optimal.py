"""Laws on the modes of a robot: linear-quadratic or placed feedback of a state that a Kalman filter estimates.

The filter knows forces that nobody asked for (white, held for a sample) and, as a disturbance observer, forces that drift,
which the law then takes off."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag
from scipy.signal import place_poles

from supple.control.loops import Loop, radius
from supple.control.plants import PosedPlant, SampledPlant, reduced, sampled
from supple.control.riccati import riccati
from supple.errors import SuppleError
from supple.model.algebra import Array, one_thread
from supple.motion.laws import Estimate, LawPart

LEAST_DAMPING = 0.02  # of modes held out


@dataclass(frozen=True)
class Noise:
    """Standard deviations: of forces held for a sample (N, N m), of the drift of forces in a second, of loads at every named
    point held for a sample (N), of every sensor, and of what modes held out add to every sensor."""

    force: float
    drift: float
    load: float
    sensors: Array
    held_out: Array


@one_thread
def quadratic_gain(plant: SampledPlant, deviation: Array, effort: Array) -> Array:
    """K of u = -K z that minimises the sum of (watched / deviation)^2 + (u / effort)^2 over all samples."""
    Q = plant.W.T @ (plant.W / deviation[:, None] ** 2)
    R = np.diag(1.0 / effort**2)
    try:
        X = riccati(plant.A, plant.B, Q, R)
        gain: Array = np.asarray(np.linalg.solve(R + plant.B.T @ X @ plant.B, plant.B.T @ X @ plant.A))
    except (np.linalg.LinAlgError, ValueError) as problem:
        raise SuppleError(
            "lqg: there is no law that steadies these modes: watch outputs that see all motions (q), or keep fewer modes"
        ) from problem
    return gain


@one_thread
def placed_gain(posed: PosedPlant, plant: SampledPlant, damping: float, bandwidth: float) -> Array:
    """K of u = -K z after which every mode has at least this damping ratio at its own frequency, and motions that nothing
    brings back have the bandwidth (Hz). Forces late in line are foreseen, so that poles are where they are asked for."""
    wanted = np.exp(_wanted(posed, damping, bandwidth) * plant.sample)
    if len(set(np.round(wanted, 12))) < len(wanted):
        wanted = _apart(wanted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of robustness; whether poles are in their places is looked at below
            found = place_poles(plant.Phi, plant.Gamma, wanted)
    except ValueError as problem:
        raise SuppleError(f"poles: they cannot be placed: {problem}") from problem
    reached = np.linalg.eigvals(plant.Phi - plant.Gamma @ found.gain_matrix)
    off = max(float(np.abs(reached - w).min()) for w in wanted)
    if off > 1e-3:
        raise SuppleError(
            "poles: they cannot be placed: actuators move some of these modes too little; keep fewer modes, or choose lqg"
        )
    made: Array = found.gain_matrix @ plant.ahead
    return made


def _wanted(posed: PosedPlant, damping: float, bandwidth: float) -> Array:
    """Poles (1/s) that the kept modes shall have."""
    n = posed.modes
    made: list[complex] = []
    for k in range(n):
        K, D = -posed.A[n + k, k], -posed.A[n + k, n + k]
        slow = 2 * np.pi * bandwidth
        omega = np.sqrt(K) if K > 0 else 0.0
        resting = omega < slow
        omega, own = (slow, 0.0) if resting else (omega, D / (2 * omega))
        zeta = min(0.99, max(damping, own, 0.7 if resting else 0.0))
        s = omega * complex(-zeta, np.sqrt(1 - zeta**2))
        made += [s, s.conjugate()]
    return np.array(made)


def _apart(poles: Array) -> Array:
    """Poles of equal modes, moved apart by thousandths."""
    made = poles.copy()
    for k in range(0, len(made), 2):
        while np.abs(made[:k] - made[k]).min(initial=1.0) < 1e-9:
            made[k] = made[k] * (1 - 1e-3)
            made[k + 1] = made[k].conjugate()
    return made


@one_thread
def observed_law(posed: PosedPlant, plant: SampledPlant, K: Array, noise: Noise) -> LawPart:
    """The law u = -K (estimate of z) - (estimate of drifting forces), as one that is told readings and forces.

    Filter: z^ = (I - M C) z + M y, then z <- A z^ + B u. Its `estimate`: watched displacements, with the covariance
    that that of z^ says, modes held out being noise."""
    r, drifts = plant.B.shape[1], noise.drift > 0
    A, B, C = plant.A, plant.B, plant.C
    G, W = np.hstack([B * noise.force, plant.loads * noise.load]), plant.W
    if drifts:
        A = np.block([[A, B], [np.zeros((r, len(A))), np.eye(r)]])
        B = np.vstack([B, np.zeros((r, r))])
        C, W = (np.hstack([x, np.zeros((len(x), r))]) for x in (C, W))
        G = block_diag(G, noise.drift * np.sqrt(plant.sample) * np.eye(r))
        K = np.hstack([K, np.eye(r)])
    R = np.diag(noise.sensors**2 + noise.held_out**2)
    try:
        P = riccati(A.T, C.T, G @ G.T, R)
    except (np.linalg.LinAlgError, ValueError) as problem:
        raise SuppleError(
            "the state cannot be estimated from these sensors: name others, keep fewer modes, or leave out drift"
        ) from problem
    M = np.linalg.solve(C @ P @ C.T + R, C @ P).T
    own = np.eye(len(A)) - M @ C
    after = own @ P @ own.T + M @ R @ M.T
    estimate = Estimate(posed.ask.watched, W @ own, W @ M, W @ after @ W.T)
    return LawPart(posed.at, A @ own, A @ M, B, -K @ own, -K @ M, estimate)


@one_thread
def stated(plant: SampledPlant, part: LawPart, noise: Noise) -> LawPart:
    """The part with the covariance that its estimates have on a whole robot in its loop: modes that it does not know ring
    with the same forces as those that it knows, so their share is neither white nor apart. As it was, if nothing lasts: the
    loop is not stable, or some mode is not damped at all."""
    loop, e = Loop(plant, part.A, part.B, part.E, part.C, part.D), part.estimate
    whole, r = loop.matrix(), plant.B.shape[1]
    if e is None or radius(whole) >= 1:
        return part
    pushed = np.zeros((len(whole), r + plant.loads.shape[1] + r))
    pushed[: len(plant.A)] = np.hstack([plant.B * noise.force, plant.loads * noise.load, np.zeros((len(plant.A), r))])
    if noise.drift > 0:  # what is estimated of a force that drifts, off what it is: the last states of the part
        pushed[-r:, -r:] = noise.drift * np.sqrt(plant.sample) * np.eye(r)
    read = np.vstack([plant.B @ part.D, part.B + part.E @ part.D]) * noise.sensors
    X = _lasting(whole, pushed @ pushed.T + read @ read.T)
    error, at_once = np.hstack([plant.W - e.D @ plant.C, -e.C]), e.D * noise.sensors
    return replace(part, estimate=replace(e, covariance=error @ X @ error.T + at_once @ at_once.T))


@one_thread
def held_out_noise(plant: PosedPlant, kept: Sequence[int], sample: float, delay: float, force: float, load: float) -> Array:
    """What modes that a law does not know add to each sensor (standard deviation), forces and loads acting at random: to the
    filter they are noise. Their damping is taken as LEAST_DAMPING at least."""
    rest = [k for k in range(plant.modes) if k not in set(kept) and plant.frequencies_hz[k] > 1e-3]
    if not rest:
        return np.zeros(len(plant.C))
    part = reduced(plant, rest)
    n = part.modes
    A = part.A.copy()
    least = 2 * LEAST_DAMPING * 2 * np.pi * part.frequencies_hz
    A[range(n, 2 * n), range(n, 2 * n)] = np.minimum(np.diag(A)[n:], -least)
    D = np.where(np.array([s.quantity == "acceleration" for s in plant.ask.sensors])[:, None], part.D, 0.0)
    made = sampled(replace(part, A=A, D=D), sample, delay)
    G = np.hstack([force * made.B, load * made.loads])
    spread = made.C @ _lasting(made.A, G @ G.T) @ made.C.T
    return np.sqrt(np.maximum(np.diag(spread), 0.0))


def _lasting(A: Array, Q: Array) -> Array:
    """X = A X A^T + Q of a stable A, by doubling."""
    X = Q
    for _ in range(40):
        X, A = X + A @ X @ A.T, A @ A
    return X


def slowest_sample(plant: PosedPlant) -> float:
    """The longest sampling time (s) that a law on these modes carries: 0.45 of the period of the fastest."""
    fastest = float(plant.frequencies_hz.max())
    return 0.45 / fastest if fastest > 0 else float("inf")


def continuous(z: Array, sample: float) -> Array:
    """Poles in 1/s from those of samples."""
    with np.errstate(divide="ignore"):
        made: Array = np.log(z.astype(complex)) / sample
    return made
