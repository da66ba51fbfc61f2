"""A motion over time."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import (
    accept_option,
    against_option,
    bar,
    duration_option,
    every_option,
    filter_option,
    interrupted,
    motion_option,
    output_option,
    plot_option,
    shaper_option,
    show,
    writable,
)
from supple.cli.options import checked_seconds, formulation_option, json_option, named_values, set_option, structural_option
from supple.errors import SuppleError


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
              "radian of a vibration (radau 1e-5; gauss 1e-8) or in a step (generalised_alpha "
              "1e-3, 1e-5 if joints do; dormand_prince 1e-7; cvode 1e-8).")  # fmt: skip
@click.option("--rho", type=float, default=0.8, show_default=True, help="Spectral radius of generalised_alpha at infinity.")
@click.option("--cutoff", type=click.FloatRange(0), default=1000.0, show_default=True, metavar="HZ",
              help="Vibrations faster than this may die away, not be followed; 0: none.")  # fmt: skip
@every_option
@click.option("--controller", metavar="LAW:GAINS", help="pd, pid or computed_torque, as in 'pd:kp=1e4,kd=200,sample=1 ms,"
              "delay=0,limit=500', or a file of supple control (.json), instead of the motion's own.")  # fmt: skip
@shaper_option
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
@filter_option
@against_option
@click.option("--also", default="", metavar="NAMES",
              help="Signals on demand: loop_force, joint_force (forces and moments), beam_stress.")  # fmt: skip
@accept_option
@click.option("--keep", metavar="NAMES", help="Evaluate and write these signals only, as in tau,point_deformation.")
@output_option
@plot_option
@click.option("--resume", is_flag=True, help="Go on where an interrupted or killed run of the same command stopped.")
@json_option
def simulate(
    robot: str, motion: str | None, duration: float | None, method: str, step: float | None, tol: float | None, rho: float,
    cutoff: float, every: float, controller: str | None, shaper: str | None, start: str, rigid: bool,
    formulation: str, loops: str | None,
    structural: str,
    settings: dict[str, str], vary: dict[str, str], threads: int | None, filter: float | None,
    against: Path | None, also: str, accept: bool, keep: str | None,
    output: Path | None, plot: Path | None, resume: bool, as_json: bool,
) -> None:  # fmt: skip
    """Simulate a motion of a robot over time."""
    from supple.api import Robot

    writable(output, plot)
    if resume and output is None:
        raise SuppleError("--resume needs -o FILE, beside which the checkpoints are")
    with bar(f"{robot} {motion or ''}") as report, interrupted(output):
        result = Robot(robot, settings).simulate(
            motion, duration=duration, method=method, step=step, tol=tol, rho=rho, cutoff=cutoff, every=every,
            controller=controller, shaper=shaper, start=start, rigid=rigid, formulation=formulation, loops=loops,
            structural=structural, vary=vary, threads=threads, filter=filter, against=against, also=also,
            accept=accept, keep=keep, output=output, resume=resume, progress=report,
        )  # fmt: skip
    show(result, output, plot, as_json)
