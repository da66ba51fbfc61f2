"""Random poses of every gallery robot with loops, asked for directly and reached by walks: is it the same assembly?

    python bench/assembly.py [--poses 10000] [--skip 0] [ROBOT[:WAY] ...]

Poses are drawn about home and asked for by the actuators, by the platform's pose, or (bricard) by a joint. The judge
walks there from home in 80 small steps, straight, and round a random corner in steps of other sizes; walks that meet a
singular pose do not count (`tests/walks.py`). Rigid loops, which flexible robots start from. Poses are asked for in crowds
(`postures`) of CROWD, each drawn anew, the first --skip of them left out; ALONE of each are asked for one by one as well
(`posture`) and must be the same. Exits with 1 if an answer is in another branch than a walk, or another alone. Some
milliseconds for each answer, tens to hundreds for a refusal: about an hour for all robots and 10,000 poses.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from walks import Asked, Verdict, judged, ways_to_ask  # of the tests, which judge fewer poses

from supple.errors import PoseError, RobotFileError
from supple.machine import Machine, gallery
from supple.model.model import Model
from supple.model.observe import coordinate_values
from supple.model.posture import posture, postures

CROWD, ALONE = 2_000, 4


def alone(model: Model, how: Asked, seed: int) -> int:
    """How many of some poses are answered otherwise when they are asked for one by one."""
    home = coordinate_values(model, posture(model))[how.held]
    poses = home + np.random.default_rng(seed).uniform(-1.0, 1.0, (ALONE, len(home))) * how.span
    names, others = [model.names[i] for i in how.held], 0
    for found, row in zip(postures(model, names, poses), poses.tolist(), strict=True):
        try:
            q = posture(model, dict(zip(names, row, strict=True)))
            others += isinstance(found, PoseError) or bool(np.abs(q - found).max() > 1e-9)
        except PoseError as problem:
            others += str(found) != str(problem)
    return others


def crowds(model: Model, how: Asked, poses: int, skipped: int) -> tuple[Verdict, int]:
    """The verdict on all poses, and how many were answered otherwise alone."""
    sizes = [min(CROWD, poses - k) for k in range(0, poses, CROWD)]
    found = [judged(model, how, n, call=model.call, seed=1 + skipped + k) for k, n in enumerate(sizes)]
    total = Verdict(
        *(sum((getattr(v, f.name) for v in found), start=type(getattr(found[0], f.name))()) for f in fields(Verdict))
    )
    return total, sum(alone(model, how, 1000 + skipped + k) for k in range(len(sizes)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=gallery())
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--skip", type=int, default=0)
    asked, wrong = parser.parse_args(), 0
    for robot, _, only in (word.partition(":") for word in asked.robots):
        try:
            model = Machine.read(robot).model(rigid=True)
        except RobotFileError:
            continue  # nothing moves but by bending
        if not model.mechanism.closures:
            continue
        for how in (w for w in ways_to_ask(model) if only in ("", w.what)):
            begin = time.process_time()
            v, others = crowds(model, how, asked.poses, asked.skip)
            wrong += len(v.other) + others
            print(
                f"{robot:24}{how.what:12}{v.asked:6} asked: {v.same} as the walks, {v.unjudged} answered where no walk got, "
                f"{v.refused} refused (of which walks reach {v.reachable}), {len(v.other)} in another branch; "
                f"{v.ambiguous} that two walks reach in different branches; {others} otherwise when asked alone; "
                f"{time.process_time() - begin:.0f} s",
                flush=True,
            )
            for pose in v.other[:5]:
                print("    another branch at", pose, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
