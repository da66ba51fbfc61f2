"""Tables of frequencies and damping ratios, and of static displacements: CSV, and netCDF with variables of these names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.motion.table import read_columns
from supple.robot.bodies.record import Array
from supple.robot.named_files import checked_file

_MODAL = {"frequency": "frequency", "damping": "number", "frequency_deviation": "number", "damping_deviation": "number"}
MOVED = ("dx", "dy", "dz")


def read_modal_table(path: Path) -> dict[str, Array]:
    """Columns frequency (Hz) and, if there, damping and relative deviations, lowest frequency first."""
    made = _read(path, _MODAL, ["frequency"], "a table of modes")
    if not (made["frequency"] > 0).all() or (
        "damping" in made and not ((made["damping"] >= 0) & (made["damping"] < 1)).all()
    ):
        raise SuppleError(f"{path.name}: frequencies must be above zero and damping ratios from 0 to 1")
    order = np.argsort(made["frequency"])
    return {name: column[order] for name, column in made.items()}


def read_static_table(path: Path, coordinates: Mapping[str, str]) -> tuple[list[dict[str, float]], Array, tuple[str, ...]]:
    """Poses (coordinate -> value), displacements (rows, directions), and which of dx, dy, dz they are."""
    made = _read(path, {**coordinates, **dict.fromkeys(MOVED, "length")}, [], "a table of displacements")
    moved = tuple(n for n in MOVED if n in made)
    names = [n for n in made if n not in MOVED]
    if not moved or not names:
        raise SuppleError(f"{path.name}: needs columns of the pose (such as x, y, z) and of what moved (dx, dy, dz)")
    count = len(made[names[0]])
    poses = [{n: float(made[n][k]) for n in names} for k in range(count)]
    return poses, np.column_stack([made[n] for n in moved]), moved


def read_poses(path: Path, coordinates: Mapping[str, str]) -> list[dict[str, float]]:
    """The poses (coordinate -> value) of a table of displacements; these themselves need not be there yet."""
    made = _read(path, {**coordinates, **dict.fromkeys(MOVED, "length")}, [], "a table of poses")
    names = [n for n in made if n not in MOVED]
    if not names:
        raise SuppleError(f"{path.name}: needs columns of the pose, such as x, y, z")
    return [{n: float(made[n][k]) for n in names} for k in range(len(made[names[0]]))]


def _read(path: Path, dimensions: Mapping[str, str], needed: Sequence[str], what: str) -> dict[str, Array]:
    if path.suffix.lower() == ".nc":
        return _netcdf(path, dimensions, needed)
    return read_columns(path, dimensions, needed, what)


def _netcdf(path: Path, dimensions: Mapping[str, str], needed: Sequence[str]) -> dict[str, Array]:
    import h5py  # type: ignore[import-untyped]

    checked_file(path)
    made: dict[str, Array] = {}
    try:
        with h5py.File(path, "r") as file:
            for name in dimensions:
                if name in file and isinstance(file[name], h5py.Dataset):
                    data = file[name]
                    link = file.get(name, getlink=True)
                    if not isinstance(link, h5py.HardLink) or data.external or data.is_virtual:
                        raise SuppleError(f"{path.name}: {name} is kept in another file; copy its numbers into this one")
                    if data.ndim != 1 or data.size > 1_000_000 or data.dtype.kind not in "fi":
                        raise SuppleError(f"{path.name}: {name} must be a row of numbers, at most a million")
                    made[name] = np.asarray(data[()], dtype=float)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:  # h5py's, of files that lie
        raise SuppleError(f"{path.name}: is not a netCDF file (HDF5), or a damaged one") from error
    missing = [n for n in needed if n not in made]
    if missing or not made:
        raise SuppleError(f"{path.name}: has no variable {', '.join(missing or dimensions)}")
    if len({len(x) for x in made.values()}) != 1 or not all(np.isfinite(x).all() for x in made.values()):
        raise SuppleError(f"{path.name}: its variables must be finite and of the same length")
    return made
