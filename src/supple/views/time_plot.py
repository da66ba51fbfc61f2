"""Signals of a simulation over time, drawn in panels that share the time axis."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.results import Array, Simulation
from supple.views.figures import Figure, new_figure, written

_MOST_LINES = 8
_SMALL = 1e-5  # of the largest line of a panel: those below are not drawn
_ALIKE = 5e-3, 0.1  # of a panel's range, of a line's own movement: lines no further apart hide each other
_HELD = 1e-9  # of a line's size: what moves less is held
_SAG = 1e-3  # of the largest deformation: what is there at the start is taken off
_STILL = 1e-6  # µm
_DESIRED = ", desired"  # after the name of an actuator
_FINE = 2e-4  # m: deformations below are drawn in µm


def plot_simulation(simulation: Simulation, path: Path) -> Path:
    """The picture of a simulation, written to a .png, .svg or .pdf file."""
    return written(time_figure(simulation), path)


def time_figure(simulation: Simulation) -> Figure:
    """Actuators, forces, points and deformations over time."""
    panels = _beside(simulation) if simulation.measured else _panels(simulation)
    rest = None if simulation.measured else _residual(simulation)
    figure = new_figure(9.0, 1.0 + 2.1 * (len(panels) + (rest is not None)))
    axes = figure.subplots(len(panels) + (rest is not None), 1, squeeze=False)[:, 0]
    for axis, (title, unit, lines) in zip(axes, panels, strict=False):
        _draw(axis, simulation.time, title, unit, lines)
        axis.set_xlim(simulation.time[0], max(simulation.time[-1], simulation.time[0] + 1e-9))
        axis.tick_params(labelbottom=axis is axes[len(panels) - 1])
    if rest is not None:
        _draw(axes[-1], simulation.time[rest.after], rest.title, rest.unit, rest.lines)
        axes[-1].set_xlim(simulation.time[rest.after][0], simulation.time[-1])
        axes[-2].axvspan(simulation.time[rest.after][0], simulation.time[-1], color="#000", alpha=0.05, linewidth=0)
    axes[-1].set_xlabel("time (s)", fontsize=9)
    figure.align_ylabels(axes)
    state = _runs(simulation) + _ended(simulation)
    figure.suptitle(_plain(f"{simulation.robot}: {simulation.motion}{state}"), fontsize=11)
    return figure


def _runs(simulation: Simulation) -> str:
    """What differs between several runs, and which of them is drawn bold."""
    runs = len(simulation.axes.get("run", ()))
    if not runs:
        return ""
    first = ", ".join(f"{name} {x[0]:.4g}" for name, x in simulation.varied.items())
    others = ", ".join(f"{name} {min(x):.4g} to {max(x):.4g}" for name, x in simulation.varied.items())
    return f", {first} of {runs} runs, pale: {others}" if first else f", run 1 of {runs}, the others pale"


def _beside(s: Simulation) -> list[Panel]:
    """Measured columns, and the same of the result at their times, with how far apart they are."""
    made: list[Panel] = []
    for name, (times, values) in list(s.measured.items())[:_MOST_LINES]:
        told = s.summary["against"][name]
        line = np.interp(s.time, times, values, left=np.nan, right=np.nan)
        lines = [("measured", line), ("computed", _column(s, name))]
        made.append((f"{name}\nRMS error {told['rms']:.3g}", told["unit"], lines))
    return made


def _column(s: Simulation, name: str) -> Array:
    """The values of a column, as in tau[q11]."""
    key, _, label = name.partition("[")
    signal, values = s.signals[key], s.signals[key].values
    rest = label.removesuffix("]")
    for dim in signal.dims:
        entry = max((e for e in s.axes[dim] if rest == e or rest.startswith(e + ",")), key=len)
        values, rest = values[:, s.axes[dim].index(entry)], rest[len(entry) + 1 :]
    return values


Panel = tuple[str, str, list[tuple[str, Array]]]


def _panels(s: Simulation) -> list[Panel]:
    made: list[Panel] = []
    active = [n for n, kind in zip(s.axes["coordinate"], s.kinds, strict=True) if kind == "active"]
    if active:
        units = dict(zip(s.axes["coordinate"], _units(s, "position"), strict=True))
        for unit in dict.fromkeys(units[n] for n in active):
            own = [n for n in active if units[n] == unit]
            made.append(("actuators", unit, _with_desired(s, own)))
            force = {"m": "N", "rad": "N m"}[unit]
            made.append(("actuator forces" if unit == "m" else "actuator torques", force, [(n, s[f"tau:{n}"]) for n in own]))
    if "point_acceleration" in s.signals:
        made.append(("acceleration of points", "m/s²", _point_lines(s, "point_acceleration", 1.0)))
    else:
        free = [n for n, kind in zip(s.axes["coordinate"], s.kinds, strict=True) if kind != "active"]
        made.append(("coordinates", "m, rad", [(n, s[f"position:{n}"]) for n in free]))
    if "point_deformation" in s.signals:
        made.append(_deformation(s))
    made += [*_errors(s), *_limits(s)]
    nothing: Panel = ("nothing moves", "m", [("", np.zeros(len(s.time)))])
    return [p for p in made if p[2]] or [nothing]


def _with_desired(s: Simulation, names: list[str]) -> list[tuple[str, Array]]:
    """Actuators, and below those that a controller leads where the path wants them."""
    made: list[tuple[str, Array]] = []
    for n in names:
        wanted = s[f"desired:{n}"] if "desired" in s.signals else np.full(1, np.nan)
        if np.isfinite(wanted).any():
            made.append((n + _DESIRED, wanted if wanted.ndim == 1 else wanted[:, 0]))
        made.append((n, s[f"position:{n}"]))
    return made


def _errors(s: Simulation) -> list[Panel]:
    """How far actuators and points are from where the motion wants them; of prescribed actuators, what the robot bends is
    drawn as deformation already."""
    made: list[Panel] = []
    if "desired" in s.signals:
        units = dict(zip(s.axes["coordinate"], _units(s, "position"), strict=True))
        for unit, small in (("m", "µm"), ("rad", "µrad")):
            names = [n for n in s.axes["actuator"] if units[n] == unit and np.isfinite(s[f"desired:{n}"]).any()]
            made.append(("errors of actuators", small, [(n, 1e6 * (s[f"desired:{n}"] - s[f"position:{n}"])) for n in names]))
    if "tool_error" in s.signals:
        made.append(("errors of points", "µm", _point_lines(s, "tool_error", 1e6)))
    return made


def _limits(s: Simulation) -> list[Panel]:
    """Shares of limits that the actuators use, most of them first."""
    told = (s.summary.get("performance") or {}).get("limits", {})
    signals = {"speed": "velocity", "acceleration": "acceleration", "force": "tau"}
    each = [(x["used"], key, name, x["most"]) for key, own in told.items() for name, x in own.items()]
    lines = [
        (f"{name} {key}", 100 * np.abs(s[f"{signals[key]}:{name}"]) / most)
        for _, key, name, most in sorted(each, key=lambda item: -item[0])
        if signals[key] in s.signals
    ]
    return [("share of limits", "%", [*lines[: _MOST_LINES - 1], ("limit", np.full(len(s.time), 100.0))])] if lines else []


def _deformation(s: Simulation) -> Panel:
    """Deformations of points; those that begin bent by their weight from there on, the sag beside their names."""
    fine = np.nanmax(np.abs(s["point_deformation"]), initial=0.0) < _FINE
    scale, unit = (1e6, "µm") if fine else (1e3, "mm")
    lines = _point_lines(s, "point_deformation", scale)
    largest = max((float(np.nanmax(np.abs(x), initial=0.0)) for _, x in lines), default=0.0)
    sags = [float(x.reshape(len(x), -1)[0, 0]) for _, x in lines]
    hangs = [abs(sag) > _SAG * largest for sag in sags]
    if not any(hangs):
        return "deformation of points", unit, lines
    said = [f", sag {sag:.3g} {unit}" if own else "" for sag, own in zip(sags, hangs, strict=True)]
    apart = [(name + words, x - x[:1]) for (name, x), words in zip(lines, said, strict=True)]
    return "deformation of points\nfrom the sag at the start", unit, apart


@dataclass(frozen=True)
class _Rest:
    """What is left when the path has ended: samples, and deformations about their means."""

    after: Array
    title: str
    unit: str
    lines: list[tuple[str, Array]]


def _residual(s: Simulation) -> _Rest | None:
    """Vibrations after the path, if it ends before the simulation does and they can be told from nothing."""
    end = (s.summary.get("performance") or {}).get("rest_from_s")
    if end is None or "point_deformation" not in s.signals:
        return None
    after = s.time > end
    lines = [
        (name, 1e6 * (x[after] - np.nanmean(x[after], axis=0))) for name, x in _point_lines(s, "point_deformation", 1.0)
    ]
    moved = [(name, x) for name, x in lines if np.nanmax(np.abs(x), initial=0.0) > _STILL]
    return _Rest(after, "deformation of points\nafter the path", "µm", moved) if moved and after.sum() > 2 else None


def _units(s: Simulation, signal: str) -> tuple[str, ...]:
    unit = s.signals[signal].unit
    return (unit,) * len(s.axes["coordinate"]) if isinstance(unit, str) else unit


def _point_lines(s: Simulation, signal: str, scale: float) -> list[tuple[str, Array]]:
    """The axes along which points move, but for those that only rounding moves."""
    values = scale * s[signal]
    least = max(_SMALL * float(np.nanmax(np.abs(values), initial=0.0)), 1e-10)
    lines = [
        (f"{point} {axis}", values[..., i, k]) for i, point in enumerate(s.axes["point"]) for k, axis in enumerate("xyz")
    ]
    return [(name, line) for name, line in lines if np.nanmax(np.abs(line), initial=0.0) > least]


def _draw(axis: Any, time: Array, title: str, unit: str, lines: list[tuple[str, Array]]) -> None:
    drawn: list[Array] = []
    shown_lines = lines[:_MOST_LINES]
    span = max((float(np.nanmax(x) - np.nanmin(x)) for _, x in shown_lines), default=0.0)
    for name, values in shown_lines:
        shown = values if values.ndim == 1 else values[:, 0]
        hidden = sum(_alike(shown, other, span) for other in drawn)
        dashes: dict[str, Any] = {"dashes": (4, 2 + 3 * hidden)} if hidden else {}  # what lies below shows through
        if name.endswith(_DESIRED):
            dashes |= {"color": "#555", "linestyle": ":"}
        (line,) = axis.plot(time, shown, linewidth=1.1 if hidden else 0.9, label=_plain(name), **dashes)
        drawn.append(shown)
        if values.ndim > 1:  # several runs: the others pale behind
            axis.plot(time, values[:, 1:], linewidth=0.5, alpha=0.35, color=line.get_color())
    _steady(axis, [x for _, x in shown_lines])
    axis.set_ylabel(f"{title}\n({unit})", fontsize=9)
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.tick_params(labelsize=8)
    left_out = len(lines) - len(shown_lines)
    axis.legend(
        fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, borderaxespad=0.2,
        title=f"{left_out} more not drawn" if left_out > 0 else None, title_fontsize=7,
    )  # fmt: skip
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _steady(axis: Any, lines: list[Array]) -> None:
    """An axis of plain numbers about lines that only rounding moves."""
    low = min((float(np.nanmin(x)) for x in lines if np.isfinite(x).any()), default=0.0)
    high = max((float(np.nanmax(x)) for x in lines if np.isfinite(x).any()), default=0.0)
    most = max(abs(low), abs(high))
    if most > 0 and high - low < _HELD * most:
        axis.set_ylim(low - 0.1 * most, high + 0.1 * most)


def _alike(a: Array, b: Array, span: float) -> bool:
    """Whether the eye takes two lines of a panel for one."""
    apart = np.sqrt(np.nanmean((a - b) ** 2))
    return bool(apart <= max(_ALIKE[0] * span, _ALIKE[1] * min(np.nanstd(a), np.nanstd(b))))


def _ended(simulation: Simulation) -> str:
    return "" if simulation.complete else " (doubtful)" if simulation.doubtful else " (stopped early)"


def _plain(name: str) -> str:
    """A name that matplotlib does not leave out of a legend."""
    return name.removeprefix("_") or "-"
