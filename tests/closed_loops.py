"""Closed loops in simulations: robots that are hit while a controller holds them, or that start in the shape of one pole of
their loop, and poles found in what is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import supple
from supple.backends.stepping.settings import Settings
from supple.control.loops import Loop, loop_of
from supple.control.plants import Ask, PosedPlant, plant_at
from supple.model.algebra import one_thread
from supple.motion.controllers import under_law
from supple.motion.description import Motion
from supple.motion.laws import SampledLaw
from supple.simulation.simulator import Simulator, simulator

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
    own: Array = made[:, kept] / size[kept]
    return own


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


# Starts in the shape of one pole -------------------------------------------------------------------------------------------

SIZE = 1e-6  # m or rad, of the largest coordinate: what is not linear is then a millionth, and both signs cancel half of it
GONE = 0.02  # poles inside this radius are over within a sample
_SIGNS = 2  # every start is made in both directions; half the difference counts


@dataclass(frozen=True)
class Pole:
    """A pole (1/s, of the sampled loop), and what simulations that start in its shape have instead; the mode (Hz) that has
    most of its energy, and how many samples were looked at."""

    told: complex
    found: complex
    mode_hz: float
    samples: int

    @property
    def off(self) -> float:
        """Of the decay, relative."""
        return abs(self.found.real / self.told.real - 1)


@dataclass(frozen=True)
class Shapes:
    """A robot at rest in a pose under a law whose sensors tell the truth, and the shapes of its sampled loop."""

    simulator: Simulator
    plant: PosedPlant
    law: SampledLaw
    loop: Loop

    @cached_property
    def poles(self) -> tuple[Array, Array]:
        """z, one of each pair, and shapes: amplitudes and rates of the modes, forces in line, states of the law."""
        z, V = one_thread(np.linalg.eig)(self.loop.matrix())
        kept = (z.imag >= 0) & (np.abs(z) > GONE)
        return z[kept], V[:, kept]

    def mode_of(self, k: int) -> float:
        n, w = self.plant.modes, self.poles[1][:, k]
        energy = np.abs(2 * np.pi * self.plant.frequencies_hz * w[:n]) ** 2 + np.abs(w[n : 2 * n]) ** 2
        return float(self.plant.frequencies_hz[np.argmax(energy)])


def shapes_of(robot: supple.Robot, law: SampledLaw, at: Mapping[str, float]) -> Shapes:
    """The Shapes of a law in a pose (of all actuators)."""
    own = quiet(law)
    still = Motion(
        "rest", "", "joints", None, None, dict(at), {}, None, None, None, None, dict.fromkeys(at, "controlled"), 10
    )
    made = simulator(robot, under_law(still, own))
    plant = plant_at(robot.model(), at, Ask(own.sensors, own.actuators, own.pushes, ("q",)))
    return Shapes(made, plant, own, loop_of(plant, own))


def crossing(
    robot: supple.Robot, inside: SampledLaw, outside: SampledLaw, at: Mapping[str, float], *, longest: int = 200
) -> tuple[Pole, Pole]:
    """Of laws on both sides of a margin: the pole that grows outside of it, and the same inside."""
    beyond, within = shapes_of(robot, outside, at), shapes_of(robot, inside, at)
    k = int(np.argmax(np.abs(beyond.poles[0])))
    same = int(np.argmin(np.abs(within.poles[0] - beyond.poles[0][k])))
    how: dict[str, Any] = {"tol": 1e-10, "longest": longest}
    return poles_by_start(within, [same], **how)[0], poles_by_start(beyond, [k], **how)[0]


def poles_by_start(
    shapes: Shapes, chosen: Sequence[int] | None = None, *, tol: float = 1e-9, longest: int = 200
) -> list[Pole]:
    """What becomes of starts in the shapes of poles (all, or those chosen), each over the time in which it should fall to
    1/e, at most `longest` samples. Nothing is cut off."""
    z, V = shapes.poles
    fall = np.ceil(1 / np.maximum(np.abs(np.log(np.abs(z))), 1e-12))
    counts = np.clip(fall, 6, longest).astype(int)
    order = sorted(range(len(z)) if chosen is None else chosen, key=lambda k: counts[k])
    side_by_side = 4 // _SIGNS
    made = []
    for first in range(0, len(order), side_by_side):
        own = order[first : first + side_by_side]
        records = _recorded(shapes, [V[:, k] for k in own], int(counts[own].max()), tol)
        for k, record in zip(own, records, strict=True):
            found = _one_pole(record[: counts[k] + 1], complex(z[k]))
            told, found = np.log(z[k] + 0j) / shapes.law.sample, np.log(found + 0j) / shapes.law.sample
            made.append(Pole(complex(told), complex(found), shapes.mode_of(k), int(counts[k])))
    return made


def _recorded(shapes: Shapes, wanted: Sequence[Array], count: int, tol: float) -> list[Array]:
    """Half the differences (samples, channels) of starts in both directions of each shape: positions, rates and states of
    the law, each kind of size one at most."""
    made, law, n, size = shapes.simulator, shapes.law, shapes.plant.modes, len(shapes.loop.plant.A)
    starts = [_scaled(shapes, w) for w in [*wanted, *[wanted[-1]] * (2 - len(wanted))]]
    signed = [sign * x for x in starts for sign in (1, -1)]
    T, rest = shapes.plant.motions, made.runs[0]
    stepper = made.stepper(len(signed))
    settings = made.scaled(Settings("radau", tol, every=law.sample, cutoff=0.0))
    q = np.array([made.model.retract(rest.q, T @ x[:n].real) for x in signed])
    state = stepper.start(settings, made.drive, 0.0, q, np.array([T @ x[n : 2 * n].real for x in signed]))
    put_law(state, law, np.array([x[size:].real for x in signed]), np.array([x[2 * n : size].real for x in signed]))
    assert stepper.begin(state, made.drive, np.array([rest.parameters] * len(signed))) == "fine"
    rows: list[list[Array]] = [[], [], []]
    for k in range(count + 1):
        outcome = "yielded" if k else "done"
        while outcome in ("yielded", "full"):
            outcome, _ = stepper.run(state, made.drive, k * law.sample, 10**6, 64)
        assert outcome == "done"
        states = state.lanes("law_state")[:, : law.states * len(law.parts)]
        for row, x in zip(rows, (state.lanes("now.q"), state.lanes("now.v"), states), strict=True):
            row.append(x)
    found = []
    for i, start in enumerate(starts[: len(wanted)]):
        parts = [0.5 * (np.array(row)[:, 2 * i] - np.array(row)[:, 2 * i + 1]) for row in rows]
        sizes = [np.abs(part).max(initial=1e-300) for part in parts]
        sizes[2] = max(sizes[2], np.abs(start[:n]).max())  # a law that sees nothing of it is no record of it
        found.append(np.hstack([part / s for part, s in zip(parts, sizes, strict=True)]))
    return found


def _scaled(shapes: Shapes, w: Array) -> Array:
    """A shape, its largest coordinate of SIZE."""
    made: Array = w * (SIZE / np.abs(shapes.plant.motions @ w[: shapes.plant.modes]).max())
    turned: Array = made * np.exp(-1j * np.angle(made[np.argmax(np.abs(made))]))
    return turned


def put_law(state: Any, law: SampledLaw, x: Array, line: Array) -> None:
    """States of the law (lanes, states) and forces in line (lanes, samples x forces), the last first, put into a state at
    t = 0: the oldest acts, the others wait."""
    lanes, r = len(x), len(law.actuators)
    state["law_state"].reshape(-1, lanes)[: x.shape[1]] = x.T
    forces = line.reshape(lanes, -1, r)
    waiting = forces.shape[1] - 1
    state["held_effort"].reshape(-1, lanes)[:] = forces[:, -1].T
    for k in range(waiting):
        state["waiting_effort"].reshape(-1, r, lanes)[k] = forces[:, waiting - 1 - k].T
        state["waiting_until"][k] = law.delay - (waiting - k) * law.sample
    state["n_waiting"] = waiting


def _one_pole(record: Array, near: complex) -> complex:
    """The pole (of samples) by which a record of one motion goes on, by least squares over all channels."""
    if abs(near.imag) < 1e-9 * abs(near):
        return complex((record[1:] * record[:-1]).sum() / (record[:-1] ** 2).sum())
    before = np.stack([record[1:-1].ravel(), record[:-2].ravel()], axis=1)
    a, b = np.linalg.lstsq(before, record[2:].ravel(), rcond=None)[0]
    both = np.roots([1, -a, -b])
    return complex(both[np.argmin(np.abs(both - near))])
