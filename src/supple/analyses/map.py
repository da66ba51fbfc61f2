"""Numbers of a robot over its workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.ports import wrenches_of
from supple.results.study import Column, Study
from supple.robot.written import Written
from supple.studies.places import Range, places
from supple.studies.question import Cases, Question
from supple.studies.running import Workers, study


def map(
    robot: Machine,
    over: Mapping[str, Range] | None = None,
    of: Sequence[str] = ("f1",),
    at: Mapping[str, Written] | None = None,
    *,
    poses: str | Path | None = None,
    along: str | None = None,
    samples: int = 201,
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
    """Quantities over a grid of poses, over the poses of a table, or along a motion; options as of `api.Robot.map`."""
    if not over and poses is None and along is None:
        raise SuppleError("say where: --over NAME=FIRST:LAST:COUNT, or --poses FILE, or --along MOTION")
    where = places(robot, over, poses, along, samples, at)
    w = wrenches_of(robot.model(), loads or {}).ravel()[None]
    question = Question(robot, where.names, tuple(of), w, free, assembly, follow)
    units = {c.name: c.unit for c in robot.mechanism().coordinates}
    _ = question.quantities  # complaints come before the work
    listed = {n: Column(units[n], x) for n, x in where.chosen.items()}
    if where.times is not None:
        listed = {"time": Column("s", where.times), **listed}
    chosen = Workers(workers, dask, None if output is None else Path(output), resume, progress)
    return study(question, Cases(where.table), "map", where.shape, listed, chosen, axes=where.axes)
