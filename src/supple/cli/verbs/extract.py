"""Modes of measured responses."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import json_option, print_json, remark


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--band", metavar="FIRST:LAST", help="Frequencies in Hz (default: all).")
@click.option("--orders", type=int, default=40, show_default=True, help="Highest order of the models that are tried.")
@click.option("--count", type=int, help="How many modes there are, if that is known.")
@click.option("--decay", type=float, default=0.0, show_default=True, metavar="1/S",
              help="Rate a of an exponential window exp(-a t); taken out of the damping.")  # fmt: skip
@click.option("--units", type=click.Choice(["SI"]), help="For files that do not say their units.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Modes as a universal file (.uff).")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Stabilisation diagram (.png, .svg, .pdf).")
@json_option
def extract(
    file: Path, band: str | None, orders: int, count: int | None, decay: float, units: str | None, output: Path | None,
    plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Natural modes of measured responses: FILE is a universal file with datasets 58."""
    from supple.api import Robot

    found = Robot.extract(
        file, band=band, orders=orders, count=count, decay=decay, units=units,
        output=output,
    )  # fmt: skip
    remark(found.notices)
    if plot is not None:
        from supple.views.measured_pictures import draw_stabilisation

        draw_stabilisation(found, plot)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.measured_pages import extracted_page
    from supple.views.page import print_page

    print_page(extracted_page(found))
    for path in (output, plot):
        if path is not None:
            click.echo(f"wrote {path}")
