"""Figures that no window shows, and how they are written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.delivery import written_whole
from supple.errors import SuppleError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure
else:
    Figure = Any  # matplotlib is imported when something is drawn

STILL_PICTURES = (".png", ".svg", ".pdf")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def drawn(file: Path, draw: Callable[[Path], Any]) -> Path:
    """The file of a picture, in a folder that must be there."""
    if not file.parent.is_dir():
        raise SuppleError(f"{file}: cannot be written: No such file or directory")
    return written_whole(file, draw)


def plain(figure: Figure) -> Figure:
    """The figure, names that hold $ left as they are instead of being set as formulas; powers of ten of scales stay."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if "$" in text.get_text() and "\\mathdefault" not in text.get_text():
            text.set_parse_math(False)
    return figure


def written(figure: Figure, file: Path) -> Path:
    """The file that the figure was written to; its suffix says how."""
    if file.suffix.lower() not in STILL_PICTURES:
        raise SuppleError(f"{file}: a picture ends with one of {', '.join(STILL_PICTURES)}")
    try:
        return drawn(file, lambda path: plain(figure).savefig(path, dpi=140))
    except ValueError as problem:
        raise SuppleError(f"{file}: cannot be written: {problem}") from problem
