"""A law in state space as C: its matrices, what its sensors should read along the path, forces that are added, a test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from supple.backends.c_source import literal
from supple.backends.stepping.drive import Table
from supple.backends.targets.files import deliver
from supple.backends.targets.fmu import identifier
from supple.backends.targets.heading import NOTICE
from supple.backends.targets.names import harmless
from supple.expr.function import Array


@dataclass(frozen=True)
class ExportedLaw:
    """What is written: names of readings and forces, matrices A, B, E, C, D (parts, rows, columns), tables of readings at
    rest, weights of the parts and forces that are added, limits (0: none); readings and forces of a test."""

    robot: str
    about: str
    readings: tuple[str, ...]
    forces: tuple[str, ...]
    matrices: dict[str, Array]
    rest: Table
    weights: Table
    feedforward: Table
    limits: tuple[float, ...]
    sample: float
    delay: float
    test_readings: Array
    test_forces: Array


def write_law(law: ExportedLaw, folder: Path) -> list[Path]:
    """The paths of the header, the controller and its test, written to `folder`."""
    name = f"{identifier(law.robot)}_controller"
    texts = {f"{name}.h": "law.h", f"{name}.c": "law.c", f"{name}_test.c": "law_main.c"}
    return deliver(folder, {file: _filled(source, law, name) for file, source in texts.items()})


def _filled(file: str, law: ExportedLaw, name: str) -> str:
    parts, states = law.matrices["A"].shape[:2]
    matrices = "\n".join(
        f"static const double {k}[PARTS]{_size(x)} = {_numbers(_padded(x))};" for k, x in law.matrices.items()
    )
    tables = "\n".join(_table(k, getattr(law, k)) for k in ("rest", "weights", "feedforward"))
    words = {
        "@NOTICE@": NOTICE, "@ROBOT@": harmless(law.robot), "@NAME@": name, "@MACRO@": name.upper(),
        "@ABOUT@": harmless(law.about, 200), "@SAMPLE@": literal(law.sample), "@DELAY@": literal(law.delay),
        "@READINGS@": ", ".join(harmless(x) for x in law.readings), "@FORCES@": ", ".join(harmless(x) for x in law.forces),
        "@N_READINGS@": str(len(law.readings)), "@N_FORCES@": str(len(law.forces)), "@PARTS@": str(parts),
        "@STATES@": str(states), "@ROOM@": str(max(1, states)), "@TABLES@": tables, "@MATRICES@": matrices,
        "@LIMITS@": _numbers(np.array(law.limits)), "@TESTS@": str(len(law.test_readings)),
        "@TEST_READINGS@": _numbers(law.test_readings), "@TEST_FORCES@": _numbers(law.test_forces),
    }  # fmt: skip
    text = _source(file)
    for key, value in words.items():
        text = text.replace(key, value)
    return text


def _size(x: Array) -> str:
    return "".join(f"[{max(1, n)}]" for n in x.shape[1:])


def _padded(x: Array) -> Array:
    """A matrix with one row and column at least, which C asks for."""
    made = np.zeros([max(1, n) for n in x.shape])
    made[tuple(slice(0, n) for n in x.shape)] = x
    return made


def _numbers(x: Array) -> str:
    if x.ndim == 0:
        return literal(float(x))
    return "{" + ", ".join(_numbers(row) for row in x) + "}"


def _table(name: str, table: Table) -> str:
    count, channels, _ = table.coefficients.shape
    return "\n".join(
        [
            f"static const double {name}_knot[{count + 1}] = {_numbers(table.knots)}; /* s */",
            f"static const double {name}_piece[{table.coefficients.size}] = {_numbers(table.coefficients.ravel())};",
            f"static const Table {name} = {{{count}, {channels}, {name}_knot, {name}_piece}};",
        ]
    )


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / "plant_sources" / name).read_text(encoding="ascii")
