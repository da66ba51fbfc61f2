"""Generated C under address and undefined-behaviour sanitisers: simulators, FMUs, and exported models that check themselves.

All C is compiled by SUPPLE_CC with -fsanitize=address,undefined into a cache of its own; the runs are child processes that
have the sanitiser's library loaded first. A library with two faults must be reported, or nothing else counts."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import click

from fuzz.seeds import ROOT

FLAGS = "-fsanitize=address,undefined -fno-omit-frame-pointer -g1"
_REPORT = re.compile(r"runtime error:|AddressSanitizer|UndefinedBehaviorSanitizer")
_FAULTY = """
#include <stdlib.h>
__attribute__((visibility("default"))) int faulty(int n) {
    volatile int *x = malloc(sizeof(int) * 4);
    int made = 2147483647 + n;            /* overflows */
    made += x[4];                         /* reads beyond the end */
    free((void *)x);
    return made;
}
"""
EXPORTED = ("cantilever", "five_bar", "five_bar_bob")
RUNS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("five_bar", "dormand_prince", {"tol": 1e-8, "rigid": True}),
    ("five_bar", "radau", {"tol": 1e-6}),
    ("five_bar_elastic", "gauss", {"tol": 1e-7}),
    ("five_bar_elastic", "generalised_alpha", {"step": "0.01 ms", "every": "10 ms"}),  # of which there are as many as needed
)
FMUS = {"five_bar": 0.02, "five_bar_elastic": 0.98}  # parts of the steps: the second is small and quick


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--steps", default=1_000_000, show_default=True, help="Of simulators, and of FMUs, in all.")
@click.option("--only", multiple=True, type=click.Choice(["simulator", "fmu", "exported"]), help="Parts (default: all).")
@click.option("--part", type=click.Choice(["faulty", "simulator", "fmu", "exported"]), hidden=True)
def main(steps: int, only: tuple[str, ...], part: str | None) -> None:
    """Simulators, FMUs and exported C under sanitisers; exit code 1 if anything is reported."""
    if part is not None:
        click.echo(PARTS[part](steps))
        return
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise click.UsageError("gcc or clang is needed")
    wanted = ("faulty", *only) if only else tuple(PARTS)
    sys.exit(1 if sum(_reports(compiler, name, steps) for name in wanted) else 0)


def _reports(compiler: str, part: str, steps: int) -> int:
    """How much was wrong with a part: the reports of the sanitisers, or one if the part failed or the fault was not seen."""
    runtime = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    with TemporaryDirectory(prefix="supple-sanitise-") as cache:
        surroundings = {
            **os.environ,
            "SUPPLE_CC": f"{compiler} {FLAGS}",
            "SUPPLE_CACHE": cache,
            "LD_PRELOAD": runtime.stdout.strip(),
            "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",  # the interpreter itself does not free all it has
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        command = [sys.executable, "-m", "fuzz", "sanitise", "--part", part, "--steps", str(steps)]
        code, said, reports = _listened(part, command, surroundings)
    found = len(_REPORT.findall(reports))
    if part == "faulty":
        click.echo(f"a library with two faults: {'both reported' if found >= 2 else 'NOT reported'}")
        return int(found < 2)
    click.echo(f"{part}: {said if code == 0 else 'failed'}; {found} reports")
    if found or code:
        click.echo(reports[-4000:], err=True)
    return found + (code != 0)


def _listened(part: str, command: list[str], surroundings: Mapping[str, str]) -> tuple[int, str, str]:
    """Exit code, last line and reports of a part, whose lines are passed on while it runs."""
    with TemporaryFile("w+", errors="replace") as reports:
        running = subprocess.Popen(command, env=surroundings, cwd=ROOT, stdout=subprocess.PIPE, stderr=reports, text=True)
        said = ""
        for line in running.stdout or ():
            said = line.strip()
            click.echo(f"{part}: {said}", err=True)
        code = running.wait()
        reports.seek(0)
        return code, said, reports.read()


def _faulty(steps: int) -> str:
    from supple.backends.compiler import shared_library

    return str(ctypes.CDLL(str(shared_library(_FAULTY))).faulty(1))


def _simulated(steps: int) -> str:
    """Simulations one after another until so many steps are taken."""
    import supple

    done: Counter[str] = Counter()
    for robot, method, more in chain(RUNS, repeat(RUNS[-1])):
        if done.total() >= steps:
            break
        own = supple.Robot(robot)
        result = own.simulate(own.motions[0], method=method, **more)
        done[f"{robot} {method}"] += int(result.summary["steps"])
        click.echo(f"{done.total()} of {steps} steps")
    return f"{done.total()} steps (" + ", ".join(f"{name} {count}" for name, count in done.items()) + ")"


def _fmu(steps: int) -> str:
    """Steps of co-simulation of an FMU, with inputs that change."""
    from fmi_library import Fmu  # of tests/

    import supple

    count = 0
    with TemporaryDirectory() as folder:
        for robot, share in FMUS.items():
            made = supple.Robot(robot).export_fmu(Path(folder) / robot)
            fmu = Fmu(made, "cs")
            inputs = [n for n, v in fmu.variables.items() if v.attrib.get("causality") == "input"]
            outputs = [n for n, v in fmu.variables.items() if v.attrib.get("causality") == "output"]
            for k in range(round(share * steps)):
                if k % 20_000 == 0:
                    click.echo(f"{robot}: {k} of {round(share * steps)} steps")
                if k % 100 == 0:
                    fmu.set(dict.fromkeys(inputs, (k // 100 % 7 - 3) * 0.001))
                    fmu.get(outputs)
                fmu.step(k * 1e-4, 1e-4)
                count += 1
    return f"{count} steps"


def _exported(steps: int) -> str:
    """Models of the gallery as C: each is compiled with its own check of itself, and run."""
    import supple

    count = 0
    for robot in EXPORTED:
        for model in ("mass", "inverse", "forward"):
            with TemporaryDirectory() as folder:
                made = supple.Robot(robot).generate(model, "c", folder)
                sources = [str(p) for p in made.files if p.suffix == ".c"]
                words = [*os.environ["SUPPLE_CC"].split(), "-std=c99", "-O1", *sources, "-lm", "-o", f"{folder}/checked"]
                plain = {k: x for k, x in os.environ.items() if k != "LD_PRELOAD"}
                subprocess.run(words, check=True, env=plain, stdout=subprocess.DEVNULL)
                subprocess.run([f"{folder}/checked"], check=True, env=plain, stdout=subprocess.DEVNULL)
                count += 1
    return f"{count} models"


PARTS: dict[str, Callable[[int], str]] = {
    "faulty": _faulty,
    "fmu": _fmu,
    "simulator": _simulated,
    "exported": _exported,
}
