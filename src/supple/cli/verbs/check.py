"""What a robot is made of and how it can move."""

from __future__ import annotations

import click

from supple.cli.options import assembly_option, at_option, json_option, load_option, print_json, set_option


@click.command()
@click.argument("robot")
@set_option
@at_option
@assembly_option
@load_option
@json_option
def check(
    robot: str, settings: dict[str, str], at: dict[str, str], assembly: str | None, loads: dict[str, list[float]],
    as_json: bool,
) -> None:  # fmt: skip
    """Read a robot file and report its bodies, coordinates, mobility and overconstraint; with loads its equilibrium."""
    from supple.api import Robot

    report = Robot(robot, settings).check(at, assembly=assembly, loads=loads)
    if as_json:
        print_json(report.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import check_page

    print_page(check_page(report))
