"""Formulations of one robot side by side."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import duration_option
from supple.cli.options import assembly_option, at_option, json_option, print_json, set_option


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
    robot: str, at: dict[str, str], settings: dict[str, str], assembly: str | None, only: tuple[str, ...],
    motion: str | None, tol: tuple[float, ...], duration: float | None, no_time: bool, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Formulations side by side: matrices, forces, frequencies, how they differ, and what they cost."""
    from supple.api import Robot

    result = Robot(robot, settings).compare(
        at, only=only, assembly=assembly, motion=motion, tol=tol, duration=duration, timed=not no_time
    )
    if plot is not None:
        result.plot(plot)
    if as_json:
        print_json(result.to_json())
        return
    from supple.views.comparison import comparison_page
    from supple.views.page import print_page

    print_page(comparison_page(result))
    if plot is not None:
        click.echo(f"drawn in {plot}")
