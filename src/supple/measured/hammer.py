"""Frequency responses from records of blows: windows, averages, H1, H2 and Hv, coherence; bad blows are left out.

An exponential window exp(-a t) on force and responses alike shifts the transform: what is measured is H(j w + a), so that
every pole appears with a taken from its real part. `Responses.decay` keeps a; whoever compares takes it into account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.measurements import Responses
from supple.robot.bodies.record import Array

_SECOND = 0.08  # of the first peak: a later one so high is a second blow; filters ring by 6 % after blows of two samples
_QUIET = 6.0  # times the scatter of the quiet part of a force record


@dataclass(frozen=True)
class Blow:
    """One record: force (samples) and responses (samples, outputs)."""

    force: Array
    responses: Array
    name: str = ""


@dataclass(frozen=True)
class Processing:
    """How records are processed; see `test_file.Record`."""

    step: float
    force_window: float = 1.0
    exponential: float = 1.0
    estimator: str = "H1"
    full_scale: float | None = None


def responses_of(
    blows: Sequence[Blow], how: Processing, outputs: tuple[str, ...], given: str, orders: tuple[int, ...]
) -> Responses:
    """The responses of one exciter from its blows, up to half the sampling rate."""
    kept, notices = [], []
    for blow in blows:
        fault = blow_fault(blow, how)
        if fault is None:
            kept.append(blow)
        else:
            notices.append(f"{blow.name or 'a blow'} of {given} is left out: {fault}")
    if not kept:
        raise SuppleError(f"no blow of {given} is fit for use: {'; '.join(notices)}")
    spectra = [_spectra(blow, how) for blow in kept]
    F = np.array([f for f, _ in spectra])  # blows, lines
    X = np.array([x for _, x in spectra])  # blows, lines, outputs
    Sff = (np.abs(F) ** 2).mean(0)[:, None]
    Sxx = (np.abs(X) ** 2).mean(0)
    Sfx = (F.conj()[:, :, None] * X).mean(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.abs(Sfx) ** 2 / (Sff * Sxx)
        H = _estimates(Sff, Sxx, Sfx)[how.estimator]
        spread = np.abs(H) * np.sqrt(np.maximum(1 - coherence, 0) / (2 * len(kept) * np.maximum(coherence, 1e-12)))
    n = len(blows[0].force)
    f = np.fft.rfftfreq(n, how.step)
    bad = ~np.isfinite(H)
    H, coherence = np.where(bad, 0, H), np.where(np.isfinite(coherence), coherence, 0.0)
    deviation = np.where(np.isfinite(spread), spread, np.inf)[:, :, None] / np.sqrt(2) if len(kept) > 1 else None
    decay = -np.log(how.exponential) / (n * how.step)
    known = coherence[:, :, None] if len(kept) > 1 else None
    if len(kept) == 1:
        notices.append(f"{given}: a single blow tells no coherence; strike at least three times")
    return Responses(f, H[:, :, None], outputs, (given,), orders, known, deviation, decay, tuple(notices))


def _estimates(Sff: Array, Sxx: Array, Sfx: Array) -> dict[str, Array]:
    """H1 (noise in the response), H2 (noise in the force), Hv (in both, by total least squares of equal shares)."""
    H1, H2 = Sfx / Sff, Sxx / Sfx.conj()
    gain = np.sqrt(Sxx / Sff)
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = Sfx / np.abs(Sfx)
    return {"H1": H1, "H2": H2, "Hv": gain * turn}


def _spectra(blow: Blow, how: Processing) -> tuple[Array, Array]:
    n = len(blow.force)
    t = np.arange(n) * how.step
    fall = np.exp(np.log(how.exponential) * np.arange(n) / n)
    window = _force_window(blow.force, how.force_window)
    level = np.median(blow.force[_quiet(blow.force)]) if how.force_window < 1 else 0.0
    force = (blow.force - level) * window * fall
    del t
    return np.fft.rfft(force), np.fft.rfft(blow.responses * fall[:, None], axis=0)


def _force_window(force: Array, share: float) -> Array:
    """One around the blow, zero elsewhere, with cosine flanks: the window reaches `share` of the record from its start."""
    n = len(force)
    if share >= 1:
        return np.ones(n)
    first = max(0, _onset(force) - max(2, n // 200))
    last = min(n, int(np.ceil(first + share * n)))
    made = np.zeros(n)
    made[first:last] = 1.0
    flank = max(1, (last - first) // 10)
    slope = 0.5 * (1 + np.cos(np.pi * np.arange(1, flank + 1) / (flank + 1)))
    made[last - flank : last] = slope
    return made


def _onset(force: Array) -> int:
    """The sample at which the blow begins."""
    return int(np.argmax(np.abs(force) > 0.02 * np.abs(force).max()))


def _quiet(force: Array) -> slice:
    return slice(len(force) // 2, None)


def blow_fault(blow: Blow, how: Processing) -> str | None:
    """Why a blow is of no use: no force, an overload, or a second blow; None if nothing is wrong."""
    at = int(np.abs(blow.force).argmax())
    force = blow.force * np.sign(blow.force[at])  # a hammer pushes only: what pulls is a filter that rings
    peak = float(force[at])
    scatter = 1.4826 * float(np.median(np.abs(blow.force[_quiet(blow.force)] - np.median(blow.force[_quiet(blow.force)]))))
    if not peak > 2 * _QUIET * scatter or peak == 0:
        return "there is no blow in its force record"
    for what, signal in (("the force", blow.force[:, None]), ("a response", blow.responses)):
        if _clipped(signal, how.full_scale if what == "the force" else None):
            return f"{what} is overloaded (cut off at its largest values)"
    level = max(_SECOND * peak, _QUIET * scatter)
    end = at + int(np.argmax(force[at:] < level)) if (force[at:] < level).any() else len(force)
    again = np.flatnonzero(force[end:] > level)
    begin = at - int(np.argmax(force[at::-1] < level)) if (force[at::-1] < level).any() else 0
    before = np.flatnonzero(force[: max(begin - 1, 0)] > level)
    if again.size or before.size:
        when = (end + again[0]) if again.size else before[0]
        return f"it hits twice (again after {abs(when - at) * how.step * 1e3:.3g} ms)"
    return None


def _clipped(signals: Array, full_scale: float | None) -> bool:
    """Whether a signal stays at its extreme for three samples or reaches its full scale."""
    for x in signals.T:
        if full_scale is not None and np.abs(x).max() >= full_scale:
            return True
        for extreme in (x.max(), x.min()):
            flat = x == extreme
            if extreme != 0 and (flat[:-2] & flat[1:-1] & flat[2:]).any():
                return True
    return False
