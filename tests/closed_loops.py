"""Closed loops in simulations: robots that are hit while a controller holds them, and poles found in what is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import supple
from supple.control.loops import loop_of
from supple.control.plants import Ask, plant_at
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
def found_poles(Y: Array, sample: float, ranks: Sequence[int] = (44, 50, 56), lag: int = 20) -> list[complex]:
    """Poles of what was recorded on which fits of several ranks agree (1 % of the decay), the strongest first."""
    fits = _fits(Y, sample, ranks, lag)
    s, size = fits[0]
    made = []
    for k in np.argsort(-size):
        if s[k].imag < 10 or size[k] < 0.02 * size.max():
            continue
        near = [f[0][np.argmin(np.abs(f[0] - s[k]))] for f in fits[1:]]
        same = all(abs(x.real / s[k].real - 1) < 0.01 and abs(x.imag / s[k].imag - 1) < 0.002 for x in near)
        if same:
            made.append(complex(s[k]))
    return made


@one_thread
def foretold_poles(
    robot: supple.Robot, law: SampledLaw, pose: Mapping[str, float], cutoff: float = 1e3
) -> tuple[Array, Array]:
    """Poles (1/s) of the sampled loop of the whole linear robot: of motions slower than the cutoff (Hz), which simulations
    follow, and of faster ones, which they may not."""
    plant = plant_at(robot.model(), pose, Ask(law.sensors, law.actuators, law.pushes, ("q",)))
    z, shapes = np.linalg.eig(loop_of(plant, law).matrix())
    n, omega = plant.modes, 2 * np.pi * plant.frequencies_hz[:, None]
    energy = np.abs(omega * shapes[:n]) ** 2 + np.abs(shapes[n : 2 * n]) ** 2
    fast = energy[plant.frequencies_hz > cutoff].sum(axis=0) > energy[plant.frequencies_hz <= cutoff].sum(axis=0)
    there = np.abs(z) > 1e-6
    return np.log(z[there & ~fast]) / law.sample, np.log(z[there & fast]) / law.sample


def compared(found: Sequence[complex], slow: Array, fast: Array) -> list[tuple[complex, complex, float, float]]:
    """Poles found, the nearest foretold, and how far off decay and frequency are, relative; those that are nearest in
    frequency to one of the fast motions are left out."""
    made = []
    for s in found:
        near = complex(slow[np.argmin(np.abs(slow - s))])
        other = np.abs(fast.imag - s.imag).min(initial=np.inf)
        if abs(near.imag - s.imag) <= other or abs(near - s) < 0.02 * abs(s):
            made.append((s, near, abs(s.real / near.real - 1), abs(s.imag / near.imag - 1)))
    return made
