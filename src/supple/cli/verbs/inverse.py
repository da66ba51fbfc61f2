"""Forces that make a robot follow a motion."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import (
    accept_option,
    against_option,
    bar,
    duration_option,
    every_option,
    filter_option,
    motion_option,
    output_option,
    plot_option,
    shaper_option,
    show,
    writable,
)
from supple.cli.options import checked_seconds, formulation_option, json_option, set_option, structural_option


@click.command()
@click.argument("robot")
@motion_option
@duration_option
@click.option("--quasi-static", is_flag=True, help="Bodies bend as the loads of the moment ask, without vibrating.")
@click.option("--of", metavar="POINT|platform", help="This point, or the platform, of the flexible robot goes where the "
              "path leads it on the rigid one.")  # fmt: skip
@click.option("--method", type=click.Choice(["exact", "quasi-static", "rigid"]), default="exact", show_default=True,
              help="With --of: exact (the actuators move before it where they must), bodies that bend without vibrating, or "
              "the rigid robot's forces.")  # fmt: skip
@click.option("--lead", callback=checked_seconds, metavar="TIME",
              help="With --of: time before and after the motion (default: three periods of the slowest mode).")  # fmt: skip
@click.option(
    "--tol",
    type=float,
    metavar="NUMBER",
    help="Error of accelerations made in a radian of a vibration, relative to those of late (default 1e-5).",
)
@shaper_option
@every_option
@click.option("--rigid", is_flag=True, help="The same robot without its flexibility.")
@formulation_option
@structural_option
@set_option
@filter_option
@against_option
@accept_option
@output_option
@plot_option
@json_option
def inverse(
    robot: str, motion: str | None, duration: float | None, quasi_static: bool, of: str | None, method: str,
    lead: float | None, shaper: str | None, tol: float | None,
    every: float, rigid: bool, formulation: str, structural: str, settings: dict[str, str],
    filter: float | None, against: Path | None, accept: bool,
    output: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Forces and torques that make the actuators follow a motion, and how the bodies bend."""
    from supple.api import Robot

    writable(output, plot)
    with bar(f"{robot} {motion or ''}") as report:
        result = Robot(robot, settings).inverse(
            motion, duration=duration, quasi_static=quasi_static, of=of, method=method, lead=lead, shaper=shaper,
            tol=tol, every=every, rigid=rigid, formulation=formulation, structural=structural, filter=filter,
            against=against, accept=accept, output=output, progress=report,
        )  # fmt: skip
    show(result, output, plot, as_json)
