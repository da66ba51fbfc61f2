"""Ensembles written block by block: the same as all runs at once, resumed, in memory that does not grow with the runs."""

from __future__ import annotations

import errno
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from test_vary import ARM

from supple.analyses.simulate import simulate
from supple.backends import shelf
from supple.backends.compiler import find_compiler
from supple.checkpoints import Checkpoints
from supple.errors import SuppleError
from supple.machine import Machine
from supple.simulation import integrate as integration
from supple.simulation.ensembles import LANES, worse
from supple.storage import ensembles, save

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

TIMED = ("wall_time_s", "preparation_s", "observation_s", "real_time_factor")
RUNS = 2 * LANES + 1  # the last of which is alone in its block


@pytest.fixture
def arm(tmp_path: Path) -> Machine:
    (tmp_path / "arm.yaml").write_text(ARM)
    return Machine.read(tmp_path / "arm.yaml")


def pushed(arm: Machine, output: Path | None, runs: int = RUNS, **options: Any) -> Any:
    """Runs in which 6 N act on load + 1 kg for 0.5 s."""
    loads = np.linspace(1.0, 5.0, runs)
    return simulate(arm, "push", vary={"load": list(loads)}, tol=1e-7, output=output, threads=1, **options)


def opened(file: Path) -> xarray.Dataset:
    with xarray.open_dataset(file, engine="h5netcdf") as data:
        return data.load()


def test_blocks_make_the_file_of_all_runs_at_once(arm: Machine, tmp_path: Path) -> None:
    """The same variables, axes, bits and words; speeds at the end are 3 / (load + 1) m/s; progress never falls."""
    shares: list[float] = []
    at_once = pushed(arm, None)
    in_blocks = pushed(arm, tmp_path / "blocks.nc", progress=shares.append)
    save(at_once, tmp_path / "once.nc")
    one, other = opened(tmp_path / "once.nc"), opened(tmp_path / "blocks.nc")
    speeds = other.velocity.sel(coordinate="slide")[-1]
    assert speeds.values == pytest.approx(3.0 / (np.linspace(1.0, 5.0, RUNS) + 1.0), rel=1e-6)
    assert one.drop_attrs(deep=False).identical(other.drop_attrs(deep=False))
    told = [k for k in one.attrs if k not in (*TIMED, "performance", "energy_balance_error")]
    assert [one.attrs[k] for k in told] == [other.attrs[k] for k in told]
    assert one.energy_balance_error == pytest.approx(other.energy_balance_error, rel=1e-12)
    assert all(np.array_equal(in_blocks[k], at_once[k], equal_nan=True) for k in at_once.signals)
    assert in_blocks.to_json()["signals"] == at_once.to_json()["signals"]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert not (tmp_path / "blocks.nc.part").exists()


def test_memory_does_not_grow_with_runs(arm: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times the runs, and less than a fifth more memory at the most; with all at once it is more than twice."""
    monkeypatch.setattr(shelf, "_shelf", {})
    monkeypatch.setattr(shelf, "_MOST", 0)  # nothing is used again, so that all of it is counted

    def most(runs: int, blocks: bool) -> int:
        file = tmp_path / f"{runs}.nc" if blocks else None
        tracemalloc.start()
        made = pushed(arm, file, runs, every=1e-4)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert made.summary["runs"] == runs
        return peak

    pushed(arm, tmp_path / "first.nc")  # what is imported and compiled does not count
    assert most(6 * LANES, True) < 1.2 * most(2 * LANES, True)
    assert most(6 * LANES, False) > 2.0 * most(2 * LANES, False)


def test_killed_between_blocks_and_resumed(arm: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was killed while its second block was written leaves no file, and goes on from checkpoints to the same bits."""
    add, runs = ensembles.EnsembleFile.add, []

    def struck(self: ensembles.EnsembleFile, block: Any) -> None:
        runs.append(block.summary["runs"])
        if len(runs) == 2:
            raise KeyboardInterrupt
        add(self, block)

    with monkeypatch.context() as patched:
        patched.setattr(ensembles.EnsembleFile, "add", struck)
        with pytest.raises(KeyboardInterrupt):
            pushed(arm, tmp_path / "a.nc")
    assert runs == [LANES, LANES] and not (tmp_path / "a.nc").exists()
    kept = sorted(p.name for p in (tmp_path / "a.nc.part").glob("state-*"))
    assert kept == ["state-0.bin", "state-1.bin"]
    begun: list[int] = []
    start = integration.groups_of

    def watched(*given: Any) -> Any:
        groups = start(*given)
        begun.extend(g.state.counts()["steps"] for g in groups)
        return groups

    monkeypatch.setattr(integration, "groups_of", watched)
    pushed(arm, tmp_path / "a.nc", resume=True)
    assert [steps > 0 for steps in begun] == [True, True, False]  # two groups were integrated before, one was not
    pushed(arm, tmp_path / "b.nc")
    a, b = opened(tmp_path / "a.nc"), opened(tmp_path / "b.nc")
    assert a.drop_attrs(deep=False).identical(b.drop_attrs(deep=False))


def test_a_full_disk_is_told_and_leaves_no_file(arm: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes that fail after some bytes end with words, not in HDF5, and the runs are kept."""

    class Full:
        """A file with room for 20 kB."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def write(self, data: Any) -> int:
            if self.file.tell() + len(data) > 20_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return int(self.file.write(data))

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

    class Small(ensembles._Steady):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self._file = Full(self._file)  # type: ignore[assignment]

    monkeypatch.setattr(ensembles, "_Steady", Small)
    with pytest.raises(SuppleError, match=r"a\.nc cannot be written: No space left on device; .* go on with --resume"):
        pushed(arm, tmp_path / "a.nc")
    assert not (tmp_path / "a.nc").exists() and Checkpoints(tmp_path / "a.nc", "").there()


def test_the_worse_of_two_blocks() -> None:
    a = {"peak": 1.0, "rms": 3.0, "unit": "m", "moment": {"used": 0.5, "time_s": 1.0}, "settled": None}
    b = {"peak": 2.0, "rms": 1.0, "unit": "m", "moment": {"used": 0.7, "time_s": 9.0}, "settled": 1.0, "more": 4.0}
    assert worse(a, b) == {
        "peak": 2.0, "rms": 3.0, "unit": "m", "moment": {"used": 0.7, "time_s": 9.0}, "settled": None, "more": 4.0,
    }  # fmt: skip
    assert worse(None, {"share": 0.1}) == worse({"share": 0.1}, None) == {"share": 0.1}
