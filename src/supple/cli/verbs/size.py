"""Parameters made fit for what is wanted."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import bar, interrupted, writable
from supple.cli.options import assembly_option, at_option, json_option, load_option, named_values, print_json, set_option
from supple.cli.studies import over_option, poses_option


@click.command()
@click.argument("robot")
@click.option("--free", multiple=True, callback=named_values, metavar="NAME=FIRST:LAST",
              help="A parameter and its range, as in h=15mm:60mm; once for each.")  # fmt: skip
@click.option("--want", multiple=True, metavar="QUANTITY>=VALUE",
              help="What must hold in all poses, as in 'f1>=40 Hz' or 'deflection(tool)<=0.1 mm'.")  # fmt: skip
@click.option("--least", metavar="QUANTITY", help="What is to be made least, as in mass (the worst of all poses).")
@click.option("--most", metavar="QUANTITY", help="What is to be made most, as in f1 (the worst of all poses).")
@poses_option
@over_option
@click.option("--starts", type=int, default=5, show_default=True, help="Runs from different starts.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the starts.")
@click.option("--trade", metavar="QUANTITY", help="A second quantity: the curve of the best compromises.")
@click.option("--points", type=int, default=9, show_default=True, help="Of that curve.")
@click.option("--evolve", type=int, metavar="GENERATIONS",
              help="Make that curve by evolution, without derivatives (NSGA-II; extra: opt).")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Results: .nc, .csv, .mat or .json.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted or killed run of the same command stopped.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Picture (.png, .svg, .pdf).")
@at_option
@set_option
@assembly_option
@load_option
@json_option
def size(
    robot: str, free: dict[str, str], want: tuple[str, ...], least: str | None, most: str | None, poses: Path | None,
    over: dict[str, str], starts: int, seed: int, trade: str | None, points: int, evolve: int | None, output: Path | None,
    resume: bool, plot: Path | None, at: dict[str, str], settings: dict[str, str], assembly: str | None,
    loads: dict[str, list[float]], as_json: bool,
) -> None:  # fmt: skip
    """Values of parameters that make a quantity least or most while wants are kept, by exact derivatives."""
    from supple.api import Robot

    writable(output, plot, (".nc", ".csv", ".mat", ".json"))
    with bar(f"{robot} size") as report, interrupted(output):
        found = Robot(robot, settings).size(
            free, want, at, least=least, most=most, poses=poses, over=over, loads=loads, assembly=assembly, starts=starts,
            seed=seed, trade=trade, points=points, evolve=evolve, output=output, resume=resume, progress=report,
        )  # fmt: skip
    if plot is not None:
        found.plot(plot)
    if as_json:
        print_json(found.to_json())
        return
    from supple.views.page import print_page
    from supple.views.sizing import sizing_page

    print_page(sizing_page(found))
    for path in (output, plot):
        if path is not None:
            click.echo(f"wrote {path}")
