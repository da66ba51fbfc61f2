"""Energy and closed loops of undamped robots over a million steps.

    python bench/conservation.py [--steps 1000000] [CASE ...]

Gauss' method with fixed steps. Prints, for every case, the largest error of the energy (relative to the largest kinetic
energy), what a line through the error gains over the run (drift), and the largest opening of a loop. Twenty minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from undamped import CASES, energy  # of the tests, which run the same cases for fewer steps

BOUND, OPEN = 1e-6, 1e-10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--steps", type=int, default=1_000_000)
    asked = parser.parse_args()
    fine = True
    for name in asked.cases:
        with tempfile.TemporaryDirectory() as folder:
            e = energy(CASES[name], Path(folder), asked.steps)
        s = e.found.summary
        kept = e.error < BOUND and e.drift < BOUND and e.closure < OPEN and e.found.complete and s["steps"] == asked.steps
        fine &= kept
        print(
            f"{name:18}  {s['steps']} steps of {s['step_s']:g} s, {s['newton_iterations'] / s['steps']:.2f} iterations, "
            f"{s['wall_time_s']:.0f} s: energy error {e.error:.1e}, drift {e.drift:.1e}, loops open {e.closure:.1e}"
            f"{'' if kept else '  NOT KEPT: ' + e.found.outcome}",
            flush=True,
        )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
