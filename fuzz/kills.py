"""python -m fuzz kills: verbs killed at random moments and gone on with; results to the last bit, and nothing left behind.

Every trial has a folder, a folder for temporary files and, every fourth time, a cache of its own. A run is killed with
SIGKILL after a random part of the time that it takes, often several times in a row; the next one goes on with --resume
where there are checkpoints, else it starts again. Then its files must be those of a run that nobody killed, and there must
be no others, wherever it was killed: beside the result, among temporary files, in the cache.
"""

from __future__ import annotations

import math
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np

from fuzz.children import Child, prepare, started


@dataclass(frozen=True)
class Task:
    """A verb and what it writes; whether it can go on where it was killed."""

    words: tuple[str, ...]
    output: str
    resumes: bool = False


TASKS = {
    "simulate": Task(
        ("simulate", "dualemps", "--motion", "square", "--duration", "0.5", "--every", "0.1 ms", "--tol", "1e-7"),
        "run.nc", resumes=True,
    ),
    "simulate in lanes": Task(
        ("simulate", "five_bar_elastic", "--motion", "line", "--vary", "k=1e5:2e5:12", "--tol", "1e-7", "--threads", "1"),
        "lanes.nc", resumes=True,
    ),
    "map": Task(
        ("map", "five_bar_elastic", "--over", "arm1/q1=2:2.3:60", "--over", "arm2/q1=0.9:1.2:60", "--of", "f1,f2"),
        "map.nc", resumes=True,
    ),
    "frf": Task(("frf", "delta", "--in", "tool", "--out", "tool", "--points", "20001"), "frf.nc"),
    "generate": Task(("generate", "five_bar", "--target", "fmu"), ""),
}  # fmt: skip


class Place:
    """Folders of a trial."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.results, self.temporary, self.cache = root / "results", root / "temporary", cache
        for folder in (self.results, self.temporary, self.cache):
            folder.mkdir(mode=0o700, exist_ok=True)

    def start(self, task: Task, resume: bool = False) -> Child:
        """The verb as a process of its own."""
        out = ("-o", str(self.results / task.output) if task.output else str(self.results))
        own = {"TMPDIR": str(self.temporary), "SUPPLE_CACHE": str(self.cache)}
        return started((*task.words, *out, *(("--resume",) if resume else ())), own)

    def resumable(self, task: Task) -> bool:
        folder = self.results / f"{task.output}.part"
        return task.resumes and folder.is_dir() and any(p.suffix in (".bin", ".npz") for p in folder.iterdir())

    def debris(self) -> list[str]:
        """What no run should leave: anything hidden, checkpoints, temporary files."""
        hidden = [p for folder in (self.results, self.cache) for p in folder.rglob(".*")]
        folders = [p for p in self.results.iterdir() if p.is_dir()]
        return [str(p) for p in (*hidden, *folders, *self.temporary.iterdir())]


def same(a: Path, b: Path) -> bool:
    """Whether two folders hold the same files, netCDF files the same numbers."""
    names = sorted(p.name for p in a.iterdir())
    if names != sorted(p.name for p in b.iterdir()):
        return False
    return all(_equal(a / name, b / name) for name in names)


def _equal(a: Path, b: Path) -> bool:
    if a.suffix != ".nc":
        return a.read_bytes() == b.read_bytes()
    import xarray

    with xarray.open_dataset(a) as x, xarray.open_dataset(b) as y:
        return list(x.variables) == list(y.variables) and all(
            x[k].values.tobytes() == y[k].values.tobytes() if x[k].dtype.kind == "f" else np.array_equal(x[k], y[k])
            for k in x.variables
        )


def trial(task: Task, place: Place, whole: Path, seconds: float, dice: random.Random) -> tuple[int, int, str | None]:
    """How often the run was killed, how often it went on from checkpoints, and what is wrong, if anything."""
    kills = resumed = 0
    for _ in range(dice.choice((1, 1, 2, 3))):
        going = place.resumable(task)
        code, _ = place.start(task, going).wait(dice.uniform(0.1, 1.0) * seconds)
        kills += code is None
        resumed += going
    going = place.resumable(task)
    code, words = place.start(task, going).wait()
    resumed += going
    if code != 0:
        return kills, resumed, f"exit code {code}: {words.strip()[-300:]}"
    if not same(place.results, whole):
        return kills, resumed, "its files are not those of a run that nobody killed"
    left = place.debris()
    return kills, resumed, f"left behind: {', '.join(left)}" if left else None


@click.command()
@click.option("--count", default=100, show_default=True, help="Kills of all tasks together.")
@click.option("--seed", default=1, show_default=True)
@click.option("--seconds", type=float, help="Stop after so long, with fewer kills.")
@click.option("--only", multiple=True, type=click.Choice(list(TASKS)), help="Tasks (default: all).")
def main(count: int, seed: int, seconds: float | None, only: tuple[str, ...]) -> None:
    """Kill -9 while verbs run, and go on."""
    prepare()
    dice, wrong = random.Random(seed), 0
    counts = {name: [0, 0, 0] for name in only or TASKS}
    with TemporaryDirectory(prefix="kills-") as root:
        shared, whole, taken = Path(root, "cache"), {}, {}
        for name in counts:
            whole[name], taken[name] = _unhindered(TASKS[name], Path(root, f"whole {name}"), shared)
        number, end = 0, math.inf if seconds is None else time.monotonic() + seconds
        while sum(c[0] for c in counts.values()) < count and time.monotonic() < end:
            name = list(counts)[number % len(counts)]
            folder = Path(root, f"trial {number}")
            folder.mkdir()
            fresh = number % 4 == 3  # kills compilers too
            place = Place(folder, folder / "cache" if fresh else shared)
            kills, resumed, fault = trial(TASKS[name], place, whole[name], (4.0 if fresh else 1.0) * taken[name], dice)
            for k, x in enumerate((kills, resumed, fault is not None)):
                counts[name][k] += x
            click.echo(f"trial {number}, {name}: {kills} kills, {resumed} resumed", err=True)
            if fault is not None:
                wrong += 1
                click.echo(f"{name}, trial {number}: {fault}")
            number += 1
    for name, (kills, resumed, faults) in counts.items():
        click.echo(f"{name}: {kills} kills, {resumed} times gone on from checkpoints, {faults} wrong")
    click.echo(f"{sum(c[0] for c in counts.values())} kills in {number} trials, {wrong} wrong")
    sys.exit(1 if wrong else 0)


def _unhindered(task: Task, folder: Path, cache: Path) -> tuple[Path, float]:
    """The results of a run that nobody kills, and how long it takes once compiled."""
    folder.mkdir()
    place = Place(folder, cache)
    for _ in range(2):
        begun = time.monotonic()
        code, words = place.start(task).wait()
        if code != 0:
            raise click.ClickException(f"{' '.join(task.words)}: {words.strip()[-500:]}")
    return place.results, time.monotonic() - begun


if __name__ == "__main__":
    main()
