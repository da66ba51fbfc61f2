"""What was measured, as pages of lines and tables."""

from __future__ import annotations

from typing import Any

from supple.measurements import Correlation, Extracted, Planned, PoseCorrelation, Rehearsed
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


def correlation_page(found: Correlation) -> Page:
    """Measured and computed modes side by side, pose by pose."""
    made: list[Line | Sheet] = [
        Line(f": frequencies differ by {100 * found.rms_error:.3g} % (root mean square)", strong=found.robot)
    ]
    for pose in found.poses:
        made += _pose(pose)
    return made


def _pose(p: PoseCorrelation) -> list[Line | Sheet]:
    columns = ("measured Hz", "computed Hz", "error %", "MAC", "ratio %", "computed %")
    rows = []
    for (m, c), error, likeness in zip(p.pairs, p.errors, p.pair_mac, strict=True):
        z, own = p.measured_ratios[m], p.computed_ratios[list(c)].mean()
        hz = f"{p.computed_hz[list(c)].mean():.3f}" + (f" x{len(c)}" if len(c) > 1 else "")
        alike, ratio = (f"{x:.{n}f}" if x == x else "-" for x, n in ((likeness, 3), (100 * z, 2)))
        rows.append((f"{p.measured_hz[m]:.3f}", hz, f"{100 * error:+.2f}", alike, ratio, f"{100 * own:.2f}"))
    made: list[Line | Sheet] = (
        [Sheet(columns, rows, title=f"pose {p.pose}")] if rows else [Line("", strong=f"pose {p.pose}")]
    )
    if p.co_mac:
        worst = sorted(p.co_mac.items(), key=lambda pair: pair[1])[:3]
        made.append(Line("lowest coMAC: " + ", ".join(f"{n} {x:.2f}" for n, x in worst)))
    if p.frac and p.response_error is not None:
        low = min(p.frac.items(), key=lambda pair: pair[1])
        mean = sum(p.frac.values()) / len(p.frac)
        made.append(
            Line(f"responses: J_Q {100 * p.response_error:.3g} %, FRAC {mean:.3f} on average, lowest {low[0]} {low[1]:.2f}")
        )
    return [*made, *(Line(text) for text in p.words)]


def rehearsed_page(made: Rehearsed) -> Page:
    """A rehearsed test: the modes behind what was written."""
    head = f"{made.robot}: {made.by} of {len(made.truth)} poses, noise {100 * made.noise:.3g} %, seed {made.seed}"
    rows = [
        (pose if k == 0 else "", str(k + 1), f"{f:.4f}", f"{100 * z:.3f}")
        for pose, found in made.truth.items()
        for k, (f, z) in enumerate(zip(found["frequencies_hz"], found["damping_ratios"], strict=True))
    ]
    return [Line("", strong=head), *([Sheet(("pose", "mode", "Hz", "ratio %"), rows)] if rows else [])]


def planned_page(found: Planned) -> Page:
    """Where to strike and listen, in which poses, and what that tells."""
    seen, struck, stood = found.candidates
    choice = f" of {seen} places for sensors, {struck} blows and {stood} poses, {found.band[0]:g} to {found.band[1]:g} Hz"
    (name, blow), *_ = found.exciter.items()
    sensors = [
        (n, _where(place), ", ".join(place.get("directions", ())), f"{100 * mean:.3g}")
        for (n, place), mean in zip(found.sensors.items(), found.by_sensors, strict=True)
    ]
    poses = [
        (n, ", ".join(f"{k} {x:.4g}" for k, x in at.items()), f"{100 * mean:.3g}")
        for (n, at), mean in zip(found.poses.items(), found.by_poses, strict=True)
    ]
    expected = [(n, f"{100 * s:.3g}") for n, s in zip(found.labels, found.deviations, strict=True)]
    return [
        Line(choice, strong=found.robot),
        Line(f": strike {_where(blow)} along {blow.get('direction', 'z')}", strong=name),
        Sheet(("about", "what", "axis", "mean +- %"), sensors, title="sensors, with the mean deviation up to each"),
        Sheet(("pose", "what", "mean +- %"), poses, title="poses"),
        Sheet(("parameter", "+- %"), expected, title=f"to expect, with {100 * found.noise:g} % of noise"),
        *(Line(text) for text in found.words),
    ]


def _where(place: dict[str, Any]) -> str:
    at = ", ".join(f"{x:.4g}" for x in place.get("at", ()))
    return f"point {place['point']}" if "point" in place else f"link {place['link']}" + (f" at [{at}]" if at else "")
