"""Every motion of every gallery robot: simulated seconds per second of computing.

    python bench/real_time.py [--rounds 3] [ROBOT ...]

Default settings, one thread, the integration alone (neither compiling nor what is observed afterwards); the time is that of
the processor, the best of some rounds. `closed` forms and `legs` (closed forms with one leg's code for all) or the matrices
of the `tree`; iterations of Newton's method per step; derivatives renewed; microseconds of everything per iteration.
"""

from __future__ import annotations

import argparse
import time

from timing import show

from supple.analyses.simulate import checked
from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.pipeline import describe, gallery
from supple.simulation.blocks import Block, blocks_of, switch
from supple.simulation.simulator import Simulator, simulator

STEPS, ROWS = 10**9, 200_000  # of one piece
HEADS = (
    "robot, motion", "model", "free", "simulated s", "computed s", "ratio", "steps", "rejected", "iterations", "derivatives",
    "us",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=gallery())
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rows = [
        row(f"{robot}, {motion}", simulator(robot, motion), asked.rounds)
        for robot in asked.robots
        for motion in describe(robot).robot.motions
    ]
    show("integration at default settings", HEADS, rows)


def row(name: str, robot: Simulator, rounds: int) -> list[object]:
    """One line of the table."""
    settings = checked(robot.scaled(Settings()), robot.duration)
    found = [integrated(robot, settings) for _ in range(rounds)]
    seconds, block = min(found, key=lambda x: x[0])
    plant, state, counts = block.stepper.plant, block.state, block.state.counts()
    kind = "tree" if plant.tree is not None else "legs" if plant.program is not None else "closed"
    end = "" if block.outcome == "done" else f" ({block.outcome})"
    return [
        name + end, kind, len(plant.free), f"{state.t:.3g}", f"{seconds:.3g}", f"{state.t / seconds:.3g}", counts["steps"],
        counts["rejected"], f"{counts['iterations'] / max(1, counts['steps']):.2f}", counts["jacobians"],
        f"{1e6 * seconds / max(1, counts['iterations']):.1f}",
    ]  # fmt: skip


def integrated(robot: Simulator, settings: Settings) -> tuple[float, Block]:
    """Seconds of this thread, and the block of the only run at its end."""
    (block,) = blocks_of(robot, settings, None)
    begun = time.thread_time()
    block.outcome = "full"
    while block.outcome in ("full", "yielded"):
        block.outcome, _ = block.stepper.run(block.state, robot.drive, robot.duration, STEPS, ROWS)
        if block.outcome in ("ill_posed", "open_loops", "diverged", "too_small") and switch(robot, block, robot.drive):
            block.outcome = "yielded"
    return time.thread_time() - begun, block


if __name__ == "__main__":
    try:
        main()
    except SuppleError as problem:
        raise SystemExit(str(problem)) from problem
