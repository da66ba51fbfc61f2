"""The plant and the controller as C against `supple simulate`, and the longest step.

    python bench/plant.py [ROBOT] [STEPS] [elsewhere]      # dualemps, 1000000 if not given

A robot under a pd controller at 10 kHz along a path: the exported plant and the exported controller, in one C program, step
by step; and `supple simulate --step 0.1ms --tol 1e-9` of the same motion. What differs most of coordinates and points every
1000 steps is printed, and the processor time of the steps while it moves; then what the plant asks of the linker, the
processor time of steps of the robot held by springs, and a loop by the clock.
elsewhere: the same program under sanitisers (as many steps) and, by zig and qemu-user, on ARM (a hundredth of
them, at least 1000).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import supple

MOTIONS = {
    "dualemps": """
signals:
  q11: {sine: {amplitude: 20 mm, frequency: 0.7 Hz, fade: 0.5 s}}
  q21: {sine: {amplitude: 15 mm, frequency: 1.1 Hz, fade: 0.5 s}}
duration: %g s
controller: {pd: {kp: 2e5 N/m, kd: 3e3 N*s/m, sample: 0.1 ms}}
""",
    "delta": """
space: platform
signals:
  x: {sine: {amplitude: 40 mm, frequency: 0.7 Hz, fade: 0.5 s}}
  y: {sine: {amplitude: 30 mm, frequency: 1.1 Hz, fade: 0.5 s}}
duration: %g s
controller: {pd: {kp: 300, kd: 5, sample: 0.1 ms}}
""",
}
LOOP = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "@_plant.h"
#include "@_controller.h"
#define ROW (NAMED(_PLANT_Q) + 3 * NAMED(_PLANT_POINTS))
static @_plant robot;
static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}
int main(int count, char **words)
{
    const long steps = atol(words[1]), every = atol(words[2]);
    FILE *file = fopen(words[3], "wb");
    static @_controller law;
    static double q[64], v[64], tau[64], all[4096], rates[4096];
    double total = 0.0, longest = 0.0, least = 0.0;
    long often = 0;
    long long most = 0;
    int outcome = @_plant_init(&robot, 1e-4);
    @_controller_init(&law);
    for (long k = 0; k < steps && !outcome && count > 3 && file; k++) {
        @_plant_actuators(&robot, q, v);
        @_controller_step(&law, q, v, tau);
        const long long before = @_plant_evaluations(&robot);
        const double begin = microseconds();
        outcome = @_plant_step(&robot, tau, 1e-4);
        const double took = microseconds() - begin;
        const long long made = @_plant_evaluations(&robot) - before;
        least = made > most || (made == most && took < least) ? took : least;
        often = made > most ? 1 : often + (made == most);
        most = made > most ? made : most;
        longest = took > longest ? took : longest;
        total += took;
        if ((k + 1) % every == 0) {
            @_plant_state(&robot, all, rates);
            @_plant_points(&robot, all + NAMED(_PLANT_Q), rates);
            if (fwrite(all, sizeof(double), ROW, file) != ROW)
                outcome = -1;
        }
    }
    if (count > 4)
        printf("moving: mean %.1f us, longest %.1f us; %ld steps make the most evaluations, %lld, in %.1f us at least\\n",
               total / (double)steps, longest, often, most, least);
    return outcome || !file || fclose(file);
}
"""
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off")
SANITISED = ("gcc", "-fsanitize=address,undefined", "-fno-sanitize-recover", "-g")
ARM = {"arm-linux-musleabihf": "qemu-arm", "aarch64-linux-musl": "qemu-aarch64"}
EVERY = 1000


def looped(
    folder: Path, name: str, compiler: tuple[str, ...], before: tuple[str, ...], steps: int, size: int, timed: bool = False
) -> np.ndarray:  # fmt: skip
    """Coordinates and places of points (samples, size) of so many steps by the program that a compiler makes; if `timed`, it
    prints how long they take."""
    sources = ["loop.c", f"{name}_plant.c", f"{name}_controller.c"]
    subprocess.run([*compiler, *STRICT, *sources, "-o", "loop", "-lm"], cwd=folder, check=True)
    every = str(min(EVERY, steps))
    told = ["timed"] if timed else []
    subprocess.run([*before, "./loop", str(steps), every, "states", *told], cwd=folder, check=True)
    return np.fromfile(folder / "states").reshape(-1, size)


def main() -> None:
    given = [a for a in sys.argv[1:] if a != "elsewhere"]
    name = next((a for a in given if a in MOTIONS), "dualemps")
    steps = next((int(a) for a in given if a.isdigit()), 1_000_000)
    robot = supple.Robot(name)
    nq, points = robot.model().mechanism.nq, len(robot.model().mechanism.points)
    size = nq + 3 * points
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "motion.yaml").write_text(MOTIONS[name] % (steps * 1e-4))
        robot.generate("plant", "c", folder)
        robot.generate("controller", "c", folder, motion=str(folder / "motion.yaml"))
        (folder / "loop.c").write_text(LOOP.replace("NAMED(", f"({name.upper()}").replace("@", name))
        out = looped(folder, name, ("gcc",), (), steps, size, timed=True)
        run = robot.simulate(folder / "motion.yaml", method="radau", step="0.1 ms", tol=1e-9, every=min(EVERY, steps) * 1e-4)
        places = run["point_position"][1 : len(out) + 1].reshape(len(out), -1)
        off, what = np.abs(places - out[:, nq:]).max(), "points"
        if run["position"].shape[1] == nq:  # no quaternions among them
            off, what = max(off, np.abs(run["position"][1 : len(out) + 1] - out[:, :nq]).max()), "coordinates and points"
        print(f"{name}: {steps} steps: {what} within {off:.2e} m or rad of supple simulate", flush=True)
        subprocess.run(["gcc", *STRICT, "-c", f"{name}_plant.c"], cwd=folder, check=True)
        asked = subprocess.run(["nm", "-u", f"{name}_plant.o"], cwd=folder, check=True, capture_output=True, text=True)
        print("the plant asks the linker for", ", ".join(sorted({x.split()[-1] for x in asked.stdout.splitlines()})))
        subprocess.run(["gcc", *STRICT, "main.c", f"{name}_plant.c", "-o", "plant", "-lm"], cwd=folder, check=True)
        for words in (["1000", "20000"], ["10000", "100000"], ["1000", "5000", "clock"], ["10000", "50000", "clock"]):
            told = subprocess.run(["./plant", *words], cwd=folder, check=True, capture_output=True, text=True)
            print(told.stdout.rstrip(), flush=True)
        if "elsewhere" in sys.argv:
            again = looped(folder, name, SANITISED, (), steps, size)
            print(f"under sanitisers: {steps} steps, off by {np.abs(again - out).max():.2e}", flush=True)
            for system, emulator in ARM.items():
                if shutil.which(emulator) is None:
                    print(f"{system}: no {emulator} here")
                    continue
                zig = (sys.executable, "-m", "ziglang", "cc", "-target", system, "-static")
                fewer = max(steps // 100, min(EVERY, steps))
                few = looped(folder, name, zig, (emulator,), fewer, size)
                print(f"{system}: {fewer} steps, off by {np.abs(few - out[: len(few)]).max():.2e}", flush=True)


if __name__ == "__main__":
    main()
