"""Vibration that commands leave, by shaper: the trapezoidal square of DualEMPS, unshaped and shaped for its first modes.

    python bench/shaping.py [MODES ...]      # such as 1 1,2 1,2,3

Vibration: the largest distance of point P, once the command of the first move has ended, from its mean over one period of
mode 1. The blades creep back while friction holds the passive joints; what the mean leaves of that is in the numbers too, so
they are upper bounds. `along`: frequencies of every pose, `start`: those of the start, `10 % off`: 1.1 times these.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from timing import show

import supple
from supple.motion.description import Motion, Shaper

LAWS = ("zv", "zvd", "zvdd", "ei", "si")
MOVE, WATCHED = 1.8, 0.5  # s


def vibration(robot: supple.Robot, motion: Motion, period: float) -> tuple[float, float]:
    """Residual vibration (m) of P and how much longer the first move takes (s)."""
    run = robot.simulate(motion, duration=4.0, every="0.5 ms")
    path = run["position"][:, list(run.axes["coordinate"]).index("q11")]
    end = float(run.time[np.flatnonzero(np.abs(path - path[-1]) > 1e-9)[-1]])
    place = run["point_deformation"][:, 0, :]
    width = max(1, round(period / 0.5e-3))
    mean = np.array([np.convolve(x, np.ones(width) / width, "same") for x in place.T]).T
    seen = (run.time > end) & (run.time < end + WATCHED)
    return float(np.linalg.norm(place - mean, axis=1)[seen].max()), end - MOVE


def main() -> None:
    robot = supple.Robot("dualemps")
    motion = replace(robot.motion("square_trapezoidal"))
    start = robot.modes({"q11": -0.1, "q21": -0.1}, count=6)
    period = 1.0 / float(start.frequencies_hz[0])
    unshaped, _ = vibration(robot, motion, period)
    rows: list[list[object]] = [["none", "", f"{unshaped * 1e6:.3g}", "", "", "", ""]]
    for text in sys.argv[1:] or ["1", "1,2", "1,2,3"]:
        modes = tuple(int(k) for k in text.split(","))
        wrong = tuple(1.1 * float(start.frequencies_hz[k - 1]) for k in modes)
        ratios = tuple(float(start.damping_ratios[k - 1]) for k in modes)
        for law in LAWS:
            along, longer = vibration(robot, replace(motion, shaper=Shaper(law, modes)), period)
            fixed, _ = vibration(robot, replace(motion, shaper=Shaper(law, modes, along=False)), period)
            off, _ = vibration(robot, replace(motion, shaper=Shaper(law, (), wrong, ratios)), period)
            rows.append(
                [law, text, f"{along * 1e6:.3g}", f"{unshaped / along:.0f}", f"{unshaped / fixed:.0f}",
                 f"{unshaped / off:.1f}", f"{longer / period:.2f}"]
            )  # fmt: skip
    show(
        "DualEMPS, first move of square_trapezoidal: vibration left, and how many times less than unshaped",
        ["shaper", "modes", "um", "along", "start", "10 % off", "periods longer"],
        rows,
    )


if __name__ == "__main__":
    main()
