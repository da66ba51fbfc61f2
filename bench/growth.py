"""Time of a step against the number of elements and of legs: exponents of growth.

    python bench/growth.py [--elements 1 2 4 8 16] [--legs 3 6 12]

Radau's method with a fixed step, one thread, times of the processor: microseconds of a step of `delta` with some elements in
every arm and rod on its way, and of the same robot with more legs round its platform, let go at home (more than three rigid
legs hold each other, so that no path of the rigid robot leads them). The exponent between two lines is that of the time
against the number; 1 is linear. Compiling is in neither, and is printed beside. Minutes.
"""

from __future__ import annotations

import argparse
import math
import time

from timing import show

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import GALLERY, Machine
from supple.simulation.simulator import simulator

STEP, STEPS, ROUNDS = 1e-3, 40, 3
LET_GO = "\n  let_go: {torques: {leg1/q1: 0 N*m}, duration: 0.1 s}\n"


def step_of(robot: Machine, motion: str) -> tuple[int, float, float]:
    """Free coordinates, microseconds of a step, and seconds to derive and compile."""
    begun = time.perf_counter()
    made = simulator(robot, motion)
    stepper, run = made.stepper(), made.runs[0]
    ready = time.perf_counter() - begun
    settings = made.scaled(Settings(step=STEP, every=0.0))
    best = math.inf
    for _ in range(ROUNDS):
        state = stepper.start(settings, made.drive, 0.0, run.q, run.v)
        if stepper.begin(state, made.drive) != "fine":
            raise RuntimeError("it does not start")
        begun = time.thread_time()
        stepper.run(state, made.drive, STEP * STEPS, 10**6, 10**4)
        best = min(best, (time.thread_time() - begun) / max(1, state.counts()["steps"]))
    return len(stepper.plant.free), 1e6 * best, ready


def table(title: str, motion: str, robots: dict[int, Machine]) -> None:
    rows: list[list[object]] = []
    before: tuple[int, float] | None = None
    for number, robot in robots.items():
        try:
            free, us, ready = step_of(robot, motion)
        except (SuppleError, RuntimeError) as problem:
            rows.append([number, "", "", "", str(problem)[:60]])
            continue
        local = "" if before is None else f"{math.log(us / before[1]) / math.log(number / before[0]):.2f}"
        rows.append([number, free, f"{us:.1f}", f"{ready:.1f}", local])
        before = (number, us)
    show(title, [title.split()[0], "free", "us a step", "s to make", "exponent"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", nargs="*", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--legs", nargs="*", type=int, default=[3, 6, 12])
    asked = parser.parse_args()
    text = (GALLERY / "delta.yaml").read_text(encoding="utf-8").rstrip() + LET_GO
    finer = {n: Machine.read("delta", {"elements": str(n)}) for n in asked.elements}
    table("elements of every arm and rod of delta", "pick_and_place", finer)
    table("legs of delta", "let_go", {n: Machine.parse(text.replace("count: 3", f"count: {n}")) for n in asked.legs})


if __name__ == "__main__":
    main()
