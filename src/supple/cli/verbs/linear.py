"""The linear model about a pose."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import assembly_option, at_option, json_option, load_option, print_json, remark, set_option
from supple.cli.responses import free_option, in_option, out_option


@click.command()
@click.argument("robot")
@in_option
@out_option
@click.option("--order", type=int, metavar="N", help="How many states are kept (default: all).")
@click.option("--reduction", type=click.Choice(["balanced", "modal"]), default="balanced", show_default=True,
              help="What inputs reach and outputs see most, or the lowest modes.")  # fmt: skip
@click.option("--quantity", type=click.Choice(["displacement", "velocity", "acceleration"]), default="displacement",
              show_default=True, help="What outputs are.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", 
              help="Model: .mat, .nc, .csv, .npz, .json or .c.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Bode plot (.png, .svg, .pdf).")
@click.option("--band", metavar="FIRST:LAST",
              help="Hz that a balanced model is made for (default: all) and that are plotted (0:250).")  # fmt: skip
@click.option("--controller", metavar="LAW:...",
              help="Actuators under pd, pid or computed_torque, as in pd:kp=1e4,kd=200,sample=1 ms,delay=0.5 ms, or under "
              "the controller of a motion, by its name or file.")  # fmt: skip
@free_option
@at_option
@set_option
@assembly_option
@load_option
@json_option
def linear(
    robot: str, inputs: str, outputs: str, order: int | None, reduction: str, quantity: str, output: Path | None,
    plot: Path | None, band: str | None, controller: str | None, free: bool | None, at: dict[str, str],
    settings: dict[str, str], assembly: str | None, loads: dict[str, list[float]], as_json: bool,
) -> None:  # fmt: skip
    """A, B, C and D of the robot about a pose, with names and units, whole or reduced."""
    from supple.api import Robot
    from supple.robot.written import band_of

    found = Robot(robot, settings).linear(
        inputs, outputs, at, order=order, reduction=reduction, quantity=quantity,
        band=band, controller=controller, free=free, loads=loads,
        assembly=assembly,
    )  # fmt: skip
    remark(found.notices)
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot, band_of(band or "0:250"))
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import linear_page

    print_page(linear_page(found))
    for path in (output, plot):
        if path is not None:
            click.echo(f"wrote {path}")
