"""Records of what was measured, and of what follows from it: responses, modes, correlations, fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Responses:
    """Measured frequency responses: values (frequencies, outputs, inputs) in SI; coherence in the same shape, if known.

    orders: per output, how often displacement is differentiated; deviation: standard deviation of the real and of the
    imaginary part of every value (frequencies, outputs, inputs), if known; decay: damping rate (1/s) that a window added."""

    frequencies_hz: Array
    values: Array
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    orders: tuple[int, ...]
    coherence: Array | None = None
    deviation: Array | None = None
    decay: float = 0.0
    notices: tuple[str, ...] = ()

    def within(self, band: tuple[float, float]) -> Responses:
        """The responses of a band of frequencies; 0 Hz, where accelerations say nothing, is left out."""
        f = self.frequencies_hz
        kept = (f >= band[0]) & (f <= band[1]) & (f > 0)

        def cut(x: Array | None) -> Array | None:
            return None if x is None else x[kept]

        return Responses(
            f[kept], self.values[kept], self.outputs, self.inputs, self.orders, cut(self.coherence), cut(self.deviation),
            self.decay, self.notices,
        )  # fmt: skip

    def receptance(self) -> Array:
        """Values as displacements per unit input."""
        jw = 2j * np.pi * self.frequencies_hz[:, None]
        made: Array = self.values / (jw ** np.array(self.orders)[None, :])[:, :, None]
        return made


@dataclass(frozen=True)
class MeasuredModes:
    """Modes of a measured robot at its sensors: poles (1/s), complex shapes (outputs, modes), participations
    (modes, inputs), and standard deviations of frequencies (Hz) and ratios, not a number where they are not known.

    Responses of displacement are sum_r shape_r participation_r / (j w - pole_r) + conjugates + residuals."""

    poles: Array
    shapes: Array
    participations: Array
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    frequency_deviation: Array
    damping_deviation: Array
    notices: tuple[str, ...] = ()

    @property
    def frequencies_hz(self) -> Array:
        made: Array = np.abs(self.poles) / (2 * np.pi)
        return made

    @property
    def damping_ratios(self) -> Array:
        made: Array = -self.poles.real / np.maximum(np.abs(self.poles), 1e-300)
        return made

    def real_shapes(self) -> Array:
        """Real normal modes: complex shapes turned to the phase at which most of them is real, largest entry one."""
        made = np.zeros(self.shapes.shape)
        for k, shape in enumerate(self.shapes.T):
            turned = shape * np.exp(-0.5j * np.angle(np.sum(shape**2)))
            made[:, k] = turned.real / (turned.real[np.abs(turned.real).argmax()] or 1.0)
        return made

    def phase_collinearity(self) -> Array:
        """How real each shape is: 1 for a shape all of whose points move in phase (MPC)."""
        x, y = self.shapes.real, self.shapes.imag
        xx, yy, xy = (x * x).sum(0), (y * y).sum(0), (x * y).sum(0)
        whole = np.maximum(xx + yy, 1e-300)
        made: Array = ((xx - yy) ** 2 + 4 * xy**2) / whole**2
        return made


@dataclass(frozen=True)
class Extracted:
    """Modes extracted from measured responses, how they were chosen, and how well they restore the responses.

    diagram: rows of (order, frequency Hz, damping ratio, stable) of all poles that were tried; stability: shares of orders
    in which each chosen pole came back; error: of the restored responses, relative (J_Q)."""

    modes: MeasuredModes
    diagram: Array
    stability: Array
    error: float
    band: tuple[float, float]
    restored: Array
    responses: Responses
    decisions: tuple[str, ...]
    window_decay: float = 0.0
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        m = self.modes
        return {
            "frequencies_hz": m.frequencies_hz.tolist(),
            "frequency_deviations_hz": m.frequency_deviation.tolist(),
            "damping_ratios": m.damping_ratios.tolist(),
            "damping_deviations": m.damping_deviation.tolist(),
            "phase_collinearity": m.phase_collinearity().tolist(),
            "stability": self.stability.tolist(),
            "outputs": list(m.outputs),
            "inputs": list(m.inputs),
            "shapes_real": m.shapes.real.T.tolist(),
            "shapes_imaginary": m.shapes.imag.T.tolist(),
            "normal_shapes": m.real_shapes().T.tolist(),
            "error": self.error,
            "band_hz": list(self.band),
            "window_decay": self.window_decay,
            "decisions": list(self.decisions),
            "notices": list(self.notices),
        }


@dataclass(frozen=True)
class PoseCorrelation:
    """Measured and computed modes of a pose: pairs of (measured, computed) indices, MAC of all with all, errors.

    measured_shapes, computed_shapes: (outputs, pairs), the computed ones scaled (and, if double, turned) to the measured;
    places, axes: of the outputs in base axes (outputs, 3); outline: lines of the robot."""

    pose: str
    measured_hz: Array
    computed_hz: Array
    measured_ratios: Array
    computed_ratios: Array
    pairs: tuple[tuple[int, tuple[int, ...]], ...]  # a measured mode, and its computed one, or those of a multiple one
    pair_mac: Array
    mac: Array | None
    auto_mac: Array | None
    co_mac: dict[str, float] = field(default_factory=dict)
    frac: dict[str, float] = field(default_factory=dict)
    response_error: float | None = None
    responses: Responses | None = None
    computed_responses: Array | None = None
    measured_shapes: Array | None = None
    computed_shapes: Array | None = None
    outputs: tuple[str, ...] = ()
    places: Array | None = None
    axes: Array | None = None
    outline: tuple[Array, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def errors(self) -> Array:
        """Relative errors of paired frequencies."""
        made = [float(np.mean(self.computed_hz[list(c)])) / self.measured_hz[m] - 1 for m, c in self.pairs]
        return np.array(made)


@dataclass(frozen=True)
class Correlation:
    """A robot beside its measurements, pose by pose."""

    robot: str
    poses: tuple[PoseCorrelation, ...]
    notices: tuple[str, ...] = ()

    @property
    def rms_error(self) -> float:
        every = np.concatenate([p.errors for p in self.poses]) if self.poses else np.zeros(0)
        return float(np.sqrt(np.mean(every**2))) if every.size else float("nan")

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot,
            "rms_frequency_error": self.rms_error,
            "poses": {p.pose: _pose_json(p) for p in self.poses},
            "notices": list(self.notices),
        }


def _pose_json(p: PoseCorrelation) -> dict[str, Any]:
    pairs = [
        {
            "measured_hz": float(p.measured_hz[m]),
            "computed_hz": [float(p.computed_hz[k]) for k in c],
            "error": float(e),
            "mac": float(x) if np.isfinite(x) else None,
        }
        for (m, c), e, x in zip(p.pairs, p.errors, p.pair_mac, strict=True)
    ]
    return {
        "pairs": pairs,
        "measured_hz": p.measured_hz.tolist(),
        "computed_hz": p.computed_hz.tolist(),
        "measured_ratios": p.measured_ratios.tolist(),
        "computed_ratios": p.computed_ratios.tolist(),
        "outputs": list(p.outputs),
        "measured_shapes": _complex_json(p.measured_shapes),
        "computed_shapes": _complex_json(p.computed_shapes),
        "mac": None if p.mac is None else p.mac.tolist(),
        "auto_mac": None if p.auto_mac is None else p.auto_mac.tolist(),
        "co_mac": p.co_mac,
        "frac": p.frac,
        "response_error": p.response_error,
        "words": list(p.words),
    }


def _complex_json(shapes: Array | None) -> dict[str, Any] | None:
    return None if shapes is None else {"real": shapes.real.T.tolist(), "imaginary": shapes.imag.T.tolist()}


@dataclass(frozen=True)
class Identified:
    """Parameters of a robot fitted to measurements.

    values, deviations: in SI; correlation of the logarithms of the parameters; residuals: what was compared, measured and
    computed, by standard deviations; predicted: the same for poses that were held out; words: what the data hold.
    labels: of what has a factor of its own, to which combinations and their weights belong; profiles: rows of (value, chi^2
    with all others fitted again)."""

    robot: str
    test: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    start: Array
    values: Array
    deviations: Array
    correlation: Array
    combinations: tuple[tuple[float, Array], ...]  # relative deviation of a combination of log-parameters, its weights
    known: int  # how many combinations the data hold
    residuals: tuple[dict[str, Any], ...]
    predicted: tuple[dict[str, Any], ...]
    words: tuple[str, ...]
    evaluations: int
    gradients: int
    chi_squared: float
    freedom: int
    history: tuple[float, ...] = ()
    spectrum: Array = field(default_factory=lambda: np.zeros(0))
    profiles: dict[str, Array] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        entries = zip(self.names, self.start, self.values, self.deviations, strict=True)
        return {
            "robot": self.robot,
            "test": self.test,
            "parameters": {n: {"value": float(x), "deviation": float(s), "start": float(a)} for n, a, x, s in entries},
            "correlation": {"names": list(self.names), "matrix": self.correlation.tolist()},
            "residuals": list(self.residuals),
            "predicted": list(self.predicted),
            "identifiability": {
                "of": list(self.labels),
                "combinations": [{"deviation": float(s), "weights": w.tolist()} for s, w in self.combinations],
                "known": self.known,
                "words": list(self.words),
            },
            "evaluations": self.evaluations,
            "gradients": self.gradients,
            "chi_squared": self.chi_squared,
            "degrees_of_freedom": self.freedom,
            "profiles": {k: v.tolist() for k, v in self.profiles.items()},
            "notices": list(self.notices),
        }


@dataclass(frozen=True)
class Rehearsed:
    """A test rehearsed on a robot: files as an instrument would have written them, and the truth behind them.

    test_file: the test with the names of these files in it; truth: of every pose the frequencies (Hz) and damping ratios of
    the modes within the band, sensors on; factors: what the stiffness of every part was multiplied by."""

    robot: str
    by: str
    test_file: str
    files: tuple[str, ...]
    truth: dict[str, dict[str, list[float]]]
    noise: float
    seed: int
    factors: dict[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.robot}: {len(self.truth)} poses rehearsed in {self.test_file}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot,
            "by": self.by,
            "test_file": self.test_file,
            "files": list(self.files),
            "noise": self.noise,
            "seed": self.seed,
            "truth": self.truth,
            "factors": self.factors,
            "notices": list(self.notices),
        }


@dataclass(frozen=True)
class Planned:
    """A test that tells parameters well: where to strike, where to listen, in which poses, and the accuracy to expect.

    sensors, exciter, poses: as they stand in a test file; deviations: relative, of the logarithms of the labels' factors;
    gained: what the largest deviation of a known combination and the mean of all are after each sensor and each pose."""

    robot: str
    labels: tuple[str, ...]
    sensors: dict[str, dict[str, Any]]
    exciter: dict[str, Any]
    poses: dict[str, dict[str, float]]
    deviations: Array
    combinations: tuple[tuple[float, Array], ...]
    known: int
    words: tuple[str, ...]
    by_sensors: Array  # mean logarithmic deviation after each sensor
    by_poses: Array
    candidates: tuple[int, int, int]  # sensors, exciters, poses
    band: tuple[float, float] = (0.0, 0.0)
    noise: float = 0.0
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot,
            "sensors": self.sensors,
            "exciter": self.exciter,
            "poses": self.poses,
            "expected": {n: float(s) for n, s in zip(self.labels, self.deviations, strict=True)},
            "combinations": [{"deviation": float(s), "weights": w.tolist()} for s, w in self.combinations],
            "known": self.known,
            "words": list(self.words),
            "by_sensors": self.by_sensors.tolist(),
            "by_poses": self.by_poses.tolist(),
            "candidates": dict(zip(("sensors", "exciters", "poses"), self.candidates, strict=True)),
            "band_hz": list(self.band),
            "noise": self.noise,
            "notices": list(self.notices),
        }
