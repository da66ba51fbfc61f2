"""Numbers over the workspace."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import bar, interrupted, writable
from supple.cli.options import assembly_option, at_option, json_option, load_option, set_option
from supple.cli.studies import follow_option, of_option, over_option, poses_option, show_study, work_options


@click.command()
@click.argument("robot")
@over_option
@of_option
@poses_option
@click.option("--along", metavar="MOTION", help="Poses along a motion of the robot file.")
@click.option("--samples", type=int, default=201, show_default=True, help="How many along a motion.")
@click.option("--free", is_flag=True, help="Actuators follow with constant force instead of being held.")
@follow_option
@at_option
@set_option
@assembly_option
@load_option
@work_options
@json_option
def map(
    robot: str, over: dict[str, str], of: list[str], poses: Path | None, along: str | None, samples: int, free: bool,
    follow: bool, at: dict[str, str], settings: dict[str, str], assembly: str | None, loads: dict[str, list[float]],
    workers: int | None, dask: str | None, output: Path | None, resume: bool, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Frequencies, stiffness, forces, dexterity ... over the workspace, its boundary and its worst pose."""
    from supple.api import Robot

    writable(output, plot)
    with bar(f"{robot} map") as report, interrupted(output):
        found = Robot(robot, settings).map(
            over, of, at, poses=poses, along=along, samples=samples, free=free, follow=follow, loads=loads,
            assembly=assembly, workers=workers, dask=dask, output=output, resume=resume, progress=report,
        )  # fmt: skip
    show_study(found, output, plot, as_json)
