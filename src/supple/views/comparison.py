"""A comparison of formulations as a page, and as a picture of differences and costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.results import Compared, Comparison
from supple.views.figures import Figure, new_figure, written
from supple.views.page import Line, Page, Sheet


def comparison_page(found: Comparison) -> Page:
    """One row per formulation (an order of - is rounding); those that do not take the robot say why below."""
    title = f"{found.robot}: relative differences from {found.reference}, and costs"
    columns = ("formulation", "M", "f", "order", "of", "Hz", "ops", "forward", "us")
    rows = [(row.formulation, *_cells(row)) for row in found.rows if not row.reason]
    made: list[Line | Sheet] = [Sheet(columns, rows, title)]
    made += [Line(f"{row.formulation}: {row.reason}") for row in found.rows if row.reason]
    key = "order: power of the deformation, of what is expected; ops, us: of f; forward: of that model"
    made.append(Line("", faint=key))
    shown = next(row for row in found.rows if row.formulation == found.reference)
    if shown.frequencies_hz:
        listed = ", ".join(f"{f:.5g}" for f in shown.frequencies_hz)
        made.append(Line(f"lowest frequencies, actuators held, Hz: {listed}"))
    return [*made, *_motions(found)]


_SHOWN = ("position", "acceleration", "tau")


def _motions(found: Comparison) -> Page:
    """Steps of every formulation, and its largest differences from the reference, at every tolerance."""
    if not any(row.integrated for row in found.rows):
        return []
    rows = []
    for row in found.rows:
        for n, moved in enumerate(row.moved):
            gaps = ["-" if row.formulation == found.reference else _small(moved.differences.get(x)) for x in _SHOWN]
            name = "" if n else row.formulation
            numbers = (f"{moved.tolerance:.0e}", str(moved.steps), str(moved.evaluations))
            rows.append((name, *numbers, *gaps, _small(moved.closure)))
    title = f"motion: largest relative differences from {found.reference} at the same tolerance"
    columns = ("formulation", "tol", "steps", "evaluations", *_SHOWN, "loops")
    said = [Line(f"{row.formulation}: {row.integrated}") for row in found.rows if row.integrated]
    return [Sheet(columns, rows, title), *said]


def _cells(row: Compared) -> list[str]:
    orders = [x for x in (row.mass_order, row.force_order) if x is not None]
    known = row.expected.removeprefix("order ") if row.expected.startswith("order") else "-"
    return [
        _small(row.mass_difference), _small(row.force_difference), f"{min(orders):.2f}" if orders else "-", known,
        _small(row.frequency_difference), str(row.operations),
        "-" if row.forward_operations is None else str(row.forward_operations),
        "-" if row.microseconds is None else f"{row.microseconds:.2f}",
    ]  # fmt: skip


def _small(x: float | None) -> str:
    return "-" if x is None else f"{x:.1e}"


def draw_comparison(found: Comparison, file: Path) -> Path:
    """The picture of a comparison, written to `file`."""
    return written(comparison_figure(found), file)


def comparison_figure(found: Comparison) -> Figure:
    """Differences of forces and frequencies, operations and time."""
    rows = [row for row in found.rows if not row.reason]
    places, names = np.arange(len(rows)), [row.formulation for row in rows]
    figure = new_figure(10, 1.5 + 0.45 * len(rows))
    left, right = figure.subplots(1, 2, sharey=True)
    for offset, label, key in ((-0.25, "mass matrix", "mass_difference"), (0, "forces", "force_difference"),
                               (0.25, "frequencies", "frequency_difference")):  # fmt: skip
        sizes = [getattr(row, key) or 0.0 for row in rows]
        left.barh(places + offset, sizes, 0.22, label=label, left=1e-17)
    left.axvline(2.2e-16, color="#30455c", linewidth=0.8, linestyle=":", label="rounding")
    left.set_xscale("log")
    left.set_xlim(1e-17, 1)
    left.set_xlabel(f"relative difference from {found.reference}")
    left.set_yticks(places, names)
    left.invert_yaxis()
    left.grid(axis="x", alpha=0.25)
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=8)
    right.barh(places, [row.operations or 0 for row in rows], 0.5, color="#30455c")
    right.set_xlabel("operations of the tree's forces")
    right.margins(x=0.15)
    for place, row in zip(places, rows, strict=True):
        if row.microseconds is not None:
            right.text(row.operations or 0, place, f" {row.microseconds:.2f} µs", va="center", fontsize=8)
    figure.suptitle(found.robot)
    return figure
