"""Modes of noisy responses by `supple extract` and by sdypy-EMA, beside the truth.

    pip install sdypy-EMA
    python bench/extract_sdypy.py

Known systems: two modes 2 % apart with ratios of 2 %, and five modes, two of them 2 % apart; 24 responses to one hammer,
noise of 0 to 20 % of each response. sdypy-EMA (LSCF) is told the true frequencies, twice: its own choice of the closest
poles (f_window=4; the usual 50 drags them to neighbours), and the median of the poles nearest to the truth over orders from
20 on, which no user can have. supple is told nothing. Half a minute.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np

from supple.measured.extraction import extracted
from supple.measurements import Responses

LINES = np.linspace(0, 100, 801)
BAND = (10.0, 60.0)
SYSTEMS = {
    "two close modes": ([30.0, 30.6], [0.02, 0.02]),
    "five modes": ([15.0, 22.0, 30.0, 30.6, 48.0], [0.01, 0.015, 0.02, 0.02, 0.01]),
}


def accelerances(hz: list[float], ratios: list[float], outputs: int = 24, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    s = 2j * np.pi * LINES
    H = np.zeros((len(LINES), outputs), dtype=complex)
    for f, z in zip(hz, ratios, strict=True):
        w = 2 * np.pi * f
        H += rng.normal(size=outputs) * rng.normal() / (s**2 + 2 * z * w * s + w**2)[:, None]
    return H * (s**2)[:, None]


def noisy(H: np.ndarray, share: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    inside = (BAND[0] <= LINES) & (BAND[1] >= LINES)
    size = share * np.sqrt(np.mean(np.abs(H[inside]) ** 2, axis=0) / 2)
    return H + size * (rng.normal(size=H.shape) + 1j * rng.normal(size=H.shape))


def by_supple(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    names = tuple(f"{k}:+x" for k in range(H.shape[1]))
    found = extracted(Responses(LINES, H[:, :, None], names, ("1:+x",), (2,) * H.shape[1]), BAND).modes
    return found.frequencies_hz, found.damping_ratios


def by_sdypy(H: np.ndarray, near: list[float]) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The poles that sdypy-EMA selects itself, and medians of those nearest to the truth."""
    from sdypy import EMA

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        model = EMA.Model(frf=H.T, freq=LINES, lower=BAND[0], upper=BAND[1], pol_order_high=40)
        model.get_poles(show_progress=False)
        model.select_closest_poles(list(near), f_window=4)
    best = []
    for f in near:
        seen = []
        for hz, ratios in zip(model.pole_freq[20:], model.pole_xi[20:], strict=True):
            fit = [(abs(a - f), a, z) for a, z in zip(hz, ratios, strict=True) if 0 < z < 0.2]
            seen += [min(fit)[1:]] if fit else []
        best.append(np.median(np.array(seen), axis=0))
    return (np.array(model.nat_freq), np.array(model.nat_xi)), (np.array(best)[:, 0], np.array(best)[:, 1])


def told(truth: tuple[list[float], list[float]], found: tuple[np.ndarray, np.ndarray]) -> str:
    hz, ratios = map(np.array, truth)
    if len(found[0]) < len(hz):
        return f"{len(found[0])} of {len(hz)} modes"
    near = [int(np.argmin(np.abs(found[0] - f))) for f in hz]
    extra = "" if len(found[0]) == len(hz) else f", {len(found[0]) - len(hz)} more"
    df, dz = np.abs(found[0][near] / hz - 1).max(), np.abs(found[1][near] / ratios - 1).max()
    return f"{100 * df:7.3f} % {100 * dz:7.2f} %{extra}"


def main() -> None:
    print(f"{'largest errors of Hz, ratio':32}{'supple':>22}{'sdypy-EMA, its choice':>26}{'nearest to the truth':>26}")
    for name, truth in SYSTEMS.items():
        H = accelerances(*truth)
        for share in (0.0, 0.05, 0.2):
            data = noisy(H, share, 1)
            row = f"{name}, noise {100 * share:.0f} %"
            try:
                peers = [told(truth, found) for found in by_sdypy(data, truth[0])]
            except ImportError:
                peers = ["not installed"] * 2
            print(f"{row:32}{told(truth, by_supple(data)):>22}{peers[0]:>26}{peers[1]:>26}", flush=True)


if __name__ == "__main__":
    main()
