"""The command line: supple VERB ROBOT [options]. A verb prints a table for people, or JSON with --json."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from supple.cli.compare import compare
from supple.cli.motion import inverse, simulate
from supple.cli.options import (
    allow_outside_option,
    assembly_option,
    at_option,
    formulation_option,
    json_option,
    named_values,
    print_json,
    remark,
    set_option,
    structural_option,
)
from supple.errors import RobotFileError, SuppleError, UnlikelyValue


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
    from supple.views.page import print_page
    from supple.views.tables import robots_page

    print_page(robots_page(rows))


@main.command()
@click.argument("robot")
@set_option
@at_option
@assembly_option
@json_option
def check(robot: str, settings: dict[str, str], at: dict[str, str], assembly: str | None, as_json: bool) -> None:
    """Read a robot file and report its bodies, coordinates, mobility and overconstraint."""
    from supple.api import Robot

    report = Robot(robot, settings).check(at, assembly=assembly)
    if as_json:
        print_json(report.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import check_page

    print_page(check_page(report))


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
@formulation_option
@json_option
def modes(
    robot: str, at: dict[str, str], settings: dict[str, str], assembly: str | None, free: bool, count: int,
    loads: tuple[str, ...], plot: Path | None, mode: int, formulation: str, as_json: bool,
) -> None:  # fmt: skip
    """Natural frequencies, damping ratios and mode shapes at a pose."""
    from supple.api import Robot

    most = max(count, mode if plot else 1)
    result = Robot(robot, settings).modes(
        at, free=free, count=most, assembly=assembly, loads=_loads(loads), formulation=formulation
    )
    if plot is not None:
        from supple.views.mode_picture import draw_mode

        draw_mode(result, mode, plot)
    remark(result.notices)
    if as_json:
        print_json(result.to_json())
        return
    from supple.views.page import print_page
    from supple.views.tables import modes_page

    print_page(modes_page(result))
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
    from supple.api import Robot
    from supple.formulations import registry

    known = registry.formulation(formulation).models
    names = [model] if model else [name for name in ("mass", "inverse", "forward") if name in known]
    machine, made = Robot(robot, settings).keeping(keep), []
    for name in names:
        with _progress(f"{robot} {name}") as report:
            made.append(
                machine.count(name, derivative=derivative, solve_rates=solve_rates, formulation=formulation, report=report)
            )
    if as_json:
        found = [m.to_json() for m in made]
        print_json(found[0] if model else found)
        return
    from supple.views.page import print_page
    from supple.views.tables import counts_page

    print_page([part for m in made for part in counts_page(m)])


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
    from supple.api import Robot
    from supple.backends.targets import TARGETS

    if target == "fmu":
        if model not in (None, "forward") or derivative or solve_rates:
            raise SuppleError("an FMU holds the whole robot; leave out --model, --derivative and --solve-rates")
        path = Robot(robot, settings).export_fmu(output, keep=keep, version=fmi, structural=structural)
        print_json({"robot": robot, "target": "fmu", "files": [str(path)]}) if as_json else click.echo(f"wrote {path}")
        return
    if model is None and target in TARGETS:
        raise SuppleError(f"say which model: --model with one of {_MODELS}")
    with _progress(f"{robot} {model}") as report:
        made = Robot(robot, settings).generate(
            model or "", target, output, keep=keep, derivative=derivative, solve_rates=solve_rates, formulation=formulation,
            report=report,
        )  # fmt: skip
    if as_json:
        print_json(made.to_json())
        return
    total = made.counts["operations"]["total"]
    click.echo(f"{made.robot} {model}: {total} operations; wrote " + ", ".join(str(f) for f in made.files))


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
    from supple.api import Robot

    rows = Robot(robot, settings).bodies(write=files)
    if as_json:
        print_json(rows)
        return
    from supple.views.page import print_page
    from supple.views.tables import bodies_page

    print_page(bodies_page(rows))
    for name, file in files.items():
        click.echo(f"wrote {name} to {file}")


main.add_command(simulate)
main.add_command(compare)
main.add_command(inverse)

VERBS: dict[str, Callable[..., Any]] = dict(main.commands)
