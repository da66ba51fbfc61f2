"""A robot beside its measurements."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import json_option, print_json, remark, set_option


@click.command()
@click.argument("robot")
@click.argument("test", type=click.Path(path_type=Path))
@set_option
@click.option("--count", type=click.IntRange(1), help="How many modes to extract from each pose's responses, if known.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="MAC and frequencies (.png, .svg, .pdf).")
@click.option("--overlay", type=click.Path(path_type=Path), metavar="FILE", help="Measured and computed responses.")
@click.option("--shapes", type=click.Path(path_type=Path), metavar="FILE", help="Measured and computed shapes.")
@json_option
def correlate(
    robot: str, test: Path, settings: dict[str, str], count: int | None, plot: Path | None, overlay: Path | None,
    shapes: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Frequencies, shapes and responses of ROBOT beside those of a test (TEST: a test file)."""
    from supple.api import Robot

    found = Robot(robot, settings).correlate(test, count=count)
    remark(found.notices)
    from supple.views.correlation_pictures import draw_mac, draw_overlay, draw_shapes

    for file, draw in ((plot, draw_mac), (overlay, draw_overlay), (shapes, draw_shapes)):
        if file is not None:
            draw(found, file)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.measured_pages import correlation_page
    from supple.views.page import print_page

    print_page(correlation_page(found))
    for path in (plot, overlay, shapes):
        if path is not None:
            click.echo(f"wrote {path}")
