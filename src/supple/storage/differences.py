"""Two results in netCDF files, quantity by quantity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.results.report import Changed, Difference
from supple.storage.reading import not_as_written, read_netcdf

_LINES = 4  # of a quantity with several components: those that are furthest apart


def differences(old: Path, new: Path) -> Difference:
    """The Difference of two .nc files that supple wrote; samples of the new one are taken at times of the old one."""
    first, second = (read_netcdf(path, "a result") for path in (old, new))
    names = [str(n) for n in first.data_vars if n in second.data_vars and first[n].dtype.kind in "fiub"]
    made: dict[str, Changed] = {}
    alone = [str(n) for n in first.data_vars if n not in second.data_vars]
    alone += [str(n) for n in second.data_vars if n not in first.data_vars]
    for name in names:
        try:
            found = _changed(first[name], second[name])
        except Exception as problem:  # of xarray, for times that do not rise and shapes that do not fit
            raise not_as_written(new, "a result", problem) from problem
        if found is None:
            alone.append(f"{name} (of another shape)")
        else:
            made |= {f"{name}{label}": x for label, x in found.items()}
    if not made:
        raise SuppleError(f"{old} and {new} have no quantity in common")
    keys = sorted({*first.attrs, *second.attrs}, key=str)
    words = {str(k): (str(first.attrs.get(k, "")), str(second.attrs.get(k, ""))) for k in keys}
    return Difference((old.name, new.name), made, tuple(alone), {k: v for k, v in words.items() if v[0] != v[1]})


def _changed(first: Any, second: Any) -> dict[str, Changed] | None:
    """What became of a quantity, by component where it is drawn over time; None if it cannot be compared."""
    along = next((str(d) for d in first.dims if d in first.coords and first[d].dtype.kind == "f"), None)
    if first.dims != second.dims or any(first.sizes[d] != second.sizes[d] for d in first.dims if d != along):
        return None
    if along is not None and first.sizes[along] > 1 and second.sizes[along] > 1:
        second = second.interp({along: first[along]})
    elif first.shape != second.shape:
        return None
    a, b = np.asarray(first.values, dtype=float), np.asarray(second.values, dtype=float)
    unit = str(first.attrs.get("units", ""))
    if along is None or first.dims[0] != along:
        return {"": Changed(unit, _size(a), _size(b), _size(a - b))}
    made, flat = {}, [x.reshape(len(x), -1) for x in (a, b)]
    order = np.argsort([-_size(flat[0][:, k] - flat[1][:, k]) for k in range(flat[0].shape[1])], kind="stable")
    for k in sorted(order[:_LINES].tolist()):
        p, q = (x[:, k] for x in flat)
        made[_label(first, k)] = Changed(unit, _size(p), _size(q), _size(p - q), (first[along].values, p, q), along)
    return made


def _label(array: Any, k: int) -> str:
    dims = array.dims[1:]
    if not dims:
        return ""
    places = np.unravel_index(k, [array.sizes[d] for d in dims])
    names = [str(array[d].values[i]) if d in array.coords else str(i) for d, i in zip(dims, places, strict=True)]
    return f"[{','.join(names)}]"


def _size(x: Any) -> float:
    known = np.abs(x[np.isfinite(x)])
    return float(known.max(initial=0.0))
