"""Optimiser passes: each takes a Function and returns an equal one with fewer operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from supple.expr.function import Function
from supple.expr.node import FUNCTIONS
from supple.expr.passes.dead import dead_inputs
from supple.expr.passes.divide import divide
from supple.expr.passes.factor import factor
from supple.expr.passes.fold import fold
from supple.expr.passes.gate import PassError, error_growth
from supple.expr.passes.hoist import staged
from supple.expr.passes.search import search
from supple.expr.passes.share import share
from supple.expr.passes.signs import signs
from supple.expr.uncollected import uncollected

Pass = Callable[[Function], Function]

# In the order they run. `divide` saves a few operations but divisions are slow: it is asked for by name.
PASSES: dict[str, Pass] = {
    "fold": fold, "share": share, "factor": factor, "search": search, "divide": divide, "signs": signs,
}  # fmt: skip
DEFAULT = ("fold", "share", "factor", "search", "signs")
REPEATED = ("share", "factor")  # these open opportunities for each other
LARGE = 60_000  # operations above which only the passes of linear cost run
SMALL = 1_500  # operations up to which share and factor are repeated to the last gain
MEDIUM = 10_000  # operations above which nothing is repeated
LINEAR = ("fold", "divide", "signs")
_ROUNDS = 6
_GROWTH = 8.0  # how much rounding errors may grow for the sake of fewer operations


@dataclass(frozen=True)
class Stage:
    """The size of a Function after the pass `name` ("given" before the first)."""

    name: str
    counts: Counter[str]
    operations: int  # + - * / and negations
    intermediates: int  # values computed on the way, functions such as sin included


@dataclass(frozen=True)
class Optimised:
    """The optimised Function and its size before the first and after every pass."""

    function: Function
    stages: tuple[Stage, ...]


@uncollected()
def optimise(
    f: Function,
    passes: Sequence[str] | None = None,
    seed: int = 0,
    report: Callable[[Stage], None] = lambda stage: None,
) -> Optimised:
    """f with fewer operations, and the story of how; `report` hears of every stage as it is reached.

    `passes` names the passes to run, in order (DEFAULT if None); share and factor repeat while they gain.
    Every result is compared with what it came from at random points drawn with `seed`; a pass that changes a
    value raises a PassError; one that gains nothing, or makes rounding errors much larger, is left out.
    """
    names = tuple(DEFAULT if passes is None else passes)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"no pass named {unknown[0]!r}; there are {', '.join(PASSES)}")
    return _optimised(f, names, seed, report)


def _optimised(f: Function, names: Sequence[str], seed: int, report: Callable[[Stage], None]) -> Optimised:
    stages = [_stage("given", f)]
    report(stages[0])
    for group in _groups(names):
        for _ in range(_ROUNDS if len(group) > 1 else 1):
            before = f.operations
            for name in group:
                if name in LINEAR or f.operations <= LARGE:
                    f = _gated(f, name, seed)
                    stages.append(_stage(name, f))
                    report(stages[-1])
            little = before // 250 if before > SMALL else 0
            if before > MEDIUM or before - f.operations <= little:
                break
    return Optimised(f, tuple(stages))


def _groups(names: Sequence[str]) -> list[tuple[str, ...]]:
    """The passes in order, runs of repeated ones together."""
    groups: list[tuple[str, ...]] = []
    for name in names:
        if groups and name in REPEATED and groups[-1][-1] in REPEATED:
            groups[-1] = (*groups[-1], name)
        else:
            groups.append((name,))
    return groups


def _gated(f: Function, name: str, seed: int) -> Function:
    """f after one pass, checked; f itself where the pass gains nothing."""
    try:
        made = PASSES[name](f)
    except (ZeroDivisionError, ValueError) as problem:
        raise type(problem)(f"function {f.name}: {problem}") from problem
    rougher = error_growth(f, made, name, seed) > _GROWTH
    worse = made.operations > f.operations or any(made.counts[op] > f.counts[op] for op in FUNCTIONS)
    return f if rougher or worse else made


def _stage(name: str, f: Function) -> Stage:
    return Stage(name, f.counts, f.operations, sum(f.counts.values()))


__all__ = [
    "DEFAULT", "PASSES", "Optimised", "Pass", "PassError", "Stage",
    "dead_inputs", "divide", "error_growth", "factor", "fold", "optimise", "share", "signs", "staged",
]  # fmt: skip
