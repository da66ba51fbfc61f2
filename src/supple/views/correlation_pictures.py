"""Pictures of measurements beside a model: MAC and frequencies, responses laid over each other, both shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.measurements import Correlation, PoseCorrelation
from supple.views.figures import Figure, new_figure, written

_MEASURED, _COMPUTED, _ROBOT = "0.25", "tab:red", "0.75"
_MOST = 9  # curves or shapes of a picture


def draw_mac(found: Correlation, file: Path) -> Path:
    """MAC of all measured with all computed modes, and paired frequencies, written to `file`."""
    return written(mac_figure(found), file)


def mac_figure(found: Correlation) -> Figure:
    """A row for each pose: MAC, and errors of frequencies."""
    poses = [p for p in found.poses if len(p.pairs)]
    if not poses:
        raise SuppleError("no pose has modes to compare; a picture of MAC needs them")
    figure = new_figure(10, 3.6 * len(poses))
    rows = figure.subplots(len(poses), 2, squeeze=False, width_ratios=(3, 2))
    for (left, right), pose in zip(rows, poses, strict=True):
        if pose.mac is None:
            left.text(0.5, 0.5, "no shapes were measured", ha="center", va="center", transform=left.transAxes, fontsize=9)
            left.set_axis_off()
        else:
            _matrix(figure, left, pose)
        left.set_title(f"pose {pose.pose}", fontsize=10, loc="left")
        _errors(right, pose)
    return figure


def _matrix(figure: Figure, axes: Any, pose: PoseCorrelation) -> None:
    assert pose.mac is not None
    image = axes.imshow(pose.mac, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for m, group in pose.pairs:
        for c in group:
            axes.plot(c, m, "s", markersize=12, markerfacecolor="none", markeredgecolor=_COMPUTED)
    axes.set_xticks(range(len(pose.computed_hz)), [f"{x:.1f}" for x in pose.computed_hz], rotation=60, fontsize=7)
    axes.set_yticks(range(len(pose.measured_hz)), [f"{x:.1f}" for x in pose.measured_hz], fontsize=7)
    axes.set_xlabel("computed (Hz); pairs are framed", fontsize=8)
    axes.set_ylabel("measured (Hz)", fontsize=8)
    bar = figure.colorbar(image, ax=axes, fraction=0.046)
    bar.set_label("MAC", fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _errors(axes: Any, pose: PoseCorrelation) -> None:
    hz = [pose.measured_hz[m] for m, _ in pose.pairs]
    axes.bar(range(len(hz)), 100 * pose.errors, color=_COMPUTED, width=0.6)
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set_xticks(range(len(hz)), [f"{x:.1f}" for x in hz], rotation=60, fontsize=7)
    axes.set_xlabel("measured (Hz)", fontsize=8)
    axes.set_ylabel("error of the computed frequency (%)", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.2, axis="y")


def draw_overlay(found: Correlation, file: Path) -> Path:
    """Measured and computed responses over each other, written to `file`."""
    return written(overlay_figure(found), file)


def overlay_figure(found: Correlation) -> Figure:
    """Sums of all responses and the strongest single ones of every pose, magnitude and phase."""
    poses = [p for p in found.poses if p.responses is not None and p.computed_responses is not None]
    if not poses:
        raise SuppleError("no pose has responses to lay over each other")
    figure = new_figure(10, 4.2 * len(poses))
    rows = figure.subplots(2 * len(poses), 2, squeeze=False, height_ratios=[2, 1] * len(poses), sharex="row")
    for k, pose in enumerate(poses):
        for column, place in enumerate(_strongest(pose)):
            _curves(rows[2 * k][column], rows[2 * k + 1][column], pose, place)
        rows[2 * k][0].set_title(f"pose {pose.pose}: {rows[2 * k][0].get_title()}", fontsize=9)
    rows[0][0].legend(fontsize=8, frameon=False)
    return figure


def _strongest(pose: PoseCorrelation) -> list[tuple[int, int]]:
    assert pose.responses is not None
    size = np.sqrt((np.abs(pose.responses.values) ** 2).sum(0))
    order = np.argsort(-size.ravel())
    chosen = [order[0], order[min(len(order) - 1, len(order) // 2)]]
    return [(int(k // size.shape[1]), int(k % size.shape[1])) for k in chosen]


def _curves(above: Any, below: Any, pose: PoseCorrelation, place: tuple[int, int]) -> None:
    measured = pose.responses
    assert measured is not None and pose.computed_responses is not None
    f = measured.frequencies_hz
    name = f"{measured.outputs[place[0]]}/{measured.inputs[place[1]]}"
    for values, colour, label, width in (
        (measured.values, _MEASURED, "measured", 1.0), (pose.computed_responses, _COMPUTED, "computed", 1.2)
    ):  # fmt: skip
        own = values[:, place[0], place[1]]
        above.semilogy(f, np.where(np.abs(own) > 0, np.abs(own), np.nan), color=colour, linewidth=width, label=label)
        below.plot(f, np.degrees(np.angle(own)), ".", color=colour, markersize=1.6)
    above.set_title(f"{name}, FRAC {pose.frac.get(name, float('nan')):.3f}", fontsize=9)
    above.set_ylabel("magnitude (SI)", fontsize=8)
    below.set_ylabel("phase (deg)", fontsize=8)
    below.set_yticks([-180, 0, 180])
    below.set_xlabel("frequency (Hz)", fontsize=8)
    for axes in (above, below):
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.2)


def draw_shapes(found: Correlation, file: Path) -> Path:
    """Measured and computed shapes of the pairs as arrows on the robot, written to `file`."""
    return written(shapes_figure(found), file)


def shapes_figure(found: Correlation) -> Figure:
    """A panel for each pair of modes: the robot, and at every sensor how it moves, measured and computed."""
    panels = [(p, k) for p in found.poses if p.measured_shapes is not None for k in range(len(p.pairs))][:_MOST]
    if not panels:
        raise SuppleError("no shapes were measured; a picture of shapes needs them")
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(3.6 * across, 3.6 * down)
    for n, (pose, k) in enumerate(panels):
        axes: Any = figure.add_subplot(down, across, n + 1, projection="3d")
        _arrows(axes, pose, k)
        m, c = pose.pairs[k]
        computed = pose.computed_hz[list(c)].mean()
        title = f"{pose.pose}: {pose.measured_hz[m]:.2f} / {computed:.2f} Hz, MAC {pose.pair_mac[k]:.2f}"
        axes.set_title(title, fontsize=8)
    from matplotlib.lines import Line2D

    key = [Line2D([], [], color=_MEASURED, label="measured"), Line2D([], [], color=_COMPUTED, label="computed")]
    figure.legend(handles=key, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def _arrows(axes: Any, pose: PoseCorrelation, k: int) -> None:
    assert pose.places is not None and pose.axes is not None
    assert pose.measured_shapes is not None and pose.computed_shapes is not None
    for line in pose.outline:
        axes.plot(*line.T, color=_ROBOT, linewidth=0.8)
    every = np.vstack([*pose.outline, pose.places])
    size = float(np.ptp(every, axis=0).max())
    turn = np.exp(-0.5j * np.angle(np.sum(pose.measured_shapes[:, k] ** 2)))
    largest = float(np.abs(pose.measured_shapes[:, k]).max()) or 1.0
    for shapes, colour in ((pose.measured_shapes, _MEASURED), (pose.computed_shapes, _COMPUTED)):
        moved: dict[tuple[float, ...], Any] = {}
        for place, axis, value in zip(pose.places, pose.axes, (shapes[:, k] * turn).real, strict=True):
            spot = tuple(place)
            moved[spot] = moved.get(spot, np.zeros(3)) + axis * value / largest
        for spot, arrow in moved.items():
            tip = np.array(spot) + 0.15 * size * arrow
            axes.plot(*np.array([spot, tip]).T, color=colour, linewidth=1.6 if colour == _MEASURED else 1.0)
            axes.plot(*tip[:, None], "o", color=colour, markersize=2.5)
    axes.set_box_aspect(np.maximum(np.ptp(every, axis=0), 0.3 * size))
    axes.tick_params(labelsize=5)
    axes.locator_params(nbins=4)
    axes.view_init(elev=18, azim=-60)
