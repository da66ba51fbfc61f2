"""A robot, or two results beside each other, as one page to keep, send and print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from supple.cli.motions import bar, duration_option, writable_place
from supple.cli.options import assembly_option, json_option, named_values, print_json, remark, set_option
from supple.errors import SuppleError


@click.command()
@click.argument("robot")
@click.argument("other", required=False)
@click.option(
    "--poses", multiple=True, metavar="NAME=VALUE,...", help="A pose, as of --at elsewhere; may be repeated (default: home)."
)
@set_option
@assembly_option
@click.option("--motion", metavar="NAME|FILE", help="A motion to simulate (as of supple simulate).")
@duration_option
@click.option("--count", type=click.IntRange(1), default=6, show_default=True, help="How many modes.")
@click.option(
    "--over", multiple=True, callback=named_values, metavar="NAME=FIRST:LAST:COUNT", help="A map over these poses."
)
@click.option("--of", "quantities", default="f1", show_default=True, metavar="NAMES", help="What the map is of.")
@click.option("--map", "map_file", metavar="FILE.nc|none", help="A result of supple map; none: without a map.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.html", required=True, help="The page.")
@json_option
def report(
    robot: str, other: str | None, poses: tuple[str, ...], settings: dict[str, str], assembly: str | None,
    motion: str | None, duration: float | None, count: int, over: dict[str, str], quantities: str, map_file: str | None,
    output: Path, as_json: bool,
) -> None:  # fmt: skip
    """A page of a robot: what it is, its modes, stiffness, a map, a motion. Of two .nc files: what changed.

    OTHER is the newer one of two results in .nc files. Without --over and --map, a small map about the first pose is made of
    robots with up to 60 coordinates."""
    if over and map_file is not None:
        raise SuppleError("--over and --map: give one of them; --map takes a map that is made already")
    if output.suffix.lower() not in (".html", ".htm"):
        raise SuppleError(f"-o {output}: a report is written to an .html file")
    writable_place(output)
    made: Any
    if other is not None:
        from supple.api import differences

        made = differences(robot, other)
    else:
        from supple.api import Robot

        wanted = [_pose(text) for text in poses]
        with bar(f"{robot} {motion or ''}") as progress:
            made = Robot(robot, settings).report(
                wanted or None, motion=motion, duration=duration, count=count, over=over or None, of=quantities,
                map=map_file, assembly=assembly, progress=progress,
            )  # fmt: skip
        remark(made.notices)
    made.save(output)
    if as_json:
        print_json(made.to_json() | {"file": str(output)})
    else:
        click.echo(f"wrote {output} ({output.stat().st_size / 1e6:.2f} MB)")


def _pose(text: str) -> dict[str, str]:
    made = {}
    for item in text.split(","):
        name, found, value = item.partition("=")
        if not found or not name.strip():
            raise SuppleError(f"--poses {text!r} must be NAME=VALUE,NAME=VALUE,...")
        made[name.strip()] = value.strip()
    return made
