"""What was measured, as pages of lines and tables."""

from __future__ import annotations

from supple.measurements import Extracted
from supple.views.page import Line, Page, Sheet


def extracted_page(found: Extracted) -> Page:
    """Modes extracted from responses, and why they were chosen."""
    m = found.modes
    rows = [
        (str(k + 1), f"{f:.4f}", f"{df:.2g}", f"{100 * z:.3f}", f"{100 * dz:.2g}", f"{c:.3f}", f"{100 * s:.0f}")
        for k, (f, df, z, dz, c, s) in enumerate(
            zip(m.frequencies_hz, m.frequency_deviation, m.damping_ratios, m.damping_deviation, m.phase_collinearity(),
                found.stability, strict=True)
        )
    ]  # fmt: skip
    columns = ("mode", "Hz", "+-", "ratio %", "+- %", "collinearity", "stable %")
    head = f"{len(m.outputs)} responses to {len(m.inputs)} inputs, {found.band[0]:g} to {found.band[1]:g} Hz"
    return [
        Line(f"; restored with an error of {100 * found.error:.3g} %", strong=head),
        Sheet(columns, rows),
        *(Line(text) for text in found.decisions),
    ]
