"""Tables of what was measured along a motion, beside which results are laid (`--against`): columns named as signals are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import RobotFileError
from supple.motion.channels import hint
from supple.motion.table import MOST_PROBLEMS, TIME, numbers, ordered, ragged, rows_of
from supple.robot.bodies.record import Array
from supple.robot.quantity import QuantityError, evaluate, parse
from supple.robot.yaml_tree import printable

_HEADER = re.compile(r"^\s*(.*?)(?:\s+[\[(]([^\[\]()]*)[\])])?\s*$")  # a unit stands behind a blank
_SHORT = {"": "position", "tau ": "tau"}  # as the columns of a motion are called


def read_measured(path: Path, known: Mapping[str, tuple[str, Any]]) -> tuple[Array, dict[str, Array]]:
    """Times and columns (in SI, by the names in `known`: name -> unit, values) of a CSV file.

    Names are those of the columns of results, as in tau[q11] or point_acceleration[P,x] (P.x will do), or those of a
    motion's table: q11, tau q11."""
    file = printable(str(path), most=1000)
    rows = rows_of(path, file)
    line, header = rows[0]
    names: list[str] = []
    scales: list[float] = []
    problems: list[str] = []
    spelt = _spellings(known)
    for column, text in enumerate(header):
        match = _HEADER.match(text)
        name, unit = (match[1], match[2]) if match else (text, None)
        where = f"{file}:{line}: column {column + 1} ({printable(name)})"
        found = TIME if name == TIME else spelt.get(name)
        if found is None:
            problems.append(f"{where}: the result has no signal of this name; {hint(name, spelt)}")
        elif found in names:
            problems.append(f"{where}: is given twice; remove one")
        names.append(found or name)
        wanted = "s" if found == TIME else known[found][0] if found else ""
        scales.append(_factor(unit, wanted, where, problems))
    if TIME not in names:
        problems.append(f"{file}:{line}: there is no column t; the first line names the columns")
    problems = problems or ragged(rows, names, file)
    if problems:
        raise RobotFileError(problems[:MOST_PROBLEMS])
    table = ordered(numbers(rows[1:], names, file) * np.array(scales), names, [n for n, _ in rows[1:]], file)
    return table.times, {n: table.values[:, k] for k, n in enumerate(table.names)}


def _spellings(known: Mapping[str, Any]) -> dict[str, str]:
    """All ways to write the name of a column -> the column."""
    made: dict[str, str] = {}
    for name in known:
        if name == TIME:
            continue
        made[name] = name
        signal, _, entry = name.partition("[")
        made.setdefault(f"{signal}[{entry.replace(',', '.')}", name)
        for before, own in _SHORT.items():
            if signal == own and entry:
                made.setdefault(before + entry.removesuffix("]"), name)
    return made


def _factor(unit: str | None, wanted: str, where: str, problems: list[str]) -> float:
    """How many SI units one unit of a column is; `wanted` is what the result has."""
    if unit is None or unit == wanted:
        return 1.0
    try:
        value, own = (evaluate(parse(f"1 {u}"), {}) for u in (unit, wanted))
        if value.dimension == own.dimension:
            return float(value.number) / float(own.number)
        problems.append(f"{where}: is in {printable(unit)}; the result is in {wanted}")
    except (QuantityError, TypeError, OverflowError):
        problems.append(f"{where}: its unit is not known; write it in brackets, such as [mm] or [N m]")
    return 1.0
