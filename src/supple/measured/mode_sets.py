"""Modes at nodes of universal files (datasets 55 and 2414), real and complex, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.measured.universal import Dataset, Fault, datasets, floats, integers
from supple.robot.bodies.record import Array
from supple.storage.universal import units_lines

_NORMAL, _COMPLEX = 2, (3, 7)
_ORDER = {0: 0, 8: 0, 11: 1, 12: 2}


@dataclass(frozen=True)
class NodalMode:
    """A pole (1/s) and the shape at nodes: node -> three complex components along x, y, z."""

    pole: complex
    shape: dict[int, Array]


def read_modes(path: Path) -> list[NodalMode]:
    """The modes of a universal file; shapes keep the file's scale."""
    found: list[NodalMode] = []
    others: set[int] = set()
    for dataset in datasets(path):
        if dataset.kind not in (55, 2414):
            continue
        try:
            made = _mode(dataset)
        except Fault as error:
            raise SuppleError(f"{path.name}:{dataset.first}: dataset {dataset.kind}: {error}") from error
        except (IndexError, ValueError, OverflowError) as error:
            where = f"{path.name}:{dataset.first}: dataset {dataset.kind}"
            raise SuppleError(f"{where}: is broken or cut off: a number or a line is missing") from error
        if made is None:
            others.add(dataset.kind)
        else:
            found.append(made)
    if not found:
        also = "; its datasets 55 and 2414 hold other results" if others else ""
        raise SuppleError(f"{path.name}: holds no modes at nodes (dataset 55 or 2414){also}")
    return sorted(found, key=lambda m: abs(m.pole))


def _mode(dataset: Dataset) -> NodalMode | None:
    lines = dataset.lines
    old = dataset.kind == 55
    if not old and integers(lines[2])[:1] != [1]:
        return None  # data at elements
    _, analysis, _, data, kind, per = integers(lines[5 if old else 8])[:6]
    if analysis not in (_NORMAL, *_COMPLEX) or data not in _ORDER:
        return None
    if kind not in (2, 4, 5, 6) or per not in (1, 2, 3, 6):
        raise Fault(f"data of type {kind} with {per} components at a node")
    made = NodalMode(_pole(lines, old, analysis), _shape(lines[8 if old else 13 :], kind in (5, 6), per))
    if not all(np.isfinite(np.asarray(x)).all() for x in (made.pole, *made.shape.values())):
        raise Fault("a value is not a number (NaN, infinite or overflowed)")
    return made


def _pole(lines: list[str], old: bool, analysis: int) -> complex:
    if analysis in _COMPLEX:
        real = floats(lines[7 if old else 12])
        return _precise(lines[4 if old else 7], complex(real[0], abs(real[1])))
    real = floats(lines[7]) if old else floats(lines[11])
    frequency, ratio = (real[0], real[2]) if old else (real[1], real[4])
    hysteretic = real[3] if old else real[5]
    ratio = ratio or hysteretic / 2
    if not (frequency >= 0 and 0 <= ratio < 1):
        raise Fault("a frequency or damping ratio that no mode has")
    omega = 2 * np.pi * frequency
    return complex(-ratio * omega, omega * np.sqrt(1 - ratio**2))


def _precise(title: str, pole: complex) -> complex:
    """The pole with the digits of an ID line, if it has one that rounds to the field's six."""
    words = title.split()
    if len(words) != 3 or words[0] != "POLE":
        return pole
    try:
        found = complex(float(words[1]), float(words[2]))
    except ValueError:
        return pole
    return found if abs(found - pole) <= 1e-4 * abs(pole) else pole


def _shape(lines: list[str], complex_: bool, per: int) -> dict[int, Array]:
    made: dict[int, Array] = {}
    at, count = 0, per * (2 if complex_ else 1)
    while at < len(lines):
        label = integers(lines[at])
        if len(label) != 1 or label[0] in made:
            raise Fault("a node number is missing or given twice")
        at += 1
        found: list[float] = []
        while len(found) < count:
            found += floats(lines[at])
            at += 1
        if len(found) != count:
            raise Fault(f"node {label[0]} has {len(found)} values instead of {count}")
        values = np.array(found[::2]) + 1j * np.array(found[1::2]) if complex_ else np.array(found, dtype=complex)
        made[label[0]] = np.concatenate([values[:3], np.zeros(max(0, 3 - per))])
    if not made:
        raise Fault("no node has values")
    return made


def write_modes(path: Path, modes: Sequence[NodalMode]) -> Path:
    """A universal file of complex modes (dataset 55, complex eigenvalues of second order)."""
    lines = units_lines()
    for k, mode in enumerate(modes):
        exact = f"POLE {mode.pole.real:.17g} {mode.pole.imag:.17g}"
        lines += ["    -1", "    55", *["NONE"] * 4, exact, f"{1:10d}{7:10d}{2:10d}{8:10d}{5:10d}{3:10d}"]
        lines += [f"{2:10d}{6:10d}{1:10d}{k + 1:10d}"]
        lines += ["".join(f"{x:13.5E}" for x in (mode.pole.real, mode.pole.imag, 1.0, 0.0, 0.0, 0.0))]
        for node, values in mode.shape.items():
            lines += [f"{node:10d}", "".join(f"{x:13.5E}" for v in values for x in (v.real, v.imag))]
        lines.append("    -1")
    return written_whole(path, lambda file: file.write_text("\n".join(lines) + "\n", encoding="ascii"))
