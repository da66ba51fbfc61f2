"""A comparison of formulations as a table, and as a picture of differences and costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from supple.errors import SuppleError
from supple.results import Compared, Comparison

STILL = (".png", ".svg", ".pdf")


def print_comparison(found: Comparison) -> None:
    """One row per formulation (an order of - is rounding); those that do not take the robot say why below."""
    out = Console(highlight=False, soft_wrap=False, emoji=False)
    title = f"{escape(found.robot)}: relative differences from {found.reference}, and costs"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("formulation", no_wrap=True)
    for name in ("M", "f", "order", "of", "Hz", "ops", "forward", "us"):
        table.add_column(name, justify="right")
    for row in found.rows:
        if not row.reason:
            table.add_row(row.formulation, *_cells(row))
    out.print(table)
    for row in found.rows:
        if row.reason:
            out.print(f"{row.formulation}: {escape(row.reason)}")
    out.print("order: power of the deformation, of what is expected; ops, us: of f; forward: of that model", style="dim")
    shown = next(row for row in found.rows if row.formulation == found.reference)
    if shown.frequencies_hz:
        listed = ", ".join(f"{f:.5g}" for f in shown.frequencies_hz)
        out.print(f"lowest frequencies, actuators held, Hz: {listed}")
    if any(row.integrated for row in found.rows):
        _print_motions(found, out)


_SHOWN = ("position", "acceleration", "tau")


def _print_motions(found: Comparison, out: Console) -> None:
    """Steps of every formulation, and its largest differences from the reference, at every tolerance."""
    title = f"motion: largest relative differences from {found.reference} at the same tolerance"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("formulation", no_wrap=True)
    for name in ("tol", "steps", "evaluations", "position", "acceleration", "tau", "loops"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.rows:
        for n, moved in enumerate(row.moved):
            gaps = ["-" if row.formulation == found.reference else _small(moved.differences.get(x)) for x in _SHOWN]
            name = "" if n else row.formulation
            cells = [f"{moved.tolerance:.0e}", str(moved.steps), str(moved.evaluations), *gaps, _small(moved.closure)]
            table.add_row(name, *cells)
    out.print(table)
    for row in found.rows:
        if row.integrated:
            out.print(f"{row.formulation}: {escape(row.integrated)}")


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
    """The picture of a comparison: differences of forces and frequencies, operations and time, written to `file`."""
    if file.suffix.lower() not in STILL:
        raise SuppleError(f"{file}: a picture ends with one of {', '.join(STILL)}")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = [row for row in found.rows if not row.reason]
    places, names = np.arange(len(rows)), [row.formulation for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 1.5 + 0.45 * len(rows)), layout="constrained", sharey=True)
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
    try:
        figure.savefig(file, dpi=140)
    except OSError as error:
        raise SuppleError(f"{file}: cannot be written: {error.strerror or error}") from error
    finally:
        plt.close(figure)
    return file
