"""Stiffness and sizing in files: netCDF, CSV, MATLAB, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results import Stiffness
from supple.results.sizing import Sizing
from supple.storage import named_mat, write_netcdf

if TYPE_CHECKING:
    import xarray

_MOVED = ("x", "y", "z", "rx", "ry", "rz")


def save_stiffness(found: Stiffness, path: Path) -> None:
    """Write stiffness and compliance, what gives way and stresses to a .nc, .csv (the two matrices), .mat or .json file."""
    rows = [
        (name, axis, *(f"{x!r}" for x in row))
        for name in ("stiffness", "compliance")
        for axis, row in zip(_MOVED, getattr(found, name).tolist(), strict=True)
    ]
    _save(path, "a stiffness", lambda: stiffness_dataset(found), ("matrix", "axis", *_MOVED), rows, found.to_json())


def stiffness_dataset(found: Stiffness) -> xarray.Dataset:
    """Matrices over axes (forces then moments, base axes), shares of links, stresses."""
    import xarray

    axes = ("axis", "other")
    variables: dict[str, Any] = {
        "stiffness": (axes, found.stiffness, {"units": "N/m, N/rad, N m/rad"}),
        "compliance": (axes, found.compliance, {"units": "m/N, rad/N, rad/(N m)"}),
        "deflection": ("axis", found.deflection, {"units": "m, rad"}),
    }
    coordinates: dict[str, Any] = {"axis": list(_MOVED), "other": list(_MOVED)}
    if found.links:
        variables["share"] = (("link", "axis"), np.array(list(found.links.values())), {"units": "1"})
        coordinates["link"] = list(found.links)
    if found.stresses:
        variables["stress"] = ("beam", [s.stress for s in found.stresses], {"units": "Pa", "long_name": "von Mises"})
        variables["yield_stress"] = ("beam", [s.limit for s in found.stresses], {"units": "Pa"})
        coordinates["beam"] = [s.link for s in found.stresses]
    return xarray.Dataset(variables, coordinates, {"robot": found.robot, "point": found.point})


def save_sizing(found: Sizing, path: Path) -> None:
    """Write the best design, the runs and the curve of compromises to a .nc, .csv (a row for every design), .mat or .json
    file."""
    names, other = list(found.values), bool(found.trade)
    designs = [("best", found.values, found.value, float("nan"))]
    designs += [(f"run {k + 1}", s.values, s.objective, float("nan")) for k, s in enumerate(found.starts)]
    designs += [(f"compromise {k + 1}", t.values, t.objective, t.other) for k, t in enumerate(found.trade)]
    rows = [(what, *(repr(v[n]) for n in names), repr(x), *([repr(y)] if other else [])) for what, v, x, y in designs]
    heads = [f"{n} ({found.units.get(n) or '1'})" for n in names] + [f"{found.objective} ({found.unit})"]
    heads = ["design", *heads, *([f"{found.trade_of} ({found.trade_unit or '1'})"] if other else [])]

    def made() -> xarray.Dataset:
        import xarray

        table = {n: ("design", [v[n] for _, v, _, _ in designs], {"units": found.units.get(n) or "1"}) for n in names}
        table["objective"] = ("design", [x for _, _, x, _ in designs], {"units": found.unit, "long_name": found.objective})
        if other:
            about = {"units": found.trade_unit or "1", "long_name": found.trade_of}
            table["other"] = ("design", [y for *_, y in designs], about)
        return xarray.Dataset(table, {"design": [d for d, *_ in designs]}, {"robot": found.robot, "met": int(found.met)})

    _save(path, "a sizing", made, heads, rows, found.to_json())


def _save(
    path: Path, what: str, dataset: Callable[[], Any], heads: Sequence[str], rows: Iterable[Sequence[str]],
    data: dict[str, Any],
) -> None:  # fmt: skip
    def as_csv(file: Path) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
        file.write_text(text.getvalue(), encoding="utf-8")

    writers: dict[str, Callable[[Path], Any]] = {
        ".nc": lambda file: write_netcdf(dataset(), file),
        ".csv": as_csv,
        ".mat": lambda file: named_mat(file, _arrays(data)),
        ".json": lambda file: file.write_text(json.dumps(data, indent=1), encoding="utf-8"),
    }
    if path.suffix.lower() not in writers:
        raise SuppleError(f"{path.name}: {what} is written to .nc, .csv, .mat or .json files")
    written_whole(path, writers[path.suffix.lower()])


def _arrays(data: dict[str, Any]) -> dict[str, Any]:
    """Plain data as MATLAB takes it: tables of numbers, numbers, words; nothing nested but tables of names."""
    made: dict[str, Any] = {}
    for key, x in data.items():
        if isinstance(x, list) and x and isinstance(x[0], list):
            made[key] = np.array([[np.nan if y is None else y for y in row] for row in x], dtype=float)
        elif isinstance(x, (int, float, str)) or (isinstance(x, list) and all(isinstance(y, (str, float, int)) for y in x)):
            made[key] = x
        elif isinstance(x, dict) and all(isinstance(y, (int, float)) for y in x.values()):
            made[key + "_names"], made[key] = list(x), np.array(list(x.values()), dtype=float)
    return made
