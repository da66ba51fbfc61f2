"""python -m fuzz full_disk: every kind of file written to disks of random size, most of them too small.

A verb that cannot write says so on a line and ends with 2, never by a signal or with a traceback, and leaves nothing on the
disk; with room it ends with 0. Where it offers --resume, that must work once there is room, and where it does not, nothing
is kept. Disks are mounted in memory, so this needs the rights to mount.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from fuzz.children import prepare, started
from supple.remembered import file_name

PAGE = 4096
BLOCKED = re.compile(r"No space left|cannot be (written|kept)|nothing was written|No usable temporary|failed with code")
_RUN = ("simulate", "five_bar_elastic", "--motion", "line", "--every", "0.2 ms", "-o", "{disk}/run.nc")


@dataclass(frozen=True)
class Task:
    """A verb that writes to {disk}; environment that puts more there; bytes that it takes for a while, beyond what stays."""

    words: tuple[str, ...]
    environment: tuple[str, ...] = ()
    passing: int = 4 * PAGE


def _saved(suffix: str, *words: str) -> Task:
    return Task((*words, "-o", f"{{disk}}/result{suffix}"))


_FRF = ("frf", "cantilever", "--in", "tip", "--out", "tip")
_CODE = ("generate", "five_bar_elastic", "--model", "forward", "-o", "{disk}/code", "--target")
_FMU = ("generate", "{robot}", "--target", "fmu")
TASKS = {
    ".nc": _saved(".nc", *_FRF),
    ".csv": _saved(".csv", *_FRF),
    ".mat": _saved(".mat", *_FRF),
    ".uff": _saved(".uff", *_FRF),
    ".npz": _saved(".npz", "linear", "cantilever", "--in", "tip", "--out", "tip"),
    ".json": _saved(".json", "linear", "cantilever", "--in", "tip", "--out", "tip"),
    ".png": Task(("frf", "cantilever", "--in", "tip", "--out", "tip", "--plot", "{disk}/picture.png")),
    ".gif": Task(("modes", "cantilever", "--plot", "{disk}/mode.gif")),
    "body .npz": Task(("bodies", "gough_stewart_flexible", "--write", "platform={disk}/body.npz")),
    "C": Task((*_CODE, "c")),
    "MATLAB": Task((*_CODE, "matlab")),
    "Rust": Task((*_CODE, "rust")),
    "FMU": Task((*_FMU, "-o", "{disk}")),
    "FMU, temporary files": Task((*_FMU, "-o", "{room}"), ("TMPDIR",), 600_000),
    "checkpoints": Task(_RUN),
    "cache": Task((*_RUN[:-1], "{room}/run.nc"), ("SUPPLE_CACHE",)),
}


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of `size` bytes at a folder, whose root only its user may write."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        raise click.ClickException(f"disks cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


SMALL = """space: planar
gravity: [0, -9.81, 0]
bodies:
  rod: {rigid: {mass: 1 kg, centre: [0.5, 0, 0], inertia: {zz: 0.3}}}
links:
  rod: {parent: base, joint: revolute, q: q, body: rod}
actuators:
  q: {viscous: 0.1}
points:
  tip: {link: rod, at: [1, 0, 0]}
"""
COMPILER = """#!/bin/sh
# cc ..., which answers a text that it has seen before with a copy of what it made of it then
answer="$1"; shift
for word; do
    case "$word" in *.c) texts="$texts $(cksum < "$word")";; esac
    [ "$before" = -o ] && made="$word"
    before="$word"
done
[ -n "$texts" ] || exec cc "$@"
kept="$answer/$(echo "$texts" "$#" | cksum | tr ' ' -)"
if [ -f "$kept" ]; then cp "$kept" "$made"; else cc "$@" && cp "$made" "$kept"; fi
"""


def compiler(folder: Path) -> list[str]:
    """The command of a compiler that compiles every text once: what is tried here are disks."""
    folder.mkdir()
    script = folder / "cc"
    script.write_text(COMPILER)
    script.chmod(0o755)
    return [str(script), str(folder)]


def ran(task: Task, at: Path, room: Path, *more: str) -> tuple[int | None, str]:
    """Exit code and words of a task; below zero: the signal that ended it."""
    words = [w.format(disk=at, room=room, robot=room.with_name("small.yaml")) for w in task.words]
    return started([*words, *more], {name: str(at) for name in task.environment}).wait()


def is_whole(path: Path) -> bool:
    """Whether a file is what a cache is for: its key, or an answer with the right signature on its shelf."""
    cache, (key, _, rest) = path.parents[1], path.name.partition("-")
    return path.name == "key" or path.name == file_name(cache, key, Path(rest).suffix, path.read_bytes())


def fault_of(task: Task, at: Path, room: Path) -> tuple[str, str | None]:
    """How a task ended on a disk, and what is wrong with that, if anything."""
    code, words = ran(task, at, room)
    left = sorted(str(p.relative_to(at)) for p in at.rglob("*") if p.is_file() or p.name[0] == ".")
    if code == 0:
        hidden = [name for name in left if "/." in f"/{name}" or ".part" in name]
        return "written", f"left behind: {hidden}" if hidden else None
    if code != 2 or "Traceback" in words:
        return "wrong", f"exit code {code}: {words.strip()[-300:]}"
    if not BLOCKED.search(words):
        return "wrong", f"does not say why: {words.strip()[-300:]}"
    if "--resume" in words:
        subprocess.run(["mount", "-o", "remount,size=64m", str(at)], check=True)
        code, words = ran(task, at, room, "--resume")
        left = sorted(p.name for p in at.iterdir())
        good = code == 0 and left == ["run.nc"]
        return "gone on", None if good else f"--resume: exit code {code}, {left}: {words.strip()[-300:]}"
    debris = [name for name in left if "SUPPLE_CACHE" not in task.environment or not is_whole(at / name)]
    return "refused", f"left behind: {debris}" if debris else None


@click.command()
@click.option("--count", default=50, show_default=True, help="Disks for each kind of file.")
@click.option("--seed", default=1, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(TASKS)), help="Kinds of files (default: all).")
def main(count: int, seed: int, only: tuple[str, ...]) -> None:
    """Files written to disks that are too small."""
    dice, wrong = random.Random(seed), 0
    prepare()
    with TemporaryDirectory(prefix="full-disk-") as root:
        place, room = Path(root, "disk"), Path(root, "room")
        os.environ["SUPPLE_CACHE"] = str(Path(root, "cache"))
        os.environ["SUPPLE_CC"] = shlex.join(compiler(Path(root, "compiled")))
        room.mkdir()
        room.with_name("small.yaml").write_text(SMALL)
        for name in only or TASKS:
            with disk(place, 256_000_000) as at:  # how much it takes, and everything imported and compiled
                code, words = ran(TASKS[name], at, room)
                if code != 0:
                    raise click.ClickException(f"{name}: {words.strip()[-500:]}")
                needed = sum(p.stat().st_size for p in at.rglob("*")) + TASKS[name].passing
            ends: dict[str, int] = {}
            for number in range(count):
                size = PAGE * max(1, round(dice.uniform(0.0, 2.0) ** 2 * needed / PAGE))
                with disk(place, size) as at:
                    end, fault = fault_of(TASKS[name], at, room)
                ends[end] = ends.get(end, 0) + 1
                if fault is not None:
                    wrong += 1
                    click.echo(f"{name}, {size} bytes: {fault}")
                click.echo(f"{name}: {number + 1} of {count} disks, {size} bytes: {end}", err=True)
            click.echo(f"{name}: {', '.join(f'{n} {end}' for end, n in sorted(ends.items()))}")
    click.echo(f"{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
