"""A finer mesh costs nothing at run time: the flexible-platform robot with a plate meshed coarsely and four times finer.

    python bench/mesh_refinement.py

Prints nodes, operations of the inverse model (as derived, and after the optimiser), evaluations and best time of the
simulated motion `poses`, and exits with 1 unless the derived count and the evaluations are equal and the times within 25 %.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from supple.backends.stepping.settings import Settings
from supple.expr.passes import optimise
from supple.machine import Machine, locate
from supple.models import inverse
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator

LEVELS = {"coarse": 2, "four times the nodes": 3}


def main() -> int:
    text = locate("gough_stewart_plate").read_text(encoding="utf-8")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, level in LEVELS.items():
            file = Path(folder) / f"level{level}.yaml"
            file.write_text(
                text.replace("element: mindlin", "element: kirchhoff").replace("refine: 0", f"refine: {level}"),
                encoding="utf-8",
            )
            model = Machine.read(file).model()
            derived = inverse(model.mechanism)
            made = simulator(Machine.read(file), "poses")
            runs = [integrate(made, Settings(step=2e-3)).summary for _ in range(7)]
            best = min(r["wall_time_s"] for r in runs)
            counts = (derived.operations, optimise(derived).function.operations, runs[0]["evaluations"])
            found[name] = (*counts, best)
            print(
                f"{name:22s} derived {counts[0]}, optimised {counts[1]}, {counts[2]} evaluations, best {1e3 * best:.1f} ms"
            )
    (a, _, ea, ta), (b, _, eb, tb) = found.values()
    return 0 if a == b and ea == eb and 0.75 < ta / tb < 1.33 else 1


if __name__ == "__main__":
    sys.exit(main())
