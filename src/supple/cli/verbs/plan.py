"""A test that tells parameters well."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import json_option, print_json, remark, set_option


@click.command()
@click.argument("robot")
@click.option("--free", required=True, metavar="NAMES", help="Parameters to be told, as of identify: k1,E; k1=k2; k1@leg.")
@set_option
@click.option("--sensors", type=click.IntRange(1), default=8, show_default=True, help="How many sensors there are.")
@click.option("--poses", type=click.IntRange(1), default=3, show_default=True, help="How many poses are measured.")
@click.option("--test", type=click.Path(path_type=Path), metavar="FILE",
              help="Test file with the sensors, exciters and poses to choose from.")  # fmt: skip
@click.option("--band", metavar="FIRST:LAST", help="Frequencies in Hz (default: about ten modes).")
@click.option("--noise", type=float, default=0.02, show_default=True, help="Of a channel, by the strongest response.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random poses.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="The plan as a test file (.yaml).")
@json_option
def plan(
    robot: str, free: str, settings: dict[str, str], sensors: int, poses: int, test: Path | None, band: str | None,
    noise: float, seed: int, output: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Where to strike, where to listen, in which poses: the test of ROBOT that tells parameters best, and how well."""
    from supple.api import Robot

    found = Robot(robot, settings).plan(
        free, sensors=sensors, poses=poses, test=test, band=band, noise=noise,
        seed=seed, output=output,
    )  # fmt: skip
    remark(found.notices)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.measured_pages import planned_page
    from supple.views.page import print_page

    print_page(planned_page(found))
    if output is not None:
        click.echo(f"wrote {output}")
