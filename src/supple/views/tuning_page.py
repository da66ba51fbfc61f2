"""Shapers or gains that were tried, in a table."""

from __future__ import annotations

from supple.results.tuning import Tried, Tuned
from supple.views.page import Line, Page, Sheet

_MOST = {"shaper": 40, "gains": 8}  # that are listed
_SCALES = {"m": (1e6, "µm"), "s": (1e3, "ms"), "m or rad": (1e6, "µm or µrad")}
_JUDGED = {
    "residual": "vibration left", "settled": "time until settled", "peak": "peak error", "rms": "RMS error",
    "tracking": "RMS error of actuators",
}  # fmt: skip
_WORDS = 60  # letters of a reason


def tuning_page(found: Tuned) -> Page:
    """The best, and what was tried, best first."""
    scale, unit = _SCALES[found.unit]
    motions = list(dict.fromkeys(c.motion for c in found.best.cases))
    robots = len(found.best.cases) // len(motions)
    most = _MOST[found.of]
    listed = (found.before, *found.tried[:most])
    columns = ("what", f"worst ({unit})", "case", f"spread ({unit})", "longer (ms)", "limits used", "saturated", "why")
    rows = [_row(t, scale) for t in listed]
    told = [k for k in range(len(columns)) if any(row[k] for row in rows)]
    more = f", the first {most} of {len(found.tried)}" if len(found.tried) > most else ""
    title = f"{_JUDGED[found.by]}, worst of {len(motions)} motions x {robots} robots; as it was, then best first{more}"
    worst = found.best.worst
    judged = f"{_JUDGED[found.by]} {scale * (worst.value or 0.0):.4g} {unit} at worst ({worst.where})"
    return [
        Line(f": {found.best.about}", strong=found.robot),
        Line(judged, faint=f"; {found.simulations} simulations"),
        Sheet(
            tuple(columns[k] for k in told), [tuple(row[k] for k in told) for row in rows], title,
            strong=(listed.index(found.best),) if found.best in listed else (),
        ),
        Line(f"in a motion file: {found.text.strip()}"),
    ]  # fmt: skip


def _row(t: Tried, scale: float) -> tuple[str, ...]:
    value, spread = t.worst.value, t.spread
    why = "" if t.failed is None else t.failed.why
    return (
        t.about.replace(",", ", "), "failed" if value is None else f"{scale * value:.4g}", t.worst.where,
        f"{scale * spread:.3g}" if spread is not None and len(t.cases) > 1 else "", _some(1e3 * t.longer, "", 4),
        _some(100 * t.used, " %", 4), _some(100 * t.saturated, " %", 3), why if len(why) <= _WORDS else f"{why[:_WORDS]}...",
    )  # fmt: skip


def _some(x: float, unit: str, digits: int) -> str:
    return f"{x:.{digits}g}{unit}" if x else ""
