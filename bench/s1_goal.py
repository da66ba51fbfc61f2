"""The frame on the flexible plate placed by computed torque, of the rigid and of the flexible robot, with the same gains.

    python bench/s1_goal.py

`gough_stewart_plate`, motion `placed`, without gravity (with it the robot leans over). Errors of the point `centre` over the
whole motion; `E` is what the plate has, the controller counts on 20 GPa.
"""

from __future__ import annotations

from dataclasses import replace

from timing import show

import supple
from supple.machine import Machine
from supple.motion.description import Motion
from supple.simulation.elastic_control import foreseen

EVERY = 4e-3  # s


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
    for sample, note in ((0.0, "continuous"), (1e-4, "0.1 ms")):
        own = replace(motion, controller=replace(motion.controller, sample=sample))
        stiff = replace(own, controller=replace(own.controller, model="rigid", of=None))
        ahead = foreseen(robot, own, EVERY)
        for E in ("20 GPa", "19 GPa", "21 GPa"):
            before, after = errors(stiff, E), errors(ahead, E)
            assert before[2] == after[2] == "complete", (before, after)
            shown = [f"{1e3 * x:.3g}" for x in (*before[:2], *after[:2])]
            rows.append([note, E, *shown, *(f"{b / a:.0f}" for b, a in zip(before[:2], after[:2], strict=True))])
    show(
        "gough_stewart_plate, placed: error of the centre (mm)",
        ["loop", "E", "rigid peak", "RMS", "flexible peak", "RMS", "times less: peak", "RMS"],
        rows,
    )


if __name__ == "__main__":
    main()
