"""Ensembles block by block: parts of a Simulator, and what their results say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from supple.model.algebra import Array
from supple.results import Simulation
from supple.simulation.groups import Keeper
from supple.simulation.simulator import Simulator

LANES = 8  # runs side by side, whose signals are held at once
_MOST_THREADS = 4  # groups of a block, whose samples are: more would be faster on as many processors, and take more memory
_ADDED = (
    "wall_time_s", "preparation_s", "observation_s", "runs", "steps", "rejected_steps", "evaluations", "newton_iterations",
    "jacobians",
)  # fmt: skip


def block_size(threads: int) -> int:
    """How many runs are integrated at once."""
    return LANES * max(1, min(threads, _MOST_THREADS))


def part_of(simulator: Simulator, first: int, size: int) -> Simulator:
    """The Simulator of consecutive runs, which shares what was compiled."""
    return replace(
        simulator,
        runs=simulator.runs[first : first + size],
        varied={name: values[first : first + size] for name, values in simulator.varied.items()},
        ensemble=simulator.many,
    )


@dataclass(frozen=True)
class PartKeeper:
    """A Keeper of some groups of a simulation, whose numbers begin with `first`."""

    whole: Keeper
    first: int

    def keep(self, group: int, state: bytes, before: int, samples: Array, notes: Any) -> None:
        self.whole.keep(self.first + group, state, before, samples, notes)

    def kept(self, group: int) -> tuple[bytes, Array, Any] | None:
        return self.whole.kept(self.first + group)


def outcome_of(blocks: Sequence[Simulation]) -> str:
    """complete, or why the last of those that ended early did, or what is doubtful."""
    early = [b.outcome for b in blocks if not b.complete and not b.doubtful]
    doubtful = [b.outcome for b in blocks if b.doubtful]
    return early[-1] if early else doubtful[0] if doubtful else "complete"


def summary_of(summaries: Sequence[dict[str, Any]], reached: float) -> dict[str, Any]:
    """The summary of all blocks: counts and times added, the worst of all errors, every notice once."""
    made = dict(summaries[0])
    made |= {key: sum(s[key] for s in summaries) for key in _ADDED}
    made["real_time_factor"] = reached * made["runs"] / max(made["wall_time_s"], 1e-9)
    for key in ("worst_closure", "energy_balance_error_J", "cut_off", "performance"):
        for s in summaries[1:]:
            made[key] = worse(made[key], s[key])
    errors = [(s["energy_balance_error_J"], s["energy_balance_error"]) for s in summaries]
    peaks = [error / share for error, share in errors if share]
    if peaks:
        made["energy_balance_error"] = made["energy_balance_error_J"] / max(peaks)
    made["notices"] = list(dict.fromkeys(line for s in summaries for line in s["notices"]))
    return made


def worse(a: Any, b: Any) -> Any:
    """The worse of two numbers, tables of numbers, or moments (told by their `share` or `used` of something); what one of
    two tables does not have is taken from the other, and a number that is not there in one is there in neither."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in ("share", "used"):
            if key in a and key in b:
                return a if a[key] >= b[key] else b
        return {k: worse(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k)) for k in dict.fromkeys([*a, *b])}
    if isinstance(a, dict) or isinstance(b, dict):
        return a if isinstance(a, dict) else b
    if isinstance(a, str) or a is None or b is None:
        return None if a is None or b is None else a
    return max(a, b)
