"""Ensembles in netCDF files, written block by block, so that memory holds a block and not all runs."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results import Array, Signal, Simulation
from supple.storage import attributes, axes_dataset

T = TypeVar("T")
_ROWS = 4096  # samples of one run that are packed together


def written_by(path: Path, write: Callable[[Path], T]) -> T:
    """What `write` gives after it has made a file elsewhere that was put in its place whole."""
    found: list[T] = []
    written_whole(path, lambda file: found.append(write(file)))
    return found[0]


class StoredSignal(Signal):
    """A Signal whose values are in a file and read when somebody asks for them."""

    def __init__(self, like: Signal, file: Path, name: str, extremes: tuple[float, float] | None) -> None:
        own = {"dims": like.dims, "unit": like.unit, "about": like.about, "file": file, "name": name, "edges": extremes}
        for key, value in own.items():
            object.__setattr__(self, key, value)

    @property
    def values(self) -> Array:
        import h5netcdf  # type: ignore[import-untyped]

        file, name = self.__dict__["file"], self.__dict__["name"]
        try:
            with h5netcdf.File(file, "r") as stored:
                return np.asarray(stored.variables[name][...], dtype=float)
        except (OSError, KeyError) as problem:
            raise SuppleError(f"{file}: values of {name} cannot be read any more: {problem}") from problem

    def extremes(self) -> tuple[float, float] | None:
        made: tuple[float, float] | None = self.__dict__["edges"]
        return made


class EnsembleFile:
    """A netCDF file to which blocks of runs are added, whole once it is closed."""

    def __init__(self, file: Path, runs: int) -> None:
        import h5netcdf

        self._stream = _Steady(file)
        self._file = h5netcdf.File(self._stream, "w")
        self._runs = runs
        self._done = 0
        self._time = np.zeros(0)
        self._edges: dict[str, tuple[float, float]] = {}
        self._kinds: dict[str, Signal] = {}  # without their values

    def add(self, block: Simulation) -> None:
        """Append the runs of a block."""
        if not self._done:
            self._begin(block)
        if len(block.time) > len(self._time):
            self._time = block.time
            self._file.resize_dimension("time", len(block.time))
        count = block.summary["runs"]
        for name, signal in block.signals.items():
            whole = self._file.variables[name]
            whole[: len(block.time), self._done : self._done + count] = signal.values
            edges = signal.extremes()
            if edges is not None:
                known = self._edges.get(name, edges)
                self._edges[name] = min(known[0], edges[0]), max(known[1], edges[1])
        self._done += count
        self._stream.check()

    def _begin(self, block: Simulation) -> None:
        self._file.dimensions["time"] = None
        self._file.dimensions["run"] = self._runs
        for name, signal in block.signals.items():
            shape = signal.values.shape[2:]
            for axis, size in zip(signal.dims[1:], shape, strict=True):
                if axis not in self._file.dimensions:
                    self._file.dimensions[axis] = size
            self._file.create_variable(
                name, ("time", *signal.dims), float, chunks=(_ROWS, 1, *shape), compression="gzip", compression_opts=4,
                shuffle=True, fillvalue=np.nan,
            )  # fmt: skip
            self._kinds[name] = Signal(np.zeros(0), signal.dims, signal.unit, signal.about)

    def close(self, whole: Simulation | None = None) -> None:
        """Write what all runs have in common, or nothing more if the file is given up."""
        from xarray.backends import H5NetCDFStore

        try:
            if whole is not None:
                self._file.create_variable("time", ("time",), data=whole.time)
                self._file.variables["time"].attrs.update({"units": "s", "long_name": "time"})
                for name, signal in whole.signals.items():
                    self._file.variables[name].attrs.update(attributes(name, signal))
                axes_dataset(whole).dump_to_store(H5NetCDFStore(self._file))
        finally:
            self._file.close()
            self._stream.close()
        self._stream.check()

    @property
    def time(self) -> Array:
        return self._time

    @property
    def done(self) -> int:
        """How many runs were added."""
        return self._done

    def signals(self, file: Path) -> dict[str, Signal]:
        """The signals of all runs, to be read from where the file is then."""
        return {name: StoredSignal(kind, file, name, self._edges.get(name)) for name, kind in self._kinds.items()}


class _Steady(io.RawIOBase):
    """A file for HDF5, which does not survive a write that fails: the first such is noted, and told by `check`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=0)
        self._fault: OSError | None = None

    def check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while len(left) and self._fault is None:
                left = left[self._file.write(left) :]
        except OSError as problem:
            self._fault = problem
        if self._fault is not None:
            self._file.seek(len(left), io.SEEK_CUR)
        return size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = self._file.readinto(view) or 0
        view[count:] = bytes(len(view) - count)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            return self._file.truncate(size)
        except OSError as problem:
            self._fault = self._fault or problem
            return size or 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._file.close()
