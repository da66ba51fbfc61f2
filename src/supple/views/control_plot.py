"""Closed loops drawn: damping by pose, root locus, Nyquist curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.results.control import Control
from supple.views.figures import Figure, new_figure

_MOST = 6  # Nyquist curves


def control_figure(found: Control) -> Figure:
    """Least damping by pose (where there are several), root locus and Nyquist curves of the pose with the least damping."""
    many = len(found.poses) > 1
    figure = new_figure(14 if many else 10, 5)
    axes = figure.subplots(1, 3 if many else 2)
    if many:
        _by_pose(axes[0], found)
    _locus(axes[-2], found)
    _nyquist(axes[-1], found)
    for one in axes:
        one.grid(alpha=0.25)
        one.tick_params(labelsize=8)
    where = ", ".join(f"{n} {x:.3g}" for n, x in found.worst.at.items())
    figure.suptitle(f"{found.robot}: {found.about}\nroot locus and Nyquist curves at {where}", fontsize=10)
    return figure


def _by_pose(axes: Any, found: Control) -> None:
    damping = [100 * p.damping for p in found.poses]
    names = list(found.poses[0].at)
    moved = [n for n in names if np.ptp([p.at[n] for p in found.poses]) > 1e-9]
    if len(moved) == 1:
        axes.plot([p.at[moved[0]] for p in found.poses], damping, "o-", markersize=3)
        axes.set_xlabel(moved[0], fontsize=9)
    else:
        axes.plot(range(1, len(damping) + 1), damping, "o-", markersize=3)
        axes.set_xlabel("pose", fontsize=9)
    axes.axhline(0.0, color="tab:red", linewidth=0.8)
    axes.set_ylabel("least damping ratio (%)", fontsize=9)


def _locus(axes: Any, found: Control) -> None:
    """Poles in Hz: decay to the left, frequency upwards; grey to dark as forces grow from none to four times theirs."""
    s = found.locus / (2 * np.pi)
    now = int(np.argmin(np.abs(found.gains - 1.0)))
    top = 1.15 * max(10.0, float(np.quantile(np.abs(s[now].imag), 0.9)))
    for k, one in enumerate(s):
        shade = 0.85 - 0.6 * k / len(s)
        axes.plot(one.real, one.imag, ".", markersize=1.5, color=str(shade))
    axes.plot(s[0].real, s[0].imag, "x", markersize=5, color="tab:blue", label="no forces")
    axes.plot(s[now].real, s[now].imag, "o", markersize=4, color="tab:red", fillstyle="none", label="as designed")
    axes.axvline(0.0, color="black", linewidth=0.8)
    left = float(np.clip(-1.3 * np.quantile(np.abs(s[now].real), 0.75), -top, -1.0))
    axes.set_xlim(left, -0.25 * left)
    axes.set_ylim(-0.02 * top, top)
    axes.set_xlabel("decay: real part / 2 pi (1/s)", fontsize=9)
    axes.set_ylabel("frequency (Hz)", fontsize=9)
    axes.legend(loc="upper left", frameon=False, fontsize=8)


def _nyquist(axes: Any, found: Control) -> None:
    """Open loops, each with the others closed; far parts are left outside."""
    for k in range(min(_MOST, found.nyquist.shape[1])):
        z = found.nyquist[:, k]
        (line,) = axes.plot(z.real, z.imag, linewidth=0.9, label=found.forces[k])
        axes.plot(z.real, -z.imag, linewidth=0.5, linestyle=":", color=line.get_color())
    axes.plot([-1], [0], "+", markersize=12, color="tab:red")
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), linewidth=0.5, color="grey")
    axes.set_xlim(-3, 2)
    axes.set_ylim(-2.5, 2.5)
    axes.set_aspect("equal")
    axes.set_xlabel("real part of the open loop", fontsize=9)
    axes.set_ylabel("imaginary part", fontsize=9)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
