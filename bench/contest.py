"""What benches against another program share: attempts with their errors and best times, supple's side, tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from timing import show

from supple.backends.native import native
from supple.backends.stepping.settings import Settings
from supple.expr.passes import optimise
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator

KINDS = ("integration", "with the tip", "simulate")
IN_A_ROW = 4  # runs of one setting, of which the best counts
Run = Callable[..., tuple[float, np.ndarray, np.ndarray]]
ERRORS = {"error": "whole error", "stepping": "error of time-stepping"}


@dataclass
class Attempt:
    """One setting of one program: its errors, and the best times so far."""

    name: str
    stepping: float = np.inf
    error: float = np.inf  # the whole one
    times: dict[str, float] = field(default_factory=dict)
    notes: str = ""

    def took(self, what: str, seconds: float) -> None:
        self.times[what] = min(seconds, self.times.get(what, np.inf))


def relative(error: np.ndarray, reference: np.ndarray) -> float:
    """RMS of a vector over time, relative to that of another."""
    return float(np.sqrt((error**2).sum(1).mean() / (reference**2).sum(1).mean()))


def at_times(reference: np.ndarray, every: float, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of some times are among those of a reference (one row `every` after the start), and its rows there."""
    index = np.rint(times / every).astype(int)
    shared = (index > 0) & (np.abs(index * every - times) < 1e-9)
    return shared, reference[index[shared] - 1]


class Tip:
    """The acceleration of the first point alone from supple's integrators, without all else that `simulate` reports."""

    def __init__(self, robot: Simulator, axes: slice = slice(None)) -> None:
        self.robot, self.stepper, self.axes = robot, robot.stepper(), axes
        self.points = native(optimise(robot.model.equations.points).function, lanes=8)
        self.steps = 0

    def __call__(self, settings: Settings) -> tuple[float, float, np.ndarray]:
        """Seconds of the integration, seconds with the tip, and its acceleration at the samples after the start."""
        robot, stepper, run = self.robot, self.stepper, self.robot.runs[0]
        chosen, drive = robot.scaled(settings), robot.drive
        begun = time.thread_time()
        state = stepper.start(chosen, drive, 0.0, run.q, run.v)
        outcome = stepper.begin(state, drive)
        if outcome == "fine":
            outcome, rows = stepper.run(state, drive, robot.duration, 10**9, round(robot.duration / chosen.every) + 100)
        integrated = time.thread_time()
        if outcome != "done":
            raise RuntimeError(f"supple stopped early: {outcome}")
        q, v, a = stepper.observe(state, drive, rows, np.full(len(rows), -1.0))[:3]
        found = self.points(q=q[:, 0], v=v[:, 0], a=a[:, 0], g=robot.model.gravity)["acceleration"]
        self.steps = state.counts()["steps"]
        return integrated - begun, time.thread_time() - begun, found[:, 0, self.axes]


class Ours:
    """supple with one model of a robot, over some tolerances."""

    def __init__(self, name: str, robot: Simulator, fine: Settings, tolerances: Iterable[float]) -> None:
        self.name, self.robot, self.every, self.tip = name, robot, fine.every, Tip(robot)
        self.fine = np.asarray(integrate(robot, fine)["point_acceleration"][1:, 0])
        self.attempts = {t: Attempt(f"supple, {name}, tolerance {t:g}") for t in tolerances}

    def turn(self, reference: np.ndarray) -> None:
        for tolerance, attempt in self.attempts.items():
            settings = Settings(tolerance=tolerance, every=self.every)
            for _ in range(IN_A_ROW):
                integrated, with_tip, found = self.tip(settings)
                attempt.took("integration", integrated)
                attempt.took("with the tip", with_tip)
            for _ in range(IN_A_ROW):
                begun = time.process_time()
                integrate(self.robot, settings, threads=1)
                attempt.took("simulate", time.process_time() - begun)
            attempt.stepping, attempt.error = relative(found - self.fine, self.fine), relative(found - reference, reference)
            attempt.notes = f"{self.tip.steps} steps"


class Theirs:
    """Another program with one model of a robot, over settings of its integrator: a run takes a setting's values and
    gives its seconds, the times, and the acceleration at them."""

    def __init__(
        self,
        name: str,
        run: Run,
        fine: Sequence[Any],
        settings: Mapping[str, Sequence[Any]],
        every: float,
        in_a_row: int = 1,
    ) -> None:
        self.name, self.run, self.settings, self.every, self.in_a_row = name, run, settings, every, in_a_row
        self.fine = sampled(every, *run(*fine)[1:])
        self.attempts = {words: Attempt(f"{name}, {words}") for words in settings}

    def turn(self, reference: np.ndarray) -> None:
        for words, attempt in self.attempts.items():
            try:
                for _ in range(self.in_a_row):
                    taken, at, found = self.run(*self.settings[words])
                    attempt.took("with the tip", taken)
            except RuntimeError:
                attempt.notes = "it stops early"
                continue
            shared, there = at_times(reference, self.every, at)
            own = at_times(self.fine, self.every, at)[1]
            attempt.stepping, attempt.error = relative(found[shared] - own, own), relative(found[shared] - there, there)
            attempt.notes = f"{len(at) - 1} samples"


def sampled(every: float, at: np.ndarray, found: np.ndarray) -> np.ndarray:
    """What was found `every` apart after the start."""
    on = (np.abs(np.rint(at / every) * every - at) < 1e-9) & (at > 0.5 * every)
    return found[on]


def race(contestants: Iterable[Ours | Theirs], reference: np.ndarray, rounds: int) -> None:
    """All settings of all contestants, turn by turn, each first with the error of its model."""
    for x in contestants:
        print(f"{x.name}: fine run from the converged one {relative(x.fine - reference, reference):.2%}")
    for _ in range(rounds):
        for x in contestants:
            x.turn(reference)


def missed(ratios: Mapping[tuple[str, str, float], float], bar: float) -> list[str]:
    """At which whole errors supple's integration is not `bar` times as fast."""
    return [f"{ratio:.1f} at {limit:.2%}" for (what, k, limit), ratio in ratios.items()
            if what == "error" and k == "integration" and ratio < bar]  # fmt: skip


def table(title: str, attempts: Iterable[Attempt]) -> None:
    """Print errors and best times of all attempts."""
    rows = []
    for a in attempts:
        times = (f"{1e3 * a.times[k]:.2f}" if k in a.times else "" for k in KINDS)
        rows.append([a.name, f"{a.stepping:.2%}", f"{a.error:.2%}", *times, a.notes])
    show(f"{title}: errors and best times in ms", ["", "stepping", "whole", *KINDS, ""], rows)


def compare(
    mine: Sequence[Attempt], peers: Sequence[Attempt], limits: Iterable[float]
) -> dict[tuple[str, str, float], float]:
    """How many times as fast supple's best attempts are as the peer's best with an error of each limit, also printed."""
    found: dict[tuple[str, str, float], float] = {}
    for what, title in ERRORS.items():
        for limit in limits:
            able = [a for a in peers if getattr(a, what) <= limit]
            if not able:
                print(f"\nno run of the peer's has a {title} of {limit:.2%}")
                continue
            peer = min(able, key=lambda a: a.times["with the tip"])
            rows = [[f"{peer.name} ({getattr(peer, what):.2%})", f"{1e3 * peer.times['with the tip']:.2f}", "1"]]
            for k in KINDS:
                a = min((a for a in mine if getattr(a, what) <= limit), key=lambda a, k=k: a.times[k])
                found[what, k, limit] = ratio = peer.times["with the tip"] / a.times[k]
                rows.append([f"{a.name}: {k} ({getattr(a, what):.2%})", f"{1e3 * a.times[k]:.2f}", f"{ratio:.1f}"])
            show(f"fastest with a {title} of {limit:.2%} at most", ["", "ms", "times as fast"], rows)
    return found
