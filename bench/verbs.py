"""Wall and processor time of every verb of the command line on every robot of the gallery, in fresh processes.

    python bench/verbs.py [ROBOT ...]                      # this tree
    python bench/verbs.py --beside OTHER/src [ROBOT ...]   # and another tree, in turns, with the ratio

Compiled code is in the cache after the first of two runs; the better one counts. Ratios are those of processor times, which
a busy machine changes least.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROBOTS = (
    "3prr", "3rrr", "bricard", "cantilever", "delta", "dualemps", "five_bar", "five_bar_bob", "five_bar_elastic",
    "gough_stewart", "gough_stewart_flexible", "gough_stewart_plate", "hexa", "pacdrive", "serial_arm", "surgiscope",
    "triglide",
)  # fmt: skip
MOTIONS = {
    "3prr": "to_and_fro", "3rrr": "circle", "bricard": "fall", "cantilever": "hammer", "delta": "pick_and_place",
    "dualemps": "square",
    "five_bar": "circle", "five_bar_bob": "carry", "five_bar_elastic": "line", "gough_stewart": "quintic",
    "gough_stewart_flexible": "poses",
    "gough_stewart_plate": "poses", "hexa": "quintic", "pacdrive": "fall", "serial_arm": "reach",
    "surgiscope": "pick_and_place", "triglide": "circle",
}  # fmt: skip
VERBS = {
    "check": "check {robot}",
    "modes": "modes {robot}",
    "bodies": "bodies {robot}",
    "count": "count {robot} --model inverse --json",
    "simulate": "simulate {robot} --motion {motion} --duration 0.01",
    "inverse": "inverse {robot} --motion {motion} --duration 0.01 --quasi-static",
    "generate": "generate {robot} --model inverse --target python -o {folder}",
    "compare": "compare {robot} --no-time --only lagrange",
}
ROUNDS = 2


def seconds(source: str, words: list[str], limit: float) -> tuple[float, float, int]:
    """Processor and wall time of a command in a fresh process, and its exit code; above the limit it is stopped."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        command, place = [sys.executable, "-m", "supple", *words], {**os.environ, "PYTHONPATH": source}
        code = subprocess.run(command, capture_output=True, timeout=limit, env=place).returncode
    except subprocess.TimeoutExpired:
        code = -1
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - begin, code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--beside", metavar="SRC")
    parser.add_argument("--verbs", nargs="*", default=list(VERBS))
    parser.add_argument("--limit", type=float, default=120.0, help="s after which a command is stopped")
    asked = parser.parse_args()
    trees = [str(Path(__file__).parents[1] / "src"), *([asked.beside] if asked.beside else [])]
    with tempfile.TemporaryDirectory() as folder:
        for robot in asked.robots:
            for verb in asked.verbs:
                words = VERBS[verb].format(robot=robot, motion=MOTIONS[robot], folder=folder).split()
                best = {tree: (float("inf"), float("inf"), 0) for tree in trees}
                for _ in range(ROUNDS):
                    for tree in trees:
                        best[tree] = min(best[tree], seconds(tree, words, asked.limit))
                shown = "  ".join(
                    f"{wall:7.2f} s, {used:6.2f} s used{'' if code == 0 else f' (exit {code})'}"
                    for used, wall, code in best.values()
                )
                ratio = f"  {best[trees[1]][0] / best[trees[0]][0]:5.2f}x" if asked.beside else ""
                print(f"{robot:24}{verb:10}{shown}{ratio}", flush=True)


if __name__ == "__main__":
    main()
