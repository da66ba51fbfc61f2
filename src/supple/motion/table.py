"""Tables of samples over time (CSV): a column t and one per channel, units in the header if they are not SI.

A table of results (`supple inverse -o forces.csv`) serves too: its columns tau[q1] are forces, position[q1] the path."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import RobotFileError
from supple.motion.channels import hint
from supple.robot.bodies.record import Array
from supple.robot.fields import Q
from supple.robot.named_files import file_fault
from supple.robot.quantity import QuantityError, evaluate, parse
from supple.robot.values import check_value
from supple.robot.yaml_tree import printable

MOST_PROBLEMS = 20
TIME = "t"
_HEADER = re.compile(r"^\s*(.*?)\s*(?:\[([^\]]*)\])?\s*$")
_RESULT = re.compile(r"^(t|tau|position)(?:\[(.*)\])? \(([^()]*)\)$")  # a column of a result that a motion has use for


@dataclass(frozen=True)
class Table:
    """Samples of channels: times (n,), values (n, channels), SI."""

    file: str
    names: tuple[str, ...]
    times: Array
    values: Array
    result: bool = False  # whether these are the results of a simulation

    def columns(self, names: Iterable[str]) -> Array:
        return self.values[:, [self.names.index(n) for n in names]]


def read_table(path: Path, dimensions: Mapping[str, str], robot: str) -> Table:
    """The table of a CSV file, whose columns must be t and names in `dimensions` (name -> dimension)."""
    file = printable(str(path), most=1000)
    rows = rows_of(path, file)
    result = any(_RESULT.match(text) for text in rows[0][1])
    if result:
        rows = _replayed(rows, dimensions, file)
    line, header = rows[0]
    problems: list[str] = []
    scales, names = [], []
    for column, text in enumerate(header):
        match = _HEADER.match(text)
        name, unit = (match.group(1), match.group(2)) if match else (text, None)
        names.append(name)
        where = f"{file}:{line}: column {column + 1}"
        dimension = "time" if name == TIME else dimensions.get(name)
        if dimension is None:
            known = [TIME, *dimensions]
            problems.append(f"{where}: {robot} has no channel of this name; {hint(name, known)}")
        scales.append(_scale(unit, dimension or "any", where if dimension is None else f"{where} ({name})", problems))
    for name in sorted({n for n in names if names.count(n) > 1}):
        problems.append(f"{file}:{line}: columns {_places(name, names)} have the same name; remove one")
    if TIME not in names:
        problems.append(
            f"{file}:{line}: there is no column t; the first line names the columns, such as t,{_example(dimensions)}"
        )
    if len(names) < 2:
        problems.append(f"{file}:{line}: there are no channels beside t")
    if not problems:
        problems += ragged(rows, names, file)
    if problems:
        raise RobotFileError(problems[:MOST_PROBLEMS])
    data = numbers(rows[1:], names, file) * np.array(scales)
    return replace(ordered(data, names, [n for n, _ in rows[1:]], file), result=result)


def read_columns(path: Path, dimensions: Mapping[str, str], needed: Iterable[str], what: str) -> dict[str, Array]:
    """Columns of a CSV file by name, in SI; their names must be in `dimensions` and those in `needed` must be there."""
    file = printable(str(path), most=1000)
    rows = rows_of(path, file)
    line, header = rows[0]
    problems: list[str] = []
    names, scales = [], []
    for column, text in enumerate(header):
        match = _HEADER.match(text)
        name, unit = (match.group(1), match.group(2)) if match else (text, None)
        names.append(name)
        where = f"{file}:{line}: column {column + 1}"
        if name not in dimensions:
            problems.append(f"{where}: {what} has no column of this name; {hint(name, list(dimensions))}")
        scales.append(_scale(unit, dimensions.get(name, "any"), where, problems))
    missing = [n for n in needed if n not in names]
    problems += [f"{file}:{line}: there is no column {n}; the first line names the columns" for n in missing]
    for name in sorted({n for n in names if names.count(n) > 1}):
        problems.append(f"{file}:{line}: columns {_places(name, names)} have the same name; remove one")
    if not problems:
        problems += ragged(rows, names, file)
    if not problems and len(rows) < 2:
        problems.append(f"{file}:{line}: has a header and no rows")
    if problems:
        raise RobotFileError(problems[:MOST_PROBLEMS])
    data = numbers(rows[1:], names, file) * np.array(scales)
    return {name: data[:, k] for k, name in enumerate(names)}


def _replayed(rows: list[tuple[int, list[str]]], dimensions: Mapping[str, str], file: str) -> list[tuple[int, list[str]]]:
    """The columns of a table of results that are time, forces and paths of actuators, named as those of a motion."""
    line, header = rows[0]
    problems = ragged(rows, header, file)
    if problems:
        raise RobotFileError(problems)
    kept: dict[int, str] = {}
    for k, text in enumerate(header):
        match = _RESULT.match(text)
        what, label, unit = match.groups() if match else ("", "", "")
        name = {"t": TIME, "tau": f"tau {label}", "position": label}.get(what)
        if name is not None and (name == TIME or name in dimensions):
            kept[k] = f"{name} [{unit}]"
        elif what == "tau":
            advice = "give the result of a single run of this robot"
            raise RobotFileError([f"{file}:{line}: column {k + 1}: there is no actuator of this name; {advice}"])
    return [(line, list(kept.values()))] + [(number, [cells[k] for k in kept]) for number, cells in rows[1:]]


def rows_of(path: Path, file: str) -> list[tuple[int, list[str]]]:
    """Line numbers and cells of every line that is neither empty nor a comment."""
    fault = file_fault(path)
    if fault is not None:
        raise RobotFileError([f"{file}:1: {fault}"])
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise RobotFileError([f"{file}:1: cannot be read: {reason}"]) from error
    lines = [(k + 1, s) for k, s in enumerate(text.splitlines()) if s.strip() and not s.lstrip().startswith("#")]
    if not lines:
        raise RobotFileError([f"{file}:1: is empty; the first line names the columns, then one line per sample"])
    first = lines[0][1]
    delimiter = next((d for d in (";", "\t") if d in first), ",")
    try:
        return [(number, next(csv.reader([s], delimiter=delimiter))) for number, s in lines]
    except csv.Error as error:
        raise RobotFileError([f"{file}:1: is not a CSV table: a cell is too long or its quotes are broken"]) from error


def _places(name: str, names: list[str]) -> str:
    return " and ".join(str(k + 1) for k, n in enumerate(names) if n == name)


def _scale(unit: str | None, dimension: str, where: str, problems: list[str]) -> float:
    """How many SI units one unit of a column is."""
    if unit is None:
        return 1.0
    try:
        value = evaluate(parse(f"1 {unit}"), {})
    except (QuantityError, TypeError, OverflowError):
        problems.append(f"{where}: its unit is not known; write it in brackets, such as [mm] or [N m]")
        return 1.0
    try:
        check_value(value, Q(dimension))
        return float(value.number)
    except (QuantityError, TypeError, OverflowError) as error:
        problems.append(f"{where}: its unit {error}")
        return 1.0


def ragged(rows: list[tuple[int, list[str]]], names: list[str], file: str) -> list[str]:
    """Problems of rows that have not as many cells as the header."""
    return [
        f"{file}:{line}: has {len(cells)} values; the header names {len(names)} columns"
        for line, cells in rows[1:]
        if len(cells) != len(names)
    ][:MOST_PROBLEMS]


def numbers(rows: list[tuple[int, list[str]]], names: list[str], file: str) -> Array:
    """Cells as numbers; all that are none are told."""
    problems: list[str] = []
    data = np.zeros((len(rows), len(names)))
    for k, (line, cells) in enumerate(rows):
        for j, text in enumerate(cells):
            data[k, j] = x = _number(text)
            if not math.isfinite(x):
                what = "is missing" if not text.strip() else "is not a finite number"
                problems.append(f"{file}:{line}: column {j + 1} ({printable(names[j])}): {what}")
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise RobotFileError(problems)
    return data


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def ordered(data: Array, names: list[str], lines: list[int], file: str) -> Table:
    """The table of rows whose times increase from zero or later."""
    times = data[:, names.index(TIME)] if len(data) else np.zeros(0)
    if len(times) < 2:
        raise RobotFileError([f"{file}:{lines[0] if lines else 1}: needs at least two samples; has {len(times)}"])
    column = names.index(TIME) + 1
    late = np.flatnonzero(np.diff(times) <= 0)
    if late.size:
        raise RobotFileError(
            [
                f"{file}:{lines[k + 1]}: column {column} (t): times must increase; {times[k + 1]:g} s follows {times[k]:g} s"
                for k in late[:MOST_PROBLEMS].tolist()
            ]
        )
    if times[0] < 0:
        raise RobotFileError(
            [f"{file}:{lines[0]}: column {column} (t): time starts at {times[0]:g} s; it must not be negative"]
        )
    channels = [j for j, n in enumerate(names) if n != TIME]
    return Table(file, tuple(names[j] for j in channels), times, data[:, channels])


def _example(dimensions: Mapping[str, Any]) -> str:
    return ",".join(list(dimensions)[:2])
