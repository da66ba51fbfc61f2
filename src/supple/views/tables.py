"""Tables for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from supple.results import Check, Modes, Simulation


def _console() -> Console:
    return Console(highlight=False, soft_wrap=False, emoji=False)


def _table(*columns: str, title: str | None = None) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        left = name in (
            "robot",
            "body",
            "what",
            "about",
            "moves",
            "bends",
            "closure",
            "joint",
            "point",
            "coordinate",
            "signal",
        )
        made.add_column(name, justify="left" if left else "right")
    return made


def print_robots(rows: list[dict[str, Any]]) -> None:
    table = _table("robot", "space", "about")
    for row in rows:
        motions = f" Motions: {', '.join(row['motions'])}." if row["motions"] else ""
        table.add_row(escape(row["name"]), row["space"], f"{escape(row['about'])}[dim]{escape(motions)}[/dim]")
    _console().print(table)


def print_bodies(rows: list[dict[str, Any]]) -> None:
    """Reduced bodies: what they keep and what they lost."""
    out = _console()
    if not rows:
        out.print("no plates, finite-element bodies or reduced beams")
    for row in rows:
        lost = row.get("reduced")
        out.print(f"[bold]{escape(row['name'])}[/bold]: {row['mass']:.4g} kg, {row['coordinates']} elastic coordinates")
        if lost is None:
            continue
        before = f" of {lost['coordinates']}" if lost["coordinates"] else ""
        out.print(f"  {lost['method']}: {row['coordinates']} coordinates{before}")
        out.print(f"  frequencies, Hz: {_listed(lost['frequencies'])}")
        if lost["omitted"] is not None:
            out.print(f"  first mode left out: {lost['omitted']:.5g} Hz")
        if lost["effective_mass"] is not None:
            parts = ", ".join(f"{a} {100 * m:.1f} %" for a, m in zip("xyz", lost["effective_mass"], strict=True))
            out.print(f"  effective mass kept, held at the root: {parts}")
        if lost["static_residual"] is not None:
            out.print(f"  largest part of an attachment's compliance that is missing: {100 * lost['static_residual']:.2g} %")
        for unknowns, frequencies in lost["meshes"]:
            out.print(f"  mesh of {unknowns} unknowns, free, Hz: {_listed(frequencies)}")
        if lost["extrapolated"]:
            out.print(f"  extrapolated (not used), Hz: {_listed(lost['extrapolated'])}")


def _listed(frequencies: Any, most: int = 12) -> str:
    shown = ", ".join(f"{f:.5g}" for f in frequencies[:most])
    return shown + (", ..." if len(frequencies) > most else "")


def print_check(report: Check) -> None:
    out = _console()
    out.print(f"[bold]{escape(report.robot)}[/bold] ({report.space}): {escape(report.about)}")
    kinds = ", ".join(f"{n} {kind}" for kind, n in report.coordinates.items())
    bends = f"{report.flexible} flexible {'body' if report.flexible == 1 else 'bodies'}"
    if report.springs:
        bends += f", {report.springs} elastic joint{'' if report.springs == 1 else 's'}"
    out.print(f"{report.links} links ({bends}), {report.mass:.4g} kg; coordinates: {kinds}")
    for sentence in report.mobility:
        out.print(escape(sentence))
    out.print(f"Independent coordinates: {escape(report.rule)}.")
    if report.closures:
        table = _table("closure", "joint", "equations")
        for name, (joint, count) in report.closures.items():
            table.add_row(escape(name), joint, str(count))
        out.print(table)
    table = _table("coordinate", "value", "unit", title=f"Pose (loops closed to {report.closure_error:.1e})")
    for name, value in report.pose.items():
        mark = " (actuator)" if name in report.active else ""
        table.add_row(escape(name + mark), f"{value:.6g}", report.units[name])
    out.print(table)
    for name, position in report.points.items():
        out.print(f"point {escape(name)} at ({', '.join(f'{x:.6g}' for x in position)}) m")


def print_modes(modes: Modes) -> None:
    out = _console()
    held = "free" if modes.free else "held"
    kinds = modes.elastic_by_kind if len(modes.elastic_by_kind) > 1 else {}
    title = f"{escape(modes.robot)}: modes with actuators {held}"
    table = _table("mode", "Hz", "damping", *kinds, "moves", "bends", title=title)
    for k, (f, zeta) in enumerate(zip(modes.frequencies_hz, modes.damping_ratios, strict=True)):
        shown = f"{abs(f):.2f}" if f >= -1e-6 else f"unstable ({-f:.2f})" if f <= -0.005 else f"unstable ({-f:.1g})"
        table.add_row(
            str(k + 1), shown, f"{zeta:.2%}", *(f"{share[k]:.0%}" for share in kinds.values()),
            escape(_leading(modes.bodies, modes.kinetic[:, k])),
            escape(_leading(modes.bodies, modes.elastic[:, k])),
        )  # fmt: skip
    out.print(table)


def _leading(names: tuple[str, ...], shares: Any, most: int = 3) -> str:
    """The bodies with the largest shares: knee1 62 %, tip 20 %."""
    order = sorted(range(len(names)), key=lambda i: -shares[i])[:most]
    return ", ".join(f"{names[i]} {shares[i]:.0%}" for i in order if shares[i] > 0.05) or "-"


def print_counts(rows: list[tuple[Any, Any, Any]]) -> None:
    """Operations of generated models: as derived, after each pass, and what remains."""
    out = _console()
    for package, stages, compiled in rows:
        title = f"{escape(package.robot)}: {package.model} model"
        table = _table("what", "operations", "+ -", "*", "/", "neg", "functions", "intermediates", title=title)
        last: dict[str, Any] = {}
        for stage in stages:
            last[stage.name if stage.name != "given" else "as derived"] = stage  # passes repeat: the last round counts
        for name, stage in last.items():
            c = stage.counts
            functions = sum(c[f] for f in ("sin", "cos", "sqrt", "sign"))
            table.add_row(
                name, str(stage.operations), str(c["add"] + c["sub"]), str(c["mul"]), str(c["div"]), str(c["neg"]),
                str(functions), str(stage.intermediates),
            )  # fmt: skip
        out.print(table)
        if compiled is not None:
            out.print(f"compiled in {compiled[0]:.2f} s, {compiled[1]} bytes")
        if package.program is not None:
            p = package.program
            out.print(f"with one leg's code for all {p.legs} legs: {p.operations} operations")


def print_simulation(result: Simulation) -> None:
    """What was computed, how well, and what was left out."""
    out, s = _console(), result.summary
    out.print(
        f"[bold]{escape(result.robot)}[/bold] {escape(result.motion)}: {len(result.time)} samples to "
        f"t = {result.time[-1]:.6g} s, {s['method'].replace('_', ' ')}, {s['steps']} steps, {s['evaluations']} evaluations"
    )
    runs = f" for {s['runs']} runs" if s["runs"] > 1 else ""
    out.print(
        f"Computed in {s['wall_time_s']:.3g} s{runs} ({s['real_time_factor']:.3g} times real time); loops closed to "
        f"{s['worst_closure']:.1e}" + _balance(s["energy_balance_error"])
    )
    if s["cut_off"] is not None:
        cut = s["cut_off"]
        out.print(
            f"Vibrations above {cut['above_hz']:g} Hz were let die away: up to {cut['share']:.2g} of the accelerations of "
            f"the moment, at t = {cut['time_s']:.4g} s"
        )
    table = _table("signal", "least", "most", "unit")
    for name, signal in result.signals.items():
        finite = signal.values[np.isfinite(signal.values)]
        if not finite.size:
            continue
        unit = signal.unit if isinstance(signal.unit, str) else ", ".join(dict.fromkeys(signal.unit))
        table.add_row(name.replace("_", " "), f"{finite.min():.5g}", f"{finite.max():.5g}", escape(unit))
    out.print(table)


def _balance(error: float | None) -> str:
    return "" if error is None else f"; energy balance to {error:.1e} of its peak"
