"""Frequency responses."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import assembly_option, at_option, json_option, load_option, print_json, remark, set_option
from supple.cli.responses import free_option, in_option, out_option


@click.command()
@click.argument("robot")
@in_option
@out_option
@click.option("--band", default="0:250", show_default=True, metavar="FIRST:LAST", help="Frequencies in Hz.")
@click.option("--points", type=int, default=1001, show_default=True, help="How many frequencies.")
@click.option("--quantity", type=click.Choice(["displacement", "velocity", "acceleration"]), default="acceleration",
              show_default=True, help="Receptance, mobility or accelerance.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Results: .nc, .csv, .mat or .uff.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Magnitude and phase (.png, .svg, .pdf).")
@free_option
@at_option
@set_option
@assembly_option
@load_option
@json_option
def frf(
    robot: str, inputs: str, outputs: str, band: str, points: int, quantity: str, output: Path | None,
    plot: Path | None, free: bool | None, at: dict[str, str], settings: dict[str, str], assembly: str | None,
    loads: dict[str, list[float]], as_json: bool,
) -> None:  # fmt: skip
    """Responses to unit harmonic forces: receptance, mobility or accelerance."""
    from supple.api import Robot

    found = Robot(robot, settings).frf(
        inputs,
        outputs,
        at,
        band=band,
        points=points,
        quantity=quantity,
        free=free,
        loads=loads,
        assembly=assembly,
    )
    remark(found.notices)
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import frf_page

    print_page(frf_page(found))
    for path in (output, plot):
        if path is not None:
            click.echo(f"wrote {path}")
