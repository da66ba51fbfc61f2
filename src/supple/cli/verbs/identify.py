"""Parameters of a robot fitted to measurements."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from supple.cli.options import json_option, print_json, remark, set_option


@click.command()
@click.argument("robot")
@click.argument("test", type=click.Path(path_type=Path))
@click.option("--free", required=True, metavar="NAMES",
              help="Parameters to fit, separated by commas: k1,E,eta; tied: k1=k2; one for every leg: k1@leg; or base: "
              "inertial and friction parameters from motions.")  # fmt: skip
@set_option
@click.option("--use", type=click.Choice(["auto", "modes", "responses", "two-step"]), default="auto", show_default=True,
              help="What is fitted; two-step: stiffness by modes, then loss factors by responses.")  # fmt: skip
@click.option("--robust", is_flag=True, help="Data far off count less (soft L1).")
@click.option("--count", type=click.IntRange(1), help="How many modes to extract from each pose's responses, if known.")
@click.option("--profile", default="", metavar="NAMES", help="Follow the likelihood of these parameters.")
@click.option("--advise", is_flag=True, help="Say which further pose would tell what is not known yet.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="The robot file with fitted values.")
@click.option(
    "--summary", type=click.Path(path_type=Path), metavar="FILE", help="Tables, words and picture as a page (.html)."
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="What the data hold (.png, .svg, .pdf).")
@json_option
def identify(
    robot: str, test: Path, free: str, settings: dict[str, str], use: str, robust: bool, count: int | None, profile: str,
    advise: bool, output: Path | None, summary: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Fit parameters of ROBOT to a test (TEST: a test file): values, deviations, and what the data cannot say."""
    from supple.api import Robot

    found = Robot(robot, settings).identify(
        test, free, use=use, robust=robust, count=count, profile=profile, advise=advise, output=output,
        report=_progress,
    )  # fmt: skip
    remark(found.notices)
    from supple.views.identified import draw_identified, identified_page, write_summary

    if plot is not None:
        draw_identified(found, plot)
    if summary is not None:
        write_summary(found, summary)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.page import print_page

    print_page(identified_page(found))
    for path in (output, summary, plot):
        if path is not None:
            click.echo(f"wrote {path}")


def _progress(text: str) -> None:
    """What is done now, on terminals."""
    if sys.stderr.isatty():
        click.echo(f"supple: {text}", err=True)
