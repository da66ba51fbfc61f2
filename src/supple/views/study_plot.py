"""Studies drawn: lines over one axis, maps over two, slices over three, scatter where cases are a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.results.study import Column, Study
from supple.views.figures import Figure, new_figure, written

_SHOWN = {"m": ("mm", 1e3), "rad": ("deg", 180 / np.pi)}  # how lengths and angles of axes and deflections are shown
_SLICES = 6
_PANELS = 6


def draw_study(study: Study, file: Path) -> Path:
    """The picture of a study, written to `file`."""
    return written(study_figure(study), file)


def study_figure(study: Study) -> Figure:
    """One panel for every quantity (of three axes: one row of slices for every quantity)."""
    drawn = list(study.quantities)[:_PANELS]
    if len(study.shape) == 1:
        return _lines(study, drawn)
    if len(study.shape) == 2:
        return _maps(study, drawn, [()], ("",))
    third = list(study.chosen)[2]
    values = np.unique(study.chosen[third].values)
    picked = np.unique(np.linspace(0, len(values) - 1, min(_SLICES, len(values))).round().astype(int))
    unit, scale = shown_unit(study.chosen[third].unit)
    titles = tuple(f"{third} = {values[k] * scale:.4g} {unit}" for k in picked)
    return _maps(study, drawn, [(int(k),) for k in picked], titles)


def shown_unit(unit: str) -> tuple[str, float]:
    """The unit that people read, and what SI is multiplied by."""
    return _SHOWN.get(unit, (unit, 1.0))


def _label(name: str, column: Column) -> str:
    unit = shown_unit(column.unit)[0]
    return f"{name} ({unit})" if unit not in ("", "1") else name


def _scaled(column: Column) -> Any:
    return column.values * shown_unit(column.unit)[1]


def _lines(study: Study, drawn: list[str]) -> Figure:
    figure = new_figure(8, 2.4 * len(drawn) + 0.8)
    first = next(iter(study.chosen))
    x = _scaled(study.chosen[first])
    monotone = bool(np.all(np.diff(x) > 0)) or len(x) < 2
    panels = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, drawn, strict=True):
        axes.plot(x, _scaled(study.quantities[name]), "-" if monotone else ".", linewidth=1.2, markersize=3)
        worst = study.worst(name)
        if worst is not None:
            axes.plot(x[worst], _scaled(study.quantities[name])[worst], "v", color="tab:red", markersize=6)
        axes.set_ylabel(_label(name, study.quantities[name]), fontsize=9)
        for before, after in study.singular():
            axes.axvline(0.5 * (x[before] + x[after]), color="tab:red", linewidth=1.0, linestyle="--")
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
    panels[-1].set_xlabel(_label(first, study.chosen[first]), fontsize=9)
    figure.suptitle(_title(study), fontsize=11)
    return figure


def _title(study: Study) -> str:
    missing = int((~study.answered).sum())
    said = f"{study.robot}: {len(study.answered)} cases" + (f", {missing} out of reach (empty)" if missing else "")
    return said + (", red line: singular" if study.singular() else "")


def _maps(study: Study, drawn: list[str], slices: list[tuple[int, ...]], titles: tuple[str, ...]) -> Figure:
    figure = new_figure(1.2 + 4.2 * len(slices), 3.7 * len(drawn) + 0.6)
    panels = figure.subplots(len(drawn), len(slices), squeeze=False)
    first, second = list(study.chosen)[:2]
    crossed = bool(study.singular())
    for row, name in zip(panels, drawn, strict=True):
        grid = _scaled(study.quantities[name]).reshape(study.shape)
        finite = grid[np.isfinite(grid)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        image = None
        for axes, index, title in zip(row, slices, titles, strict=True):
            image = _one_map(axes, study, grid[(slice(None), slice(None), *index)], (first, second), low, high)
            _mark_worst(axes, study, name, index, (first, second))
            if crossed:
                _draw_singular(axes, study, index, (first, second))
            axes.set_title(title, fontsize=9)
        if image is not None:
            figure.colorbar(image, ax=list(row), label=_label(name, study.quantities[name]), shrink=0.9)
    figure.suptitle(_title(study), fontsize=11)
    return figure


def _one_map(axes: Any, study: Study, grid: Any, names: tuple[str, str], low: float, high: float) -> Any:
    x, y = (np.unique(_scaled(study.chosen[n])) for n in names)
    image = axes.pcolormesh(x, y, grid.T, shading="nearest", cmap="viridis", vmin=low, vmax=high, rasterized=True)
    reached = np.isfinite(grid.T).astype(float)
    if 0 < reached.mean() < 1 and min(reached.shape) > 2:
        axes.contour(x, y, reached, levels=[0.5], colors="black", linewidths=0.9)
    if np.isfinite(grid).sum() > 8 and high > low and min(grid.shape) > 2:
        lines = axes.contour(x, y, grid.T, levels=7, colors="white", linewidths=0.6, alpha=0.8)
        axes.clabel(lines, fontsize=7, fmt="%.4g")
    if study.chosen[names[0]].unit == study.chosen[names[1]].unit:
        axes.set_aspect("equal")
    axes.set_xlabel(_label(names[0], study.chosen[names[0]]), fontsize=9)
    axes.set_ylabel(_label(names[1], study.chosen[names[1]]), fontsize=9)
    axes.tick_params(labelsize=8)
    return image


def _draw_singular(axes: Any, study: Study, index: tuple[int, ...], names: tuple[str, str]) -> None:
    """A red line where the loops' Jacobian changes the sign of its determinant."""
    x, y = (np.unique(_scaled(study.chosen[n])) for n in names)
    regular: Any = study.regular
    grid = regular.reshape(study.shape)[(slice(None), slice(None), *index)].T
    if min(grid.shape) > 1 and np.nanmin(grid, initial=0.0) < 0 < np.nanmax(grid, initial=0.0):
        axes.contour(x, y, grid, levels=[0.0], colors="tab:red", linewidths=1.4)


def _mark_worst(axes: Any, study: Study, name: str, index: tuple[int, ...], names: tuple[str, str]) -> None:
    worst = study.worst(name)
    if worst is None or np.unravel_index(worst, study.shape)[2:] != index:
        return
    x, y = (_scaled(study.chosen[n])[worst] for n in names)
    axes.plot(x, y, "v", color="tab:red", markersize=7, markeredgecolor="white")
