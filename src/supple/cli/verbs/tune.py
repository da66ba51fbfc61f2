"""Shapers and gains chosen for several motions and payloads."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import accept_option, bar, every_option, writable_place
from supple.cli.options import json_option, named_values, print_json, remark, set_option
from supple.errors import SuppleError


@click.command()
@click.argument("robot")
@click.option("--motion", "motions", multiple=True, metavar="NAME|FILE",
              help="A motion of the robot file or a motion file; once for each (default: its only one).")  # fmt: skip
@click.option("--vary", multiple=True, callback=named_values, metavar="NAME=A,B,C|FIRST:LAST:N",
              help="Payloads: values of a parameter, a robot for each. Path, shaper and inverse dynamics stay those of the "
              "robot as it is.")  # fmt: skip
@click.option("--of", type=click.Choice(["shaper", "gains"]), default="shaper", show_default=True, help="What is chosen.")
@click.option("--by", type=click.Choice(["residual", "settled", "peak", "rms", "tracking"]),
              help="Vibration left (usual for shapers), time until settled, peak or RMS error of points (RMS: usual for "
              "gains), RMS error of controlled actuators.")  # fmt: skip
@click.option("--point", metavar="POINT", help="The point that counts (default: the worst of all).")
@click.option("--try", "shapers", multiple=True, metavar="LAW:KEYS",
              help="A shaper, as of simulate --shaper; once for each (default: all kinds).")  # fmt: skip
@click.option("--modes", type=click.IntRange(1, 10), default=2, show_default=True,
              help="All kinds of shapers for mode 1, modes 1 and 2, up to these.")  # fmt: skip
@click.option("--enough", metavar="LENGTH|TIME", help="Take the shortest shaper that is as good as this in every case.")
@click.option("--controller", metavar="LAW:GAINS", help="As of simulate; where a search for gains begins.")
@click.option("--tries", type=click.IntRange(3, 10_000), default=30, show_default=True,
              help="Gains that are tried at most, each on all motions and payloads.")  # fmt: skip
@click.option("--within", type=click.FloatRange(1, 1e6, min_open=True), default=30.0, show_default=True, metavar="FACTOR",
              help="Gains are searched from a part of those given to so many times them.")  # fmt: skip
@click.option("--saturated", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="SHARE",
              help="Share of the time that a force may be at its limit.")  # fmt: skip
@every_option
@accept_option
@set_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="The lines for a motion file (.yaml).")  # fmt: skip
@json_option
def tune(
    robot: str, motions: tuple[str, ...], vary: dict[str, str], of: str, by: str | None, point: str | None,
    shapers: tuple[str, ...], modes: int, enough: str | None, controller: str | None, tries: int, within: float,
    saturated: float, every: float, accept: bool, settings: dict[str, str], output: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Choose a shaper or gains for several motions and payloads by their worst case."""
    from supple.api import Robot

    if output is not None:
        writable_place(output)
        if output.suffix.lower() not in (".yaml", ".yml"):
            raise SuppleError(f"-o {output}: lines of a motion file are written to .yaml files")
    with bar(robot) as report:
        found = Robot(robot, settings).tune(
            motions, of=of, by=by, point=point, vary=vary, shapers=shapers, modes=modes, enough=enough,
            controller=controller, tries=tries, within=within, saturated=saturated, every=every, accept=accept,
            progress=report,
        )  # fmt: skip
    if output is not None:
        found.save(output)
    if as_json:
        print_json(found.to_json() | {"output": str(output) if output else None})
    else:
        from supple.views.page import print_page
        from supple.views.tuning_page import tuning_page

        print_page(tuning_page(found))
        if output is not None:
            click.echo(f"wrote {output}")
    remark(found.notices)
