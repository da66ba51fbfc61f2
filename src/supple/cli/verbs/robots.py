"""The robots of the gallery."""

from __future__ import annotations

import click

from supple.cli.options import json_option, print_json


@click.command()
@json_option
def robots(as_json: bool) -> None:
    """List the robots of the gallery."""
    from supple.machine import Machine, gallery

    rows = []
    for name in gallery():
        robot = Machine.read(name).description.robot
        about = " ".join(robot.about.split())
        rows.append({"name": name, "space": robot.space, "about": about, "motions": list(robot.motions)})
    if as_json:
        print_json(rows)
        return
    from supple.views.page import print_page
    from supple.views.tables import robots_page

    print_page(robots_page(rows))
