"""The command line: supple VERB ROBOT [options]. Every verb prints a table for people, or JSON with --json."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from supple.errors import SuppleError


class _Group(click.Group):
    """Errors meant for the user become one line each and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SuppleError as error:
            click.echo(f"supple: {error}" if "\n" not in str(error) else str(error), err=True)
            ctx.exit(2)
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="supple")
def main() -> None:
    """Elastodynamics of flexible parallel robots: from one robot file to natural frequencies, models and code.

    ROBOT is a name of the gallery ('supple robots') or the path of a robot file."""


def _settings(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    made = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise click.BadParameter(f"{item!r} must be NAME=VALUE")
        made[name.strip()] = value.strip()
    return made


def _pose(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    from supple.robot.quantity import QuantityError, evaluate, parse

    made = {}
    for name, text in _settings(context, option, given).items():
        try:
            made[name] = float(evaluate(parse(text), {}).number)
        except (QuantityError, OverflowError) as error:
            raise click.BadParameter(f"{name}={text}: {error}") from error
    return made


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
set_option = click.option(
    "--set", "settings", multiple=True, callback=_settings, metavar="PARAM=VALUE", help="Change a named parameter."
)
at_option = click.option(
    "--at", "at", multiple=True, callback=_pose, metavar="NAME=VALUE",
    help="Joint value or platform coordinate (x, y, z, rx, ry, rz); SI, or with a unit: --at 'q1=30 deg'.",
)  # fmt: skip
assembly_option = click.option("--assembly", metavar="MODE", help="Assembly mode of the robot file (default: its first).")


def _print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, allow_nan=False))


@main.command()
@json_option
def robots(as_json: bool) -> None:
    """List the robots of the gallery."""
    from supple import pipeline

    rows = []
    for name in pipeline.gallery():
        robot = pipeline.describe(name).robot
        rows.append({"name": name, "space": robot.space, "about": " ".join(robot.about.split())})
    if as_json:
        _print_json(rows)
        return
    from supple.views.tables import print_robots

    print_robots(rows)


@main.command()
@click.argument("robot")
@set_option
@at_option
@assembly_option
@json_option
def check(robot: str, settings: dict[str, str], at: dict[str, float], assembly: str | None, as_json: bool) -> None:
    """Read a robot file and report its bodies, coordinates, mobility and overconstraint."""
    from supple import pipeline
    from supple.analyses.check import check as run

    report = run(pipeline.load(robot, settings), at, assembly=assembly)
    if as_json:
        _print_json(report.to_json())
        return
    from supple.views.tables import print_check

    print_check(report)


@main.command()
@click.argument("robot")
@at_option
@set_option
@assembly_option
@click.option("--free", is_flag=True, help="Actuators free (constant force) instead of held.")
@click.option("--count", type=click.IntRange(1), default=10, show_default=True, help="How many modes.")
@click.option("--load", "loads", multiple=True, metavar="POINT=FX,FY,FZ[,MX,MY,MZ]", help="Wrench at a named point, base axes.")
@click.option("--plot", type=click.Path(path_type=Path), help="Picture of a mode (.png, .svg, .pdf; .gif moves).")
@click.option("--mode", type=click.IntRange(1), default=1, show_default=True, help="Which mode --plot draws.")
@json_option
def modes(
    robot: str, at: dict[str, float], settings: dict[str, str], assembly: str | None, free: bool, count: int,
    loads: tuple[str, ...], plot: Path | None, mode: int, as_json: bool,
) -> None:  # fmt: skip
    """Natural frequencies, damping ratios and mode shapes at a pose."""
    from supple import pipeline
    from supple.analyses.modes import modes as run

    result = run(
        pipeline.load(robot, settings), at, free=free, count=max(count, mode if plot else 1), assembly=assembly, loads=_loads(loads)
    )
    if plot is not None:
        from supple.views.mode_picture import draw_mode

        draw_mode(result, mode, plot)
    if as_json:
        _print_json(result.to_json())
        return
    from supple.views.tables import print_modes

    print_modes(result)
    if plot is not None:
        click.echo(f"mode {mode} drawn in {plot}")


def _loads(given: tuple[str, ...]) -> dict[str, list[float]]:
    made: dict[str, list[float]] = {}
    for item in given:
        name, equals, text = item.partition("=")
        try:
            made[name.strip()] = [float(x) for x in text.split(",")]
        except ValueError as error:
            raise click.BadParameter(f"{item!r} must be POINT=FX,FY,FZ or POINT=FX,FY,FZ,MX,MY,MZ") from error
        if not equals:
            raise click.BadParameter(f"{item!r} must be POINT=FX,FY,FZ")
    return made


@main.command()
def schema() -> None:
    """Print the JSON schema of robot files, for editors that complete keys."""
    from supple.robot.description import Robot

    _print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **Robot.model_json_schema(by_alias=True)})


@main.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("supple-tour"), show_default=True)
@json_option
def tour(output: Path, as_json: bool) -> None:
    """A first look: DualEMPS checked, its natural frequencies beside the paper's, one mode drawn."""
    from supple.tour import tour as run

    summary = run(output, quiet=as_json)
    if as_json:
        _print_json(summary)


VERBS: dict[str, Callable[..., Any]] = dict(main.commands)

if __name__ == "__main__":
    main()
