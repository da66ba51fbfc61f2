"""Control laws designed and judged."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import writable_place
from supple.cli.options import assembly_option, at_option, json_option, print_json, remark, set_option
from supple.cli.studies import names_of, over_option, poses_option
from supple.errors import SuppleError


@click.command()
@click.argument("robot")
@click.option("--law", required=True, metavar="LAW:GAINS|FILE",
              help="lqg:effort=100,deviation=1e-4,sample=1 ms (effort: what a deviation is worth); poles:damping=0.2,"
              "bandwidth=5; pd:kp=1e5,kd=1e3; pid; or a controller's file (.json), to be judged. Also: delay, limit; "
              "lqg and poles: modes (how many are kept), disturbance (N, in every sample), load (the same at points), "
              "drift (N in a second, of forces "
              "that are then taken off), turn (rad); pd and pid: lowpass (Hz, of the rate).")  # fmt: skip
@click.option("--sensor", "sensors", multiple=True, default=("q",), show_default=True, metavar="NAME[,...]",
              help="As in 'q,resolution=1e-6', 'P.x,acceleration,noise=0.01', 'strain(LINK).y,noise=1e-7'; names as of "
              "supple linear --out. Once for each.")  # fmt: skip
@click.option("--push", "pushes", multiple=True, metavar="NAME",
              help="A load that the law commands beside the actuators: POINT.fx, or pair(POINT,POINT).mz, which bends what "
              "is between two points (a smart actuator). Once for each.")  # fmt: skip
@click.option("--watch", multiple=True, callback=names_of, metavar="NAMES",
              help="Outputs that lqg keeps small and estimates (default: joints, and where the points are).")  # fmt: skip
@click.option("--filter", "filters", multiple=True, metavar="NAME:...",
              help="Behind pd and pid: notch:frequency=25,damping=0.7,depth=0.1, lead:frequency=10,factor=3, lag:..., "
              "lowpass:frequency=100, highpass:... Once for each.")  # fmt: skip
@over_option
@poses_option
@click.option("--along", metavar="MOTION", help="Poses along a motion of the robot file.")
@click.option("--samples", type=int, default=21, show_default=True, help="How many along a motion.")
@click.option("--scheduled", is_flag=True, help="A part of the law for every pose, weighted in between by how near it is.")
@click.option("--cutoff", type=click.FloatRange(0), default=1000.0, show_default=True, metavar="HZ",
              help="Modes faster than this die away at once, as in simulations; 0: none.")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, help="Of the noise of its sensors in simulations.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="The law (.json), for simulate --controller FILE.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE",
              help="Damping by pose, root locus, Nyquist curves (.png, .svg, .pdf).")  # fmt: skip
@click.option("--accept", is_flag=True, help="Write the law, and end well, though motions grow with it.")
@at_option
@set_option
@assembly_option
@json_option
def control(
    robot: str, law: str, sensors: tuple[str, ...], pushes: tuple[str, ...], watch: list[str], filters: tuple[str, ...],
    over: dict[str, str], poses: Path | None, along: str | None, samples: int, scheduled: bool, cutoff: float, seed: int,
    output: Path | None, plot: Path | None, accept: bool, at: dict[str, str], settings: dict[str, str],
    assembly: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Design a sampled control law on the linear robot, and judge it on the whole one in many poses."""
    from supple.api import Robot

    for path in (output, plot):
        if path is not None:
            writable_place(path)
    if output is not None and output.suffix.lower() != ".json":
        raise SuppleError(f"-o {output}: controllers are written to .json files")
    found = Robot(robot, settings).control(
        law, sensors, at, pushes=pushes, watch=watch, filters=filters, over=over, poses=poses, along=along, samples=samples,
        scheduled=scheduled, cutoff=cutoff, seed=seed, assembly=assembly,
    )  # fmt: skip
    if plot is not None:
        found.plot(plot)
    if output is not None and (found.stable or accept):
        found.save(output)
    remark(found.notices)
    if as_json:
        print_json(found.to_json())
    else:
        from supple.views.control_page import control_page
        from supple.views.page import print_page

        print_page(control_page(found))
        for path in (output if found.stable or accept else None, plot):
            if path is not None:
                click.echo(f"wrote {path}")
    if not found.stable and not accept:
        raise SuppleError(
            f"motions grow with this controller ({found.unsteady()}); choose other gains, or take it as it is with --accept"
        )
