"""Options and habits that verbs share."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

import click

from supple.errors import SuppleError
from supple.formulations.registry import USUAL, names

_ANOTHER = re.compile(r",(?=[^,=]+=)")  # a comma before the next NAME=


class FormulationOption(click.Option):
    """An option whose help lists the formulations that there are when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = f"How the equations are written: {', '.join(names())}."
        return super().get_help_record(ctx)


formulation_option = click.option(
    "--formulation", cls=FormulationOption, default=USUAL, show_default=True, metavar="NAME"
)  # fmt: skip


def named_values(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    made = {}
    for item in (part for text in given for part in _ANOTHER.split(text)):
        name, equals, value = item.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise SuppleError(f"{option.opts[0]} {item!r} must be NAME=VALUE")
        if name.strip() in made:
            raise SuppleError(f"{option.opts[0]} {name.strip()} is given twice; give it once")
        made[name.strip()] = value.strip()
    return made


def checked_seconds(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """A time in s from text such as 2, '1 ms' or '0.5 min'."""
    from supple.robot.written import seconds

    return seconds(text, option.opts[0])


def point_loads(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, list[float]]:
    """Wrenches by the names of their points."""
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


def _allow_outside(context: click.Context, option: click.Parameter, given: bool) -> None:
    from supple.robot.named_files import outside_allowed

    if given:
        context.with_resource(outside_allowed())


allow_outside_option = click.option(
    "--allow-outside", is_flag=True, expose_value=False, callback=_allow_outside,
    help="Files that the robot or motion file names may lie outside its folder.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    callback=named_values,
    metavar="PARAM=VALUE",
    help="Change a named parameter of the robot file: --set 'L=0.4 m'.",
)
at_option = click.option(
    "--at", "at", multiple=True, callback=named_values, metavar="NAME=VALUE",
    help="Joint value or platform coordinate (x, y, z, rx, ry, rz); SI, or with a unit: --at 'q1=30 deg'. "
    "Repeated, or x=0.1,y=0.2.",
)  # fmt: skip
load_option = click.option(
    "--load", "loads", multiple=True, callback=point_loads, metavar="POINT=FX,FY,FZ[,MX,MY,MZ]",
    help="Wrench at a named point, base axes.",
)  # fmt: skip
structural_option = click.option(
    "--structural", type=click.Choice(["viscous", "none"]), default="viscous", show_default=True,
    help="Loss factors in time: as the viscous damping of every mode at the start, or left out.",
)  # fmt: skip
assembly_option = click.option("--assembly", metavar="MODE", help="Assembly mode of the robot file (default: its first).")


def print_json(data: Any) -> None:
    click.echo(json.dumps(_strict(data), indent=2, allow_nan=False))


def _strict(data: Any) -> Any:
    """Data as JSON knows them: what is not finite becomes null."""
    if isinstance(data, dict):
        return {key: _strict(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_strict(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def remark(lines: Iterable[str]) -> None:
    """Lines on stderr about what a result is worth."""
    for line in lines:
        click.echo(f"supple: note: {line}", err=True)
