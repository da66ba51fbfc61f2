"""Elastic feedforward whose stiffness is 5 % off: how far the tool is from its path, beside the rigid robot's feedforward.

    python bench/wrong_stiffness.py [dualemps delta]

The actuators' path and forces are found for the nominal robot; the robot that moves is 5 % softer or stiffer. Joints are led
by computed torque in both cases: to the rigid robot's path, or to the path that makes up for the bending (`flexible`).
Errors over the motion and the rest after it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from timing import show

import supple
from supple.machine import Machine
from supple.simulation.elastic_control import foreseen

CASES = {
    "dualemps": (
        "space: {point: P}\nmoves: [{by: {x: 30 mm, z: -20 mm}, duration: 0.3 s}, {rest: 0.1 s}]",
        {"E": 74e9},
        "P",
    ),
    "delta": (
        "space: platform\nmoves: [{by: {x: 0.1, z: 0.02}, duration: 0.25 s}, {rest: 0.1 s}]",
        {"E_arm": 70e9, "E_rod": 120e9},
        "tool",
    ),
}
CONTROL = "\ncontroller: {computed_torque: {kp: 2500, kd: 100MODEL}}\n"
EVERY = 1e-3  # s


def main() -> None:
    rows: list[list[object]] = []
    for name in sys.argv[1:] or CASES:
        motion, stiffness, point = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for model in ("", ", model: flexible, lead: 20 ms"):
                (file := Path(folder) / "motion.yaml").write_text(motion + CONTROL.replace("MODEL", model))
                robot = Machine.read(name)
                made.append(foreseen(robot, robot.motion(file), EVERY))
        for factor in (1.0, 0.95, 1.05):
            own = supple.Robot(name, {k: x * factor for k, x in stiffness.items()})
            told = [own.simulate(x, every=EVERY).summary["performance"]["tool_error_m"][point] for x in made]
            shares = [told[0][k] / told[1][k] for k in ("peak", "rms")]
            numbers = [f"{1e6 * x[k]:.4g}" for x in told for k in ("peak", "rms")]
            rows.append([name, f"{factor:g}", *numbers, *(f"{x:.3g}" for x in shares)])
    heads = ["robot", "stiffness", "rigid peak", "RMS", "flexible peak", "RMS", "times less: peak", "RMS"]
    show("Errors of the tool (µm)", heads, rows)


if __name__ == "__main__":
    main()
