"""Modes that were followed by their shapes, drawn over one axis, and where they meet."""

from __future__ import annotations

from typing import Any

from supple.results.study import Study
from supple.views.figures import Figure, new_figure
from supple.views.study_axes import axis_label, scaled, shown_unit

_MARKS = {"cross": ("o", "they cross"), "veer": ("s", "they veer")}


def followed_figure(study: Study) -> Figure:
    """Frequencies in one panel, a line for each mode, marked where two of them meet; other quantities below."""
    modes = [n for n, c in study.quantities.items() if c.unit == "Hz"]
    others = [n for n in study.quantities if n not in modes]
    first = next(iter(study.chosen))
    x = scaled(study.chosen[first])
    figure = new_figure(8, 4.4 + 2.2 * len(others))
    panels = figure.subplots(1 + len(others), 1, sharex=True, squeeze=False, height_ratios=[2.0, *(1.0 for _ in others)])[
        :, 0
    ]
    for name in modes:
        panels[0].plot(x, scaled(study.quantities[name]), ".-", linewidth=1.3, markersize=3, label=name)
    mark_meetings(panels[0], study, None, (first, ""))
    panels[0].set_ylabel("frequency (Hz)", fontsize=9)
    panels[0].legend(fontsize=8)
    for axes, name in zip(panels[1:], others, strict=True):
        axes.plot(x, scaled(study.quantities[name]), "-", linewidth=1.2)
        axes.set_ylabel(axis_label(name, study.quantities[name]), fontsize=9)
    for axes in panels:
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
    panels[-1].set_xlabel(axis_label(first, study.chosen[first]), fontsize=9)
    figure.suptitle(f"{study.robot}: modes followed by their shapes", fontsize=11)
    return figure


def mark_meetings(axes: Any, study: Study, mode: str | None, names: tuple[str, str]) -> None:
    """Marks where modes meet: a circle where they cross, a square where they veer; over one axis at their frequency, over
    two in the plane, of one mode."""
    said = set()
    for met in study.meetings:
        if mode is not None and mode not in met.modes:
            continue
        x = met.at[names[0]] * shown_unit(study.chosen[names[0]].unit)[1]
        y = met.at[names[1]] * shown_unit(study.chosen[names[1]].unit)[1] if names[1] else met.frequency
        shape, words = _MARKS[met.kind]
        label = words if met.kind not in said and not names[1] else None
        said.add(met.kind)
        size, face = (9, "none") if not names[1] else (3.5, "white")
        axes.plot(x, y, shape, markersize=size, markerfacecolor=face, markeredgecolor="black", linestyle="none", label=label)
