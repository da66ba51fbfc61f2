"""`SmallMotions`: a robot about an equilibrium between what pushes it and what is watched, in coordinates of unit mass.

eta'' + D eta' + (K + i H) eta = B u,  y = C eta, of reactions y = (C + i lossy) eta + rates eta' + inertial eta'' + direct u
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.model.algebra import Array, eigh, null_space, one_thread
from supple.model.damped_sums import DampedSums, damped_sums
from supple.model.equilibrium import Equilibrium, Linear, equilibrium, linearise
from supple.model.model import Model
from supple.model.ports import Ports, inputs_of, outputs_of

_CHUNK = 2_000_000  # complex numbers of the systems that are solved at once
_IDLE = 1e-13  # of the largest squared frequency: what resists less resists not at all
_ROUNDING = 1e-10  # of what rows, shapes and amplitudes would make if they did not cancel
QUANTITIES = {"displacement": 0, "velocity": 1, "acceleration": 2}


@dataclass(frozen=True)
class Reacting:
    """What reactions of loops follow besides amplitudes: losses, rates and accelerations (outputs, modes), and inputs
    (outputs, inputs) at once."""

    lossy: Array
    rates: Array
    inertial: Array
    direct: Array

    def only(self, kept: slice) -> Reacting:
        return Reacting(self.lossy[:, kept], self.rates[:, kept], self.inertial[:, kept], self.direct)

    def rows(self, C: Array) -> tuple[Array, Array, Array]:
        """What outputs are of amplitudes, rates and accelerations."""
        return C + 1j * self.lossy, self.rates, self.inertial


@dataclass(frozen=True)
class SmallMotions:
    """Matrices in the coordinates of the undamped modes, whose squared frequencies are `squares`, lowest first."""

    squares: Array
    K: Array
    D: Array
    H: Array
    B: Array
    C: Array
    inputs: Ports
    outputs: Ports
    q: Array
    reacting: Reacting | None = None  # if outputs are reactions of loops

    def only(self, kept: slice) -> SmallMotions:
        """The same with some of the modes alone."""
        return replace(
            self, squares=self.squares[kept], K=self.K[kept, kept], D=self.D[kept, kept], H=self.H[kept, kept],
            B=self.B[kept], C=self.C[:, kept], reacting=None if self.reacting is None else self.reacting.only(kept),
        )  # fmt: skip

    @property
    def loose(self) -> bool:
        """Whether nothing resists some motion, so that at 0 Hz there is no response to tell."""
        return bool((np.abs(self.squares) < _IDLE * np.abs(self.squares).max()).any())

    def viscous(self) -> Array:
        """D with structural damping as the viscous damping of every mode."""
        omega = np.sqrt(np.maximum(np.abs(self.squares), 1e-300))
        made: Array = self.D + self.H / np.sqrt(np.outer(omega, omega))
        return made

    @cached_property
    @one_thread
    def _sums(self) -> DampedSums | None:
        """All frequencies at once, if something resists every motion and its modes are not too alike."""
        return None if self.loose else damped_sums(self.squares, self.K, self.D, self.H, self.B)

    @one_thread
    def poles(self) -> Array:
        """Poles (1/s) of the upper half plane."""
        if self._sums is not None:
            return self._sums.poles
        omega = np.sqrt(np.abs(self.squares))
        omega[omega == 0] = 1.0
        n = len(omega)
        A = np.block([[np.zeros((n, n)), np.diag(omega)], [-(self.K + 1j * self.H) / omega, -self.D]])
        found = np.linalg.eigvals(A if self.H.any() else A.real)
        made: Array = found[found.imag > 0]
        return made

    @one_thread
    def rounding(self, frequencies_hz: Array) -> np.ndarray:
        """Which responses (outputs, inputs) are only rounding at most of these frequencies: rows across amplitudes."""
        omega = 2 * np.pi * np.asarray(frequencies_hz, dtype=float)
        omega = omega[omega != 0] if self.loose else omega
        if self.reacting is not None or not len(omega):
            return np.zeros((len(self.C), self.B.shape[1]), dtype=bool)
        eta = self._amplitudes(omega, (np.eye(len(self.squares)),))
        most = np.linalg.norm(self.C, axis=1)[:, None] * np.linalg.norm(eta, axis=1)[:, None, :]
        return np.asarray(np.median(np.abs(self.C @ eta) / np.maximum(most, 1e-300), axis=0) <= _ROUNDING)

    @one_thread
    def response(self, frequencies_hz: Array, order: int = 0) -> Array:
        """Displacements, velocities (order 1) or accelerations (2) of unit inputs: (frequencies, outputs, inputs).

        Not a number at 0 Hz where nothing resists a motion."""
        omega = 2 * np.pi * np.asarray(frequencies_hz, dtype=float)
        made = np.full((len(omega), len(self.C), self.B.shape[1]), np.nan, dtype=complex)
        moving = np.flatnonzero(omega) if self.loose else np.arange(len(omega))
        own = self.reacting
        seen = self._amplitudes(omega[moving], (self.C,) if own is None else own.rows(self.C))
        seen = seen if own is None else seen + own.direct
        made[moving] = (1j * omega[moving, None, None]) ** order * seen
        return made

    def _amplitudes(self, omega: Array, rows: Sequence[Array]) -> Array:
        """Sums of rows across amplitudes, rates, accelerations: (frequencies, outputs, inputs) at frequencies (rad/s)."""
        made = np.zeros((len(omega), len(rows[0]), self.B.shape[1]), dtype=complex)
        if self._sums is not None:
            for k, part in enumerate(rows):
                made += (1j * omega[:, None, None]) ** k * self._sums.seen(part, omega)
            return made
        size = max(1, _CHUNK // max(1, self.K.size))
        for begin in range(0, len(omega), size):
            w = omega[begin : begin + size, None, None]
            system = self.K + 1j * self.H + 1j * w * self.D - w**2 * np.eye(len(self.K))
            eta = np.linalg.solve(system, self.B[None])
            made[begin : begin + size] = sum((1j * w) ** k * (part @ eta) for k, part in enumerate(rows))
        return made


def small_motions(
    model: Model, straight: Array, pushed: list[str], watched: list[str], *, free: bool, w: Array
) -> SmallMotions:
    """The SmallMotions of a robot that rests near a posture under its weight and the wrenches w."""
    if not free and any(name.partition(".")[0] == "tau" for name in pushed):
        raise SuppleError("forces of actuators move nothing while the actuators are held; set them free")
    rest = equilibrium(model, straight, w=w)
    return motions_between(
        model, rest, inputs_of(model, rest.q, pushed), outputs_of(model, rest.q, watched, reactions=True), free=free, w=w
    )  # fmt: skip


def motions_between(
    model: Model, rest: Equilibrium, inputs: Ports, outputs: Ports, *, free: bool, w: Array | None = None
) -> SmallMotions:
    """The SmallMotions about an equilibrium between these ports."""
    linear = linearise(model, rest, free, **({} if w is None else {"w": w}))
    if not len(linear.M):
        raise SuppleError(f"{model.mechanism.name} has nothing that moves with its actuators held; set them free")
    try:
        squares, V = eigh(0.5 * (linear.K + linear.K.T), linear.M)
    except np.linalg.LinAlgError as error:
        raise PoseError(model.massless(linear.M, linear.Z)) from error
    T = linear.Z @ V
    K, D, H = (V.T @ part @ V for part in (linear.K, linear.D, linear.H))
    made = SmallMotions(squares, K, D, H, _across(inputs.rows, T).T, _across(outputs.rows, T), inputs, outputs, rest.q)
    return made if not outputs.reactions else _reacting(model, made, linear, T, free)


def _across(rows: Array, T: Array) -> Array:
    """rows @ T, in which rows that cancel but for rounding are zero."""
    made: Array = rows @ T
    made[np.linalg.norm(made, axis=1) <= _ROUNDING * np.linalg.norm(np.abs(rows) @ np.abs(T), axis=1)] = 0.0
    return made


def _reacting(model: Model, made: SmallMotions, linear: Linear, T: Array, free: bool) -> SmallMotions:
    """With outputs that are reactions: A^T mu = M a + D v + (K + i H) x - B u over all coordinates, A being the loops and
    what holds actuators."""
    q, rows = made.q, np.array(made.outputs.reactions)
    J = model.jacobian(q)
    held = [] if free else [i for i in model.active if i not in model.servos]
    A = np.vstack([J, model.held(held)])
    if null_space(A)[1] < len(A):
        raise SuppleError(
            f"{model.mechanism.name}: its loops hold each other and nothing in them bends, so that forces of joints are not "
            "unique; give joints a stiffness, or bodies that bend"
        )
    P = np.where(rows[:, None] >= 0, np.linalg.pinv(A.T)[np.maximum(rows, 0)], 0.0)
    own = Reacting(P @ model.loss_stiffness(q) @ T, P @ model.damping(q) @ T, P @ linear.M_tree @ T, -P @ made.inputs.rows.T)
    return replace(made, C=made.C + P @ linear.K_tree @ T, reacting=own)
