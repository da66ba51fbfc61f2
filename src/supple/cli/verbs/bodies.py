"""Flexible bodies and what their reduction lost."""

from __future__ import annotations

import click

from supple.cli.options import json_option, named_values, print_json, set_option


@click.command()
@click.argument("robot")
@set_option
@click.option(
    "--write",
    "files",
    multiple=True,
    callback=named_values,
    metavar="BODY=FILE",
    help="Write a body to a file: .npz (its record) or .uff (its modes).",
)
@json_option
def bodies(robot: str, settings: dict[str, str], files: dict[str, str], as_json: bool) -> None:
    """Plates, finite-element bodies and reduced beams: frequencies kept, and what the reduction lost."""
    from supple.api import Robot

    rows = Robot(robot, settings).bodies(write=files)
    if as_json:
        print_json(rows)
        return
    from supple.views.page import print_page
    from supple.views.tables import bodies_page

    print_page(bodies_page(rows))
    for name, file in files.items():
        click.echo(f"wrote {name} to {file}")
