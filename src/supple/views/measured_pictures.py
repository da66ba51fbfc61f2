"""Pictures of what was measured: stabilisation diagrams."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.measurements import Extracted
from supple.views.figures import Figure, new_figure, written


def draw_stabilisation(found: Extracted, file: Path) -> Path:
    """The stabilisation diagram of an extraction, written to `file`."""
    return written(stabilisation_figure(found), file)


def stabilisation_figure(found: Extracted) -> Figure:
    """Poles over the order of the model on the sum of the responses, the chosen ones as lines; below, damping ratios."""
    figure = new_figure(9, 6.5)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    rows = found.diagram
    stable = rows[:, 3] > 0
    above.plot(rows[~stable, 1], rows[~stable, 0], ".", color="0.75", markersize=4, label="not stable")
    above.plot(rows[stable, 1], rows[stable, 0], ".", color="tab:blue", markersize=5, label="stable")
    curve = above.twinx()
    f = found.responses.frequencies_hz
    for values, style, label in ((found.responses.values, "-", "measured"), (found.restored, "--", "restored")):
        total = np.sqrt((np.abs(values) ** 2).sum(axis=(1, 2)))
        colour = "0.35" if style == "-" else "tab:red"
        curve.plot(f, np.where(total > 0, total, np.nan), style, color=colour, linewidth=0.9, label=label)
    curve.set_yscale("log")
    curve.set_ylabel("sum of the responses", fontsize=9)
    modes = found.modes
    for hz in modes.frequencies_hz:
        above.axvline(hz, color="tab:green", linewidth=0.8, alpha=0.7)
    above.set_ylabel("order", fontsize=9)
    above.set_zorder(curve.get_zorder() + 1)
    above.patch.set_visible(False)
    handles = [*above.get_legend_handles_labels()[0], *curve.get_legend_handles_labels()[0]]
    above.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False, fontsize=8)
    below.plot(rows[stable, 1], 100 * rows[stable, 2], ".", color="tab:blue", markersize=3)
    below.errorbar(
        modes.frequencies_hz, 100 * modes.damping_ratios, yerr=200 * modes.damping_deviation, fmt="o", color="tab:green",
        markersize=4, capsize=3,
    )  # fmt: skip
    below.set_ylim(0, 200 * float(modes.damping_ratios.max()))
    below.set_ylabel("ratio (%)", fontsize=9)
    below.set_xlabel("frequency (Hz)", fontsize=9)
    below.set_xlim(*found.band)
    for axes in (above, below, curve):
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.2, axis="x")
    return figure
