"""Numbers over designs."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import bar, interrupted, writable
from supple.cli.options import assembly_option, at_option, json_option, load_option, named_values, set_option
from supple.cli.studies import follow_option, of_option, over_option, poses_option, show_study, work_options


@click.command()
@click.argument("robot")
@click.option("--vary", multiple=True, callback=named_values, metavar="NAME=FIRST:LAST:COUNT|A,B,C",
              help="A parameter, as in h=15mm:60mm:10 or w=1mm,2mm; FIRST:LAST with --latin.")  # fmt: skip
@click.option("--grid", is_flag=True, help="Every combination of the values (the default).")
@click.option("--latin", type=int, metavar="N", help="N designs spread evenly over the ranges (Latin hypercube).")
@click.option("--normal", multiple=True, callback=named_values, metavar="NAME=MEAN:DEVIATION",
              help="A parameter that scatters, as in E=70GPa:3%; --latin says how many designs (1000).")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, help="Of the scatter.")
@of_option
@over_option
@poses_option
@click.option("--free", is_flag=True, help="Actuators follow with constant force instead of being held.")
@follow_option
@at_option
@set_option
@assembly_option
@load_option
@work_options
@json_option
def sweep(
    robot: str, vary: dict[str, str], grid: bool, latin: int | None, normal: dict[str, str], seed: int, of: list[str],
    over: dict[str, str], poses: Path | None, free: bool, follow: bool, at: dict[str, str], settings: dict[str, str],
    assembly: str | None, loads: dict[str, list[float]], workers: int | None, dask: str | None, output: Path | None,
    resume: bool, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Frequencies, stiffness, mass ... over designs and poses; sensitivities, bands and quantiles."""
    from supple.api import Robot

    writable(output, plot)
    with bar(f"{robot} sweep") as report, interrupted(output):
        found = Robot(robot, settings).sweep(
            vary, of, at, grid=grid, latin=latin, normal=normal, seed=seed, over=over, poses=poses, free=free,
            follow=follow, loads=loads,
            assembly=assembly, workers=workers, dask=dask, output=output, resume=resume, progress=report,
        )  # fmt: skip
    show_study(found, output, plot, as_json)
