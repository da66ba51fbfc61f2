"""A controller in C: the path it follows, shaped if that was asked for, as tables, and the law of its gains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from supple.backends.c_source import literal
from supple.backends.stepping.drive import Table
from supple.backends.targets.files import deliver
from supple.backends.targets.fmu import identifier
from supple.backends.targets.heading import NOTICE
from supple.backends.targets.names import harmless
from supple.expr.function import Array


@dataclass(frozen=True)
class ControllerParts:
    """What a controller is made of: actuators, their path, gains (kp, kd, ki, limit) and the sampling time in s."""

    robot: str
    about: str
    actuators: tuple[str, ...]
    path: Table
    gains: Array
    sample: float


def write_controller(parts: ControllerParts, folder: Path) -> list[Path]:
    """The paths of the header and the controller, written to `folder`."""
    name = f"{identifier(parts.robot)}_controller"
    texts = {f"{name}.h": "controller.h", f"{name}.c": "controller.c"}
    return deliver(folder, {file: _filled(source, parts, name) for file, source in texts.items()})


def _filled(file: str, parts: ControllerParts, name: str) -> str:
    words = {
        "@NOTICE@": NOTICE, "@ROBOT@": harmless(parts.robot), "@NAME@": name, "@MACRO@": name.upper(),
        "@TAU@": str(len(parts.actuators)), "@SAMPLE@": literal(parts.sample), "@ABOUT@": harmless(parts.about, 100),
        "@FORCES@": ", ".join(harmless(x) for x in parts.actuators), "@TABLES@": _tables(parts.path),
        "@GAINS@": _braces([_braces([literal(float(x)) for x in row]) for row in parts.gains]),
    }  # fmt: skip
    text = _source(file)
    for key, value in words.items():
        text = text.replace(key, value)
    return text


def _tables(path: Table) -> str:
    pieces = [_braces([_braces([literal(float(x)) for x in c]) for c in piece]) for piece in path.coefficients]
    knots = [literal(float(x)) for x in path.knots]
    count, channels, powers = path.coefficients.shape
    return "\n".join(
        [
            f"#define PIECES {count}",
            f"static const double knot[{len(knots)}] = {_braces(knots)}; /* s */",
            f"static const double piece[{count}][{channels}][{powers}] = {_braces(pieces)};",
        ]
    )


def _braces(texts: list[str]) -> str:
    return "{" + ", ".join(texts) + "}"


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / "plant_sources" / name).read_text(encoding="ascii")
