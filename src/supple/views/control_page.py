"""What a control law does, in tables."""

from __future__ import annotations

import math

from supple.results.control import Control, Judged
from supple.views.page import Line, Page, Sheet

_MOST = 40  # poses that are listed


def control_page(found: Control) -> Page:
    """The law, what it estimates, and its loop in every pose."""
    size = f"{found.states} states" if found.parts == 1 else f"{found.parts} parts of {found.states} states, weighted"
    made: list[Line | Sheet] = [
        Line(f": {found.about}", strong=found.robot),
        Line(f"{size}, sampled every {found.sample:g} s, {found.delay:g} s late"),
        Line(f"reads {', '.join(found.sensors)}; moves {', '.join(found.forces)}"),
    ]
    if found.sigma:
        told = ", ".join(f"{n} {x:.3g} {unit}" for n, (x, unit) in found.sigma.items())
        made.append(Line(f"estimates after a reading, one standard deviation: {told}"))
    if not found.stable:
        made.append(Line(f"motions grow: {found.unsteady()}", strong="not stable: "))
    rows = [_row(p) for p in found.poses[:_MOST]]
    worst = found.poses.index(found.worst)
    columns = ("pose", "stable", "least damping", "Hz", "gain from", "to", "delay margin (ms)")
    more = f", the first {_MOST} of them" if len(found.poses) > _MOST else ""
    title = f"closed loops on the whole linear robot: {len(found.poses)} poses{more}"
    return [*made, Sheet(columns, rows, title, strong=(worst,) if len(rows) > 1 and worst < _MOST else ())]


def _row(p: Judged) -> tuple[str, ...]:
    where = ", ".join(f"{n} {x:.4g}" for n, x in p.at.items())
    return (
        where, "yes" if p.stable else "no", f"{p.damping:.2%}", f"{p.frequency_hz:.4g}", _told(p.least_gain),
        _told(p.most_gain), _told(None if p.delay_margin is None else 1e3 * p.delay_margin),
    )  # fmt: skip


def _told(x: float | None) -> str:
    return "-" if x is None else "any" if math.isinf(x) else f"{x:.4g}"
