"""Figures of papers: curves over time, or one quantity over another, as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from supple.results.paper import Picture
from supple.views.figures import Figure, new_figure

Array = np.ndarray[Any, Any]
Panel = tuple[str, Mapping[str, Array]]  # what is on the vertical axis, and the curves by name


def over_time(title: str, words: str, t: Array, panels: Sequence[Panel], log: Sequence[int] = ()) -> Picture:
    """Panels one below the other, on one axis of time; those in `log` logarithmic."""
    figure = new_figure(8, 0.6 + 2.1 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for k, (axis, (label, curves)) in enumerate(zip(axes, panels, strict=True)):
        for n, (name, y) in enumerate(curves.items()):
            axis.plot(t, y, lw=1.1, label=name, ls="--" if n % 2 and len(curves) < 4 else "-")
        if k in log:
            axis.set_yscale("log")
        _finish(axis, label, len(curves))
    axes[-1].set_xlabel("time (s)")
    return Picture(title, words, png(figure))


def across(title: str, words: str, curves: Mapping[str, tuple[Array, Array]], x: str, y: str, equal: bool = False,
           log: bool = False) -> Picture:  # fmt: skip
    """Curves of y over x; `equal`: both axes to the same scale."""
    figure = new_figure(7, 5 if equal else 3.4)
    axis = figure.subplots()
    for n, (name, (a, b)) in enumerate(curves.items()):
        axis.plot(a, b, lw=1.2, label=name, ls="--" if n % 2 else "-")
    if equal:
        axis.set_aspect("equal", adjustable="datalim")
    if log:
        axis.set_yscale("log")
    axis.set_xlabel(x)
    _finish(axis, y, len(curves))
    return Picture(title, words, png(figure))


def _finish(axis: Any, label: str, curves: int) -> None:
    axis.set_ylabel(label, fontsize=9)
    axis.grid(alpha=0.3)
    if curves > 1:
        axis.legend(fontsize=8, ncols=min(curves, 3))


def png(figure: Figure) -> bytes:
    """The bytes of a figure."""
    kept = BytesIO()
    figure.savefig(kept, format="png", dpi=100)
    return kept.getvalue()
