"""Makes data/second_order_motions.json: beams and robots in motion, from the judges' plane frames and Radau's method.

    cd tests && python -m judges.motions [fineness]

PacDrive's tip along its two motions (supple's gallery: `fall` with 20 N m from 0.1 to 0.2 s, `pick_and_place`), sampled
every 0.5 ms, and the lag of the spin-up beam. The stored ones are of fineness 3, ten minutes; 2 and 4
differ from them by 1 % in the peaks.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from judges import pacdrive
from judges.elements import Beam
from judges.plane import Bar, Plane

Array = np.ndarray
TARGET = Path(__file__).parent.parent / "data" / "second_order_motions.json"
SAMPLE = 5e-4
MOTIONS: dict[str, dict[str, Any]] = {
    "fall": {"start": (-170, -10), "rates": (0.0, 0.0), "edges": (0.0, 0.1, 0.2, 0.4), "torques": (0.0, 20.0, 0.0)},
    "pick_and_place": {
        "start": (-140, -40),
        "rates": (3.0, -3.0),
        "edges": tuple(k / 10 for k in range(11)),
        "torques": (15.0, -5.0) * 5,
    },
}


def tip(name: str, fineness: int, rtol: float, until: float = 1.0) -> dict[str, Array]:
    """Times, positions and accelerations of PacDrive's tip; at an edge of the torque the sample after it counts."""
    motion = MOTIONS[name]
    robot = pacdrive.robot(*np.radians(motion["start"]), fineness)
    q = robot.plane.equilibrium(robot.motors)
    v = robot.rates(q, motion["rates"])
    parts = []
    for begin, end, torque in zip(motion["edges"], motion["edges"][1:], motion["torques"], strict=False):
        if begin >= until:
            break
        drive = np.zeros(len(q))
        drive[robot.motors] = -torque, torque
        times = begin + SAMPLE * np.arange(round((end - begin) / SAMPLE) + 1)
        times[-1] = end
        Q, V, A = robot.plane.move(q, v, (begin, end), times, lambda t, drive=drive: drive, rtol=rtol)
        q, v = Q[-1], V[-1]
        at = slice(robot.pins["T"], robot.pins["T"] + 2)
        parts.append({"t": times[:-1], "p": Q[:-1, at], "a": A[:-1, at]})
        print(f"{name} {fineness}: {end:.1f} s, peak {np.linalg.norm(A[:, at], axis=1).max():.2f} m/s^2", flush=True)
    return {key: np.concatenate([part[key] for part in parts]) for key in ("t", "p", "a")}


def turn(t: float) -> tuple[float, float, float]:
    """Angle, rate and acceleration of the shaft (Simo & Vu-Quoc 1986)."""
    w = 2 * math.pi / 15
    if t > 15:
        return 6 * t - 45, 6.0, 0.0
    angle = 0.4 * (t**2 / 2 + (math.cos(w * t) - 1) / w**2)
    return angle, 0.4 * (t - math.sin(w * t) / w), 0.4 * (1 - math.cos(w * t))


def spin_up(count: int, rtol: float = 1e-4, end: float = 20.0, every: float = 0.01) -> dict[str, Array]:
    """The tip seen from the shaft's frame: along and across it, over time. Across is the lag."""
    beam = Beam(2.8e7, 1e7, 1.2, 1.0, 5e-4, 5e-4, 1e-3, ky=1.0, kz=1.0)
    coordinates = np.array([c for k in range(count + 1) for c in (10.0 * k / count, 0.0, 0.0)])
    bars = [Bar(tuple(range(3 * k, 3 * k + 6)), (0.0, 0.0), 10.0 / count, beam) for k in range(count)]
    plane = Plane(coordinates, np.arange(3, len(coordinates)), bars)

    def given(t: float) -> tuple[Array, Array, Array]:
        made = np.zeros((3, len(coordinates)))
        made[:, 2] = turn(t)
        return made[0], made[1], made[2]

    times, still = np.linspace(0, end, round(end / every) + 1), np.zeros(len(coordinates))
    Q, _, _ = plane.move(coordinates, still, (0, end), times, lambda t: still, given, rtol=rtol)
    angles = np.array([turn(t)[0] for t in times])
    x, y = Q[:, -3], Q[:, -2]
    return {
        "t": times,
        "along": np.cos(angles) * x + np.sin(angles) * y - 10,
        "across": np.cos(angles) * y - np.sin(angles) * x,
    }


def _spin_record(count: int) -> dict[str, Any]:
    found = spin_up(count)
    k = int(found["across"].argmin())
    late = found["t"] >= 18
    return {
        "elements": count,
        "peak lag": round(float(found["across"][k]), 6),
        "at": round(float(found["t"][k]), 3),
        "steady extension": float(f"{found['along'][late].mean():.6g}"),
        "t": [float(f"{t:.4g}") for t in found["t"][::25]],
        "lag": [float(f"{y:.5g}") for y in found["across"][::25]],
    }


@threadpool_limits.wrap(limits=1)
def main(fineness: int = 3, rtol: float = 1e-5) -> None:
    made: dict[str, Any] = {"source": "tests/judges/motions.py", "spin_up": _spin_record(8)}
    for name in MOTIONS:
        found = tip(name, fineness, rtol)
        size = np.linalg.norm(found["a"], axis=1)
        made[f"pacdrive {name}"] = {
            "fineness": fineness,
            "sample": SAMPLE,
            "peak": round(float(size.max()), 2),
            "at": round(float(found["t"][size.argmax()]), 4),
            "ax": [round(float(x), 2) for x in found["a"][:, 0]],
            "ay": [round(float(x), 2) for x in found["a"][:, 1]],
        }
    TARGET.write_text(json.dumps(made) + "\n")


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:]))
