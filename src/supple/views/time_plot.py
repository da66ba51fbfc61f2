"""Signals of a simulation over time, drawn in panels that share the time axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.results import Array, Simulation

_MOST_LINES = 8
_SMALL = 1e-10


def plot_simulation(simulation: Simulation, path: Path) -> None:
    """Draw actuators, forces, points and deformations of a simulation to a .png, .svg or .pdf file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = _panels(simulation)
    figure = Figure(figsize=(9.0, 1.0 + 2.1 * len(panels)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (title, unit, lines) in zip(axes, panels, strict=True):
        _draw(axis, simulation.time, title, unit, lines)
    axes[-1].set_xlabel("time (s)")
    state = "" if simulation.complete else " (stopped early)"
    figure.suptitle(f"{simulation.robot}: {simulation.motion}{state}", fontsize=11)
    try:
        figure.savefig(path, dpi=140)
    except (OSError, ValueError) as problem:
        raise SuppleError(f"{path} cannot be drawn: {problem}") from problem


Panel = tuple[str, str, list[tuple[str, Array]]]


def _panels(s: Simulation) -> list[Panel]:
    made: list[Panel] = []
    active = [n for n, kind in zip(s.axes["coordinate"], s.kinds, strict=True) if kind == "active"]
    if active:
        units = dict(zip(s.axes["coordinate"], _units(s, "position"), strict=True))
        for unit in dict.fromkeys(units[n] for n in active):
            own = [n for n in active if units[n] == unit]
            made.append(("actuators", unit, [(n, s[f"position:{n}"]) for n in own]))
            force = {"m": "N", "rad": "N m"}[unit]
            made.append(("actuator forces" if unit == "m" else "actuator torques", force, [(n, s[f"tau:{n}"]) for n in own]))
    for signal, title in (("point_acceleration", "acceleration"), ("point_deformation", "deformation")):
        if signal in s.signals:
            scale, unit = (1e3, "mm") if signal == "point_deformation" else (1.0, "m/s²")
            made.append((f"{title} of points", unit, _point_lines(s, signal, scale)))
    if "point_acceleration" not in s.signals:
        free = [n for n, kind in zip(s.axes["coordinate"], s.kinds, strict=True) if kind != "active"]
        made.append(("coordinates", "m, rad", [(n, s[f"position:{n}"]) for n in free[:_MOST_LINES]]))
    return [p for p in made if p[2]]


def _units(s: Simulation, signal: str) -> tuple[str, ...]:
    unit = s.signals[signal].unit
    return (unit,) * len(s.axes["coordinate"]) if isinstance(unit, str) else unit


def _point_lines(s: Simulation, signal: str, scale: float) -> list[tuple[str, Array]]:
    lines = []
    for point in s.axes["point"]:
        values = s[f"{signal}:{point}"]
        for k, axis in enumerate("xyz"):
            line = scale * values[..., k]
            if np.nanmax(np.abs(line), initial=0.0) > _SMALL:
                lines.append((f"{point} {axis}", line))
    return lines[:_MOST_LINES]


def _draw(axis: Any, time: Array, title: str, unit: str, lines: list[tuple[str, Array]]) -> None:
    for name, values in lines[:_MOST_LINES]:
        shown = values if values.ndim == 1 else values[:, 0]
        (line,) = axis.plot(time, shown, linewidth=0.9, label=name.replace("_", r"\_") if "$" in name else name)
        if values.ndim > 1:  # several runs: the others pale behind
            axis.plot(time, values[:, 1:], linewidth=0.5, alpha=0.35, color=line.get_color())
    axis.set_ylabel(f"{title}\n({unit})", fontsize=9)
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.tick_params(labelsize=8)
    axis.legend(fontsize=7, ncols=min(4, len(lines)), loc="upper right", framealpha=0.7)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
