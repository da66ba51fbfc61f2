"""Studies as tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.results.study import Column, Study
from supple.views.page import Line, Page, Sheet
from supple.views.study_axes import shown_unit

_MEETINGS = 12  # of a table


def study_page(study: Study) -> Page:
    """Range and worst case of every quantity, and what is out of reach."""
    rows = [_row(study, name, column) for name, column in study.quantities.items()]
    answered = int(study.answered.sum())
    grid = " x ".join(str(n) for n in study.shape)
    said = f"{study.robot}: {grid} {'poses' if study.kind == 'map' else 'cases'}"
    said += f", {answered} answered" if answered < len(study.answered) else ""
    made: list[Line | Sheet] = [Sheet(("what", "least", "median", "largest", "unit", "worst at"), rows, said)]
    made += _spread(study) + _sensitivities(study)
    made += _meetings(study)
    crossed = study.singular()
    if crossed:
        first = _where(study, crossed[0][0])
        made.append(Line(f"singularities are crossed between {len(crossed)} pairs of neighbours, the first beside {first}"))
    if study.problems:
        row, text = next(iter(study.problems.items()))
        made.append(Line(f"no answer at {_where(study, row)}: {text}", faint=f" ({len(study.problems)} such cases)"))
    return made


def _meetings(study: Study) -> list[Line | Sheet]:
    if study.followed_from is None:
        return []
    made: list[Line | Sheet] = [Line(f"modes are numbered at {_where(study, study.followed_from)} and followed by shape")]
    nearest = sorted(study.meetings, key=lambda m: m.gap)[:_MEETINGS]
    rows = [
        (" and ".join(m.modes), m.kind, f"{m.frequency:.5g}", f"{m.gap:.3g}", _said(study, m.at))
        for m in sorted(nearest, key=lambda m: m.cases)
    ]
    if rows:
        more = "" if len(nearest) == len(study.meetings) else f", the nearest of {len(study.meetings)}"
        made.append(Sheet(("modes", "they", "Hz", "Hz apart", "at"), rows, f"where modes meet{more}"))
    return made


def _row(study: Study, name: str, column: Column) -> tuple[str, ...]:
    unit, scale = shown_unit(column.unit)
    finite = column.values[np.isfinite(column.values)] * scale
    if not len(finite):
        return (name, "-", "-", "-", unit, "no answers")
    worst = study.worst(name)
    numbers = (f"{x:.5g}" for x in (finite.min(), np.median(finite), finite.max()))
    return (name, *numbers, unit, "-" if worst is None else _where(study, worst))


def _where(study: Study, row: int) -> str:
    return _said(study, study.case(row))


def _said(study: Study, case: Mapping[str, float]) -> str:
    found = []
    for name, value in case.items():
        unit, scale = shown_unit(study.chosen[name].unit)
        found.append(f"{name} = {value * scale:.5g} {unit}".strip())
    return ", ".join(found)


def _spread(study: Study) -> list[Sheet]:
    if "design" not in study.axes:
        return []
    rows = []
    for name, column in study.quantities.items():
        unit, scale = shown_unit(column.unit)
        rows.append((name, *(f"{x * scale:.5g}" for x in study.quantiles(name)), unit))
    return [Sheet(("what", "5 %", "50 %", "95 %", "unit"), rows, "quantiles")]


def _sensitivities(study: Study) -> list[Sheet]:
    if not study.sensitivities:
        return []
    names = list(next(iter(study.sensitivities.values())))
    rows = [(name, *(f"{own[n]:+.3g}" for n in names)) for name, own in study.sensitivities.items()]
    return [Sheet(("what", *names), rows, "change in % for 1 % of each parameter, at the robot's own values")]
