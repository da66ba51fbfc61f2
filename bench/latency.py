"""Processor time of verbs on robots of the gallery: the first time, with an empty cache, and the second time.

    python bench/latency.py [ROBOT ...] [--verbs VERB ...]

Every first run begins with a folder of its own for what is kept, so it derives and compiles everything; compilers count. The
better of two second runs counts, with the memory that it needed. Bars: warm check and modes below 1 s, others below 2 s,
those of surgiscope below 4 s; cold simulate below 6 s, of surgiscope below 25 s.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from verbs import MOTIONS, ROBOTS

SOURCE = str(Path(__file__).parents[1] / "src")
VERBS = {
    "check": "check {robot}",
    "modes": "modes {robot}",
    "stiffness": "stiffness {robot}",
    "simulate": "simulate {robot} --motion {motion}",
    "inverse": "inverse {robot} --motion {motion}",
    "count": "count {robot} --json",
    "generate": "generate {robot} --model inverse --target c -o {folder}",
}
MEASURE = "import resource, sys; from supple.cli.main import main\ntry: main()\nfinally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"  # noqa: E501
WARM_ROUNDS = 2


def spent(words: list[str], cache: str) -> tuple[float, float, int]:
    """Processor seconds of a command, those of compilers included, its largest memory (MB), and its exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    place = {**os.environ, "PYTHONPATH": SOURCE, "SUPPLE_CACHE": cache}
    made = subprocess.run([sys.executable, "-c", MEASURE, *words], capture_output=True, text=True, env=place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory = float(made.stderr.split()[-1]) / 1024 if made.stderr.split() else 0.0
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, memory, made.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS), choices=list(VERBS))
    asked = parser.parse_args()
    print(f"{'robot':24}{'verb':10}{'cold s':>8}{'warm s':>8}{'MB':>6}")
    for robot in asked.robots:
        for verb in asked.verbs:
            with tempfile.TemporaryDirectory() as folder:
                cache = str(Path(folder) / "cache")
                words = VERBS[verb].format(robot=robot, motion=MOTIONS[robot], folder=folder).split()
                cold, _, code = spent(words, cache)
                warm = min(spent(words, cache)[:2] for _ in range(WARM_ROUNDS))
            said = "" if code == 0 else f"  exit {code}"
            print(f"{robot:24}{verb:10}{cold:8.2f}{warm[0]:8.2f}{warm[1]:6.0f}{said}", flush=True)


if __name__ == "__main__":
    main()
