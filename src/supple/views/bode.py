"""Frequency responses drawn as magnitude and phase."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.results import Frf
from supple.views.figures import Figure, new_figure, written

_MOST = 8  # lines


def draw_bode(found: Frf, file: Path) -> Path:
    """The picture of frequency responses, written to `file`."""
    return written(bode_figure(found), file)


def bode_figure(found: Frf, actuators: str | None = None) -> Figure:
    """Magnitude (logarithmic) and phase of the first few responses; actuators: how they are, if neither free nor held."""
    figure = new_figure(9, 6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    f, all_values = found.drawn
    pairs = [(o, i) for o in range(len(found.outputs)) for i in range(len(found.inputs))]
    moved = [(o, i) for o, i in pairs if np.nan_to_num(all_values[:, o, i]).any()] or pairs
    for o, i in moved[:_MOST]:
        values = all_values[:, o, i]
        label = f"{found.outputs[o]} by {found.inputs[i]} ({found.output_units[o]} per {found.input_units[i]})"
        size = np.abs(values)
        above.plot(f, np.where(size > 0, size, np.nan), linewidth=1.0, label=label)
        below.plot(f, np.degrees(np.angle(values)), linewidth=0.8)
    above.set_yscale("log")
    above.set_ylabel(found.quantity, fontsize=9)
    below.set_ylabel("phase (deg)", fontsize=9)
    below.set_yticks([-180, -90, 0, 90, 180])
    below.set_xlabel("frequency (Hz)", fontsize=9)
    below.set_xlim(found.frequencies_hz[0], found.frequencies_hz[-1])
    for axes in (above, below):
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
    above.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, fontsize=8)
    more = f" ({len(moved) - _MOST} more responses not drawn)" if len(moved) > _MOST else ""
    more += f" ({len(pairs) - len(moved)} are zero)" if len(moved) < len(pairs) else ""
    how = actuators or ("free" if found.free else "held")
    figure.suptitle(f"{found.robot}: actuators {how}{more}", fontsize=11)
    return figure
