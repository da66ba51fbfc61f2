"""The best values of parameters for what is wanted of a robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.core.core import Core
from supple.core.quantities import quantity
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.ports import wrenches_of
from supple.results.sizing import Met, Sizing, Start, Trade
from supple.robot.written import Written
from supple.storage.tables import save_sizing
from supple.studies.designs import limits, unit_of
from supple.studies.evolution import Designs, evolved
from supple.studies.places import Range, places
from supple.studies.question import Question
from supple.studies.running import Workers
from supple.studies.sizing import ACTIVE, KEPT, Kept, Problem, Run, Want, parsed_want, prices

_POSES = 200  # poses that a design is looked at in


def size(
    robot: Machine,
    free: Mapping[str, Range],
    want: Sequence[str] = (),
    at: Mapping[str, Written] | None = None,
    *,
    least: str | None = None,
    most: str | None = None,
    poses: str | Path | None = None,
    over: Mapping[str, Range] | None = None,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
    starts: int = 5,
    seed: int = 1,
    trade: str | None = None,
    points: int = 9,
    evolve: int | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Sizing:
    """Values of parameters that make a quantity least (or most) while wants are kept; options as of `api.Robot.size`."""
    _check(free, least, most, starts, points)
    _check_evolve(evolve, trade)
    ranges = np.array([limits(robot, name, written, "--free") for name, written in free.items()])
    where = places(robot, over, poses, None, 0, at)
    if len(where.table) > _POSES:
        raise SuppleError(f"{len(where.table)} poses: a design is looked at in {_POSES} at most; choose those that matter")
    w = wrenches_of(robot.model(), loads or {}).ravel()[None]
    question = Question(robot.keeping(tuple(free)), where.names, (), w, False, assembly)
    wants = [parsed_want(question.core, text) for text in want]
    parts = Workers(output=None if output is None else Path(output), resume=resume).parts()
    kept = None if parts is None else Kept(parts, question.fingerprint + where.table.tobytes().hex())
    objective = quantity(question.core, least or most or "")
    problem = Problem(question.core, objective, most is not None, wants, ranges, where.table, w, kept)
    runs = _runs(problem, _begins(problem, question.core, starts, seed), progress)
    made = _sizing(robot, problem, where.names, f"least {least}" if least else f"most {most}", runs)
    if trade is not None:
        curve, count = _traded(problem, question.core, trade, points, evolve, seed, runs)
        unit = quantity(question.core, trade).unit
        made = replace(made, trade=curve, trade_of=trade, trade_unit=unit, evaluations=made.evaluations + count)
    if parts is not None and output is not None:
        save_sizing(made, Path(output))
        parts.remove()
    return made


def _sizing(
    robot: Machine, problem: Problem, names: Sequence[str], objective: str, runs: list[tuple[Array, Start]]
) -> Sizing:  # fmt: skip
    """The Sizing of some runs."""
    x, best = _best(problem, runs)
    free = problem.gradients.core.robot.keep
    return Sizing(
        robot=robot.name,
        objective=objective,
        unit=problem.objective.unit,
        values=dict(zip(free, problem.values(x).tolist(), strict=True)),
        units={name: unit_of(robot, name) for name in free},
        limits={name: (float(a), float(b)) for name, (a, b) in zip(free, problem.limits, strict=True)},
        value=best.objective,
        met=best.violation <= KEPT,
        wants=_met(problem, x) if np.isfinite(best.objective) else (),
        at_limit=tuple(name for name, share in zip(free, x, strict=True) if min(share, 1 - share) < 1e-6),
        poses=tuple(dict(zip(names, row.tolist(), strict=True)) for row in problem.poses),
        evaluations=sum(run.evaluations for _, run in runs),
        starts=tuple(run for _, run in runs),
    )


def _check_evolve(evolve: int | None, trade: str | None) -> None:
    if evolve is not None and (trade is None or not 1 <= evolve <= 10_000):
        raise SuppleError("--evolve GENERATIONS (1 to 10000) makes the curve of a --trade QUANTITY")


def _traded(
    problem: Problem, core: Core, text: str, points: int, evolve: int | None, seed: int, runs: list[tuple[Array, Start]]
) -> tuple[tuple[Trade, ...], int]:  # fmt: skip
    """The curve of best compromises, by derivatives or by evolution, and how many designs it looked at."""
    if evolve is None:
        return _curve(problem, core, text, points, _best(problem, runs)[0], runs)
    return _evolved(problem, core, text, points, evolve, seed)


def _check(free: Mapping[str, Range], least: str | None, most: str | None, starts: int, points: int) -> None:
    if not free:
        raise SuppleError("say what may change: --free NAME=FIRST:LAST")
    if (least is None) == (most is None):
        raise SuppleError("say what is to be made least or most: --least mass, or --most f1")
    if not 1 <= starts <= 1000 or not 2 <= points <= 100:
        raise SuppleError("starts must be 1 to 1000, points of a trade-off 2 to 100")


def _begins(problem: Problem, core: Core, starts: int, seed: int) -> list[Array]:
    """Shares of the ranges: the robot's own values first, then a Latin hypercube."""
    from scipy.stats import qmc

    own = (np.array(core.robot.values) - problem.limits[:, 0]) / (problem.limits[:, 1] - problem.limits[:, 0])
    others = qmc.LatinHypercube(d=len(own), seed=seed).random(starts - 1) if starts > 1 else []
    return [np.clip(own, 0.0, 1.0), *others]


def _runs(problem: Problem, begins: list[Array], progress: Callable[[float], None] | None) -> list[tuple[Array, Start]]:
    made = []
    for k, begin in enumerate(begins):
        made.append(Run(problem, begin).ended())
        if progress is not None:
            progress((k + 1) / len(begins))
    return made


def _best(problem: Problem, runs: list[tuple[Array, Start]]) -> tuple[Array, Start]:
    """Of the runs that keep their wants the best one; else the one that breaks them least."""

    def rank(run: tuple[Array, Start]) -> tuple[float, float]:
        kept = run[1].violation <= KEPT
        return (0.0, run[1].objective * problem.sign) if kept else (1.0, run[1].violation)

    return min(runs, key=rank)


def _met(problem: Problem, x: Array) -> tuple[Met, ...]:
    numbers = problem.looked(x)[0]
    made = []
    for want, price in zip(problem.wants, prices(problem, x), strict=True):
        column = numbers[:, problem.column(want)]
        worst = int((want.sign * column).argmin())
        margin = want.sign * (column[worst] - want.limit) / abs(want.limit)
        made.append(
            Met(want.text, want.quantity.name, want.quantity.unit, want.relation, want.limit, float(column[worst]),
                worst + 1, bool(margin < ACTIVE), float(price))
        )  # fmt: skip
    return tuple(made)


def _evolved(
    problem: Problem, core: Core, text: str, points: int, generations: int, seed: int
) -> tuple[tuple[Trade, ...], int]:  # fmt: skip
    """The curve of best compromises by evolution, and how many designs it looked at."""
    other = quantity(core, text)
    aims = ((problem.objective, problem.sign), (other, -1.0 if other.low_is_bad else 1.0))
    designs = Designs(core, aims, problem.wants, problem.poses, problem.wrenches)
    return evolved(designs, problem.limits, points, generations, seed), designs.count


def _curve(
    problem: Problem, core: Core, text: str, points: int, best: Array, runs: list[tuple[Array, Start]]
) -> tuple[tuple[Trade, ...], int]:  # fmt: skip
    """The least objective for values of a second quantity, from where the first alone is best to the best of the second."""
    other = quantity(core, text)
    rising = other.low_is_bad  # a stiffness is wanted large, a deflection small
    ends = Problem(core, other, rising, problem.wants, problem.limits, problem.poses, problem.wrenches, problem.kept)
    far, end = _best(ends, _runs(ends, [best, *(x for x, _ in runs[1:])], None))
    near = Problem(core, other, rising, (), problem.limits, problem.poses, problem.wrenches, problem.kept)
    first = float(near.objectives(best)[0].max()) * near.sign
    tried, made, x = end.evaluations, [], far
    for limit in np.linspace(end.objective, first, points):
        relation = ">=" if rising else "<="
        wants = [*problem.wants, Want(f"{text}{relation}{limit:.6g}", other, relation, float(limit))]
        own = Problem(
            core, problem.objective, problem.sign < 0, wants, problem.limits, problem.poses, problem.wrenches, problem.kept
        )
        x, run = _best(own, _runs(own, [x, best], None))
        tried += run.evaluations
        if run.violation <= 10 * KEPT:
            reached = float(near.objectives(x)[0].max()) * near.sign
            made.append(Trade(dict(run.values), run.objective, reached))
    return tuple(made), tried
