"""Poles refined by a nonlinear fit of responses (variable projection; Golub & Pereyra 1973), residues, and deviations.

H(s) = s^order (sum_r R_r / (s - p_r) + conj + E) + s^(order-2) L with s = j w + a, a the decay of an exponential window. All
residues are linear and are eliminated for given poles; least squares of additive noise has no bias, unlike that of pLSCF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.measurements import Responses
from supple.model.algebra import one_thread
from supple.robot.bodies.record import Array

_ROUNDS = 60


@dataclass(frozen=True)
class ModalFit:
    """Poles, residues (modes, outputs, inputs), restored responses, their errors per channel, deviations of the real and
    imaginary parts of poles (modes, 2), and the sum of squares by deviations with its degrees of freedom."""

    poles: Array
    residues: Array
    restored: Array
    noise: Array
    deviation: Array
    cost: float
    count: int


@one_thread
def modal_fit(responses: Responses, poles: Array, rounds: int = _ROUNDS) -> ModalFit:
    """The ModalFit from poles that are nearly right; few rounds are enough to compare choices of poles."""
    problem = _Problem(responses)
    x = np.column_stack([poles.real, poles.imag]).ravel()
    weights = np.ones(problem.channels)
    for _ in range(3 if rounds == _ROUNDS else 2):  # channels are weighed by what they leave
        x, state = _levenberg(problem, x, weights, rounds)
        weights = 1 / np.maximum(state.noise, 1e-12 * state.noise.max() + 1e-300)
    J = problem.jacobian(x, state, weights)
    gram = J.T @ J
    if not np.isfinite(gram).all():
        raise SuppleError("modes cannot be fitted: the values of the responses are too far apart to be computed with")
    covariance = np.linalg.pinv(gram)
    freedom = 2 * problem.lines * problem.channels - len(x) - problem.channels * state.coefficients.shape[0]
    left = float(np.sum((state.rest * weights) ** 2)) / max(freedom, 1)
    deviation = np.sqrt(np.maximum(np.diag(covariance) * left, 0)).reshape(-1, 2)
    found = x[::2] + 1j * x[1::2]
    order = np.argsort(np.abs(found))
    residues = problem.residues(state, len(found))
    cost = float(np.sum((state.rest * weights) ** 2))
    return ModalFit(
        found[order], residues[order], problem.restored(state), state.noise.reshape(problem.shape[1:]), deviation[order],
        cost, 2 * problem.lines * problem.channels,
    )  # fmt: skip


@dataclass(frozen=True)
class _State:
    Q: list[Array]
    coefficients: Array
    rest: Array
    noise: Array
    columns: Array


class _Problem:
    """Responses as real columns (twice the lines, channels) of one order of differentiation each."""

    def __init__(self, responses: Responses) -> None:
        self.s = 2j * np.pi * responses.frequencies_hz + responses.decay
        self.shape = responses.values.shape
        order = np.repeat(np.array(responses.orders), self.shape[2])
        flat = responses.values.reshape(self.shape[0], -1)
        self.lines, self.channels = flat.shape
        self.order = order
        self.groups = {int(k): np.flatnonzero(order == k) for k in np.unique(order)}
        self.y = np.vstack([flat.real, flat.imag])

    def basis(self, x: Array) -> Array:
        """Complex columns of displacement: two for each mode, then what is below and above the band."""
        s = self.s[:, None]
        p = (x[::2] + 1j * x[1::2])[None]
        one, two = 1 / (s - p), 1 / (s - p.conj())
        made = np.empty((self.lines, 2 * p.shape[1] + 4), dtype=complex)
        made[:, 0:-4:2], made[:, 1:-4:2] = one + two, 1j * (one - two)
        scale = np.abs(self.s).max()
        made[:, -4], made[:, -3] = 1.0, 1 / (self.s / scale) ** 2
        made[:, -2], made[:, -1] = self.s / scale, 1 / (self.s / scale)
        return made

    def slopes(self, x: Array) -> Array:
        """Derivatives of the columns of each mode by real and imaginary part of its pole: (2 modes, lines, 2)."""
        s = self.s[:, None]
        p = (x[::2] + 1j * x[1::2])[None]
        one, two = 1 / (s - p) ** 2, 1 / (s - p.conj()) ** 2
        made = np.empty((2 * p.shape[1], self.lines, 2), dtype=complex)
        made[0::2, :, 0], made[0::2, :, 1] = (one + two).T, (1j * (one - two)).T
        made[1::2, :, 0], made[1::2, :, 1] = (1j * (one - two)).T, (-(one + two)).T
        return made

    def solve(self, x: Array) -> _State:
        columns = self.basis(x)
        coefficients = np.zeros((columns.shape[1], self.channels))
        rest = np.empty_like(self.y)
        Q = {}
        for k, own in self.groups.items():
            wide = columns * (self.s**k)[:, None]
            real = np.vstack([wide.real, wide.imag])
            size = np.linalg.norm(real, axis=0)
            U, sizes, Vt = np.linalg.svd(real / size, full_matrices=False)
            kept = sizes > 1e-10 * sizes[0]
            part = U[:, kept].T @ self.y[:, own]
            coefficients[:, own] = (Vt[kept].T @ (part / sizes[kept, None])) / size[:, None]
            rest[:, own] = self.y[:, own] - U[:, kept] @ part
            Q[k] = U[:, kept]
        freedom = max(2 * self.lines - columns.shape[1], 1)
        noise = np.sqrt((rest**2).sum(0) / freedom)
        return _State([Q[k] for k in self.groups], coefficients, rest, noise, columns)

    def jacobian(self, x: Array, state: _State, weights: Array) -> Array:
        """Derivatives of the weighted rest by the poles (Kaufman's)."""
        slopes = self.slopes(x)
        made = np.empty((len(x), *self.y.shape))
        for (k, own), Q in zip(self.groups.items(), state.Q, strict=True):
            for j in range(len(x)):
                r = j // 2
                moved = (slopes[j] * (self.s**k)[:, None]) @ state.coefficients[2 * r : 2 * r + 2, own]
                real = np.vstack([moved.real, moved.imag])
                made[j][:, own] = -(real - Q @ (Q.T @ real))
        flat: Array = (made * weights).reshape(len(x), -1).T
        return flat

    def residues(self, state: _State, modes: int) -> Array:
        flat: Array = state.coefficients[0 : 2 * modes : 2] + 1j * state.coefficients[1 : 2 * modes : 2]
        return flat.reshape(modes, *self.shape[1:])

    def restored(self, state: _State) -> Array:
        flat: Array = (state.columns @ state.coefficients) * (self.s[:, None] ** self.order[None])
        return flat.reshape(self.shape)


def _levenberg(problem: _Problem, x: Array, weights: Array, rounds: int) -> tuple[Array, _State]:
    state = problem.solve(x)
    cost = float(np.sum((state.rest * weights) ** 2))
    trust = 1e-3
    for _ in range(rounds):
        J = problem.jacobian(x, state, weights)
        gram, slope = J.T @ J, J.T @ (state.rest * weights).ravel()
        moved = False
        for _ in range(12):  # the trust shrinks until a step helps
            step = -np.linalg.solve(gram + trust * np.diag(np.diag(gram) + 1e-300), slope)
            new = x + step
            if np.all(new[1::2] > 0) and np.all(new[::2] < 0):
                tried = problem.solve(new)
                lower = float(np.sum((tried.rest * weights) ** 2))
                if lower < cost:
                    moved = True
                    break
            trust *= 10
        if not moved:
            break
        gain, x, state, cost, trust = (cost - lower) / cost, new, tried, lower, max(trust * 0.1, 1e-12)
        if gain < 1e-10 and np.abs(step).max() < 1e-7 * np.abs(x).max():
            break
    return x, state


@one_thread
def missing_poles(responses: Responses, poles: Array, most: int = 2) -> list[complex]:
    """Poles that would take most from what given ones leave of the responses, best first, over a grid of the band."""
    problem = _Problem(responses)
    x = np.column_stack([poles.real, poles.imag]).ravel()
    state = problem.solve(x)
    rest = state.rest / np.maximum(state.noise, 1e-300)
    f = responses.frequencies_hz
    ratios = [0.003, 0.01, 0.03] if not len(poles) else [float(np.median(-poles.real / np.abs(poles)))]
    found: list[tuple[float, complex]] = []
    grid = f[:: max(1, len(f) // 300)]
    for ratio in ratios:
        for hz in grid:
            w = 2 * np.pi * hz
            pole = complex(-ratio * w, w * np.sqrt(1 - ratio**2))
            found.append((_taken(problem, state, rest, pole), pole))
    found.sort(key=lambda pair: -pair[0])
    chosen: list[complex] = []
    for _, pole in found:
        if all(abs(pole - other) > 0.02 * abs(pole) for other in chosen):
            chosen.append(pole)
        if len(chosen) == most:
            break
    return chosen


def _taken(problem: _Problem, state: _State, rest: Array, pole: complex) -> float:
    """What a pole would take from the weighted rest."""
    one, two = 1 / (problem.s - pole), 1 / (problem.s - np.conj(pole))
    total = 0.0
    for (k, own), Q in zip(problem.groups.items(), state.Q, strict=True):
        wide = np.column_stack([one + two, 1j * (one - two)]) * (problem.s**k)[:, None]
        real = np.vstack([wide.real, wide.imag])
        real = real - Q @ (Q.T @ real)
        U, _ = np.linalg.qr(real)
        total += float(np.sum((U.T @ rest[:, own]) ** 2))
    return total
