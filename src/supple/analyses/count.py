"""Operations of generated models."""

from __future__ import annotations

from collections.abc import Callable

from supple.backends.package import counted
from supple.expr.passes import Stage
from supple.generator import compiled_size, generate
from supple.machine import USUAL, Machine
from supple.results import Counted


def count(
    robot: Machine,
    model: str,
    *,
    derivative: str | None = None,
    solve_rates: bool = False,
    formulation: str = USUAL,
    compiled: bool = False,
    report: Callable[[Stage], None] = lambda stage: None,
) -> Counted:
    """What one evaluation of a model costs, as derived and after every optimiser pass.

    derivative: the input along which the model is differentiated first; solve_rates: rates of passive joints are solved
    inside; compiled: seconds to compile it and bytes of machine code are measured too; report: hears of every stage of the
    optimiser. Parameters that the robot keeps are inputs."""
    made = generate(
        robot, model, wrt=derivative, solve_rates=solve_rates, report=report, formulation=formulation
    )  # fmt: skip
    stages = {}
    for stage in made.optimised.stages:  # passes repeat: the last round counts
        own = {"operations": stage.operations, "counts": dict(stage.counts), "intermediates": stage.intermediates}
        stages[stage.name if stage.name != "given" else "as derived"] = own
    size = compiled_size(made.package.function) if compiled else None
    return Counted(robot.name, model, counted(made.optimised.counts), stages, size, made.optimised.legs)
