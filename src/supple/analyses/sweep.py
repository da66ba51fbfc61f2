"""Numbers of a robot over designs and poses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.core.quantities import evaluated
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.ports import wrenches_of
from supple.results.study import Study
from supple.robot.written import Written
from supple.studies.designs import grid as grid_of
from supple.studies.designs import plan, scattered
from supple.studies.gradients import SLOPES, Gradients
from supple.studies.places import Range, places
from supple.studies.question import Question
from supple.studies.running import Workers, study

_USUAL = 1000  # designs of a scatter


def sweep(
    robot: Machine,
    vary: Mapping[str, Range] | None = None,
    of: Sequence[str] = ("f1",),
    at: Mapping[str, Written] | None = None,
    *,
    grid: bool = False,
    latin: int | None = None,
    normal: Mapping[str, str] | None = None,
    seed: int = 1,
    over: Mapping[str, Range] | None = None,
    poses: str | Path | None = None,
    free: bool = False,
    follow: bool = False,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Study:
    """Quantities over designs, each in all poses, and their sensitivities; options as of `api.Robot.sweep`."""
    if not vary and not normal:
        raise SuppleError("say what varies: --vary NAME=FIRST:LAST:COUNT, or --normal NAME=MEAN:DEVIATION")
    if grid and (latin is not None or normal):
        raise SuppleError("--grid is every combination of values; leave it out with --latin and --normal")
    listed = latin is not None or bool(normal)
    designs = scattered(robot, vary or {}, normal or {}, latin or _USUAL, seed) if listed else grid_of(robot, vary or {})
    where = places(robot, over, poses, None, 0, at)
    kept = robot.keeping(tuple(designs.values))
    w = wrenches_of(robot.model(), loads or {}).ravel()[None]
    question = Question(kept, where.names, tuple(of), w, free, assembly, follow)
    _ = question.quantities  # complaints come before the work
    made = plan(robot, designs, where)
    chosen = Workers(workers, dask, None if output is None else Path(output), resume, progress)
    found = study(question, made.cases, "sweep", made.shape, made.chosen, chosen, axes=made.axes)
    return replace(found, varied=tuple(designs.values), sensitivities=_sensitivities(question, where.table))


def _sensitivities(question: Question, poses: Array) -> dict[str, dict[str, float]]:
    """Change of every quantity in per cent for one per cent of every parameter, at the robot's own values and the pose in
    which the quantity is worst there; exact derivatives."""
    core, own = question.core, np.array(question.robot.values)
    known = [q for q in question.quantities if q.kind in SLOPES]
    if not known:
        return {}
    numbers = evaluated(core, known, poses, own[None], question.wrenches, 1)[1]
    slopes = Gradients(core, known)
    if not slopes.smooth(own):
        return {}
    made = {}
    for k, (q, x) in enumerate(zip(known, numbers, strict=True)):
        size = x if q.low_is_bad else -np.abs(x)
        if np.isnan(size).all():
            continue
        worst = int(np.nanargmin(size))
        value, slope = slopes.at(own, poses[worst : worst + 1], question.wrenches)
        scale = own / value[0, k] if value[0, k] else np.zeros_like(own)
        made[q.name] = dict(zip(question.robot.keep, (slope[0, k] * scale).tolist(), strict=True))
    return made
