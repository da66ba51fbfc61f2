"""The verb `compare`: formulations of one robot side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from supple.cli.motion import duration_option
from supple.cli.options import assembly_option, at_option, json_option, pose_numbers, print_json, set_option
from supple.errors import SuppleError

if TYPE_CHECKING:
    from supple.machine import Machine
    from supple.model.model import Model
    from supple.results import Simulation
    from supple.robot.quantity import Value


@click.command()
@click.argument("robot")
@at_option
@set_option
@assembly_option
@click.option("--only", multiple=True, metavar="NAME", help="Only these formulations beside the first (repeatable).")
@click.option("--motion", metavar="NAME", help="Simulate a motion of the robot file with each formulation too.")
@click.option("--tol", type=float, multiple=True, metavar="NUMBER", help="Tolerance of the motion (repeatable; default: the "
              "usual one of simulate, a tenth and a hundredth of it).")  # fmt: skip
@duration_option
@click.option("--no-time", is_flag=True, help="Do not compile and time the Functions.")
@click.option("--plot", type=click.Path(path_type=Path), help="Picture of differences and costs (.png, .svg, .pdf).")
@json_option
def compare(
    robot: str, at: dict[str, Value], settings: dict[str, str], assembly: str | None, only: tuple[str, ...],
    motion: str | None, tol: tuple[float, ...], duration: float | None, no_time: bool, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Formulations side by side: matrices, forces, frequencies, how they differ, and what they cost."""
    from supple.analyses.compare import compare as run
    from supple.machine import FORMULATIONS, Machine

    unknown = [name for name in only if name not in FORMULATIONS]
    if unknown:
        raise SuppleError(f"there is no formulation {unknown[0]!r}; choose one of {', '.join(FORMULATIONS)}")
    first = next(iter(FORMULATIONS))
    names = [n for n in FORMULATIONS if not only or n in only or n == first]
    machine = Machine.read(robot, settings)
    models = {name: _loaded(machine, name) for name in names}
    reference = models[first]
    assert not isinstance(reference, str)
    taken = [name for name, model in models.items() if not isinstance(model, str)]
    motions = None if motion is None else _motions(machine, motion, taken, tol, duration)
    result = run(
        models, pose_numbers(reference.mechanism, at), assembly=assembly, generated=_generated(models), timed=not no_time,
        motions=motions,
    )  # fmt: skip
    if plot is not None:
        from supple.views.comparison import draw_comparison

        draw_comparison(result, plot)
    if as_json:
        print_json(result.to_json())
        return
    from supple.views.comparison import print_comparison

    print_comparison(result)
    if plot is not None:
        click.echo(f"drawn in {plot}")


def _loaded(robot: Machine, formulation: str) -> Model | str:
    """The robot by a formulation, or why it does not take it."""
    from supple.machine import FORMULATIONS

    if formulation == next(iter(FORMULATIONS)):
        return robot.model(formulation)
    try:
        return robot.model(formulation)
    except SuppleError as reason:
        return str(reason)


def _generated(models: dict[str, Model | str]) -> dict[str, int]:
    """Operations of the forward models, as derived, of the formulations that have one for this robot."""
    from supple.models import BUILDERS

    made = {}
    for name, model in models.items():
        if name in BUILDERS and not isinstance(model, str):
            try:
                made[name] = BUILDERS[name]["forward"](model.mechanism).operations
            except SuppleError:
                continue
    return made


def _motions(
    robot: Machine, motion: str, formulations: list[str], tolerances: tuple[float, ...], duration: float | None
) -> dict[str, list[Simulation] | str]:  # fmt: skip
    """A motion by each formulation at every tolerance, loosest first, or why a formulation does not integrate it."""
    from supple.analyses.simulate import simulate
    from supple.backends.stepping.settings import Settings
    from supple.simulation.simulator import simulator

    read = robot.motion(motion, duration)
    made: dict[str, list[Simulation] | str] = {}
    wanted = sorted(tolerances, reverse=True)
    for name in formulations:
        try:
            own = simulator(robot, read, formulation=name, duration=duration)
            usual = own.scaled(Settings()).tolerance
            wanted = wanted or [usual, usual / 10, usual / 100]  # those of the first, for all
            made[name] = [simulate(own, Settings(tolerance=tol)) for tol in wanted]
        except SuppleError as reason:
            if name == formulations[0]:
                raise
            made[name] = str(reason)
    return made
