"""Modes of measured responses: poles that are stable, those that the data need, refined, with shapes and deviations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.errors import SuppleError
from supple.measured.modal_fit import ModalFit, missing_poles, modal_fit
from supple.measured.plscf import poles_by_order
from supple.measured.stabilisation import Stable, stable_poles
from supple.measurements import Extracted, MeasuredModes, Responses
from supple.robot.bodies.record import Array

_LARGEST = 1e30  # of a response in SI units, and of its inverse
_LINES = 24  # fewest lines of a band
_MOST = 60  # modes that are added
_BEYOND = 1.05  # times the ends of the band: modes so near to it are reported
_MOST_DAMPED = 0.5
_FEW = 6  # rounds of fits that only compare
_NEAR = 0.02  # of a pole: nearer ones are the same
_BESIDE = 0.02  # damping ratio of poles outside of the band


def extracted(
    responses: Responses, band: tuple[float, float] | None = None, *, orders: int = 40, count: int | None = None
) -> Extracted:
    """The Extracted of responses in a band. count: how many modes there are, if that is known."""
    f = responses.frequencies_hz
    inside = band or (float(f[f > 0][0]), float(f[-1]))
    cut = responses.within(inside)
    if len(cut.frequencies_hz) < _LINES:
        raise SuppleError(_too_few(cut, inside))
    largest = float(np.abs(cut.values).max())
    if not largest > 0:
        raise SuppleError("the responses are all zero")
    if not 1 / _LARGEST < largest < _LARGEST:
        raise SuppleError(
            f"the largest response is {largest:.3g}, which no robot has; the file is damaged, or its units are"
        )
    most = min(orders, (len(cut.frequencies_hz) - 2) // 2)
    first = max(2, most // 8)
    tried = poles_by_order(cut.frequencies_hz, cut.values, range(first, most + 1), cut.decay)
    stable = stable_poles(tried)
    decisions = [
        f"{len(stable.diagram)} poles of orders {first} to {most}; {len(stable.poles)} clusters are stable in frequency "
        "(1 %) and damping (10 %) over at least 40 % of the orders"
    ]
    small = compressed(cut)
    poles = _completed(small, stable.poles, count, decisions)
    if not len(poles):
        raise SuppleError("no mode stands out of the noise; widen the band, raise the orders, or measure with less noise")
    poles = _needed(small, poles, stable.poles, count, decisions)
    fit = _physical(modal_fit(cut, poles), inside, decisions)
    shares = _shares(fit.poles, stable)
    for pole, share in zip(fit.poles, shares, strict=True):
        how = f"stable in {100 * share:.0f} % of the orders" if share > 0 else "seen in what the stable ones leave"
        decisions.append(f"{abs(pole) / (2 * np.pi):.5g} Hz, ratio {-pole.real / abs(pole):.3g}: kept, {how}")
    return _record(cut, fit, shares, stable.diagram, inside, decisions)


def _too_few(cut: Responses, band: tuple[float, float]) -> str:
    there = f"{len(cut.frequencies_hz)} lines lie from {band[0]:g} to {band[1]:g} Hz"
    return f"{there}; at least {_LINES} are needed"


def compressed(responses: Responses, most: int = 48) -> Responses:
    """The responses of those combinations of channels that hold most of them: as good for seeking poles, and quicker."""
    lines, outputs, inputs = responses.values.shape
    if outputs * inputs <= most or len(set(responses.orders)) > 1:
        return responses
    flat = responses.values.reshape(lines, -1)
    _, _, Vt = np.linalg.svd(np.vstack([flat.real, flat.imag]), full_matrices=False)
    names = tuple(f"combination {k + 1}" for k in range(most))
    made = (flat @ Vt[:most].T)[:, :, None]
    return replace(
        responses, values=made, outputs=names, inputs=("all",), orders=responses.orders[:1] * most, coherence=None,
        deviation=None,
    )  # fmt: skip


def _completed(cut: Responses, poles: Array, count: int | None, decisions: list[str]) -> Array:
    """Poles with those added, one by one, that what is left of the responses asks for (BIC)."""
    fit = _begun(cut, poles, count) if len(poles) else None
    for _ in range(_MOST):
        if count is not None and fit is not None and len(fit.poles) >= count:
            break
        better = None
        for guess in missing_poles(cut, np.zeros(0) if fit is None else fit.poles):
            start = np.append([] if fit is None else fit.poles, guess)
            tried = modal_fit(cut, start, _FEW)
            lines = independent_lines(tried, cut)
            before = _nothing(cut, lines) if fit is None else _criterion(fit, cut, lines)
            if _criterion(tried, cut, lines) < before and (better is None or tried.noise.sum() < better.noise.sum()):
                better = tried
        if better is None:
            break
        fit = better
    found = np.zeros(0, dtype=complex) if fit is None else fit.poles
    if len(found) > len(poles):
        decisions.append(f"{len(found) - len(poles)} more stand out of what these leave of the responses")
    return found


def _begun(cut: Responses, stable: Array, count: int | None) -> ModalFit:
    """The fit from stable poles, with poles beside the band where without them stable ones would leave it to stand for
    what modes outside of it add."""
    fit = modal_fit(cut, stable, _FEW)
    if count is not None or not _lost(fit.poles, stable):
        return fit
    first, last = 2 * np.pi * cut.frequencies_hz[[0, -1]]
    beside = [complex(-_BESIDE * w, w) for w in (0.5 * max(first, 1e-3 * last), 1.5 * last)]
    tried = modal_fit(cut, np.append(stable, beside), _FEW)
    return tried if _lost(tried.poles, stable) < _lost(fit.poles, stable) else fit


def _lost(poles: Array, stable: Array) -> int:
    """How many stable poles none of these is near to."""
    return sum(bool((np.abs(poles - p) > _NEAR * abs(p)).all()) for p in stable)


def _needed(cut: Responses, poles: Array, stable: Array, count: int | None, decisions: list[str]) -> Array:
    """The poles that the data need (BIC), or as many as are asked for."""
    fit = modal_fit(cut, poles)
    while len(fit.poles) > 1 and (count is None or len(fit.poles) > count):
        best = None
        for k in _weakest(fit):
            tried = modal_fit(cut, fit.poles[np.arange(len(fit.poles)) != k], _FEW)
            own = bool((np.abs(stable - fit.poles[k]) < _NEAR * abs(fit.poles[k])).any())
            if count is None and _lost(tried.poles, stable) > _lost(fit.poles, stable) + own:
                continue  # another one would leave its place to stand for this one
            lines = float(len(cut.frequencies_hz)) if own else independent_lines(fit, cut)
            worse = _criterion(tried, cut, lines) - _criterion(fit, cut, lines)
            if best is None or worse < best[0]:
                best = (worse, k, tried)
        if best is None or (count is None and best[0] > 0):
            break
        hz = abs(fit.poles[best[1]]) / (2 * np.pi)
        decisions.append(f"{hz:.4g} Hz is left out: the responses are told as well without it")
        fit = best[2]
    return fit.poles


def _weakest(fit: ModalFit) -> Array:
    strength = np.array([np.linalg.norm(r) / abs(p.real) for r, p in zip(fit.residues, fit.poles, strict=True)])
    return np.argsort(strength)[:2]


def _physical(fit: ModalFit, band: tuple[float, float], decisions: list[str]) -> ModalFit:
    """The fit with those of its poles that are modes of the band; the others are what modes outside of it add."""
    hz, ratios = np.abs(fit.poles) / (2 * np.pi), -fit.poles.real / np.abs(fit.poles)
    kept = (hz > band[0] / _BEYOND) & (hz < band[1] * _BEYOND) & (ratios < _MOST_DAMPED)
    if not kept.any():
        raise SuppleError("no mode stands out of the noise in this band; widen it, or measure with less noise")
    for k in np.flatnonzero(~kept):
        decisions.append(f"{hz[k]:.4g} Hz, ratio {ratios[k]:.2g}: no mode of the band; it stands for those outside")
    return replace(fit, poles=fit.poles[kept], residues=fit.residues[kept], deviation=fit.deviation[kept])


def _shares(poles: Array, stable: Stable) -> Array:
    """In how many of the orders each pole was stable; zero for one that was found otherwise."""
    made = np.zeros(len(poles))
    for k, pole in enumerate(poles):
        if len(stable.poles):
            near = int(np.argmin(np.abs(stable.poles - pole)))
            made[k] = stable.shares[near] if abs(stable.poles[near] - pole) < _NEAR * abs(pole) else 0.0
    return made


def independent_lines(fit: ModalFit, cut: Responses) -> float:
    """How many lines tell something of their own: all of them if what is left is white, few if it goes on from line to
    line, as errors of the model do (Bartlett 1946: N (1 - r) / (1 + r), r from one line to the next)."""
    left = (fit.restored - cut.values).reshape(len(cut.values), -1)
    size = np.maximum((np.abs(left) ** 2).sum(0), 1e-300)
    r = float(np.mean((left[1:].conj() * left[:-1]).sum(0).real / size))
    lines = float(len(left))
    return lines if r < 3 / np.sqrt(left.size) else max(lines * (1 - r) / (1 + r), 1.0)


def _nothing(cut: Responses, lines: float) -> float:
    return float(2 * lines * np.sum(np.log(np.mean(np.abs(cut.values) ** 2, axis=0) / 2)))


def _criterion(fit: ModalFit, cut: Responses, lines: float) -> float:
    """Schwarz's criterion of noise per channel that is independent on so many lines."""
    outputs, inputs = cut.values.shape[1:]
    unknown = len(fit.poles) * (2 + 2 * outputs * inputs)
    rest = np.maximum(fit.noise.ravel() ** 2, 1e-30 * np.abs(cut.values).max() ** 2)
    return float(2 * lines * np.sum(np.log(rest)) + unknown * np.log(2 * lines))


def _record(
    cut: Responses, fit: ModalFit, shares: Array, diagram: Array, band: tuple[float, float], decisions: list[str]
) -> Extracted:
    shapes, pushes = [], []
    for residue in fit.residues:
        U, sizes, Vh = np.linalg.svd(residue, full_matrices=False)
        shapes.append(U[:, 0] * np.sqrt(sizes[0]))
        pushes.append(Vh[0] * np.sqrt(sizes[0]))
    omega = np.abs(fit.poles)
    ratios = -fit.poles.real / omega
    real, imag = fit.deviation.T
    spread = np.sqrt((fit.poles.real * real) ** 2 + (fit.poles.imag * imag) ** 2) / omega
    loose = np.sqrt((real * (1 - ratios**2)) ** 2 + (ratios * imag * np.sqrt(1 - ratios**2)) ** 2) / omega
    modes = MeasuredModes(
        fit.poles, np.array(shapes).T, np.array(pushes), cut.outputs, cut.inputs, spread / (2 * np.pi), loose
    )  # fmt: skip
    error = float(np.sum(np.abs(fit.restored - cut.values) ** 2) / np.sum(np.abs(cut.values) ** 2))
    if cut.decay:
        decisions.append(f"the exponential window added {cut.decay:.4g} 1/s of decay; it is taken out of the poles")
    return Extracted(modes, diagram, shares, error, band, fit.restored, cut, tuple(decisions), cut.decay, cut.notices)
