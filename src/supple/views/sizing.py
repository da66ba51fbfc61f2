"""Sizing as tables and pictures."""

from __future__ import annotations

from typing import Any

from supple.results.sizing import Met, Sizing
from supple.views.figures import Figure, new_figure
from supple.views.page import Line, Page, Sheet
from supple.views.study_axes import shown_unit


def _number(value: float, unit: str) -> str:
    shown, scale = shown_unit(unit)
    return f"{value * scale:.5g} {shown}".strip()


def sizing_page(found: Sizing) -> Page:
    """The best design, what holds it back, and the runs."""
    rows = []
    for name, value in found.values.items():
        low, high = (_number(x, found.units[name]) for x in found.limits[name])
        rows.append(
            (name, _number(value, found.units[name]), f"{low} to {high}", "at its limit" if name in found.at_limit else "")
        )
    said = f"{found.robot}, {found.objective}: {_number(found.value, found.unit)}"
    made: list[Line | Sheet] = [Sheet(("what", "value", "range", "why"), rows, said)]
    if not found.met:
        made.append(
            Line(" the best design found breaks one of them; widen a range or ask for less", strong="Wants not met:")
        )
    wants = [
        (
            w.text,
            _number(w.value, w.unit),
            str(w.pose),
            "not met" if _broken(w) else "holds back" if w.active else "kept",
            f"{w.price:+.3g} %" if w.active and found.met else "",
        )
        for w in found.wants
    ]
    if wants:
        made.append(Sheet(("what", "worst", "in pose", "why", "1 % more costs"), wants, "wants"))
    if found.trade:
        unit, other = found.unit, found.trade_unit
        curve = [
            (_number(t.objective, unit), _number(t.other, other), *(_number(x, found.units[n]) for n, x in t.values.items()))
            for t in found.trade
        ]
        made.append(Sheet((found.objective, found.trade_of, *found.values), curve, "best compromises"))
    runs = sum(s.violation <= 1e-6 for s in found.starts)
    same = sum(abs(s.objective - found.value) <= 1e-3 * abs(found.value) and s.violation <= 1e-6 for s in found.starts)
    made.append(
        Line(f"{found.evaluations} designs looked at, {len(found.poses)} poses each; {runs} of {len(found.starts)} runs "
             f"kept the wants, {same} came to this optimum")
    )  # fmt: skip
    return made


def _broken(want: Met) -> bool:
    over = want.value - want.limit if want.relation.startswith("<") else want.limit - want.value
    return over > 1e-6 * abs(want.limit)


def sizing_figure(found: Sizing) -> Figure:
    """How the runs went, and the curve of the best compromises if there is one."""
    figure = new_figure(5.0 * (1 + bool(found.trade)), 3.8)
    panels = figure.subplots(1, 1 + bool(found.trade), squeeze=False)[0]
    unit, scale = shown_unit(found.unit)
    for k, start in enumerate(found.starts):
        panels[0].plot([x * scale for x in start.history], ".-", linewidth=1.0, markersize=4, label=f"start {k + 1}")
    panels[0].axhline(found.value * scale, color="black", linewidth=0.8, linestyle="--")
    _labelled(panels[0], "designs looked at", f"{found.objective} ({unit})")
    panels[0].legend(fontsize=7)
    if found.trade:
        other, times = shown_unit(found.trade_unit)
        panels[1].plot(
            [t.other * times for t in found.trade], [t.objective * scale for t in found.trade], "o-", markersize=4
        )
        _labelled(panels[1], f"{found.trade_of} ({other})", f"{found.objective} ({unit})")
    figure.suptitle(f"{found.robot}: {found.objective}", fontsize=11)
    return figure


def _labelled(axes: Any, x: str, y: str) -> None:
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
