"""model.h of an FMU: sizes, tables and equations of one robot, for robot.h to work with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from supple.backends.c_source import Names, body, header, literal, signature
from supple.backends.targets.fmu_variables import FmuParts, Table
from supple.backends.targets.heading import NOTICE
from supple.backends.targets.names import shown
from supple.errors import BackendError
from supple.expr.function import Function

# Function -> the arrays it may be given and those it fills, in the order robot.h hands them over
_CALLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "loops": (("q", "p"), ("residual", "gradient", "alignment")),
    "rates": (("q", "v", "a", "g", "p"), ("velocity", "jacobian")),
    "drift": (("q", "v", "a", "g", "p"), ("acceleration",)),
    "forward": (("q", "v", "tau", "g", "p"), ("a",)),
    "points": (("q", "v", "a", "g", "p"), ("position", "velocity", "acceleration")),
    "energy": (("q", "v", "a", "g", "p"), ("kinetic", "elastic")),
}


def model_header(parts: FmuParts, table: Table, identifier: str, token: str) -> str:
    """The text of model.h."""
    check(parts)
    functions = {name: _renamed(getattr(parts, name), f"{identifier}_{name}") for name in _CALLS}
    lines = [
        f"/* {NOTICE}", f" * robot: {shown(parts.robot)} */", "#undef SUPPLE_SINGLE", "#undef SUPPLE_LANES",
        "#ifdef __clang__", "#pragma STDC FP_CONTRACT OFF", "#endif", "", header(),
        *(body(f, Names()) for f in functions.values()),
        # below the equations, whose words come from the robot file and must not meet a macro
        f'#define MODEL_TOKEN "{token}"', *_sizes(parts, table), "", *_tables(parts, table), "",
        *(_macro(name, f) for name, f in functions.items()), "",
    ]  # fmt: skip
    return "\n".join(lines)


def check(parts: FmuParts) -> None:
    """Raise a BackendError where the parts of an FMU do not fit together."""
    n, m = len(parts.independent), len(parts.dependent)
    sizes: Mapping[str, Mapping[str, int]] = {
        "loops": {"residual": m, "gradient": m * m},
        "rates": {"velocity": m, "jacobian": m * m},
        "drift": {"acceleration": m},
        "forward": {"a": n, "tau": len(parts.forces)},
        "points": dict.fromkeys(_CALLS["points"][1], 3 * len(parts.point_labels)),
        "energy": {"kinetic": 1, "elastic": 1},
    }
    known = {"v": n + m, "q": len(parts.start), "g": 3, "p": len(parts.parameters)}
    for name, wanted in sizes.items():
        f: Function = getattr(parts, name)
        given, filled = _CALLS[name]
        if set(f.inputs) - set(given) or set(f.outputs) != set(filled):
            raise BackendError(f"{shown(parts.robot)}: {name} has other inputs or outputs than an FMU needs")
        for key, array in {**f.inputs, **f.outputs}.items():
            size = wanted.get(key) if key in f.outputs or key == "tau" else known.get(key, array.size)
            if size is not None and array.size != size:
                raise BackendError(f"{shown(parts.robot)}: {key} of {name} has {array.size} elements, expected {size}")


def _renamed(f: Function, name: str) -> Function:
    return replace(f, name=name)


def _macro(name: str, f: Function) -> str:
    """A macro that takes the arrays in the order of _CALLS and leaves out those the function does not need."""
    given, filled = _CALLS[name]
    sign = signature(f, Names())
    taken = [*f.inputs, *(f"{key}_" for key in f.outputs)]
    idle = "".join(f"(void)({key}), " for key in given if key not in f.inputs)
    parameters = ", ".join((*given, *(f"{key}_" for key in filled)))
    return f"#define MODEL_{name.upper()}({parameters}) ({idle}{sign.name}({', '.join(taken)}))"


def _sizes(parts: FmuParts, table: Table) -> list[str]:
    sizes = {
        "N_Q": len(parts.start),
        "N_V": len(parts.independent) + len(parts.dependent),
        "N_INDEPENDENT": len(parts.independent),
        "N_DEPENDENT": len(parts.dependent),
        "N_ALIGNED": parts.loops.outputs["alignment"].size,
        "N_TURNING": len(parts.turning),
        "N_OBSERVED": len(parts.observed),
        "N_POINTS": len(parts.point_labels),
        "N_INPUTS": len(parts.forces),
        "N_PARAMETERS": len(parts.parameters),
    }
    sizes |= {key if key == "VALUES" else f"AT_{key}": first for key, first in table.first.items()}
    return [f"#define {name} {size}" for name, size in sizes.items()]


def _tables(parts: FmuParts, table: Table) -> list[str]:
    first = table.first
    kept = [x.start or 0.0 for x in table.variables[: first["DERIVATIVES"]]]
    nominal = [x.nominal or 1.0 for x in table.variables[first["STATES"] : first["DERIVATIVES"]]]
    return [
        _integers("MODEL_INDEPENDENT_Q", [c.q for c in parts.independent]),
        _integers("MODEL_INDEPENDENT_V", [c.v for c in parts.independent]),
        _integers("MODEL_DEPENDENT_Q", [c.q for c in parts.dependent]),
        _integers("MODEL_DEPENDENT_V", [c.v for c in parts.dependent]),
        _integers("MODEL_TURNING_Q", [q for q, _ in parts.turning]),
        _integers("MODEL_TURNING_V", [v for _, v in parts.turning]),
        _integers("MODEL_OBSERVED_Q", [x.q for x in parts.observed]),
        _reals("MODEL_START_Q", parts.start),
        _reals("MODEL_START", kept),
        _reals("MODEL_NOMINAL", nominal),
    ]


def _integers(name: str, values: Sequence[int]) -> str:
    return f"static const int {name}[] = {{{', '.join(map(str, values)) or '0'}}};"


def _reals(name: str, values: Sequence[float]) -> str:
    return f"static const double {name}[] = {{{', '.join(literal(x) for x in values) or '0.0'}}};"
