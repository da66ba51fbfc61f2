"""Studies in files, and the parts of studies under way."""

from __future__ import annotations

import csv
import hmac
import io
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.private import signature, signing_folder
from supple.results.study import Column, Study
from supple.storage import write_netcdf
from supple.storage.reading import not_as_written, read_netcdf

if TYPE_CHECKING:
    import xarray

_SIGNATURE = 64  # characters


def study_dataset(study: Study) -> xarray.Dataset:
    """A study as an xarray Dataset: quantities over the axes of a grid, or over cases."""
    import xarray

    variables: dict[str, Any] = {}
    dims, shape = study.axes or ("case",), study.shape
    coordinates: dict[str, Any] = {}
    for name, column in study.chosen.items():
        values, about = column.values.reshape(shape), {"units": column.unit, "long_name": column.about}
        if name in dims:
            line = np.moveaxis(values, dims.index(name), 0).reshape(shape[dims.index(name)], -1)[:, 0]
            coordinates[name] = (name, line, about)
        else:
            coordinates[name] = (dims, values, about)
    for name, column in study.quantities.items():
        variables[name] = (dims, column.values.reshape(shape), {"units": column.unit, "long_name": column.about})
    variables["answered"] = (
        dims,
        study.answered.reshape(shape).astype(np.int8),
        {"long_name": "1 where there is an answer"},
    )
    if study.regular is not None:
        said = "distance from a singularity of the loops; its sign changes where one is crossed"
        variables["regularity"] = (dims, study.regular.reshape(shape), {"units": "1", "long_name": said})
    return xarray.Dataset(variables, coordinates, {"robot": study.robot, "kind": study.kind})


def save_study(study: Study, path: Path) -> None:
    """Write a study to a .nc, .csv or .mat file; the file appears whole or not at all."""
    writers: dict[str, Callable[[Path], Any]] = {
        ".nc": lambda file: write_netcdf(study_dataset(study), file),
        ".csv": lambda file: _csv(study, file),
        ".mat": lambda file: _mat(study, file),
    }
    if path.suffix.lower() not in writers:
        raise SuppleError(f"{path.name}: studies are written to .nc, .csv or .mat files (a picture: plot().save)")
    written_whole(path, writers[path.suffix.lower()])


def read_study(path: Path) -> Study:
    """The study in a .nc file: what was chosen, what was asked, what was answered."""
    data = read_netcdf(path, "a map")
    try:
        shape = tuple(int(n) for n in data["answered"].shape)
        dims, count = data["answered"].dims, int(np.prod(shape))

        def column(name: Any) -> Column:
            own = data[name]
            values = own.broadcast_like(data["answered"]).transpose(*dims).values.astype(float).reshape(count)
            return Column(str(own.attrs.get("units", "")), values, str(own.attrs.get("long_name", "")))

        asked = [n for n in data.data_vars if n not in ("answered", "regularity")]
        chosen = {str(n): column(n) for n in data.coords}
        answered = data["answered"].values.reshape(count).astype(bool)
        quantities = {str(n): column(n) for n in asked}
        axes = () if dims == ("case",) else tuple(str(d) for d in dims)
        return Study(str(data.attrs["robot"]), str(data.attrs["kind"]), shape, axes, chosen, quantities, answered)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as problem:
        raise not_as_written(path, "a map", problem) from problem


def _csv(study: Study, file: Path) -> None:
    columns = [*study.chosen.items(), *study.quantities.items()]
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"{name} ({c.unit})" for name, c in columns])
        for row in zip(*(c.values for _, c in columns), strict=True):
            writer.writerow(["" if np.isnan(x) else repr(float(x)) for x in row])


def _mat(study: Study, file: Path) -> None:
    from scipy.io import savemat

    def tidy(names: Mapping[str, Any]) -> dict[str, str]:
        return {name: re.sub(r"\W+", "_", name).strip("_")[:60] for name in names}

    content: dict[str, Any] = {"shape": np.array(study.shape), "answered": study.answered}
    for group, columns in (("chosen", study.chosen), ("quantities", study.quantities)):
        names = tidy(columns)
        content[group] = {names[name]: c.values[:, None] for name, c in columns.items()}
        content[f"{group}_units"] = {names[name]: c.unit for name, c in columns.items()}
    savemat(file, content, do_compression=True, long_field_names=True)


class Parts:
    """A folder beside the result that holds the parts of a study under way, each by the name of its content."""

    def __init__(self, result: Path) -> None:
        self.folder = result.with_name(result.name + ".part")

    def keep(self, key: str, part: Mapping[str, Any]) -> None:
        """Write a part, signed; it is there whole or not at all."""
        arrays = {k: np.asarray(x) for k, x in part.items() if k != "problems"}
        words = np.array(json.dumps({str(k): text for k, text in part["problems"].items()}))
        stream = io.BytesIO()
        np.savez(stream, allow_pickle=False, problems=words, **arrays)
        content = stream.getvalue()
        try:
            written_whole(self._file(key), lambda file: file.write_bytes(_signed(key, content) + content))
        except SuppleError as problem:
            raise SuppleError(
                f"{problem}; parts kept before are still there: make room and go on with --resume"
            ) from problem

    def kept(self, key: str) -> dict[str, Any] | None:
        """A part, or None if it is not there, not whole, or not one of ours."""
        try:
            found = self._file(key).read_bytes()
        except OSError:
            return None
        content = found[_SIGNATURE:]
        if not hmac.compare_digest(found[:_SIGNATURE], _signed(key, content)):
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            made: dict[str, Any] = {k: arrays[k] for k in arrays.files}
        made["problems"] = {int(k): str(text) for k, text in json.loads(str(made["problems"])).items()}
        return made

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.bin"

    def there(self) -> bool:
        return self.folder.is_dir() and any(self.folder.glob("*.bin"))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _signed(key: str, content: bytes) -> bytes:
    """The signature of a part of this name."""
    return str(signature(signing_folder(), b"part", key.encode(), content)).encode()
