"""A test rehearsed."""

from __future__ import annotations

from pathlib import Path

import click

from supple.cli.motions import bar
from supple.cli.options import json_option, print_json, remark, set_option
from supple.errors import SuppleError


@click.command()
@click.argument("robot")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="What is measured, as a universal file (.uff); further files are written beside it.")  # fmt: skip
@click.option("--by", type=click.Choice(["responses", "records"]), default="responses", show_default=True,
              help="Responses of averaged blows, or records of the blows over time.")  # fmt: skip
@click.option("--noise", type=click.FloatRange(0), metavar="SHARE",
              help="Relative to the RMS of each response or record (default: the test file's).")  # fmt: skip
@click.option("--scatter", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="SHARE",
              help="By which stiffnesses of bodies and joints differ, so that legs do.")  # fmt: skip
@click.option("--double-hits", type=click.IntRange(0, 100), default=0, show_default=True,
              help="So many more blows of every exciter hit twice.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of what is random.")
@set_option
@json_option
def test(
    robot: str, file: Path, output: Path, by: str, noise: float | None, scatter: float, double_hits: int, seed: int,
    settings: dict[str, str], as_json: bool,
) -> None:  # fmt: skip
    """Rehearse a test: write what its instruments would, if the robot were as its file says."""
    from supple.api import Robot

    if output.suffix.lower() not in (".uff", ".unv"):
        raise SuppleError(f"-o {output}: responses and records are written to .uff or .unv files")
    with bar(f"{robot} {file.name}") as report:
        made = Robot(robot, settings).test(
            file, output=output, by=by, noise=noise, scatter=scatter, double_hits=double_hits, seed=seed, progress=report
        )
    remark(made.notices)
    if as_json:
        print_json(made.to_json())
        return
    from supple.views.measured_pages import rehearsed_page
    from supple.views.page import print_page

    print_page(rehearsed_page(made))
    for path in (*made.files, made.test_file):
        click.echo(f"wrote {path}")
