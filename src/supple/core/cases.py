"""Cases (poses of designs) worked through in chunks, and the `Study` they make."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from supple.core.core import Core
from supple.core.quantities import Quantity, evaluated
from supple.model.algebra import Array, one_thread
from supple.results.study import Column, Study

_CHUNK = 8192  # cases between two reports of progress


@one_thread
def study(
    core: Core, kind: str, shape: tuple[int, ...], chosen: Mapping[str, Column], poses: Array, p: Array | None,
    asked: Sequence[Quantity], wrenches: Array, *, threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Study:  # fmt: skip
    """Quantities of all cases: poses (n, names) of designs p (n rows; None: the robot's own)."""
    count = len(poses)
    values = [np.full(count, np.nan) for _ in asked]
    answered = np.zeros(count, dtype=bool)
    problems: dict[int, str] = {}
    for begin in range(0, count, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        design = None if p is None else p[part]
        answers, found = evaluated(core, asked, poses[part], design, wrenches, threads or os.cpu_count() or 1)
        answered[part] = answers.answered
        problems |= {begin + k: text for k, text in answers.problems.items()}
        for column, numbers in zip(values, found, strict=True):
            column[part] = numbers
        if progress is not None:
            progress(min(1.0, (begin + _CHUNK) / count))
    quantities = {q.name: Column(q.unit, x, q.about, q.low_is_bad) for q, x in zip(asked, values, strict=True)}
    return Study(core.robot.name, kind, shape, chosen, quantities, answered, problems)
