"""Processor time of verbs on robots of the gallery: the first time, with an empty cache, and the second time.

    python bench/latency.py [ROBOT ...] [--verbs VERB ...]

Every first run begins with a folder of its own for what is kept, so it derives and compiles everything; compilers count. The
better of two second runs counts. Modules are compiled to bytecode before, as an installed package is. A row for every robot,
a column for every verb; what misses its bar is listed at the end. Bars: warm check and modes below 1 s, others below 2 s,
those of surgiscope below 4 s, its simulate below 3 s and that of dualemps below 1 s; cold simulate below 6 s, of surgiscope
below 25 s; cold count and generate of dualemps below 6 s.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from verbs import MOTIONS, ROBOTS

SOURCE = str(Path(__file__).parents[1] / "src")
VERBS = {
    "check": "check {robot}",
    "modes": "modes {robot}",
    "stiff": "stiffness {robot} --point {point}",
    "frf": "frf {robot} --in {point} --out {point}",
    "linear": "linear {robot} --in {point} --out {point}",
    "map": "map {robot} --along {motion} --samples 9",
    "simul": "simulate {robot} --motion {motion}",
    "inverse": "inverse {robot} --motion {motion}",
    "count": "count {robot} --json",
    "gener": "generate {robot} --model inverse --target c -o {folder}/made",
    "compare": "compare {robot}",
    "bodies": "bodies {robot}",
    "show": "show {robot} -o {folder}/page.html",
}
WARM_ROUNDS = 2
LONGEST = 600.0  # s, after which a command is stopped


def point_of(robot: str) -> str:
    """The first named point of a robot."""
    from supple.machine import Machine

    return next(iter(Machine.read(robot).mechanism().points))


def spent(words: list[str], place: dict[str, str]) -> tuple[float, int]:
    """Processor seconds of a command, those of compilers included, and its exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        code = subprocess.run(
            [sys.executable, "-m", "supple", *words], capture_output=True, env=place, timeout=LONGEST
        ).returncode
    except subprocess.TimeoutExpired:
        code = -1
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code


def bar_of(robot: str, verb: str, warm: bool) -> float:
    """Seconds that a command may take."""
    large = robot == "surgiscope"
    if warm:
        if verb == "simul" and robot in ("dualemps", "surgiscope"):
            return 3.0 if large else 1.0
        return 1.0 if verb in ("check", "modes") else 4.0 if large else 2.0
    if verb == "simul":
        return 25.0 if large else 6.0
    return 6.0 if robot == "dualemps" and verb in ("count", "gener") else float("inf")


def measured(robot: str, verb: str, bytecode: str, rounds: int) -> tuple[float, float, int]:
    """Cold and warm seconds of a verb, and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"PYTHONPATH": SOURCE, "PYTHONPYCACHEPREFIX": bytecode, "SUPPLE_CACHE": str(Path(folder) / "cache")}
        place = {k: x for k, x in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | own
        asked = VERBS[verb].format(robot=robot, motion=MOTIONS[robot], folder=folder, point=point_of(robot))
        cold, code = spent(asked.split(), place)
        return cold, min(spent(asked.split(), place)[0] for _ in range(rounds)), code


def rows(title: str, verbs: list[str], table: dict[str, list[str]]) -> Iterator[str]:
    yield f"{title:23}" + "".join(f"{verb:>8}" for verb in verbs)
    yield "-" * (23 + 8 * len(verbs))
    for robot, cells in table.items():
        yield f"{robot:23}" + "".join(f"{cell:>8}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS), choices=list(VERBS))
    parser.add_argument("--rounds", type=int, default=WARM_ROUNDS, help="second runs, of which the best counts")
    asked = parser.parse_args()
    tables: dict[bool, dict[str, list[str]]] = {False: {}, True: {}}
    missed = []
    with tempfile.TemporaryDirectory() as bytecode:
        sys.pycache_prefix = bytecode
        compileall.compile_dir(SOURCE, quiet=1)
        for robot in asked.robots:
            for verb in asked.verbs:
                cold, warm, code = measured(robot, verb, bytecode, asked.rounds)
                for is_warm, used in ((False, cold), (True, warm)):
                    tables[is_warm].setdefault(robot, []).append(f"{used:.2f}" if code == 0 else f"({code})")
                    if code == 0 and used > bar_of(robot, verb, is_warm):
                        kind = "warm" if is_warm else "cold"
                        missed.append(f"{kind} {verb} {robot}: {used:.2f} s, bar {bar_of(robot, verb, is_warm):g} s")
                print(f"{robot} {verb}: {cold:.2f} {warm:.2f} exit {code}", file=sys.stderr, flush=True)
    for is_warm, title in ((False, "cold, s"), (True, "warm, s")):
        print("\n".join(rows(title, asked.verbs, tables[is_warm])), end="\n\n")
    print("\n".join(missed) or "all bars are met")


if __name__ == "__main__":
    main()
