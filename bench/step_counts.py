"""Steps of Radau's method and of generalised-alpha, the default before it, for the same error.

    python bench/step_counts.py [WORD ...]

The cases are those on which generalised-alpha could not be trusted: a blow, jumps of acceleration, a torque step, stiff and
nearly singular motions (`tolerances.py` has them and judges errors). Both methods run with tolerances half a decade apart;
the steps for the error that Radau's method makes at its default are interpolated. Where generalised-alpha does not come so
far within MOST steps, its smallest error is taken; and that of the bar of 2 %. Words choose cases.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from tolerances import CASES, Case, Found, errors, ready, run

from supple.backends.stepping.settings import Settings
from supple.simulation.simulator import Simulator

NAMES = (
    "blow: five_bar",
    "dualemps, square_trapezoidal",
    "torque step: two-link arm",
    "stiff: pacdrive, fall, E x 1000",
    "near-singular: pacdrive, fall to 1 s",
    "surgiscope, pick_and_place",
)
MOST = 600_000
ROUGH = 0.02
Curve = list[tuple[int, float]]  # steps, error


def curve(made: Simulator, method: str, tolerances: list[float], true: Found, least: float) -> Curve:
    """Steps and errors of the accelerations, until the error is below `least` or steps are too many."""
    found: Curve = []
    for tolerance in tolerances:
        one = run(made, Settings(method, tolerance=tolerance), MOST)
        if one.steps >= MOST:
            break
        if one.outcome == "done":
            found.append((one.steps, errors(one, true)["accelerations"]))
            print(f"  {method} {tolerance:.0e}: {one.steps} steps, {found[-1][1]:.2e}", file=sys.stderr, flush=True)
            if found[-1][1] < least:
                break
    return found


def steps_for(error: float, made: Curve) -> float:
    """Steps at which the error first stays below a level, between those that were run (power law)."""
    above = max((k for k, (_, e) in enumerate(made) if e > error), default=-1)
    if above < 0:
        return float(made[0][0])
    if above + 1 == len(made):
        return float("nan")
    (n, e), (m, f) = made[above], made[above + 1]
    return float(n * (m / n) ** (np.log(e / error) / np.log(e / f)))


def given_up(made: Simulator, true: Found) -> str:
    """How far generalised-alpha came before it took too many steps, and how far off it was by then."""
    one = run(made, Settings("generalised_alpha", tolerance=1e-4), MOST)
    rows = min(len(one.time), len(true.time))
    off = np.abs(one.positions[:rows] - true.positions[:rows]).max()
    return f"{one.steps} to {one.time[-1]:.3g} s, {1e3 * off:.3g} mm off"


def judge(case: Case) -> list[list[str]]:
    """Rows: errors, and the steps of both methods for them."""
    with tempfile.TemporaryDirectory() as folder:
        made = ready(case, Path(folder))
        true = run(made, case.reference)
        usual = errors(run(made, Settings()), true)["accelerations"]
        old = curve(made, "generalised_alpha", [10.0 ** (-k / 2) for k in range(6, 17)], true, usual)
        new = curve(made, "radau", [10.0 ** (-k / 2) for k in range(3, 15)], true, 0.3 * usual)
    best = 1.0001 * max(usual, min((e for _, e in old), default=np.inf))
    if not np.isfinite(best):
        return [[case.name, f"{100 * usual:.2g} %", f"{steps_for(usual, new):.0f}", given_up(made, true), ""]]
    rows = []
    for level in (best, ROUGH) if best < ROUGH / 2 else (best,):
        one, two = steps_for(level, new), steps_for(level, old)
        rows.append([case.name, f"{100 * level:.2g} %", f"{one:.0f}", f"{two:.0f}", f"{two / one:.1f}"])
    return rows


def main() -> int:
    chosen = [c for c in CASES if c.name in NAMES and (not sys.argv[1:] or any(w in c.name for w in sys.argv[1:]))]
    head = ["case", "error of accelerations", "Radau", "generalised-alpha", "ratio"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    with threadpool_limits(1):
        for case in chosen:
            for row in judge(case):
                print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
