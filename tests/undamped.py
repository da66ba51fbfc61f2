"""Robots that lose nothing and are not driven, ready to run for a number of steps, and how their energy behaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.backends.stepping.settings import Settings
from supple.machine import GALLERY, Machine
from supple.motion.description import Motion
from supple.motion.trajectory import Trajectory
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

CRANKS, ARMS = ("arm1/q1", "arm2/q1"), ("leg1/q1", "leg2/q1", "leg3/q1")
LOSSES = {
    "five_bar": (
        ("damping: {modal: 0.01}\n", ""),
        (", viscous: 0.05", ""),
        ("gravity: [0, 0, 0]", "gravity: [0, -9.81, 0]"),
    ),
    "delta": (("damping: {modal: 0.01}\n", ""), (", viscous: 0.1", "")),
}
HANGING = "  hanging: {arm1/q1: -74 deg, arm1/q2: -14 deg, arm2/q1: -94 deg, arm2/q2: 2 deg}\n"


def undamped(robot: str, folder: Path) -> Path:
    """A copy of a gallery file without damping and friction; the five-bar stands in a vertical plane."""
    text = (GALLERY / f"{robot}.yaml").read_text(encoding="utf-8")
    for old, new in LOSSES[robot]:
        assert old in text, f"{robot} has no {old!r}"
        text = text.replace(old, new)
    text = text.replace("assembly:\n", f"assembly:\n{HANGING}") if robot == "five_bar" else text
    file = folder / f"{robot}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@dataclass(frozen=True)
class Case:
    """A motion that goes on for ever: actuators held at `pose`, or let go there."""

    robot: str
    held: bool
    pose: dict[str, float]  # deg
    step: float  # s
    assembly: str | None = None

    def ready(self, folder: Path, steps: int) -> Simulator:
        pose = {n: float(np.radians(x)) for n, x in self.pose.items()}
        names, end = tuple(pose), steps * self.step
        path = Trajectory.held(names, list(pose.values()), end) if self.held else None
        drives = dict.fromkeys(names, "prescribed" if self.held else "torque")
        motion = Motion("free", "", "joints", None, self.assembly, pose, {}, path, None, None, None, drives, end)  # type: ignore[arg-type]
        return simulator(
            Machine.read(undamped(self.robot, folder)), motion, start="undeformed" if self.held else "equilibrium"
        )


CASES = {
    # straight beams that gravity bends from t = 0 on: elastic energy and weight, to and fro
    "five_bar ringing": Case("five_bar", True, {"arm1/q1": 130, "arm2/q1": 50}, 1e-5, "outward"),
    "delta ringing": Case("delta", True, {"leg1/q1": 10, "leg2/q1": 25, "leg3/q1": -5}, 1e-5),
    # both legs hang down, away from the poses in which the couplers are parallel
    "five_bar swinging": Case("five_bar", False, {"arm1/q1": -74, "arm2/q1": -94}, 1e-4, "hanging"),
}


@dataclass(frozen=True)
class Energy:
    """Error of the energy relative to the largest kinetic energy, and what a line through it gains over the run."""

    error: float
    drift: float
    closure: float
    found: Simulation


def energy(case: Case, folder: Path, steps: int, samples: int = 1000) -> Energy:
    """How well Gauss' method with fixed steps keeps the energy of a case over so many steps."""
    made = case.ready(folder, steps)
    settings = Settings("gauss", tolerance=1e-9, newton=1e-12, step=case.step, every=steps // samples * case.step)
    found = integrate(made, settings)
    total = sum(found[f"energy_{k}"] for k in ("kinetic", "elastic", "gravity"))
    error = (total - total[0]) / found["energy_kinetic"].max()
    drift = np.polyfit(found.time, error, 1)[0] * found.time[-1]
    return Energy(float(np.abs(error).max()), float(abs(drift)), float(found["closure"].max()), found)
