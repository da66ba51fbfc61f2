"""Time of a step against the number of elements and of legs: exponents of growth.

    python bench/growth.py [--elements 1 2 4 8 16 32 64] [--legs 3 6 12]

Radau's method with a fixed step, one thread, times of the processor: microseconds of a step of `delta` with some elements in
every arm and rod on its way, and of the same robot with more legs round its platform, let go at home (more than three rigid
legs hold each other, so that no path of the rigid robot leads them). Exponents are of the time against the number, from
line to line and, in the last line, fitted to all; 1 is linear. Making a robot ready (deriving, compiling; processor time,
compilers included, nothing remembered) has its own. Minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from timing import show

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import GALLERY, Machine
from supple.simulation.simulator import simulator

STEP, STEPS, LONG = 1e-3, 40, 3.0  # s; steps; s of the processor in which the best round is looked for
LET_GO = "\n  let_go: {torques: {leg1/q1: 0 N*m}, duration: 0.1 s}\n"


def step_of(robot: Machine, motion: str) -> tuple[int, float, float]:
    """Free coordinates, microseconds of a step, and processor seconds to derive and compile."""
    begun = spent()
    made = simulator(robot, motion)
    stepper, run = made.stepper(), made.runs[0]
    ready = spent() - begun
    settings = made.scaled(Settings(step=STEP, every=0.0))
    best, until = math.inf, time.thread_time() + LONG
    while best == math.inf or time.thread_time() < until:
        state = stepper.start(settings, made.drive, 0.0, run.q, run.v)
        if stepper.begin(state, made.drive) != "fine":
            raise RuntimeError("it does not start")
        begun = time.thread_time()
        stepper.run(state, made.drive, STEP * STEPS, 10**6, 10**4)
        best = min(best, (time.thread_time() - begun) / max(1, state.counts()["steps"]))
    return len(stepper.plant.free), 1e6 * best, ready


def spent() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(x.ru_utime + x.ru_stime for x in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def exponent(numbers: Sequence[int], times: Sequence[float]) -> str:
    return f"{np.polyfit(np.log(numbers), np.log(times), 1)[0]:.2f}" if len(numbers) > 1 else ""


def table(title: str, motion: str, robots: dict[int, Callable[[], Machine]]) -> None:
    rows: list[list[object]] = []
    numbers, steps, makings = list[int](), list[float](), list[float]()
    for number, robot in robots.items():
        try:
            free, us, ready = step_of(robot(), motion)
        except (SuppleError, RuntimeError) as problem:
            rows.append([number, "", "", "", "", str(problem)[:60]])
            continue
        numbers, steps, makings = [*numbers, number], [*steps, us], [*makings, ready]
        local = [exponent(numbers[-2:], x[-2:]) for x in (steps, makings)]
        rows.append([number, free, f"{us:.1f}", local[0], f"{ready:.1f}", local[1]])
    rows.append(["all", "", "", exponent(numbers, steps), "", exponent(numbers, makings)])
    show(title, [title.split()[0], "free", "us a step", "exponent", "s to make", "exponent"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", nargs="*", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--legs", nargs="*", type=int, default=[3, 6, 12])
    asked = parser.parse_args()
    text = (GALLERY / "delta.yaml").read_text(encoding="utf-8").rstrip() + LET_GO
    finer = {n: partial(Machine.read, "delta", {"elements": str(n)}) for n in asked.elements}
    wider = {n: partial(Machine.parse, text.replace("count: 3", f"count: {n}")) for n in asked.legs}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SUPPLE_CACHE"] = folder
        table("elements of every arm and rod of delta", "pick_and_place", finer)
        table("legs of delta", "let_go", wider)


if __name__ == "__main__":
    main()
