"""A robot as it looks: a page with its parts, modes and a motion."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import bar, duration_option, every_option, writable_place
from supple.cli.options import (
    assembly_option,
    at_option,
    json_option,
    load_option,
    print_json,
    remark,
    set_option,
)
from supple.errors import SuppleError


@click.command()
@click.argument("robot")
@at_option
@set_option
@assembly_option
@load_option
@click.option("--free", is_flag=True, help="Modes with free actuators (constant force) instead of held ones.")
@click.option("--count", type=click.IntRange(0), default=10, show_default=True, help="How many modes.")
@click.option("--mode", type=click.IntRange(1), help="The mode that the page begins with.")
@click.option("--motion", metavar="NAME|FILE", help="A motion to simulate and to play (as of supple simulate).")
@duration_option
@every_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.html", help="The page: one file, no network.")
@click.option("--open", "opened", is_flag=True, help="Show the page in a browser.")
@json_option
def show(
    robot: str, at: dict[str, str], settings: dict[str, str], assembly: str | None, loads: dict[str, list[float]],
    free: bool, count: int, mode: int | None, motion: str | None, duration: float | None, every: float,
    output: Path | None, opened: bool, as_json: bool,
) -> None:  # fmt: skip
    """A page that shows the robot in three dimensions: its parts, its modes, a motion."""
    from supple.api import Robot

    page = _place(output, opened)
    most = max(count, mode or 0)
    with bar(f"{robot} {motion or ''}") as report:
        scene = Robot(robot, settings).show(
            at, count=most, free=free, motion=motion, duration=duration, every=every, loads=loads, assembly=assembly,
            progress=report,
        )  # fmt: skip
    if mode is not None and scene.modes is None:
        raise SuppleError(scene.notices[-1])
    scene.save(page, mode or 1, "motion" if motion is not None and mode is None else "modes")
    size = page.stat().st_size
    remark(scene.notices)
    if as_json:
        print_json(scene.to_json() | {"page": str(page), "bytes": size})
    else:
        click.echo(f"{scene.robot}: {len(scene.meshes)} parts, {size / 1e6:.2f} MB; open {page} in any browser")
    if opened:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _place(output: Path | None, opened: bool) -> Path:
    """Where the page goes; complaints come before the work."""
    if output is None and opened:
        import tempfile

        return Path(tempfile.mkdtemp(prefix="supple-show-")) / "robot.html"
    if output is None:
        raise SuppleError("say where the page goes: -o robot.html (or --open to look at it at once)")
    if output.suffix.lower() not in (".html", ".htm"):
        raise SuppleError(f"-o {output}: a page is written to an .html file")
    writable_place(output)
    return output
