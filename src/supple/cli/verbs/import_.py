"""Robots of other programs as robot files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from supple.cli.options import json_option, print_json, set_option


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.par|.urdf|.csv")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="ROBOT.yaml", help="The robot file.")
@click.option("--loops", type=click.Path(path_type=Path), metavar="FILE.yaml", help="Parts to add: closures, actuators ...")
@click.option("--beams", type=click.Path(path_type=Path), metavar="FILE.csv", help="Beams of a table of joints (.csv).")
@click.option("--count", type=click.IntRange(1, 64), help="The table (.csv) is one of so many legs.")
@set_option
@json_option
def import_(
    file: Path, output: Path, loops: Path | None, beams: Path | None, count: int | None, settings: dict[str, str],
    as_json: bool,
) -> None:  # fmt: skip
    """Bring over a robot of SYMORO (.par), URDF, or tables (.csv), and say what is missing."""
    from supple.beginnings.bring import bring
    from supple.delivery import written_whole

    text, missing = bring(file, loops=loops, beams=beams, count=count, settings=settings)
    written_whole(output, partial(Path.write_text, data=text, encoding="utf-8"))
    if as_json:
        print_json({"file": str(output), "missing": missing})
        return
    click.echo(f"wrote {output}")
    click.echo("missing:" if missing else "nothing is missing")
    for line in missing:
        click.echo(f"  {line}")
