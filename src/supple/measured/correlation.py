"""Measured modes and responses of a pose beside the computed ones: pairs, MAC, coMAC, FRAC, sensors that are turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.measured.damped_modes import DampedModes, damped_modes, responses_at
from supple.measured.pairing import (
    Pairs,
    co_mac,
    mac,
    pairs_by_frequency,
    pairs_by_shape,
    projected,
    subspace_mac,
    turned_sensors,
)
from supple.measured.pose_data import PoseData
from supple.measured.reduced import PoseModel, Reduced
from supple.measured.test import Channel, Test
from supple.measurements import MeasuredModes, PoseCorrelation, Responses
from supple.model.model import Model
from supple.robot.bodies.record import Array

HIGHER = 1.6  # times the highest measured frequency: computed modes up to there are looked at
_ALIKE = 0.8  # of autoMAC: computed modes that the sensors hardly tell apart


def last_frequency(test: Test, data: PoseData) -> float:
    """Up to which frequency (Hz) a pose's model has to be right."""
    highest = 0.0 if data.modes is None else float(data.modes.frequencies_hz.max())
    band = 0.0 if data.responses is None else float(data.responses.frequencies_hz[-1])
    return max(HIGHER * highest, band) or test.band[1]


def rows_for(names: Sequence[str], channels: Sequence[Channel]) -> list[int]:
    """Places of channels by name."""
    known = {c.name: k for k, c in enumerate(channels)}
    return [known[n] for n in names]


def pairs_of(modes: MeasuredModes, computed: DampedModes, rows: list[int]) -> Pairs:
    """Pairs of measured and computed modes, by shape if at least two channels were measured."""
    seen = computed.frequencies_hz < HIGHER * modes.frequencies_hz.max()
    count = max(int(seen.sum()), min(len(modes.poles), len(seen)))
    hz = computed.frequencies_hz[:count]
    if len(rows) < 2:
        return pairs_by_frequency(modes.frequencies_hz, hz)
    return pairs_by_shape(modes.frequencies_hz, hz, modes.shapes, computed.shapes[rows, :count])


def pose_correlation(test: Test, data: PoseData, at: PoseModel) -> PoseCorrelation:
    """The PoseCorrelation of a pose."""
    reduced = at.reduced(np.array(at.family.kept.values), gradient=False)
    computed = damped_modes(reduced)
    made = _modal(test, data, computed)
    frac, error, restored = _responses(test, data.responses, reduced)
    model = at.family.at(np.array(at.family.kept.values))
    rows = [] if data.modes is None else rows_for(data.modes.outputs, test.outputs)
    places, axes, outline = _scene(model, reduced.q, [test.outputs[k] for k in rows])
    return PoseCorrelation(
        data.pose.name, made.measured_hz, made.computed_hz, made.measured_ratios, made.computed_ratios, made.pairs,
        made.pair_mac, made.mac, made.auto_mac, made.co_mac, frac, error, data.responses, restored, made.shapes[0],
        made.shapes[1], () if data.modes is None else data.modes.outputs, places, axes, outline, tuple(made.words),
    )  # fmt: skip


@dataclass(frozen=True)
class _Modal:
    measured_hz: Array
    computed_hz: Array
    measured_ratios: Array
    computed_ratios: Array
    pairs: Pairs
    pair_mac: Array
    mac: Array | None
    auto_mac: Array | None
    co_mac: dict[str, float]
    shapes: tuple[Array | None, Array | None]
    words: list[str]


def _modal(test: Test, data: PoseData, computed: DampedModes) -> _Modal:
    nothing = np.zeros(0)
    modes = data.modes
    if modes is None:
        return _Modal(nothing, computed.frequencies_hz, nothing, computed.damping_ratios, (), nothing, None, None, {},
                      (None, None), ["no modes were measured or extracted; responses alone are compared"])  # fmt: skip
    rows = rows_for(modes.outputs, test.outputs)
    pairs = pairs_of(modes, computed, rows)
    top = max(
        [HIGHER * float(modes.frequencies_hz.max()), *(computed.frequencies_hz[list(c)].max() * 1.001 for _, c in pairs)]
    )
    kept = int((computed.frequencies_hz < top).sum())
    hz, ratios, shapes = computed.frequencies_hz[:kept], computed.damping_ratios[:kept], computed.shapes[rows, :kept]
    known = np.where(np.isfinite(modes.damping_deviation), modes.damping_ratios, np.nan)
    words = _pairing_words(modes, hz, pairs, len(rows))
    if len(rows) < 2:
        return _Modal(modes.frequencies_hz, hz, known, ratios, pairs, np.full(len(pairs), np.nan), None, None, {},
                      (None, None), words)  # fmt: skip
    likeness = np.array([subspace_mac(modes.shapes[:, m], shapes[:, list(c)]) for m, c in pairs])
    near = np.array([projected(modes.shapes[:, m], shapes[:, list(c)]) for m, c in pairs]).reshape(-1, len(rows)).T
    seen = modes.shapes[:, [m for m, _ in pairs]]
    size = np.maximum(np.linalg.norm(seen, axis=0), 1e-300)
    seen, near = seen / size, near / size
    auto = mac(shapes, shapes)
    words += _alike_words(auto, hz) + _turned_words(test, rows, modes, shapes, pairs, hz)
    agreement = dict(zip(modes.outputs, co_mac(seen, near).tolist(), strict=True)) if pairs else {}
    return _Modal(modes.frequencies_hz, hz, known, ratios, pairs, likeness, mac(modes.shapes, shapes), auto, agreement,
                  (seen, near), words)  # fmt: skip


def _pairing_words(modes: MeasuredModes, hz: Array, pairs: Pairs, channels: int) -> list[str]:
    words = []
    if channels < 2:
        words.append("no shapes were measured: measured modes are paired with the nearest computed frequencies")
    for m, group in pairs:
        if len(group) > 1:
            several = {2: "double", 3: "triple"}.get(len(group), "multiple")
            what = f"{modes.frequencies_hz[m]:.4g} Hz is compared with a {several} mode, {np.mean(hz[list(group)]):.4g} Hz"
            words.append(
                what + (": by the plane of its shapes" if channels >= 2 else ": one frequency stands for all of it")
            )
    lonely = [f"{modes.frequencies_hz[m]:.4g}" for m in range(len(modes.poles)) if m not in {k for k, _ in pairs}]
    if lonely:
        words.append(
            f"no computed mode has the shape of {', '.join(lonely)} Hz; MAC with all is below 0.2, or it is far off"
        )
    taken = {k for _, c in pairs for k in c}
    below = [f"{hz[k]:.4g}" for k in range(len(hz)) if k not in taken and hz[k] < modes.frequencies_hz.max()]
    if below:
        words.append(f"computed and not measured: {', '.join(below[:12])} Hz")
    return words


def _alike_words(auto: Array, hz: Array) -> list[str]:
    alike = [(i, j) for i in range(len(hz)) for j in range(i) if auto[i, j] > _ALIKE]
    return [
        f"the sensors hardly tell computed modes {hz[j]:.4g} and {hz[i]:.4g} Hz apart (autoMAC {auto[i, j]:.2f})"
        for i, j in alike[:5]
    ]


def _turned_words(test: Test, rows: list[int], modes: MeasuredModes, computed: Array, pairs: Pairs, hz: Array) -> list[str]:
    """Sensors whose axes seem to be swapped or reversed, in words."""
    places: dict[str, list[int]] = {}
    for k, row in enumerate(rows):
        if test.outputs[row].joint is None and not test.outputs[row].gauge:
            places.setdefault(test.outputs[row].place, []).append(k)
    every = pairs + _left_over(modes, hz, pairs)
    if len(every) < 2 or len(places) < 2:
        return []
    words = []
    found = turned_sensors(modes.shapes[:, [m for m, _ in every]], [computed[:, list(c)] for _, c in every], places)
    for t in found:
        axes = [test.outputs[rows[k]].name.rpartition(".")[2] for k in places[t.sensor]]
        was = [
            f"{own} is measured as {'-' if sign < 0 else ''}{axes[k]}"
            for own, k, sign in zip(axes, t.order, t.signs, strict=True)
            if (own, 1) != (axes[k], sign)
        ]
        words.append(
            f"sensor {t.sensor} seems to be turned: {', '.join(was)}; with that put right, MAC rises from {t.before:.2f} "
            f"to {t.after:.2f}"
        )
    return words


def _left_over(modes: MeasuredModes, hz: Array, pairs: Pairs) -> Pairs:
    """Pairs by frequency of modes that no shape pairs: a turned sensor may be why."""
    lonely = [m for m in range(len(modes.poles)) if m not in {k for k, _ in pairs}]
    free = [k for k in range(len(hz)) if k not in {c for _, group in pairs for c in group}]
    if not lonely or not free:
        return ()
    factor = np.exp(np.median([np.log(modes.frequencies_hz[m] / hz[list(c)].mean()) for m, c in pairs])) if pairs else 1.0
    near = pairs_by_frequency(modes.frequencies_hz[lonely], hz[free], float(factor))
    return tuple((lonely[m], tuple(free[k] for k in c)) for m, c in near)


def _responses(
    test: Test, measured: Responses | None, reduced: Reduced
) -> tuple[dict[str, float], float | None, Array | None]:  # fmt: skip
    """FRAC of every response, the error of all of them together (J_Q), and the computed responses."""
    if measured is None:
        return {}, None, None
    H = computed_responses(test, measured, reduced)[0]
    frac = {}
    for o, out in enumerate(measured.outputs):
        for i, given in enumerate(measured.inputs):
            a, b = measured.values[:, o, i], H[:, o, i]
            own = float((np.abs(a) ** 2).sum() * (np.abs(b) ** 2).sum())
            frac[f"{out}/{given}"] = float(np.abs(a.conj() @ b) ** 2 / own) if own > 0 else float("nan")
    error = float((np.abs(H - measured.values) ** 2).sum() / (np.abs(measured.values) ** 2).sum())
    return frac, error, H


def computed_responses(test: Test, measured: Responses, reduced: Reduced) -> tuple[Array, Array]:
    """Responses of the model at the lines, channels and window of measured ones, and their derivatives."""
    outs, ins = rows_for(measured.outputs, test.outputs), rows_for(measured.inputs, test.inputs)
    s = 2j * np.pi * measured.frequencies_hz + measured.decay
    cut = reduced.of_channels(outs, ins)
    return responses_at(cut, s, np.array(measured.orders))


def _scene(model: Model, q: Array, channels: list[Channel]) -> tuple[Array, Array, tuple[Array, ...]]:
    """Places and axes of channels in base axes, and lines of the robot."""
    found = model.call("points", q=q)
    names = list(model.mechanism.points)
    places, axes = np.zeros((len(channels), 3)), np.zeros((len(channels), 3))
    for k, c in enumerate(channels):
        if c.joint is not None or c.gauge:
            continue
        places[k] = found["position"][names.index(c.place)]
        axes[k] = found["rotation"][names.index(c.place)] @ c.vector if c.in_link else c.vector
    lines = model.call("outline", q=q)
    return places, axes, tuple(x for x in lines.values() if len(x) > 1)
