"""What a fit compares: modes, responses and static displacements, as residuals by their deviations with exact slopes.

Another kind of data is a class with the same members: `Observation`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from supple.measured.correlation import computed_responses, pairs_of, rows_for
from supple.measured.damped_modes import DampedModes, damped_modes
from supple.measured.free import Free
from supple.measured.pairing import Pairs, subspace_mac
from supple.measured.pose_data import PoseData
from supple.measured.reduced import PoseModel, Reduced
from supple.measured.statics import StaticPose
from supple.measured.test import Test
from supple.measurements import MeasuredModes
from supple.robot.bodies.record import Array


@dataclass(frozen=True)
class Compared:
    """Residuals (computed less measured, by deviations), and their slopes by logarithms of factors (rows, groups)."""

    residuals: Array
    slopes: Array


class Observation(Protocol):
    """Data of one kind in one pose or along one motion."""

    @property
    def name(self) -> str: ...

    def compared(self, p: Array, gradient: bool = True) -> Compared:
        """Residuals at values of the parameters; without slopes (0 rows) if no gradient is asked for."""
        ...

    def told(self, p: Array) -> list[dict[str, Any]]:
        """What was compared in words and numbers: pose, what, measured, computed, deviation."""
        ...

    @property
    def evaluations(self) -> int:
        """How often the model was evaluated."""
        ...


class AtPose:
    """A PoseModel that remembers its last answers, which several observations of a pose share. Derivatives are by logarithms
    of the factors of `free`."""

    def __init__(self, model: PoseModel, free: Free) -> None:
        self.model, self.free = model, free
        self._known: dict[tuple[bytes, bool], Reduced] = {}
        self._modes: dict[int, DampedModes] = {}

    def reduced(self, p: Array, gradient: bool) -> Reduced:
        for key in ((p.tobytes(), True), (p.tobytes(), gradient)):
            if key in self._known:
                return self._known[key]
        while len(self._known) > 3:
            self._known.pop(next(iter(self._known)))
        made = self.model.reduced(p, gradient, self.free.directions(p))
        self._known[p.tobytes(), gradient] = made
        return made

    def modes(self, p: Array, gradient: bool) -> DampedModes:
        made = self.reduced(p, gradient)
        if id(made) not in self._modes:
            self._modes = {id(made): damped_modes(made)}
        return self._modes[id(made)]


@dataclass(frozen=True)
class ModesObserved:
    """Frequencies, damping ratios and shapes of paired modes of a pose.

    least: smallest relative deviations of frequencies and ratios; on the way to responses they need not be exact."""

    name: str
    test: Test
    data: PoseData
    at: AtPose
    pairs: Pairs
    least: tuple[float, float] = (0.0, 0.0)
    damped: bool = True  # whether ratios are compared

    @property
    def evaluations(self) -> int:
        return self.at.model.evaluations

    @property
    def modes(self) -> MeasuredModes:
        assert self.data.modes is not None
        return self.data.modes

    @property
    def rows(self) -> list[int]:
        return rows_for(self.modes.outputs, self.test.outputs)

    def paired_at(self, p: Array) -> Pairs:
        """The pairs that shapes, or frequencies where none are known, ask for at values of the parameters."""
        return pairs_of(self.modes, self.at.modes(p, False), self.rows)

    def compared(self, p: Array, gradient: bool = True) -> Compared:
        computed = self.at.modes(p, gradient)
        parts = [self._frequencies(computed), self._ratios(computed), *self._shapes(computed)]
        return Compared(np.concatenate([r for r, _ in parts]), np.vstack([s for _, s in parts]))

    def _frequencies(self, computed: DampedModes) -> tuple[Array, Array]:
        """Logarithms of frequencies; of a multiple mode, the mean of its logarithms."""
        m = [k for k, _ in self.pairs]
        spread = np.maximum(self.modes.frequency_deviation[m] / self.modes.frequencies_hz[m], self.least[0])
        mean = np.array([np.log(computed.frequencies_hz[list(c)]).mean() for _, c in self.pairs])
        slopes = np.array([computed.log_frequencies_p[:, list(c)].mean(1) for _, c in self.pairs])
        return (mean - np.log(self.modes.frequencies_hz[m])) / spread, _rows(slopes, spread, computed)

    def _ratios(self, computed: DampedModes) -> tuple[Array, Array]:
        known = [(m, c) for m, c in self.pairs if self._has_ratio(m, c, computed)] if self.damped else []
        m = [k for k, _ in known]
        ratios = self.modes.damping_ratios[m]
        spread = np.maximum(self.modes.damping_deviation[m] / np.maximum(ratios, 1e-300), self.least[1])
        mean = np.array([np.log(computed.damping_ratios[list(c)]).mean() for _, c in known])
        slopes = np.array([computed.log_ratios_p[:, list(c)].mean(1) for _, c in known])
        return (mean - np.log(ratios)) / spread if m else np.zeros(0), _rows(slopes, spread, computed)

    def _has_ratio(self, m: int, c: tuple[int, ...], computed: DampedModes) -> bool:
        measured = np.isfinite(self.modes.damping_deviation[m]) and self.modes.damping_ratios[m] > 0
        return bool(measured and (computed.damping_ratios[list(c)] > 0).all())

    def _shapes(self, computed: DampedModes) -> list[tuple[Array, Array]]:
        """What of every measured shape lies outside the computed ones: its square is 1 - MAC."""
        if len(self.rows) < 2:
            return []
        made = []
        spread = float(self.data.pose.written.shape_deviation) / np.sqrt(2 * len(self.rows))
        for m, c in self.pairs:
            shape = self.modes.shapes[:, m] / np.linalg.norm(self.modes.shapes[:, m])
            plane = computed.shapes[np.ix_(self.rows, list(c))]
            left, slopes = _outside(shape, plane, computed.shapes_p[:, self.rows][:, :, list(c)])
            made.append((np.concatenate([left.real, left.imag]) / spread,
                         np.vstack([slopes.real.T, slopes.imag.T]).reshape(-1, len(slopes)) / spread))  # fmt: skip
        return made

    def told(self, p: Array) -> list[dict[str, Any]]:
        computed, rows, made = self.at.modes(p, False), self.rows, []
        for m, c in self.pairs:
            own = float(computed.frequencies_hz[list(c)].mean())
            seen, spread = float(self.modes.frequencies_hz[m]), float(self.modes.frequency_deviation[m])
            made.append(_row(self.name, f"frequency {m + 1}" + (f" (of {len(c)} equal ones)" if len(c) > 1 else ""), "Hz",
                             seen, own, max(spread, self.least[0] * seen)))  # fmt: skip
            if self.damped and self._has_ratio(m, c, computed):
                z, ratio = float(computed.damping_ratios[list(c)].mean()), float(self.modes.damping_ratios[m])
                loose = max(float(self.modes.damping_deviation[m]), self.least[1] * ratio)
                made.append(_row(self.name, f"damping ratio {m + 1}", "", ratio, z, loose))
            if len(rows) > 1:
                alike = subspace_mac(self.modes.shapes[:, m], computed.shapes[np.ix_(rows, list(c))])
                made.append(
                    _row(self.name, f"MAC {m + 1}", "", 1.0, alike, float(self.data.pose.written.shape_deviation) ** 2)
                )
        return made


def _rows(slopes: Array, spread: Array, computed: DampedModes) -> Array:
    count = len(computed.poles_p)
    return slopes.reshape(-1, count) / spread[:, None] if count else np.zeros((len(spread), 0))


def _row(pose: str, what: str, unit: str, measured: float, computed: float, deviation: float) -> dict[str, Any]:
    by = (computed - measured) / deviation if deviation > 0 else float("nan")
    return {"pose": pose, "what": what, "unit": unit, "measured": measured, "computed": computed, "deviation": deviation,
            "residual": by}  # fmt: skip


def _outside(shape: Array, plane: Array, plane_p: Array) -> tuple[Array, Array]:
    """The part of a shape outside a plane, and its derivatives (Golub & Pereyra 1973)."""
    back = np.linalg.pinv(plane, rcond=1e-9)
    weights = back @ shape
    left = shape - plane @ weights
    slopes = []
    for turn in plane_p:
        moved = turn @ weights
        slopes.append(-(moved - plane @ (back @ moved)) - back.conj().T @ (turn.conj().T @ left))
    return left, np.array(slopes).reshape(len(plane_p), len(shape))


@dataclass(frozen=True)
class ResponsesObserved:
    """Responses of a pose: logarithms of magnitude and phase (`log`), or values by their deviations (J_Q)."""

    name: str
    test: Test
    data: PoseData
    at: AtPose
    deviation: Array  # of real and imaginary parts (lines, outputs, inputs)
    log: bool = False

    @property
    def evaluations(self) -> int:
        return self.at.model.evaluations

    def compared(self, p: Array, gradient: bool = True) -> Compared:
        assert self.data.responses is not None
        measured = self.data.responses.values
        H, H_p = computed_responses(self.test, self.data.responses, self.at.reduced(p, gradient))
        if self.log:
            size = np.maximum(np.abs(measured), 1e-300)
            spread = np.sqrt((self.deviation / size) ** 2 + (_FAINT * self._strongest() / size) ** 2 + _COARSE**2)
            left = np.log(np.where(H == 0, 1e-300, H) / np.where(measured == 0, 1e-300, measured)) / spread
            slopes = H_p / np.where(H == 0, 1e-300, H) / spread
        else:
            left, slopes = (H - measured) / self.deviation, H_p / self.deviation
        flat = slopes.reshape(len(slopes), left.size)
        return Compared(np.concatenate([left.real.ravel(), left.imag.ravel()]), np.hstack([flat.real, flat.imag]).T)

    def _strongest(self) -> Array:
        """Of every line, the size of the strongest response of the same kind."""
        assert self.data.responses is not None
        size, orders = np.abs(self.data.responses.values), np.array(self.data.responses.orders)
        made = np.empty_like(size)
        for order in set(orders.tolist()):
            made[:, orders == order] = size[:, orders == order].max(axis=1, keepdims=True)
        return made

    def told(self, p: Array) -> list[dict[str, Any]]:
        assert self.data.responses is not None
        measured = self.data.responses.values
        H, _ = computed_responses(self.test, self.data.responses, self.at.reduced(p, False))
        whole = float((np.abs(measured) ** 2).sum())
        noise = 2 * float((np.where(np.isfinite(self.deviation), self.deviation, 0) ** 2).sum()) / whole
        error = float((np.abs(H - measured) ** 2).sum()) / whole
        row = _row(self.name, f"J_Q of {measured[0].size} responses", "", 0.0, error, noise)
        return [row | {"residual": error / noise if noise > 0 else float("nan")}]


_COARSE = 0.1  # of logarithms: what responses may be off on the way to the fit
_FAINT = 0.03  # of the strongest response: logarithms of weaker ones, which noise may make, count less


def response_deviation(data: PoseData, left: Array | None = None) -> Array:
    """Deviations of responses, smooth over lines: from their coherence, or from what a fit leaves of them."""
    assert data.responses is not None
    values = data.responses.values
    if left is None and data.responses.deviation is not None:
        own = np.minimum(data.responses.deviation, np.abs(values).max(axis=0) + 1e-300)
        width = max(5, len(values) // 12)
        padded = np.pad(own**2, ((width, width), (0, 0), (0, 0)), mode="reflect")
        total = np.cumsum(np.concatenate([np.zeros_like(padded[:1]), padded]), axis=0)
        smooth = (total[2 * width + 1 :] - total[: -2 * width - 1]) / (2 * width + 1)
        made: Array = np.sqrt(np.maximum(smooth, 1e-24 * (np.abs(values) ** 2).max(axis=0)))
        return made
    size = (
        np.sqrt((np.abs(values) ** 2).mean(axis=0)) * 0.05 if left is None else np.sqrt((np.abs(left) ** 2).mean(axis=0) / 2)
    )
    return np.broadcast_to(np.maximum(size, 1e-9 * np.abs(values).max()), values.shape)


@dataclass(frozen=True)
class StaticObserved:
    """Displacements of a point under a static force, over many poses."""

    name: str
    poses: tuple[StaticPose, ...]
    free: Free
    measured: Array  # (poses, directions)
    deviation: float

    @property
    def evaluations(self) -> int:
        return sum(pose.at.evaluations for pose in self.poses)

    def compared(self, p: Array, gradient: bool = True) -> Compared:
        along = self.free.directions(p) if gradient else np.zeros((0, len(p)))
        made = [pose.moved(p, along) for pose in self.poses]
        left = (np.array([u for u, _ in made]) - self.measured) / self.deviation
        return Compared(left.ravel(), np.vstack([s for _, s in made]) / self.deviation)

    def told(self, p: Array) -> list[dict[str, Any]]:
        made = []
        for k, pose in enumerate(self.poses):
            found, _ = pose.moved(p, np.zeros((0, len(p))))
            for c, x, y in zip(pose.at.outputs, found, self.measured[k], strict=True):
                made.append(_row(f"{self.name} {k + 1}", f"displacement {c.name}", "m", float(y), float(x), self.deviation))
        return made
