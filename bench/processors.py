"""Exported C, the simulator and FMUs built for other systems; exported C also run there, where an emulator is found.

    python bench/processors.py [ROBOT MOTION ...]

Needs the ziglang wheel, which brings compilers and libraries for all of them; emulators are those of the package qemu-user.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from supple.backends.compiler import FLAGS
from supple.backends.stepping.plant_text import plant_source
from supple.backends.targets import TARGETS
from supple.generator import export_fmu, generate
from supple.machine import Machine
from supple.simulation.simulator import simulator

ZIG = [sys.executable, "-m", "ziglang", "cc"]
STRICT = ["-Wall", "-Wextra", "-Werror"]
SYSTEMS = {
    "x86_64-windows-gnu": None,
    "aarch64-windows-gnu": None,
    "x86_64-macos": None,
    "aarch64-macos": None,
    "aarch64-linux-musl": "qemu-aarch64",
    "arm-linux-musleabihf": "qemu-arm",
    "riscv64-linux-musl": "qemu-riscv64",
    "x86-linux-musl": "qemu-i386",
}


def built(system: str, made: Path, *words: str | Path) -> str:
    """Nothing, or the compiler's complaint."""
    command = [*ZIG, "-target", system, *FLAGS, *STRICT, *map(str, words), "-o", str(made), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr.splitlines() or ["?"])[0]


def ran(system: str, program: Path) -> str:
    emulator = SYSTEMS[system] and shutil.which(str(SYSTEMS[system]))
    if not emulator:
        return "built"
    done = subprocess.run([emulator, str(program)], capture_output=True, text=True)
    return done.stdout.splitlines()[-1] if done.stdout else f"exit {done.returncode}"


def main(robots: list[tuple[str, str]]) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for robot, motion in robots:
            machine = Machine.read(robot)
            exported = [f for f in TARGETS["c"](generate(machine, "inverse").package, folder / robot) if f.suffix == ".c"]
            (folder / "plant.c").write_text(plant_source(simulator(machine, motion).stepper().plant), encoding="ascii")
            with zipfile.ZipFile(export_fmu(machine, folder)) as archive:
                archive.extractall(folder / "fmu")
            unit = [f for f in (folder / "fmu" / "sources").glob("*.c") if f.name != "all.c"]
            for system in SYSTEMS:
                results = {"exported C": built(system, folder / "check", *exported) or ran(system, folder / "check")}
                for lanes in (1, 8):
                    words = ("-c", f"-DSUPPLE_LANES={lanes}", folder / "plant.c")
                    results[f"simulator, {lanes} lanes"] = built(system, folder / "plant.o", *words) or "built"
                results["FMU"] = built(system, folder / "unit.so", "-shared", *unit) or "built"
                failed += sum(r not in ("built",) and not r.startswith("PASS") for r in results.values())
                print(f"{robot:15} {system:22}", ", ".join(f"{k}: {v}" for k, v in results.items()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    usual = [("dualemps", "square"), ("3rrr", "circle"), ("delta", "pick_and_place")]
    chosen = list(zip(given[::2], given[1::2], strict=True)) or usual
    sys.exit(main(chosen))
