"""Studies drawn: lines over one axis, maps over two, slices over three, scatter where cases are a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.results.study import Study
from supple.views.figures import Figure, new_figure, written
from supple.views.meetings_plot import followed_figure, mark_meetings
from supple.views.study_axes import axis_label, line_of, scaled, shown_unit
from supple.views.sweep_plot import sweep_figure

_SLICES = 12
_ROW = 6  # slices side by side
_PANELS = 6


def draw_study(study: Study, file: Path) -> Path:
    """The picture of a study, written to `file`."""
    return written(study_figure(study), file)


def study_figure(study: Study) -> Figure:
    """One panel for every quantity (of three axes and more: one row of slices for each); sweeps in their own way."""
    if study.followed_from is not None and len(study.shape) == 1:
        return followed_figure(study)
    if study.kind == "sweep":
        return sweep_figure(study)
    drawn = list(study.quantities)[:_PANELS]
    if len(study.shape) == 1:
        return _lines(study, drawn)
    if len(study.shape) == 2:
        return _maps(study, drawn, [()], ("",))
    third, *others = study.axes[2:]
    values, middle = line_of(study, third), tuple(n // 2 for n in study.shape[3:])
    picked = np.unique(np.linspace(0, len(values) - 1, min(_SLICES, len(values))).round().astype(int))
    rest = [_said(study, name, line_of(study, name)[k]) for name, k in zip(others, middle, strict=True)]
    titles = tuple(", ".join([_said(study, third, values[k]), *rest]) for k in picked)
    left = f", {len(picked)} of {len(values)} values of {third} drawn" if len(picked) < len(values) else ""
    return _maps(study, drawn, [(int(k), *middle) for k in picked], titles, left)


def _said(study: Study, name: str, value: float) -> str:
    unit, scale = shown_unit(study.chosen[name].unit)
    return f"{name} = {value * scale:.4g} {unit}"


def _lines(study: Study, drawn: list[str]) -> Figure:
    figure = new_figure(8, 2.4 * len(drawn) + 0.8)
    first = next(iter(study.chosen))
    x = scaled(study.chosen[first])
    monotone = bool(np.all(np.diff(x) > 0)) or len(x) < 2
    panels = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, drawn, strict=True):
        axes.plot(x, scaled(study.quantities[name]), "-" if monotone else ".", linewidth=1.2, markersize=3)
        worst = study.worst(name)
        if worst is not None:
            axes.plot(x[worst], scaled(study.quantities[name])[worst], "v", color="tab:red", markersize=6)
        axes.set_ylabel(axis_label(name, study.quantities[name]), fontsize=9)
        for before, after in study.singular():
            axes.axvline(0.5 * (x[before] + x[after]), color="tab:red", linewidth=1.0, linestyle="--")
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
    panels[-1].set_xlabel(axis_label(first, study.chosen[first]), fontsize=9)
    figure.suptitle(_title(study), fontsize=11)
    return figure


def _title(study: Study) -> str:
    missing = int((~study.answered).sum())
    said = f"{study.robot}: {len(study.answered)} cases" + (f", {missing} without an answer (empty)" if missing else "")
    return said + (", red line: singular" if study.singular() else "")


def _maps(
    study: Study, drawn: list[str], slices: list[tuple[int, ...]], titles: tuple[str, ...], left: str = ""
) -> Figure:  # fmt: skip
    lines = -(-len(slices) // _ROW)  # of panels, for each quantity
    across = -(-len(slices) // lines)
    figure = new_figure(1.2 + 4.2 * across, 3.7 * len(drawn) * lines + 0.6)
    panels = figure.subplots(len(drawn) * lines, across, squeeze=False).reshape(len(drawn), lines * across)
    first, second = study.axes[:2]
    crossed = bool(study.singular())
    for row, name in zip(panels, drawn, strict=True):
        grid = scaled(study.quantities[name]).reshape(study.shape)
        finite = grid[np.isfinite(grid)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        image = None
        for axes in row[len(slices) :]:
            axes.set_axis_off()
        for axes, index, title in zip(row, slices, titles, strict=False):
            image = _one_map(axes, study, grid[(slice(None), slice(None), *index)], (first, second), low, high)
            _mark_worst(axes, study, name, index, (first, second))
            if len(study.shape) == 2:
                mark_meetings(axes, study, name, (first, second))
            if crossed:
                _draw_singular(axes, study, index, (first, second))
            axes.set_title(title, fontsize=9)
        if image is not None:
            figure.colorbar(image, ax=list(row), label=axis_label(name, study.quantities[name]), shrink=0.9)
    figure.suptitle(_title(study) + left, fontsize=11)
    return figure


def _one_map(axes: Any, study: Study, grid: Any, names: tuple[str, str], low: float, high: float) -> Any:
    x, y, grid = _ascending(study, names, grid)
    image = axes.pcolormesh(x, y, grid.T, shading="nearest", cmap="viridis", vmin=low, vmax=high, rasterized=True)
    reached = np.isfinite(grid.T).astype(float)
    if 0 < reached.mean() < 1 and min(reached.shape) > 2:
        axes.contour(x, y, reached, levels=[0.5], colors="black", linewidths=0.9)
    if np.isfinite(grid).sum() > 8 and high > low and min(grid.shape) > 2:
        lines = axes.contour(x, y, grid.T, levels=7, colors="white", linewidths=0.6, alpha=0.8)
        axes.clabel(lines, fontsize=7, fmt="%.4g")
    if study.chosen[names[0]].unit == study.chosen[names[1]].unit:
        axes.set_aspect("equal")
    axes.set_xlabel(axis_label(names[0], study.chosen[names[0]]), fontsize=9)
    axes.set_ylabel(axis_label(names[1], study.chosen[names[1]]), fontsize=9)
    axes.tick_params(labelsize=8)
    return image


def _ascending(study: Study, names: tuple[str, str], grid: Any) -> tuple[Any, Any, Any]:
    """Lines of two axes in the order of their values, and the grid in that order."""
    x, y = (line_of(study, n) * shown_unit(study.chosen[n].unit)[1] for n in names)
    first, second = np.argsort(x), np.argsort(y)
    return x[first], y[second], grid[np.ix_(first, second)]


def _draw_singular(axes: Any, study: Study, index: tuple[int, ...], names: tuple[str, str]) -> None:
    """A red line where the loops' Jacobian changes the sign of its determinant."""
    regular: Any = study.regular
    x, y, found = _ascending(study, names, regular.reshape(study.shape)[(slice(None), slice(None), *index)])
    grid = found.T
    if min(grid.shape) > 1 and np.nanmin(grid, initial=0.0) < 0 < np.nanmax(grid, initial=0.0):
        axes.contour(x, y, grid, levels=[0.0], colors="tab:red", linewidths=1.4)


def _mark_worst(axes: Any, study: Study, name: str, index: tuple[int, ...], names: tuple[str, str]) -> None:
    worst = study.worst(name)
    if worst is None or np.unravel_index(worst, study.shape)[2:] != index:
        return
    x, y = (scaled(study.chosen[n])[worst] for n in names)
    axes.plot(x, y, "v", color="tab:red", markersize=7, markeredgecolor="white")
