"""A model written as source code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from supple.backends.targets import TARGETS
from supple.errors import SuppleError
from supple.expr.passes import Stage
from supple.generator import generate as generated
from supple.machine import USUAL, Machine
from supple.results import Exported


def generate(
    robot: Machine,
    model: str,
    target: str,
    folder: Path,
    *,
    derivative: str | None = None,
    solve_rates: bool = False,
    formulation: str = USUAL,
    report: Callable[[Stage], None] = lambda stage: None,
) -> Exported:
    """A model as source code that checks itself and needs nothing else, written to `folder` by a target; options as of
    `count`."""
    if target not in TARGETS:
        raise SuppleError(f"there is no target {target!r}; choose one of {', '.join([*TARGETS, 'fmu'])}")
    made = generated(robot, model, wrt=derivative, solve_rates=solve_rates, formulation=formulation, report=report)
    files = TARGETS[target](made.package, folder)
    return Exported(robot.name, model, target, tuple(files), made.package.counts())
