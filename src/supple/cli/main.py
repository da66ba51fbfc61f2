"""The command line: supple VERB ROBOT [options]. A verb prints a table for people, or JSON with --json."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from pkgutil import iter_modules
from typing import Any

import click

from supple.cli import verbs
from supple.cli.options import allow_outside_option
from supple.errors import FarFromPose, LeftOut, Makeshift, RobotFileError, SuppleError, UnlikelyValue

PURPOSES = {
    "Begin": ("tour", "robots", "new", "import", "check", "show", "report"),
    "Understand a robot": ("modes", "stiffness", "frf", "linear", "bodies", "compare"),
    "Move it": ("simulate", "inverse", "optimise-motion", "tune", "control"),
    "Study and size": ("map", "sweep", "size"),
    "Measure and fit": ("plan", "test", "extract", "correlate", "identify"),
    "Take it elsewhere": ("count", "generate", "schema"),
    "Keep house": ("cache",),
    "Literature": ("paper",),
}
_TOLD = (UnlikelyValue, Makeshift, FarFromPose, LeftOut)


class _Group(click.Group):
    """Errors meant for the user become one line each and exit code 2; unlikely values a line each, once."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):  # terminals that lack a letter, names of files that are no text
            if isinstance(stream, TextIOWrapper):
                with suppress(OSError, ValueError):  # a stream that is closed or was exchanged
                    stream.reconfigure(errors="backslashreplace")
        gc.set_threshold(100_000, 20, 20)  # equations are many small objects and hardly any garbage
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # which are looked for among all that is installed
        for pool in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # matrices are small: threads wait for each other
            os.environ.setdefault(pool, "1")
        try:
            return super().main(*args, **kwargs)
        finally:
            gc.freeze()  # nothing is searched for garbage once more before the process ends, which takes as long as a check

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name.rstrip("_").replace("_", "-") for _, name, _ in iter_modules(verbs.__path__))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is named; a name that is none with the nearest one that is."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near:
                raise
            raise click.UsageError(f"No such command {args[0]!r}; did you mean {near[0]!r}?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Verbs by what they are for."""
        every = self.list_commands(ctx)
        named = {verb for group in PURPOSES.values() for verb in group}
        groups = {**PURPOSES, "More": tuple(v for v in every if v not in named)}
        for purpose, names in groups.items():
            rows = []
            for verb in (v for v in names if v in every):
                command = self.get_command(ctx, verb)
                rows.append((verb, command.get_short_help_str(limit=90) if command is not None else ""))
            if rows:
                with formatter.section(purpose):
                    formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            own = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
            found: click.Command = getattr(import_module(f"{verbs.__name__}.{own}"), own)
            if any(p.name == "robot" for p in found.params):  # verbs that read a robot file
                allow_outside_option(found)
            self.add_command(found)
        return self.commands.get(cmd_name)

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
    """Warnings meant for the user as lines on stderr, each once, however often the file is read."""
    said: set[str] = set()
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
            if not issubclass(category, _TOLD):
                usual(message, category, *rest, **more)
            elif str(message) not in said:
                said.add(str(message))
                click.echo(f"supple: warning: {message}", err=True)

        warnings.showwarning = show
        for category in _TOLD:
            warnings.simplefilter("always", category)
        yield


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="supple")
def main() -> None:
    """Elastodynamics of flexible parallel robots: from one robot file to frequencies, models and code.

    ROBOT is a name of the gallery ('supple robots') or the path of a robot file."""
