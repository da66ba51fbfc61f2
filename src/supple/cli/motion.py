"""Verbs over time: simulate and inverse."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from supple.cli.options import (
    checked_seconds,
    formulation_option,
    json_option,
    named_values,
    print_json,
    remark,
    set_option,
    structural_option,
)
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
output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Results: .nc (netCDF), .csv or .mat."
)
plot_option = click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Picture (.png, .svg, .pdf).")


@click.command()
@click.argument("robot")
@motion_option
@duration_option
@click.option(
    "--method", default="radau", show_default=True,
    type=click.Choice(["radau", "gauss", "generalised_alpha", "dormand_prince", "cvode"]),
    help="radau: order 5, damps what is far above the cutoff; gauss: order 6, damps nothing; generalised_alpha: order 2; "
    "dormand_prince: explicit; cvode: SUNDIALS (extra).",
)  # fmt: skip
@click.option("--step", callback=checked_seconds, metavar="TIME", help="Fixed step (default: chosen for --tol).")
@click.option("--tol", type=float, metavar="NUMBER", help="Error of accelerations, relative to those of late: made in a "
              "radian of a vibration (radau 1e-5, 1e-6 if joints move freely; gauss 1e-8) or in a step (generalised_alpha "
              "1e-3, 1e-5 if joints do; dormand_prince 1e-7; cvode 1e-8).")  # fmt: skip
@click.option("--rho", type=float, default=0.8, show_default=True, help="Spectral radius of generalised_alpha at infinity.")
@click.option("--cutoff", type=click.FloatRange(0), default=1000.0, show_default=True, metavar="HZ",
              help="Vibrations faster than this may die away, not be followed; 0: none.")  # fmt: skip
@every_option
@click.option("--controller", metavar="LAW:GAINS", help="pd, pid or computed_torque, as in 'pd:kp=1e4,kd=200,sample=1 ms,"
              "delay=0,limit=500', instead of the motion's own.")  # fmt: skip
@click.option("--start", type=click.Choice(["equilibrium", "undeformed"]), default="equilibrium", show_default=True,
              help="Bent by its weight with the actuators held, or straight.")  # fmt: skip
@click.option("--rigid", is_flag=True, help="The same robot without its flexibility.")
@formulation_option
@click.option("--loops", metavar="NAME", help="How loops are kept closed: lagrange takes projection (usual), baumgarte, "
              "exact; scdd baumgarte (usual), projection, exact, as_printed, as_printed_projection.")  # fmt: skip
@structural_option
@set_option
@click.option("--vary", "vary", multiple=True, callback=named_values, metavar="NAME=A,B,C|FIRST:LAST:N",
              help="Several runs side by side: values of a parameter or of a start coordinate.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1), help="Threads for several runs (default: all processors).")
@output_option
@plot_option
@click.option("--resume", is_flag=True, help="Go on where an interrupted or killed run of the same command stopped.")
@json_option
def simulate(
    robot: str, motion: str | None, duration: float | None, method: str, step: float | None, tol: float | None, rho: float,
    cutoff: float, every: float, controller: str | None, start: str, rigid: bool, formulation: str, loops: str | None,
    structural: str,
    settings: dict[str, str], vary: dict[str, str], threads: int | None, output: Path | None, plot: Path | None,
    resume: bool, as_json: bool,
) -> None:  # fmt: skip
    """Simulate a motion of a robot over time."""
    from supple.api import Robot

    _writable(output, plot)
    if resume and output is None:
        raise SuppleError("--resume needs -o FILE, beside which the checkpoints are")
    with _bar(f"{robot} {motion or ''}") as report, _interrupted(output):
        result = Robot(robot, settings).simulate(
            motion, duration=duration, method=method, step=step, tol=tol, rho=rho, cutoff=cutoff, every=every,
            controller=controller, start=start, rigid=rigid, formulation=formulation, loops=loops, structural=structural,
            vary=vary, threads=threads, output=output, resume=resume, progress=report,
        )  # fmt: skip
    _show(result, output, plot, as_json)


@click.command()
@click.argument("robot")
@motion_option
@duration_option
@click.option("--quasi-static", is_flag=True, help="Bodies bend as the loads of the moment ask, without vibrating.")
@click.option(
    "--tol",
    type=float,
    metavar="NUMBER",
    help="Error of accelerations made in a radian of a vibration, relative to those of late (default 1e-5).",
)
@every_option
@click.option("--rigid", is_flag=True, help="The same robot without its flexibility.")
@formulation_option
@structural_option
@set_option
@output_option
@plot_option
@json_option
def inverse(
    robot: str, motion: str | None, duration: float | None, quasi_static: bool, tol: float | None, every: float, rigid: bool,
    formulation: str, structural: str, settings: dict[str, str], output: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Forces and torques that make the actuators follow a motion, and how the bodies bend."""
    from supple.api import Robot

    _writable(output, plot)
    with _bar(f"{robot} {motion or ''}") as report:
        result = Robot(robot, settings).inverse(
            motion, duration=duration, quasi_static=quasi_static, tol=tol, every=every, rigid=rigid, formulation=formulation,
            structural=structural, output=output, progress=report,
        )  # fmt: skip
    _show(result, output, plot, as_json)


@contextmanager
def _interrupted(output: Path | None) -> Iterator[None]:
    """Ctrl-C before there is a result, in words."""
    try:
        yield
    except KeyboardInterrupt:
        if output is None:
            raise
        from supple.storage import Checkpoints

        hint = "; go on with the same command and --resume" if Checkpoints(output, "").there() else ""
        click.echo(f"supple: interrupted, {output} was not written{hint}", err=True)
        raise SystemExit(130) from None


def _writable(output: Path | None, plot: Path | None) -> None:
    """Complaints about file names come before the work."""
    if output is not None and output.suffix.lower() not in (".nc", ".csv", ".mat"):
        raise SuppleError(f"-o {output}: results are written to .nc, .csv or .mat files")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise SuppleError(f"--plot {plot}: pictures are written to .png, .svg or .pdf files")
    for path in (output, plot):
        if path is None:
            continue
        if path.is_dir():
            raise SuppleError(f"{path} is a folder; give a file name")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as problem:
            raise SuppleError(f"{path} cannot be written: {problem.strerror or problem}") from problem


def _show(result: Simulation, output: Path | None, plot: Path | None, as_json: bool) -> None:
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
        kept = f" What was computed until then is in {output}{hint}." if output else ""
        click.echo(f"supple: {result.outcome}.{kept}", err=True)
        raise SystemExit(130 if "interrupted" in result.outcome else 2)


@contextmanager
def _bar(what: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on the terminal; silent where there is no terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, emoji=False)
    parts = (TextColumn(escape(what)), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share: progress.update(task, completed=share)
