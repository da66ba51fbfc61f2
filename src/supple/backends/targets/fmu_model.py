"""model.h of an FMU: equations, sizes and tables of one robot, for stepping.h and robot.h to work with."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from supple.backends.c_source import literal, signature
from supple.backends.stepping.layout import METHODS, SETTINGS, initialiser
from supple.backends.stepping.plant_text import chosen_text, plant_equations
from supple.backends.stepping.settings import LEAST_NEWTON, TIGHTEST, Settings, newton_share
from supple.backends.targets.fmu_variables import FmuParts, Variables
from supple.backends.targets.heading import NOTICE
from supple.backends.targets.names import harmless
from supple.errors import BackendError

_OF_PLANT = ("loops", "rates", "drift", "accelerations", "tree", "power")


def model_header(parts: FmuParts, table: Variables, identifier: str, token: str) -> str:
    """The text of model.h."""
    lines = [
        *equations_text(parts, identifier), f'#define MODEL_TOKEN "{token}"', *_sizes(parts, table), *settings_text(), "",
        *_tables(parts, table), "",
    ]  # fmt: skip
    return "\n".join(lines)


def equations_text(parts: FmuParts, identifier: str) -> list[str]:
    """The equations of a robot, named after it, with the names that stepping.h and those that include it know them by."""
    check_parts(parts)
    own = {name: getattr(parts.plant, name) for name in _OF_PLANT} | {"points": parts.points, "energy": parts.energy}
    # named after the robot, so that FMUs can be linked into one program, and unlike close_loops, for a robot named close
    named = {k: replace(f, name=f"{identifier}_f_{k}") for k, f in own.items() if f is not None}
    renamed: dict[str, Any] = {k: named.get(k) for k in _OF_PLANT}
    plant = replace(parts.plant, **renamed)
    wrapped = ("accelerations", "tree", "power") if plant.damping else ()  # in functions that add damping
    return [
        f"/* {NOTICE}", f" * robot: {harmless(parts.robot)} */", "#undef SUPPLE_SINGLE", "#undef SUPPLE_LANES",
        "#ifdef __clang__", "#pragma STDC FP_CONTRACT OFF", "#endif", "",
        plant_equations(plant, (named["points"], named["energy"])),
        # below the equations, whose words come from the robot file and must not meet a macro
        *(f"#define model_{k} {signature(f).name}" for k, f in named.items() if k not in wrapped),
        "#define SUPPLE_EXPORT SUPPLE_LOCAL",
    ]  # fmt: skip


def check_parts(parts: FmuParts) -> None:
    """Raise a BackendError where the parts of an FMU do not fit together."""
    plant, points = parts.plant, 3 * len(parts.point_labels)
    pairs = {
        "free coordinates": (len(parts.free), len(plant.free)),
        "dependent coordinates": (len(parts.dependent), len(plant.dependent)),
        "given coordinates": (0, len(plant.given)),
        "forces": (len(parts.forces), len(plant.torque)),
        "parameters": (len(parts.parameters), len(plant.parameters)),
        "start": (len(parts.start), plant.nq),
        "loads": (2 * points, plant.loads),
    }
    for f, given in ((parts.points, points), (parts.energy, 1)):
        wanted = {"q": plant.nq, "v": plant.nv, "a": plant.nv, "g": 3, "p": len(plant.parameters)}
        sizes = {k: x.size for k, x in f.inputs.items()}
        pairs |= {f"inputs of {f.name}": (sizes != wanted, 0)}
        pairs |= {f"{k} of {f.name}": (x.size, given) for k, x in f.outputs.items()}
    for name, (found, expected) in pairs.items():
        if found != expected:
            raise BackendError(f"{harmless(parts.robot)}: {name}: {found}, expected {expected}")


def _sizes(parts: FmuParts, table: Variables) -> list[str]:
    sizes = {
        "N_OBSERVED": len(parts.observed),
        "N_POINTS": len(parts.point_labels),
        "N_INPUTS": len(parts.forces) + len(parts.loads),
    }
    sizes |= {key if key == "VALUES" else f"AT_{key}": first for key, first in table.first.items()}
    return [f"#define {name} {size}" for name, size in sizes.items()]


def settings_text() -> list[str]:
    """The integrators as `supple simulate` sets them for joints that move freely; tolerances by method."""
    usual = Settings()
    numbers = {k: float(usual.numbers()[k]) for k in ("largest_step", "smallest_step", "spectral_radius", "cutoff")}
    numbers["sample_interval"] = sys.float_info.max  # nothing is recorded
    suited = [Settings(method).suited(joints=True) for method in METHODS]
    made = {
        "MODEL_SETTINGS": initialiser(SETTINGS, numbers),
        "MODEL_TOLERANCES": f"{{{', '.join(literal(x.tolerance) for x in suited)}}}",
        "MODEL_NEWTON": f"{{{', '.join(literal(newton_share(x.method, joints=True)) for x in suited)}}}",
        "LEAST_NEWTON": literal(LEAST_NEWTON),
        "TIGHTEST": literal(TIGHTEST),
        "LEAST_SCALE": literal(usual.scale),
    }
    return [f"#define {name} {value}" for name, value in made.items()]


def _tables(parts: FmuParts, table: Variables) -> list[str]:
    first, plant = table.first, parts.plant
    kept = [x.start or 0.0 for x in table.variables[: first["DERIVATIVES"]]]
    nominal = [x.nominal or 1.0 for x in table.variables[first["STATES"] : first["DERIVATIVES"]]]
    states = {p.q for p in plant.free}
    origin = [0.0 if i in states else x for i, x in enumerate(parts.start)]  # what the states are displacements from
    return [
        chosen_text(plant),
        _integers("MODEL_OBSERVED_Q", [x.q for x in parts.observed]),
        _integers("MODEL_LOAD", parts.loads),
        _integers("MODEL_SIGN", [x.sign for x in parts.parameters]),
        reals_text("MODEL_START_Q", parts.start),
        reals_text("MODEL_ORIGIN", origin),
        reals_text("MODEL_START", kept),
        reals_text("MODEL_NOMINAL", nominal),
    ]


def _integers(name: str, values: Sequence[int]) -> str:
    return f"static const int {name}[] = {{{', '.join(map(str, values)) or '0'}}};"


def reals_text(name: str, values: Sequence[float]) -> str:
    return f"static const double {name}[] = {{{', '.join(literal(x) for x in values) or '0.0'}}};"
