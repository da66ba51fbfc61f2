"""Every model of every gallery robot, in every back-end and target, against the interpreter before any optimisation.

    python bench/agreement.py [ROBOT ...] [--models inverse,forward] [--targets c,python,matlab,rust]

Prints the largest relative difference of each combination; the goal is 1e-11 throughout. Targets run their own
self-test (tolerance 1e-11) on numbers of the un-optimised interpreter. Large models take minutes to compile.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.backends.compiler import find_compiler
from supple.backends.interpreter import interpret
from supple.backends.native import native
from supple.backends.targets import TARGETS
from supple.expr.passes import optimise
from supple.formulations.newton_euler import FORMULATION
from supple.generator import packed, shared_legs
from supple.machine import Machine, gallery
from supple.models import builder

QUICK = ["fold", "share", "signs"]  # the search passes change counts, not what is checked here
STATES = 16
LARGEST = {"rust": 30_000, "8 lanes": 200_000, "1 lane": 200_000}  # statements a tool takes in reasonable time


def worst(found: dict, true: dict) -> float:
    """Largest difference, relative to the largest number of each output."""
    return max(
        (
            float(np.abs(found[k] - t).max(initial=0.0)) / max(float(np.abs(t).max(initial=0.0)), 1.0)
            for k, t in true.items()
        ),
        default=0.0,
    )


def states(package, f) -> dict:
    """Random states around the sample of a package."""
    rng = np.random.default_rng(3)
    return {k: package.sample[k] * (1 + 0.05 * rng.uniform(-1, 1, (STATES, *a.shape))) for k, a in f.inputs.items()}


def self_test(target: str, folder: Path, files: list[Path]) -> bool:
    """Whether a target's own test passes."""
    if target == "c":
        command = [*(find_compiler() or ()), "-std=c99", "-O1", "-ffp-contract=off"]
        sources = [str(f) for f in files if f.suffix == ".c"]
        subprocess.run([*command, *sources, "-lm", "-o", str(folder / "test")], check=True)
        run = [str(folder / "test")]
    elif target == "python":
        run = [sys.executable, str(files[0])]
    elif target == "matlab":
        test = next(f for f in files if f.stem.endswith("_test"))
        run = ["octave", "--no-gui", "--quiet", "--eval", f"cd('{folder}'); {test.stem}"]
    else:
        subprocess.run(["rustc", "--test", "-o", str(folder / "test"), str(files[0])], check=True, capture_output=True)
        run = [str(folder / "test")]
    return subprocess.run(run, capture_output=True).returncode == 0


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("robots", nargs="*", default=gallery())
    arguments.add_argument("--models", default=",".join(FORMULATION.models))
    arguments.add_argument("--targets", default="c,python,matlab,rust")
    chosen = arguments.parse_args()
    tools = {"c": find_compiler(), "python": True, "matlab": shutil.which("octave"), "rust": shutil.which("rustc")}
    targets = [t for t in chosen.targets.split(",") if tools.get(t)]
    largest = 0.0
    for robot in chosen.robots:
        mechanism = Machine.read(robot).mechanism()
        for model in chosen.models.split(","):
            start = time.perf_counter()
            f = builder(model)(mechanism)
            best = optimise(f, QUICK).function
            package = packed(mechanism, model, best, (), [])
            given = states(package, f)
            true = interpret(f)(**given)
            line = {"passes": worst(interpret(best)(**given), true)}
            for lanes in (1, 8):
                if best.operations < LARGEST[f"{lanes} lane{'s' if lanes > 1 else ''}"]:
                    line[f"native x{lanes}"] = worst(native(best, lanes=lanes)(**given), true)
            expected = interpret(f)(**package.sample)
            program = shared_legs(mechanism, model == "forward") if model in ("inverse", "forward") else None
            package = replace(package, expected=expected, program=program)
            for target in targets:
                if best.operations < LARGEST.get(target, 10**9):
                    with tempfile.TemporaryDirectory() as folder:
                        files = TARGETS[target](package, Path(folder))
                        line[target] = 0.0 if self_test(target, Path(folder), files) else np.inf
            largest = max(largest, *line.values())
            cells = "  ".join(f"{k} {v:.0e}" if v else f"{k} ok" for k, v in line.items())
            print(
                f"{robot:14} {model:11} {f.operations:7} -> {best.operations:7}  {cells}  "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
    print(f"largest difference {largest:.1e}")


if __name__ == "__main__":
    main()
