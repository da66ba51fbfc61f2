"""Elastic feedforward whose stiffness is 5 % off: how far the tool is from its path, beside the rigid robot's feedforward.

    python bench/wrong_stiffness.py [--noisy] [dualemps delta]

The actuators' path and forces are found for the nominal robot; the robot that moves is 5 % softer or stiffer. Joints are led
by computed torque in all cases, with the same gains, sampled every 0.1 ms: to the rigid robot's path, to the path that makes
up for the bending (`flexible`), and to that path as gauges correct it on the way (`measured`). Errors over the motion and
the rest after it. `0.95 + unknown`: masses that nobody learns are off by 5 % too; `--noisy`: gauges with noise of 1e-6.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from timing import show

import supple
from supple.machine import Machine
from supple.simulation.elastic_control import foreseen


@dataclass(frozen=True)
class Case:
    """A motion, the stiffnesses that are wrong, masses that may be, the point that is watched, and gauges."""

    motion: str
    stiffness: dict[str, float]
    masses: dict[str, float]
    point: str
    gauges: tuple[str, ...]


CASES = {
    "dualemps": Case(
        "space: {point: P}\nmoves: [{by: {x: 30 mm, z: -20 mm}, duration: 0.3 s}, {rest: 0.1 s}]",
        {"E": 74e9}, {"rho": 2800.0}, "P", ("strain(13).y", "strain(23).y", "strain(16).y"),
    ),
    "delta": Case(
        "space: platform\nmoves: [{by: {x: 0.1, z: 0.02}, duration: 0.25 s}, {rest: 0.1 s}]",
        {"E_arm": 70e9, "E_rod": 120e9}, {"mass": 0.8}, "tool",
        tuple(f"strain(leg{k}/{gauge}" for k in (1, 2, 3) for gauge in ("arm).z", "rod1).x", "rod2).x")),
    ),
}  # fmt: skip
EVERY = 1e-3  # s


def controls(case: Case, noise: float) -> tuple[str, str, str]:
    listed = ", ".join(f'"{x}"' for x in case.gauges)
    measured = f", measured: {{parameters: [{', '.join(case.stiffness)}], sensors: [{listed}], noise: {noise}}}"
    return "", ", model: flexible, lead: 20 ms", f", model: flexible, lead: 20 ms{measured}"


def main() -> None:
    rows: list[list[object]] = []
    noise = 1e-6 if "--noisy" in sys.argv else 0.0
    for name in [a for a in sys.argv[1:] if a in CASES] or CASES:
        case = CASES[name]
        made = []
        with tempfile.TemporaryDirectory() as folder:
            for model in controls(case, noise):
                control = f"\ncontroller: {{computed_torque: {{kp: 2500, kd: 100, sample: 0.1 ms{model}}}}}\n"
                (file := Path(folder) / "motion.yaml").write_text(case.motion + control)
                robot = Machine.read(name)
                made.append(foreseen(robot, robot.motion(file), EVERY))
        for factor, heavier in ((1.0, 1.0), (0.95, 1.0), (1.05, 1.0), (0.95, 1.05)):
            off = {k: x * factor for k, x in case.stiffness.items()} | {k: x * heavier for k, x in case.masses.items()}
            own = supple.Robot(name, off)
            told = [own.simulate(x, every=EVERY).summary["performance"]["tool_error_m"][case.point] for x in made]
            numbers = [f"{1e6 * x[k]:.3g}" for x in told for k in ("peak", "rms")]
            shares = [f"{told[0][k] / x[k]:.3g}" for x in told[1:] for k in ("peak", "rms")]
            rows.append([name, f"{factor:g}" + " + unknown" * (heavier > 1), *numbers, *shares])
            print(*rows[-1], file=sys.stderr, flush=True)
    heads = ["robot", "stiffness", "rigid: peak", "RMS", "flexible", "RMS", "measured", "RMS"]
    show("Errors of the tool (µm)", [*heads, "times less: flexible", "RMS", "measured", "RMS"], rows)


if __name__ == "__main__":
    main()
