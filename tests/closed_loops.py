"""Closed loops in simulations: robots that are hit while a controller holds them, and poles found in what is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import supple
from supple.model.algebra import one_thread
from supple.motion.laws import SampledLaw

Array = np.ndarray[Any, Any]


def quiet(law: SampledLaw) -> SampledLaw:
    """The law with sensors that tell the truth."""
    return replace(law, sensors=tuple(replace(s, noise=0.0, resolution=0.0) for s in law.sensors))


def hit_motion(robot: supple.Robot, pose: Mapping[str, float], hit: str, area: float, seconds: float, folder: Any) -> str:
    """A motion file: the robot rests in a pose (actuators) and is hit by an impulse (N s), as in 'P.fx'."""
    names = ", ".join(f"{n}: {x!r}" for n, x in pose.items())
    point, part = hit.rsplit(".", 1)
    path = folder / "hit.yaml"
    path.write_text(
        f"start: {{{names}}}\nmoves: [{{to: {{{names}}}, duration: {seconds} s}}]\n"
        f"loads: {{{point}: {{{part}: {{impulse: {{area: {area}, duration: 6 ms, at: 1 ms}}}}}}}}\n",
        encoding="utf-8",
    )
    return str(path)


def after_hit(run: Any) -> Array:
    """Positions and rates off their start, made of one size, from 10 samples after the start on."""
    x = np.asarray(run["position"])
    made = np.hstack([x - x[0], 1e-2 * np.asarray(run["velocity"])])[10:]
    size = np.abs(made).max(axis=0)
    kept = size > 1e-3 * size.max()
    return made[:, kept] / size[kept]


def _fits(Y: Array, sample: float, ranks: Sequence[int], lag: int) -> list[tuple[Array, Array]]:
    """Poles (1/s) of linear systems of these ranks that go on from `lag` samples as Y does; how much is of each."""
    n = len(Y) - lag
    H = np.hstack([Y[i : i + n] for i in range(lag)]).T
    every = np.linalg.svd(H[:, :-1], full_matrices=False)
    made = []
    for rank in ranks:
        U, s, V = every[0][:, :rank], every[1][:rank], every[2][:rank]
        z, W = np.linalg.eig(U.T @ H[:, 1:] @ V.T / s)
        shapes = U @ W
        size = np.abs(np.linalg.lstsq(shapes, H[:, 0], rcond=None)[0]) * np.linalg.norm(shapes[: Y.shape[1]], axis=0)
        made.append((np.log(z) / sample, size))
    return made


@one_thread
def found_poles(Y: Array, sample: float, ranks: Sequence[int] = (30, 34, 38), lag: int = 20) -> list[complex]:
    """Poles of what was recorded on which fits of several ranks agree (1 % of the decay), the strongest first."""
    fits = _fits(Y, sample, ranks, lag)
    s, size = fits[0]
    made = []
    for k in np.argsort(-size):
        near = [f[0][np.argmin(np.abs(f[0] - s[k]))] for f in fits[1:]]
        same = all(abs(x.real / s[k].real - 1) < 0.01 and abs(x.imag / s[k].imag - 1) < 0.002 for x in near)
        if s[k].imag > 10 and size[k] > 0.01 * size.max() and same:
            made.append(complex(s[k]))
    return made


def foretold(poles: Array, s: complex) -> tuple[float, float]:
    """How far off the decay and the frequency of a pole are from the nearest that was foretold, relative."""
    near = complex(poles[np.argmin(np.abs(poles - s))])
    return abs(s.real / near.real - 1), abs(s.imag / near.imag - 1)
