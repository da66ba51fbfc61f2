"""python -m fuzz FORMAT|DRIVER: damaged files of a format, or one of the drivers beside this file."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

DRIVERS = {
    "sanitise": "exported C, the simulator and FMUs under address and undefined-behaviour sanitisers",
    "kills": "kill -9 while verbs write, and resume",
    "full_disk": "disks that are full",
    "two_users": "two users of one machine",
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, required=True)
@click.option("--count", default=1000, show_default=True, help="Mutants of each format in all, earlier runs included.")
@click.option("--seed", default=1, show_default=True, help="Which mutants.")
@click.option("--seconds", type=float, help="Stop after so long, to go on another time.")
@click.option(
    "--keep", type=click.Path(path_type=Path), default=Path(".fuzz"), show_default=True, help="Counts and findings."
)
def main(names: tuple[str, ...], count: int, seed: int, seconds: float | None, keep: Path) -> None:
    """Damaged files of formats NAMES (or 'all'), tried in child processes; exit code 1 if anything was found.

    The same seed gives the same mutants. `python -m fuzz DRIVER --help` for sanitise, kills, full_disk, two_users."""
    from fuzz.campaign import campaign, line
    from fuzz.formats import FORMATS

    chosen = tuple(FORMATS) if names == ("all",) else names
    for name in chosen:
        if name not in FORMATS:
            raise click.UsageError(f"{name}: the formats are {', '.join(FORMATS)}")
    found = 0
    for name in chosen:
        state = campaign(name, count, seed, keep, seconds)
        click.echo(line(name, state))
        for place, numbers in state["places"].items():
            click.echo(f"  {len(numbers)} x {place}, as in {numbers[0]}")
        found += len(state["places"])
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in DRIVERS and find_spec(f"fuzz.{sys.argv[1]}"):
        driver = sys.argv.pop(1)
        import_module(f"fuzz.{driver}").main()
    else:
        main()
