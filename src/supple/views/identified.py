"""Fitted parameters as a page, as a picture of what the data hold, and both as a file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.measurements import Identified
from supple.views.figures import Figure, new_figure, plain, written
from supple.views.page import Line, Page, Sheet, html

_MOST = 60  # rows of a table on a page


def identified_page(found: Identified) -> Page:
    """Parameters with deviations, what was compared, what held-out poses say, and what the data hold."""
    rows = [
        (n, f"{a:.5g}", f"{x:.5g}", _relative(s, x), f"{100 * (x / a - 1):+.2f}")
        for n, a, x, s in zip(found.names, found.start, found.values, found.deviations, strict=True)
    ]
    quality = f"chi^2 {found.chi_squared:.4g} of {found.freedom} degrees of freedom, {found.evaluations} evaluations"
    made: list[Line | Sheet] = [
        Line(f", fitted to {found.test}: {quality}", strong=found.robot),
        Sheet(("parameter", "start", "fitted", "+- %", "change %"), rows, title="parameters (SI)"),
        _compared("compared", found.residuals),
    ]
    if found.predicted:
        made.append(_compared("held-out poses", found.predicted))
    return [*made, *(Line(text) for text in found.words)]


def _relative(spread: float, value: float) -> str:
    share = 100 * spread / abs(value)
    return f"{share:.2g}" if np.isfinite(share) and share < 1e3 else "not known"


def _compared(title: str, rows: tuple[dict[str, Any], ...]) -> Sheet:
    table = [
        (r["pose"], r["what"], f"{r['measured']:.5g}", f"{r['computed']:.5g}", _off(r), f"{r['residual']:+.2f}")
        for r in rows[:_MOST]
    ]
    more = f" (first {_MOST} of {len(rows)})" if len(rows) > _MOST else ""
    return Sheet(("pose", "what", "measured", "computed", "error %", "by deviation"), table, title=title + more)


def _off(row: dict[str, Any]) -> str:
    return f"{100 * (row['computed'] / row['measured'] - 1):+.2f}" if row["measured"] else "-"


def draw_identified(found: Identified, file: Path) -> Path:
    """What the data hold of the parameters, written to `file`."""
    return written(identified_figure(found), file)


def identified_figure(found: Identified) -> Figure:
    """Combinations of parameters by how well they are known, correlations, and profiles of the likelihood."""
    figure = new_figure(10, 4.2 + (3.0 if found.profiles else 0))
    grid = figure.add_gridspec(2 if found.profiles else 1, 2)
    _weights(figure, figure.add_subplot(grid[0, 0]), found)
    _correlation(figure, figure.add_subplot(grid[0, 1]), found)
    if found.profiles:
        axes: Any = figure.add_subplot(grid[1, :])
        for name, rows in found.profiles.items():
            axes.plot(rows[:, 0] / found.values[found.names.index(name)], rows[:, 1] - rows[:, 1].min(), "o-", label=name)
        axes.axhline(3.84, color="0.5", linestyle="--", linewidth=0.8, label="95 %")
        axes.set_xlabel("times the fitted value", fontsize=8)
        axes.set_ylabel("chi^2 above its least", fontsize=8)
        axes.legend(fontsize=7, frameon=False)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.2)
    return figure


def _weights(figure: Figure, axes: Any, found: Identified) -> None:
    weights = np.array([w for _, w in found.combinations])
    image = axes.imshow(np.abs(weights).T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_yticks(range(len(found.labels)), found.labels, fontsize=7)
    shown = [f"{100 * s:.2g} %" if s < 10 else "-" for s, _ in found.combinations]
    axes.set_xticks(range(len(shown)), shown, rotation=60, fontsize=7)
    axes.axvline(found.known - 0.5, color="tab:red", linewidth=1.2)
    axes.set_xlabel("deviation of a combination; known ones stand left of the line", fontsize=8)
    axes.set_title("combinations of parameters", fontsize=9)
    figure.colorbar(image, ax=axes, fraction=0.046).ax.tick_params(labelsize=7)


def _correlation(figure: Figure, axes: Any, found: Identified) -> None:
    image = axes.imshow(found.correlation, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_xticks(range(len(found.names)), found.names, rotation=60, fontsize=7)
    axes.set_yticks(range(len(found.names)), found.names, fontsize=7)
    axes.set_title("correlation", fontsize=9)
    figure.colorbar(image, ax=axes, fraction=0.046).ax.tick_params(labelsize=7)


def write_summary(found: Identified, file: Path) -> Path:
    """The page and the picture as one HTML file that needs nothing else."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise SuppleError(f"{file}: a summary ends with .html")
    drawn = io.StringIO()
    plain(identified_figure(found)).savefig(drawn, format="svg")
    picture = drawn.getvalue()
    picture = picture[picture.index("<svg") :]
    text = f"<!doctype html><meta charset='utf-8'><title>fit</title>{html(identified_page(found))}{picture}"
    return written_whole(file, lambda path: path.write_text(text, encoding="utf-8"))
