"""Which mode a picture draws, how far out, and what it writes above it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from test_tables import MODES

from supple.analyses.modes import modes
from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.frames import joint_places
from supple.model.observe import positions_of, postures_of
from supple.results import Drawing
from supple.views.mode_picture import _smooth, draw_mode

BAR = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 4.0, 0.0]])  # 4 m large, in the plane x-y
MOVES = np.zeros((2, 3, 3))
MOVES[0, 1, 0], MOVES[0, 2, 0] = 0.5, 1.0  # mode 1 along x
MOVES[1, 1, 1], MOVES[1, 2, 1] = -3.0, 6.0  # mode 2 along y
DRAWN = replace(MODES, drawing=Drawing(("bar",), (True,), (BAR,), (MOVES,), True))


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """The figures that are saved, with their lines as they are then."""
    from matplotlib.figure import Figure

    found: list[Any] = []

    def save(figure: Any, file: Path, **_: Any) -> None:
        Path(file).touch()
        axes = figure.axes[0]
        lines = [np.column_stack([line.get_data()[0], line.get_data()[1]]) for line in axes.lines]
        found.append((axes.get_title(), lines, (axes.get_xlabel(), axes.get_ylabel())))

    monkeypatch.setattr(Figure, "savefig", save)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.mark.parametrize("number", [1, 2])
def test_a_picture_draws_the_mode_that_is_asked_for(number: int, figures: list[Any]) -> None:
    """The bar at rest, then bent: the largest move is an eighth of 4 m, along x in mode 1, along y in mode 2."""
    draw_mode(DRAWN, number, Path("mode.svg"))
    ((title, (rest, bent), labels),) = figures
    assert title == {1: "crane: mode 1, 12.35 Hz, damping 2.00%", 2: "crane: mode 2, 678.90 Hz, damping 0.12%"}[number]
    assert labels == ("x (m)", "y (m)")
    assert rest == pytest.approx(BAR[:, :2])
    moved = {1: [[0, 0], [0.25, 0], [0.5, 0]], 2: [[0, 0], [0, -0.25], [0, 0.5]]}[number]
    assert bent - rest == pytest.approx(np.array(moved))


@pytest.mark.parametrize("number", [0, 3])
def test_a_mode_that_was_not_computed_is_refused(number: int, figures: list[Any]) -> None:
    with pytest.raises(SuppleError, match=f"there is no mode {number}; 2 were computed"):
        draw_mode(DRAWN, number, Path("mode.svg"))
    assert not figures


def test_the_command_line_draws_the_mode_that_is_asked_for(tmp_path: Path, figures: list[Any]) -> None:
    """Mode 3 of the cantilever: its frequency above it, its shape below."""
    result = CliRunner().invoke(
        main, ["modes", "cantilever", "--count", "2", "--plot", str(tmp_path / "m.png"), "--mode", "3"]
    )
    assert result.exit_code == 0 and "mode 3 drawn in" in result.output
    found = modes(Machine.read("cantilever").model(), count=3)
    ((title, _, _),) = figures
    assert title.startswith(f"cantilever: mode 3, {found.frequencies_hz[2]:.2f} Hz")


def test_a_drawing_moves_as_the_points_do() -> None:
    """The outline's displacement per mode is the shape's: of a mass on a spring along y, 1/sqrt(4 kg) at its end."""
    from robots import build

    text = """
    space: planar
    links:
      mass: {parent: base, joint: fixed, stiffness: {y: 100}, body: {rigid: {mass: 4}}}
      arm: {parent: mass, at: [1, 0, 0], joint: fixed, stiffness: {rz: 10},
            body: {rigid: {mass: 0, inertia: {zz: 0.1}, unphysical: allowed}}}
    """
    found = modes(build(text))
    assert 2 * np.pi * found.frequencies_hz == pytest.approx([5, 10])
    where = found.drawing.names.index("arm")
    for mode, wanted in ((0, 0.5), (1, 0.0)):
        moved = found.drawing.displacements[where][mode]
        assert np.abs(moved[0]) == pytest.approx([0, wanted, 0], abs=1e-9)


def test_bent_beams_are_drawn_as_the_cubics_that_they_are() -> None:
    """Nine points of Hermite's cubic between them give the whole cubic; corners of a plate stay corners."""
    x = np.linspace(0, 1, 9)
    straight = np.column_stack([x, 0 * x, 0 * x])
    bent = np.column_stack([x, 3 * x**2 - 2 * x**3, 0 * x])
    curve = _smooth(straight, bent)
    assert len(curve) > 40
    assert np.abs(curve[:, 1] - (3 * curve[:, 0] ** 2 - 2 * curve[:, 0] ** 3)).max() < 1e-12
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]], dtype=float)
    assert _smooth(square, square) is square


def test_joints_and_base_are_where_loops_close() -> None:
    """Joints of closures are where the second body has them; they move as finite motions along the modes say."""
    model = Machine.read("dualemps").model()
    found = modes(model, count=3)
    drawing = found.drawing
    assert drawing.joints is not None and drawing.joint_moves is not None and drawing.base is not None
    q = postures_of(model, np.array([found.pose[n] for n in model.names]))
    closing = len(model.mechanism.closures)
    assert np.abs(drawing.joints[-closing:] - positions_of(model, q[None])[0]).max() < 1e-9
    h = 1e-6
    ends = [joint_places(model, model.retract(q, s * h * found.shapes[:, 1]), found.shapes.T)[0] for s in (1, -1)]
    assert np.abs((ends[0] - ends[1]) / (2 * h) - drawing.joint_moves[1]).max() < 1e-6 * np.abs(drawing.joint_moves).max()
    assert drawing.base == pytest.approx(np.array([[0.0, 0, 0], [0.4, 0, 0]]))


def test_names_are_no_formulas(tmp_path: Path) -> None:
    """A name with $ is written as it is, whatever stands between; a scale keeps its powers of ten."""
    from supple.views.figures import new_figure, plain, written

    figure = new_figure(3, 2)
    axes = figure.add_subplot()
    axes.semilogy([1, 2], [1e-3, 1e5], label=r"$\frac{1}$")
    axes.legend()
    figure.suptitle(r"a $\frac{1}$ robot")
    file = written(figure, tmp_path / "picture.svg")
    assert file.stat().st_size > 1000
    figure.canvas.draw()
    scale = [t for t in axes.get_yticklabels() if t.get_text()]
    assert scale and all(t.get_parse_math() for t in scale)
    assert not axes.get_legend().get_texts()[0].get_parse_math() and plain(figure) is figure
