"""The plant and the controller as C against `supple simulate`, and the longest step.

    python bench/plant.py [STEPS]      # 1000000 if not given

DualEMPS under a pd controller at 10 kHz along a path: the exported plant and the exported controller, in one C program, step
by step; and `supple simulate --step 0.1ms --tol 1e-9` of the same motion. What differs most of all coordinates every 1000
steps is printed, then the processor time of the steps.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import supple

MOTION = """
signals:
  q11: {sine: {amplitude: 20 mm, frequency: 0.7 Hz, fade: 0.5 s}}
  q21: {sine: {amplitude: 15 mm, frequency: 1.1 Hz, fade: 0.5 s}}
duration: %g s
controller: {pd: {kp: 2e5 N/m, kd: 3e3 N*s/m, sample: 0.1 ms}}
"""
LOOP = """
#include <string.h>
#include "dualemps_plant.h"
#include "dualemps_controller.h"
int loop(long steps, long every, double *out)
{
    static dualemps_plant robot;
    dualemps_controller law;
    double q[2], v[2], tau[2], all[DUALEMPS_PLANT_Q], rates[DUALEMPS_PLANT_V];
    int outcome = dualemps_plant_init(&robot, 1e-4);
    dualemps_controller_init(&law);
    for (long k = 0; k < steps && !outcome; k++) {
        dualemps_plant_actuators(&robot, q, v);
        dualemps_controller_step(&law, q, v, tau);
        outcome = dualemps_plant_step(&robot, tau, 1e-4);
        if ((k + 1) % every == 0) {
            dualemps_plant_state(&robot, all, rates);
            memcpy(out, all, sizeof all);
            out += DUALEMPS_PLANT_Q;
        }
    }
    return outcome;
}
"""
STRICT = ("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off")


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    robot = supple.Robot("dualemps")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "motion.yaml").write_text(MOTION % (steps * 1e-4))
        robot.generate("plant", "c", folder)
        robot.generate("controller", "c", folder, motion=str(folder / "motion.yaml"))
        (folder / "loop.c").write_text(LOOP)
        sources = ["loop.c", "dualemps_plant.c", "dualemps_controller.c"]
        subprocess.run([*STRICT, "-shared", "-fPIC", *sources, "-o", "loop.so", "-lm"], cwd=folder, check=True)
        subprocess.run([*STRICT, "main.c", "dualemps_plant.c", "-o", "plant", "-lm"], cwd=folder, check=True)
        every = min(1000, steps)
        out = np.zeros((steps // every, robot.model().mechanism.nq))
        outcome = ctypes.CDLL(str(folder / "loop.so")).loop(steps, every, out.ctypes.data_as(ctypes.c_void_p))
        made = robot.simulate(folder / "motion.yaml", method="radau", step="0.1 ms", tol=1e-9, every=every * 1e-4)
        off = np.abs(made["position"][1 : len(out) + 1] - out).max()
        print(
            f"{steps} steps, outcome {outcome}: largest difference of any coordinate from supple simulate {off:.2e} m or rad"
        )
        for hertz in ("1000", "10000"):
            print(subprocess.run(["./plant", hertz, "20000"], cwd=folder, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
