"""What verbs about generated models share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

MODELS = "mass, inverse, forward, tree, kinematics, linear, regressor or energy"
keep_option = click.option(
    "--keep", "keep", multiple=True, metavar="PARAM", help="Keep a named parameter as an input of the code (repeatable)."
)
solve_rates_option = click.option(
    "--solve-rates", is_flag=True, help="Solve the rates of passive joints inside instead of taking them as inputs."
)


@contextmanager
def derivation_progress(what: str) -> Iterator[Callable[[Any], None]]:
    """A line on the terminal that says how far the optimiser is; silent where there is no terminal."""
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True, highlight=False, emoji=False).status(f"{escape(what)}: deriving") as status:
        yield lambda stage: status.update(f"{escape(what)}: {stage.operations} operations after {stage.name}")
