"""Natural frequencies, damping and shapes at a pose."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.options import (
    assembly_option,
    at_option,
    formulation_option,
    json_option,
    load_option,
    print_json,
    remark,
    set_option,
)


@click.command()
@click.argument("robot")
@at_option
@set_option
@assembly_option
@click.option("--free", is_flag=True, help="Actuators free (constant force) instead of held.")
@click.option("--count", type=click.IntRange(1), default=10, show_default=True, help="How many modes.")
@load_option
@click.option("--plot", type=click.Path(path_type=Path), help="Picture of a mode (.png, .svg, .pdf; .gif moves).")
@click.option("--mode", type=click.IntRange(1), default=1, show_default=True, help="Which mode --plot draws.")
@formulation_option
@json_option
def modes(
    robot: str, at: dict[str, str], settings: dict[str, str], assembly: str | None, free: bool, count: int,
    loads: dict[str, list[float]], plot: Path | None, mode: int, formulation: str, as_json: bool,
) -> None:  # fmt: skip
    """Natural frequencies, damping ratios and mode shapes at a pose."""
    from supple.api import Robot

    most = max(count, mode if plot else 1)
    result = Robot(robot, settings).modes(at, free=free, count=most, assembly=assembly, loads=loads, formulation=formulation)
    if plot is not None:
        from supple.views.mode_picture import draw_mode

        draw_mode(result, mode, plot)
    remark(result.notices)
    if as_json:
        print_json(result.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import modes_page

    print_page(modes_page(result))
    if plot is not None:
        click.echo(f"mode {mode} drawn in {plot}")
