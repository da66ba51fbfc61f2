"""The command line: supple VERB ROBOT [options]. A verb prints a table for people, or JSON with --json."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supple.cli.compare import compare
from supple.cli.motion import inverse, simulate
from supple.cli.options import (
    allow_outside_option,
    assembly_option,
    at_option,
    json_option,
    named_values,
    pose_numbers,
    print_json,
    remark,
    set_option,
    structural_option,
)
from supple.errors import RobotFileError, SuppleError, UnlikelyValue

if TYPE_CHECKING:
    from supple.robot.quantity import Value


class _Group(click.Group):
    """Errors meant for the user become one line each and exit code 2; unlikely values a line each, once."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        if any(p.name == "robot" for p in cmd.params):  # verbs that read a robot file
            allow_outside_option(cmd)
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _remarks():
                return super().invoke(ctx)
        except RobotFileError as error:
            click.echo(str(error), err=True)
            ctx.exit(2)
        except SuppleError as error:
            for line in str(error).splitlines():
                click.echo(f"supple: {line}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(1)
        except OSError as error:
            where = f"{str(error.filename)[:200]}: " if error.filename else ""
            click.echo(f"supple: {where}{error.strerror or error}", err=True)
            ctx.exit(2)


@contextmanager
def _remarks() -> Iterator[None]:
    """Warnings of unlikely values as lines on stderr, however often the file is read."""
    said: set[str] = set()
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
            if not issubclass(category, UnlikelyValue):
                usual(message, category, *rest, **more)
            elif str(message) not in said:
                said.add(str(message))
                click.echo(f"supple: warning: {message}", err=True)

        warnings.showwarning = show
        warnings.simplefilter("always", UnlikelyValue)
        yield


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="supple")
def main() -> None:
    """Elastodynamics of flexible parallel robots: from one robot file to frequencies, models and code.

    ROBOT is a name of the gallery ('supple robots') or the path of a robot file."""


@main.command()
@json_option
def robots(as_json: bool) -> None:
    """List the robots of the gallery."""
    from supple.machine import Machine, gallery

    rows = []
    for name in gallery():
        robot = Machine.read(name).description.robot
        about = " ".join(robot.about.split())
        rows.append({"name": name, "space": robot.space, "about": about, "motions": list(robot.motions)})
    if as_json:
        print_json(rows)
        return
    from supple.views.tables import print_robots

    print_robots(rows)


@main.command()
@click.argument("robot")
@set_option
@at_option
@assembly_option
@json_option
def check(robot: str, settings: dict[str, str], at: dict[str, Value], assembly: str | None, as_json: bool) -> None:
    """Read a robot file and report its bodies, coordinates, mobility and overconstraint."""
    from supple.analyses.check import check as run
    from supple.machine import Machine

    model = Machine.read(robot, settings).model()
    report = run(model, pose_numbers(model.mechanism, at), assembly=assembly)
    if as_json:
        print_json(report.to_json())
        return
    from supple.views.tables import print_check

    print_check(report)


@main.command()
@click.argument("robot")
@at_option
@set_option
@assembly_option
@click.option("--free", is_flag=True, help="Actuators free (constant force) instead of held.")
@click.option("--count", type=click.IntRange(1), default=10, show_default=True, help="How many modes.")
@click.option(
    "--load",
    "loads",
    multiple=True,
    metavar="POINT=FX,FY,FZ[,MX,MY,MZ]",
    help="Wrench at a named point, base axes.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Picture of a mode (.png, .svg, .pdf; .gif moves).")
@click.option("--mode", type=click.IntRange(1), default=1, show_default=True, help="Which mode --plot draws.")
@click.option(
    "--formulation", default="newton_euler", show_default=True, metavar="NAME", help="How the equations are written."
)
@json_option
def modes(
    robot: str, at: dict[str, Value], settings: dict[str, str], assembly: str | None, free: bool, count: int,
    loads: tuple[str, ...], plot: Path | None, mode: int, formulation: str, as_json: bool,
) -> None:  # fmt: skip
    """Natural frequencies, damping ratios and mode shapes at a pose."""
    from supple.analyses.modes import modes as run
    from supple.machine import Machine

    model, wrenches = Machine.read(robot, settings).model(formulation), _loads(loads)
    most = max(count, mode if plot else 1)
    result = run(model, pose_numbers(model.mechanism, at), free=free, count=most, assembly=assembly, loads=wrenches)
    if plot is not None:
        from supple.views.mode_picture import draw_mode

        draw_mode(result, mode, plot)
    remark(result.notices)
    if as_json:
        print_json(result.to_json())
        return
    from supple.views.tables import print_modes

    print_modes(result)
    if plot is not None:
        click.echo(f"mode {mode} drawn in {plot}")


def _loads(given: tuple[str, ...]) -> dict[str, list[float]]:
    made: dict[str, list[float]] = {}
    for item in given:
        name, equals, text = item.partition("=")
        wanted = f"--load {item!r} must be POINT=FX,FY,FZ or POINT=FX,FY,FZ,MX,MY,MZ, in N and N m"
        try:
            numbers = [float(x) for x in text.split(",")] if equals else []
        except ValueError as error:
            raise SuppleError(wanted) from error
        if len(numbers) not in (3, 6) or not all(map(math.isfinite, numbers)):
            raise SuppleError(wanted)
        made[name.strip()] = numbers
    return made


@contextmanager
def _progress(what: str) -> Iterator[Callable[[Any], None]]:
    """A line on the terminal that says how far the optimiser is; silent where there is no terminal."""
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True, highlight=False, emoji=False).status(f"{escape(what)}: deriving") as status:
        yield lambda stage: status.update(f"{escape(what)}: {stage.operations} operations after {stage.name}")


keep_option = click.option(
    "--keep", "keep", multiple=True, metavar="PARAM", help="Keep a named parameter as an input of the code (repeatable)."
)
solve_rates_option = click.option(
    "--solve-rates", is_flag=True, help="Solve the rates of passive joints inside instead of taking them as inputs."
)
formulation_option = click.option(
    "--formulation", default="newton_euler", show_default=True, metavar="NAME",
    help="newton_euler, erls, erls_compatible, lagrange, lagrange_dalembert, scdd or platform_eliminated.",
)  # fmt: skip
_MODELS = "mass, inverse, forward, tree, kinematics, linear, regressor or energy"


@main.command()
@click.argument("robot")
@click.option("--model", metavar="NAME", help=f"One of {_MODELS} (default: mass, inverse and forward).")
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
    from supple.generator import compiled_size
    from supple.generator import generate as run
    from supple.machine import Machine

    names = [model] if model else ["mass", "inverse", "forward"]
    machine, made = Machine.read(robot, settings).keeping(keep), []
    for name in names:
        with _progress(f"{robot} {name}") as report:
            made.append(run(machine, name, wrt=derivative, solve_rates=solve_rates, report=report, formulation=formulation))
    if as_json:
        found = [{"robot": m.package.robot, "model": m.package.model, **m.package.counts()} for m in made]
        print_json(found[0] if model else found)
        return
    from supple.views.tables import print_counts

    print_counts([(m.package, m.optimised.stages, compiled_size(m.package.function)) for m in made])


@main.command()
@click.argument("robot")
@click.option("--model", metavar="NAME", help=f"One of {_MODELS} (an FMU needs none).")
@click.option("--target", required=True, metavar="NAME", help="c, python, matlab, simulink, rust or fmu.")
@click.option("--fmi", default="2.0", show_default=True, metavar="VERSION", help="Version of an FMU: 2.0 or 3.0.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder for the files.")
@set_option
@keep_option
@click.option("--derivative", metavar="INPUT", help="Generate the exact derivative along an input (q, v, p, ...).")
@solve_rates_option
@formulation_option
@structural_option
@json_option
def generate(
    robot: str, model: str | None, target: str, fmi: str, output: Path, settings: dict[str, str], keep: tuple[str, ...],
    derivative: str | None, solve_rates: bool, formulation: str, structural: str, as_json: bool,
) -> None:  # fmt: skip
    """Write a model as source code that checks itself and needs nothing else."""
    from supple.backends.targets import TARGETS
    from supple.generator import export_fmu
    from supple.generator import generate as run
    from supple.machine import Machine

    if target == "fmu":
        if model not in (None, "forward") or derivative or solve_rates:
            raise SuppleError("an FMU holds the whole robot; leave out --model, --derivative and --solve-rates")
        path = export_fmu(Machine.read(robot, settings).keeping(keep), output, version=fmi, structural=structural)
        print_json({"robot": robot, "target": "fmu", "files": [str(path)]}) if as_json else click.echo(f"wrote {path}")
        return
    if target not in TARGETS:
        raise SuppleError(f"there is no target {target!r}; choose one of {', '.join([*TARGETS, 'fmu'])}")
    if model is None:
        raise SuppleError(f"say which model: --model with one of {_MODELS}")
    machine = Machine.read(robot, settings).keeping(keep)
    with _progress(f"{robot} {model}") as report:
        made = run(machine, model, wrt=derivative, solve_rates=solve_rates, report=report, formulation=formulation)
    files = TARGETS[target](made.package, output)
    if as_json:
        counts = made.package.counts()
        print_json(
            {"robot": made.package.robot, "model": model, "target": target, "files": [str(f) for f in files], **counts}
        )
        return
    total = made.package.counts()["operations"]["total"]
    click.echo(f"{made.package.robot} {model}: {total} operations; wrote " + ", ".join(str(f) for f in files))


@main.command()
def schema() -> None:
    """Print the JSON schema of robot files, for editors that complete keys."""
    from supple.robot.description import RobotFile

    print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **RobotFile.model_json_schema(by_alias=True)})


@main.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("supple-tour"),
    show_default=True,
    help="Folder for the tour's files.",
)
@json_option
def tour(output: Path, as_json: bool) -> None:
    """A first look: DualEMPS checked, its natural frequencies beside the paper's, one mode drawn."""
    from supple.tour import tour as run

    summary = run(output, quiet=as_json)
    if as_json:
        print_json(summary)


@main.command()
@click.argument("robot")
@set_option
@click.option(
    "--write",
    "files",
    multiple=True,
    callback=named_values,
    metavar="BODY=FILE",
    help="Write a body to a file: .npz (its record) or .uff (its modes).",
)
@json_option
def bodies(robot: str, settings: dict[str, str], files: dict[str, str], as_json: bool) -> None:
    """Plates, finite-element bodies and reduced beams: frequencies kept, and what the reduction lost."""
    from dataclasses import asdict

    from supple.machine import Machine
    from supple.robot.bodies.body_files import write
    from supple.robot.link_bodies import flexible_bodies

    found = flexible_bodies(Machine.read(robot, settings).description)
    for name, file in files.items():
        if name not in found:
            raise SuppleError(f"--write {name}: there is no such flexible body; there are: {', '.join(found) or 'none'}")
        write(*found[name], Path(file))
    rows = [
        {"name": name, "mass": float(body.mass), "coordinates": len(body.coordinates)}
        | ({} if body.reduced is None else {"reduced": asdict(body.reduced)})
        | ({"written": files[name]} if name in files else {})
        for name, (body, _) in found.items()
    ]
    if as_json:
        print_json(rows)
        return
    from supple.views.tables import print_bodies

    print_bodies(rows)
    for name, file in files.items():
        click.echo(f"wrote {name} to {file}")


main.add_command(simulate)
main.add_command(compare)
main.add_command(inverse)

VERBS: dict[str, Callable[..., Any]] = dict(main.commands)
