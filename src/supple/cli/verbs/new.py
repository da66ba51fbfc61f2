"""New robot files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from supple.cli.options import json_option, print_json, set_option


@click.command()
@click.argument("kind", metavar="3prr|3rrr|five_bar|delta|hexa|triglide|gough|serial|cantilever")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.yaml")
@set_option
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@json_option
def new(kind: str, file: Path, settings: dict[str, str], force: bool, as_json: bool) -> None:
    """Write a commented robot file to begin with; --set NAME=VALUE gives its dimensions."""
    from supple.api import Robot
    from supple.beginnings.new_robot import new_robot
    from supple.delivery import written_whole
    from supple.errors import SuppleError
    from supple.machine import Machine

    if file.suffix.lower() not in (".yaml", ".yml"):
        raise SuppleError(f"{file}: a robot file ends with .yaml")
    if file.exists() and not force:
        raise SuppleError(f"{file}: exists already; choose another name, or --force")
    text = new_robot(kind, file.stem, settings)
    written_whole(file, partial(Path.write_text, data=text, encoding="utf-8"))
    try:
        Robot(file).check()
    except SuppleError as problem:
        file.unlink()
        raise SuppleError(f"{file}: not written: with these dimensions {problem}") from problem
    parameters = {k: float(v.number) for k, v in Machine.read(file).description.parameters.items()}
    if as_json:
        print_json({"file": str(file), "kind": kind, "parameters": parameters})
        return
    click.echo(f"wrote {file}; its parameters: {', '.join(parameters)}")
    click.echo(f"go on with: supple check {file}; supple modes {file}; supple show {file} --open")
