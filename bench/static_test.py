"""Surgiscope's static test of Rognant et al. (2010), rehearsed: which combinations of joint stiffnesses come back.

    python bench/static_test.py [POINTS [NAMES]]

-200 N along z, displacements of the tool at POINTS places (11) with y = -x, z = -1.478 m and 2 um of noise; joint
stiffnesses NAMES (all 21) of the robot that is pressed differ by 20 % from those of the file, which `identify` starts from
and takes as known to 30 %.
Printed: every combination that the data hold to better than 10 %, as a sum of compliances (of which displacements are nearly
linear functions, as they are not of logarithms), its error and its deviation, and how well the fitted robot
predicts as many other places, y = x, z = -1.326 m, beside what the file predicts."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import supple
from supple.measured.instrumented import instrumented
from supple.measured.statics import static_displacements
from supple.measured.test import read_test

ALL = [f"k{kind}{joint}" for joint in range(1, 8) for kind in "rat"]
TEST = """sensors:
  tool: {point: E, kind: displacement}
exciters:
  press: {point: E, direction: z, kind: force}
static:
  line: {table: points.csv, sensor: tool, exciter: press, force: -200 N, deviation: 2 um}
"""


def places(count: int, side: float, z: float) -> np.ndarray:
    x = np.linspace(-0.25, 0.25, count)
    return np.column_stack([x, side * x, np.full(count, z)])


def moved(robot: supple.Robot, test: Path, at: np.ndarray) -> np.ndarray:
    read = read_test(test, robot.description, robot.mechanism())
    poses = [dict(zip("xyz", row, strict=True)) for row in at]
    return static_displacements(instrumented(robot, read).model(), poses, read.inputs[0], -200.0, read.outputs)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    names = sys.argv[2].split(",") if len(sys.argv) > 2 else ALL
    file = supple.Robot("surgiscope")
    factors = dict(zip(names, np.exp(0.2 * np.random.default_rng(0).standard_normal(len(names))), strict=True))
    real = file.changed({n: factors[n] * file.parameters[n] for n in names})
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / "test.yaml"
        test.write_text(TEST + "priors:\n" + "".join(f"  {n}: {{deviation: 0.3}}\n" for n in names))
        np.savetxt(test.with_name("points.csv"), places(count, -1, -1.478), delimiter=",", header="x,y,z", comments="")
        real.test(test, output=test.with_name("measured.uff"), seed=1)
        found = file.identify(test.with_name("measured.yaml"), names, report=lambda text: print(text, flush=True))
        truth = np.log([factors[n] for n in names])
        ratios = found.values / found.start / np.exp(truth)
        print("fitted / true:", " ".join(f"{n} {x:.4f}" for n, x in zip(names, ratios, strict=True)))
        fitted = np.log(found.values / found.start)
        print(f"{found.known} combinations known; chi^2 {found.chi_squared:.1f} of {found.freedom}")
        for deviation, weights in found.combinations:
            if deviation < 0.1:
                error = float(weights @ (1 - np.exp(fitted - truth)) / -np.abs(weights).sum())
                print(f"  error {100 * error:+.3f} %  deviation {100 * deviation / np.abs(weights).sum():.3f} %  "
                      + " ".join(f"{w:+.2f} {n}" for n, w in zip(names, weights, strict=True) if abs(w) > 0.2))  # fmt: skip
        others = places(count, 1, -1.326)
        known = moved(real, test, others)
        for label, robot in (("file", file), ("fitted", file.changed(dict(zip(found.names, found.values, strict=True))))):
            error = moved(robot, test, others) - known
            print(f"{label} at the other places: {1e6 * np.sqrt((error**2).mean()):.2f} um RMS of "
                  f"{1e6 * np.sqrt((known**2).mean()):.0f} um")  # fmt: skip


if __name__ == "__main__":
    main()
