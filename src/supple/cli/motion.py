"""Verbs over time: simulate and inverse."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supple.cli.options import json_option, named_values, print_json, remark, set_option, structural_option
from supple.errors import SuppleError

if TYPE_CHECKING:
    from supple.machine import Machine
    from supple.motion.description import Controller, Motion
    from supple.results import Simulation
    from supple.simulation.simulator import Simulator

_GAINS = ("kp", "kd", "ki", "limit")


def _seconds(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """A time in s from text such as 2, '1 ms' or '0.5 min'."""
    if text is None:
        return None
    from supple.robot.quantity import QuantityError, evaluate, parse
    from supple.robot.values import check_dimension

    try:
        value = evaluate(parse(text), {})
        check_dimension(value, "time")
    except (QuantityError, OverflowError) as error:
        raise SuppleError(f"{option.opts[0]} {text}: {error}") from error
    if not float(value.number) > 0:
        raise SuppleError(f"{option.opts[0]} {text}: must be above zero")
    return float(value.number)


motion_option = click.option(
    "--motion",
    metavar="NAME|FILE",
    help="A motion of the robot file (default: its only one), a motion file (.yaml) or a table (.csv).",
)
duration_option = click.option("--duration", callback=_seconds, metavar="TIME", help="How long (default: the motion's own).")
every_option = click.option(
    "--every", callback=_seconds, default="1 ms", show_default=True, metavar="TIME", help="Between samples."
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
@click.option("--step", callback=_seconds, metavar="TIME", help="Fixed step (default: chosen for --tol).")
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
@click.option(
    "--formulation", default="newton_euler", show_default=True, metavar="NAME", help="How the equations are written."
)
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
    from supple.backends.stepping.settings import Settings
    from supple.machine import Machine

    _writable(output, plot)
    if tol is not None and not tol > 0:
        raise SuppleError(f"--tol {tol:g}: must be above zero")
    chosen = Settings(method, tol or 0.0, step or 0.0, rho=rho, every=every, cutoff=cutoff)
    machine = Machine.read(robot, settings)
    motion = motion or _only_motion(machine)
    with _bar(f"{robot} {motion}") as report:
        made = _made(
            machine,
            motion,
            controller,
            duration,
            start,
            rigid,
            formulation,
            vary,
            loops=loops,
            structural=structural,
        )
        result = _run(made, chosen, threads, output, resume, report)
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
@click.option(
    "--formulation", default="newton_euler", show_default=True, metavar="NAME", help="How the equations are written."
)
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
    from supple.backends.stepping.settings import Settings
    from supple.machine import Machine

    _writable(output, plot)
    if tol is not None and not tol > 0:
        raise SuppleError(f"--tol {tol:g}: must be above zero")
    machine = Machine.read(robot, settings)
    motion = motion or _only_motion(machine)
    with _bar(f"{robot} {motion}") as report:
        still = "equilibrium"
        made = _made(machine, motion, None, duration, still, rigid, formulation, {}, True, structural)
        method = "quasi_static" if quasi_static else "radau"
        chosen = Settings(method, tol or 0.0, every if quasi_static else 0.0, every=every)
        result = _run(made, chosen, None, None, False, report)
    if output is not None:
        from supple.storage import save

        save(result, output)
    _show(result, output, plot, as_json)


def _only_motion(robot: Machine) -> str:
    """The name of the robot's motion, if there is one only."""
    description = robot.description.robot
    if len(description.motions) != 1:
        known = ", ".join(description.motions)
        choice = f"it has: {known}" if known else "its file has none; name a file (.yaml, .csv)"
        raise SuppleError(f"choose a motion of {description.name} by --motion; {choice}")
    return str(next(iter(description.motions)))


def _made(
    robot: Machine, motion: str, controller: str | None, duration: float | None, start: str,
    rigid: bool, formulation: str, vary: dict[str, str], prescribed: bool = False, structural: str = "viscous",
    loops: str | None = None,
) -> Simulator:  # fmt: skip
    from supple.simulation.simulator import simulator

    read = robot.motion(motion, duration)
    if prescribed:
        if read.path is None:
            raise SuppleError(f"{read.name!r} has no path of the actuators, platform or a point to follow")
        read = replace(read, controller=None, torques=None, drives=dict.fromkeys(read.drives, "prescribed"))
    if controller is not None:
        read = _controlled(read, controller)
    values = {name: _values(name, text) for name, text in vary.items()}
    return simulator(
        robot, read, formulation=formulation, rigid=rigid, duration=duration, start=start, vary=values,
        loops=loops, structural=structural,
    )  # fmt: skip


def _controlled(motion: Motion, text: str) -> Motion:
    """The motion with all actuators that have a path given to a controller written as LAW:key=value,...

    Forces that a result brings along with its path are fed forward."""
    law, _, rest = text.partition(":")
    if law not in ("pd", "pid", "computed_torque"):
        raise SuppleError(f"--controller {text}: there is no law {law!r}; choose pd, pid or computed_torque")
    if motion.path is None:
        raise SuppleError(f"--controller: {motion.name!r} has no path for a controller to follow")
    numbers = _gains(text, rest)
    path = motion.path.names if motion.space == "joints" else ()
    actuators = [n for n, drive in motion.drives.items() if drive != "torque" or n in path]

    def each(key: str, usual: float = 0.0) -> dict[str, float]:
        return dict.fromkeys(actuators, numbers.get(key, usual))

    from supple.motion.description import Controller

    made: Controller = Controller(
        law, each("kp"), each("kd"), each("ki"), each("limit", float("inf")), numbers.get("sample", 0.0),  # type: ignore[arg-type]
        numbers.get("delay", 0.0),
    )  # fmt: skip
    drives: Any = {n: "controlled" if n in actuators else "torque" for n in motion.drives}
    return replace(motion, controller=made, drives=drives)


def _gains(text: str, rest: str) -> dict[str, float]:
    from supple.robot.quantity import QuantityError, evaluate, parse

    numbers: dict[str, float] = {}
    for item in filter(None, (x.strip() for x in rest.split(","))):
        key, equals, value = item.partition("=")
        if key in numbers:
            raise SuppleError(f"--controller {text}: {key} is given twice; give it once")
        if not equals or key not in (*_GAINS, "sample", "delay"):
            raise SuppleError(f"--controller {text}: {item!r} is not one of kp=, kd=, ki=, limit=, sample=, delay=")
        try:
            numbers[key] = float(evaluate(parse(value), {}).number)
        except (QuantityError, OverflowError) as error:
            raise SuppleError(f"--controller {key}={value}: {error}") from error
        if not 0 <= numbers[key] < float("inf") or (key == "limit" and numbers[key] == 0):
            raise SuppleError(f"--controller {key}={value}: must be {'above zero' if key == 'limit' else 'zero or more'}")
    if not numbers.get("kp") and not numbers.get("kd"):
        raise SuppleError(f"--controller {text}: give gains, as in pd:kp=1e4,kd=200")
    return numbers


def _values(name: str, text: str) -> list[float]:
    """Numbers written as A,B,C or FIRST:LAST:COUNT."""
    try:
        if ":" in text:
            first, last, count = text.split(":")
            if not 2 <= int(count) <= 100_000:
                raise SuppleError(f"--vary {name}={text}: the number of values must be 2 to 100000")
            step = (float(last) - float(first)) / (int(count) - 1)
            return [float(first) + k * step for k in range(int(count))]
        return [float(x) for x in text.split(",")]
    except ValueError as error:
        raise SuppleError(f"--vary {name}={text} must be A,B,C or FIRST:LAST:COUNT, in SI units") from error


def _run(
    made: Simulator, chosen: Any, threads: int | None, output: Path | None, resume: bool, report: Callable[[float], None]
) -> Simulation:
    """The simulation, with checkpoints beside its result if there is to be one; saved whatever happens."""
    import hashlib
    import json
    from dataclasses import asdict

    from supple.analyses.simulate import simulate as integrate
    from supple.storage import Checkpoints, save

    if output is None:
        if resume:
            raise SuppleError("--resume needs -o FILE, beside which the checkpoints are")
        return integrate(made, chosen, threads=threads, progress=report)
    about = json.dumps([dict(made.provenance), asdict(chosen), {k: list(x) for k, x in made.varied.items()}, made.duration])
    checkpoints = Checkpoints(output, hashlib.sha256(about.encode()).hexdigest())
    if resume and not checkpoints.there():
        raise SuppleError(f"there is no checkpoint in {checkpoints.folder} to go on from; leave out --resume")
    try:
        result = integrate(made, chosen, threads=threads, progress=report, keeper=checkpoints, resume=resume)
        save(result, output)
    except KeyboardInterrupt:
        hint = "; go on with the same command and --resume" if checkpoints.there() else ""
        click.echo(f"supple: interrupted, {output} was not written{hint}", err=True)
        raise SystemExit(130) from None
    if "interrupted" not in result.outcome:
        checkpoints.remove()
    return result


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
        from supple.views.tables import print_simulation

        print_simulation(result)
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
