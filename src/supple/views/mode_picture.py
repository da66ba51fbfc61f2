"""A mode as a picture: still (PNG, SVG, PDF) or moving (GIF)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.results import Array, Drawing, Modes
from supple.views.figures import STILL_PICTURES, Figure, drawn, new_figure, written

MOVING = (".gif",)
_REST, _BENT, _STIFF = "#b8bec8", "#d1495b", "#30455c"


def draw_mode(modes: Modes, number: int, file: Path, frames: int = 24) -> Path:
    """The picture of mode `number` (from 1), written to `file`; its suffix chooses still or moving."""
    suffix = file.suffix.lower()
    if suffix not in STILL_PICTURES + MOVING:
        raise SuppleError(f"{file}: a picture ends with one of {', '.join(STILL_PICTURES + MOVING)}")
    if suffix in STILL_PICTURES:
        return written(mode_figure(modes, number), file)
    figure, axes, amplitude = _rest(modes, number)
    try:
        _film(figure, axes, modes.drawing, number - 1, amplitude, file, frames)
    except OSError as error:
        raise SuppleError(f"{file}: cannot be written: {error.strerror or error}") from error
    return file


def mode_figure(modes: Modes, number: int) -> Figure:
    """Mode `number` (from 1), bent as far as can be seen."""
    figure, axes, amplitude = _rest(modes, number)
    _lines(axes, modes.drawing, number - 1, amplitude)
    _frame(axes, modes.drawing, number - 1, amplitude)
    return figure


def _rest(modes: Modes, number: int) -> tuple[Figure, Any, float]:
    """A figure with the robot at rest, its axes, and the amplitude of the mode to be drawn in it."""
    if not 1 <= number <= len(modes.frequencies_hz):
        raise SuppleError(f"there is no mode {number}; {len(modes.frequencies_hz)} were computed")
    figure, axes = _canvas(modes.drawing)
    title = f"{modes.robot}: mode {number}, {modes.frequencies_hz[number - 1]:.2f} Hz"
    if modes.damping_ratios[number - 1] > 0:
        title += f", damping {modes.damping_ratios[number - 1]:.2%}"
    axes.set_title(title, fontsize=11)
    amplitude = _amplitude(modes.drawing, number - 1)
    _key(figure, modes.drawing, _drawn(modes.drawing, number - 1, amplitude))
    _lines(axes, modes.drawing, number - 1, 0.0, rest=True)
    _ground(axes, modes.drawing)
    return figure, axes, amplitude


def _drawn(drawing: Drawing, mode: int, amplitude: float) -> str:
    """How far a mode is drawn, in words."""
    moved = (np.linalg.norm(d[mode], axis=-1).max(initial=0.0) for d in drawing.displacements)
    largest = amplitude * max((float(x) for x in moved), default=0.0)
    return f"drawn {1e3 * largest:.3g} mm at most, {amplitude:.3g} times the mass-normalised shape"


def _canvas(drawing: Drawing) -> tuple[Figure, Any]:
    if drawing.planar:
        across, high = (np.ptp(np.vstack(drawing.points)[:, k]) + 1e-9 for k in _plane(drawing))
        shape = float(np.clip(across / high, 0.6, 1.8))
        figure = new_figure(6.2 * shape**0.5 + 0.6, 5.6 / shape**0.5 + 0.8)
        axes: Any = figure.subplots()
        axes.set_aspect("equal", adjustable="datalim")
        labels = _plane(drawing)
        axes.set_xlabel(f"{'xyz'[labels[0]]} (m)")
        axes.set_ylabel(f"{'xyz'[labels[1]]} (m)")
        axes.grid(alpha=0.25)
    else:
        figure = new_figure(7.5, 6.5)
        axes = figure.add_subplot(projection="3d")
        axes.set_xlabel("x (m)", labelpad=12)
        axes.set_ylabel("y (m)", labelpad=12)
        axes.set_zlabel("z (m)", labelpad=8)
        axes.locator_params(nbins=5)
        axes.tick_params(labelsize=8)
        axes.view_init(elev=18, azim=-60)
    return figure, axes


def _key(figure: Any, drawing: Drawing, words: str) -> None:
    """What the colours mean, below the picture."""
    from matplotlib.lines import Line2D

    known = [("at rest", _REST, 1.2)]
    known += [("flexible", _BENT, 2.4)] if any(drawing.flexible) else []
    known += [("rigid", _STIFF, 1.6)] if not all(drawing.flexible) else []
    lines = [Line2D([], [], color=colour, linewidth=width, label=name) for name, colour, width in known]
    dots: dict[str, Any] = {"linestyle": "", "markeredgecolor": _STIFF, "markersize": 5}
    if drawing.joints is not None and len(drawing.joints):
        lines.append(Line2D([], [], marker="o", markerfacecolor="white", label="joint", **dots))
    if drawing.base is not None and len(drawing.base):
        lines.append(Line2D([], [], marker="^", markerfacecolor=_REST, label="base", **dots))
    figure.legend(
        handles=lines, loc="outside lower center", ncols=len(lines), frameon=False, fontsize=8, title=words, title_fontsize=8
    )


def _plane(drawing: Drawing) -> tuple[int, int]:
    """The two base axes a planar robot extends along."""
    every = np.vstack(drawing.points)
    spread = np.ptp(every, axis=0)
    flat = int(np.argmin(spread))
    first, second = (i for i in range(3) if i != flat)
    return first, second


def _amplitude(drawing: Drawing, mode: int) -> float:
    """Scale that makes the largest displacement an eighth of the robot's size."""
    size = float(np.ptp(np.vstack(drawing.points), axis=0).max())
    largest = max((float(np.abs(d[mode]).max()) for d in drawing.displacements if d.size), default=0.0)
    return 0.125 * size / largest if largest > 0 else 0.0


def _lines(axes: Any, drawing: Drawing, mode: int, amplitude: float, rest: bool = False) -> list[Any]:
    made = []
    axis_pair = _plane(drawing) if drawing.planar else (0, 1, 2)
    breaks = drawing.breaks or ((),) * len(drawing.points)
    for points, moves, flexible, cuts in zip(drawing.points, drawing.displacements, drawing.flexible, breaks, strict=True):
        if len(points) < 2:
            continue
        x = points + amplitude * moves[mode]
        colour = _REST if rest else _BENT if flexible else _STIFF
        width = 1.2 if rest else 2.4 if flexible else 1.6
        for straight, line in zip(np.split(points, cuts), np.split(x, cuts), strict=True):
            curve = _smooth(straight, line)
            made += axes.plot(*(curve[:, i] for i in axis_pair), color=colour, linewidth=width, solid_capstyle="round")
    if drawing.joints is not None and drawing.joint_moves is not None and not rest:
        places = drawing.joints + amplitude * drawing.joint_moves[mode]
        dots = {"s": 18, "color": "white", "edgecolors": _STIFF, "linewidths": 1.0, "zorder": 5}
        made.append(axes.scatter(*(places[:, i] for i in axis_pair), **dots))
    return made


def _smooth(straight: Array, line: Array) -> Array:
    """A bent beam as a curve: between evenly spaced points of a straight line, the cubics that beams bend by."""
    steps = np.diff(straight, axis=0)
    if len(line) < 4 or np.abs(steps - steps[0]).max() > 1e-2 * np.abs(steps[0]).max():
        return line
    from scipy.interpolate import CubicSpline

    t = np.arange(len(line))
    made: Array = CubicSpline(t, line)(np.linspace(0, len(line) - 1, 6 * len(line)))
    return made


def _ground(axes: Any, drawing: Drawing) -> None:
    """Marks where the robot stands."""
    if drawing.base is None:
        return
    axis_pair = _plane(drawing) if drawing.planar else (0, 1, 2)
    marks = {"s": 60, "marker": "^", "color": _REST, "edgecolors": _STIFF, "linewidths": 0.8, "zorder": 4}
    axes.scatter(*(drawing.base[:, i] for i in axis_pair), **marks)


def _frame(axes: Any, drawing: Drawing, mode: int, amplitude: float) -> None:
    """Limits that hold both swings of a spatial robot at the same scale on all axes."""
    if drawing.planar:
        return
    swings = [
        p + s * amplitude * d[mode] for p, d in zip(drawing.points, drawing.displacements, strict=True) for s in (-1, 1)
    ]
    every = np.vstack(swings)
    low, high = every.min(axis=0), every.max(axis=0)
    span = np.maximum(high - low, 0.05 * float((high - low).max()))
    middle = (high + low) / 2
    axes.set_xlim(middle[0] - span[0] / 2, middle[0] + span[0] / 2)
    axes.set_ylim(middle[1] - span[1] / 2, middle[1] + span[1] / 2)
    axes.set_zlim(middle[2] - span[2] / 2, middle[2] + span[2] / 2)
    axes.set_box_aspect(span, zoom=1.05)


def _film(figure: Any, axes: Any, drawing: Drawing, mode: int, amplitude: float, file: Path, frames: int) -> None:
    from matplotlib.animation import FuncAnimation, PillowWriter

    _frame(axes, drawing, mode, amplitude)
    if drawing.planar:
        for swing in (-1, 1):
            for line in _lines(axes, drawing, mode, swing * amplitude):
                line.set_alpha(0.0)
    moving: list[Any] = []

    def show(k: int) -> list[Any]:
        while moving:
            moving.pop().remove()
        moving.extend(_lines(axes, drawing, mode, amplitude * np.sin(2 * np.pi * k / frames)))
        return moving

    film = FuncAnimation(figure, show, frames=frames, blit=False)
    drawn(file, lambda path: film.save(path, writer=PillowWriter(fps=frames), dpi=90))
