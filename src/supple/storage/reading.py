"""Results read back from netCDF files, which may be damaged or made to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.errors import SuppleError

if TYPE_CHECKING:
    import xarray

LARGEST = 2_000_000_000  # bytes of all numbers of a file, unpacked


def read_netcdf(path: Path, what: str) -> xarray.Dataset:
    """All of a .nc file; `what` it should be is said if it is not."""
    import xarray

    if not path.is_file():
        raise SuppleError(f"{path}: there is no such file")
    try:
        _refuse_links(path)
        with xarray.open_dataset(path, engine="h5netcdf", decode_cf=False) as data:
            if data.nbytes > LARGEST:
                raise SuppleError(
                    f"{path}: has {data.nbytes / 1e9:.3g} GB of numbers; at most {LARGEST / 1e9:g} GB are read"
                )
            return xarray.decode_cf(data.load())
    except SuppleError:
        raise
    except Exception as problem:  # of HDF5, h5netcdf and xarray: of every kind
        raise not_as_written(path, what, problem) from problem


def _refuse_links(path: Path) -> None:
    """Raises SuppleError if parts of an HDF5 file are in other files."""
    import h5py  # type: ignore[import-untyped]

    with h5py.File(path, "r") as file:
        for name in file:
            link = file.get(name, getlink=True)
            own = file[name] if isinstance(link, h5py.HardLink) else None
            if own is None or (isinstance(own, h5py.Dataset) and (own.external or own.is_virtual)):
                raise SuppleError(f"{path}: parts of it are kept in other files, which are not read")


def not_as_written(path: Path, what: str, problem: Any) -> SuppleError:
    """The error for a file whose parts do not fit, with the problem on one line."""
    words = "".join(c if c.isprintable() else " " for c in str(problem))[:200].strip()
    return SuppleError(f"{path}: is not {what} as supple writes it to .nc files ({words or type(problem).__name__})")
