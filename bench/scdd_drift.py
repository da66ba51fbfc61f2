"""How far the chains of a five-bar drift apart in 100 000 steps of each variant of SCDD (fig. 4 of Stachera & Schumacher).

    python bench/scdd_drift.py [STEPS]

The elastic five-bar of the gallery, rigid and with its springs, shaken by torques of 2 Hz while its motors hold it near
home by a soft feedback."""

from __future__ import annotations

import sys
import time

import numpy as np

from supple.backends.native import native
from supple.formulations.scdd import VARIANTS, step_model
from supple.machine import Machine
from supple.model.posture import posture

GAIN = 20.0  # 1/s, of Baumgarte's feedback


def largest_gap(variant: str, rigid: bool, h: float, steps: int) -> tuple[float, float, float]:
    """Gap at the end, largest gap (m) and microseconds per step."""
    model = Machine.read("five_bar_elastic").model(rigid=rigid)
    step = native(step_model(model.mechanism, variant))
    q, v = posture(model), np.zeros(model.nv)
    motors = [f.q.start for f in model.mechanism.frames if f.v.stop > f.v.start and f.v.start in model.active]
    lam, home = model.forward(q, v, np.array([2.0, -1.4])).reactions, q[motors]
    gap = worst = 0.0
    start = time.perf_counter()
    for k in range(steps):
        tau = 2.0 * np.cos(4 * np.pi * k * h) * np.array([1, -0.7]) - 20 * (q[motors] - home) - v[model.active]
        found = step(q=q, v=v, lam=lam, tau=tau, g=model.gravity, h=h, gain=GAIN)
        q, v, lam = found["q"], found["v"], found["lam"]
        gap = float(np.linalg.norm(found["gap"]))
        worst = max(worst, gap)
    return gap, worst, 1e6 * (time.perf_counter() - start) / steps


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for rigid, intervals in ((True, (8e-4, 4e-4, 2e-4)), (False, (2e-5, 1e-5))):
        print(f"five-bar, {'rigid' if rigid else 'elastic'}")
        for variant in VARIANTS:
            for h in intervals if variant == "as_printed" else intervals[-1:]:
                # as printed: the same time with every interval, the finest with all the steps
                count = round(steps * intervals[-1] / h) if variant == "as_printed" else steps
                gap, worst, cost = largest_gap(variant, rigid, h, count)
                what = f"  {variant:21s} h {h:7.1e} s, {count:7d} steps"
                print(f"{what}: gap {gap:8.2e} m, largest {worst:8.2e}, {cost:5.1f} us/step", flush=True)


if __name__ == "__main__":
    main()
