"""A model as source code."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.models import MODELS, derivation_progress, keep_option, solve_rates_option
from supple.cli.motions import writable_place
from supple.cli.options import formulation_option, json_option, print_json, set_option, structural_option
from supple.errors import SuppleError


@click.command()
@click.argument("robot")
@click.option("--model", metavar="NAME", help=f"One of {MODELS}, or plant: the robot with its "
              "integrator, to go on by fixed steps (c, simulink, rust), or controller (c). An FMU needs none.")  # fmt: skip
@click.option("--target", required=True, metavar="NAME", help="c, python, matlab, simulink, rust or fmu.")
@click.option("--fmi", default="2.0", show_default=True, metavar="VERSION", help="Version of an FMU: 2.0 or 3.0.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder for the files.")
@set_option
@keep_option
@click.option("--derivative", metavar="INPUT", help="Generate the exact derivative along an input (q, v, p, ...).")
@solve_rates_option
@formulation_option
@structural_option
@click.option("--motion", metavar="NAME|FILE", help="Of the model controller: the path that it follows.")
@click.option(
    "--controller",
    metavar="LAW:GAINS",
    help="Of it: pd or pid with a sample time, or a file of supple control (.json), instead of the motion's own.",
)
@click.option("--shaper", metavar="LAW:KEYS", help="Of it: how its path is shaped, as for simulate.")
@json_option
def generate(
    robot: str, model: str | None, target: str, fmi: str, output: Path, settings: dict[str, str], keep: tuple[str, ...],
    derivative: str | None, solve_rates: bool, formulation: str, structural: str, motion: str | None,
    controller: str | None, shaper: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Write a model as source code that checks itself and needs nothing else."""
    from supple.api import Robot
    from supple.backends.targets import TARGETS

    writable_place(output / "file")
    if target == "fmu":
        if model not in (None, "forward") or derivative or solve_rates:
            raise SuppleError("an FMU holds the whole robot; leave out --model, --derivative and --solve-rates")
        path = Robot(robot, settings).export_fmu(output, keep=keep, version=fmi, structural=structural)
        print_json({"robot": robot, "target": "fmu", "files": [str(path)]}) if as_json else click.echo(f"wrote {path}")
        return
    if model is None and target in TARGETS:
        raise SuppleError(f"say which model: --model with one of {MODELS}")
    with derivation_progress(f"{robot} {model}") as report:
        made = Robot(robot, settings).generate(
            model or "", target, output, keep=keep, derivative=derivative, structural=structural,
            motion=motion, controller=controller, shaper=shaper, solve_rates=solve_rates, formulation=formulation,
            report=report,
        )  # fmt: skip
    if as_json:
        print_json(made.to_json())
        return
    total = made.counts["operations"]["total"]
    click.echo(f"{made.robot} {model}: {total} operations; wrote " + ", ".join(str(f) for f in made.files))
