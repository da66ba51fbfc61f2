"""A robot as a plant in C: init, step(tau, dt), with its loops, its vibrations and the integrator inside.

The same equations and the same Radau method as `supple simulate --step`, in one file without allocation: what was simulated
is what runs. For Simulink an S-function whose states are the plant's, for Rust a safe wrapper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from pathlib import Path

from supple.backends.c_source import literal
from supple.backends.stepping.layout import CONSTANTS, Field, leaves
from supple.backends.stepping.plant_text import chosen_text, plant_sizes, stepping_source
from supple.backends.targets.files import deliver
from supple.backends.targets.fmu import identifier
from supple.backends.targets.fmu_model import equations_text, settings_text
from supple.backends.targets.fmu_variables import FmuParts
from supple.backends.targets.heading import NOTICE
from supple.backends.targets.names import harmless, macros, word
from supple.errors import SuppleError

_WIDEST = {"Ball": 12}  # bytes of what is no number; numbers have eight at most
_SPARE = 4096  # bytes: padding, signals


def write_plant(parts: FmuParts, target: str, folder: Path) -> list[Path]:
    """The paths of a robot's plant for a target, written to `folder`."""
    check_target(target)
    return deliver(folder, TARGETS[target](parts, f"{identifier(parts.robot)}_plant"))


def check_target(target: str) -> None:
    """Raises SuppleError for a target that has no plants."""
    if target not in TARGETS:
        raise SuppleError(f"a plant is written for {', '.join(TARGETS)}, not for {target!r}")


def plant_library(parts: FmuParts, name: str) -> dict[str, str]:
    """The header and the plant: file name -> text."""
    return {f"{name}.h": _header(parts, name), f"{name}.c": _model(parts, name)}


def _c(parts: FmuParts, name: str) -> dict[str, str]:
    return {**plant_library(parts, name), "main.c": _filled("main.c", parts, name)}


def _simulink(parts: FmuParts, name: str) -> dict[str, str]:
    return {**plant_library(parts, name), f"{name}_sfun.c": _filled("sfun.c", parts, name)}


def _rust(parts: FmuParts, name: str) -> dict[str, str]:
    return {**plant_library(parts, name), f"{name}.rs": _filled("plant.rs", parts, name)}


TARGETS: dict[str, Callable[[FmuParts, str], dict[str, str]]] = {"c": _c, "simulink": _simulink, "rust": _rust}


def _bytes(parts: FmuParts) -> int:
    """Room for the state of a plant: eight bytes for every number of it."""
    sizes = plant_sizes(parts.plant, parts.plant.stages) | {k: n for k, (n, _) in CONSTANTS.items()}
    sizes["N_UNKNOWN"] = max(1, sizes["N_FREE"])
    signals = 48 * (max(1, sizes["N_TAU"]) + max(1, sizes["N_W"]))
    return 16 * ((sum(_room(x, sizes) for x in leaves()) + signals + _SPARE) // 16)


def _room(x: Field, sizes: dict[str, int]) -> int:
    words = [w.strip() for n in x.size for w in n.split("*")]
    return _WIDEST.get(x.kind, 8) * prod(max(1, int(w) if w.isdigit() else sizes[w]) for w in words)


def _header(parts: FmuParts, name: str) -> str:
    sizes = {
        "TAU": len(parts.forces), "Q": parts.plant.nq, "V": parts.plant.nv, "POINTS": len(parts.point_labels),
        "BYTES": _bytes(parts),
    }  # fmt: skip
    macro = name.upper()
    taken = macros()
    lines = [f"#define {taken.unique(f'{macro}_{k}')} {n}" for k, n in sizes.items()]
    for what, labels in (("TAU", [x.label for x in parts.forces]), ("POINT", parts.point_labels)):
        lines += [f"#define {taken.unique(f'{macro}_{what}_{word(x).upper()}')} {i}" for i, x in enumerate(labels)]
    return _filled("plant.h", parts, name).replace("@DEFINES@", "\n".join(lines))


def _model(parts: FmuParts, name: str) -> str:
    """The plant in one file: equations, integrators, and steps."""
    plant = parts.plant
    settings = [
        *settings_text(), chosen_text(plant), f"#define MODEL_GRAVITY {_list(parts.gravity)}",
        f"#define N_POINTS {len(parts.point_labels)}", f"#define MODEL_START_Q {_list(parts.start)}",
        f"#define MODEL_HOLD {_list([x.start for x in parts.forces])}",
        f"#define PLANT_TYPE {name}", f"#define PLANT_NAME(x) {name}_##x",
    ]  # fmt: skip
    kept = [f"z->parameters[{i}] = {literal(x)};" for i, x in enumerate(plant.parameters)]
    settings.append(f"#define MODEL_SET_PARAMETERS {' '.join(kept)}")
    stepping = stepping_source(parts.plant.stages)
    return "\n".join([*equations_text(parts, name), f'#include "{name}.h"', *settings, stepping, _source("step.h")])


def _list(values: Sequence[float]) -> str:
    return f"{{{', '.join(literal(float(x)) for x in values) or '0.0'}}}"


def _filled(file: str, parts: FmuParts, name: str) -> str:
    """A text of ours with the plant's names in it."""
    hold = ", ".join(literal(float(x.start)) for x in parts.forces) or "0.0"
    words = {
        "@NOTICE@": NOTICE, "@ROBOT@": harmless(parts.robot), "@NAME@": name, "@MACRO@": name.upper(), "@HOLD@": hold,
        "@FORCES@": ", ".join(harmless(f"{x.label} ({x.unit})") for x in parts.forces),
        "@TAU@": str(len(parts.forces)), "@COUNT@": str(len(parts.point_labels)), "@BYTES@": str(_bytes(parts)),
        "@POINTS@": ", ".join(harmless(x) for x in parts.point_labels) or "none",
    }  # fmt: skip
    text = _source(file)
    for key, value in words.items():
        text = text.replace(key, value)
    return text


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / "plant_sources" / name).read_text(encoding="ascii")
