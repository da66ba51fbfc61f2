"""A large map on a local dask cluster of two workers: left alone, and with a worker and then the driver killed and resumed.

    python bench/cluster.py [COUNT] [FOLDER]    # a million poses if COUNT is not given; an hour of processor time at most

The two results are compared bit by bit, and the parts that were computed twice are counted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import xarray

ROBOT = "gough_stewart_flexible"
WORKERS = 2


def command(count: int, output: Path, *more: str) -> list[str]:
    """A grid of about so many poses: half of them in x, y and z, turned about z and x."""
    n = max(2, round((count / 25) ** (1 / 3)))
    grid = [
        f"--over={c}"
        for c in (f"x=-0.1:0.1:{n}", f"y=-0.1:0.1:{n}", f"z=0.9:1.0:{n}", "rz=-10deg:10deg:5", "rx=-5deg:5deg:5")
    ]
    work = ["--workers", str(WORKERS), "--dask", "local", "-o", str(output)]
    return [sys.executable, "-m", "supple", "map", ROBOT, *grid, "--of", "f1", *work, *more]


def workers_of(driver: int) -> list[int]:
    """Processes of a dask cluster that a driver started."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            line = (entry / "cmdline").read_bytes()
        except (OSError, IndexError, ValueError):
            continue
        if parent == driver and b"spawn_main" in line:
            found.append(int(entry.name))
    return sorted(found)


def wait_for(parts: Path, count: int, running: subprocess.Popen[bytes]) -> int:
    """How many parts are kept, once there are so many."""
    while running.poll() is None:
        kept = len(list(parts.glob("*.bin")))
        if kept >= count:
            return kept
        time.sleep(0.05)
    raise SystemExit(f"the run ended before {count} parts were kept")


def same_bits(first: Path, second: Path) -> bool:
    with xarray.open_dataset(first, engine="h5netcdf") as a, xarray.open_dataset(second, engine="h5netcdf") as b:
        return set(a) == set(b) and all(a[k].values.tobytes() == b[k].values.tobytes() for k in (*a.data_vars, *a.coords))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    alone, disturbed = folder / "alone.nc", folder / "disturbed.nc"
    parts = folder / "disturbed.nc.part"
    begin = time.perf_counter()
    subprocess.run(command(count, alone), check=True)
    print(f"left alone: {time.perf_counter() - begin:.0f} s", flush=True)
    with xarray.open_dataset(alone, engine="h5netcdf") as found:
        poses, reached = found["f1"].size, int(np.isfinite(found["f1"].values).sum())
    print(f"{poses} poses, {reached} of them reached", flush=True)

    run = subprocess.Popen(command(count, disturbed))
    total = -(-poses // 4096)
    wait_for(parts, max(1, total // 5), run)
    victim = workers_of(run.pid)[0]
    os.kill(victim, signal.SIGKILL)
    print(f"worker {victim} killed at {len(list(parts.glob('*.bin')))} of {total} parts", flush=True)
    kept = wait_for(parts, max(2, total // 2), run)
    run.kill()
    run.wait()
    kept = len(list(parts.glob("*.bin")))
    print(f"driver killed at {kept} parts", flush=True)
    before = {p.name: p.stat().st_mtime_ns for p in parts.glob("*.bin")}
    seen: dict[str, int] = {}
    run = subprocess.Popen(command(count, disturbed, "--resume"))
    while run.poll() is None:
        seen |= {p.name: p.stat().st_mtime_ns for p in parts.glob("*.bin") if p.exists()}
        time.sleep(0.2)
    again = sum(seen.get(name, when) != when for name, when in before.items())
    print(f"resumed: {again} of {kept} kept parts were computed again", flush=True)
    same = same_bits(alone, disturbed)
    print("bit-identical" if same else "DIFFERENT", flush=True)
    raise SystemExit(0 if same and not again and run.returncode == 0 else 1)


if __name__ == "__main__":
    main()
