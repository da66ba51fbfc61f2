"""Random states of DualEMPS whose loop is closed, 100,000 of them in a moment: the loop is two circles that meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

HIP, BLADE, KNEE, BASE = 0.0675, 0.4505, 0.082, 0.4  # m, tables 1 and 2 of Briot & Khalil 2014
STEP = {"q": {"x1": 2e-5, "y1": 5e-3, "rz1": 2e-2}, "v": {"x1": 2e-3, "y1": 0.2, "rz1": 0.5}}


def closed_states(names: Sequence[str], count: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v (count, 14) in the order of `names` and accelerations of the sliders (count, 2); `size` scales the bending."""
    rng = np.random.default_rng(0)
    q, v = ({n: _sizes(n, kind, size) * rng.uniform(-1, 1, count) for n in names} for kind in ("q", "v"))
    # a leg from its hip to the knee joint in the hip's axes (complex numbers: x0 + i z0), and its rate
    legs, rates = [], []
    for blade in ("13", "23"):
        u, w, p = (q[f"{blade}.{k}"] for k in ("x1", "y1", "rz1"))
        ud, wd, pd = (v[f"{blade}.{k}"] for k in ("x1", "y1", "rz1"))
        legs.append(HIP + BLADE + u + 1j * w + KNEE * np.exp(1j * p))
        rates.append(ud + 1j * wd + 1j * pd * KNEE * np.exp(1j * p))
    across = BASE + 1j * (q["q21"] - q["q11"])
    (a, b), d = np.abs(legs), np.abs(across)
    at_first = np.arccos((a**2 + d**2 - b**2) / (2 * a * d))  # law of cosines, knee towards +z0
    knee = across / d * a * np.exp(1j * at_first)
    arms = [knee, knee - across]
    q["q12"], q["q22"] = (np.angle(arm / leg) for arm, leg in zip(arms, legs, strict=True))
    # i w1 arm1 - i w2 arm2 = the rates of the sliders and blades that turning must make up for
    turn = [arm / leg for arm, leg in zip(arms, legs, strict=True)]
    gap = 1j * (v["q21"] - v["q11"]) + turn[1] * rates[1] - turn[0] * rates[0]
    determinant = np.imag(np.conj(arms[0]) * arms[1])
    v["q12"] = -np.real(gap * np.conj(arms[1])) / -determinant
    v["q22"] = -np.real(gap * np.conj(arms[0])) / -determinant
    for of in (q, v):
        of["q25"] = of["q12"] + of["13.rz1"] - of["q22"] - of["23.rz1"]
    return np.stack([q[n] for n in names], 1), np.stack([v[n] for n in names], 1), rng.uniform(-5, 5, (count, 2))


def _sizes(name: str, kind: str, size: float) -> float:
    own = STEP[kind].get(name.rpartition(".")[2])
    return 0.1 if own is None else own * size
