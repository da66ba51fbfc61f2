"""Operations of generated models."""

from __future__ import annotations

import click

from supple.cli.models import MODELS, derivation_progress, keep_option, solve_rates_option
from supple.cli.options import formulation_option, json_option, print_json, set_option


@click.command()
@click.argument("robot")
@click.option("--model", metavar="NAME", help=f"One of {MODELS} (default: mass, inverse and forward).")
@set_option
@keep_option
@click.option("--derivative", metavar="INPUT", help="Count the exact derivative along an input (q, v, p, ...).")
@solve_rates_option
@formulation_option
@json_option
def count(
    robot: str, model: str | None, settings: dict[str, str], keep: tuple[str, ...], derivative: str | None,
    solve_rates: bool, formulation: str, as_json: bool,
) -> None:  # fmt: skip
    """Count the operations of generated models, as derived and after every optimiser pass."""
    from supple.api import Robot
    from supple.formulations import registry

    known = registry.formulation(formulation).models
    names = [model] if model else [name for name in ("mass", "inverse", "forward") if name in known]
    machine, made = Robot(robot, settings).keeping(keep), []
    for name in names:
        with derivation_progress(f"{robot} {name}") as report:
            made.append(
                machine.count(
                    name,
                    derivative=derivative,
                    solve_rates=solve_rates,
                    formulation=formulation,
                    compiled=not as_json,
                    report=report,
                )
            )
    if as_json:
        found = [m.to_json() for m in made]
        print_json(found[0] if model else found)
        return
    from supple.views.page import print_page
    from supple.views.tables import counts_page

    print_page([part for m in made for part in counts_page(m)])
