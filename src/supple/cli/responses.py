"""What verbs about responses share."""

from __future__ import annotations

import click

from supple.errors import SuppleError

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


def parsed_band(text: str) -> tuple[float, float]:
    """First and last frequency in Hz of FIRST:LAST."""
    try:
        first, last = (float(x) for x in text.split(":"))
    except ValueError as error:
        raise SuppleError(f"--band {text} must be FIRST:LAST, in Hz") from error
    if not 0 <= first < last < float("inf"):
        raise SuppleError(f"--band {text}: must go from zero or more to a higher frequency")
    return first, last
