"""A stiffness drawn: how soft every direction is, who gives way, and how far sections are from yielding."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.results import Stiffness
from supple.views.figures import Figure, new_figure

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_LINKS = 12  # that are drawn by name; the rest together
_BEAMS = 12


def stiffness_figure(found: Stiffness) -> Figure:
    """Stiffness of forces and of moments alone, shares of links in every direction, and stresses if there are any."""
    figure = new_figure(9.5, 6.6 if found.stresses else 4.2)
    grid = figure.add_gridspec(2 if found.stresses else 1, 2, width_ratios=[1.0, 1.7])
    _soft(figure.add_subplot(grid[0, 0]), found)
    _shares(figure.add_subplot(grid[0, 1]), found)
    if found.stresses:
        _stresses(figure.add_subplot(grid[1, :]), found)
    figure.suptitle(f"{found.robot}: stiffness of {found.point}", fontsize=11)
    return figure


def _moving(found: Stiffness) -> list[int]:
    return [k for k in range(6) if found.compliance[k, k] > 0 and _AXES[k] not in found.rigid]


def _soft(axes: Any, found: Stiffness) -> None:
    """1 / compliance of each direction, forces against the left scale, moments against the right."""
    own = _moving(found)
    sizes = {k: 1 / found.compliance[k, k] for k in own}
    for side, group, unit in (
        (axes, [k for k in own if k < 3], "N/m"),
        (axes.twinx(), [k for k in own if k > 2], "N m/rad"),
    ):
        colour = "tab:blue" if side is axes else "tab:orange"
        side.bar([_AXES[k] for k in group], [sizes[k] for k in group], color=colour, width=0.6)
        side.set_ylabel(unit, fontsize=9, color=colour)
        side.tick_params(labelsize=8)
    axes.set_title("of a force or moment alone", fontsize=9)


def _shares(axes: Any, found: Stiffness) -> None:
    """Shares of the energy in links, stacked, for a force or moment in every direction."""
    own = _moving(found)
    ranked = sorted(found.links.items(), key=lambda one: -float(np.nanmax(one[1], initial=0.0)))
    rows = [(name, np.asarray(x)) for name, x in ranked[:_LINKS]]
    if len(ranked) > _LINKS:
        rows.append(("others", np.sum([x for _, x in ranked[_LINKS:]], axis=0)))
    left = np.zeros(len(own))
    for k, (name, share) in enumerate(rows):
        part = 100 * np.nan_to_num(share[own])
        axes.barh([_AXES[i] for i in own], part, left=left, label=name, color=f"C{k}" if k < 10 else None, height=0.7)
        left += part
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the energy is in", fontsize=9)
    axes.tick_params(labelsize=8)
    if rows:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _stresses(axes: Any, found: Stiffness) -> None:
    worst = found.stresses[:_BEAMS]
    names = [s.link for s in worst]
    axes.barh(names, [s.stress / 1e6 for s in worst], color="tab:red", alpha=0.7, height=0.6)
    known = [k for k, s in enumerate(worst) if s.limit == s.limit]
    axes.plot([worst[k].limit / 1e6 for k in known], [names[k] for k in known], "k|", markersize=14, label="yield")
    if known:
        axes.legend(fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("largest stress under weight and loads, von Mises (MPa)", fontsize=9)
    axes.tick_params(labelsize=8)
