"""How heavy should a platform be? First frequency of gough_stewart_flexible over the thickness of its plate.

A thicker plate bends less and weighs more: the first frequency rises as long as the plate's bending makes it, and falls when
legs and joints have to carry the mass. Below: which of them hold the elastic energy of the first mode.

    python bench/platform_mass.py FOLDER
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

from supple.analyses.modes import modes
from supple.machine import Machine

ROBOT = "gough_stewart_flexible"
THICKNESS = np.array([8, 12, 16, 20, 25, 32, 40, 55, 75, 100]) * 1e-3
STIFF = 70e9 * 1e3  # of the plate that is as good as rigid

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Study:
    thickness: Array  # m
    mass: Array  # of the plate, kg
    frequency: Array  # Hz
    rigid: Array  # Hz, with a rigid plate of the same mass
    shares: dict[str, Array]  # of the first mode's elastic energy


def study(thickness: Array = THICKNESS) -> Study:
    """First frequencies and energy shares for each thickness."""
    mass, found, rigid = [], [], []
    shares: dict[str, list[float]] = {}
    for t in thickness:
        model = Machine.read(ROBOT, {"thickness": float(t)}).model()
        first = modes(model, count=1)
        mass.append(float(model.mechanism.frames[model.mechanism.platform or 0].body.mass))
        found.append(first.frequencies_hz[0])
        rigid.append(
            modes(Machine.read(ROBOT, {"thickness": float(t), "E_plate": STIFF}).model(), count=1).frequencies_hz[0]
        )
        for kind, share in first.elastic_by_kind.items():
            shares.setdefault(kind, []).append(float(share[0]))
    return Study(
        thickness, np.array(mass), np.array(found), np.array(rigid), {kind: np.array(x) for kind, x in shares.items()}
    )


def figure(made: Study, folder: Path) -> Path:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sheet, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
    top.plot(made.mass, made.frequency, "o-", label="flexible plate")
    top.plot(made.mass, made.rigid, "--", color="grey", label="rigid plate of the same mass")
    top.set_ylabel("first frequency (Hz)")
    bottom.stackplot(made.mass, *(100 * x for x in made.shares.values()), labels=list(made.shares), alpha=0.8)
    bottom.set_ylabel("elastic energy of the first mode (%)")
    bottom.set_xlabel("mass of the platform (kg)")
    bottom.set_ylim(0, 100)
    for axis in (top, bottom):
        axis.set_xscale("log")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    ticks = [20, 30, 50, 70, 100, 150, 200]
    bottom.set_xticks(ticks, [str(x) for x in ticks])
    bottom.minorticks_off()
    bottom.set_xlim(made.mass[0], made.mass[-1])
    path = folder / "platform_mass.png"
    sheet.savefig(path, dpi=110)
    plt.close(sheet)
    return path


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    made = study()
    print("thickness (mm)  mass (kg)  first (Hz)  rigid plate (Hz)  " + "  ".join(f"{k:>8}" for k in made.shares))
    for k, t in enumerate(made.thickness):
        parts = "  ".join(f"{100 * x[k]:7.1f}%" for x in made.shares.values())
        print(f"{1e3 * t:14.0f}  {made.mass[k]:9.2f}  {made.frequency[k]:10.2f}  {made.rigid[k]:16.2f}  {parts}")
    print(f"wrote {figure(made, folder)}")


if __name__ == "__main__":
    main()
