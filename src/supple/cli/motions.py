"""What verbs over time share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from supple.cli.options import checked_seconds, print_json, remark
from supple.errors import SuppleError

if TYPE_CHECKING:
    from supple.results import Simulation

motion_option = click.option(
    "--motion",
    metavar="NAME|FILE",
    help="A motion of the robot file (default: its only one), a motion file (.yaml) or a table (.csv).",
)
duration_option = click.option(
    "--duration", callback=checked_seconds, metavar="TIME", help="How long (default: the motion's own)."
)
every_option = click.option(
    "--every", callback=checked_seconds, default="1 ms", show_default=True, metavar="TIME", help="Between samples."
)
shaper_option = click.option(
    "--shaper", metavar="LAW:KEYS", help="zv, zvd, zvdd, ei, si, average, smooth or together, as in zvd:modes=1+2 or "
    "'ei:frequencies=14 Hz', instead of the motion's own: the path leaves these vibrations at rest.",
)  # fmt: skip
output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Results: .nc (netCDF), .csv or .mat."
)
filter_option = click.option(
    "--filter", type=click.FloatRange(0, min_open=True), metavar="HZ",
    help="Cutoff of a zero-phase low-pass for the samples of a table (.csv).",
)  # fmt: skip
against_option = click.option(
    "--against", type=click.Path(path_type=Path), metavar="FILE",
    help="Table (.csv) of what was measured: differences are printed and drawn. Columns: t, tau[q1], point_velocity[P.x]...",
)  # fmt: skip
accept_option = click.option(
    "--accept",
    is_flag=True,
    help="End well (0, not 3) though accuracy is lost or bodies bend too far; it is said anyway.",
)
plot_option = click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Picture (.png, .svg, .pdf).")


def writable(output: Path | None, plot: Path | None, kinds: tuple[str, ...] = (".nc", ".csv", ".mat")) -> None:
    """Complaints about file names come before the work."""
    if output is not None and output.suffix.lower() not in kinds:
        raise SuppleError(f"-o {output}: results are written to {', '.join(kinds[:-1])} or {kinds[-1]} files")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise SuppleError(f"--plot {plot}: pictures are written to .png, .svg or .pdf files")
    for path in (output, plot):
        if path is not None:
            writable_place(path)


def writable_place(path: Path) -> None:
    """A complaint if no file can be written there."""
    if path.is_dir():
        raise SuppleError(f"{path} is a folder; give a file name")
    ground = next((p for p in path.absolute().parents if p.exists()), path)
    if not ground.is_dir() or not os.access(ground, os.W_OK | os.X_OK):
        raise SuppleError(f"{path} cannot be written: {ground} is no folder in which files can be made")


def show(result: Simulation, output: Path | None, plot: Path | None, as_json: bool) -> None:
    if plot is not None:
        from supple.views.time_plot import plot_simulation

        plot_simulation(result, plot)
    if as_json:
        print_json(result.to_json() | {"output": str(output) if output else None, "plot": str(plot) if plot else None})
    else:
        from supple.views.page import print_page
        from supple.views.tables import simulation_page

        print_page(simulation_page(result))
        for path in (output, plot):
            if path is not None:
                click.echo(f"wrote {path}")
    remark(result.summary["notices"])
    said = result.summary.get("structural_damping")
    if said:
        click.echo(f"supple: structural damping: {said}", err=True)
    if not result.complete:
        hint = "; go on with the same command and --resume" if "interrupted" in result.outcome and output else ""
        kept = f" What was computed{'' if result.doubtful else ' until then'} is in {output}{hint}." if output else ""
        click.echo(f"supple: {result.outcome}.{kept}", err=True)
        raise SystemExit(130 if "interrupted" in result.outcome else 3 if result.doubtful else 2)


@contextmanager
def interrupted(output: Path | None) -> Iterator[None]:
    """Ctrl-C before there is a result, in words."""
    try:
        yield
    except KeyboardInterrupt:
        if output is None:
            raise
        parts = output.with_name(output.name + ".part")
        hint = "; go on with the same command and --resume" if any(parts.glob("*.bin")) else ""
        click.echo(f"supple: interrupted, {output} was not written{hint}", err=True)
        raise SystemExit(130) from None


@contextmanager
def bar(what: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on the terminal; silent where there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, emoji=False)
    parts = (TextColumn(escape(what)), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share: progress.update(task, completed=share)
