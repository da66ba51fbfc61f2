"""What verbs about responses share."""

from __future__ import annotations

import click

in_option = click.option(
    "--in", "inputs", required=True, metavar="NAMES",
    help="What pushes, separated by commas: tau, tau.JOINT, POINT, POINT.fx ... POINT.mz.",
)  # fmt: skip
out_option = click.option(
    "--out", "outputs", required=True, metavar="NAMES",
    help="What is watched, separated by commas: q, q.JOINT, POINT, POINT.x ... POINT.rz.",
)  # fmt: skip
free_option = click.option(
    "--free/--held", default=None, help="Actuators free or held (default: free if tau is among the inputs)."
)
