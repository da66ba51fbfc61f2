"""DualEMPS along a measured motion: the square from encoder samples with noise, filtered, beside the square itself.

    python bench/measured_motion.py [NOISE_UM [CUTOFF_HZ ...]]

The encoders rest for 0.2 s before the square begins, as recorders do. Printed: differences of motor forces and of the tip's
acceleration from those of the clean motion, as root mean squares and peaks relative to the largest clean value."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import supple

REST, RATE, LENGTH = 0.2, 1000.0, 12.5  # s, Hz, s: two sides of the square
SIGNALS = (("tau:q11", None), ("tau:q21", None), ("point_acceleration:P", 0), ("point_acceleration:P", 2))


def main() -> None:
    noise = float(sys.argv[1]) * 1e-6 if len(sys.argv) > 1 else 1e-6
    cutoffs = [float(x) for x in sys.argv[2:]] or [20.0]
    robot = supple.Robot("dualemps")
    path = robot.motion("square").path
    assert path is not None
    t = np.arange(0, LENGTH + REST, 1 / RATE)
    clean = path(np.maximum(t - REST, 0.0))[0]
    known = robot.inverse("square", duration=LENGTH)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "encoders.csv"
        rng = np.random.default_rng(0)
        rows = np.column_stack([t, clean + noise * rng.standard_normal(clean.shape)])
        np.savetxt(table, rows, delimiter=",", header="t,q11,q21", comments="", fmt="%.12g")
        print(f"noise {1e6 * noise:g} um at {RATE:g} Hz; RMS and peak errors, % of the largest clean value")
        for cutoff in cutoffs:
            found = robot.inverse(table, filter=cutoff)
            start = int(REST * RATE)
            print(f"{cutoff:5g} Hz", end="")
            for name, axis in SIGNALS:
                a, b = (x[name] if axis is None else x[name][:, axis] for x in (found, known))
                error = (a[start : start + len(b)] - b[: len(a) - start]) / np.abs(b).max()
                label = name.partition(":")[0].replace("point_acceleration", "tip")
                print(f"  {label} {100 * np.sqrt((error**2).mean()):.2f} {100 * np.abs(error).max():.2f}", end="")
            print()


if __name__ == "__main__":
    main()
