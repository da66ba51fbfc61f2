"""`Group`: runs that are integrated side by side, how they start, go on from a checkpoint, and change free coordinates."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from supple.backends import shelf
from supple.backends.stepping.drive import Drive
from supple.backends.stepping.layout import METHODS, layout_mark
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.state import State, choice
from supple.backends.stepping.stepper import Stepper
from supple.errors import SuppleError
from supple.model import observe
from supple.model.algebra import Array
from supple.simulation.simulator import Simulator

LEAST = 0.02  # ratio of pivots below which other free coordinates are looked for
_AT_ONCE = 1 << 16  # samples for which there is room from the start
_WORDS = {
    "open_loops": "the loops cannot be closed any further: the motion reaches the edge of the workspace or a singular pose",
    "ill_posed": "the pose is singular: the loops no longer say how the passive joints follow",
    "diverged": "Newton's method does not converge, however small the step",
    "not_a_number": "an acceleration is not a finite number",
    "too_small": "the steps that the tolerance asks for became too small",
    "interrupted": "it was interrupted",
}


class Keeper(Protocol):
    """Keeps what was computed so far, so that a run that was killed can be resumed.

    `keep` is given the samples that are new, and how many there were before them."""

    def keep(self, group: int, state: bytes, before: int, samples: Array, notes: Any) -> None: ...
    def kept(self, group: int) -> tuple[bytes, Array, Any] | None: ...


@dataclass
class Group:
    """Runs that are computed side by side: one for each lane, the last ones repeated."""

    number: int
    runs: tuple[int, ...]
    stepper: Stepper
    state: State
    samples: list[Array] = field(default_factory=list)
    room: Array | None = None  # for samples to come, behind those that are there
    filled: int = 0
    outcome: str = "yielded"
    switched: float | None = None  # time of the last change of free coordinates
    # earlier rows, with other free coordinates: up to which, by which stepper, and which coordinates
    stretches: list[tuple[int, Stepper, dict[str, list[int]]]] = field(default_factory=list)
    kept: tuple[int, int] = (0, 0)  # entries of `samples`, and rows in them, that a checkpoint holds
    begun: float = field(default_factory=clock.perf_counter)
    earlier: float = 0.0  # s of computing before it was resumed

    @property
    def rows(self) -> Array:
        """All samples, where they are if they stand behind one another, or else copied."""
        count = sum(map(len, self.samples))
        if self.room is not None and count == self.filled:
            return self.room[:count]
        return np.concatenate(self.samples, out=shelf.array(count, *self.samples[0].shape[1:]))

    def record(self, steps: int, rows: int, drive: Drive, end: float) -> tuple[str, Array]:
        """How so many steps ended, and their samples, at most `rows`, which are added to all others."""
        room = None if self.room is None else self.room[self.filled :]
        if room is None or len(room) <= self.state["rows_ahead"][0] or room.shape[1:] != (1, self.stepper.row):
            room = self.room = None
        outcome, samples = self.stepper.run(self.state, drive, end, steps, rows if room is None else len(room), room)
        self.filled += len(samples)
        if len(samples):
            spare = room is None and 2 * len(samples) <= rows
            self.samples.append(samples.copy() if spare else samples)
        return outcome, samples

    def forget(self) -> None:
        """Give up all samples."""
        self.samples.clear()
        self.room = None

    def keep(self, keeper: Keeper) -> None:
        """Hand over the state and what is new since the last time."""
        entries, before = self.kept
        fresh = np.concatenate([self.samples[0][:0], *self.samples[entries:]])
        keeper.keep(self.number, self.state.data, before, fresh, self.notes())
        self.kept = (len(self.samples), before + len(fresh))

    def count(self) -> int:
        """How many rows there are."""
        entries, before = self.kept
        return before + sum(len(x) for x in self.samples[entries:])

    def notes(self) -> Any:
        """What a checkpoint has to know besides state and samples."""
        made = [[count, stepper.plant.tree is not None, chosen] for count, stepper, chosen in self.stretches]
        spent = self.earlier + clock.perf_counter() - self.begun
        return {
            "layout": layout_mark(), "dense": self.stepper.plant.tree is not None, "switched": self.switched,
            "stretches": made, "spent": spent,
        }  # fmt: skip

    def observe(self, drive: Drive, rows: Array) -> tuple[Array, Array, Array]:
        """q, v and a of all samples (`rows`), each stretch with its own free coordinates."""
        sides = np.where(rows[:, 0, 0] <= rows[0, 0, 0], 1.0, -1.0)
        parts, first = [], 0
        for count, stepper, chosen in [*self.stretches, (len(rows), self.stepper, self.state.chosen)]:
            part, then = slice(first, count), State(stepper.layout)
            then["live"], then["parameters"], then.chosen = self.state["live"], self.state["parameters"], chosen
            parts.append(stepper.observe(then, drive, rows[part], sides[part]))
            first = count
        q, v, a = (np.concatenate([p[k] for p in parts]) for k in range(3)) if len(parts) > 1 else parts[0]
        return q, v, a


def groups_of(simulator: Simulator, settings: Settings, kept: Keeper | None) -> list[Group]:
    """All runs of a simulation in groups, at their start or as `kept` has them."""
    count = len(simulator.runs)
    lanes = 1 if simulator.many == 1 else 4 if simulator.many <= 4 else 8
    stepper = simulator.stepper(lanes)
    groups = []
    for number, first in enumerate(range(0, count, lanes)):
        runs = tuple(min(first + k, count - 1) for k in range(lanes))
        found = kept.kept(number) if kept is not None else None
        if found is not None:
            groups.append(_resumed(simulator, settings, Group(number, runs, stepper, State(stepper.layout)), *found))
        else:
            groups.append(group_at_start(simulator, settings, number, runs))
    return groups


def _resumed(simulator: Simulator, settings: Settings, group: Group, state: bytes, samples: Array, notes: Any) -> Group:
    """A group as a checkpoint left it."""
    lanes = group.stepper.lanes
    if notes["dense"]:
        group.stepper = simulator.stepper(lanes, dense=True)
    if notes.get("layout") != layout_mark() or len(state) not in group.stepper.layout.sizes:
        raise SuppleError("the checkpoint was made by another version of supple; start again without --resume")
    group.state, group.samples, group.kept = State(group.stepper.layout, state), [samples], (1, len(samples))
    group.switched, group.earlier = notes.get("switched"), notes.get("spent", 0.0)
    for count, dense, chosen in notes["stretches"]:
        group.stretches.append((count, simulator.stepper(lanes, dense=dense), chosen))
    return group


def group_at_start(simulator: Simulator, settings: Settings, number: int, runs: tuple[int, ...]) -> Group:
    """Runs at their start, loops closed."""
    stepper = simulator.stepper(len(runs))
    own = [simulator.runs[k] for k in runs]
    q, v = np.array([r.q for r in own]), np.array([r.v for r in own])
    state = stepper.start(settings, simulator.drive, 0.0, q, v)
    group = Group(number, runs, stepper, state)
    state["least_conditioning"] = 0.0 if simulator.prescribed else LEAST
    outcome = stepper.begin(state, simulator.drive, np.array([r.parameters for r in own]))
    if outcome != "fine":
        raise SuppleError(why_stopped(simulator, group, outcome, 0.0))
    _begin(group, settings, simulator.duration)
    _hold(state)
    return group


def _begin(group: Group, settings: Settings, duration: float) -> None:
    """The first sample, with room for those that come if it is known how many."""
    first = group.state.row()[None]
    more = _rows_of(settings, duration) if settings.every > 0 else 0
    if 0 < more < _AT_ONCE and group.stepper.lanes == 1:
        group.room = shelf.array(1 + more, *first.shape[1:])
        group.room[:1] = first
        first, group.filled = group.room[:1], 1
    group.samples.append(first)


def _rows_of(settings: Settings, duration: float) -> int:
    """Samples after the first one, and room for those of one step more."""
    return int(duration / settings.every) + settings.most_samples + 4


def switch(simulator: Simulator, group: Group, drive: Drive) -> bool:
    """Other coordinates as free ones, where those in use have become singular; False if it does not help.

    The closed form knows one choice only, so the matrices of the tree take over."""
    state = group.state
    if simulator.prescribed or group.stepper.lanes > 1 or group.stepper.plant.coupled is not None:
        return False
    q, v = state.lanes("now.q")[0], state.lanes("now.v")[0]
    before = (group.count(), group.stepper, state.chosen)
    try:
        split, free, dependent, balls = simulator.split(q)
        if group.stepper.plant.tree is None:
            group.stepper = simulator.stepper(1, dense=True)
    except SuppleError:
        return False
    fresh = group.stepper.start(Settings(), drive, state.t, q, v)
    fresh.take_over(state)
    fresh["rows_ahead"], fresh["parameters"] = state["rows_ahead"], state["parameters"]
    fresh.chosen = choice(free, dependent, split.rows, balls)
    fresh["least_conditioning"] = LEAST
    group.state = fresh
    if group.stepper.again(fresh, drive) != "fine" or (group.switched is not None and state.t <= group.switched):
        return False
    _hold(fresh)
    group.switched = state.t
    group.stretches.append(before)
    return True


def _hold(state: State) -> None:
    """Keep to these free coordinates, where others may take over, until they are far worse than here."""
    state["least_conditioning"] = min(float(state["least_conditioning"][0]), 0.1 * float(state["conditioning"][0]))


def why_stopped(simulator: Simulator, group: Group, outcome: str, t: float) -> str:
    """Why a simulation ended early: when, where, and what to do."""
    model = simulator.model
    values = observe.coordinate_values(model, group.state.lanes("now.q")[0])
    kinds = [c.kind for c in model.mechanism.coordinates]
    wanted = "active" if "active" in kinds else "passive"
    pose = ", ".join(f"{n} = {x:.6g}" for n, k, x in zip(model.names, kinds, values, strict=True) if k == wanted)
    moving = simulator.motion.controller is None and METHODS[group.state["settings.method"][0]] != "quasi_static"
    advice = "" if not moving else {"too_small": "; loosen --tol", "diverged": "; try a smaller --step"}.get(outcome, "")
    return f"{model.mechanism.name}: stopped at t = {t:.6g} s, because {_WORDS.get(outcome, outcome)} ({pose}){advice}"
