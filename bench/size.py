"""Sizing by exact derivatives beside a grid and beside scipy's differential evolution, on 3prr and on surgiscope's arms.

    python bench/size.py [3prr] [surgiscope]     # minutes each

Designs that are looked at are counted, each in all poses; the time of one differs (derivatives or not), so both are told.
Differential evolution, with wants as penalties, stops when it is within 0.01 % of the optimum of the gradient runs.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

from supple.analyses.size import size
from supple.core.core import Core
from supple.core.quantities import evaluated, quantity
from supple.machine import Machine
from supple.studies.designs import limits

Numbers = np.ndarray[Any, np.dtype[np.float64]]
CASES: dict[str, dict[str, Any]] = {
    "3prr": {
        "free": {"h": "10mm:60mm", "w": "1mm:4mm"},
        "want": ["f1>=80 Hz", "deflection(tool)<=0.1 mm"],
        "over": {"leg1/s": [0.2, 0.26], "leg2/s": [0.2, 0.26], "leg3/s": [0.24]},
        "loads": {"tool": [50.0, 0.0, -50.0]},
        "grid": 41,
    },
    "surgiscope": {
        "free": {"side": "30mm:120mm", "wall": "1mm:8mm"},
        "want": ["f1>=16 Hz", "deflection(E)<=0.4 mm"],
        "over": {"x": [0.0, 0.2], "y": [0.0], "z": [-1.1]},
        "loads": {"E": [0.0, 0.0, -20.0]},
        "grid": 11,
    },
}  # fmt: skip
SIGNS = {">=": 1.0, "<=": -1.0}


class Designs:
    """Mass and how far wants are broken, of designs (n, parameters), by the compiled core without derivatives."""

    def __init__(self, name: str, case: dict[str, Any], wants: Any) -> None:
        robot = Machine.read(name).keeping(tuple(case["free"]))
        self.limits = np.array([limits(robot, n, text, "free") for n, text in case["free"].items()])
        axes = np.meshgrid(*case["over"].values(), indexing="ij")
        self.poses = np.column_stack([x.ravel() for x in axes])
        self.core = Core(robot, tuple(case["over"]))
        self.wants, self.count = wants, 0
        self.asked = [quantity(self.core, text) for text in ("mass", *(w.quantity for w in wants))]
        points = list(robot.mechanism().points)
        self.w = np.zeros((len(points), 6))
        for point, force in case["loads"].items():
            self.w[points.index(point), : len(force)] = force

    def __call__(self, designs: Numbers) -> tuple[Numbers, Numbers]:
        n, m = len(designs), len(self.poses)
        self.count += n
        poses, p = np.tile(self.poses, (n, 1)), np.repeat(designs, m, axis=0)
        found = evaluated(self.core, self.asked, poses, p, self.w.reshape(1, -1), 1)[1]
        mass, *others = (x.reshape(n, m) for x in found)
        broken = np.zeros(n)
        for want, x in zip(self.wants, others, strict=True):
            margin = SIGNS[want.relation] * (x - want.limit) / abs(want.limit)
            broken = np.maximum(broken, -np.where(np.isfinite(margin), margin, -1.0).min(axis=1))
        return mass[:, 0], broken


def main() -> None:
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        begin = time.process_time()
        found = size(
            Machine.read(name), case["free"], case["want"], least="mass", over=case["over"], loads=case["loads"], starts=3
        )
        spent = time.process_time() - begin
        values = ", ".join(f"{k} = {x * 1e3:.4f} mm" for k, x in found.values.items())
        held = [w.text for w in found.wants if w.active] + list(found.at_limit)
        one = found.starts[0].evaluations
        print(f"{name}: least mass {found.value:.6f} kg at {values}; held by {', '.join(held)}; wants met: {found.met}")
        print(f"  gradients: {one} designs in the first run, {found.evaluations} in three starts, {spent:.1f} s", flush=True)
        designs = Designs(name, case, found.wants)
        check_grid(designs, case["grid"], found.value)
        evolve(designs, found.value, one, found.evaluations)


def check_grid(designs: Designs, n: int, optimum: float) -> None:
    """No design of a grid that keeps the wants is lighter, and the best of them is near."""
    axes = np.meshgrid(*(np.linspace(a, b, n) for a, b in designs.limits), indexing="ij")
    table = np.column_stack([x.ravel() for x in axes])
    begin = time.process_time()
    mass, broken = designs(table)
    kept = broken <= 1e-9
    best = int(np.where(kept, mass, np.inf).argmin())
    print(
        f"  grid of {len(table)}: {int(kept.sum())} keep the wants, the lightest has {mass[best]:.6f} kg at "
        f"{np.round(table[best] * 1e3, 3).tolist()} mm, {(mass[best] / optimum - 1) * 100:+.3f} % of the optimum; "
        f"{time.process_time() - begin:.1f} s",
        flush=True,
    )
    assert mass[best] >= optimum * (1 - 1e-6)


def evolve(designs: Designs, optimum: float, one: int, all_starts: int) -> None:
    designs.count, done = 0, []

    def cost(x: Numbers) -> Numbers:
        mass, broken = designs(x.T if x.ndim == 2 else x[None])
        done.extend((mass[broken <= 1e-6] / optimum - 1).tolist())
        made: Numbers = mass / optimum + 10 * np.maximum(broken - 1e-6, 0)
        return made if x.ndim == 2 else made[0]

    begin = time.process_time()
    differential_evolution(
        cost, designs.limits.tolist(), seed=1, polish=False, vectorized=True, updating="deferred", maxiter=200, tol=0,
        callback=lambda *_, **__: bool(done) and min(done) < 1e-4,
    )  # fmt: skip
    spent = time.process_time() - begin
    print(
        f"  differential evolution: {designs.count} designs to {min(done) * 100:+.4f} %, {spent:.1f} s, "
        f"{designs.count / one:.0f} times those of one gradient run, {designs.count / all_starts:.0f} times those of three",
        flush=True,
    )


if __name__ == "__main__":
    main()
