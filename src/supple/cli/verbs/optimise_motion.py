"""The least time for a motion."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import bar, every_option, interrupted, motion_option, output_option, plot_option, show, writable
from supple.cli.options import json_option, named_values, set_option


@click.command("optimise-motion")
@click.argument("robot")
@motion_option
@click.option("--limit", "limits", multiple=True, callback=named_values, metavar="KIND=VALUE",
              help="Most speed, acceleration or force of any actuator, as in 'speed=0.3 m/s'.")  # fmt: skip
@click.option("--residual", metavar="LENGTH", help="Most vibration of a point that each way may leave, as in '1 um'.")
@click.option("--of", metavar="POINT", help="That point (default: the motion's own, or the robot's first).")
@click.option(
    "--modes", type=click.IntRange(1, 40), default=8, show_default=True, help="Vibrations that count: the strongest."
)
@every_option
@set_option
@output_option
@plot_option
@json_option
def optimise_motion(
    robot: str, motion: str | None, limits: dict[str, str], residual: str | None, of: str | None, modes: int, every: float,
    settings: dict[str, str], output: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """The same paths in the least time that limits and vibrations allow; a table (-o) is a motion to simulate."""
    from supple.api import Robot

    writable(output, plot)
    with bar(f"{robot} {motion or ''}") as report, interrupted(output):
        result = Robot(robot, settings).optimise_motion(
            motion, limits=limits, residual=residual, of=of, modes=modes, every=every, output=output, progress=report
        )
    show(result, output, plot, as_json)
    if result.summary["unmet"]:
        raise SystemExit(2)
