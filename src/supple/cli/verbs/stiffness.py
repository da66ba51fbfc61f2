"""Stiffness of a point."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import assembly_option, at_option, json_option, load_option, print_json, remark, set_option


@click.command()
@click.argument("robot")
@click.option("--point", metavar="NAME", help="A point of the robot file (default: its only one).")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Results: .nc, .csv, .mat or .json.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Picture (.png, .svg, .pdf).")
@at_option
@set_option
@assembly_option
@load_option
@json_option
def stiffness(
    robot: str, point: str | None, output: Path | None, plot: Path | None, at: dict[str, str], settings: dict[str, str],
    assembly: str | None, loads: dict[str, list[float]], as_json: bool,
) -> None:  # fmt: skip
    """Stiffness and compliance of a point, what gives way, and what weight and loads do."""
    from supple.api import Robot

    found = Robot(robot, settings).stiffness(point, at, loads=loads, assembly=assembly)
    remark(found.notices)
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import stiffness_page

    print_page(stiffness_page(found))
    for path in (output, plot):
        if path is not None:
            click.echo(f"wrote {path}")
