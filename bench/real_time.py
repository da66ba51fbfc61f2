"""Every motion of every gallery robot: simulated seconds per second of computing.

    python bench/real_time.py [--rounds 3] [ROBOT ...]

Default settings, one thread, the integration alone (neither compiling nor what is observed afterwards); the time is that of
the processor, the best of some rounds. `closed` forms and `legs` (closed forms with one leg's code for all) or the matrices
of the `tree`; iterations of Newton's method per step; derivatives renewed; microseconds of everything per iteration.
"""

from __future__ import annotations

import argparse
import sys
import time

from timing import show

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine, gallery
from supple.simulation.elastic_control import foreseen
from supple.simulation.groups import Group, groups_of, switch
from supple.simulation.integrate import checked
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
    rows: list[list[object]] = []
    for name, motion in ((n, m) for n in asked.robots for m in Machine.read(n).description.robot.motions):
        robot = Machine.read(name)
        try:
            rows.append(row(f"{name}, {motion}", simulator(robot, foreseen(robot, robot.motion(motion))), asked.rounds))
        except SuppleError as problem:
            print(f"{name}, {motion}: left out, {problem}", file=sys.stderr)
    show("integration at default settings", HEADS, rows)


def row(name: str, robot: Simulator, rounds: int) -> list[object]:
    """One line of the table."""
    settings = checked(robot.scaled(Settings()), robot.duration)
    found = [integrated(robot, settings) for _ in range(rounds)]
    seconds, group = min(found, key=lambda x: x[0])
    plant, state, counts = group.stepper.plant, group.state, group.state.counts()
    kind = "tree" if plant.tree is not None else "legs" if plant.program is not None else "closed"
    end = "" if group.outcome == "done" else f" ({group.outcome})"
    return [
        name + end, kind, len(plant.free), f"{state.t:.3g}", f"{seconds:.3g}", f"{state.t / seconds:.3g}", counts["steps"],
        counts["rejected"], f"{counts['newton_iterations'] / max(1, counts['steps']):.2f}", counts["jacobians"],
        f"{1e6 * seconds / max(1, counts['newton_iterations']):.1f}",
    ]  # fmt: skip


def integrated(robot: Simulator, settings: Settings) -> tuple[float, Group]:
    """Seconds of this thread, and the group of the only run at its end."""
    (group,) = groups_of(robot, settings, None)
    begun = time.thread_time()
    group.outcome = "full"
    while group.outcome in ("full", "yielded"):
        group.outcome, _ = group.stepper.run(group.state, robot.drive, robot.duration, STEPS, ROWS)
        if group.outcome in ("ill_posed", "open_loops", "diverged", "too_small") and switch(robot, group, robot.drive):
            group.outcome = "yielded"
    return time.thread_time() - begun, group


if __name__ == "__main__":
    main()
