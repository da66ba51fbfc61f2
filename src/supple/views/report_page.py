"""A Report, or the Difference of two results, as one HTML file for screens and paper; every text in it is escaped."""

from __future__ import annotations

import base64
import io
import shlex
from collections.abc import Sequence
from html import escape

import numpy as np

from supple.results.report import Difference, Posed, Report
from supple.views.figures import Figure, new_figure, plain
from supple.views.page import Line, Page, Sheet, html
from supple.views.still import still_picture
from supple.views.study_page import study_page
from supple.views.study_plot import study_figure
from supple.views.tables import check_page, modes_page, simulation_page, stiffness_page
from supple.views.time_plot import time_figure

_MODES = 6  # that are drawn
_STYLE = """
body { font: 14px/1.5 system-ui, "Segoe UI", Roboto, Arial, sans-serif; color: #1c2530; max-width: 940px; margin: 24px auto; padding: 0 18px; overflow-wrap: anywhere; }
h1 { font-size: 26px; margin: 0 0 4px; unicode-bidi: isolate; } h2 { font-size: 19px; margin: 30px 0 8px; border-bottom: 1px solid #d5dce4; }
h3 { font-size: 15px; margin: 18px 0 6px; } .soft { color: #5d6b7a; } figure { margin: 10px 0; break-inside: avoid; } img { max-width: 100%; height: auto; }
figcaption { font-size: 12px; color: #5d6b7a; } code { font: 12px ui-monospace, Menlo, Consolas, monospace; background: #f1f4f8; padding: 1px 5px; border-radius: 4px; }
table { border-collapse: collapse; font-size: 12.5px; margin: 8px 0; font-variant-numeric: tabular-nums; break-inside: auto; } tr { break-inside: avoid; }
th, td { padding: 2px 10px 2px 0; border-bottom: 1px solid #e6ebf1; vertical-align: top; } caption { font-weight: 600; padding: 4px 0; text-align: left; }
.grid { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 18px; } .notice { border-left: 3px solid #d9480f; background: #fdf1ea; padding: 6px 10px; margin: 6px 0; font-size: 13px; }
@page { margin: 16mm; } @media print { body { margin: 0; padding: 0; max-width: none; font-size: 11px; } h2 { break-after: avoid; } h3 { break-after: avoid; } }
"""  # noqa: E501


def report_page(report: Report) -> str:
    """The text of the page of a Report."""
    check = report.check
    first = report.posed[0]
    parts = [
        f"<h1>{escape(check.robot)}</h1>",
        f'<p class="soft">{escape(" ".join(check.about.split()))}</p>',
        *(f'<p class="notice">{escape(text)}</p>' for text in report.notices),
        "<h2>What it is</h2>",
        _still(first, None, _command(report, "show", first.options, "--png", "robot.png"), "At rest, bent by its weight."),
        html(_parameters(report)), html(check_page(check)),
        _said(_command(report, "check", first.options)),
    ]  # fmt: skip
    for posed in report.posed:
        parts += _pose(report, posed)
    if report.study is not None:
        study, words = report.study
        what = _command(report, "map", words, "--plot", "map.png")
        parts += ["<h2>Map</h2>", _figure(study_figure(study), f"{study.kind} of {study.robot}", what)]
        parts += [html(study_page(study)), _said(what)]
    if report.run is not None:
        asked = (
            "--motion",
            report.moved or report.run.motion,
            "--duration",
            f"{float(report.run.provenance['duration_s']):g}",
        )
        motion = _command(report, "simulate", asked, "--plot", "motion.png")
        parts += [f"<h2>Motion {escape(report.run.motion)}</h2>", _figure(time_figure(report.run), "Over time.", motion)]
        parts += [html(simulation_page(report.run)), _said(_command(report, "simulate", asked))]
    parts += ["<h2>Where it comes from</h2>", html([_sheet(("what", "value"), list(report.provenance.items()))])]
    return _whole(f"{check.robot} · report", parts)


def difference_page(found: Difference) -> str:
    """The text of the page of a Difference."""
    old, new = found.files
    rows = [
        (k, c.unit, f"{c.old:.6g}", f"{c.new:.6g}", f"{c.apart:.3g}", "" if np.isnan(c.relative) else f"{c.relative:.2%}")
        for k, c in sorted(found.quantities.items(), key=lambda item: -np.nan_to_num(item[1].relative))
    ]
    table = Sheet(("what", "unit", "largest, old", "largest, new", "apart at most", "of the larger"), rows)
    parts = [
        f"<h1>{escape(old)} and {escape(new)}</h1>",
        f"<p>{_said(f'supple report {shlex.quote(old)} {shlex.quote(new)}')}</p>", "<h2>Quantities</h2>", html([table]),
    ]  # fmt: skip
    if found.alone:
        parts.append(f'<p class="notice">Not compared: {escape(", ".join(found.alone))}</p>')
    drawn = [(k, c) for k, c in found.quantities.items() if c.lines is not None and c.apart > 0]
    for name, change in sorted(drawn, key=lambda item: -np.nan_to_num(item[1].relative))[:8]:
        figure = new_figure(8.5, 3.4)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        assert change.lines is not None
        x, a, b = change.lines
        above.plot(x, a, label="old", linewidth=1.2), above.plot(x, b, label="new", linewidth=0.9, dashes=(4, 2))
        above.legend(fontsize=8, frameon=False), above.set_ylabel(f"{change.unit}", fontsize=8)
        below.plot(x, b - a, color="#d1495b", linewidth=0.9), below.set_ylabel("new - old", fontsize=8)
        below.set_xlabel(change.along, fontsize=8)
        parts.append(_figure(figure, name, f"supple report {shlex.quote(old)} {shlex.quote(new)}"))
    if found.words:
        parts += ["<h2>What was told of them</h2>", html([_sheet(("what", "old", "new"), _words(found))])]
    return _whole(f"{old} and {new}", parts)


def _words(found: Difference) -> list[tuple[str, ...]]:
    return [(k, a[:300], b[:300]) for k, (a, b) in found.words.items()]


def _pose(report: Report, posed: Posed) -> list[str]:
    parts = [f"<h2>{escape('At ' + ', '.join(posed.options[1::2]) if posed.options else 'At home')}</h2>"]
    if posed.modes is not None:
        parts += ["<h3>Modes</h3>", html(modes_page(posed.modes)), _said(_command(report, "modes", posed.options))]
        count = min(_MODES, len(posed.modes.frequencies_hz))
        pictures = [
            _still(
                posed, k, _command(report, "show", (*posed.options, "--mode", str(k)), "--png", f"mode{k}.png"),
                f"Mode {k}, {posed.modes.frequencies_hz[k - 1]:.5g} Hz.",
            )
            for k in range(1, count + 1)
        ]  # fmt: skip
        parts.append(f'<div class="grid">{"".join(pictures)}</div>')
    for stiffness in posed.stiffness:
        parts += [f"<h3>Stiffness of {escape(stiffness.point)}</h3>", html(stiffness_page(stiffness))]
        parts.append(_said(_command(report, "stiffness", ("--point", stiffness.point, *posed.options))))
    return parts


def _parameters(report: Report) -> Page:
    rows = [(name, value, about) for name, (value, about) in report.parameters.items()]
    return [_sheet(("parameter", "value (SI)", "about"), rows, "Parameters")] if rows else [Line("No parameters.")]


def _sheet(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], title: str = "") -> Sheet:
    return Sheet(columns, [tuple(map(str, row)) for row in rows], title)


def _command(report: Report, verb: str, options: Sequence[str], *more: str) -> str:
    robot, *settings = report.asked
    return shlex.join(["supple", verb, robot, *settings, *options, *more])


def _said(command: str) -> str:
    return f"<code>{escape(command)}</code>"


def _still(posed: Posed, mode: int | None, command: str, words: str) -> str:
    made = io.BytesIO()
    still_picture(posed.scene, mode, (720, 480) if mode is None else (520, 360)).convert("RGB").save(
        made, format="JPEG", quality=82
    )
    return _picture(made.getvalue(), "jpeg", words, command)


def _figure(figure: Figure, words: str, command: str) -> str:
    made = io.BytesIO()
    plain(figure).savefig(made, format="png", dpi=110)
    return _picture(made.getvalue(), "png", words, command)


def _picture(data: bytes, kind: str, words: str, command: str) -> str:
    image = f'<img alt="{escape(words)}" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
    return f"<figure>{image}<figcaption>{escape(words)} {_said(command)}</figcaption></figure>"


def _whole(title: str, parts: Sequence[str]) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return "\n".join([
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="supple">',
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{_STYLE}</style></head><body>',
        *parts, "</body></html>",
    ])  # fmt: skip
