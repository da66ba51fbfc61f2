"""Random poses of every gallery robot with loops, asked for directly and reached by walks: is it the same assembly?

    python bench/assembly.py [--poses 10000] [ROBOT ...]

Poses are drawn about home and asked for by the actuators, by the platform's pose, or (bricard) by a joint. The judge
walks there from home in 80 small steps, straight, and round a random corner in steps of other sizes; walks that meet a
singular pose do not count (`tests/walks.py`). Rigid loops, which flexible robots start from. Exits with 1 if an answer is
in another branch than a walk. Milliseconds for each answer to tens, a second for a refusal; hours for all robots and
10,000 poses.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from walks import judged, ways_to_ask  # of the tests, which judge fewer poses

from supple.backends.native import native
from supple.errors import RobotFileError
from supple.machine import Machine, gallery
from supple.model.model import Model


def compiled(model: Model) -> Any:
    """Calls of the closures' Functions in compiled code."""
    functions = {name: native(getattr(model.equations, name)) for name in ("closure", "closure_gradient")}

    def call(name: str, **inputs: Any) -> Any:
        return functions[name](**inputs)

    return call


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=gallery())
    parser.add_argument("--poses", type=int, default=10_000)
    asked, wrong = parser.parse_args(), 0
    for robot in asked.robots:
        try:
            model = Machine.read(robot).model(rigid=True)
        except RobotFileError:
            continue  # nothing moves but by bending
        if not model.mechanism.closures:
            continue
        for how in ways_to_ask(model):
            begin = time.process_time()
            v = judged(model, how, asked.poses, call=compiled(model))
            wrong += len(v.other)
            print(
                f"{robot:24}{how.what:12}{v.asked:6} asked: {v.same} as the walks, {v.unjudged} answered where no walk got, "
                f"{v.refused} refused (of which walks reach {v.reachable}), {len(v.other)} in another branch; "
                f"{v.ambiguous} that two walks reach in different branches; {time.process_time() - begin:.0f} s",
                flush=True,
            )
            for pose in v.other[:5]:
                print("    another branch at", pose, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
