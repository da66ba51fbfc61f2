"""Sweeps drawn: bands over a parameter, histograms with quantiles, scatters, tornados."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.results.study import Study
from supple.views.figures import Figure, new_figure
from supple.views.study_axes import axis_label, line_of, scaled, shown_unit

_PANELS = 6  # quantities of one picture
_LINES = 8  # values of a second parameter that are drawn as lines
_BARS = 10  # parameters of a tornado


def sweep_figure(study: Study) -> Figure:
    """A row for every quantity: over a grid of one or two parameters a band (all poses) and its median, beside a tornado;
    of scattered designs a histogram with quantiles, the most telling scatter, and a tornado."""
    drawn = list(study.quantities)[:_PANELS]
    over_grid = "design" not in study.axes and len(study.varied) <= 2
    columns = 1 + (not over_grid) + bool(study.sensitivities)
    figure = new_figure(4.6 * columns, 3.1 * len(drawn) + 0.5)
    panels = figure.subplots(len(drawn), columns, squeeze=False)
    for row, name in zip(panels, drawn, strict=True):
        if over_grid:
            _band(row[0], study, name)
        else:
            _histogram(row[0], study, name)
            _scatter(row[1], study, name)
        if study.sensitivities:
            _tornado(row[-1], study, name)
    figure.suptitle(f"{study.robot}: {len(study.answered)} cases, {int(study.answered.sum())} answered", fontsize=11)
    return figure


def _band(axes: Any, study: Study, name: str) -> None:
    first, *more = study.varied
    x, scale = line_of(study, first), shown_unit(study.chosen[first].unit)[1]
    grid = np.moveaxis(scaled(study.quantities[name]).reshape(study.shape), study.axes.index(first), 0)
    lines: list[tuple[str, Any]] = [("", grid.reshape(len(x), -1))]
    if more:
        rest = [a for a in study.axes if a != first]
        grid = np.moveaxis(grid, 1 + rest.index(more[0]), 1)
        own, (unit, times) = line_of(study, more[0]), shown_unit(study.chosen[more[0]].unit)
        picked = np.unique(np.linspace(0, len(own) - 1, min(_LINES, len(own))).round().astype(int))
        lines = [(f"{more[0]} = {own[k] * times:.4g} {unit}", grid[:, k].reshape(len(x), -1)) for k in picked]
    for label, values in lines:
        known = np.isfinite(values).any(axis=1)
        middle, low, high = (f(values[known], axis=1) for f in (np.nanmedian, np.nanmin, np.nanmax))
        drawn = axes.plot(x[known] * scale, middle, ".-", linewidth=1.2, markersize=4, label=label or None)
        if values.shape[1] > 1:
            axes.fill_between(x[known] * scale, low, high, alpha=0.2, color=drawn[0].get_color(), linewidth=0)
    if more:
        axes.legend(fontsize=7)
    axes.set_xlabel(axis_label(first, study.chosen[first]), fontsize=9)
    axes.set_ylabel(axis_label(name, study.quantities[name]), fontsize=9)
    _tidy(axes)
    if grid.size > len(x) * (len(lines) if more else 1):
        axes.set_title("median and range over poses", fontsize=8)


def _histogram(axes: Any, study: Study, name: str) -> None:
    values = scaled(study.quantities[name])
    values = values[np.isfinite(values)]
    if len(values):
        axes.hist(values, bins=min(60, max(8, len(values) // 15)), color="tab:blue", alpha=0.6)
        times = shown_unit(study.quantities[name].unit)[1]
        for share, at in zip(("5 %", "50 %", "95 %"), study.quantiles(name), strict=True):
            axes.axvline(at * times, color="black", linewidth=0.9, linestyle="--")
            axes.annotate(f"{share}: {at * times:.4g}", (at * times, 0.98), xycoords=("data", "axes fraction"), fontsize=7,
                          rotation=90, va="top", ha="right")  # fmt: skip
    axes.set_xlabel(axis_label(name, study.quantities[name]), fontsize=9)
    axes.set_ylabel("cases", fontsize=9)
    _tidy(axes)


def _scatter(axes: Any, study: Study, name: str) -> None:
    """The quantity over the parameter that it follows most, by rank."""
    values = scaled(study.quantities[name])
    known = np.isfinite(values)

    def follows(parameter: str) -> float:
        ranks = np.array([np.argsort(np.argsort(x[known])) for x in (values, study.chosen[parameter].values)], dtype=float)
        return abs(float(np.corrcoef(ranks)[0, 1])) if known.sum() > 2 else 0.0

    best = max(study.varied, key=follows)
    axes.plot(scaled(study.chosen[best])[known], values[known], ".", markersize=3, alpha=0.5)
    axes.set_xlabel(axis_label(best, study.chosen[best]), fontsize=9)
    axes.set_ylabel(axis_label(name, study.quantities[name]), fontsize=9)
    _tidy(axes)


def _tornado(axes: Any, study: Study, name: str) -> None:
    own = sorted(study.sensitivities.get(name, {}).items(), key=lambda pair: -abs(pair[1]))[:_BARS][::-1]
    colours = ["tab:blue" if x >= 0 else "tab:orange" for _, x in own]
    axes.barh([n for n, _ in own], [x for _, x in own], color=colours, height=0.6)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel(f"change of {name} in % for 1 % of a parameter", fontsize=8)
    axes.margins(x=0.15)
    room = max(0.0, 5.0 - len(own)) / 2  # a few bars are no wider than many
    axes.set_ylim(-0.6 - room, len(own) - 0.4 + room)
    axes.set_axisbelow(True)
    _tidy(axes)


def _tidy(axes: Any) -> None:
    axes.grid(alpha=0.25)
    axes.tick_params(labelsize=8)
