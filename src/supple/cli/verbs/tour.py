"""A first look."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import json_option, print_json


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("supple-tour"),
    show_default=True,
    help="Folder for the tour's files.",
)
@json_option
def tour(output: Path, as_json: bool) -> None:
    """A first look: DualEMPS checked, its natural frequencies beside the paper's, one mode drawn."""
    from supple.tour import tour as run

    summary = run(output, quiet=as_json)
    if as_json:
        print_json(summary)
