"""What verbs over many poses and designs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supple.cli.options import named_values, print_json, remark

if TYPE_CHECKING:
    from supple.results.study import Study

_OPTIONS = (
    click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes (default: one for every processor)."),
    click.option("--dask", metavar="local|ADDRESS", help="On a dask cluster, as in tcp://10.0.0.7:8786 (extra: cluster)."),
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
                 help="Results: .nc (netCDF), .csv or .mat; parts done lie beside it until it is whole."),
    click.option("--resume", is_flag=True, help="Go on where an interrupted or killed run of the same command stopped."),
    click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Picture (.png, .svg, .pdf)."),
)  # fmt: skip


def work_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a study is run and where it goes: --workers, --dask, -o, --resume, --plot."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def names_of(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Names of an option that may be given often, or with commas."""
    return [x.strip() for text in given for x in text.split(",") if x.strip()]


of_option = click.option(
    "--of", multiple=True, default=("f1",), show_default=True, callback=names_of, metavar="NAMES",
    help="f1, f2 ..., stiffness, stiffness(POINT).x, deflection(POINT), torque, torque(JOINT), dexterity(POINT), "
    "place(POINT).x, mass, stress, stress(LINK), utilisation, damping1 ..., receptance(POINT).z@40; separated by commas.",
)  # fmt: skip
over_option = click.option(
    "--over", multiple=True, callback=named_values, metavar="NAME=FIRST:LAST:COUNT",
    help="A joint or platform coordinate of a grid, as in x=-0.2:0.2:41; once for every axis.",
)  # fmt: skip
poses_option = click.option(
    "--poses", type=click.Path(path_type=Path), metavar="FILE",
    help="Poses of a table (.csv): names in its first row, units behind them, as in x (mm).",
)  # fmt: skip
follow_option = click.option(
    "--follow", is_flag=True,
    help="f1, f2 ... are the modes that have these numbers near home, followed by their shapes through crossings.",
)  # fmt: skip


def show_study(study: Study, output: Path | None, plot: Path | None, as_json: bool) -> None:
    """Print a study and say which files were written."""
    from supple.views.page import print_page
    from supple.views.study_page import study_page

    if plot is not None:
        from supple.views.study_plot import draw_study

        draw_study(study, plot)
    remark(study.notices)
    if as_json:
        print_json(study.to_json())
        return
    print_page(study_page(study))
    for path in (output, plot):
        if path is not None:
            click.echo(f"wrote {path}")
