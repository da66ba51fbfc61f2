"""Pictures over time: legends beside the curves, lines that hide each other told apart, none left out in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from supple.results import Signal, Simulation
from supple.views.time_plot import _draw, plot_simulation


def simulation(count: int, alike: bool = False) -> Simulation:
    """Sines of `count` sliders; a point that moves along x and, by rounding only, along y."""
    t = np.linspace(0.0, 1.0, 200)
    q = np.stack([np.sin(2 * np.pi * t + (0.0 if alike else k)) for k in range(count)], axis=1)
    point = np.zeros((len(t), 1, 3))
    point[:, 0, 0], point[:, 0, 1] = np.sin(9 * t), 1e-9
    names = tuple(f"slider_{k}" for k in range(count))
    signals = {
        "position": Signal(q, ("coordinate",), ("m",) * count, ""),
        "tau": Signal(10 * q, ("actuator",), ("N",) * count, ""),
        "point_acceleration": Signal(point, ("point", "axis"), "m/s^2", ""),
        "point_deformation": Signal(1e-5 * point, ("point", "axis"), "m", ""),
    }
    axes = {"coordinate": names, "actuator": names, "point": ("tip",), "axis": ("x", "y", "z")}
    return Simulation("r", "m", t, signals, axes, ("active",) * count, "complete", {}, {}, {})


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    figures: list[Any] = []
    save = Figure.savefig

    def kept(figure: Any, *arguments: Any, **options: Any) -> None:
        figures.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", kept)
    return figures


@pytest.mark.parametrize("count", [1, 6, 12])
def test_legends_cover_no_curve(count: int, tmp_path: Path, drawn: list[Any]) -> None:
    plot_simulation(simulation(count), tmp_path / "x.png")
    for axis in drawn[0].axes:
        legend, area = axis.get_legend().get_window_extent(), axis.get_window_extent()
        assert legend.x0 >= area.x1 - 1 and legend.x1 <= drawn[0].bbox.x1 + 1
    title = drawn[0].axes[0].get_legend().get_title().get_text()
    assert title == ("4 more not drawn" if count == 12 else "")


def test_lines_on_top_of_each_other_are_dashed(tmp_path: Path, drawn: list[Any]) -> None:
    plot_simulation(simulation(3, alike=True), tmp_path / "x.svg")
    plot_simulation(simulation(3), tmp_path / "y.svg")
    dashed = [[line.is_dashed() for line in figure.axes[0].lines] for figure in drawn]
    assert dashed == [[False, True, True], [False, False, False]]


def test_rounding_is_not_drawn_and_units_suit(tmp_path: Path, drawn: list[Any]) -> None:
    plot_simulation(simulation(1), tmp_path / "x.pdf")
    acceleration, deformation = drawn[0].axes[2:]
    assert [line.get_label() for line in acceleration.lines] == ["tip x"]
    assert "µm" in deformation.get_ylabel()
    assert np.abs(deformation.lines[0].get_ydata()).max() == pytest.approx(10.0, rel=0.01)


def test_sag_is_apart_from_vibration_and_what_is_left_is_drawn_large() -> None:
    """A point that sags by 30 µm, moves, and rings at 2 µm after its path: the ringing fills a panel of its own."""
    from supple.views.time_plot import time_figure

    run = simulation(1)
    t = run.time
    z = -30e-6 + np.where(t < 0.5, 50e-6 * np.sin(4 * np.pi * t), 2e-6 * np.sin(60 * np.pi * t))
    point = np.zeros((len(t), 1, 3))
    point[:, 0, 2] = z
    point[:, 0, 1] = 4e-17 + np.where(t < 0.5, 5e-6 * np.sin(4 * np.pi * t), 0.0)  # does not sag, but for rounding
    signals = {**run.signals, "point_deformation": Signal(point, ("point", "axis"), "m", "")}
    told = {"performance": {"rest_from_s": 0.5}}
    axes = time_figure(Simulation("r", "m", t, signals, run.axes, run.kinds, "complete", told, {}, {})).axes
    vibration, rest = (axis.get_lines()[-1].get_ydata() for axis in axes[-2:])
    assert vibration[0] == 0.0 and np.ptp(vibration) == pytest.approx(1e6 * np.ptp(z))
    assert [x.get_text() for x in axes[-2].get_legend().get_texts()] == ["tip y", "tip z, sag -30 µm"]
    assert len(rest) == (t > 0.5).sum() and np.abs(rest).max() == pytest.approx(2.0, rel=0.05)
    assert axes[-1].get_xlim()[0] > 0.5 and len(axes) == 5


def test_actuators_that_are_held_have_an_axis_of_plain_numbers() -> None:
    """A line that moves by its rounding alone: the axis is about its size, and not about its last digits."""
    axis = Figure().subplots()
    line = -0.04973338072 + np.where(np.arange(50) % 2, 7e-18, 0.0)
    _draw(axis, np.linspace(0, 1, 50), "actuators", "m", [("leg1/s", line)])
    low, high = axis.get_ylim()
    assert low == pytest.approx(-1.1 * 0.04973338072) and high == pytest.approx(-0.9 * 0.04973338072)
