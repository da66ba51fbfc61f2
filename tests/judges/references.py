"""Makes data/second_order.json: natural frequencies of loaded frames, from the judges.

    cd tests && python -m judges.references

Two minutes. Frequencies in Hz, loads in N, lengths in m; what a case is made of stands in judges/systems.py.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from judges import ritz, systems
from judges.frame import Frame

TARGET = Path(__file__).parent.parent / "data" / "second_order.json"
EULER = {"pinned": 1.0, "free": 0.25, "clamped": 4.0}  # Pcr L^2 / (pi^2 EI)
RATIOS = (-1.0, -0.5, -0.25, -0.01, 0.01, 0.25, 0.5, 0.75, 0.9)
ETAS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12)
POSES = {"home": (0, 0, -0.6), "aside": (0.1, 0.05, -0.65)}


def loaded(frame: Frame, count: int, steps: int = 2) -> list[float]:
    """Frequencies about the equilibrium under the frame's loads."""
    return _round(frame.frequencies(frame.equilibrium(steps), count))


def _round(values: Any) -> list[float]:
    return [float(f"{x:.9g}") for x in values]


def columns() -> dict[str, Any]:
    """(f/f0)^2 of the first mode over P/Pcr: frame of 16 elements in the plane and in space, and the Ritz method."""
    made: dict[str, Any] = {"P/Pcr": RATIOS}
    beam = systems.COLUMN
    for ends, factor in EULER.items():
        critical = factor * math.pi**2 * beam.E * beam.Iz
        unloaded = ritz.column(ends, 0.0)[0]
        squares = [
            math.copysign((w / unloaded) ** 2, w) for w in (ritz.column(ends, r * factor * math.pi**2)[0] for r in RATIOS)
        ]
        made[ends] = {"Pcr": critical, "ritz": _round(squares)}
        for planar in (True, False):
            at_rest = loaded(systems.column(ends, 0.0, 16, planar), 1, 1)[0]
            found = [loaded(systems.column(ends, r * critical, 16, planar), 1, 1)[0] for r in RATIOS]
            made[ends]["planar" if planar else "spatial"] = _round(math.copysign((f / at_rest) ** 2, f) for f in found)
    return made


def heavy() -> dict[str, Any]:
    """First three frequencies of a strip of 2 m that hangs or stands, by a frame of 16 elements and by Ritz."""
    made: dict[str, Any] = {}
    beam, length = systems.HEAVY, 2.0
    unit = math.sqrt(beam.E * beam.Iz / (beam.rho * beam.area * length**4)) / (2 * math.pi)
    for ends in ("pinned", "free"):
        for gravity in (9.81, 0.0, -1.0, -9.81):
            weight = beam.rho * beam.area * gravity * length**3 / (beam.E * beam.Iz)
            exact = ritz.heavy(ends, weight)  # the far end slides, so the root carries all of the weight
            frame = loaded(systems.heavy_beam(ends, gravity, 16, True), 3, 1)
            made[f"{ends} {gravity:g}"] = {"frame": frame, "ritz": _round(exact * unit)}
    return made


def blade() -> dict[str, Any]:
    """Flapwise and in-plane frequencies over the spin rate, all in sqrt(EI / rho A L^4), hub of no radius."""
    return {
        "eta": ETAS,
        "flap": [_round(ritz.rotating(eta)) for eta in ETAS],
        "in_plane": [_round(ritz.rotating(eta, in_plane=True)) for eta in ETAS],
    }


def dualemps() -> dict[str, Any]:
    """f1 to f6 without and with 9.81 m/s^2 along +z0, 8 and 16 elements per blade, E = 74 GPa."""
    made: dict[str, Any] = {}
    for name, table in (("printed", systems.AS_PRINTED), ("shipped", systems.AS_SHIPPED)):
        for count in (8, 16):
            still = loaded(systems.dualemps(0.0, count, table), 6, 1)
            bent = loaded(systems.dualemps(9.81, count, table), 6)
            made[f"{name} {count}"] = {"unloaded": still, "loaded": bent, "shift": _round(np.subtract(bent, still))}
    return made


def delta() -> dict[str, Any]:
    """The first 20 frequencies under its weight alone, and with 200 N more; modes 3 to 14 are those of the rods."""
    made: dict[str, Any] = {"poses": POSES}
    for name, at in POSES.items():
        for count in (4, 8):
            made[f"{name} {count}"] = {
                "weightless": loaded(systems.delta(0.0, count, at, gravity=0.0), 20, 1),
                "weight": loaded(systems.delta(0.0, count, at), 20, 1),
                "weight - 200 N": loaded(systems.delta(-200.0, count, at), 20),
            }
    return made


def stewart() -> dict[str, Any]:
    """The first 24 frequencies under its weight alone, and with 1 kN pressing or pulling; modes 1 to 14 bend the legs."""
    return {
        str(count): {
            "weightless": loaded(systems.stewart(0.0, count, gravity=0.0), 24, 1),
            "weight": loaded(systems.stewart(0.0, count), 24, 1),
            "weight - 1 kN": loaded(systems.stewart(-1000.0, count), 24),
            "weight + 1 kN": loaded(systems.stewart(1000.0, count), 24),
        }
        for count in (4, 8)
    }


CASES = {"columns": columns, "heavy": heavy, "blade": blade, "dualemps": dualemps, "delta": delta, "stewart": stewart}


@threadpool_limits.wrap(limits=1)
def main() -> None:
    made: dict[str, Any] = {"source": "tests/judges/references.py"}
    for name, case in CASES.items():
        made[name] = {"about": (case.__doc__ or "").strip(), **case()}
        print(name, flush=True)
    TARGET.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
