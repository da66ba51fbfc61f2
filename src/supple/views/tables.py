"""What results say to people, as pages of lines and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.results import Check, Counted, Frf, LinearModel, Modes, Rest, Simulation, Stiffness
from supple.views.page import Line, Page, Sheet

_MOST_LINKS = 12  # rows of stresses
_FUNCTIONS = ("sin", "cos", "sqrt", "sign")
_NOTHING = 1e-12  # m or rad of a pose: loops are closed no better


def robots_page(rows: list[dict[str, Any]]) -> Page:
    """The robots of the gallery."""
    motions = [f" Motions: {', '.join(row['motions'])}." if row["motions"] else "" for row in rows]
    cells = [(row["name"], row["space"], row["about"] + said) for row, said in zip(rows, motions, strict=True)]
    return [Sheet(("robot", "space", "about"), cells)]


def bodies_page(rows: list[dict[str, Any]]) -> Page:
    """Reduced bodies: what they keep and what they lost."""
    made: list[Line | Sheet] = [] if rows else [Line("no plates, finite-element bodies or reduced beams")]
    for row in rows:
        made.append(Line(f": {row['mass']:.4g} kg, {row['coordinates']} elastic coordinates", strong=row["name"]))
        if row.get("reduced") is not None:
            made += [Line(f"  {text}") for text in _reduction(row["reduced"], row["coordinates"])]
    return made


def _reduction(lost: dict[str, Any], coordinates: int) -> list[str]:
    before = f" of {lost['coordinates']}" if lost["coordinates"] else ""
    said = [f"{lost['method']}: {coordinates} coordinates{before}", f"frequencies, Hz: {_listed(lost['frequencies'])}"]
    if lost["omitted"] is not None:
        said.append(f"first mode left out: {lost['omitted']:.5g} Hz")
    if lost["effective_mass"] is not None:
        parts = ", ".join(f"{a} {100 * m:.1f} %" for a, m in zip("xyz", lost["effective_mass"], strict=True))
        said.append(f"effective mass kept, held at the root: {parts}")
    if lost["static_residual"] is not None:
        said.append(f"largest part of an attachment's compliance that is missing: {100 * lost['static_residual']:.2g} %")
    said += [f"mesh of {unknowns} unknowns, free, Hz: {_listed(found)}" for unknowns, found in lost["meshes"]]
    if lost["extrapolated"]:
        said.append(f"extrapolated (not used), Hz: {_listed(lost['extrapolated'])}")
    return said


def _listed(frequencies: Any, most: int = 12) -> str:
    shown = ", ".join(f"{f:.5g}" for f in frequencies[:most])
    return shown + (", ..." if len(frequencies) > most else "")


def check_page(report: Check) -> Page:
    """What a robot is made of and how it can move."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in report.coordinates.items())
    bends = f"{report.flexible} flexible {'body' if report.flexible == 1 else 'bodies'}"
    if report.springs:
        bends += f", {report.springs} elastic joint{'' if report.springs == 1 else 's'}"
    made: list[Line | Sheet] = [
        Line(f" ({report.space}): {report.about}", strong=report.robot),
        Line(f"{report.links} links ({bends}), {report.mass:.4g} kg; coordinates: {kinds}"),
        *map(Line, report.mobility),
        Line(f"Independent coordinates: {report.rule}."),
    ]
    if report.closures:
        rows = [(name, joint, str(count)) for name, (joint, count) in report.closures.items()]
        made.append(Sheet(("closure", "joint", "equations"), rows))
    made.append(Line("masses (kg): " + ", ".join(f"{name} {x:.4g}" for name, x in report.masses.items())))
    pose = [
        (
            name + (" (actuator)" if name in report.active else ""),
            f"{value if abs(value) > _NOTHING else 0.0:.6g}",
            report.units[name],
        )
        for name, value in report.pose.items()
    ]
    made.append(Sheet(("coordinate", "value", "unit"), pose, f"Pose (loops closed to {report.closure_error:.1e})"))
    for name, position in report.points.items():
        made.append(Line(f"point {name} at ({', '.join(f'{x if abs(x) > 1e-12 else 0.0:.6g}' for x in position)}) m"))
    return made + (_rest(report.rest) if report.rest is not None else [])


def _rest(rest: Rest) -> list[Line | Sheet]:
    """What weight and loads do."""
    loads = ", ".join(f"{name} ({', '.join(f'{x:g}' for x in wrench)})" for name, wrench in rest.loads.items())
    rows = [(name, *(f"{1e3 * x:.4g}" for x in moved)) for name, moved in rest.deflections.items()]
    held = [(name, f"{force:.5g}") for name, force in rest.actuator_forces.items()]
    tied = [(name, ", ".join(f"{x:.4g}" for x in values)) for name, values in rest.reactions.items()]
    made: list[Line | Sheet] = [Sheet(("point", "x (mm)", "y (mm)", "z (mm)"), rows, f"At rest under weight and {loads}")]
    made += [Sheet(("joint", "N, N m"), held, "held by")] if held else []
    return made + ([Sheet(("closure", "what"), tied, "reactions (N, N m)")] if tied else [])


def modes_page(modes: Modes) -> Page:
    """Frequencies, damping ratios, and which bodies move and bend."""
    kinds = modes.elastic_by_kind if len(modes.elastic_by_kind) > 1 else {}
    rows = []
    for k, (f, zeta) in enumerate(zip(modes.frequencies_hz, modes.damping_ratios, strict=True)):
        shown = f"{abs(f):.2f}" if f >= -1e-6 else f"unstable ({-f:.2f})" if f <= -0.005 else f"unstable ({-f:.1g})"
        shares = (f"{share[k]:.0%}" for share in kinds.values())
        leading = (_leading(modes.bodies, part[:, k]) for part in (modes.kinetic, modes.elastic))
        rows.append((str(k + 1), shown, f"{zeta:.2%}", *shares, *leading))
    title = f"{modes.robot}: modes with actuators {'free' if modes.free else 'held'}"
    return [Sheet(("mode", "Hz", "damping", *kinds, "moves", "bends"), rows, title)]


def _leading(names: tuple[str, ...], shares: Any, most: int = 3) -> str:
    """The bodies with the largest shares: knee1 62 %, tip 20 %."""
    order = sorted(range(len(names)), key=lambda i: -shares[i])[:most]
    return ", ".join(f"{names[i]} {shares[i]:.0%}" for i in order if shares[i] > 0.05) or "-"


def _held(stiff: float) -> str:
    """A stiffness with all other displacements held; none where the point cannot move that way at all."""
    return f"{stiff:.5g}" if np.isfinite(stiff) else "-"


def stiffness_page(found: Stiffness) -> Page:
    """Stiffness of a point, what gives way, and what weight and loads do."""
    shown = {"x": "N/m", "y": "N/m", "z": "N/m", "rx": "N m/rad", "ry": "N m/rad", "rz": "N m/rad"}
    kinds = list(found.kinds)
    rows = []
    for k, (axis, unit) in enumerate(shown.items()):
        soft = found.compliance[k, k]
        give = ("rigid", "-", "-") if axis in found.rigid else (f"{1 / soft:.5g}", unit, _held(found.stiffness[k, k]))
        shares = ["-" if axis in found.rigid else f"{found.kinds[kind][k]:.0%}" for kind in kinds]
        rows.append((axis, *give, *shares, f"{found.deflection[k]:.3g}"))
    columns = ("axis", "alone", "unit", "others held", *kinds, "weight, loads")
    principal = "; ".join(f"{k:.5g} N/m along ({', '.join(f'{x:.3f}' for x in axis)})" for k, axis in found.principal)
    return [
        Sheet(columns, rows, f"{found.robot}: stiffness of {found.point}, and what gives way"),
        Line("", faint="alone: a force alone, free to move otherwise; others held: no other displacement allowed; weight, "
             "loads: what they do, m or rad"),
        Line(f"principal stiffness: {principal}"),
        *_stress_sheet(found),
    ]  # fmt: skip


def _stress_sheet(found: Stiffness) -> Page:
    """Stresses of beams, worst first."""
    if not found.stresses:
        return []
    rows = []
    for s in found.stresses[:_MOST_LINKS]:
        known = ("-", "-") if s.limit != s.limit else (f"{s.limit / 1e6:.4g}", f"{s.stress / s.limit:.1%}")
        forces = (f"{s.axial:.4g}", f"{s.torque:.4g}", f"{s.bending[0]:.4g}", f"{s.bending[1]:.4g}")
        rows.append((s.link, f"{s.stress / 1e6:.4g}", *known, f"{s.place:.4g}", *forces))
    columns = ("link", "stress MPa", "yield MPa", "used", "at m", "axial N", "torque N m", "about y N m", "about z N m")
    left = len(found.stresses) - len(rows)
    more = f"; {left} links with less are not shown" if left else ""
    return [Sheet(columns, rows, "stresses under weight and loads (von Mises, worst section of every beam)" + more)]


def frf_page(found: Frf) -> Page:
    """Where every response is largest."""
    rows = []
    for o, output in enumerate(found.outputs):
        for i, given in enumerate(found.inputs):
            hz, size = found.peak(output, given)
            unit = f"{found.output_units[o]} per {found.input_units[i]}"
            rows.append((f"{output} by {given}", f"{size:.4g}", f"{hz:.5g}" if size else "-", unit))
    state = "free" if found.free else "held"
    return [Sheet(("what", "peak", "Hz", "unit"), rows, f"{found.robot}: {found.quantity}, actuators {state}")]


def linear_page(found: LinearModel) -> Page:
    """Size, names, poles and what was lost of a linear model."""
    state = f"under {found.controller}" if found.controller else "free" if found.free else "held"
    made: list[Line | Sheet] = [
        Line(f": {len(found.states)} states, actuators {state}", strong=found.robot),
        Line("inputs: " + ", ".join(f"{n} ({u})" for n, u in zip(found.inputs, found.input_units, strict=True))),
        Line("outputs: " + ", ".join(f"{n} ({u})" for n, u in zip(found.outputs, found.output_units, strict=True))),
    ]
    if found.error_bound is not None:
        where = "" if found.band is None else f" from {found.band[0]:g} to {found.band[1]:g} Hz"
        made.append(Line(f"what the reduction loses is at most {found.error_bound:.2g} of the largest gain{where}"))
    if found.structural:
        made.append(Line(f"structural damping: {found.structural}"))
    poles = np.linalg.eigvals(found.A)
    upper = sorted(poles[poles.imag >= 0], key=abs)[:12]
    least = 1e-9 * max(map(abs, poles), default=0.0)
    rows = [(f"{abs(p) / (2 * np.pi):.4g}", _damping(p, least)) if abs(p) > least else ("0", "-") for p in upper]
    return [*made, Sheet(("Hz", "damping"), rows, "lowest poles")]


def _damping(pole: complex, least: float) -> str:
    return "unstable" if pole.real > least else f"{-pole.real / abs(pole):.2%}"


def counts_page(counted: Counted) -> Page:
    """Operations of a generated model: as derived, after each pass, and what remains."""
    rows = []
    for name, stage in counted.stages.items():
        c = stage["counts"]
        numbers = (
            stage["operations"], c.get("add", 0) + c.get("sub", 0), c.get("mul", 0), c.get("div", 0), c.get("neg", 0),
            sum(c.get(f, 0) for f in _FUNCTIONS), stage["intermediates"],
        )  # fmt: skip
        rows.append((name, *map(str, numbers)))
    columns = ("what", "operations", "+ -", "*", "/", "neg", "functions", "intermediates")
    made: list[Line | Sheet] = [Sheet(columns, rows, f"{counted.robot}: {counted.model} model")]
    if counted.compiled is not None:
        made.append(Line(f"compiled in {counted.compiled[0]:.2f} s, {counted.compiled[1]} bytes"))
    if counted.legs is not None:
        made.append(Line(f"with one leg's code for all {counted.legs[0]} legs: {counted.legs[1]} operations"))
    return made


def simulation_page(result: Simulation) -> Page:
    """What was computed, how well, and what was left out."""
    s = result.summary
    runs = f" for {s['runs']} runs" if s["runs"] > 1 else ""
    made: list[Line | Sheet] = [
        Line(
            f" {result.motion}: {len(result.time)} samples to t = {result.time[-1]:.6g} s, "
            f"{s['method'].replace('_', ' ')}, {s['steps']} steps, {s['evaluations']} evaluations",
            strong=result.robot,
        ),
        Line(
            f"Computed in {s['wall_time_s']:.3g} s{runs} ({s['real_time_factor']:.3g} times real time); loops closed to "
            f"{s['worst_closure']:.1e}" + _balance(s["energy_balance_error"])
        ),
    ]
    if s["cut_off"] is not None:
        cut = s["cut_off"]
        how_much = f"up to {cut['share']:.2g} of the accelerations of the moment, at t = {cut['time_s']:.4g} s"
        made.append(Line(f"Vibrations above {cut['above_hz']:g} Hz were let die away: {how_much}"))
    made += _performance(s.get("performance") or {})
    rows = []
    for name, signal in result.signals.items():
        edges = signal.extremes()
        unit = signal.unit if isinstance(signal.unit, str) else ", ".join(dict.fromkeys(signal.unit))
        if edges is not None:
            rows.append((name.replace("_", " "), f"{edges[0]:.5g}", f"{edges[1]:.5g}", unit))
    return [*made, Sheet(("signal", "least", "most", "unit"), rows), *_against(s.get("against"))]


def _performance(told: dict[str, Any]) -> list[Line | Sheet]:
    """What a motion leaves, how well controllers follow, and what it costs."""
    made: list[Line | Sheet] = []
    for point, left in told.get("residual_vibration_m", {}).items():
        settled = told["settling_time_s"][point]
        when = "does not settle" if settled is None else f"settled after {settled:.3g} s"
        felt = told.get("residual_acceleration_m_s2", {}).get(point)
        up_to = "" if felt is None else f", accelerations up to {felt:.3g} m/s²"
        made.append(
            Line(f"{point} after the path (t = {told['rest_from_s']:.4g} s): vibration {1e6 * left:.4g} µm{up_to}, {when}")
        )
    for point, error in told.get("tool_error_m", {}).items():
        made.append(Line(f"{point} is within {1e6 * error['peak']:.4g} µm of its path (RMS {1e6 * error['rms']:.4g} µm)"))
    for name, error in told.get("tracking_error", {}).items():
        full = told.get("saturated_share", {}).get(name, 0.0)
        limit = f"; at its limit {100 * full:.3g} % of the time" if full else ""
        made.append(Line(f"{name} follows within {error['peak']:.3g} {error['unit']} (RMS {error['rms']:.3g}){limit}"))
    for key, each in told.get("limits", {}).items():
        name, x = max(each.items(), key=lambda item: item[1]["used"])
        made.append(Line(f"{name} uses {100 * x['used']:.4g} % of its {key} (t = {x['time_s']:.4g} s)"))
    if "work_J" in told:
        lost = f", {told['energy_lost_J']:.4g} J are lost by friction and damping" if "energy_lost_J" in told else ""
        made.append(Line(f"Actuators do {told['work_J']:.4g} J of positive work (what they brake is not taken off){lost}"))
    return made


def _against(told: dict[str, Any] | None) -> list[Line | Sheet]:
    """How far results are from what was measured."""
    rows = [
        (
            name,
            f"{x['rms']:.4g}",
            f"{x['peak']:.4g}",
            f"{x['peak_time_s']:.4g}",
            x["unit"],
            _percent(x["rms_share"]),
            _percent(x["peak_share"]),
        )
        for name, x in (told or {}).items()
    ]
    columns = ("against measured", "RMS", "peak", "at s", "unit", "RMS %", "peak %")
    return [Sheet(columns, rows)] if rows else []


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.3g}"


def _balance(error: float | None) -> str:
    return "" if error is None else f"; energy balance to {error:.1e} of its peak"
