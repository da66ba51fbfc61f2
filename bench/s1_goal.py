"""The frame on the flexible plate placed by computed torque, of the rigid and of the flexible robot, with the same gains.

    python bench/s1_goal.py [--sampled]

`gough_stewart_plate`, motion `placed`, without gravity (with it the robot leans over). Errors of the point `centre` over the
whole motion; `E` is what the plate has, the controller counts on 20 GPa. `measured`: it is told where the centre is
(x, y, z) and learns E from that; sampled loops only.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from timing import show

import supple
from supple.machine import Machine
from supple.motion.description import Measured, Motion
from supple.motion.laws import Sensor
from supple.simulation.elastic_control import foreseen

EVERY = 4e-3  # s
READ = tuple(Sensor(f"centre.{axis}") for axis in "xyz")


def errors(motion: Motion, E: str) -> tuple[float, float, str]:
    """Peak and RMS distance of the centre from its path (m), and how the run ended."""
    run = supple.Robot("gough_stewart_plate", {"gravity": 0, "E": E}).simulate(motion, every=EVERY)
    told = run.summary["performance"]["tool_error_m"]["centre"]
    return told["peak"], told["rms"], run.outcome


def main() -> None:
    robot = Machine.read("gough_stewart_plate", {"gravity": "0"})
    motion = robot.motion("placed")
    assert motion.controller is not None
    rows: list[list[object]] = []
    loops = ((0.0, "continuous"), (1e-4, "0.1 ms"))
    for sample, note in loops[1:] if "--sampled" in sys.argv else loops:
        own = replace(motion, controller=replace(motion.controller, sample=sample))
        stiff = replace(own, controller=replace(own.controller, model="rigid", of=None))
        made = [stiff, foreseen(robot, own, EVERY)]
        if sample:
            told = replace(own, controller=replace(own.controller, measured=Measured(("E",), READ)))
            made.append(foreseen(robot, told, EVERY))
        for E in ("20 GPa", "19 GPa", "21 GPa"):
            before, *after = (errors(x, E) for x in made)
            assert all(x[2] == "complete" for x in (before, *after)), (before, after)
            shown = [f"{1e3 * x:.3g}" for part in (before, *after) for x in part[:2]]
            shares = [f"{before[k] / x[k]:.0f}" for x in after for k in range(2)]
            rows.append([note, E, *shown, *([] if sample else ["", ""]), *shares, *([] if sample else ["", ""])])
            print(*rows[-1], file=sys.stderr, flush=True)
    show(
        "gough_stewart_plate, placed: error of the centre (mm)",
        [
            *("loop", "E", "rigid peak", "RMS", "flexible peak", "RMS", "measured peak", "RMS"),
            *("times less: flexible", "RMS", "measured", "RMS"),
        ],
        rows,
    )


if __name__ == "__main__":
    main()
