"""What a control law does, in tables."""

from __future__ import annotations

import math

import numpy as np

from supple.results.control import Array, Control, Judged
from supple.views.page import Line, Page, Sheet

_MOST = 40  # poses that are listed
_POLES = 12


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
    return [*made, Sheet(columns, rows, title, strong=(worst,) if len(rows) > 1 and worst < _MOST else ()), _poles(found)]


def _poles(found: Control) -> Sheet:
    """The lowest poles of the pose with the least damping, of the loop and of the robot by itself."""
    where = ", ".join(f"{n} {x:.4g}" for n, x in found.worst.at.items())
    closed, alone = (_lowest(p) for p in (found.worst.poles, found.worst.open_loop))
    rows = [
        (*(closed[k] if k < len(closed) else ("", "")), *(alone[k] if k < len(alone) else ("", "")))
        for k in range(max(len(closed), len(alone)))
    ]
    columns = ("Hz", "damping", "alone: Hz", "damping alone")
    return Sheet(columns, rows, f"lowest poles at {where}, and those of the robot without the law")


def _lowest(poles: Array) -> list[tuple[str, str]]:
    """Frequency (Hz) and damping ratio of the lowest poles."""
    upper = sorted(poles[poles.imag >= -1e-9], key=abs)[:_POLES]
    least = 1e-9 * float(np.abs(poles).max())
    return [(f"{abs(p) / (2 * np.pi):.4g}", f"{-p.real / abs(p):.2%}") if abs(p) > least else ("0", "-") for p in upper]


def _row(p: Judged) -> tuple[str, ...]:
    where = ", ".join(f"{n} {x:.4g}" for n, x in p.at.items())
    return (
        where, "yes" if p.stable else "no", f"{p.damping:.2%}", f"{p.frequency_hz:.4g}", _told(p.least_gain),
        _told(p.most_gain), _told(None if p.delay_margin is None else 1e3 * p.delay_margin),
    )  # fmt: skip


def _told(x: float | None) -> str:
    return "-" if x is None else "any" if math.isinf(x) else f"{x:.4g}"
